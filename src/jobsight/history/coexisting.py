"""Who coexists with a decision: all jobs by their start, and lists of who was alive now and then.

Built in one sweep in the order of the clock; what is searched for a moment was decided by records
before it alone, so later records change nothing that is drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jobsight.history.timelines import History, Ints
from jobsight.jit import kernel

__all__ = ["JobNumbers", "Pool", "make_pool", "nth", "spans"]

JobNumbers = NDArray[np.int32]

_NEVER = np.int64(2**62)
_ENDINGS = (5, 9)


class Pool(NamedTuple):
    """All jobs by their start, and at intervals a list of those alive.

    A list is made when the jobs started and ended since the last one are half as many as it held,
    so lists hold fewer than 5 numbers per job in all, and a third of list and later starts are
    alive.
    """

    first_row: Ints  # (jobs,), by job number, ascending
    started: JobNumbers  # (jobs,), ordered by clock, then log and row
    started_at: Ints  # (jobs,), clocks of `started`
    ended_at: Ints  # (jobs,), by job number
    list_at: Ints  # (lists,), clocks
    list_start: Ints  # (lists + 1,)
    list_jobs: JobNumbers
    list_next: Ints  # (lists,), how many jobs had started by then


def make_pool(history: History) -> Pool:
    """Sweep through a history's jobs, in time linear in its rows."""
    first = history.jobs["first_row"].to_numpy()
    # A job that has only releases never begins.
    start_clock = np.append(history.clock, _NEVER)[first]
    started = np.argsort(start_clock, kind="stable").astype(np.int32)
    ended_at = np.full(len(first), _NEVER)
    ends = np.flatnonzero(np.isin(history.code, _ENDINGS) & (history.job >= 0))
    np.minimum.at(ended_at, history.job[ends], history.clock[ends])
    ending = np.argsort(ended_at, kind="stable").astype(np.int32)
    ending = ending[: int((ended_at < _NEVER).sum())]
    lists = _alive_lists(started, start_clock[started], ending, ended_at[ending])
    return Pool(first, started, start_clock[started], ended_at, *lists)


@kernel
def _alive_lists(
    started: JobNumbers, started_at: Ints, ending: JobNumbers, ending_at: Ints
) -> tuple[Ints, Ints, JobNumbers, Ints]:
    """The lists, by one sweep through starts and ends."""
    jobs, ends = len(started), len(ending)
    alive, place = np.empty(jobs, np.int32), np.empty(jobs, np.int64)
    # Each job starts once and ends at most once, and a list takes 64 of these changes at least. It
    # is as long as the one before, that is two for each change and one more, and the jobs started
    # since: three for each start and one for each end, which is 4 jobs in all, and one for each.
    most = 2 * jobs // 64
    list_at, list_next = np.empty(most, np.int64), np.empty(most, np.int64)
    list_start, list_jobs = np.zeros(most + 1, np.int64), np.empty(5 * jobs, np.int32)
    s = e = count = lists = changes = 0
    while s < jobs or e < ends:
        now = (
            started_at[s]
            if e == ends or (s < jobs and started_at[s] <= ending_at[e])
            else ending_at[e]
        )
        while s < jobs and started_at[s] == now:
            alive[count], place[started[s]] = started[s], count
            s, count, changes = s + 1, count + 1, changes + 1
        while e < ends and ending_at[e] == now:
            count -= 1
            alive[place[ending[e]]], place[alive[count]] = alive[count], place[ending[e]]
            e, changes = e + 1, changes + 1
        if changes >= max(64, (list_start[lists] - list_start[max(lists - 1, 0)]) // 2):
            if lists == most or list_start[lists] + count > len(list_jobs):
                raise IndexError("more jobs are alive than their starts and ends allow")
            list_at[lists], list_next[lists], changes = now, s, 0
            list_jobs[list_start[lists] : list_start[lists] + count] = alive[:count]
            list_start[lists + 1] = list_start[lists] + count
            lists += 1
    total = list_start[lists]
    return list_at[:lists], list_start[: lists + 1], list_jobs[:total], list_next[:lists]


@kernel
def spans(
    pool: Pool, log_start: Ints, view: tuple[int, int, int], since: int
) -> tuple[JobNumbers, int, int, int, int]:
    """Where the candidates of a decision are: ``listed, begin, later, now, count``.

    They are `listed` (alive at the list's clock), ``started[begin:later]`` (started since then and
    before the moment) and ``started[now:now + count]`` (at the moment, in the own log, before the
    cut).
    """
    log, cut, time = view
    last = np.searchsorted(pool.list_at, since) - 1
    listed, begin = pool.list_jobs[:0], 0
    if last >= 0:
        listed = pool.list_jobs[pool.list_start[last] : pool.list_start[last + 1]]
        begin = int(pool.list_next[last])
    later = np.searchsorted(pool.started_at, time)
    end = np.searchsorted(pool.started_at, time, side="right")
    # Job numbers follow the rows, and among starts of one moment the order follows job numbers.
    at_once = pool.started[later:end]
    low = np.searchsorted(at_once, np.searchsorted(pool.first_row, log_start[log]))
    high = np.searchsorted(at_once, np.searchsorted(pool.first_row, cut))
    return listed, int(begin), int(later), int(later + low), int(high - low)


@kernel
def nth(
    started: JobNumbers, listed: JobNumbers, begin: int, later: int, now: int, place: int
) -> int:
    """The job at `place` of the three spans laid end to end."""
    if place < len(listed):
        return int(listed[place])
    place += begin - len(listed)
    if place < later:
        return int(started[place])
    return int(started[now + place - later])
