"""Wall clocks of a zone to UTC, many at once, also in the hour that autumn has twice."""

from __future__ import annotations

import datetime as dt
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["SECOND", "STEP_BACK", "Overlaps", "offset_at"]

Int64 = NDArray[np.int64]

SECOND = 1_000_000
"""µs."""

STEP_BACK = 60 * SECOND
"""In the hour that occurs twice, a clock that goes back by more has entered its second pass."""

_DAY = 86_400
_YEARS = 1900, 2200
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def _changes(zone: dt.tzinfo, low: int, high: int) -> tuple[Int64, Int64]:
    """The changes of a zone's offset from UTC between two moments, and a year around.

    Beyond 1900 … 2200 the offset stays as it is there.

    Args:
        zone: which.
        low: µs since 1970.
        high: likewise.

    Returns:
        changes: int64 (k,), µs UTC at which the offset changes, rising.
        offsets: int64 (k + 1,), µs east of UTC before, between and after the changes.
    """
    years = (1970 + int(moment // (SECOND * _DAY) // 365.2425) for moment in (low, high))
    first, last = (min(max(year, _YEARS[0]), _YEARS[1]) for year in years)
    return _changes_of_years(zone, first - 1, last + 1)


@lru_cache(64)
def _changes_of_years(zone: dt.tzinfo, first: int, last: int) -> tuple[Int64, Int64]:
    start, end = (
        int((dt.datetime(year, 1, 1, tzinfo=dt.UTC) - _EPOCH).total_seconds())
        for year in (first, last + 1)
    )
    # No zone changed its offset twice within a day.
    offset = _offset(zone, start)
    changes, offsets = [], [offset]
    for day in range(start, end, _DAY):
        if (after := _offset(zone, day + _DAY)) != offset:
            low, high = day, day + _DAY
            while high - low > 1:
                middle = (low + high) // 2
                same = _offset(zone, middle) == offset
                low, high = (middle, high) if same else (low, middle)
            changes.append(high)
            offsets.append(after)
            offset = after
    return np.array(changes, np.int64) * SECOND, np.array(offsets, np.int64) * SECOND


def _offset(zone: dt.tzinfo, second: int) -> int:
    """Seconds east of UTC."""
    offset = (_EPOCH + dt.timedelta(seconds=second)).astimezone(zone).utcoffset()
    return 0 if offset is None else round(offset.total_seconds())


def offset_at(zone: dt.tzinfo, moment: int) -> int:
    """µs east of UTC at one moment, µs UTC."""
    changes, offsets = _changes(zone, moment, moment)
    return int(offsets[np.searchsorted(changes, moment, "right")])


class Overlaps:
    """Wall clocks of one log to UTC, given in the log's order.

    Where the clock is set back, its readings occur twice. A log's order distinguishes them: the
    first pass lasts until the clock steps back by more than `STEP_BACK` within those readings, or
    has been past them. Readings that a clock set forward leaves out are moved forward, as
    ``fold=0`` does (PEP 495).

    Attributes:
        seen: by change (µs UTC): the latest reading near it, and whether its second pass has begun.
            A copy of it goes on where this object stopped.
    """

    def __init__(self, zone: dt.tzinfo) -> None:
        self._zone = zone
        self.seen: dict[int, tuple[int, bool]] = {}

    def begin(self, moment: int) -> None:
        """The records that follow were written from `moment` (µs UTC) on."""
        wall = moment + offset_at(self._zone, moment)
        self.seen = {
            change: (wall, moment >= change)
            for change, start, end, _ in self._set_back(*_changes(self._zone, moment, moment))
            if start <= wall < end + _DAY * SECOND
        }

    @staticmethod
    def _set_back(changes: Int64, offsets: Int64) -> list[tuple[int, int, int, int]]:
        """Each change that sets clocks back, the readings that it repeats, the offset after it."""
        found = np.flatnonzero(offsets[1:] < offsets[:-1])
        ends, starts = changes + offsets[:-1], changes + offsets[1:]
        columns = (changes[found], starts[found], ends[found], offsets[1:][found])
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def to_utc(self, wall: Int64) -> Int64:
        """UTC of the next n records' wall clocks: int64 (n,), both in µs."""
        if not len(wall):
            return wall
        changes, offsets = _changes(self._zone, int(wall.min()), int(wall.max()))
        larger = np.maximum(offsets[:-1], offsets[1:])
        result: Int64 = wall - offsets[np.searchsorted(changes + larger, wall, "right")]
        for change, start, end, offset in self._set_back(changes, offsets):
            # Readings of the day behind count too: they are after both passes.
            rows = np.flatnonzero((wall >= start) & (wall < end + _DAY * SECOND))
            if not len(rows):
                continue
            latest, second = self.seen.get(change, (start, False))
            here = wall[rows]
            highest = np.maximum.accumulate(np.concatenate([[latest], here]))
            back = (here < highest[:-1] - STEP_BACK) | (highest[:-1] >= end)
            passed = np.logical_or.accumulate(back | second)
            self.seen[change] = int(highest[-1]), bool(passed[-1])
            again = rows[passed & (here < end)]
            result[again] = wall[again] - offset
        return result
