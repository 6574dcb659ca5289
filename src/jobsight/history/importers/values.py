"""Values of traces' columns, read with care: one function a kind of value.

Each takes what a table holds, text of a CSV file or a typed value of a Parquet file, gives None
where nothing is told, and raises ValueError with a reason where the value makes no sense.
"""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

from jobsight.clock import micros

__all__ = ["amount", "count", "showings", "text"]

_NOTHING = frozenset({"", "na", "n/a", "nan", "none", "null", "unknown", "nat"})
_LARGEST = 2**53
_LATEST = 2**33 * 1_000_000


def _told(value: Any) -> Any:
    if isinstance(value, str):
        value = value.strip()
        return None if value.lower() in _NOTHING else value
    return None if isinstance(value, float) and math.isnan(value) else value


def amount(value: Any) -> float | None:
    """A finite number that is not negative."""
    value = _told(value)
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{str(value)[:40]!r} is no number") from None
    if not 0 <= number < _LARGEST:
        raise ValueError(f"{str(value)[:40]!r} is out of range")
    return number


def count(value: Any) -> int | None:
    """A whole number that is not negative, also where it is written as 3.0."""
    number = amount(value)
    if number is None:
        return None
    if not number.is_integer():
        raise ValueError(f"{str(value)[:40]!r} is no whole number")
    return int(number)


def text(value: Any) -> str | None:
    """Text, of at most 16 384 characters."""
    value = _told(value)
    return None if value is None else str(value)[:16_384]


def showings(value: Any, zone: dt.tzinfo) -> tuple[int | None, ...]:
    """µs since 1970 of a date and time; one without an offset is read in `zone`.

    Both, first the earlier, where a clock that was turned back showed it twice.
    """
    value = _told(value)
    if value is None:
        return (None,)
    try:
        found = value if isinstance(value, dt.datetime) else dt.datetime.fromisoformat(value)
        local = found.tzinfo is None
        times = [found.replace(tzinfo=zone, fold=fold) for fold in (0, 1)] if local else [found]
        shown = tuple(dict.fromkeys(map(micros, times)))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{str(value)[:40]!r} is no time such as 2021-05-01 12:00:00") from None
    if not 0 < min(shown) <= max(shown) < _LATEST:
        raise ValueError(f"{str(value)[:40]!r} is no time of a job")
    return shown
