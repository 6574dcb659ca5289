"""Joining the sections of two documents of a job, field by field."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from jobsight.documents.document import Prediction, Submission, Usage

__all__ = ["MOST_PREDICTIONS", "fill", "join_predictions", "join_submissions", "join_usages"]

MOST_PREDICTIONS = 100
"""Predictions kept of a job, the newest."""

_Section = TypeVar("_Section", bound=msgspec.Struct)


def fill(first: _Section, second: _Section) -> _Section:
    """`first`, its unknown fields (None) taken from `second`."""
    if first == second:
        return second
    gaps = {
        name: value
        for name in first.__struct_fields__
        if getattr(first, name) is None and (value := getattr(second, name)) is not None
    }
    return msgspec.structs.replace(first, **gaps) if gaps else first


def join_submissions(first: Submission, second: Submission) -> Submission:
    """`first` with its gaps filled; of a job that was submitted twice, when it was first."""
    filled = fill(first, second)
    known = [one.submitted for one in (first, second) if one.submitted is not None]
    if known and min(known) != filled.submitted:
        return msgspec.structs.replace(filled, submitted=min(known))
    return filled


def join_usages(first: Usage, second: Usage) -> Usage:
    """`first` with its gaps filled, and the larger memory of both."""
    filled = fill(first, second)
    most = max(first.memory_mb or 0, second.memory_mb or 0)
    if most and most != filled.memory_mb:
        return msgspec.structs.replace(filled, memory_mb=most)
    return filled


def join_predictions(
    old: tuple[Prediction, ...], new: tuple[Prediction, ...]
) -> tuple[Prediction, ...]:
    """Each once, by time, the newest `MOST_PREDICTIONS` of them."""
    if not new:
        return old
    known = {(one.question, one.model, one.time): one for one in (*new, *old)}
    ordered = sorted(known.values(), key=lambda one: (one.time, one.question, one.model))
    return tuple(ordered[-MOST_PREDICTIONS:])
