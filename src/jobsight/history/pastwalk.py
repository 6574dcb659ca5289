"""The walks of `jobsight.history.past`: the events of one key in order of time, and what is known.

The jobs asked about and the events are grouped by key first, so that one key at a time is walked,
with one state, of outcomes or of the queue; memory is linear in jobs and events, for few keys and
for millions.
"""

from __future__ import annotations

import ctypes
from math import exp, isnan, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jobsight.jit import helper, kernel

__all__ = [
    "CANCELLED",
    "COLUMNS",
    "D5",
    "D50",
    "ENDED",
    "EVENT",
    "NO_END",
    "PRIOR",
    "QUEUE_COLUMNS",
    "RUNNING",
    "SUBMITTED",
    "WAITING",
    "grouped",
    "left",
    "logarithm",
    "matched",
    "walk",
]

NO_END, CANCELLED = -1, 6
"""In place of an outcome: the event has none; it is an end that says nothing of success."""
SUBMITTED, WAITING, RUNNING, ENDED = -1, 0, 1, 2
"""What a job does before and after an event; before its submission, `SUBMITTED`."""
EVENT = np.dtype(
    [("time", "i8"), ("seconds", "f4"), ("used", "f4"), ("memory", "f4"), ("limit", "f4"),
     ("cpus", "f4"), ("before", "i1"), ("after", "i1"), ("outcome", "i1")], align=True,
)  # fmt: skip
"""One event, half a cache line: time in µs; the seconds that the job waited or ran before it, and
of an end the MB used; the job's request in MB, s and CPUs; unknown numbers are NaN."""

D5, D50 = 0.5 ** (1 / 5), 0.5 ** (1 / 50)
_PER_WEEK = log(2.0) / (7 * 86_400e6)

Floats = NDArray[np.float64]
QUEUE_COLUMNS = (
    "pending", "pending cpus", "pending work", "pending age", "running", "running cpus",
    "running left", "starts hour", "starts day", "work started hour", "work started day",
    "submissions hour", "since start", "wait", "wait hour", "wait day", "last wait",
    "ahead", "work ahead", "share ahead",
    "last runtime", "last 2 runtimes", "runtime", "runtime 50", "runtime spread",
    "limit against longest", "share of limit", "share of limit 50",
)  # fmt: skip
# The state of a key; work is in core-seconds.
(_WAITS, _WAIT_CPUS, _WAIT_WORK, _WAIT_SINCE, _RUN_JOBS, _RUN_CPUS, _LIMITED, _RUN_LEFT, _CLOCK,
 _START, _STARTS_HOUR, _STARTS_DAY, _WORK_HOUR, _WORK_DAY, _SUBMITTED_AT, _SUBMITTED,
 _N5, _WAIT5, _NHOUR, _WAIT_HOUR, _NDAY, _WAIT_DAY, _LAST_WAIT,
 _LAST_RUN, _BEFORE, _R5, _RUN5, _R50, _RUN50, _SQUARES, _LONGEST_RUN, _S5, _SHARE5, _S50, _SHARE50,
 _QUEUE_STATES,
) = range(36)  # fmt: skip
_HOUR_S = 3600.0
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
_logf = ctypes.CDLL(None).logf  # what the compiled kernel calls; that of NumPy rounds otherwise
_logf.argtypes, _logf.restype = [ctypes.c_float], ctypes.c_float


@helper
def left(now: float, then: float) -> tuple[float, float, float]:
    """What is left of weights of `then`, halved by each hour, day, week; 1 where there was none."""
    if not then < now:
        return 1.0, 1.0, 1.0
    week = exp(_PER_WEEK * (then - now))
    week2 = week * week
    week4 = week2 * week2
    day = week4 * week2 * week
    day8 = ((day * day) ** 2) ** 2
    return day8 * day8 * day8, day, week


@helper
def logarithm(value: float) -> float:
    """To the precision of what is returned, in a third of the time."""
    return log(np.float32(value))


@logarithm.in_python
def _logarithm(value: float) -> float:
    found: float = _logf(value)
    return found


@kernel
def _queue_happened(state: NDArray[np.float64], event: Record) -> None:
    """Add an event to the state of its key."""
    now, seconds = float(event["time"]), float(event["seconds"])
    cpus, work = _size(event)
    state[_RUN_LEFT] -= state[_LIMITED] * (now - state[_CLOCK]) / 1e6
    state[_CLOCK] = now
    for after in range(2):
        phase = event["after"] if after else event["before"]
        sign = 1.0 if after else -1.0
        ago = seconds if not after and seconds >= 0.0 else 0.0
        if phase == WAITING:
            state[_WAITS] += sign
            state[_WAIT_CPUS] += sign * cpus
            state[_WAIT_WORK] += sign * work
            state[_WAIT_SINCE] += sign * (now / 1e6 - ago)
        elif phase == RUNNING:
            state[_RUN_JOBS] += sign
            state[_RUN_CPUS] += sign * cpus
            if work > 0.0:
                state[_LIMITED] += sign * cpus
                state[_RUN_LEFT] += sign * (work - cpus * ago)
    if event["before"] == SUBMITTED:
        state[_SUBMITTED] = state[_SUBMITTED] * left(now, state[_SUBMITTED_AT])[0] + 1.0
        state[_SUBMITTED_AT] = now
    if event["before"] == WAITING and event["after"] == RUNNING:
        _started(state, now, seconds, work)
    ended = event["outcome"] != NO_END and event["outcome"] != CANCELLED
    if ended and event["before"] == RUNNING and seconds >= 0.0:
        _ran(state, seconds, event["limit"])


@helper
def _started(state: NDArray[np.float64], now: float, waited: float, work: float) -> None:
    hour, day, _ = left(now, state[_START])
    for at in (_STARTS_HOUR, _WORK_HOUR, _NHOUR, _WAIT_HOUR):
        state[at] *= hour
    for at in (_STARTS_DAY, _WORK_DAY, _NDAY, _WAIT_DAY):
        state[at] *= day
    state[_START] = now
    state[_STARTS_HOUR] += 1.0
    state[_STARTS_DAY] += 1.0
    state[_WORK_HOUR] += work
    state[_WORK_DAY] += work
    if waited >= 0.0:
        wait = logarithm(1.0 + waited)
        state[_N5], state[_WAIT5] = state[_N5] * D5 + 1.0, state[_WAIT5] * D5 + wait
        state[_NHOUR], state[_WAIT_HOUR] = state[_NHOUR] + 1.0, state[_WAIT_HOUR] + wait
        state[_NDAY], state[_WAIT_DAY] = state[_NDAY] + 1.0, state[_WAIT_DAY] + wait
        state[_LAST_WAIT] = wait


@helper
def _ran(state: NDArray[np.float64], seconds: float, limit: float) -> None:
    run = logarithm(1.0 + seconds)
    state[_BEFORE], state[_LAST_RUN] = state[_LAST_RUN], seconds
    state[_R5], state[_RUN5] = state[_R5] * D5 + 1.0, state[_RUN5] * D5 + run
    state[_R50], state[_RUN50] = state[_R50] * D50 + 1.0, state[_RUN50] * D50 + run
    # In single precision, as `logarithm` is where it is compiled.
    state[_SQUARES] = state[_SQUARES] * D50 + np.float32(run * run)
    state[_LONGEST_RUN] = max(state[_LONGEST_RUN] * _FADING, seconds)
    if limit > 0.0:
        share = min(np.float32(seconds / limit), 1.0)
        state[_S5], state[_SHARE5] = state[_S5] * D5 + 1.0, state[_SHARE5] * D5 + share
        state[_S50], state[_SHARE50] = state[_S50] * D50 + 1.0, state[_SHARE50] * D50 + share


@kernel
def _queue_known(state: NDArray[np.float64], now: float, limit: float, out: Floats32) -> None:
    """What the state of a key means at a moment (µs) to a job with a time limit (s, or NaN)."""
    out[0] = logarithm(1.0 + max(state[_WAITS], 0.0))
    out[1] = logarithm(1.0 + max(state[_WAIT_CPUS], 0.0))
    out[2] = logarithm(1.0 + max(state[_WAIT_WORK], 0.0) / _HOUR_S)
    if state[_WAITS] >= 1.0:
        out[3] = logarithm(1.0 + max(now / 1e6 - state[_WAIT_SINCE] / state[_WAITS], 0.0))
    out[4] = logarithm(1.0 + max(state[_RUN_JOBS], 0.0))
    out[5] = logarithm(1.0 + max(state[_RUN_CPUS], 0.0))
    rest = state[_RUN_LEFT] - state[_LIMITED] * (now - state[_CLOCK]) / 1e6
    out[6] = logarithm(1.0 + max(rest, 0.0) / _HOUR_S)
    hour, day, _ = left(now, state[_START])
    out[7] = logarithm(1.0 + state[_STARTS_HOUR] * hour)
    out[8] = logarithm(1.0 + state[_STARTS_DAY] * day)
    out[9] = logarithm(1.0 + state[_WORK_HOUR] * hour / _HOUR_S)
    out[10] = logarithm(1.0 + state[_WORK_DAY] * day / _HOUR_S)
    out[11] = logarithm(1.0 + state[_SUBMITTED] * left(now, state[_SUBMITTED_AT])[0])
    out[12] = logarithm(1.0 + (now - state[_START]) / 1e6)
    if state[_N5] > 0.0:
        out[13] = state[_WAIT5] / state[_N5]
        out[14] = state[_WAIT_HOUR] / state[_NHOUR]
        out[15] = state[_WAIT_DAY] / state[_NDAY]
    out[16] = state[_LAST_WAIT]
    if state[_R5] > 0.0:
        out[20] = logarithm(1.0 + state[_LAST_RUN])
        before = state[_LAST_RUN] if isnan(state[_BEFORE]) else state[_BEFORE]
        out[21] = logarithm(1.0 + (state[_LAST_RUN] + before) / 2.0)
        out[22] = state[_RUN5] / state[_R5]
        mean = state[_RUN50] / state[_R50]
        out[23] = mean
        out[24] = sqrt(max(state[_SQUARES] / state[_R50] - mean * mean, 0.0))
        out[25] = logarithm(limit / (state[_LONGEST_RUN] + 1.0))
    if state[_S5] > 0.0:
        out[26] = state[_SHARE5] / state[_S5]
        out[27] = state[_SHARE50] / state[_S50]


@kernel
def _moved(waiting: Floats, place: int, event: Record) -> None:
    """Note that the job at a place of the line waits from an event on, or no longer.

    Args:
        waiting: float64 (places, 2), a binary indexed tree (Fenwick, Software: Practice and
            Experience 24, 1994) of how many wait, and of their work in core-seconds.
        place: from 0 on.
        event: of the job.
    """
    sign = (event["after"] == WAITING) - (event["before"] == WAITING)
    if sign == 0:
        return
    work = _size(event)[1]
    place += 1
    while place <= len(waiting):
        waiting[place - 1, 0] += sign
        waiting[place - 1, 1] += sign * work
        place += place & -place


@kernel
def _ahead(state: NDArray[np.float64], waiting: Floats, place: int, out: Floats32) -> None:
    """What waits before a place of the line of a key, from 0 on; see `_moved`."""
    jobs, work = 0.0, 0.0
    while place > 0:
        jobs += waiting[place - 1, 0]
        work += waiting[place - 1, 1]
        place -= place & -place
    out[17] = logarithm(1.0 + max(jobs, 0.0))
    out[18] = logarithm(1.0 + max(work, 0.0) / _HOUR_S)
    out[19] = (max(jobs, 0.0) + 0.5) / state[_WAITS] if state[_WAITS] >= 1.0 else np.nan


@helper
def _size(event: Record) -> tuple[float, float]:
    """CPUs, and core-seconds by the limit, 0 where there is none."""
    cpus = float(event["cpus"]) if event["cpus"] > 0.0 else 1.0
    return cpus, cpus * float(event["limit"]) if event["limit"] > 0.0 else 0.0


@helper
def _begin_queue(state: NDArray[np.float64]) -> None:
    """The state of a key of which nothing is known."""
    state[:] = 0.0
    state[_START] = state[_SUBMITTED_AT] = state[_LAST_WAIT] = state[_LAST_RUN] = state[_BEFORE] = (
        np.nan
    )


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


@matched.estimate
def _matched_seconds(asked: NDArray[np.uint64], others: NDArray[np.uint64]) -> float:
    return (len(asked) + len(others)) * 2e-7


@matched.in_python
def _matched_by_dict(
    asked: NDArray[np.uint64], others: NDArray[np.uint64]
) -> tuple[Ints32, Ints32, int]:
    numbers: dict[int, int] = {}
    found = [numbers.setdefault(one, len(numbers)) if one else -1 for one in asked.tolist()]
    of_others = [numbers.get(one, -1) for one in others.tolist()]
    return np.array(found, np.int32), np.array(of_others, np.int32), len(numbers)


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


@grouped.estimate
def _grouped_seconds(codes: Ints32, _count: int) -> float:
    return len(codes) * 1e-7


@grouped.in_python
def _grouped_by_sorting(codes: Ints32, count: int) -> tuple[Ints, Ints32]:
    places = np.flatnonzero(codes >= 0).astype(np.int32)
    sizes = np.bincount(codes[places], minlength=count)
    at: Ints = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return at, places[np.argsort(codes[places], kind="stable")]


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
        queue: fill `QUEUE_COLUMNS`, not those of outcomes.
        out: where to.
    """
    state = np.empty(_QUEUE_STATES if queue else _STATES)
    # The place of each job in the line of its key, by its first event; and who waits there.
    places = np.full(rows.max() + 1 if queue and len(rows) else 0, -1, np.int32)
    waiting = np.zeros((len(happened[1]) if queue else 0, 2))
    for key in range(len(asked[0]) - 1):
        if queue:
            _begin_queue(state)
        else:
            state[:] = 0.0
            state[_END] = state[_FAILURE] = state[_SUBMISSION] = state[_LAST] = np.nan
            state[_LAST_MEMORY] = state[_LAST_LIMIT] = np.nan
        event, last, before = happened[0][key], happened[0][key + 1], -1
        line, joined = waiting[event:last], 0
        for place in range(asked[0][key], asked[0][key + 1]):
            job = asked[1][place]
            while event < last and events[happened[1][event]]["time"] < moments[job]:
                what = events[happened[1][event]]
                if queue:
                    _queue_happened(state, what)
                    row = rows[happened[1][event]]
                    if places[row] < 0:
                        places[row], joined = joined, joined + 1
                    _moved(line, places[row], what)
                else:
                    _happened(state, what)
                event += 1
            if before >= 0 and _alike(moments, memory, limit, before, job):
                out[job] = out[before]
            elif queue:
                _queue_known(state, float(moments[job]), limit[job], out[job])
            else:
                _known(state, float(moments[job]), memory[job], limit[job], base[job], out[job])
            if queue:
                here = places[own[job]] if own[job] >= 0 else -1
                # A place in the line of another key says nothing of this one.
                here = here if 0 <= here < joined else joined
                _ahead(state, line, here, out[job])
            before = job


@walk.estimate
def _walk_seconds(
    asked: tuple[Ints, Ints32], happened: tuple[Ints, Ints32], *_others: object
) -> float:
    return (len(asked[1]) + len(happened[1])) * 2e-5


@walk.in_python
def _walk_in_python(
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
    # Python's own numbers are of double precision, as those that the compiled kernel reckons with.
    of_jobs: Any = [one.tolist() for one in (own, moments, memory, limit, base)]
    each: Any = [dict(zip(EVENT.names or (), event, strict=True)) for event in events.tolist()]
    groups: Any = [tuple(part.tolist() for part in pair) for pair in (asked, happened)]
    arguments: Any = (*groups, each, rows, *of_jobs, queue, out)
    with np.errstate(all="ignore"):
        walk.interpreted(*arguments)


@helper
def _alike(moments: Ints, memory: Floats32, limit: Floats32, one: int, other: int) -> bool:
    """Whether two jobs ask for the same at the same moment, as the tasks of an array do."""
    same = moments[one] == moments[other]
    return same and _same(memory[one], memory[other]) and _same(limit[one], limit[other])


@helper
def _same(one: float, other: float) -> bool:
    return one == other or (isnan(one) and isnan(other))


@kernel
def _happened(state: NDArray[np.float64], event: Record) -> None:
    state[_RUNNING] += (event["after"] == RUNNING) - (event["before"] == RUNNING)
    state[_WAITING] += (event["after"] == WAITING) - (event["before"] == WAITING)
    now = float(event["time"])
    if event["before"] == SUBMITTED:
        state[_LATELY] = state[_LATELY] * left(now, state[_SUBMISSION])[0] + 1.0
        state[_SUBMISSION] = now
    if event["outcome"] == NO_END:
        return
    state[_ENDS] = state[_ENDS] * D50 + 1.0
    state[_CANCELLED] = state[_CANCELLED] * D50 + (event["outcome"] == CANCELLED)
    if event["outcome"] == CANCELLED:
        return
    _counted(state, now, event["outcome"])
    if event["before"] == RUNNING and event["seconds"] >= 0.0:
        state[_RUNS] = state[_RUNS] * D5 + 1.0
        state[_RUN] = state[_RUN] * D5 + logarithm(1.0 + event["seconds"])
        state[_LONGEST] = max(state[_LONGEST] * _FADING, event["seconds"])
        if event["limit"] > 0.0:
            state[_LIMITS] = state[_LIMITS] * D5 + 1.0
            # Of single precision, as both are: plain Python would divide them in double.
            share = np.float32(event["seconds"] / event["limit"])
            state[_SHARE] = state[_SHARE] * D5 + min(share, 1.0)
    if event["used"] > 0.0:
        state[_PEAK] = max(state[_PEAK] * _FADING, event["used"])
    state[_LAST_MEMORY], state[_LAST_LIMIT] = event["memory"], event["limit"]


@kernel
def _counted(state: NDArray[np.float64], now: float, outcome: int) -> None:
    """Count an outcome: 0 a success, else the number of a failure."""
    failed = 1.0 if outcome > 0 else 0.0
    _weighed(state, _ALL, 1.0, failed)
    _weighed(state, _LAST_5, D5, failed)
    _weighed(state, _LAST_50, D50, failed)
    hour, day, week = left(now, state[_END])
    _weighed(state, _HOUR, hour, failed)
    _weighed(state, _DAY, day, failed)
    _weighed(state, _WEEK, week, failed)
    state[_END] = now
    if failed > 0.0:
        state[_FAILURE] = now
    state[_STREAK] = state[_STREAK] + 1.0 if state[_LAST] == failed else 1.0
    state[_LAST] = failed
    state[_TIMEOUTS] = state[_TIMEOUTS] * D50 + (outcome == 2)
    state[_MEMORY] = state[_MEMORY] * D50 + (outcome == 3)
    state[_NODE] = state[_NODE] * D50 + (outcome == 4)


@helper
def _weighed(state: NDArray[np.float64], at: int, left: float, failed: float) -> None:
    state[at], state[at + 1] = state[at] * left + 1.0, state[at + 1] * left + failed


@helper
def _rate(state: NDArray[np.float64], at: int, left: float, base: float) -> float:
    failures, outcomes = state[at + 1] * left, state[at] * left
    return float((failures + PRIOR * base) / (outcomes + PRIOR))


@kernel
def _known(
    state: NDArray[np.float64], now: float, memory: float, limit: float, base: float, out: Floats32
) -> None:
    out[0] = logarithm(1.0 + state[_ALL])
    out[1] = _rate(state, _ALL, 1.0, base)
    out[2] = _rate(state, _LAST_5, 1.0, base)
    out[3] = _rate(state, _LAST_50, 1.0, base)
    hour, day, week = left(now, state[_END])
    out[4] = _rate(state, _HOUR, hour, base)
    out[5] = _rate(state, _DAY, day, base)
    out[6] = _rate(state, _WEEK, week, base)
    out[7] = state[_LAST]
    out[9] = logarithm(1.0 + (now - state[_END]) / 1e6)
    out[10] = logarithm(1.0 + (now - state[_FAILURE]) / 1e6)
    if state[_RUNS] > 0.0:
        out[11] = state[_RUN] / state[_RUNS]
        out[12] = logarithm(limit / (state[_LONGEST] + 1.0))
    if state[_LIMITS] > 0.0:
        out[13] = state[_SHARE] / state[_LIMITS]
    if state[_PEAK] > 0.0:
        out[14] = logarithm(memory / state[_PEAK])
    out[15] = logarithm(1.0 + state[_RUNNING])
    out[16] = logarithm(1.0 + state[_WAITING])
    out[17] = logarithm(1.0 + state[_LATELY] * left(now, state[_SUBMISSION])[0])
    out[18] = logarithm(1.0 + (now - state[_SUBMISSION]) / 1e6)
    if state[_ALL] > 0.0:
        out[8] = logarithm(1.0 + state[_STREAK]) * (1.0 if state[_LAST] > 0.0 else -1.0)
        out[19] = state[_TIMEOUTS] / state[_LAST_50]
        out[20] = state[_MEMORY] / state[_LAST_50]
        out[21] = state[_NODE] / state[_LAST_50]
    if state[_ENDS] > 0.0:
        out[22] = state[_CANCELLED] / state[_ENDS]
    out[23] = logarithm(memory / state[_LAST_MEMORY])
    out[24] = logarithm(limit / state[_LAST_LIMIT])
