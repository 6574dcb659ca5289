"""Models of the registry as plain data, for lists and pages of them."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jobsight.clock import format_micros
from jobsight.errors import ModelError
from jobsight.models import is_baseline

if TYPE_CHECKING:
    from jobsight.learning.registry import Entry, Record

__all__ = ["best_baseline", "listed", "shown", "whole"]


def listed(entry: Entry) -> dict[str, Any]:
    """A model in a list, as plain data; `damaged` says what is wrong with its files."""
    row: dict[str, Any] = {
        "digest": entry.digest,
        "question": entry.question,
        "cluster": entry.cluster,
        "champion": entry.champion,
        "added": format_micros(entry.added),
        "by": entry.by,
        "why": entry.why,
        "folder": str(entry.folder),
        "damaged": None,
    }
    try:
        _, report = entry.open()
        with whole(entry.folder):
            return row | {
                "model": str(report["chosen"]),
                "batches": int(report["batches"]),
                "loss": report["models"][report["chosen"]][report["loss"]],
                "best_baseline": best_baseline(report),
            }
    except ModelError as error:
        empty = dict.fromkeys(("model", "batches", "loss", "best_baseline"))
        return row | empty | {"damaged": str(error)}


def shown(entry: Entry, records: Sequence[Record]) -> dict[str, Any]:
    """All that is known of a model, as plain data.

    Raises:
        ModelError: its files or its report are damaged.
    """
    manifest, report = entry.open()
    with whole(entry.folder):
        report["models"][report["chosen"]][report["loss"]]
        return {
            **listed(entry),
            "settings": dict(manifest.settings),
            "seed": manifest.seed,
            "sources": [dataclasses.asdict(one) for one in manifest.sources],
            "versions": dict(manifest.versions),
            "facts": dict(manifest.facts),
            "report": report,
            "history": [
                {
                    "time": format_micros(record.time),
                    "event": record.event,
                    "digest": record.digest,
                    "champion": record.champion == record.digest and record.event != "removed",
                    "by": record.by,
                    "why": record.why,
                }
                for record in records
            ],
        }


def best_baseline(report: dict[str, Any]) -> dict[str, Any]:
    """Name and loss of the best baseline of a report."""
    losses = {
        str(name): float(scores[report["loss"]])
        for name, scores in report["models"].items()
        if is_baseline(name) and scores[report["loss"]] is not None
    }
    if not losses:
        return {"name": None, "loss": None}
    best = min(losses, key=lambda name: losses[name])
    return {"name": best, "loss": losses[best]}


@contextlib.contextmanager
def whole(place: object) -> Iterator[None]:
    """Make one error of whatever is missing in a report."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            f"the report of {place} is damaged ({type(error).__name__}: {error}); train again"
        ) from None
