"""``jobsight models``: the registry: which models there are, and which of them answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from jobsight.answering.models import entry_named
from jobsight.cli.common import ConfigOption, JsonOption, load_settings
from jobsight.cli.modelpage import listing, page
from jobsight.cli.output import answer
from jobsight.errors import UsageError
from jobsight.learning.registry import Registry
from jobsight.learning.registry.listing import listed, shown
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.learning.registry import Entry, Registry

__all__ = [
    "ModelArgument",
    "ModelClusterOption",
    "QuestionOption",
    "WhyOption",
    "list_",
    "of_one_cluster",
    "remove",
    "show",
]


ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="Digits that its digest begins with, champion, or champion:CLUSTER.",
        show_default=False,
    ),
]
QuestionOption = Annotated[
    str | None, typer.Option(help="The question that it answers (default: any).")
]
ModelClusterOption = Annotated[str | None, typer.Option(help="Whose models (default: any).")]
WhyOption = Annotated[str, typer.Option(help="Why, in your words; kept for good.")]


def list_(
    question: Annotated[str | None, typer.Option(help="Only of this question.")] = None,
    cluster: ModelClusterOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Which models are there? One row a model; champions are marked."""
    settings = load_settings(config, {})
    rows = [listed(entry) for entry in Registry(settings.registry).entries(question, cluster)]
    none = f"no model is in the registry {settings.registry}; `jobsight train` puts one there"
    answer(rows, lambda: listing(rows) if rows else none, as_json=as_json)


def show(
    model: ModelArgument,
    question: QuestionOption = None,
    cluster: ModelClusterOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """What is it made of, how good was it, and when was it champion?"""
    registry = Registry(load_settings(config, {}).registry)
    entry = entry_named(registry, model, question, cluster)
    found = shown(entry, registry.history(entry.question, entry.cluster))
    answer(found, lambda: page(found), as_json=as_json)


def remove(
    model: ModelArgument,
    question: QuestionOption = None,
    cluster: ModelClusterOption = None,
    why: WhyOption = "",
    force: Annotated[bool, typer.Option("--force", help="Even if it is the champion.")] = False,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete a model; that it was there stays on record."""
    registry = Registry(load_settings(config, {}).registry)
    entry = of_one_cluster(registry, entry_named(registry, model, question, cluster), cluster)
    registry.remove(entry, force=force, why=why)
    removed = {"removed": entry.digest, "question": entry.question, "cluster": entry.cluster}
    text = f"removed {entry.digest}, {entry.question} for {printable(entry.cluster, 60)}"
    answer(removed, text, as_json=as_json)


def of_one_cluster(registry: Registry, entry: Entry, cluster: str | None) -> Entry:
    """The entry, if no other cluster has the same model, or the user said which one is meant.

    Raises:
        UsageError: it must be said which one.
    """
    having = {one.cluster for one in registry.entries(entry.question) if one.digest == entry.digest}
    if cluster is None and len(having) > 1:
        names = ", ".join(printable(name, 40) for name in sorted(having))
        raise UsageError(f"{entry.digest} is a model of {names}; say which with --cluster")
    return entry
