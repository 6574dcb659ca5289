"""Time zones, moments and spans as users write them. All stored times are UTC."""

import contextlib
import datetime as dt
import itertools
import math
import os
import re
import time
import zoneinfo
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from jobsight.errors import UsageError

__all__ = [
    "QUARTER",
    "format_micros",
    "format_moment",
    "format_span",
    "likeliest",
    "local_micros",
    "local_zone",
    "micros",
    "now_micros",
    "parse_moment",
    "parse_since",
    "zone_named",
]

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_FIRST = dt.datetime.min.replace(tzinfo=dt.UTC)
_LAST = dt.datetime.max.replace(tzinfo=dt.UTC)
_ZERO, _MICROSECOND = dt.timedelta(), dt.timedelta(microseconds=1)

QUARTER = 900_000_000
"""µs in which no zone changes its offset from UTC."""

_LOCAL = Path("/etc/localtime")
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 604800}
_AGO = re.compile(
    r"\s*([0-9]{1,9})\s*(s|sec|seconds?|min|minutes?|h|hours?|d|days?|w|weeks?)(\s+ago)?\s*",
    re.IGNORECASE | re.ASCII,
)
_DAYS = {"today": 0, "yesterday": 1}


def local_zone() -> dt.tzinfo:
    """The machine's time zone, with its rules for summer time.

    As the C library finds it (tzset(3)): the environment's TZ, where that names a zone or a file
    of one, then ``/etc/localtime``; UTC where neither names one.
    """
    name = os.environ.get("TZ", "").removeprefix(":")
    zone = _zone_of(name) if name else None
    return zone or _zone_of(str(_LOCAL)) or dt.UTC


def _zone_of(name: str) -> dt.tzinfo | None:
    """The zone of a name, or of a file by its whole path; None where it is neither."""
    try:
        if not name.startswith("/"):
            return zoneinfo.ZoneInfo(name)
        path = Path(name).resolve(strict=True)
        _, _, known = path.as_posix().partition("zoneinfo/")
        with contextlib.suppress(ValueError, zoneinfo.ZoneInfoNotFoundError):
            return zoneinfo.ZoneInfo(known)
        with path.open("rb") as file:
            return zoneinfo.ZoneInfo.from_file(file)
    except (OSError, ValueError, zoneinfo.ZoneInfoNotFoundError):
        return None


def zone_named(name: str | None) -> dt.tzinfo:
    """The zone of an IANA name such as ``Europe/Paris``; None means the machine's.

    Raises:
        UsageError: no zone has that name.
    """
    if name is None:
        return local_zone()
    try:
        return zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        raise UsageError(
            f"no time zone is named {name[:60]!r}; use an IANA name such as UTC or America/Chicago"
        ) from None


def parse_moment(text: str, zone: dt.tzinfo) -> dt.datetime:
    """Read ``2026-11-21 01:35:00`` (T, fractions, Z and offsets allowed) or ``@1795224900``.

    A time without an offset is read in `zone`; the result is in UTC.

    Raises:
        UsageError: the text is not such a time.
    """
    text = text.strip()
    try:
        if re.fullmatch(r"@\d+(\.\d+)?", text):
            return dt.datetime.fromtimestamp(float(text[1:]), dt.UTC)
        moment = dt.datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(dt.UTC)
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            f"{text[:40]!r} is not a time; write it as '2026-11-21 01:35:00', with an offset or Z "
            "where it is not local, or as @seconds since 1970"
        ) from None


def format_moment(moment: dt.datetime) -> str:
    """ISO 8601 in UTC with a trailing Z; microseconds only where there are any."""
    text = moment.astimezone(dt.UTC).isoformat(sep=" ")
    return text.replace("+00:00", "Z")


def micros(moment: dt.datetime) -> int:
    """A moment as µs since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def now_micros() -> int:
    """The present moment, µs since 1970."""
    return time.time_ns() // 1000


def local_micros(shown: int, zone: dt.tzinfo) -> tuple[int, int]:
    """A moment as µs since 1970, of what a clock in `zone` showed, as if that were UTC.

    Twice: the hour that a clock turned back shows two times is read as its first showing, then as
    its second. Offsets are looked up once per `QUARTER` of an hour.

    Raises:
        OverflowError: no calendar has that moment.
    """
    first, again = _offsets(shown // QUARTER, zone)
    return shown - first, shown - again


@lru_cache(1 << 16)
def _offsets(quarter: int, zone: dt.tzinfo) -> tuple[int, int]:
    moment = (_EPOCH + dt.timedelta(microseconds=quarter * QUARTER)).replace(tzinfo=zone)
    first, again = moment.utcoffset(), moment.replace(fold=1).utcoffset()
    return (first or _ZERO) // _MICROSECOND, (again or _ZERO) // _MICROSECOND


def likeliest(
    first: Sequence[int | None],
    second: Callable[[], Iterable[int | None]],
    span_s: float | None = None,
) -> tuple[int | None, ...]:
    """Which moments are meant by what a clock showed that was turned back in between.

    Args:
        first: the moments of a life in its order, µs since 1970, each as the clock showed it first;
            None: it is not known.
        second: gives them as the clock showed them the second time, if it did.
        span_s: seconds between the last two, if known.

    Returns:
        The first choice that keeps the order, and the span if that can be; else the first of all.
    """

    def fits(times: Sequence[int | None]) -> tuple[bool, bool]:
        known = [time for time in times if time is not None]
        start, end = times[-2:]
        if span_s is None or start is None or end is None:
            return known == sorted(known), True
        return known == sorted(known), end - start == span_s * 1e6

    if fits(first) == (True, True):
        return tuple(first)
    return max(itertools.product(*zip(first, second(), strict=True)), key=fits)


def format_micros(moment: int) -> str:
    """µs since 1970 as `format_moment` writes them; before year 1 and after 9999, the nearest."""
    nearest = min(max(moment, micros(_FIRST)), micros(_LAST))
    return format_moment(_EPOCH + dt.timedelta(microseconds=nearest))


def format_span(seconds: float) -> str:
    """A span in words as short as they can be: ``45 s``, ``12 min``, ``3.5 h``, ``2 d``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    longest = {"min": 90 * 60, "h": 36 * 3600, "d": math.inf}
    unit = next(unit for unit in longest if seconds < longest[unit])
    return f"{seconds / _SECONDS[unit]:.1f}".removesuffix(".0") + f" {unit}"


def parse_since(text: str | None, zone: dt.tzinfo) -> int | None:
    """A moment in µs: a time (see `parse_moment`), how long ago, or the begin of a day in `zone`.

    How long ago is ``90s``, ``2h`` or ``3 days ago``; days are ``today`` and ``yesterday``.

    Raises:
        UsageError: the text is none of these.
    """
    if text is None:
        return None
    if found := _AGO.fullmatch(text):
        unit = next(unit for unit in _SECONDS if found[2].lower().startswith(unit))
        return int((time.time() - int(found[1]) * _SECONDS[unit]) * 1e6)
    if (days := _DAYS.get(text.strip().lower())) is not None:
        midnight = dt.datetime.now(zone).replace(hour=0, minute=0, second=0, microsecond=0)
        return micros(midnight - dt.timedelta(days=days))
    try:
        return micros(parse_moment(text, zone))
    except UsageError as error:
        raise UsageError(f"{error}; or as 90s, 30min, 2h, '3 days ago', today, yesterday") from None
