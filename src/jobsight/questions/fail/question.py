"""The question `fail` as the contract wants it: jobs, whether they fail, and of what.

Of a batch script no file, program or variable of this machine counts, so that it has the same
features wherever they are made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from jobsight.documents import State
from jobsight.errors import SourceError
from jobsight.history.jobsasked import KeysUsed, jobs_asked
from jobsight.history.jobtable import JobTable
from jobsight.history.past import COLUMNS, FAILURES, Past
from jobsight.learning.question import Decisions, Question, Stratum
from jobsight.learning.targets import Binary, Classes, Target
from jobsight.models.base import Inputs
from jobsight.settings import BoostedSettings, QuestionSettings
from jobsight.text import counted

__all__ = ["FAIL", "FINDINGS", "KINDS", "MOMENTS", "Fail", "FailSettings", "Features",
           "findings_of", "outcomes_of"]  # fmt: skip


class FailSettings(QuestionSettings):
    """The question `fail`."""

    cancelled: Literal["censored", "failure"] = "censored"
    """What a job is that a person cancelled: of unknown outcome, or failed."""
    metric: Literal["log_loss", "brier", "roc_auc"] = "log_loss"
    bootstrap: Annotated[int, Field(ge=100, le=100_000)] = 200
    boosted: BoostedSettings = BoostedSettings()


KINDS = tuple(state.value for state in FAILURES)
"""Ways to fail."""


def outcomes_of(jobs: JobTable, settings: FailSettings) -> pl.DataFrame:
    """`jobs_asked` with the outcomes: `fails`, `kinds`, `known_at` (µs), `censored`, `core_hours`.

    `core_hours` is what the job used from its first start until its end: the CPUs that it asked for
    times hours; null where one of them is not known.

    A job that is held at its first start by something other than its user's own hand has failed
    then, whatever becomes of it later. A job whose end is not a failure of its own (cancelled,
    preempted, of unknown end) or that has not ended has no outcome.
    """
    failed = [*KINDS, *([State.CANCELLED.value] if settings.cancelled == "failure" else [])]
    completed = State.COMPLETED.value
    hours = (jobs.table["end"] - jobs.table["start"]).dt.total_seconds() / 3600.0
    table = jobs_asked(jobs).with_columns(
        state=jobs.table["state"].cast(pl.String),
        known_at=jobs.table["reported"].to_physical(),
        core_hours=pl.col("request_cpus") * hours.clip(0.0),
    )
    holds = jobs.states().filter("fails")
    table = table.update(
        holds.select("row", state=pl.lit(State.HELD.value), known_at=pl.col("known").to_physical()),
        on="row",
    )
    known = pl.col("known_at").is_not_null() & pl.col("state").is_in([completed, *failed])
    ended = pl.col("state").is_in([end.value for end in State if end.ended])
    return table.with_columns(
        fails=pl.when(known).then(pl.col("state") != completed),
        kinds=pl.when(known & pl.col("state").is_in(KINDS)).then("state"),
        known_at=pl.when(known).then("known_at"),
        censored=pl.when(~known).then(
            pl.when(pl.col("state").is_in([completed, *failed]))
            .then(pl.lit("end_not_dated"))
            .when(ended)
            .then("state")
            .otherwise(pl.lit("not_ended"))
        ),
        kept=True,
        teaches=True,
    ).sort("decided", "row")


_KINDS = {"syntax": "JS0", "missing": "JS1", "requests": "JS2", "logic": "JS3"}
FINDINGS = tuple(f"findings: {name}" for name in ("errors", "warnings", *_KINDS))
"""Numbers of errors and warnings, and of findings by kind."""


def findings_of(scripts: pl.Series) -> NDArray[np.float32]:
    """Features of the texts of batch scripts, NaN where there is none: float32 (n, FINDINGS)."""
    numbers, unknown = scripts.to_physical(), (np.nan,) * len(FINDINGS)
    texts = pl.DataFrame({"text": scripts, "number": numbers}).unique("number").drop_nulls()
    rows = {number: _counts(text) or unknown for text, number in texts.iter_rows()}
    values = [unknown if number is None else rows[number] for number in numbers]
    return np.array(values, np.float32).reshape(len(scripts), len(FINDINGS))


@lru_cache(maxsize=1 << 17)
def _counts(text: str) -> tuple[float, ...] | None:
    """The numbers of `FINDINGS`; None: it cannot be checked."""
    from jobsight.program.preflight.check import Checker

    try:
        findings = Checker(shellcheck=False).sent("job.sh", text).findings
    except SourceError:
        return None
    levels = [sum(f.severity == level for f in findings) for level in ("error", "warning")]
    kinds = [sum(f.code.startswith(code) for f in findings) for code in _KINDS.values()]
    return (*map(float, levels), *map(float, kinds))


MOMENTS = ("submission", "start")
_SECOND = 1_000_000
_NUMBERS = ("request_cpus", "request_memory_mb", "request_gpus", "request_nodes", "time_limit_s",
            "array_task_id")  # fmt: skip
_REQUEST = (*_NUMBERS, "memory of a core")
"""Features of what a job itself asks for."""
_OWN = (*_REQUEST, "hour", "weekday", "waited")
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
            table = _at_moment(jobs_asked(self._past.jobs), moment)
            self._kept[moment] = table.select("row"), self.values(table, moment)
        kept, values = self._kept[moment]
        known_before = pl.col("known_at") < pl.col("decided")
        rows = _at_moment(rows, moment).filter(~known_before.fill_null(value=False))
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
        values = self.values(rows.with_columns(decided=pl.lit(now)), moment)
        names = self.names[: values.shape[1]]
        kept = [k for k, name in enumerate(names) if name.rpartition(": ")[2] in _STAYS]
        values[:, kept] = then[:, kept]
        return self._inputs(values, rows)

    def values(self, rows: pl.DataFrame, moment: str) -> NDArray[np.float32]:
        """The features but those of scripts: float32 (n, names)."""
        moments = rows["decided"].to_numpy()
        started = np.full(len(rows), moment == "start")
        past = self._past.build(rows, moments, started, self._keys)
        numbers: Sequence[NDArray[np.float64]] = [
            rows[name].cast(pl.Float64).fill_null(float("nan")).to_numpy() for name in _NUMBERS
        ]
        cpus, memory = np.where(numbers[0] > 0, numbers[0], np.nan), numbers[1]
        seconds, waited = moments // _SECOND, np.full(len(rows), np.nan)
        if moment == "start":
            since = moments - rows["seen"].to_physical().to_numpy()
            waited = np.log1p(np.maximum(since, 0) / _SECOND)
        own = [*numbers, memory / cpus, seconds // 3600 % 24, (seconds // 86_400 + 3) % 7, waited]
        return np.concatenate([np.stack(own, axis=1).astype(np.float32), *past.values()], axis=1)

    def _inputs(self, values: NDArray[np.float32], rows: pl.DataFrame) -> Inputs:
        if self._scripts:
            values = np.concatenate([values, findings_of(rows["script"])], axis=1)
        return Inputs(values, self.names, {}, {}, None, 0)


def _at_moment(rows: pl.DataFrame, moment: str) -> pl.DataFrame:
    """The jobs that were open at a moment, with `decided` (µs) of that moment."""
    if moment == "submission":
        return rows
    return rows.filter(pl.col("start").is_not_null()).with_columns(
        decided=pl.max_horizontal("decided", pl.col("start").to_physical())
    )


_FEW = 5
"""A user with fewer earlier jobs is new."""


class Fail(Question[FailSettings]):
    """Does a job fail? Asked at its submission and at its start.

    See `jobsight.learning.question.Question`.
    """

    name: ClassVar[str] = "fail"
    title: ClassVar[str] = "Will it fail?"
    settings = FailSettings
    targets: ClassVar[Mapping[str, Target]] = {
        "fails": Binary("failed", "succeeded", ("failures", "successes")),
        "kinds": Classes(KINDS),
    }
    titles: ClassVar[Mapping[str, str]] = {
        "fails": "whether it fails",
        "kinds": "how it fails",
        State.FAILED.value: "ended with an error",
        State.TIMEOUT.value: "reached the time limit",
        State.OUT_OF_MEMORY.value: "ran out of memory",
        State.NODE_FAIL.value: "lost a node",
        State.HELD.value: "held at the start",
    }
    models: ClassVar[tuple[str, ...]] = (
        "constant", "last", "rates", "rates:50", "rates:5", "request", "linear", "boosted",
        "mixture",
    )  # fmt: skip
    columns: ClassVar[Mapping[str, str]] = {
        "last": "user: last",
        "rates": "user: rate",
        "rates:50": "user: rate 50",
        "rates:5": "user: rate 5",
        "request": "request: rate",
    }
    each_moment: ClassVar[bool] = True
    reads: ClassVar[Literal["events", "jobs"]] = "jobs"
    searched: ClassVar[tuple[str, ...]] = ("seed", "boosted")
    same: ClassVar[tuple[str, ...]] = ("cancelled",)
    key: ClassVar[pl.Expr] = pl.col("id")
    job: ClassVar[pl.Expr] = pl.format("{} {}", "scheduler_name", "job")
    strata: ClassVar[Mapping[str, Stratum]] = {
        "partition": Stratum(pl.col("partition"), "By partition"),
        "array": Stratum(
            pl.col("array_task_id").is_not_null(), "By array", words={"true": "tasks of arrays",
                                                                     "false": "single jobs"},
        ),
        "length": Stratum(
            pl.when(pl.col("time_limit_s") < 0).then(pl.lit("without limit"))
            .when(pl.col("time_limit_s") > 86_400).then(pl.lit("over a day"))
            .when(pl.col("time_limit_s") > 3600).then(pl.lit("over an hour"))
            .when(pl.col("time_limit_s").is_not_null()).then(pl.lit("up to an hour")),
            "By time limit",
        ),
        "experience": Stratum(
            pl.when(pl.col("earlier") < _FEW).then(pl.lit("new")).when(
                pl.col("earlier").is_not_null()).then(pl.lit("known")),
            "By experience of the user",
            words={"new": f"users with fewer than {_FEW} jobs before",
                   "known": f"users with {_FEW} jobs before, or more"},
        ),
        "user": Stratum(pl.col("owner"), "By user", saved=False),
        "account": Stratum(pl.col("account"), "By account", saved=False),
    }  # fmt: skip
    spent: ClassVar[str] = "core_hours"
    words: ClassVar[tuple[str, str, str]] = ("job", "jobs", "failed")
    families: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "its request": (*_REQUEST, "request", "user and request"),
        "its user": ("user", "account", "user and partition"),
        "its work": ("pattern", "script", "user and pattern", "user and name", "user and folder",
                     "user and script", "submission", "same again"),
        "the findings on its script": ("findings",),
        "its node": ("node",),
        "its partition": ("partition",),
        "the whole machine": ("all", "hour", "weekday", "waited"),
    }  # fmt: skip

    def decisions(self, source: JobTable, settings: FailSettings) -> Decisions:
        """Every job, decided at its submission."""
        table = outcomes_of(source, settings)
        times = table["decided"].to_numpy()
        known = table["known_at"].drop_nulls().to_numpy()
        earliest = source.table.select(pl.col("reported").is_not_null() & pl.col("end").is_null())
        undated = int(earliest.to_series().sum())
        note = (
            f"when {undated:,} of {counted(len(table), 'job')} ended is not recorded, since their "
            "start is unknown: an outcome counts as known at submission plus runtime, the "
            "earliest possible moment"
        )
        return Decisions(
            table,
            int(times.min(initial=np.iinfo(np.int64).max)),
            int(max(times.max(initial=0), known.max(initial=0))),
            facts={"jobs": len(table)},
            nothing="nothing to learn from: there are no jobs",
            notes=(note,) if undated else (),
        )

    def encoding(self, rows: pl.DataFrame, settings: FailSettings) -> KeysUsed:
        """By what jobs can be compared here."""
        return KeysUsed.of(rows)

    def encoding_from(self, data: Mapping[str, Any]) -> KeysUsed:
        """See `KeysUsed.to_json`."""
        return KeysUsed.from_json(data)

    def builder(self, source: JobTable, encoding: KeysUsed, settings: FailSettings) -> Features:
        """Features as of a moment."""
        return Features(source, encoding)

    def moments(self, encoding: KeysUsed) -> tuple[str, ...]:
        """At submission, and at the start."""
        return MOMENTS

    def again(
        self, source: JobTable, row: pl.DataFrame, encoding: KeysUsed, settings: FailSettings,
        moment: str,
    ) -> Inputs | None:  # fmt: skip
        """The same from the table cut off at the moment; of the job itself, what was known then."""
        now = int(row["decided"][0])
        jobs = jobs_asked(source.as_of(now + 1)).filter(pl.col("id") == row["id"][0])
        own = _at_moment(jobs, moment)
        return Features(source.as_of(now), encoding).ask(own, moment) if len(own) else None


FAIL = Fail()
