"""What is known of a job that waits: its request, its queue, and how long others waited and ran."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.history.jobsasked import KeysUsed
from jobsight.history.jobtable import JobTable
from jobsight.history.past import QUEUE, SIZE, Past
from jobsight.models.base import Inputs
from jobsight.questions.start.decisions import at_moment, starts_asked
from jobsight.questions.start.replay import expected_waits

__all__ = ["ESTIMATE", "PLAYED", "REQUEST", "Encoding", "Features"]

Floats32 = NDArray[np.float32]

_SECOND = 1_000_000
_NUMBERS = ("request_cpus", "request_memory_mb", "request_gpus", "request_nodes", "time_limit_s",
            "array_task_id")  # fmt: skip
REQUEST = (*_NUMBERS, "memory of a core", "limit", "partition")
"""Features of what a job itself asks for."""
ESTIMATE = "estimate"
"""The feature of the start that the scheduler itself expects."""
PLAYED = ("play: 10%", "play: 50%", "play: 90%")
"""Features of what a play of the queue expects."""
_OWN = (*REQUEST, "hour", "weekday", "waited", "eligible", "sighted", ESTIMATE,
        "reason")  # fmt: skip
_SAID = QUEUE.index("ahead")
_LOAD = ("all", "partition", SIZE, "account", "user", "user and partition")
"""Keys of which the load and waits say something; of all others, what is ahead and runtimes do."""
_REASONS = ("Resources", "Priority", "Dependency", "JobHeld", "BeginTime", "ReqNodeNotAvail",
            "PartitionTimeLimit", "QOS", "Assoc")  # fmt: skip
_MOST_NUMBERS = 200
_START = "StartEstimate"


@dataclass(frozen=True)
class Encoding:
    """What the training part says before any model: keys, partitions, numbers of the queue.

    Attributes:
        keys: by which jobs can be compared here.
        partitions: by how many jobs they have.
        numbers: names of what sightings say of the queue.
    """

    keys: tuple[str, ...]
    partitions: tuple[str, ...]
    numbers: tuple[str, ...]

    horizon_micros: ClassVar[int] = 0

    @classmethod
    def of(cls, rows: pl.DataFrame) -> Encoding:
        """What rows of the training part say."""
        shown = rows["shown"].explode().drop_nulls().str.strip_chars('":').unique().sort()
        counts = rows["partition"].drop_nulls().value_counts().sort("count", "partition")
        return cls(
            (*KeysUsed.of(rows).keys, SIZE),
            tuple(counts["partition"].reverse()),
            tuple(name for name in shown if name != _START)[:_MOST_NUMBERS],
        )

    def to_json(self) -> dict[str, Any]:
        """See `jobsight.learning.question.Encoding`."""
        return {name: list(value) for name, value in vars(self).items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Encoding:
        """What `to_json` gave; ValueError where a key is unknown."""
        *keys, size = map(str, data["keys"])
        if size != SIZE:
            raise ValueError("the last key is not that of sizes")
        used = KeysUsed.from_json({"keys": keys}).keys
        names = (tuple(map(str, data[name])) for name in ("partitions", "numbers"))
        return cls((*used, SIZE), *names)


class Features:
    """Builds inputs of jobs of one table; all of a table are built once per moment and kept."""

    def __init__(
        self, jobs: JobTable, encoding: Encoding, seed: int, seen: JobTable | None = None
    ) -> None:
        """Index a table.

        Args:
            jobs: what is known of other jobs.
            encoding: see there.
            seed: of the ages at which jobs are asked about while they wait.
            seen: what the jobs asked about have seen of the queue; None: `jobs` has that too.
        """
        self._jobs, self._seen, self._encoding, self._seed = jobs, seen or jobs, encoding, seed
        self._kept: dict[str, tuple[pl.DataFrame, Floats32]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        past = (f"{key}: {QUEUE[k]}" for key in self._encoding.keys for k in _columns(key))
        numbers = (f"queue: {name}" for name in self._encoding.numbers)
        return (*_OWN, *numbers, *PLAYED, *past)

    def build(self, rows: pl.DataFrame, moment: str) -> tuple[pl.DataFrame, Inputs]:
        """See `jobsight.learning.question.Builder`; `decided` and `wait` become the moment's."""
        if moment not in self._kept:
            everything = starts_asked(self._jobs, self._seed)
            if moment == "pending":
                everything = everything.with_columns(pl.col("decided") + pl.col("age"))
            self._kept[moment] = everything.select("row"), self._values(everything)
        rows = at_moment(rows, moment)
        return rows, self._inputs(self._kept[moment][1][rows["row"].to_numpy()])

    def ask(self, rows: pl.DataFrame) -> Inputs:
        """Inputs of jobs that need not be in the table, as of their `decided` (µs)."""
        return self._inputs(self._values(rows))

    @cached_property
    def _past(self) -> Past:
        return Past.of(self._jobs)

    @cached_property
    def _sightings(self) -> pl.DataFrame:
        """How the queue looked, by job: id, known (µs), reason, numbers; in order of `known`."""
        found = self._seen.sightings()
        ids = self._seen.table["id"].gather(found["row"])
        return found.drop("row").with_columns(ids, pl.col("known").alias("decided")).sort("known")

    def _values(self, rows: pl.DataFrame) -> Floats32:
        """The features: float32 (n, names)."""
        moments = rows["decided"].to_numpy()
        past = self._past.each(
            rows, moments, np.zeros(len(rows), np.bool_), self._encoding.keys, queue=True
        )
        played = expected_waits(self._jobs, self._past, rows, moments, self._seed)
        parts = [self._own(rows), played, *(found[:, _columns(key)] for key, found in past)]
        return np.concatenate(parts, axis=1)

    def _own(self, rows: pl.DataFrame) -> Floats32:
        """What the job asks for, when, and how its queue looked last: float32 (n, names)."""
        eligible = pl.col("eligible").to_physical()
        began = self._seen.table.select("id", eligible=eligible, recorded=pl.lit(value=True))
        numbered = rows.join(began, on="id", how="left", maintain_order="left")
        numbered = numbered.with_row_index("n").sort("decided")
        seen = numbered.join_asof(self._sightings, on="decided", by="id", check_sortedness=False)
        missing = [name for name in (*self._encoding.numbers, _START) if name not in seen.columns]
        seen = seen.sort("n").with_columns(pl.lit(None, pl.Float64).alias(name) for name in missing)
        memory, cpus, limit = "request_memory_mb", "request_cpus", "time_limit_s"
        places = {name: float(k) for k, name in enumerate(self._encoding.partitions)}
        now, second = pl.col("decided"), pl.col("decided") // _SECOND
        waited, ago = ((now - pl.col(name).to_physical()).clip(0) for name in ("seen", "known"))
        own = seen.select(
            *(pl.col(name).cast(pl.Float32) for name in _NUMBERS),
            pl.when(pl.col(cpus) > 0).then(pl.col(memory) / pl.col(cpus)).alias("core"),
            pl.when(pl.col(limit) > 0).then(pl.col(limit).cast(pl.Float64).log1p()).alias("log"),
            pl.col("partition").replace_strict(places, default=None, return_dtype=pl.Float32),
            (second // 3600 % 24).alias("hour"),
            ((second // 86_400 + 3) % 7).alias("weekday"),
            (waited / _SECOND).log1p().alias("waited"),
            # A script that is yet to be submitted is in no table, and may start at once.
            pl.when(pl.col("recorded").is_null())
            .then(0.0)
            .when(pl.col("eligible") <= now)
            .then(((now - pl.col("eligible")) / _SECOND).log1p())
            .alias("eligible age"),
            (ago / _SECOND).log1p().alias("sighted"),
            (pl.col(_START) - now / _SECOND).clip(0).log1p().alias(ESTIMATE),
            _reason().alias("why"),
            *(pl.col(name).alias(f"queue {name}") for name in self._encoding.numbers),
        )
        return own.cast(pl.Float32).fill_null(float("nan")).to_numpy()

    def _inputs(self, values: Floats32) -> Inputs:
        return Inputs(values, self.names, {}, {}, None, 0)


def _columns(key: str) -> list[int]:
    """The columns of `QUEUE` that are features of a key."""
    return list(range(0 if key in _LOAD else _SAID, len(QUEUE)))


def _reason() -> pl.Expr:
    """Why the job waits: a number for each reason that many jobs have, then for all others."""
    found = pl.when(pl.col("reason").is_null()).then(pl.lit(None, pl.Float32))
    for k, beginning in enumerate(_REASONS):
        found = found.when(pl.col("reason").str.starts_with(beginning)).then(pl.lit(float(k)))  # type: ignore[assignment]
    return found.otherwise(pl.lit(float(len(_REASONS))))
