"""Which other jobs are in the frames of a held job.

A job coexists with a decision if its first record is before the cut and it had not ended before the
decision's window began. Some of the sampled jobs are related (same cause of hold, site or owner,
the latest considered first), the others are drawn uniformly from all that coexist. Only the part of
each index before the cut is read, so later records change no sample.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.history.coexisting import JobNumbers, Pool, make_pool, nth, spans
from jobsight.history.labels import RowLabels
from jobsight.history.timelines import History, Ints
from jobsight.jit import kernel

__all__ = ["Moments", "SampleIndex"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


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
        self._pool = make_pool(history)
        site = labels.site.rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
        owner = history.jobs["owner"].rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
        self._owner_row = history.jobs["owner_row"].fill_null(len(history)).to_numpy()
        held = np.flatnonzero((labels.cause >= 0) & (history.job >= 0))
        self._families = (
            _make_family(history, held, labels.cause.astype(np.int64)),
            _make_family(history, _changes(history, site), site),
            _owner_family(history, owner),
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
        keys, related = self._keys(asked, seed), round(related_share * (j - 1))
        return _sample(
            self._rows, self._pool, self._families, groups, asked, since, keys, j, related
        )

    def _keys(self, asked: Moments, seed: int) -> NDArray[np.uint64]:
        """A hash of seed, job and decision that no later record can change: uint64 (n,)."""
        ids = self.history.jobs.select("cluster", "proc")[asked.job]
        place = asked.cut - self.history.log_start[asked.log]
        keys = np.full(len(place), seed, np.uint64)
        for part in (ids["cluster"].to_numpy(), ids["proc"].to_numpy(), place, asked.time):
            keys = _mixed(keys, part.astype(np.int64))
        return keys


def _changes(history: History, label: Ints) -> Ints:
    """Rows where a job's label differs from that of its row before: int64 (changes,)."""
    ordered = label[history.job_rows]
    fresh = np.ones(len(ordered), np.bool_)
    fresh[1:] = ordered[1:] != ordered[:-1]
    fresh[history.job_start[:-1]] = True
    return np.sort(history.job_rows[fresh])


def _make_family(history: History, rows: Ints, group_of_row: Ints) -> _Family:
    """Spells that begin at `rows` (ascending) and end at the next of these rows of the job."""
    job = history.job[rows]
    by_job = np.lexsort((rows, job))
    until = np.full(len(rows), len(history), np.int64)
    same = job[by_job][1:] == job[by_job][:-1]
    until[by_job[:-1][same]] = rows[by_job[1:][same]]
    return _family(rows, history.clock[rows], job, until, group_of_row[rows], group_of_row)


def _owner_family(history: History, owner: Ints) -> _Family:
    jobs = np.flatnonzero(owner >= 0)
    rows = history.jobs["owner_row"].fill_null(0).to_numpy()[jobs]
    until = np.full(len(rows), len(history), np.int64)
    return _family(rows, history.clock[rows], jobs.astype(np.int32), until, owner[jobs], owner)


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
    pool: Pool,
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
    pool: Pool,
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
    listed, begin, later, now, at_once = spans(pool, rows.log_start, view, since)
    total = later - begin + at_once
    if len(listed) + total <= len(buffer):
        size = 0
        for place in range(len(listed) + total):
            job = nth(pool.started, listed, begin, later, now, place)
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
        job = nth(pool.started, listed, begin, later, now, place)
        if drawn[job] != mark and pool.ended_at[job] >= since:
            drawn[job] = mark
            chosen[filled] = job
            filled += 1
