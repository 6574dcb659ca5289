"""``jobsight models compare|promote``: which of two models is better."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobsight.cli.common import (
    ConfigOption,
    JsonOption,
    NetworkOption,
    TimezoneOption,
    load_settings,
)
from jobsight.cli.modelnames import entry_named, model_folder, open_registry
from jobsight.cli.modelpage import beside, beside_text, comparison_text
from jobsight.cli.models import ModelArgument, ModelClusterOption, WhyOption, of_one_cluster
from jobsight.cli.output import note, print_json, say
from jobsight.cli.promoting import challenge, compared
from jobsight.cli.reading import read_history
from jobsight.errors import ModelError
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.cli.promoting import Challenge
    from jobsight.history.timelines import History
    from jobsight.learning.registry import Entry
    from jobsight.settings import Settings

__all__ = ["compare", "promote"]

_LogsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[LOG]...",
        help="Logs, stores, snapshots from after both trainings, to judge both by.",
        show_default=False,
    ),
]


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="A model, or a model directory.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another, of the same question.")],
    logs: _LogsArgument = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    network: NetworkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Which of two models is better? With logs, on the same decisions later than both."""
    settings = _settings(config, timezone, network)
    one, other = (model_folder(name, settings) for name in (first, second))
    if logs:
        history, _, _ = read_history(logs, settings)
        comparison = compared(one, other, history, settings).to_json()
        if as_json:
            print_json(comparison)
        else:
            say(comparison_text(comparison))
        return
    reports = beside([one, other])
    if as_json:
        print_json(reports)
    else:
        say(beside_text(reports))
        for warning in reports["warnings"]:
            note(f"jobsight: {warning}")


def promote(
    model: ModelArgument,
    logs: _LogsArgument = None,
    cluster: ModelClusterOption = None,
    why: WhyOption = "",
    force: Annotated[
        bool, typer.Option("--force", help="Even if it is not surely better, or nothing tells.")
    ] = False,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    network: NetworkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a model champion, if it is surely better than the champion on later decisions."""
    settings = _settings(config, timezone, network)
    registry = open_registry(settings)
    entry = of_one_cluster(registry, entry_named(registry, model, cluster=cluster), cluster)
    history: History | None = None
    if logs:
        history, _, _ = read_history(logs, settings)
    done = challenge(registry, entry, history, settings, force=force, why=why)
    _tell(entry, done, as_json=as_json)


def _settings(config: Path | None, timezone: str | None, network: str | None) -> Settings:
    return load_settings(config, {"timezone": timezone, "hold": {"lstm": {"network": network}}})


def _tell(entry: Entry, done: Challenge, *, as_json: bool) -> None:
    comparison = None if done.comparison is None else done.comparison.to_json()
    if as_json:
        told: dict[str, Any] = {
            "model": entry.digest,
            "question": entry.question,
            "cluster": entry.cluster,
            "promoted": done.promoted,
            "over": done.over,
            "reason": done.reason,
            "comparison": comparison,
        }
        print_json(told)
    elif comparison is not None:
        say(comparison_text(comparison))
        say("")
    if not done.promoted:
        advice = "" if comparison is not None else "; name logs from after both trainings"
        raise ModelError(
            f"{entry.digest} was not promoted: {printable(done.reason)}{advice}; --force promotes "
            "it all the same"
        )
    if not as_json:
        where = f"{entry.question} for {printable(entry.cluster, 60)}"
        say(f"{entry.digest} is the champion of {where}: {printable(done.reason)}")
