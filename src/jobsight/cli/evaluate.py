"""``jobsight evaluate QUESTION``: judge a trained model on a history, next to its baselines."""

from __future__ import annotations

from typing import Any

from jobsight.cli.common import (
    ConfigOption,
    JsonOption,
    LogArguments,
    ModelOption,
    NetworkOption,
    QuestionArgument,
    TimezoneOption,
)
from jobsight.cli.modelpage import later_moments, scores_table
from jobsight.cli.output import print_json, say
from jobsight.cli.reading import open_judged
from jobsight.cli.tables import table
from jobsight.format import number
from jobsight.learning.evaluation import evaluate_all
from jobsight.learning.modeldir import joined
from jobsight.questions import question_named

__all__ = ["evaluate"]


def evaluate(
    question: QuestionArgument,
    logs: LogArguments,
    model: ModelOption,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    network: NetworkOption = None,
    as_json: JsonOption = False,
) -> None:
    """How good are its predictions on what it has not seen?"""
    asked = question_named(question)
    judged = open_judged(asked, logs, model, timezone=timezone, config=config, network=network)
    found = evaluate_all(judged.model, judged.source)
    if as_json:
        print_json(joined(asked, {name: one.to_json() for name, one in found.items()}))
        return
    for name, one in found.items():
        if len(found) > 1:
            say(f"{name}:")
        _print(one.to_json())


def _print(report: dict[str, Any]) -> None:
    _, several, true = report["words"]
    rate = "" if report["base_rate"] is None else f"; {report['base_rate']:.1%} {true}"
    say(f"{report['examples']} {several} in {report['batches']} batches{rate}")
    for kind, count in {**report["left_out"], **report["censored"]}.items():
        say(f"  not counted: {count} {kind.replace('_', ' ')}")
    say("")
    say(scores_table(report))
    for line in later_moments(report):
        say(line)
    if not report["costs"]:
        return
    say("")
    say("cost per decision, in wasted runs:")
    say(
        table(
            ["", "cost", "95 %", "released", "wasted", "lost"],
            [
                [
                    name,
                    number(cost["cost"]),
                    "" if cost["low"] is None else f"{cost['low']:.2f}–{cost['high']:.2f}",
                    *(number(cost[key]) for key in ("released", "wasted", "lost")),
                ]
                for name, cost in report["costs"].items()
            ],
        )
    )
