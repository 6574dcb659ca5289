"""Answers for many pending jobs of Slurm at once: when they start, and whether they fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from jobsight.acting.slurm.plan import Answers
from jobsight.cli.asking import history_of
from jobsight.cli.fail import failures_now
from jobsight.cli.start import starts_now
from jobsight.documents import State, slurm_id
from jobsight.documents.keys import first_id
from jobsight.history.slurm.client import SlurmClient

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from jobsight.answering.question import Answer
    from jobsight.settings import Settings

__all__ = ["answers_of_pending"]


def answers_of_pending(
    names: Collection[str], settings: Settings, logs: list[str], *, wanted: bool, model: str | None
) -> dict[str, Answers]:
    """The answers as of now for pending jobs of the cluster, by their names (``12``, ``12_5``).

    `logs` and `wanted` (the store) are what is read; where neither is named, see `history_of`.

    Raises:
        JobsightError: nothing can be read, or there is no such model.
    """
    inputs, _ = history_of(logs, settings, store=wanted)
    cluster = SlurmClient(settings.slurm).cluster_name()
    ids = {slurm_id(cluster, name): name for name in names}
    waits = pl.col("state").cast(pl.String).is_in([State.PENDING.value, State.HELD.value])
    first = pl.col("id").cast(pl.String).str.replace(r"@\d+$", "")
    rows = waits & first.is_in(list(ids))
    name_of: Callable[[Answer], str] = lambda answer: ids[first_id(str(answer.id))]  # noqa: E731
    starts = {name_of(answer): answer for answer in starts_now(settings, inputs, rows, model)}
    fails = {name_of(answer): answer for answer in failures_now(settings, inputs, rows, model)}
    both = {**starts, **fails}
    return {name: Answers(starts.get(name), fails.get(name)) for name in both}
