"""The registry that the settings name, and the champion of a cluster that answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobsight.errors import ModelError
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.learning.registry import Entry, Registry
    from jobsight.settings import Settings

__all__ = ["champion_of", "open_registry", "unusable"]


def open_registry(settings: Settings) -> Registry:
    """The registry that the settings name; it need not exist."""
    from jobsight.learning.registry import Registry

    return Registry(settings.registry)


def champion_of(registry: Registry, question: str, cluster: str) -> Entry | None:
    """The champion of a cluster; None where it has none.

    Raises:
        ModelError: it cannot be used; says how to go on without it.
    """
    try:
        return registry.champion(question, cluster)
    except ModelError as error:
        raise unusable(question, cluster, error) from None


def unusable(question: str, cluster: str, error: ModelError) -> ModelError:
    """The error of a champion that cannot be opened; says how to go on without it."""
    return ModelError(
        f"the champion of {question} for {printable(cluster, 60)} cannot be used: {error}; go on "
        "with another (--model NAME, `jobsight models promote NAME`), or without (--model none)"
    )
