"""From the times that logs write to UTC: the years they leave out, and the zone they are in.

A scanner gives each record a `stamp`, the written wall clock in µs as if it were UTC (in 1972, a
leap year, where no year is written), and a `form`: `LOCAL`, `ABSOLUTE`, `LOCAL_NO_YEAR` or
`UTC_NO_YEAR`. Years follow from the order of the records and one moment that is known: the header
of a global log, a record with a year, or the file's last change; never from the present day.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jobsight.history.eventlog.zones import SECOND, Overlaps, offset_at

__all__ = [
    "ABSOLUTE",
    "LATE_DAYS",
    "LOCAL",
    "LOCAL_NO_YEAR",
    "UTC_NO_YEAR",
    "YEAR_DAYS",
    "TimeResolver",
    "YearCounter",
]

LOCAL, ABSOLUTE, LOCAL_NO_YEAR, UTC_NO_YEAR = 0, 1, 2, 3

YEAR_DAYS = 60
"""A record this many days before its predecessor in the calendar is of the next year. Records out
of order by less (joined logs; clocks) are far more common than a log that rests for ten months."""

LATE_DAYS = 7
"""A record that seems to leap ahead by a year less this many days is a late one of the old year."""

Int64 = NDArray[np.int64]
Forms = NDArray[np.uint8]

_DAY = 86_400 * SECOND
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
        settled: whether a record with a year was found: feeding more changes nothing.
    """

    def __init__(self) -> None:
        self.settled = False
        self._year = 0
        self._season: int | None = None  # of the last record
        self._count = 0  # years since the first record
        self._latest = (0, 0)

    def feed(self, stamp: Int64, form: Forms) -> None:
        """Take the next records of the log, in order: int64 (n,) µs and uint8 (n,)."""
        if self.settled or not len(stamp):
            return
        year, month, rest = _split(_clip(stamp))
        season = _in_base_year(month, rest)
        count = self._count + np.cumsum(_steps(season, self._season))
        dated = np.flatnonzero(form < LOCAL_NO_YEAR)
        if len(dated):
            self.settled, self._year = True, int(year[dated[0]] - count[dated[0]])
            return
        self._season, self._count = int(season[-1]), int(count[-1])
        last = int(count.max())
        self._latest = max(self._latest, (last, int(season[count == last].max())))

    def first_year(self, modified: float, zone: dt.tzinfo) -> int:
        """Year of the first record of the log.

        By the first record that has one, if any. Else the latest year for which the log's last
        record is no later than a day after `modified`.

        Args:
            modified: seconds since 1970 of the log's last change.
            zone: the zone of its wall clock.
        """
        if self.settled:
            return self._year
        bound = _moment(modified + _DAY / SECOND)
        year, season = _season(bound + offset_at(zone, bound))
        count, latest = self._latest
        return year - count - (latest > season)


class TimeResolver:
    """Times of one log in UTC, its records given in order, in chunks of any size.

    The result does not depend on where the chunks are cut. Not thread-safe.

    Args:
        zone: of times that tell none.
        first_year: year of the log's first record, if that has none and no header tells it
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
            header = self._header(stamp[:1], form[:1], self._begun)
            self._begun = None
            return np.concatenate([header, self.resolve(stamp[1:], form[1:])])
        if not len(stamp):
            return stamp
        wall = self._dated(stamp, form)
        return self._to_utc(wall, form, self._overlaps)

    def _header(self, stamp: Int64, form: Forms, begun: int) -> Int64:
        kept = self._year, self._season
        wall = self._dated(stamp, form)
        self._year, self._season = kept
        overlaps = Overlaps(self._zone)
        overlaps.begin(begun)
        return self._to_utc(wall, form, overlaps)

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
