"""``jobsight report hold|sweep``: one HTML page that shows a model or the runs of a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobsight.cli.common import (
    ConfigOption,
    LogArguments,
    ModelOption,
    NetworkOption,
    TimezoneOption,
    check_output,
)
from jobsight.cli.output import say, stages
from jobsight.cli.reading import Case, open_case
from jobsight.cli.sweepopening import FileArgument, layout_of
from jobsight.files import Kind

if TYPE_CHECKING:
    from jobsight.questions.hold.reporting.report import Material

__all__ = ["app"]

app = typer.Typer(help="Write a report as one HTML page.", no_args_is_help=True)


@app.callback()
def _report() -> None:
    pass


@app.command()
def hold(
    logs: LogArguments,
    model: ModelOption,
    output: Annotated[Path, typer.Option("-o", "--output", help="The page to write.")],
    at: Annotated[
        str | None,
        typer.Option(help="Moment of the answers (default: when most was at stake, of late)."),
    ] = None,
    verified: Annotated[
        Path | None, typer.Option(help="What `jobsight verify hold -o FILE` wrote.")
    ] = None,
    about: Annotated[
        str, typer.Option(help="What these logs are, in your words; stands on the first screen.")
    ] = "",
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    network: NetworkOption = None,
) -> None:
    """How good is the model, what did the pool look like, which held jobs to release?"""
    from jobsight.questions.hold.reporting.report import write_report

    verification = None if verified is None else _read_verification(verified)
    case = open_case(logs, model, timezone=timezone, config=config, network=network, output=output)
    with stages() as progress:
        progress("judging and answering")
        material = _material(case, at, verification, about)
        progress("drawing")
        write_report(output, material)
    say(f"wrote {output}")


@app.command()
def sweep(
    file: FileArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="The page to write.")],
) -> None:
    """How did the runs of a sweep do, which parameters matter, what did it cost; at any time."""
    from jobsight.reports.sweep.report import write_report

    layout = layout_of(file)
    check_output(output, Kind.REPORT, model=layout.best_model)
    write_report(layout.folder, output, Kind.REPORT)
    say(f"wrote {output}")


def _material(
    case: Case, at: str | None, verification: dict[str, Any] | None, about: str
) -> Material:
    from jobsight.history.labels import label_rows
    from jobsight.questions.hold.answering.answer import Answerer
    from jobsight.questions.hold.answering.groups import by_use
    from jobsight.questions.hold.answering.lookup import current_jobs
    from jobsight.questions.hold.reporting.moment import later_outcomes, telling_moment
    from jobsight.questions.hold.reporting.report import Material
    from jobsight.questions.hold.training.dataset import Dataset
    from jobsight.questions.hold.training.evaluation import evaluate, unseen

    model, history, settings = case.model, case.history, case.settings
    data = Dataset.for_judging(history, model)
    evaluation = evaluate(model, data, *unseen(model, data))
    decisions = data.decisions.table
    since = int(evaluation.table["time"].to_numpy().min())
    moment = telling_moment(decisions, since) if at is None else _asked(at, case)
    moment = int(history.clock.max()) if moment is None else moment
    answerer = Answerer(history, settings.hold, model)
    held = answerer.held(moment, current_jobs(history, moment))
    return Material(
        model=model,
        evaluation=evaluation,
        history=history,
        labels=label_rows(history),
        read=case.read,
        moment=moment,
        answers=by_use(answerer.answer(held, moment)),
        later=later_outcomes(decisions, moment),
        verification=verification,
        about=about,
    )


def _asked(at: str, case: Case) -> int:
    """The moment that the user names, in µs."""
    from jobsight.cli.reading import refuse_before
    from jobsight.clock import micros, parse_moment, zone_named

    moment = micros(parse_moment(at, zone_named(case.settings.timezone)))
    refuse_before(moment, case.history)
    return moment


def _read_verification(path: Path) -> dict[str, Any]:
    from jobsight.errors import SourceError
    from jobsight.files import read_json

    try:
        found = read_json(path)
        if found["question"] == "hold" and {"verdict", "grade", "checks"} <= set(found):
            return dict(found)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise SourceError(f"{path} is not what `jobsight verify hold -o FILE` writes")
