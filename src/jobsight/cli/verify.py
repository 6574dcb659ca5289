"""``jobsight verify hold``: can the numbers of a trained model be believed?

Exit status 0 where the audit passed or is doubtful, 3 where a check failed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobsight.cli.common import (
    ConfigOption,
    JsonOption,
    LogArguments,
    ModelOption,
    NetworkOption,
    TimezoneOption,
)
from jobsight.cli.output import print_json, say, stages
from jobsight.cli.reading import open_case
from jobsight.cli.tables import table
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.questions.hold.audit import Audit

__all__ = ["app"]

app = typer.Typer(help="Audit a trained model.", no_args_is_help=True)

FAILED = 3
_WIDTH = 96
_SHOWN = 10

_STRATUM = ("value", "batches", "base_rate", "predicted", "q_value", "roc_auc")
_TABLES = (
    ("families", "what the model loses without a family of features (log loss, trained again)",
     ("family", "features", "log_loss", "low", "high")),
    ("features", "what it loses when one column changes places; ROC AUC of the column alone",
     ("feature", "log_loss", "alone")),
    ("splits", "the same model by split", ("split", "roc_auc", "log_loss", "flatters")),
    ("time", "over time", ("from", "batches", "base_rate", "predicted", "roc_auc", "log_loss")),
    ("by_cause", "by cause", _STRATUM),
    ("by_owner", "by owner", _STRATUM),
    ("by_site", "by site", _STRATUM),
    ("by_releaser", "by releaser", _STRATUM),
    ("by_edited", "mended before the release (never taught)",
     ("value", "batches", "base_rate", "predicted", "roc_auc")),
    ("reliability", "predicted and observed", ("predicted", "observed", "low", "high", "batches")),
    ("delays", "asked some seconds before the release", ("delay", "batches", "roc_auc")),
)  # fmt: skip


@app.callback()
def _verify() -> None:
    pass


@app.command()
def hold(
    logs: LogArguments,
    model: ModelOption,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Also write it as JSON, e.g. for `jobsight report`."),
    ] = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    network: NetworkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Can its numbers be believed? Best on the logs that it was trained on.

    Each check and the whole are graded passed, doubtful or failed. Exit status 3 where one failed.
    """
    from jobsight.files import Kind, write_json
    from jobsight.questions.hold.audit import audit

    kind = Kind.VERIFICATION
    case = open_case(
        logs, model, timezone=timezone, config=config, network=network, output=output, kind=kind
    )
    with stages() as progress:
        found = audit(case.model, case.history, progress=progress)
    if output is not None:
        write_json(output, found.to_json(), kind)
    if as_json:
        print_json(found.to_json())
    else:
        _print(found)
    if output is not None and not as_json:
        say(f"wrote {output}")
    if found.grade == "failed":
        raise typer.Exit(FAILED)


def _print(found: Audit) -> None:
    import textwrap

    say(textwrap.fill(found.verdict, _WIDTH))
    say("")
    for check in found.checks:
        name = check.name.replace("_", " ")
        say(
            textwrap.fill(
                printable(f"{check.detail} {check.power}"),
                _WIDTH,
                initial_indent=f"{check.grade or 'unknown':<9}{name}: ",
                subsequent_indent=" " * 9,
            )
        )
    for name, title, columns in _TABLES:
        rows = found.tables.get(name, [])
        if rows:
            say("")
            say(f"{title}:")
            say(_rows(rows, columns))


def _rows(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> str:
    shown = [[_cell(row.get(column)) for column in columns] for row in rows[:_SHOWN]]
    text = table([column.replace("_", " ") for column in columns], shown)
    more = len(rows) - _SHOWN
    return f"{text}\n(and {more} more: --json lists all)" if more > 0 else text


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.0f}" if value >= 10 else f"{value:.3f}"
    return printable(str(value), 60)
