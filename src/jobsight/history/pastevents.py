"""What the walks of `jobsight.history.past` read: the events of a table, and how weights decay."""

from __future__ import annotations

from math import exp, log

import numpy as np

from jobsight.jit import helper

__all__ = [
    "CANCELLED", "D5", "D50", "ENDED", "EVENT", "NO_END", "RUNNING", "SUBMITTED", "WAITING",
    "left", "logarithm",
]  # fmt: skip

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
