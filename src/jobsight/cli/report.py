"""``jobsight report QUESTION|sweep|site``: one HTML page on a model, a sweep or all jobs."""

from __future__ import annotations

import datetime as dt
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    load_settings,
)
from jobsight.cli.output import Console, print_json, say, stages
from jobsight.cli.reading import Judged, open_judged
from jobsight.clock import parse_since, zone_named
from jobsight.errors import SourceError, UsageError
from jobsight.files import Kind, new_file, read_json
from jobsight.format import show_in
from jobsight.learning.evaluation import evaluate_all
from jobsight.learning.reading import job_tables
from jobsight.questions import answerable_named, question_named
from jobsight.reports.report import write_report
from jobsight.reports.shown import Shown
from jobsight.tuning.finish import write_report as write_sweep_report
from jobsight.tuning.folder import Sweep
from jobsight.tuning.plan import folder_of

if TYPE_CHECKING:
    from jobsight.settings import Settings

__all__ = ["report"]

SWEEP, SITE = "sweep", "site"
"""Given for a question: the report of the sweep in the folder or config named; that of all jobs."""


def report(
    question: QuestionArgument,
    logs: LogArguments,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The page to write.")
    ] = None,
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
    as_json: Annotated[
        bool, typer.Option("--json", help="Of `report site`: print its numbers as one JSON object.")
    ] = False,
) -> None:
    """How good is a model, what was it asked, what did it answer?

    `jobsight report sweep FILE` shows the runs of a sweep instead, at any time: how they did, which
    parameters matter, what it cost. `jobsight report site STORE|FILE` needs no model: where
    core-hours went, what failed, was held or waited, at what cost, and what to do.
    """
    if question == SITE:
        _site(logs, output, about, load_settings(config, {"timezone": timezone}), as_json=as_json)
        return
    if as_json or output is None:
        raise UsageError("--json is of `report site`" if as_json else "name the page with -o")
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


def _site(
    inputs: list[str], output: Path | None, about: str, settings: Settings, *, as_json: bool
) -> None:
    from jobsight.cli.hold import usual_fix
    from jobsight.reports.site import site_numbers
    from jobsight.reports.sitepage import site_html

    if output is None and not as_json:
        raise UsageError("name the page with -o, or ask for --json")
    check_output(output, Kind.REPORT)
    show_in(dt.UTC)
    numbers = site_numbers(job_tables(inputs, settings, Console), usual_fix)
    if output is not None:
        with new_file(output, Kind.REPORT) as temporary:
            temporary.write_text(site_html(numbers, inputs, about), encoding="utf-8")
    if as_json:
        print_json(numbers)
    else:
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
