"""``jobsight evaluate QUESTION``: judge a trained model on a history, next to its baselines."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from jobsight.cli.common import (
    ConfigOption,
    JsonOption,
    LogArguments,
    ModelOption,
    NetworkOption,
    QuestionArgument,
    TimezoneOption,
)
from jobsight.cli.models import later_moments, say_overview, scores_table
from jobsight.cli.output import print_json, say
from jobsight.cli.reading import open_judged
from jobsight.cli.terminal import fold, table
from jobsight.format import number, percent
from jobsight.learning.evaluation import evaluate_all
from jobsight.learning.modeldir import by_target
from jobsight.questions import answerable_named, question_named
from jobsight.reports.scores import answer_rows, savings_rows, verdict

__all__ = ["evaluate"]


def evaluate(
    question: QuestionArgument,
    logs: LogArguments,
    model: ModelOption,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    network: NetworkOption = None,
    truth: Annotated[
        Path | None,
        typer.Option(help="JSON lines of what was planted in a made-up pool of held jobs."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """How good are its predictions on what it has not seen?"""
    asked = question_named(question)
    judged = open_judged(asked, logs, model, timezone=timezone, config=config, network=network)
    score = partial(answerable_named(question).score_answers, truth=truth)
    evaluations = evaluate_all(judged.model, judged.source, score)
    reports = {name: evaluation.to_json() for name, evaluation in evaluations.items()}
    overview = answerable_named(question).overview(judged.source, judged.model.settings)
    if as_json:
        print_json({"overview": overview._asdict(), **by_target(asked, reports)})
        return
    say_overview(overview)
    for k, (name, report) in enumerate(reports.items()):
        if k:
            say("")
        if len(reports) > 1:
            say(f"{name}:")
        say(fold(verdict(report)))
        say("")
        _print(report, asked.titles, first=not k)


def _print(report: dict[str, Any], titles: Mapping[str, str], *, first: bool) -> None:
    _, several, true = report["words"]
    rate = "" if report["base_rate"] is None else f"; {report['base_rate']:.1%} {true}"
    say(f"{report['examples']} {several} in {report['batches']} batches{rate}")
    if counts := report.get("counts"):
        named = (f"{count} {titles.get(kind, kind)}" for kind, count in counts.items() if count)
        say(fold(f"  {', '.join(named)}"))
    for kind, count in {**report["left_out"], **report["censored"]}.items() if first else ():
        say(f"  not counted: {count} {kind.replace('_', ' ')}")
    for text in report.get("notes", ()) if first else ():
        say(fold(f"  {text}", 2))
    say("")
    say(scores_table(report))
    for line in later_moments(report):
        say(line)
    for at, part in {"": report, **report.get("by_moment", {})}.items():
        view = part.get("cost_view")
        if view is None:
            continue
        words = report["words"]
        say("")
        moment = f", at the moment {at}" if at else ""
        text = f"asked or stopped from a threshold of P({words[2]}) on{moment}: per 1000 {words[1]}"
        say(fold(text))
        headings = ["from", "stopped", "right", "disturbed", "95 %", "core-hours", "95 %", "share"]
        say(table(headings, savings_rows(view), ["95 %", "stopped"]))
    if not report["costs"]:
        return
    say("")
    say("cost per decision, in wasted runs:")
    rows = [
        [
            name,
            number(cost["cost"]),
            "" if cost["low"] is None else f"{cost['low']:.2f}–{cost['high']:.2f}",
            *(number(cost[key]) for key in ("released", "wasted", "lost")),
        ]
        for name, cost in report["costs"].items()
    ]
    say(table(["", "cost", "95 %", "released", "wasted", "lost"], rows))
    answers = report.get("answers")
    if answers is None:
        return
    waits = answers["waits"]
    say("")
    text = (
        f"the answers of {answers['chosen']} to {answers['decisions']} releases "
        f"({answers['unknown']} without outcome); {percent(waits['advised'])} wait, of which "
        f"{percent(waits['right'])} rightly, where that is known; gain in wasted runs:"
    )
    say(fold(text))
    spare = ["seconds wasted", "delay (s)", "95 % by time", "wait", "finished"]
    say(table(*answer_rows(answers["by_batch"]), spare))
