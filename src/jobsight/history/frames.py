"""The tensor events × frames × jobs: what a held job and others next to it were doing, as of a cut.

One byte per cell, (examples, m frames, j jobs), oldest frame first. Frame k (1 … m) of a decision
at time t is the job's last *state event* at a clock ≤ t − (m − k) · timeframe and before the cut,
but no release (013) of the decision's own second: 0 for none, i + 1 for the i-th of the configured
state events. The idea is the seed's (CHTC fellowship 2024).

The other jobs are sampled. A job coexists with a decision if its first record is before the cut and
it had not ended before the decision's window began. Some of the sampled jobs are related (same
cause of hold, site or owner, the latest considered first), the others are drawn uniformly from all
that coexist. Only the part of each index before the cut is read, so later records change no
sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.errors import SettingsError
from jobsight.history.labels import RowLabels
from jobsight.history.timelines import SECOND, History, Ints
from jobsight.jit import kernel

__all__ = ["FrameIndex", "Frames", "JobNumbers", "Moments", "SampleIndex", "build_frames"]

JobNumbers = NDArray[np.int32]

_NEVER = np.int64(2**62)
_ENDINGS = (5, 9)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)

Frames = NDArray[np.uint8]
_LONGEST = 2**61  # µs: 73 000 years, and no sum of it and a clock overflows
_States = tuple[Ints, Ints, Ints, Frames, NDArray[np.bool_]]


class _Pool(NamedTuple):
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


def _make_pool(history: History) -> _Pool:
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
    return _Pool(first, started, start_clock[started], ended_at, *lists)


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
def _spans(
    pool: _Pool, log_start: Ints, view: tuple[int, int, int], since: int
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
def _nth(
    started: JobNumbers, listed: JobNumbers, begin: int, later: int, now: int, place: int
) -> int:
    """The job at `place` of the three spans laid end to end."""
    if place < len(listed):
        return int(listed[place])
    place += begin - len(listed)
    if place < later:
        return int(started[place])
    return int(started[now + place - later])


class Moments(NamedTuple):
    """n decisions and what each may see.

    Attributes:
        job: int32 (n,), the held job.
        hold_row: int64 (n,), the row of its hold, before `cut`.
        log: int32 (n,), the job's log.
        cut: int64 (n,), the first row of that log which the decision does not see.
        time: int64 (n,), µs; other logs are seen strictly before it.
    """

    job: JobNumbers
    hold_row: Ints
    log: NDArray[np.int32]
    cut: Ints
    time: Ints

    @classmethod
    def of(cls, table: pl.DataFrame) -> Moments:
        """The columns of these names of a decision table."""
        return cls(*(table[name].to_numpy(writable=True) for name in cls._fields))


class _Family(NamedTuple):
    """Spells of jobs in groups (one cause, one site, one owner), group after group.

    Ordered by group, then clock and row of their beginning; `until` is the row where the job leaves
    the group, or a row that does not exist.
    """

    start: Ints  # (groups + 1,)
    row: Ints
    clock: Ints
    job: JobNumbers
    until: Ints
    group_of_row: Ints  # (n,), −1 for none; of owners: (jobs,)


class _Rows(NamedTuple):
    log: NDArray[np.int32]
    clock: Ints
    log_start: Ints


class SampleIndex:
    """The groups of a history; built once, in time linear in its rows."""

    def __init__(self, history: History, labels: RowLabels) -> None:
        self.history = history
        self._rows = _Rows(history.log, history.clock, history.log_start)
        self._pool = _make_pool(history)
        site = labels.site.rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
        owner = history.jobs["owner"].rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
        self._owner_row = history.jobs["owner_row"].fill_null(len(history)).to_numpy()
        held = np.flatnonzero(history.begun & (history.job >= 0))
        # Rows where a job's site differs from that of its row before.
        ordered = site[history.job_rows]
        fresh = np.ones(len(ordered), np.bool_)
        fresh[1:] = ordered[1:] != ordered[:-1]
        fresh[history.job_start[:-1]] = True
        owned = np.flatnonzero(owner >= 0)
        owner_rows = history.jobs["owner_row"].fill_null(0).to_numpy()[owned]
        self._families = (
            _make_family(history, held, labels.cause.astype(np.int64)),
            _make_family(history, np.sort(history.job_rows[fresh]), site),
            _family(
                *(owner_rows, history.clock[owner_rows], owned.astype(np.int32)),
                *(np.full(len(owned), len(history), np.int64), owner[owned], owner),
            ),
        )

    def sample(
        self, asked: Moments, since: Ints, *, j: int, related_share: float, seed: int
    ) -> JobNumbers:
        """Draw the j jobs of each decision's frames, without replacement.

        Args:
            asked: n decisions.
            since: int64 (n,), µs, when each decision's window begins.
            j: jobs per decision, the held one among them.
            related_share: the share of the other j − 1 drawn among related jobs, as far as there
                are any among the most recent of each relation; the rest is drawn from all that
                coexist.
            seed: of the counter-based generator (splitmix64, Steele et al., OOPSLA 2014), with the
                job and the decision.

        Returns:
            int32 (n, j), job numbers, the held job first; −1 where no more jobs coexist.
        """
        causes, sites, owners = self._families
        groups = np.stack(
            [
                causes.group_of_row[asked.hold_row],
                sites.group_of_row[asked.hold_row],
                np.where(
                    self._owner_row[asked.job] < asked.cut, owners.group_of_row[asked.job], -1
                ),
            ],
            axis=1,
        )
        # A hash of seed, job and decision that no later record can change: uint64 (n,).
        ids = self.history.jobs.select("cluster", "proc")[asked.job]
        place = asked.cut - self.history.log_start[asked.log]
        keys = np.full(len(place), seed, np.uint64)
        for part in (ids["cluster"].to_numpy(), ids["proc"].to_numpy(), place, asked.time):
            keys = _mixed(keys, part.astype(np.int64))
        related = round(related_share * (j - 1))
        return _sample(
            self._rows, self._pool, self._families, groups, asked, since, keys, j, related
        )


def _make_family(history: History, rows: Ints, group_of_row: Ints) -> _Family:
    """Spells that begin at `rows` (ascending) and end at the next of these rows of the job."""
    job = history.job[rows]
    by_job = np.lexsort((rows, job))
    until = np.full(len(rows), len(history), np.int64)
    same = job[by_job][1:] == job[by_job][:-1]
    until[by_job[:-1][same]] = rows[by_job[1:][same]]
    return _family(rows, history.clock[rows], job, until, group_of_row[rows], group_of_row)


def _family(
    row: Ints, clock: Ints, job: JobNumbers, until: Ints, group: Ints, group_of_row: Ints
) -> _Family:
    named = np.flatnonzero(group >= 0)
    order = named[np.lexsort((row[named], clock[named], group[named]))]
    groups = int(group.max(initial=-1)) + 1
    start = np.searchsorted(group[order], np.arange(groups + 1)).astype(np.int64)
    return _Family(start, row[order], clock[order], job[order], until[order], group_of_row)


@kernel
def _mix(value: np.uint64) -> np.uint64:
    """The finalizer of splitmix64."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@kernel
def _mixed(keys: NDArray[np.uint64], part: Ints) -> NDArray[np.uint64]:
    mixed = np.empty(len(keys), np.uint64)
    for i in range(len(keys)):
        mixed[i] = _mix(keys[i] * _GOLDEN + np.uint64(part[i]) + _GOLDEN)
    return mixed


@kernel
def _below(key: np.uint64, turn: int, bound: int) -> int:
    """The `turn`-th draw of a key: a whole number in [0, bound)."""
    return int(_mix(key + np.uint64(turn + 1) * _GOLDEN) % np.uint64(bound))


@kernel
def _sees(rows: _Rows, log: int, cut: int, time: int, row: int) -> bool:
    """Whether a decision sees a row; a row past the end of the table is seen by none."""
    if row >= len(rows.clock):
        return False
    if rows.log[row] == log:
        return bool(row < cut)
    return bool(rows.clock[row] < time)


@kernel
def _sample(
    rows: _Rows,
    pool: _Pool,
    families: tuple[_Family, _Family, _Family],
    groups: Ints,
    asked: Moments,
    since: Ints,
    keys: NDArray[np.uint64],
    j: int,
    related: int,
) -> JobNumbers:
    chosen = np.full((len(asked.job), j), -1, np.int32)
    drawn = np.zeros(len(pool.started), np.int64)  # the example a job was last drawn for, from 1
    reach = max(64, 4 * j)
    buffer = np.empty(4 * reach, np.int32)
    for i in range(len(asked.job)):
        view = (int(asked.log[i]), int(asked.cut[i]), int(asked.time[i]))
        chosen[i, 0] = asked.job[i]
        drawn[asked.job[i]] = i + 1
        size = 0
        for f in range(3):
            size = _gather(
                rows, families[f], groups[i, f], view, pool.ended_at, since[i], reach, buffer, size
            )
        filled = _draw(buffer, size, chosen[i], 1, 1 + related, drawn, i + 1, keys[i])
        _fill(rows, pool, view, since[i], chosen[i], filled, drawn, i + 1, _mix(keys[i]), buffer)
    return chosen


@kernel
def _gather(
    rows: _Rows,
    family: _Family,
    group: int,
    view: tuple[int, int, int],
    ended_at: Ints,
    since: int,
    reach: int,
    buffer: JobNumbers,
    size: int,
) -> int:
    """Append to `buffer` up to `reach` jobs now in the group, latest first; the new size."""
    if group < 0:
        return size
    log, cut, time = view
    low, high = family.start[group], family.start[group + 1]
    place = low + np.searchsorted(family.clock[low:high], time)
    # Of the records at the very moment only those of the own log, before the cut, are seen.
    while place < high and family.clock[place] == time:
        place += 1
    end, looked = size + reach, 0
    while place > low and looked < 2 * reach and size < end:
        place -= 1
        if not _sees(rows, log, cut, time, family.row[place]):
            continue
        looked += 1
        job = family.job[place]
        left = _sees(rows, log, cut, time, family.until[place])
        if not left and ended_at[job] >= since:
            buffer[size] = job
            size += 1
    return size


@kernel
def _draw(
    buffer: JobNumbers,
    size: int,
    chosen: JobNumbers,
    filled: int,
    wanted: int,
    drawn: Ints,
    mark: int,
    key: np.uint64,
) -> int:
    """Move jobs of `buffer`, in random order, to `chosen` until `wanted` are; how many are."""
    turn = 0
    while size > 0 and filled < wanted:
        place = _below(key, turn, size)
        turn += 1
        job = buffer[place]
        size -= 1
        buffer[place] = buffer[size]
        if drawn[job] != mark:
            drawn[job] = mark
            chosen[filled] = job
            filled += 1
    return filled


@kernel
def _fill(
    rows: _Rows,
    pool: _Pool,
    view: tuple[int, int, int],
    since: int,
    chosen: JobNumbers,
    filled: int,
    drawn: Ints,
    mark: int,
    key: np.uint64,
    buffer: JobNumbers,
) -> None:
    """Fill `chosen` with jobs drawn uniformly from all that coexist and are not yet drawn."""
    listed, begin, later, now, at_once = _spans(pool, rows.log_start, view, since)
    total = later - begin + at_once
    if len(listed) + total <= len(buffer):
        size = 0
        for place in range(len(listed) + total):
            job = _nth(pool.started, listed, begin, later, now, place)
            if pool.ended_at[job] >= since:
                buffer[size] = job
                size += 1
        _draw(buffer, size, chosen, filled, len(chosen), drawn, mark, key)
        return
    # A third of these, at least, coexist: drawing again and again ends soon.
    for turn in range(64 * len(chosen)):
        if filled == len(chosen):
            return
        place = _below(key, turn, len(listed) + total)
        job = _nth(pool.started, listed, begin, later, now, place)
        if drawn[job] != mark and pool.ended_at[job] >= since:
            drawn[job] = mark
            chosen[filled] = job
            filled += 1


class FrameIndex:
    """The state events of a history job by job, and the jobs to sample.

    Attributes:
        history: the indexed log.
        state_events: event numbers, in the order that gives cells their values.
    """

    def __init__(self, history: History, labels: RowLabels, state_events: Sequence[int]) -> None:
        """Index `history`.

        Raises:
            SettingsError: more than 255 state events, or one twice.
        """
        if len(state_events) > 255 or len(set(state_events)) < len(state_events):
            raise SettingsError("state_events: give each event number once, at most 255 of them")
        self.history = history
        self.state_events = tuple(state_events)
        self.samples = SampleIndex(history, labels)
        values = np.zeros(1000, np.uint8)
        values[list(state_events)] = np.arange(1, len(state_events) + 1)
        code = history.code
        value = np.where((code >= 0) & (code < 1000), values[code % 1000], np.uint8(0))
        is_state = value[history.job_rows] > 0
        self._rows = history.job_rows[is_state]
        self._start = np.concatenate(([0], np.cumsum(is_state)))[history.job_start]
        self._clock = history.clock[self._rows]
        self._value = value[self._rows]
        self._release = code[self._rows] == EventCode.RELEASED

    def fill(self, jobs: JobNumbers, asked: Moments, m: int, timeframe: int) -> Frames:
        """The m frames of jobs int32 (n, j), −1 for none, `timeframe` in µs: uint8 (n, m, j)."""
        job_log = self.history.jobs["log"].to_numpy()
        view = (asked.log, asked.cut, asked.time)
        states = (self._rows, self._start, self._clock, self._value, self._release)
        return _fill_all(jobs, job_log, view, states, m, min(timeframe, _LONGEST // m))


def build_frames(
    index: FrameIndex,
    decisions: pl.DataFrame,
    *,
    m: int,
    j: int,
    timeframe: int,
    related_share: float,
    seed: int,
) -> tuple[Frames, JobNumbers]:
    """The m frames of n decisions, each of `timeframe` µs, with the jobs of their j slices.

    The decisions have the columns `job`, `hold_row`, `log`, `cut`, `time`; for the other arguments
    see `SampleIndex.sample`. Returns uint8 (n, m, j), oldest frame first, slice 0 the held job; and
    int32 (n, j), job numbers, −1 for no job.
    """
    asked = Moments.of(decisions)
    since = asked.time - m * min(timeframe, _LONGEST // m)
    jobs = index.samples.sample(asked, since, j=j, related_share=related_share, seed=seed)
    return index.fill(jobs, asked, m, timeframe), jobs


@kernel
def _fill_all(
    jobs: JobNumbers,
    job_log: NDArray[np.int32],
    view: tuple[NDArray[np.int32], Ints, Ints],
    states: _States,
    m: int,
    timeframe: int,
) -> Frames:
    logs, cuts, times = view
    rows, start, clock, _, _ = states
    n, j = jobs.shape
    frames = np.zeros((n, m, j), np.uint8)
    for i in range(n):
        for s in range(j):
            job = jobs[i, s]
            if job < 0:
                continue
            low, high = start[job], start[job + 1]
            if job_log[job] == logs[i]:
                end = low + np.searchsorted(rows[low:high], cuts[i])
            else:
                end = low + np.searchsorted(clock[low:high], times[i])
            _fill_one(frames[i, :, s], states, low, end, times[i], timeframe)
    return frames


@kernel
def _fill_one(
    frames: Frames, states: _States, low: int, end: int, time: int, timeframe: int
) -> None:
    """Walk the states ``low … end - 1`` of one job backward, frame by frame."""
    _, _, clock, value, release = states
    hidden = time - time % SECOND  # releases from here on are not seen
    m = len(frames)
    place = end - 1
    for k in range(m - 1, -1, -1):
        moment = time - (m - 1 - k) * timeframe
        steps = 0
        while place >= low and (
            clock[place] > moment or (release[place] and clock[place] >= hidden)
        ):
            place -= 1
            steps += 1
            # A loop of holds may write thousands of events a frame: leap over them.
            if steps == 16 and place >= low and clock[place] > moment:
                place = low + int(np.searchsorted(clock[low:place], moment, side="right")) - 1
        if place < low:
            return
        frames[k] = value[place]
