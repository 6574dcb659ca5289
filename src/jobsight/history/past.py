"""What was known of earlier jobs at any moment: counts, rates, averages by user, name, request.

For each job asked about, one walk over all jobs in time gives what those that share a key with it
(its user, its user and name, its request, …) had done by then: outcomes count from the moment at
which they were known (`JobTable.ends`, by `reported`), load from submissions and starts. What is
dated exactly at the moment is not known yet, so that a table cut off there gives the same bytes.

Rates of failure lean on the rate of all jobs as of the same moment, with the weight of
`PRIOR` jobs. Weights decay in jobs, halved by each 5 or 50 further outcomes of the key, and in
time, halved by each hour, day or week. The time and memory taken are linear in jobs and keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import exp, log, log1p

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.documents import State
from jobsight.history.jobtable import JobTable
from jobsight.jit import kernel

__all__ = ["COLUMNS", "FAILURES", "KEYS", "Past", "asked_columns"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]

FAILURES = {
    State.FAILED: 1, State.TIMEOUT: 2, State.OUT_OF_MEMORY: 3, State.NODE_FAIL: 4,
}  # fmt: skip
"""Ends that are failures, by their number; a completed job is 0."""
CANCELLED = 5
"""Number of all other ends: they are counted, and are no outcome."""
PRIOR = 2.0
"""Jobs of the average rate by which the rate of a key is smoothed."""

_REQUEST = ("request_cpus", "request_memory_mb", "request_gpus", "request_nodes", "time_limit_s")
_PATTERN = pl.col("name").str.replace_all(r"[0-9]+", "#").alias("pattern")
_USER = pl.coalesce(pl.format("u{}", "owner"), pl.format("a{}", "account")).alias("user")
_THING = pl.coalesce("script_digest", "command").alias("thing")

KEYS: Mapping[str, tuple[pl.Expr | str, ...]] = {
    "all": (),
    "user": (_USER,),
    "account": ("account",),
    "partition": ("partition",),
    "request": ("partition", *_REQUEST),
    "pattern": (_PATTERN,),
    "script": (_THING,),
    "user and partition": (_USER, "partition"),
    "user and request": (_USER, "partition", *_REQUEST),
    "user and pattern": (_USER, _PATTERN),
    "user and name": (_USER, "name"),
    "user and folder": (_USER, "work_dir"),
    "user and script": (_USER, _THING),
    "submission": ("group",),
    "node": ("host",),
}
"""What jobs are compared by: columns that are equal, all of them known. By node, a job that has not
started is compared with none."""

COLUMNS = (
    "outcomes", "rate", "rate 5", "rate 50", "rate hour", "rate day", "rate week", "last", "streak",
    "since end", "since failure", "runtime", "limit against runtime", "share of limit",
    "memory against peak", "running", "pending", "submitted lately", "since submission",
    "timeouts", "out of memory", "node failures", "cancelled", "memory against last",
    "limit against last",
)  # fmt: skip
"""Of each key: counts are log(1 + n), spans log(1 + seconds), comparisons log-ratios of what the
job asks for and what those before it used or asked for; NaN where there is nothing to compare."""

_N = len(COLUMNS)
# The state of a key.
(_ENDS, _FAILS, _N5, _F5, _N50, _F50, _NH, _FH, _ND, _FD, _NW, _FW, _DECAYED, _LAST, _STREAK,
 _ENDED, _FAILED, _RUN_N, _RUN, _LONGEST, _USED, _PEAK, _RUNNING, _PENDING, _LATELY, _LATELY_AT,
 _SUBMITTED, _TIMEOUT, _MEMORY, _NODE, _ABORTED, _LAST_MEMORY, _LAST_LIMIT, _STATES,
) = range(34)  # fmt: skip
_D5, _D50 = 0.5 ** (1 / 5), 0.5 ** (1 / 50)
_HOUR, _DAY, _WEEK = (log(2.0) / (seconds * 1e6) for seconds in (3600.0, 86400.0, 604800.0))
_FADING = 0.95
"""Share of the largest runtime and memory that is left with each further end."""


def asked_columns() -> list[str]:
    """The columns of a job that `Past.of` compares by."""
    names = {name for key in KEYS.values() for one in key for name in _names(one)}
    return sorted(names | {*_REQUEST, "seen"})


def _names(one: pl.Expr | str) -> list[str]:
    return [one] if isinstance(one, str) else one.meta.root_names()


@dataclass(frozen=True)
class Past:
    """A job table, ordered for walks.

    Attributes:
        jobs: the table.
        times: int64, µs: submissions (n), starts (s) and ends (e), one after the other.
        rows: int64, rows of the table, in the same order.
        outcome: int8 (e,), 0 completed, a number of `FAILURES`, or `CANCELLED`.
        ended: int64 (e,), µs.
        used: float64 (e,), memory in MB, NaN where unknown.
    """

    jobs: JobTable
    times: Ints
    rows: Ints
    outcome: NDArray[np.int8]
    ended: Ints
    used: Floats

    @classmethod
    def of(cls, jobs: JobTable) -> Past:
        """Order the events of a job table."""
        seen = _micros(jobs.table["seen"])
        codes = {state.value: code for state, code in FAILURES.items()} | {"completed": 0}
        outcome = jobs.ends["state"].cast(pl.String).replace_strict(
            codes, default=CANCELLED, return_dtype=pl.Int8
        )  # fmt: skip
        rows, reported = jobs.ends["row"], jobs.ends["reported"]
        last = reported == jobs.table["reported"].gather(rows)
        used = jobs.table["max_rss_mb"].gather(rows)
        used = used.set(~last.fill_null(False), None)
        return cls(
            jobs,
            np.concatenate([seen, _micros(jobs.starts["start"]), _micros(reported)]),
            np.concatenate([np.arange(len(seen)), jobs.starts["row"].to_numpy(), rows.to_numpy()]),
            outcome.to_numpy(),
            _micros(jobs.ends["end"]),
            used.cast(pl.Float64).fill_null(float("nan")).to_numpy(),
        )

    def build(
        self, asked: pl.DataFrame, moments: Ints, started: NDArray[np.bool_], keys: Sequence[str]
    ) -> dict[str, Floats32]:
        """What was known at moments, by key.

        Args:
            asked: `asked_columns` of n jobs, of the table or not.
            moments: int64 (n,), µs.
            started: bool (n,), whether the job has its node by then.
            keys: of `KEYS`.

        Returns:
            By key, float32 (n, COLUMNS).
        """
        order = np.argsort(np.concatenate([moments, self.times]), kind="stable")
        both = pl.concat([asked.select(asked_columns()), self.jobs.table.select(asked_columns())])
        memory, limit = _positive(both["request_memory_mb"]), _positive(both["time_limit_s"])
        base = np.full(len(asked), 0.5)
        counts = np.array([len(self.jobs.table), len(self.jobs.starts), len(self.jobs.ends)])

        def walk(name: str) -> Floats32:
            key = _codes(both, KEYS[name])
            if name == "node":
                key[: len(asked)][~started] = -1
            found = np.full((len(asked), _N), np.nan, np.float32)
            _walk(order, len(asked), counts, moments, self.times, self.rows, self.outcome,
                  self.ended, self.used, key, memory, limit, base, found)  # fmt: skip
            return found

        everything = walk("all")
        base = np.clip(everything[:, COLUMNS.index("rate")].astype(np.float64), 0.0, 1.0)
        with ThreadPoolExecutor(2) as pool:
            others = [name for name in keys if name != "all"]
            found = dict(zip(others, pool.map(walk, others), strict=True))
        return {name: everything if name == "all" else found[name] for name in keys}


def _micros(moments: pl.Series) -> Ints:
    return moments.to_physical().to_numpy()


def _positive(column: pl.Series) -> Floats:
    """A request as a number, NaN where unknown, unlimited or nothing."""
    values = column.cast(pl.Float64).fill_null(float("nan")).to_numpy().copy()
    values[~(values > 0)] = np.nan
    return values


def _codes(jobs: pl.DataFrame, key: tuple[pl.Expr | str, ...]) -> NDArray[np.int32]:
    """Numbers of the jobs' keys from 0 on, −1 where part of it is unknown: int32 (rows,)."""
    if not key:
        return np.zeros(len(jobs), np.int32)
    parts = jobs.select(key)
    first = parts.columns[0]
    known = parts.select(pl.all_horizontal(pl.col(first).is_not_null())).to_series()
    if first != "partition" and len(parts.columns) == 2:
        known &= parts[parts.columns[1]].is_not_null()
    number = parts.select(pl.struct(pl.all()).rank("dense")).to_series().cast(pl.Int32) - 1
    return number.set(~known, -1).to_numpy().copy()


@kernel
def _walk(
    order: Ints,
    asked: int,
    counts: Ints,
    moments: Ints,
    times: Ints,
    rows: Ints,
    outcome: NDArray[np.int8],
    ended: Ints,
    used: Floats,
    key: NDArray[np.int32],
    memory: Floats,
    limit: Floats,
    base: Floats,
    found: Floats32,
) -> None:
    """One key: fills `found`, float32 (asked, COLUMNS); see `Past.build`."""
    keys = 0
    for k in key:
        keys = max(keys, k + 1)
    state = np.zeros((keys, _STATES))
    for k in range(keys):
        state[k, _LAST] = state[k, _LAST_MEMORY] = state[k, _LAST_LIMIT] = np.nan
    started = np.full(counts[0], -1, np.int64)
    phase = np.zeros(counts[0], np.int8)
    for place in order:
        if place < asked:
            if key[place] >= 0:
                _known(state[key[place]], moments[place], memory[place], limit[place], base[place],
                      found[place])  # fmt: skip
            continue
        event = place - asked
        row, now = rows[event], times[event]
        k = key[asked + row]
        if event < counts[0]:
            phase[row] = 1
            if k >= 0:
                _submitted(state[k], now)
        elif event < counts[0] + counts[1]:
            started[row] = now
            if k >= 0 and phase[row] == 1:
                state[k, _PENDING] -= 1.0
                state[k, _RUNNING] += 1.0
            phase[row] = 2
        else:
            end = event - counts[0] - counts[1]
            if k >= 0:
                if phase[row] == 1:
                    state[k, _PENDING] -= 1.0
                elif phase[row] == 2:
                    state[k, _RUNNING] -= 1.0
                seconds = -1.0
                if phase[row] == 2:
                    seconds = max((ended[end] - started[row]) / 1e6, 0.0)
                _ended(state[k], now, outcome[end], seconds, used[end], memory[asked + row],
                       limit[asked + row])  # fmt: skip
            phase[row] = 3


@kernel
def _submitted(one: Floats, now: int) -> None:
    one[_PENDING] += 1.0
    one[_LATELY] = one[_LATELY] * exp(-_HOUR * (now - one[_LATELY_AT])) + 1.0
    one[_LATELY_AT] = one[_SUBMITTED] = now


@kernel
def _ended(
    one: Floats, now: int, outcome: int, seconds: float, used: float, memory: float, limit: float
) -> None:
    if outcome == CANCELLED:
        one[_ABORTED] = one[_ABORTED] * _D50 + 1.0
        return
    failed = 1.0 if outcome > 0 else 0.0
    one[_ENDS] += 1.0
    one[_FAILS] += failed
    one[_N5], one[_F5] = one[_N5] * _D5 + 1.0, one[_F5] * _D5 + failed
    one[_N50], one[_F50] = one[_N50] * _D50 + 1.0, one[_F50] * _D50 + failed
    passed = now - one[_DECAYED]
    hour, day, week = exp(-_HOUR * passed), exp(-_DAY * passed), exp(-_WEEK * passed)
    one[_NH], one[_FH] = one[_NH] * hour + 1.0, one[_FH] * hour + failed
    one[_ND], one[_FD] = one[_ND] * day + 1.0, one[_FD] * day + failed
    one[_NW], one[_FW] = one[_NW] * week + 1.0, one[_FW] * week + failed
    one[_DECAYED] = one[_ENDED] = now
    if failed > 0.0:
        one[_FAILED] = now
    same = one[_LAST] == failed
    one[_STREAK] = one[_STREAK] + 1.0 if same else 1.0
    one[_LAST] = failed
    one[_TIMEOUT] = one[_TIMEOUT] * _D50 + (1.0 if outcome == 2 else 0.0)
    one[_MEMORY] = one[_MEMORY] * _D50 + (1.0 if outcome == 3 else 0.0)
    one[_NODE] = one[_NODE] * _D50 + (1.0 if outcome == 4 else 0.0)
    one[_ABORTED] *= _D50
    if seconds >= 0.0:
        one[_RUN_N] = one[_RUN_N] * _D5 + 1.0
        one[_RUN] = one[_RUN] * _D5 + log1p(seconds)
        one[_LONGEST] = max(one[_LONGEST] * _FADING, seconds)
        one[_USED] = one[_USED] * _D5 + (min(seconds / limit, 1.0) if limit > 0 else 0.0)
    if used > 0.0:
        one[_PEAK] = max(one[_PEAK] * _FADING, used)
    one[_LAST_MEMORY], one[_LAST_LIMIT] = memory, limit


@kernel
def _known(one: Floats, now: int, memory: float, limit: float, base: float, out: Floats32) -> None:
    ends = one[_ENDS]
    out[0] = log1p(ends)
    out[1] = (one[_FAILS] + PRIOR * base) / (ends + PRIOR)
    out[2] = (one[_F5] + PRIOR * base) / (one[_N5] + PRIOR)
    out[3] = (one[_F50] + PRIOR * base) / (one[_N50] + PRIOR)
    if ends > 0:
        passed = now - one[_DECAYED]
        hour, day, week = exp(-_HOUR * passed), exp(-_DAY * passed), exp(-_WEEK * passed)
        out[4] = (one[_FH] * hour + PRIOR * base) / (one[_NH] * hour + PRIOR)
        out[5] = (one[_FD] * day + PRIOR * base) / (one[_ND] * day + PRIOR)
        out[6] = (one[_FW] * week + PRIOR * base) / (one[_NW] * week + PRIOR)
        out[7] = one[_LAST]
        out[8] = one[_STREAK] if one[_LAST] > 0.0 else -one[_STREAK]
        out[9] = log1p((now - one[_ENDED]) / 1e6)
        out[19] = one[_TIMEOUT] / one[_N50]
        out[20] = one[_MEMORY] / one[_N50]
        out[21] = one[_NODE] / one[_N50]
        out[22] = one[_ABORTED] / (one[_N50] + one[_ABORTED])
        out[23] = log(memory / one[_LAST_MEMORY])
        out[24] = log(limit / one[_LAST_LIMIT])
    if one[_FAILS] > 0:
        out[10] = log1p((now - one[_FAILED]) / 1e6)
    if one[_RUN_N] > 0:
        out[11] = one[_RUN] / one[_RUN_N]
        out[12] = log(limit / (one[_LONGEST] + 1.0))
        out[13] = one[_USED] / one[_RUN_N]
    if one[_PEAK] > 0:
        out[14] = log(memory / one[_PEAK])
    out[15] = log1p(max(one[_RUNNING], 0.0))
    out[16] = log1p(max(one[_PENDING], 0.0))
    if one[_SUBMITTED] > 0:
        out[17] = log1p(one[_LATELY] * exp(-_HOUR * (now - one[_LATELY_AT])))
        out[18] = log1p((now - one[_SUBMITTED]) / 1e6)
