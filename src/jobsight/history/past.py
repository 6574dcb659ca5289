"""What was known of earlier jobs at any moment: counts, rates, averages by user, name, request.

For each job asked about, one walk over the events of each key (its user, its user and name, its
request, …) gives what the jobs that share the key had done by then: outcomes count from the moment
at which they were known (`reported` in `JobTable`), load from submissions, starts and ends. What is
dated exactly at the moment is not known yet, so that a table cut off there gives the same bytes. A
job's own submission, and its own earlier runs, count like those of others.

A job that is requeued after an end, or runs again after an eviction, has several runs: each end
counts, with the time and node of its run; an end that is recorded again with the same state counts
once. A hold that fails a job (`JobTable.states`) counts too. Held jobs count as pending, suspended
ones as running, and a job whose end has no date as what it was before. An end
dated before its start is a run of 0 s.

Time and memory are linear in jobs and keys. Keys are compared by hashes of 64 bits: among 10
million keys, two are taken for one with a probability of 3 in a million.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.documents import State
from jobsight.history import pastwalk
from jobsight.history.jobtable import JobTable
from jobsight.history.pastwalk import COLUMNS, ENDED, RUNNING, SUBMITTED, WAITING

__all__ = [
    "COLUMNS", "FAILURES", "KEYS", "NUMBERS", "QUEUE", "SIZE", "Past", "asked_columns",
    "key_hashes",
]  # fmt: skip

Ints = NDArray[np.int64]
Floats32 = NDArray[np.float32]

FAILURES = {
    State.FAILED: 1, State.TIMEOUT: 2, State.OUT_OF_MEMORY: 3, State.NODE_FAIL: 4,
    State.HELD: 5,
}  # fmt: skip
"""States that are failures, by their number; a completed job is 0, other ends are no outcome. A
hold is one at the first start of a job, by something other than its user's own hand."""

_REQUEST = ("request_cpus", "request_memory_mb", "request_gpus", "request_nodes", "time_limit_s")


def _any(*names: str) -> pl.Expr:
    return pl.any_horizontal(pl.col(*names).is_not_null())


# Texts as hashes: structs of numbers are hashed ten times as fast as structs of texts.
NUMBERS = r"[0-9]+"
"""What does not count in the names of jobs: ``#`` stands for each."""
_PATTERN = pl.col("name").str.replace_all(NUMBERS, "#").alias("pattern")
_OWNER = pl.when(pl.col("owner").is_not_null()).then(pl.col("owner").hash())
_USER = pl.coalesce(
    _OWNER, pl.when(pl.col("account").is_not_null()).then(pl.col("account").hash(1))
).alias("user")
_THING = pl.coalesce("script_digest", "command").alias("thing")
_ASKED = pl.struct(pl.col("partition").hash(), *_REQUEST).alias("request")
_KNOWN_ASKED = pl.when(_any(*_REQUEST)).then(_ASKED)
_WORK = pl.when(_any("name", "script_digest", "command")).then(
    pl.struct(pl.col("name").hash(), pl.col("work_dir").hash(), _THING.hash()).alias("work")
)

KEYS: Mapping[str, tuple[pl.Expr | str, ...]] = {
    "all": (),
    "user": (_USER,),
    "account": ("account",),
    "partition": ("partition",),
    "request": (_KNOWN_ASKED,),
    "pattern": (_PATTERN,),
    "script": (_THING,),
    "user and partition": (_USER, "partition"),
    "user and request": (_USER, _KNOWN_ASKED),
    "user and pattern": (_USER, _PATTERN),
    "user and name": (_USER, "name"),
    "user and folder": (_USER, "work_dir"),
    "user and script": (_USER, _THING),
    "submission": ("group",),
    "node": ("host",),
    "same again": (_USER, _WORK, _ASKED),
}
"""What jobs are compared by: what is equal, all of it known; else all columns are NaN.

The user is the owner, else the account; a pattern is a name without its numbers; a script is its
digest, else the command's path. A request is known if any part of it is; parts that are not (GPUs,
the partition of an HTCondor job) are equal to each other. "same again" is the same user, name,
folder, script and request, where name or script is known: the job submitted once more. By node,
runs count on the node of each; a job that has not started is compared with none, and what concerns
submissions is NaN.
"""

QUEUE = pastwalk.QUEUE_COLUMNS
"""The columns of a key's queue; see `Past.build`."""
SIZE = "partition and size"
"""One more key: jobs of a partition with about as many CPUs and GPUs for about as long."""
_CLASSES = (3600, 4 * 3600, 12 * 3600, 86_400, 3 * 86_400)
_BY_SIZE = (
    pl.col("partition").fill_null(""),
    pl.col("request_cpus").fill_null(1).clip(1).log(2).cast(pl.Int64).alias("cpus"),
    (pl.col("request_gpus").fill_null(0) > 0).alias("gpus"),
    pl.sum_horizontal(pl.col("time_limit_s").fill_null(-1) > most for most in _CLASSES).alias(
        "limit"
    ),
)


def _key(name: str) -> tuple[pl.Expr | str, ...]:
    return _BY_SIZE if name == SIZE else KEYS[name]


def asked_columns() -> list[str]:
    """The columns of a job that `Past.build` compares by."""
    parts = [part for key in KEYS.values() for part in key]
    names = {
        name
        for part in parts
        for name in ([part] if isinstance(part, str) else part.meta.root_names())
    }
    return sorted(names | {*_REQUEST, "seen"})


@dataclass(frozen=True)
class _Asked:
    """Jobs asked about: `asked_columns`, moments in µs, whether each has its node; by what.

    `own` is the row of each in the table, −1 where it has none.
    """

    jobs: pl.DataFrame
    own: NDArray[np.int32]
    moments: Ints
    started: NDArray[np.bool_]
    queue: bool


@dataclass(frozen=True)
class Past:
    """The events of a job table, in order of time: submissions, then changes of state.

    Attributes:
        jobs: the table.
        events: `pastwalk.EVENT` (e,).
        rows: int32 (e,), rows of the table.
        hosts: uint64 (e,), hashes of the nodes of runs that start or end; 0: none.
    """

    jobs: JobTable
    events: NDArray[np.void]
    rows: NDArray[np.int32]
    hosts: NDArray[np.uint64]

    @classmethod
    def of(cls, jobs: JobTable) -> Past:
        """Order the events of a job table."""
        rows, hosts, columns = _changes(jobs)
        seen = _micros(jobs.table["seen"])
        submissions = {"time": seen, "before": SUBMITTED, "after": WAITING}
        submissions |= {"outcome": pastwalk.NO_END, "seconds": np.nan, "used": np.nan}
        order = np.argsort(np.concatenate([seen, columns["time"]]), kind="stable")
        events = np.empty(len(order), pastwalk.EVENT)
        for name, values in columns.items():
            first = np.broadcast_to(np.asarray(submissions[name], values.dtype), len(seen))
            events[name] = np.concatenate([first, values])[order]
        rows = np.concatenate([np.arange(len(seen), dtype=np.int32), rows])[order]
        hosts = np.concatenate([np.zeros(len(seen), np.uint64), hosts])[order]
        memory, limit = _request(jobs.table)
        events["memory"], events["limit"] = memory[rows], limit[rows]
        events["cpus"] = _positive(jobs.table["request_cpus"])[rows]
        return cls(jobs, events, rows, hosts)

    def build(
        self, asked: pl.DataFrame, moments: Ints, started: NDArray[np.bool_], keys: Sequence[str],
        *, queue: bool = False,
    ) -> dict[str, Floats32]:  # fmt: skip
        """What was known at moments, by key.

        Counts are log(1 + n), spans log(1 + seconds), `runtime` the mean of log(1 + seconds);
        `streak` counts the last equal outcomes, below 0 for successes. Rates are of failures, and
        lean on the rate of all jobs as of the same moment with the weight of `pastwalk.PRIOR` jobs.
        Weights decay by outcomes, halved by each 5 (`runtime` and `share of limit` too) or 50
        (kinds of failure too) further ones of the key, or by time, halved by each hour, day, week.
        "limit against runtime" and "memory against peak" are log-ratios of what the job asks for to
        the largest that was used, less 5 % with each further job; the last two to what the last job
        with an outcome asked for. `cancelled` is a share of all ends, the other kinds of outcomes.
        NaN where there is nothing to compare.

        The columns of the queue: how many wait and run, their CPUs, and their work in core-hours by
        their limits; `running left`, the work that running jobs have left by their limits;
        `pending age`, how long those that wait have waited on average; starts and submissions
        decayed by time; means of log(1 + seconds) of waits and runs, decayed by 5 or 50 further
        ones or by time; `runtime spread`, the standard deviation of the same; `ahead`, how many of
        those that wait were submitted before the job, their work, and their share.

        Args:
            asked: `asked_columns` of n jobs, of the table or not; `host` as it is at the moment.
                For the queue the `id` too.
            moments: int64 (n,), µs.
            started: bool (n,), whether the job has its node by then.
            keys: of `KEYS`, or `SIZE`.
            queue: the columns `QUEUE` in place of `COLUMNS`.

        Returns:
            By key, float32 (n, columns).
        """
        found = dict(self.each(asked, moments, started, keys, queue=queue))
        return {name: found[name] for name in keys}

    def each(
        self, asked: pl.DataFrame, moments: Ints, started: NDArray[np.bool_], keys: Sequence[str],
        *, queue: bool = False,
    ) -> Iterator[tuple[str, Floats32]]:  # fmt: skip
        """As `build`, key by key: no more than three are in memory; "all" comes first."""
        jobs = asked.select(asked_columns())
        jobs = jobs.cast(self.jobs.table.select(jobs.columns).schema)
        # Copies, since Numba compiles a kernel once more for arrays that are read-only.
        own = np.zeros(0, np.int32)
        if queue:  # rows of jobs in the table, −1 where it has none of the id
            rows = self.jobs.table.select("id", row=pl.int_range(pl.len(), dtype=pl.Int32))
            ids = asked.select(pl.col("id").cast(pl.String))
            found = ids.join(rows, on="id", how="left", maintain_order="left")
            own = found["row"].fill_null(-1).to_numpy(writable=True)
        about = _Asked(jobs, own, np.array(moments, np.int64), np.array(started, np.bool_), queue)
        everything = self._walked("all", about, np.full(len(jobs), 0.5, np.float32))
        base = everything[:, COLUMNS.index("rate")].copy()  # without meaning for the queue
        if "all" in keys:
            yield "all", everything
        del everything
        ahead: deque[tuple[str, Future[Floats32]]] = deque()
        with ThreadPoolExecutor(2, "jobsight-past") as pool:
            for name in keys:
                if name != "all":
                    ahead.append((name, pool.submit(self._walked, name, about, base)))
                if len(ahead) == 2:
                    first, future = ahead.popleft()
                    yield first, future.result()
            for first, future in ahead:
                yield first, future.result()

    def _walked(self, name: str, asked: _Asked, base: Floats32) -> Floats32:
        """The columns of one key."""
        values = key_hashes(asked.jobs, _key(name))
        # Numbers of the keys of jobs asked about, and of events; −1: no key that is asked for.
        if name == "node":
            values[~asked.started] = 0
            codes, of_events, count = pastwalk.matched(values, self.hosts)
        else:
            of_table = key_hashes(self.jobs.table, _key(name))
            codes, of_rows, count = pastwalk.matched(values, of_table)
            of_events = of_rows[self.rows]
        order = np.argsort(asked.moments, kind="stable").astype(np.int32)
        at, places = pastwalk.grouped(codes[order], count)
        memory, limit = _request(asked.jobs)
        columns = QUEUE if asked.queue else COLUMNS
        found = np.full((len(values), len(columns)), np.nan, np.float32)
        pastwalk.walk(
            (at, order[places]), pastwalk.grouped(of_events, count), self.events, self.rows,
            asked.own, asked.moments, memory, limit, base, asked.queue, found,
        )  # fmt: skip
        if name == "node" and not asked.queue:
            found[:, [COLUMNS.index("pending"), COLUMNS.index("submitted lately")]] = np.nan
        return found


def _changes(
    jobs: JobTable,
) -> tuple[NDArray[np.int32], NDArray[np.uint64], dict[str, NDArray[np.generic]]]:
    """Rows, hosts and columns of `EVENT` of what changes a phase or ends, job after job."""
    states, seen = jobs.states(), _micros(jobs.table["seen"])
    rows, known = states["row"].to_numpy().astype(np.int32), _micros(states["known"])
    state = states["state"].to_physical().to_numpy()  # in the order of `State`
    runs_in = (State.RUNNING, State.SUSPENDED)
    phases = [
        ENDED if member.ended else RUNNING if member in runs_in else WAITING for member in State
    ]
    after = np.array(phases, np.int8)[state]
    ends = {State.COMPLETED: 0, **FAILURES}
    outcomes = [
        ends.get(member, pastwalk.CANCELLED) if member.ended else pastwalk.NO_END
        for member in State
    ]
    kind = np.array(outcomes, np.int8)[state]
    fails = states["fails"].to_numpy()
    kind[fails] = FAILURES[State.HELD]
    follows = np.zeros(len(rows), bool)
    follows[1:] = rows[1:] == rows[:-1]
    before = np.where(follows, np.roll(after, 1), np.int8(WAITING))
    again = (after == ENDED) & follows & (np.roll(state, 1) == state)
    kept = np.flatnonzero((after != before) | ((after == ENDED) & ~again) | fails)
    # The start of the run that a change is in.
    start = (after == RUNNING) & (before != RUNNING)
    start = np.maximum.accumulate(np.where(start, np.arange(len(rows)), 0))[kept]
    runs = (before == RUNNING) | (after == RUNNING)
    hosts = np.where(runs[kept], key_hashes(states, KEYS["node"])[start], np.uint64(0))
    span = (_micros(states["time"])[kept].astype(float) - known[start]) / 1e6
    rows, known, before, after = rows[kept], known[kept], before[kept], after[kept]
    ended = (after == ENDED) & (before == RUNNING)
    # How long the phase lasted that a change ends; a run up to its end as it is dated.
    since = np.where(np.concatenate([[True], rows[1:] != rows[:-1]]), seen[rows], np.roll(known, 1))
    span = np.where(ended, span, (known - since) / 1e6)
    reported = jobs.table["reported"].to_physical().fill_null(np.iinfo(np.int64).min).to_numpy()
    last = (after == ENDED) & (known == reported[rows])
    columns = {
        "time": known, "before": before, "after": after, "outcome": kind[kept],
        "seconds": span.clip(0.0).astype(np.float32),
        "used": np.where(last, _positive(jobs.table["max_rss_mb"])[rows], np.float32(np.nan)),
    }  # fmt: skip
    return rows, hosts, columns


def _micros(moments: pl.Series) -> Ints:
    return moments.to_physical().to_numpy()


def _request(jobs: pl.DataFrame) -> tuple[Floats32, Floats32]:
    """Memory (MB) and time limit (s) that jobs ask for: float32 (rows,) each."""
    return _positive(jobs["request_memory_mb"]), _positive(jobs["time_limit_s"])


def _positive(column: pl.Series) -> Floats32:
    """A size or a time limit, NaN where unknown, unlimited or nothing: float32 (rows,)."""
    values = column.cast(pl.Float32).fill_null(float("nan")).to_numpy(writable=True)
    values[~(values > 0)] = np.nan
    return values


def key_hashes(jobs: pl.DataFrame, key: tuple[pl.Expr | str, ...]) -> NDArray[np.uint64]:
    """Hashes of the jobs' keys, 0 where a part is unknown: uint64 (rows,)."""
    if not key:
        return np.ones(len(jobs), np.uint64)
    parts = jobs.select(key)
    known = parts.select(pl.all_horizontal(pl.all().is_not_null())).to_series()
    values = parts.select(pl.struct(pl.all().hash()).hash()).to_series().clip(1)
    return values.set(~known, 0).to_numpy(writable=True)
