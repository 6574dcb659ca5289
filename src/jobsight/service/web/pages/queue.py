"""The queue for its page: what is at stake, by whose jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["risks"]


def risks(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Pending jobs with an answer (see `Site.pending`) by user and name, most at stake first.

    Returns:
        ``user``, ``name``, ``jobs``; ``stake``, core-hours of all; ``fails``, the mean probability
        (None: unknown); ``kind``, how the one with most at stake would fail.
    """
    alike: dict[tuple[Any, Any], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["fail"]:
            alike.setdefault((row["user"], row["name"]), []).append(row["fail"])
    found = []
    for (user, name), fails in alike.items():
        known = [one["probability"] for one in fails if one["probability"] is not None]
        found.append({
            "user": user,
            "name": name,
            "jobs": len(fails),
            "stake": sum(one["core_hours_at_stake"] or 0.0 for one in fails),
            "fails": sum(known) / len(known) if known else None,
            "kind": fails[0]["kind"],
        })  # fmt: skip
    return sorted(found, key=lambda one: -one["stake"])
