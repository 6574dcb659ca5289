"""From the times that logs write to UTC: the years they leave out, and the zone they are in.

A scanner gives each record a `stamp`, the written wall clock in µs as if it were UTC (in 1972, a
leap year, where no year is written), and a `form`: `LOCAL`, `ABSOLUTE`, `LOCAL_NO_YEAR` or
`UTC_NO_YEAR`. Years follow from the order of the records and one moment that is known: the header
of a global log, a record with a year, or the file's last change; never from the present day. Zones
are those of IANA, with the hour that autumn has twice.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LOCAL_NO_YEAR", "Overlaps", "TimeResolver", "YearCounter", "offset_at"]

LOCAL, ABSOLUTE, LOCAL_NO_YEAR, UTC_NO_YEAR = 0, 1, 2, 3

YEAR_DAYS = 60
"""A record this many days before its predecessor in the calendar is of the next year. Records out
of order by less (joined logs; clocks) are far more common than a log that rests for ten months."""

LATE_DAYS = 7
"""A record that seems to leap ahead by a year less this many days is a late one of the old year."""

Int64 = NDArray[np.int64]
Forms = NDArray[np.uint8]

SECOND = 1_000_000
"""µs."""

STEP_BACK = 60 * SECOND
"""In the hour that occurs twice, a clock that goes back by more has entered its second pass."""

_DAY_S = 86_400
_DAY = _DAY_S * SECOND
_ZONE_YEARS = 1900, 2200
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_LEAP_YEAR = 366 * _DAY
_BASE_YEAR = 1972
_FIRST = int(np.datetime64("0001-01-02", "us").astype(np.int64))
_LAST = int(np.datetime64("9999-12-30", "us").astype(np.int64))


def _month_starts(months: Int64) -> Int64:
    """µs since 1970 at which months since 1970-01 begin."""
    starts: Int64 = months.astype("datetime64[M]").astype("datetime64[us]").astype(np.int64)
    return starts


def _split(stamp: Int64) -> tuple[Int64, Int64, Int64]:
    """Year, month (0 … 11) and µs within the month of each stamp."""
    months = stamp.astype("datetime64[us]").astype("datetime64[M]").astype(np.int64)
    return 1970 + months // 12, months % 12, stamp - _month_starts(months)


def _join(year: Int64, month: Int64, rest: Int64) -> Int64:
    """The reverse; 29 February of a year without one is 1 March."""
    joined: Int64 = np.clip(_month_starts((year - 1970) * 12 + month) + rest, _FIRST, _LAST)
    return joined


def _in_base_year(month: Int64, rest: Int64) -> Int64:
    return _join(np.full_like(month, _BASE_YEAR), month, rest)


def _steps(season: Int64, before: int | None) -> Int64:
    """Change of year at each record: +1, 0 or −1, by `season` (µs in 1972) and its predecessor."""
    previous = np.empty_like(season)
    previous[1:] = season[:-1]
    previous[:1] = season[:1] if before is None else before
    ahead = season - previous
    later = (ahead < -YEAR_DAYS * _DAY).astype(np.int64)
    return later - (ahead > _LEAP_YEAR - LATE_DAYS * _DAY)


def _season(moment: int) -> tuple[int, int]:
    """Year and µs in 1972 of one wall-clock moment."""
    year, month, rest = _split(np.array([moment], np.int64))
    return int(year[0]), int(_in_base_year(month, rest)[0])


def _clip(stamp: Int64) -> Int64:
    return np.clip(stamp, _FIRST, _LAST)


def _moment(seconds: float) -> int:
    """µs since 1970, in years that a calendar has."""
    return int(min(max(seconds * SECOND, _FIRST), _LAST))


class YearCounter:
    """Finds the year of a log's first record, given all its records once, before they are resolved.

    Needed only for a log whose first record has no year and that begins with no header. Not
    thread-safe.

    Attributes:
        known: whether a record with a year was found: feeding more changes nothing.
    """

    def __init__(self) -> None:
        self.known = False
        self._year = 0
        self._season: int | None = None  # of the last record
        self._count = 0  # years since the first record
        self._latest = (0, 0)

    def feed(self, stamp: Int64, form: Forms) -> None:
        """Take the next records of the log, in order: int64 (n,) µs and uint8 (n,)."""
        if self.known or not len(stamp):
            return
        year, month, rest = _split(_clip(stamp))
        season = _in_base_year(month, rest)
        count = self._count + np.cumsum(_steps(season, self._season))
        dated = np.flatnonzero(form < LOCAL_NO_YEAR)
        if len(dated):
            self.known, self._year = True, int(year[dated[0]] - count[dated[0]])
            return
        self._season, self._count = int(season[-1]), int(count[-1])
        last = int(count.max())
        self._latest = max(self._latest, (last, int(season[count == last].max())))

    def first_year(self, modified: float, zone: dt.tzinfo) -> int:
        """Year of the first record of the log, whose wall clock is that of `zone`.

        By the first record that has one, if any. Else the latest year for which the log's last
        record is no later than a day after its last change (`modified`, seconds since 1970).
        """
        if self.known:
            return self._year
        bound = _moment(modified + _DAY / SECOND)
        year, season = _season(bound + offset_at(zone, bound))
        count, latest = self._latest
        return year - count - (latest > season)


def _changes(zone: dt.tzinfo, low: int, high: int) -> tuple[Int64, Int64]:
    """The changes of a zone's offset from UTC between two moments (µs), and a year around.

    Beyond 1900 … 2200 the offset stays as it is there. Returns int64 (k,), µs UTC at which the
    offset changes, rising; int64 (k + 1,), µs east of UTC before, between and after the changes.
    """
    years = (1970 + int(moment // (_DAY) // 365.2425) for moment in (low, high))
    first, last = (min(max(year, _ZONE_YEARS[0]), _ZONE_YEARS[1]) for year in years)
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
    for day in range(start, end, _DAY_S):
        if (after := _offset(zone, day + _DAY_S)) != offset:
            low, high = day, day + _DAY_S
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
            if start <= wall < end + _DAY
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
        if not len(changes):
            moved: Int64 = wall - offsets[0]
            return moved
        larger = np.maximum(offsets[:-1], offsets[1:])
        result: Int64 = wall - offsets[np.searchsorted(changes + larger, wall, "right")]
        for change, start, end, offset in self._set_back(changes, offsets):
            # Readings of the day behind count too: they are after both passes.
            rows = np.flatnonzero((wall >= start) & (wall < end + _DAY))
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


class TimeResolver:
    """Times of one log in UTC, its records given in order, in chunks of any size.

    The result does not depend on where the chunks are cut. Not thread-safe.

    Args:
        zone: of times without one.
        first_year: year of the log's first record, if neither that nor a header has one
            (`YearCounter.first_year`).
    """

    def __init__(self, zone: dt.tzinfo, *, first_year: int = _BASE_YEAR) -> None:
        self._zone = zone
        self._overlaps = Overlaps(zone)
        self._year = first_year
        self._season: int | None = None
        self._begun: int | None = None

    def begin_segment(self, ctime: int) -> None:
        """The next record is the header of a part begun at `ctime` (seconds since 1970).

        Its own date is later where the part was rotated: that of the rotation. It is given its year
        and no more; the records behind it follow `ctime`.
        """
        begun = self._begun = _moment(ctime)
        self._overlaps.begin(begun)
        self._year, self._season = _season(begun + offset_at(self._zone, begun))

    def state(self) -> dict[str, Any]:
        """What a resolver must know to go on behind these records: small, plain JSON."""
        seen = [[change, *reading] for change, reading in self._overlaps.seen.items()]
        return {"year": self._year, "season": self._season, "begun": self._begun, "seen": seen}

    def recall(self, state: Mapping[str, Any]) -> None:
        """Go on from another resolver's `state`."""
        self._year, self._season, self._begun = (
            state[name] for name in ("year", "season", "begun")
        )
        self._overlaps.seen = {change: (latest, second) for change, latest, second in state["seen"]}

    def resolve(self, stamp: Int64, form: Forms) -> Int64:
        """UTC times, int64 (n,) in µs since 1970, of the next n records.

        Args:
            stamp: int64 (n,), µs, the written wall clock as if it were UTC.
            form: uint8 (n,), one of the four forms.
        """
        stamp = _clip(stamp)
        if self._begun is not None and len(stamp):
            kept = self._year, self._season
            wall = self._dated(stamp[:1], form[:1])
            self._year, self._season = kept
            overlaps = Overlaps(self._zone)
            overlaps.begin(self._begun)
            header = self._to_utc(wall, form[:1], overlaps)
            self._begun = None
            return np.concatenate([header, self.resolve(stamp[1:], form[1:])])
        if not len(stamp):
            return stamp
        wall = self._dated(stamp, form)
        return self._to_utc(wall, form, self._overlaps)

    def _to_utc(self, wall: Int64, form: Forms, overlaps: Overlaps) -> Int64:
        local = (form == LOCAL) | (form == LOCAL_NO_YEAR)
        if local.all():
            return overlaps.to_utc(wall)
        result = wall.copy()
        result[local] = overlaps.to_utc(wall[local])
        return result

    def _dated(self, stamp: Int64, form: Forms) -> Int64:
        """The stamps, each with its year; remembers the last one."""
        yearless = form >= LOCAL_NO_YEAR
        if not yearless.any():
            self._year, self._season = _season(int(stamp[-1]))
            return stamp
        year, month, rest = _split(stamp)
        season = _in_base_year(month, rest)
        count = np.cumsum(_steps(season, self._season))
        # Each record without a year counts on from the last one before it that has one.
        rows = np.arange(len(stamp))
        anchor = np.maximum.accumulate(np.where(yearless, -1, rows))
        known = anchor >= 0
        counted = count + self._year
        counted[known] = (count + year[anchor] - count[anchor])[known]
        self._year, self._season = int(counted[-1]), int(season[-1])
        return np.where(yearless, _join(counted, month, rest), stamp)
