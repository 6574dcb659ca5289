"""``jobsight report QUESTION|sweep``: one HTML page that shows a model or the runs of a sweep."""

from __future__ import annotations

import datetime as dt
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from jobsight.answering.session import refuse_before
from jobsight.cli.common import (
    MODEL_HELP,
    ConfigOption,
    LogArguments,
    NetworkOption,
    QuestionArgument,
    TimezoneOption,
    check_output,
)
from jobsight.cli.output import say, stages
from jobsight.cli.reading import Judged, open_judged
from jobsight.clock import parse_since, zone_named
from jobsight.errors import SourceError, UsageError
from jobsight.files import Kind, read_json
from jobsight.format import show_in
from jobsight.learning.evaluation import evaluate_all
from jobsight.questions import answerable_named, question_named
from jobsight.reports.report import write_report
from jobsight.reports.shown import Shown
from jobsight.tuning.finish import write_report as write_sweep_report
from jobsight.tuning.folder import Sweep
from jobsight.tuning.plan import folder_of

__all__ = ["report"]

SWEEP = "sweep"
"""Given for a question, it asks for the report of the sweep in the folder or config named."""


def report(
    question: QuestionArgument,
    logs: LogArguments,
    output: Annotated[Path, typer.Option("-o", "--output", help="The page to write.")],
    model: Annotated[str | None, typer.Option("--model", help=MODEL_HELP)] = None,
    at: Annotated[
        str | None,
        typer.Option(help="Moment of the answers (default: when most was at stake, of late)."),
    ] = None,
    verified: Annotated[
        Path | None, typer.Option(help="What `jobsight verify QUESTION -o FILE` wrote.")
    ] = None,
    about: Annotated[
        str, typer.Option(help="What these data are, in your words; shown on the first screen.")
    ] = "",
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    network: NetworkOption = None,
) -> None:
    """How good is a model, what was it asked, what did it answer?

    `jobsight report sweep FILE` shows the runs of a sweep instead, at any time: how they did, which
    parameters matter, what it cost.
    """
    if question == SWEEP:
        if len(logs) != 1:
            raise UsageError("name one sweep, by its config file or its folder")
        sweep = Sweep.open(folder_of(Path(logs[0])))
        check_output(output, Kind.REPORT, model=sweep.best / "model")
        write_sweep_report(sweep, output, Kind.REPORT)
        say(f"wrote {output}")
        return
    if model is None:
        raise UsageError("name the model of the report with --model")
    asked = question_named(question)
    verification = None if verified is None else _read_verification(verified, question)
    judged = open_judged(
        asked, logs, model, timezone=timezone, config=config, network=network, output=output
    )
    show_in(dt.UTC)  # a page is the same wherever it is written
    answerable = answerable_named(question)
    score = partial(answerable.score_answers, truth=None)
    with stages() as progress:
        progress("judging and answering")
        shown = Shown(
            model=judged.model,
            evaluations=evaluate_all(judged.model, judged.source, score),
            source=judged.source,
            read=judged.read,
            overview=answerable.overview(judged.source, judged.model.settings),
            verification=verification,
            about=about,
            at=_asked(at, judged),
        )
        progress("drawing")
        write_report(output, shown, answerable.own_parts(shown))
    say(f"wrote {output}")


def _asked(at: str | None, judged: Judged) -> int | None:
    """The moment that the user names, in µs."""
    moment = parse_since(at, zone_named(judged.settings.timezone))
    if moment is not None:
        refuse_before(moment, int(judged.source.clock.min()), "event")
    return moment


def _read_verification(path: Path, question: str) -> dict[str, Any]:
    try:
        found = read_json(path)
        if found["question"] == question and {"verdict", "grade", "checks"} <= set(found):
            return dict(found)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise SourceError(f"{path} is not what `jobsight verify {question} -o FILE` writes")
