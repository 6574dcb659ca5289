"""Answers for many pending jobs at once: when they start, and whether they fail."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import polars as pl

from jobsight.acting.slurm.plan import Answers
from jobsight.answering.question import Answer
from jobsight.documents import State, slurm_id
from jobsight.documents.keys import first_id

__all__ = ["answers_of_pending"]

Ask = Callable[[pl.Expr], Sequence[Any]]
"""Asks a question about the jobs that an expression over the job table selects."""


def answers_of_pending(
    names: Collection[str], cluster: str, start: Ask, fail: Ask
) -> dict[str, Answers]:
    """The answers for pending jobs of a cluster, by their names (``12``, ``12_5``).

    Raises:
        JobsightError: as `start` and `fail`.
    """
    ids = {slurm_id(cluster, name): name for name in names}
    waits = pl.col("state").cast(pl.String).is_in([State.PENDING.value, State.HELD.value])
    first = pl.col("id").cast(pl.String).str.replace(r"@\d+$", "")
    rows = waits & first.is_in(list(ids))

    def by_name(ask: Ask) -> dict[str, Any]:
        answers: Sequence[Answer] = ask(rows)
        return {ids[first_id(str(answer.id))]: answer for answer in answers}

    starts, fails = by_name(start), by_name(fail)
    return {name: Answers(starts.get(name), fails.get(name)) for name in {**starts, **fails}}
