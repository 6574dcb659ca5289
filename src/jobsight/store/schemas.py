"""The schema of a store: which ones this version reads, and the way from one to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from jobsight.errors import StoreError

__all__ = ["climb", "require_readable"]

Step = TypeVar("Step")


def require_readable(shown: str, schema: int | str, newest: int, *, older: bool) -> None:
    """Refuse a store that is not of this version's schema.

    Args:
        shown: name of the store.
        schema: what it says; a text that is no number is taken for a newer version's.
        newest: this version's.
        older: one that can be migrated will do.

    Raises:
        StoreError: says which program to use, or to migrate.
    """
    if isinstance(schema, str) or schema > newest:
        raise StoreError(
            f"{shown} has schema {schema!r}, and this version knows {newest}; use the newer "
            "jobsight that wrote it"
        )
    if schema < newest and not older:
        raise StoreError(
            f"{shown} has schema {schema}, and this version writes {newest}; bring it up to date "
            "with: jobsight store migrate"
        )


def climb(
    shown: str,
    schema: int,
    newest: int,
    steps: Mapping[int, Step],
    take: Callable[[Step, int], None],
) -> tuple[int, int]:
    """Take step after step to the newest schema.

    Args:
        shown: name of the store.
        schema: that it has.
        newest: that it is to have.
        steps: by the schema that they begin with.
        take: take a step and note the schema after it.

    Returns:
        The schema before and after.

    Raises:
        StoreError: there is no step from a schema on the way.
    """
    at = schema
    while at < newest:
        if at not in steps:
            raise StoreError(
                f"{shown} has schema {at}, which no released version wrote; export its jobs with "
                "the version that wrote it, and import them"
            )
        take(steps[at], at + 1)
        at += 1
    return schema, at
