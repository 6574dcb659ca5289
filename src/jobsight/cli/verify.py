"""``jobsight verify QUESTION``: can the numbers of a trained model be believed?

Exit status 0 where the audit passed or is doubtful, 3 where a check failed.
"""

from __future__ import annotations

import textwrap
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
from jobsight.cli.output import print_json, say, stages
from jobsight.cli.reading import open_judged
from jobsight.cli.terminal import table, width
from jobsight.files import Kind, write_json
from jobsight.format import moment
from jobsight.questions import question_named
from jobsight.text import printable

__all__ = ["verify"]

FAILED = 3
_WIDTH = 96
_SHOWN = 10

_TABLES = {
    "families": (
        "what the model loses without a family of features (loss, trained again)",
        ("family", "features", "loss", "low", "high"),
    ),
    "features": (
        "what it loses when one column changes places; ROC AUC of the column alone",
        ("feature", "loss", "alone"),
    ),
    "splits": ("the same model by split", ("split", "roc_auc", "loss", "flatters")),
    "time": (
        "over time",
        ("from", "batches", "base_rate", "predicted", "roc_auc", "log_loss", "pinball",
         "divergence"),
    ),
    "reliability": (
        "predicted and observed", ("predicted", "observed", "low", "high", "batches")
    ),
    "delays": ("asked some seconds before the release", ("delay", "batches", "roc_auc")),
}  # fmt: skip
_STRATUM = ("value", "batches", "base_rate", "predicted", "q_value", "roc_auc")


def verify(
    question: QuestionArgument,
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
    """Can its numbers be believed? Best on the history that it was trained on.

    Each check and the whole are graded passed, doubtful or failed. Exit status 3 where one failed.
    """
    kind = Kind.VERIFICATION
    judged = open_judged(
        question_named(question), logs, model, timezone=timezone, config=config, network=network,
        output=output, kind=kind,
    )  # fmt: skip
    from jobsight.learning.audit import audit  # needs SciPy

    with stages() as progress:
        found = audit(judged.model, judged.source, progress=progress)
    if output is not None:
        write_json(output, found.to_json(), kind)
    if as_json:
        print_json(found.to_json())
    else:
        most = min(width() or _WIDTH, _WIDTH)
        say(textwrap.fill(found.verdict, most))
        say("")
        for check in found.checks:
            name = check.name.replace("_", " ")
            say(
                textwrap.fill(
                    printable(f"{check.detail} {check.power}"),
                    most,
                    initial_indent=f"{check.grade or 'unknown':<9}{name}: ",
                    subsequent_indent=" " * 9,
                )
            )
        strata = found.evaluation.question.strata
        by = {f"by_{name}": (one.title.lower(), _STRATUM) for name, one in strata.items()}
        for name, (title, columns) in {**_TABLES, **by}.items():
            rows = found.tables.get(name, [])
            if rows:
                say("")
                say(f"{title}:")
                say(_rows(rows, tuple(one for one in columns if any(one in row for row in rows))))
    if output is not None and not as_json:
        say(f"wrote {output}")
    if found.grade == "failed":
        raise typer.Exit(FAILED)


def _rows(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> str:
    shown = [
        [moment(row[name]) if name == "from" else _cell(row.get(name)) for name in columns]
        for row in rows[:_SHOWN]
    ]
    spare = ["q value", "divergence", "base rate", "predicted"]
    text = table([column.replace("_", " ") for column in columns], shown, spare)
    more = len(rows) - _SHOWN
    return f"{text}\n(and {more} more: --json lists all)" if more > 0 else text


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.0f}" if value >= 10 else f"{value:.3f}"
    return printable(str(value), 60)
