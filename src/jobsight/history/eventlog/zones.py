"""Wall clocks of a zone to UTC, many at once, also in the hour that autumn has twice."""

from __future__ import annotations

import datetime as dt
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["SECOND", "STEP_BACK", "Overlaps", "Zone"]

Int64 = NDArray[np.int64]

SECOND = 1_000_000
"""µs."""

STEP_BACK = 60 * SECOND
"""In the hour that occurs twice, a clock that goes back by more has entered its second pass."""

_DAY = 86_400
_YEARS = 1900, 2200
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class Zone:
    """The changes of a zone's offset from UTC, found as far as they are needed. Not thread-safe.

    Beyond 1900 … 2200 the offset stays as it is there.

    Attributes:
        changes: int64 (k,), µs UTC at which the offset changes, rising.
        offsets: int64 (k + 1,), µs east of UTC before, between and after the changes.
    """

    def __init__(self, zone: dt.tzinfo) -> None:
        self._zone = zone
        self._years: tuple[int, int] | None = None
        self.changes: Int64 = np.empty(0, np.int64)
        self.offsets: Int64 = np.array([_offset(zone, 0) * SECOND], np.int64)

    def offset_at(self, moment: int) -> int:
        """µs east of UTC at one moment, µs UTC."""
        self.cover(moment, moment)
        return int(self.offsets[np.searchsorted(self.changes, moment, "right")])

    def cover(self, first: int, last: int) -> None:
        """Find all changes between two moments (µs), and a year around."""
        low, high = (min(max(_year(t), _YEARS[0]), _YEARS[1]) for t in (first, last))
        wanted = max(low - 1, _YEARS[0]), min(high + 1, _YEARS[1])
        if self._years is not None:
            if self._years[0] <= low and high <= self._years[1]:
                return
            wanted = min(wanted[0], self._years[0]), max(wanted[1], self._years[1])
        self._years = wanted
        found = _changes(self._zone, _start_of(wanted[0]), _start_of(wanted[1] + 1))
        self.changes, self.offsets = (np.array(part, np.int64) * SECOND for part in found)


@lru_cache(64)
def _changes(zone: dt.tzinfo, start: int, end: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Changes between two moments and the offsets around them, seconds; kept for the next log."""
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
    return tuple(changes), tuple(offsets)


def _offset(zone: dt.tzinfo, second: int) -> int:
    """Seconds east of UTC."""
    offset = (_EPOCH + dt.timedelta(seconds=second)).astimezone(zone).utcoffset()
    return 0 if offset is None else round(offset.total_seconds())


def _year(moment: int) -> int:
    return 1970 + int(moment // (SECOND * _DAY) // 365.2425)


def _start_of(year: int) -> int:
    return int((dt.datetime(year, 1, 1, tzinfo=dt.UTC) - _EPOCH).total_seconds())


class Overlaps:
    """Wall clocks of one log to UTC, given in the log's order.

    Where the clock is set back, its readings occur twice. A log's order tells them apart: the first
    pass lasts until the clock steps back by more than `STEP_BACK` within those readings, or has
    been past them. Readings that a clock set forward leaves out are moved forward, as ``fold=0``
    does (PEP 495).
    """

    def __init__(self, zone: Zone) -> None:
        self._zone = zone
        self._seen: dict[int, tuple[int, bool]] = {}  # change: latest reading, in second pass?

    @property
    def seen(self) -> dict[int, tuple[int, bool]]:
        """By change (µs UTC): the latest reading near it, and whether its second pass has begun."""
        return self._seen

    def recall(self, seen: dict[int, tuple[int, bool]]) -> None:
        """Go on from what was `seen` before."""
        self._seen = dict(seen)

    def begin(self, moment: int) -> None:
        """The records that follow were written from `moment` (µs UTC) on."""
        wall = moment + self._zone.offset_at(moment)
        zone = self._zone
        self._seen = {}
        for k in np.flatnonzero(zone.offsets[1:] < zone.offsets[:-1]):
            start, end = (int(zone.changes[k] + zone.offsets[k + side]) for side in (1, 0))
            if start <= wall < end + _DAY * SECOND:
                self._seen[int(zone.changes[k])] = wall, moment >= zone.changes[k]

    def to_utc(self, wall: Int64) -> Int64:
        """UTC of the next n records' wall clocks: int64 (n,), both in µs."""
        if not len(wall):
            return wall
        zone = self._zone
        zone.cover(int(wall.min()), int(wall.max()))
        if not len(zone.changes):
            moved: Int64 = np.subtract(wall, zone.offsets[0])
            return moved
        larger = np.maximum(zone.offsets[:-1], zone.offsets[1:])
        result: Int64 = wall - zone.offsets[np.searchsorted(zone.changes + larger, wall, "right")]
        for k in np.flatnonzero(zone.offsets[1:] < zone.offsets[:-1]):
            self._second_pass(int(k), wall, result)
        return result

    def _second_pass(self, k: int, wall: Int64, result: Int64) -> None:
        zone = self._zone
        change = int(zone.changes[k])
        start, end = change + int(zone.offsets[k + 1]), change + int(zone.offsets[k])
        # Readings of the day behind count too: whoever shows them has been through both passes.
        rows = np.flatnonzero((wall >= start) & (wall < end + _DAY * SECOND))
        if not len(rows):
            return
        latest, second = self._seen.get(change, (start, False))
        here = wall[rows]
        highest = np.maximum.accumulate(np.concatenate([[latest], here]))
        back = (here < highest[:-1] - STEP_BACK) | (highest[:-1] >= end)
        passed = np.logical_or.accumulate(back | second)
        self._seen[change] = int(highest[-1]), bool(passed[-1])
        again = rows[passed & (here < end)]
        result[again] = wall[again] - zone.offsets[k + 1]
