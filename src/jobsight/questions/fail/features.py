"""What is known of a job when it is submitted, or when it starts: its request, and its like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.history.jobsasked import KeysUsed, jobs_asked
from jobsight.history.jobtable import JobTable
from jobsight.history.past import COLUMNS, Past
from jobsight.models.base import Inputs
from jobsight.questions.fail.scripts import FINDINGS, findings_of

__all__ = ["MOMENTS", "REQUEST", "Features", "at_moment"]

MOMENTS = ("submission", "start")
_SECOND = 1_000_000
_NUMBERS = ("request_cpus", "request_memory_mb", "request_gpus", "request_nodes", "time_limit_s",
            "array_task_id")  # fmt: skip
REQUEST = (*_NUMBERS, "memory of a core")
"""Features of what a job itself asks for."""
_OWN = (*REQUEST, "hour", "weekday", "waited")
_MOMENTS = {"submission": pl.lit(None, pl.Int64), "start": pl.col("start").to_physical()}
_QUEUE = ("running", "pending", "submitted lately", "since submission")
_STAYS = frozenset({*_OWN, *_QUEUE})


class Features:
    """Builds inputs of jobs of one table; all of a table are built once per moment and kept."""

    def __init__(self, jobs: JobTable, encoding: KeysUsed) -> None:
        self._past = Past.of(jobs)
        self._keys = encoding.keys
        self._scripts = FINDINGS if encoding.scripts else ()
        self._kept: dict[str, tuple[pl.DataFrame, NDArray[np.float32]]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        past = (f"{key}: {column}" for key in self._keys for column in COLUMNS)
        return (*_OWN, *past, *self._scripts)

    def build(self, rows: pl.DataFrame, moment: str) -> tuple[pl.DataFrame, Inputs]:
        """See `jobsight.learning.question.Builder`; `decided` becomes the start at the start.

        Jobs that had failed by then are left out: those that were held before they ran.
        """
        if moment not in self._kept:
            table = at_moment(jobs_asked(self._past.jobs), moment)
            self._kept[moment] = table.select("row"), self.values(table, moment)
        kept, values = self._kept[moment]
        known_before = pl.col("known_at") < pl.col("decided")
        rows = at_moment(rows, moment).filter(~known_before.fill_null(value=False))
        place = np.full(len(self._past.jobs.table), -1, np.int64)
        place[kept["row"].to_numpy()] = np.arange(len(kept))
        return rows, self._inputs(values[place[rows["row"].to_numpy()]], rows)

    def ask(self, rows: pl.DataFrame, moment: str) -> Inputs:
        """Inputs of jobs that need not be in the table, as of their `decided` (µs)."""
        return self._inputs(self.values(rows, moment), rows)

    def ask_later(self, rows: pl.DataFrame, moment: str, now: int) -> Inputs:
        """Inputs of jobs that still wait or run, with what became known of others until now (µs).

        The queue is that of the job's own submission or start: there the job counts for none of its
        own columns, as in training. Outcomes are those known now.
        """
        own = rows.with_columns(pl.max_horizontal("decided", _MOMENTS[moment]).alias("decided"))
        then = self.values(own, moment)
        found = self.values(rows.with_columns(decided=pl.lit(now)), moment)
        kept = [
            k
            for k, name in enumerate(self.names[: found.shape[1]])
            if name.rpartition(": ")[2] in _STAYS
        ]
        found[:, kept] = then[:, kept]
        return self._inputs(found, rows)

    def values(self, rows: pl.DataFrame, moment: str) -> NDArray[np.float32]:
        """The features but those of scripts: float32 (n, names)."""
        moments = rows["decided"].to_numpy()
        started = np.full(len(rows), moment == "start")
        past = self._past.build(rows, moments, started, self._keys)
        return np.concatenate([_own(rows, moments, moment), *past.values()], axis=1)

    def _inputs(self, values: NDArray[np.float32], rows: pl.DataFrame) -> Inputs:
        if self._scripts:
            values = np.concatenate([values, findings_of(rows["script"])], axis=1)
        return Inputs(values, self.names, {}, {}, None, 0)


def at_moment(rows: pl.DataFrame, moment: str) -> pl.DataFrame:
    """The jobs that were open at a moment, with `decided` (µs) of that moment."""
    if moment == "submission":
        return rows
    return rows.filter(pl.col("start").is_not_null()).with_columns(
        decided=pl.max_horizontal("decided", pl.col("start").to_physical())
    )


def _own(rows: pl.DataFrame, moments: NDArray[np.int64], moment: str) -> NDArray[np.float32]:
    """What the job itself asks for, and when: float32 (n, _OWN)."""
    numbers: Sequence[NDArray[np.float64]] = [
        rows[name].cast(pl.Float64).fill_null(float("nan")).to_numpy() for name in _NUMBERS
    ]
    cpus, memory = np.where(numbers[0] > 0, numbers[0], np.nan), numbers[1]
    seconds = moments // _SECOND
    waited = np.full(len(rows), np.nan)
    if moment == "start":
        waited = np.log1p(np.maximum(moments - rows["seen"].to_physical().to_numpy(), 0) / _SECOND)
    own = [*numbers, memory / cpus, seconds // 3600 % 24, (seconds // 86_400 + 3) % 7, waited]
    return np.stack(own, axis=1).astype(np.float32)
