"""What is known of a key's queue at a moment: load, waits and runtimes; see `history.past`.

`jobsight.history.pastwalk` walks; this module keeps the state of a key and says what it means.
"""

from __future__ import annotations

from math import isnan, sqrt

import numpy as np
from numpy.typing import NDArray

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

__all__ = ["COLUMNS", "STATES", "ahead", "begin", "happened", "known", "moved"]

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Record = np.void

COLUMNS = (
    "pending", "pending cpus", "pending work", "pending age", "running", "running cpus",
    "running left", "starts hour", "starts day", "work started hour", "work started day",
    "submissions hour", "since start", "wait", "wait hour", "wait day", "last wait",
    "ahead", "work ahead", "share ahead",
    "last runtime", "last 2 runtimes", "runtime", "runtime 50", "runtime spread",
    "limit against longest", "share of limit", "share of limit 50",
)  # fmt: skip

# The state of a key; work is in core-seconds.
(_WAITS, _WAIT_CPUS, _WAIT_WORK, _WAIT_SINCE, _RUNS, _RUN_CPUS, _LIMITED, _RUN_LEFT, _CLOCK, _START,
 _STARTS_HOUR, _STARTS_DAY, _WORK_HOUR, _WORK_DAY, _SUBMISSION, _SUBMITTED,
 _N5, _WAIT5, _NHOUR, _WAIT_HOUR, _NDAY, _WAIT_DAY, _LAST_WAIT,
 _LAST, _BEFORE, _R5, _RUN5, _R50, _RUN50, _SQUARES, _LONGEST, _S5, _SHARE5, _S50, _SHARE50,
 STATES,
) = range(36)  # fmt: skip
_FADING = 0.95
_HOUR = 3600.0


@kernel
def happened(one: NDArray[np.float64], event: Record) -> None:
    """Add an event to the state of its key."""
    now, seconds = float(event["time"]), float(event["seconds"])
    cpus, work = _size(event)
    one[_RUN_LEFT] -= one[_LIMITED] * (now - one[_CLOCK]) / 1e6
    one[_CLOCK] = now
    for after in range(2):
        phase = event["after"] if after else event["before"]
        sign = 1.0 if after else -1.0
        ago = seconds if not after and seconds >= 0.0 else 0.0
        if phase == WAITING:
            one[_WAITS] += sign
            one[_WAIT_CPUS] += sign * cpus
            one[_WAIT_WORK] += sign * work
            one[_WAIT_SINCE] += sign * (now / 1e6 - ago)
        elif phase == RUNNING:
            one[_RUNS] += sign
            one[_RUN_CPUS] += sign * cpus
            if work > 0.0:
                one[_LIMITED] += sign * cpus
                one[_RUN_LEFT] += sign * (work - cpus * ago)
    if event["before"] == SUBMITTED:
        one[_SUBMITTED] = one[_SUBMITTED] * left(now, one[_SUBMISSION])[0] + 1.0
        one[_SUBMISSION] = now
    if event["before"] == WAITING and event["after"] == RUNNING:
        _started(one, now, seconds, work)
    ended = event["outcome"] != NO_END and event["outcome"] != CANCELLED
    if ended and event["before"] == RUNNING and seconds >= 0.0:
        _ran(one, seconds, event["limit"])


@helper
def _started(one: NDArray[np.float64], now: float, waited: float, work: float) -> None:
    hour, day, _ = left(now, one[_START])
    for at in (_STARTS_HOUR, _WORK_HOUR, _NHOUR, _WAIT_HOUR):
        one[at] *= hour
    for at in (_STARTS_DAY, _WORK_DAY, _NDAY, _WAIT_DAY):
        one[at] *= day
    one[_START] = now
    one[_STARTS_HOUR] += 1.0
    one[_STARTS_DAY] += 1.0
    one[_WORK_HOUR] += work
    one[_WORK_DAY] += work
    if waited >= 0.0:
        wait = logarithm(1.0 + waited)
        one[_N5], one[_WAIT5] = one[_N5] * D5 + 1.0, one[_WAIT5] * D5 + wait
        one[_NHOUR], one[_WAIT_HOUR] = one[_NHOUR] + 1.0, one[_WAIT_HOUR] + wait
        one[_NDAY], one[_WAIT_DAY] = one[_NDAY] + 1.0, one[_WAIT_DAY] + wait
        one[_LAST_WAIT] = wait


@helper
def _ran(one: NDArray[np.float64], seconds: float, limit: float) -> None:
    run = logarithm(1.0 + seconds)
    one[_BEFORE], one[_LAST] = one[_LAST], seconds
    one[_R5], one[_RUN5] = one[_R5] * D5 + 1.0, one[_RUN5] * D5 + run
    one[_R50], one[_RUN50] = one[_R50] * D50 + 1.0, one[_RUN50] * D50 + run
    one[_SQUARES] = one[_SQUARES] * D50 + run * run
    one[_LONGEST] = max(one[_LONGEST] * _FADING, seconds)
    if limit > 0.0:
        share = min(seconds / limit, 1.0)
        one[_S5], one[_SHARE5] = one[_S5] * D5 + 1.0, one[_SHARE5] * D5 + share
        one[_S50], one[_SHARE50] = one[_S50] * D50 + 1.0, one[_SHARE50] * D50 + share


@kernel
def known(one: NDArray[np.float64], now: float, limit: float, out: Floats32) -> None:
    """What the state of a key means at a moment (µs) to a job with a time limit (s, or NaN)."""
    out[0] = logarithm(1.0 + max(one[_WAITS], 0.0))
    out[1] = logarithm(1.0 + max(one[_WAIT_CPUS], 0.0))
    out[2] = logarithm(1.0 + max(one[_WAIT_WORK], 0.0) / _HOUR)
    if one[_WAITS] >= 1.0:
        out[3] = logarithm(1.0 + max(now / 1e6 - one[_WAIT_SINCE] / one[_WAITS], 0.0))
    out[4] = logarithm(1.0 + max(one[_RUNS], 0.0))
    out[5] = logarithm(1.0 + max(one[_RUN_CPUS], 0.0))
    rest = one[_RUN_LEFT] - one[_LIMITED] * (now - one[_CLOCK]) / 1e6
    out[6] = logarithm(1.0 + max(rest, 0.0) / _HOUR)
    hour, day, _ = left(now, one[_START])
    out[7] = logarithm(1.0 + one[_STARTS_HOUR] * hour)
    out[8] = logarithm(1.0 + one[_STARTS_DAY] * day)
    out[9] = logarithm(1.0 + one[_WORK_HOUR] * hour / _HOUR)
    out[10] = logarithm(1.0 + one[_WORK_DAY] * day / _HOUR)
    out[11] = logarithm(1.0 + one[_SUBMITTED] * left(now, one[_SUBMISSION])[0])
    out[12] = logarithm(1.0 + (now - one[_START]) / 1e6)
    if one[_N5] > 0.0:
        out[13] = one[_WAIT5] / one[_N5]
        out[14] = one[_WAIT_HOUR] / one[_NHOUR]
        out[15] = one[_WAIT_DAY] / one[_NDAY]
    out[16] = one[_LAST_WAIT]
    if one[_R5] > 0.0:
        out[20] = logarithm(1.0 + one[_LAST])
        before = one[_LAST] if isnan(one[_BEFORE]) else one[_BEFORE]
        out[21] = logarithm(1.0 + (one[_LAST] + before) / 2.0)
        out[22] = one[_RUN5] / one[_R5]
        mean = one[_RUN50] / one[_R50]
        out[23] = mean
        out[24] = sqrt(max(one[_SQUARES] / one[_R50] - mean * mean, 0.0))
        out[25] = logarithm(limit / (one[_LONGEST] + 1.0))
    if one[_S5] > 0.0:
        out[26] = one[_SHARE5] / one[_S5]
        out[27] = one[_SHARE50] / one[_S50]


@kernel
def moved(waiting: Floats, place: int, event: Record) -> None:
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
def ahead(one: NDArray[np.float64], waiting: Floats, place: int, out: Floats32) -> None:
    """What waits before a place of the line of a key, from 0 on; see `known` and `moved`."""
    jobs, work = 0.0, 0.0
    while place > 0:
        jobs += waiting[place - 1, 0]
        work += waiting[place - 1, 1]
        place -= place & -place
    out[17] = logarithm(1.0 + max(jobs, 0.0))
    out[18] = logarithm(1.0 + max(work, 0.0) / _HOUR)
    out[19] = (max(jobs, 0.0) + 0.5) / one[_WAITS] if one[_WAITS] >= 1.0 else np.nan


@helper
def _size(event: Record) -> tuple[float, float]:
    """CPUs, and core-seconds by the limit, 0 where there is none."""
    cpus = float(event["cpus"]) if event["cpus"] > 0.0 else 1.0
    return cpus, cpus * float(event["limit"]) if event["limit"] > 0.0 else 0.0


@helper
def begin(one: NDArray[np.float64]) -> None:
    """The state of a key of which nothing is known."""
    one[:] = 0.0
    one[_START] = one[_SUBMISSION] = one[_LAST_WAIT] = one[_LAST] = one[_BEFORE] = np.nan
