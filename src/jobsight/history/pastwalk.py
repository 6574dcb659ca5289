"""The walks of `jobsight.history.past`: the events of one key in order of time, and what is known.

The jobs asked about and the events are grouped by key first, so that one key at a time is walked,
with one state; memory is linear in jobs and events, for few keys and for millions.
"""

from __future__ import annotations

from math import isnan

import numpy as np
from numpy.typing import NDArray

from jobsight.history import queuewalk
from jobsight.history.pastevents import (
    CANCELLED,
    D5,
    D50,
    NO_END,
    RUNNING,
    SUBMITTED,
    WAITING,
    left,
    logarithm,
)
from jobsight.jit import helper, kernel

__all__ = ["COLUMNS", "PRIOR", "grouped", "matched", "walk"]

Floats32 = NDArray[np.float32]
Ints = NDArray[np.int64]
Ints32 = NDArray[np.int32]
Record = np.void

COLUMNS = (
    "outcomes", "rate", "rate 5", "rate 50", "rate hour", "rate day", "rate week", "last", "streak",
    "since end", "since failure", "runtime", "limit against runtime", "share of limit",
    "memory against peak", "running", "pending", "submitted lately", "since submission",
    "timeouts", "out of memory", "node failures", "cancelled", "memory against last",
    "limit against last",
)  # fmt: skip
PRIOR = 2.0
# The state of a key. The first are pairs: outcomes and failures, each with weights of its own.
(_ALL, _, _LAST_5, _, _LAST_50, _, _HOUR, _, _DAY, _, _WEEK, _, _STREAK, _LAST, _END, _FAILURE,
 _RUNS, _RUN, _LIMITS, _SHARE, _LONGEST, _PEAK, _RUNNING, _WAITING, _LATELY, _SUBMISSION, _TIMEOUTS,
 _MEMORY, _NODE, _ENDS, _CANCELLED, _LAST_MEMORY, _LAST_LIMIT, _STATES,
) = range(34)  # fmt: skip
_FADING = 0.95
"""Share of the largest runtime and memory that is left with each further one."""
_MIX = np.uint64(0x9E3779B97F4A7C15)


@kernel
def matched(asked: NDArray[np.uint64], others: NDArray[np.uint64]) -> tuple[Ints32, Ints32, int]:
    """Number the values of `asked` from 0 on, in order; 0 is no value and gets −1.

    Returns:
        Numbers of `asked` and of `others` (−1 for what is not in `asked`), and how many there are.
    """
    bits = 4
    while (1 << bits) < len(asked) + (len(asked) >> 1):
        bits += 1
    shift, mask = np.uint64(64 - bits), (1 << bits) - 1
    values = np.zeros(1 << bits, np.uint64)
    numbers = np.empty(1 << bits, np.int32)
    found, of_others = np.empty(len(asked), np.int32), np.empty(len(others), np.int32)
    count = 0
    for k, value in enumerate(asked):
        slot = _slot(values, value, shift, mask)
        if value != 0 and values[slot] == 0:
            values[slot], numbers[slot] = value, count
            count += 1
        found[k] = numbers[slot] if value != 0 else -1
    for k, value in enumerate(others):
        slot = _slot(values, value, shift, mask)
        of_others[k] = numbers[slot] if values[slot] != 0 else -1
    return found, of_others, count


@helper
def _slot(values: NDArray[np.uint64], value: np.uint64, shift: np.uint64, mask: int) -> np.int64:
    """Where a value is in an open-addressed table, or the free slot for it."""
    slot = np.int64((value * _MIX) >> shift)
    while values[slot] != 0 and values[slot] != value:
        slot = (slot + 1) & mask
    return slot


@kernel
def grouped(codes: Ints32, count: int) -> tuple[Ints, Ints32]:
    """Places of each code below `count`, in order: those of k are `places[at[k] : at[k + 1]]`."""
    at = np.zeros(count + 1, np.int64)
    for code in codes:
        if code >= 0:
            at[code + 1] += 1
    for code in range(count):
        at[code + 1] += at[code]
    places, free = np.empty(at[count], np.int32), at[:-1].copy()
    for place, code in enumerate(codes):
        if code >= 0:
            places[free[code]] = place
            free[code] += 1
    return at, places


@kernel
def walk(
    asked: tuple[Ints, Ints32],
    happened: tuple[Ints, Ints32],
    events: NDArray[Record],
    rows: Ints32,
    own: Ints32,
    moments: Ints,
    memory: Floats32,
    limit: Floats32,
    base: Floats32,
    queue: bool,
    out: Floats32,
) -> None:
    """Fill the rows of `out`, float32 (n, columns), of the jobs that have a key.

    Args:
        asked: the jobs asked about, `grouped`, in order of their moments within each key.
        happened: the events, `grouped` by the same keys, in order of time.
        events: `EVENT` (e,).
        rows: (e,), the job of each event.
        own: (n,), the same of the jobs asked about; −1: none of these.
        moments: (n,), µs.
        memory: (n,), MB that the job asks for, NaN where unknown.
        limit: (n,), seconds that the job asks for, NaN where unknown.
        base: (n,), the rate of failure of all jobs as of the moment.
        queue: fill the columns of `jobsight.history.queuewalk`, not those of outcomes.
        out: where to.
    """
    one = np.empty(queuewalk.STATES if queue else _STATES)
    # The place of each job in the line of its key, by its first event; and who waits there.
    places = np.full(rows.max() + 1 if queue and len(rows) else 0, -1, np.int32)
    waiting = np.zeros((len(happened[1]) if queue else 0, 2))
    for key in range(len(asked[0]) - 1):
        if queue:
            queuewalk.begin(one)
        else:
            one[:] = 0.0
            one[_END] = one[_FAILURE] = one[_SUBMISSION] = one[_LAST] = np.nan
            one[_LAST_MEMORY] = one[_LAST_LIMIT] = np.nan
        event, last, before = happened[0][key], happened[0][key + 1], -1
        line, joined = waiting[event:last], 0
        for place in range(asked[0][key], asked[0][key + 1]):
            job = asked[1][place]
            while event < last and events[happened[1][event]]["time"] < moments[job]:
                what = events[happened[1][event]]
                if queue:
                    queuewalk.happened(one, what)
                    row = rows[happened[1][event]]
                    if places[row] < 0:
                        places[row], joined = joined, joined + 1
                    queuewalk.moved(line, places[row], what)
                else:
                    _happened(one, what)
                event += 1
            if before >= 0 and _alike(moments, memory, limit, before, job):
                out[job] = out[before]
            elif queue:
                queuewalk.known(one, float(moments[job]), limit[job], out[job])
            else:
                _known(one, float(moments[job]), memory[job], limit[job], base[job], out[job])
            if queue:
                here = places[own[job]] if own[job] >= 0 else -1
                # A place in the line of another key says nothing of this one.
                here = here if 0 <= here < joined else joined
                queuewalk.ahead(one, line, here, out[job])
            before = job


@helper
def _alike(moments: Ints, memory: Floats32, limit: Floats32, one: int, other: int) -> bool:
    """Whether two jobs ask for the same at the same moment, as the tasks of an array do."""
    same = moments[one] == moments[other]
    return same and _same(memory[one], memory[other]) and _same(limit[one], limit[other])


@helper
def _same(one: float, other: float) -> bool:
    return one == other or (isnan(one) and isnan(other))


@kernel
def _happened(one: NDArray[np.float64], event: Record) -> None:
    one[_RUNNING] += (event["after"] == RUNNING) - (event["before"] == RUNNING)
    one[_WAITING] += (event["after"] == WAITING) - (event["before"] == WAITING)
    now = float(event["time"])
    if event["before"] == SUBMITTED:
        one[_LATELY] = one[_LATELY] * left(now, one[_SUBMISSION])[0] + 1.0
        one[_SUBMISSION] = now
    if event["outcome"] == NO_END:
        return
    one[_ENDS] = one[_ENDS] * D50 + 1.0
    one[_CANCELLED] = one[_CANCELLED] * D50 + (event["outcome"] == CANCELLED)
    if event["outcome"] == CANCELLED:
        return
    _counted(one, now, event["outcome"])
    if event["before"] == RUNNING and event["seconds"] >= 0.0:
        one[_RUNS] = one[_RUNS] * D5 + 1.0
        one[_RUN] = one[_RUN] * D5 + logarithm(1.0 + event["seconds"])
        one[_LONGEST] = max(one[_LONGEST] * _FADING, event["seconds"])
        if event["limit"] > 0.0:
            one[_LIMITS] = one[_LIMITS] * D5 + 1.0
            one[_SHARE] = one[_SHARE] * D5 + min(event["seconds"] / event["limit"], 1.0)
    if event["used"] > 0.0:
        one[_PEAK] = max(one[_PEAK] * _FADING, event["used"])
    one[_LAST_MEMORY], one[_LAST_LIMIT] = event["memory"], event["limit"]


@kernel
def _counted(one: NDArray[np.float64], now: float, outcome: int) -> None:
    """Count an outcome: 0 a success, else the number of a failure."""
    failed = 1.0 if outcome > 0 else 0.0
    _weighed(one, _ALL, 1.0, failed)
    _weighed(one, _LAST_5, D5, failed)
    _weighed(one, _LAST_50, D50, failed)
    hour, day, week = left(now, one[_END])
    _weighed(one, _HOUR, hour, failed)
    _weighed(one, _DAY, day, failed)
    _weighed(one, _WEEK, week, failed)
    one[_END] = now
    if failed > 0.0:
        one[_FAILURE] = now
    one[_STREAK] = one[_STREAK] + 1.0 if one[_LAST] == failed else 1.0
    one[_LAST] = failed
    one[_TIMEOUTS] = one[_TIMEOUTS] * D50 + (outcome == 2)
    one[_MEMORY] = one[_MEMORY] * D50 + (outcome == 3)
    one[_NODE] = one[_NODE] * D50 + (outcome == 4)


@helper
def _weighed(one: NDArray[np.float64], at: int, left: float, failed: float) -> None:
    one[at], one[at + 1] = one[at] * left + 1.0, one[at + 1] * left + failed


@helper
def _rate(one: NDArray[np.float64], at: int, left: float, base: float) -> float:
    failures, outcomes = one[at + 1] * left, one[at] * left
    return float((failures + PRIOR * base) / (outcomes + PRIOR))


@kernel
def _known(
    one: NDArray[np.float64], now: float, memory: float, limit: float, base: float, out: Floats32
) -> None:
    out[0] = logarithm(1.0 + one[_ALL])
    out[1] = _rate(one, _ALL, 1.0, base)
    out[2] = _rate(one, _LAST_5, 1.0, base)
    out[3] = _rate(one, _LAST_50, 1.0, base)
    hour, day, week = left(now, one[_END])
    out[4] = _rate(one, _HOUR, hour, base)
    out[5] = _rate(one, _DAY, day, base)
    out[6] = _rate(one, _WEEK, week, base)
    out[7] = one[_LAST]
    out[9] = logarithm(1.0 + (now - one[_END]) / 1e6)
    out[10] = logarithm(1.0 + (now - one[_FAILURE]) / 1e6)
    if one[_RUNS] > 0.0:
        out[11] = one[_RUN] / one[_RUNS]
        out[12] = logarithm(limit / (one[_LONGEST] + 1.0))
    if one[_LIMITS] > 0.0:
        out[13] = one[_SHARE] / one[_LIMITS]
    if one[_PEAK] > 0.0:
        out[14] = logarithm(memory / one[_PEAK])
    out[15] = logarithm(1.0 + one[_RUNNING])
    out[16] = logarithm(1.0 + one[_WAITING])
    out[17] = logarithm(1.0 + one[_LATELY] * left(now, one[_SUBMISSION])[0])
    out[18] = logarithm(1.0 + (now - one[_SUBMISSION]) / 1e6)
    if one[_ALL] > 0.0:
        out[8] = logarithm(1.0 + one[_STREAK]) * (1.0 if one[_LAST] > 0.0 else -1.0)
        out[19] = one[_TIMEOUTS] / one[_LAST_50]
        out[20] = one[_MEMORY] / one[_LAST_50]
        out[21] = one[_NODE] / one[_LAST_50]
    if one[_ENDS] > 0.0:
        out[22] = one[_CANCELLED] / one[_ENDS]
    out[23] = logarithm(memory / one[_LAST_MEMORY])
    out[24] = logarithm(limit / one[_LAST_LIMIT])
