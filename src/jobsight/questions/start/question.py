"""The question `start` as the contract wants it: jobs, how long they wait, and how long they run.

The decision is the submission; where the data show how the queue looked to a job later on, it is
the first such sighting, and the wait is what was left of it. Who had waited how long by then is
known. At the moment ``pending`` the job has waited on, for a span drawn by chance.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from jobsight.documents import State
from jobsight.history.jobsasked import KeysUsed, jobs_asked
from jobsight.history.jobtable import JobTable
from jobsight.history.past import QUEUE, SIZE, Past
from jobsight.learning.question import Decisions, Question, Stratum
from jobsight.learning.targets import Quantiles, Target
from jobsight.models.base import Inputs
from jobsight.questions.start.replay import expected_waits
from jobsight.settings import BoostedSettings, QuestionSettings

__all__ = ["MOMENTS", "START", "Encoding", "Features", "Start", "StartSettings", "at_moment",
           "outcomes_of", "with_ages", "without_ages"]  # fmt: skip


class StartSettings(QuestionSettings):
    """The question `start`."""

    metric: Literal["pinball", "log10_mse", "within_2"] = "pinball"
    bootstrap: Annotated[int, Field(ge=100, le=100_000)] = 200
    boosted: BoostedSettings = BoostedSettings()


MOMENTS = ("submission", "pending")
_RAN = [state.value for state in (State.COMPLETED, State.FAILED, State.OUT_OF_MEMORY)]
_CUT = [State.TIMEOUT.value, State.DEADLINE.value]
_ENDS = [state.value for state in State if state.ended]
_SHORTEST, _LONGEST = 60.0, 3 * 86_400.0
"""Seconds: how much longer a job has waited at the moment ``pending``, log-uniform."""


def _starts_asked(jobs: JobTable, seed: int = 0) -> pl.DataFrame:
    """`jobs_asked`, decided at the first sighting, with `age` (µs) of the moment ``pending``.

    `shown` lists the names of the numbers in the first sighting, as JSON has them.
    """
    return with_ages(without_ages(jobs), seed)


def without_ages(jobs: JobTable) -> pl.DataFrame:
    """`_starts_asked` before each `age` is drawn, which takes seconds for a million jobs."""
    sighted = (
        jobs.changes.filter(pl.any_horizontal(pl.col("reason", "ad").is_not_null()))
        .group_by("row")
        .agg(
            sighted=pl.col("known").min().to_physical(),
            shown=pl.col("ad").drop_nulls().first().str.extract_all(r'"\w+":'),
        )
    )
    rows = jobs_asked(jobs).join(sighted, on="row", how="left", maintain_order="left")
    return rows.with_columns(
        decided=pl.max_horizontal("decided", "sighted"), age=pl.lit(None, pl.Int64)
    )


def with_ages(rows: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Rows of `without_ages` with their ages."""
    ages = []
    for job in rows["id"]:
        digest = hashlib.blake2b(f"{seed} {job}".encode(), digest_size=8).digest()
        share = int.from_bytes(digest) / 2**64
        ages.append(int(1e6 * exp(log(_SHORTEST) + share * log(_LONGEST / _SHORTEST))))
    return rows.with_columns(age=pl.Series(ages, dtype=pl.Int64))


def outcomes_of(jobs: JobTable, seed: int = 0) -> pl.DataFrame:
    """`_starts_asked` with the outcomes: `wait` and `runtime` (s), and when they were known.

    A wait is known from the first start on (`known_at`, µs), a runtime from the end of the last run
    (`known_at runtime`). Of a job that was cancelled while it waited, or waits still, the wait is
    at least what it was (`waits_until`, µs). A run that reached its limit would have taken longer:
    its time teaches what a limit leaves of a runtime, and judges nothing (`bound runtime`). Runs
    that people, other jobs or nodes ended have no runtime.
    """
    table, last = jobs.table, jobs.end()
    rows = _starts_asked(jobs, seed).with_columns(
        state=table["state"].cast(pl.String),
        began=table["last_start"].to_physical(),
        ended=table["end"].to_physical(),
        reported=table["reported"].to_physical(),
        first=table["start"].to_physical(),
    )
    state, started = pl.col("state"), pl.col("first").is_not_null()
    ran = started & pl.col("ended").is_not_null() & state.is_in([*_RAN, *_CUT])
    waiting = (
        pl.when(state.is_in([*_RAN, *_CUT]))
        .then(pl.lit("start_unknown"))
        .when(state.is_in(_ENDS))
        .then(pl.lit("cancelled"))
        .otherwise(pl.lit("pending"))
    )
    unknown = pl.when(~started).then(pl.lit("never_started")).when(state.is_in(_ENDS)).then(state)
    return rows.with_columns(
        wait=pl.when(started).then((pl.col("first") - pl.col("decided")).clip(0) / 1e6),
        known_at="first",
        censored=pl.when(~started).then(waiting),
        waits_until=pl.coalesce("first", "ended", pl.lit(last)),
        **{
            "runtime": pl.when(ran).then((pl.col("ended") - pl.col("began")).clip(0) / 1e6),
            "known_at runtime": pl.when(ran).then("reported"),
            "bound runtime": ran & state.is_in(_CUT),
            "censored runtime": pl.when(~ran | state.is_in(_CUT)).then(
                unknown.otherwise(pl.lit("running"))
            ),
        },
        kept=True,
        teaches=True,
    ).sort("decided", "row")


def at_moment(rows: pl.DataFrame, moment: str) -> pl.DataFrame:
    """The jobs that still waited at a moment, with `decided` (µs) and `wait` (s) as of it."""
    if moment == MOMENTS[0]:
        return rows
    later = rows.with_columns(decided=pl.col("decided") + pl.col("age"))
    later = later.filter(pl.col("waits_until") > pl.col("decided"))
    return later.with_columns(pl.col("wait") - pl.col("age") / 1e6)


Floats32 = NDArray[np.float32]

_SECOND = 1_000_000
_NUMBERS = ("request_cpus", "request_memory_mb", "request_gpus", "request_nodes", "time_limit_s",
            "array_task_id")  # fmt: skip
_REQUEST = (*_NUMBERS, "memory of a core", "limit", "partition")
"""Features of what a job itself asks for."""
_ESTIMATE = "estimate"
"""The feature of the start that the scheduler itself expects."""
_PLAYED = ("play: 10%", "play: 50%", "play: 90%")
"""Features of what a play of the queue expects."""
_OWN = (*_REQUEST, "hour", "weekday", "waited", "eligible", "sighted", _ESTIMATE,
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
        return (*_OWN, *numbers, *_PLAYED, *past)

    def build(self, rows: pl.DataFrame, moment: str) -> tuple[pl.DataFrame, Inputs]:
        """See `jobsight.learning.question.Builder`; `decided` and `wait` become the moment's."""
        if moment not in self._kept:
            everything = _starts_asked(self._jobs, self._seed)
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
        seen = self._seen.sightings()
        ids = self._seen.table["id"].gather(seen["row"])
        return seen.drop("row").with_columns(ids, pl.col("known").alias("decided")).sort("known")

    def _values(self, rows: pl.DataFrame) -> Floats32:
        """The features: float32 (n, names)."""
        moments = rows["decided"].to_numpy()
        past = self._past.each(
            rows, moments, np.zeros(len(rows), np.bool_), self._encoding.keys, queue=True
        )
        played = expected_waits(self._jobs, self._past, rows, moments, self._seed)
        parts = [self._own(rows), played, *(values[:, _columns(key)] for key, values in past)]
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
        # Why it waits: a number for each reason that many jobs have, then for all others.
        reason = pl.col("reason")
        why = pl.when(reason.is_null()).then(pl.lit(None, pl.Float32))
        for k, beginning in enumerate(_REASONS):
            why = why.when(reason.str.starts_with(beginning)).then(pl.lit(float(k)))  # type: ignore[assignment]
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
            (pl.col(_START) - now / _SECOND).clip(0).log1p().alias(_ESTIMATE),
            why.otherwise(pl.lit(float(len(_REASONS)))).alias("why"),
            *(pl.col(name).alias(f"queue {name}") for name in self._encoding.numbers),
        )
        return own.cast(pl.Float32).fill_null(float("nan")).to_numpy()

    def _inputs(self, values: Floats32) -> Inputs:
        return Inputs(values, self.names, {}, {}, None, 0)


def _columns(key: str) -> list[int]:
    """The columns of `QUEUE` that are features of a key."""
    return list(range(0 if key in _LOAD else _SAID, len(QUEUE)))


class Start(Question[StartSettings]):
    """How long does a job wait, and how long does it run?

    See `jobsight.learning.question.Question`.
    """

    name: ClassVar[str] = "start"
    title: ClassVar[str] = "When will it start, and how long will it run?"
    settings = StartSettings
    targets: ClassVar[Mapping[str, Target]] = {
        "wait": Quantiles("s", log=True),
        "runtime": Quantiles("s", log=True),
    }
    titles: ClassVar[Mapping[str, str]] = {"wait": "its wait", "runtime": "its runtime"}
    equal: ClassVar[bool] = True
    models: ClassVar[tuple[str, ...]] = (
        "constant", "partition", "recent", "last", "slurm", "play", "limit", "last2", "request",
        "boosted", "mixture",
    )  # fmt: skip
    columns: ClassVar[Mapping[str, str]] = {
        "partition": "partition",
        "recent": "partition: wait day",
        "last": "user: last wait",
        "slurm": _ESTIMATE,
        "play": _PLAYED[1],
        "limit": "limit",
        "last2": "user: last 2 runtimes",
        "request": "request: runtime 50",
    }
    only: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("partition", "recent", "last", "slurm", "play"), "wait"),
        **dict.fromkeys(("limit", "last2", "request"), "runtime"),
    }
    each_moment: ClassVar[bool] = True
    reads: ClassVar[Literal["events", "jobs"]] = "jobs"
    searched: ClassVar[tuple[str, ...]] = ("seed", "boosted")
    key: ClassVar[pl.Expr] = pl.col("id")
    job: ClassVar[pl.Expr] = pl.format("{} {}", "scheduler_name", "job")
    strata: ClassVar[Mapping[str, Stratum]] = {
        "partition": Stratum(pl.col("partition"), "By partition"),
        "size": Stratum(
            pl.when(pl.col("request_gpus") > 0).then(pl.lit("gpus"))
            .when(pl.col("request_cpus") <= 1).then(pl.lit("one"))
            .when(pl.col("request_cpus") <= 32).then(pl.lit("some"))
            .when(pl.col("request_cpus") > 32).then(pl.lit("many")),
            "By size",
            words={"gpus": "with GPUs", "one": "one CPU", "some": "2 to 32 CPUs",
                   "many": "more than 32 CPUs"},
        ),
        "user": Stratum(pl.col("owner"), "By user", saved=False),
        "account": Stratum(pl.col("account"), "By account", saved=False),
    }  # fmt: skip
    words: ClassVar[tuple[str, str, str]] = ("job", "jobs", "started")
    families: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "its request": (*_REQUEST, "request", "user and request"),
        "its queue": ("queue", "play", "waited", "eligible", "sighted", _ESTIMATE, "reason"),
        "its user": ("user", "account", "user and partition"),
        "its work": ("pattern", "script", "user and pattern", "user and name", "user and folder",
                     "user and script", "submission", "same again"),
        "its partition": ("partition", "partition and size"),
        "the whole machine": ("all", "hour", "weekday"),
    }  # fmt: skip

    def decisions(self, source: JobTable, settings: StartSettings) -> Decisions:
        """Every job, decided at its submission or its first sighting in the queue."""
        table = outcomes_of(source, settings.seed)
        times = table["decided"].to_numpy()
        latest = table["waits_until"].to_numpy()
        known = table["known_at runtime"].drop_nulls().to_numpy()
        return Decisions(
            table,
            int(times.min(initial=np.iinfo(np.int64).max)),
            int(max(moments.max(initial=0) for moments in (times, latest, known))),
            facts={"jobs": len(table)},
            nothing="nothing to learn from: there are no jobs",
        )

    def encoding(self, rows: pl.DataFrame, settings: StartSettings) -> Encoding:
        """By what jobs can be compared here, and what is known of their queue."""
        return Encoding.of(rows)

    def encoding_from(self, data: Mapping[str, Any]) -> Encoding:
        """See `Encoding.to_json`."""
        return Encoding.from_json(data)

    def builder(self, source: JobTable, encoding: Encoding, settings: StartSettings) -> Features:
        """Features as of a moment."""
        return Features(source, encoding, settings.seed)

    def moments(self, encoding: Encoding) -> tuple[str, ...]:
        """At submission, and while the job waits."""
        return MOMENTS

    def again(
        self, source: JobTable, row: pl.DataFrame, encoding: Encoding, settings: StartSettings,
        moment: str,
    ) -> Inputs | None:  # fmt: skip
        """The same from the table cut off at the moment; of the job itself, what was known then."""
        now = int(row["decided"][0])
        seen = source.as_of(now + 1)
        own = _starts_asked(seen, settings.seed).filter(pl.col("id") == row["id"][0])
        features = Features(source.as_of(now), encoding, settings.seed, seen)
        return features.ask(own.with_columns(decided=pl.lit(now))) if len(own) else None


START = Start()
