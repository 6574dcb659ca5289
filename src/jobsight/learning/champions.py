"""The registry that the settings name, and the champion of a cluster that answers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jobsight.errors import ModelError
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.learning.registry import Entry, Registry
    from jobsight.settings import Settings

__all__ = ["champion_of", "open_registry", "usable"]


def open_registry(settings: Settings) -> Registry:
    """The registry that the settings name; it need not exist."""
    from jobsight.learning.registry import Registry

    return Registry(settings.registry)


def champion_of(registry: Registry, question: str, cluster: str | None) -> Entry | None:
    """The champion that answers for a cluster: its own, else that of `DEFAULT`, if there is one.

    Raises:
        ModelError: it cannot be used; says how to go on without it.
    """
    from jobsight.learning.registry import DEFAULT

    for name in (cluster, DEFAULT):
        if name is not None:
            with usable(question, name):
                found = registry.champion(question, name)
            if found is not None:
                return found
    return None


@contextlib.contextmanager
def usable(question: str, cluster: str) -> Iterator[None]:
    """Let the error of a champion that cannot be opened say how to go on without it."""
    try:
        yield
    except ModelError as error:
        raise ModelError(
            f"the champion of {question} for {printable(cluster, 60)} cannot be used: {error}; go "
            "on with another (--model NAME, `jobsight models promote NAME`), or without "
            "(--model none)"
        ) from None
