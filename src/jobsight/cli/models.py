"""``jobsight models``: the registry: which models there are, and which of them answer."""

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
    note,
    print_json,
    read_history,
    say,
)
from jobsight.cli.modelnames import entry_named, model_folder, open_registry
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.cli.promoting import Challenge
    from jobsight.history.timelines import History
    from jobsight.learning.registry import Entry, Registry
    from jobsight.settings import Settings

__all__ = ["register"]

_verb = typer.Typer(
    help="The models that may answer: list, show, compare, promote, remove.", no_args_is_help=True
)

_ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="Digits that its digest begins with, champion, or champion:CLUSTER.",
        show_default=False,
    ),
]
_LogsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[LOG]...",
        help="Logs, stores, snapshots from after both trainings, to judge both by.",
        show_default=False,
    ),
]
_QuestionOption = Annotated[str, typer.Option(help="The question that it answers.")]
_ClusterOption = Annotated[str | None, typer.Option(help="Whose models (default: any).")]
_WhyOption = Annotated[str, typer.Option(help="Why, in your words; kept for good.")]


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.add_typer(_verb, name="models")


@_verb.command("list")
def list_(
    question: Annotated[str | None, typer.Option(help="Only of this question.")] = None,
    cluster: _ClusterOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Which models are there? One row a model; champions are marked."""
    from jobsight.cli.modelpage import listed, listing

    settings = load_settings(config, {})
    rows = [listed(entry) for entry in open_registry(settings).entries(question, cluster)]
    if as_json:
        print_json(rows)
    elif rows:
        say(listing(rows))
    else:
        say(f"no model is in the registry {settings.registry}; `jobsight train` puts one there")


@_verb.command()
def show(
    model: _ModelArgument,
    question: _QuestionOption = "hold",
    cluster: _ClusterOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """What is it made of, how good was it, and when was it champion?"""
    from jobsight.cli.modelpage import page, shown

    registry = open_registry(load_settings(config, {}))
    entry = entry_named(registry, model, question, cluster)
    found = shown(entry, registry.history(entry.question, entry.cluster))
    if as_json:
        print_json(found)
    else:
        say(page(found))


@_verb.command()
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
    from jobsight.cli.modelpage import beside, beside_text, comparison_text
    from jobsight.cli.promoting import compared

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


@_verb.command()
def promote(
    model: _ModelArgument,
    logs: _LogsArgument = None,
    cluster: _ClusterOption = None,
    why: _WhyOption = "",
    force: Annotated[
        bool, typer.Option("--force", help="Even if it is not surely better, or nothing tells.")
    ] = False,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    network: NetworkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a model champion, if it is surely better than the champion on later decisions."""
    from jobsight.cli.promoting import challenge

    settings = _settings(config, timezone, network)
    registry = open_registry(settings)
    entry = _of_one_cluster(registry, entry_named(registry, model, cluster=cluster), cluster)
    history: History | None = None
    if logs:
        history, _, _ = read_history(logs, settings)
    done = challenge(registry, entry, history, settings, force=force, why=why)
    _tell(entry, done, as_json=as_json)


@_verb.command()
def remove(
    model: _ModelArgument,
    question: _QuestionOption = "hold",
    cluster: _ClusterOption = None,
    why: _WhyOption = "",
    force: Annotated[bool, typer.Option("--force", help="Even if it is the champion.")] = False,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete a model; that it was there stays on record."""
    registry = open_registry(load_settings(config, {}))
    entry = entry_named(registry, model, question, cluster)
    entry = _of_one_cluster(registry, entry, cluster)
    registry.remove(entry, force=force, why=why)
    if as_json:
        print_json({"removed": entry.digest, "question": question, "cluster": entry.cluster})
    else:
        say(f"removed {entry.digest}, {question} for {printable(entry.cluster, 60)}")


def _settings(config: Path | None, timezone: str | None, network: str | None) -> Settings:
    return load_settings(config, {"timezone": timezone, "hold": {"lstm": {"network": network}}})


def _of_one_cluster(registry: Registry, entry: Entry, cluster: str | None) -> Entry:
    """The entry, if no other cluster has the same model, or the user said which one is meant.

    Raises:
        UsageError: it must be said which one.
    """
    from jobsight.errors import UsageError

    having = {one.cluster for one in registry.entries(entry.question) if one.digest == entry.digest}
    if cluster is None and len(having) > 1:
        names = ", ".join(printable(name, 40) for name in sorted(having))
        raise UsageError(f"{entry.digest} is a model of {names}; say which with --cluster")
    return entry


def _tell(entry: Entry, done: Challenge, *, as_json: bool) -> None:
    from jobsight.cli.modelpage import comparison_text
    from jobsight.errors import ModelError

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
