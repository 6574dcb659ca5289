"""Values of traces' columns, read with care: one function a kind of value.

Each takes what a table holds, text of a CSV file or a typed value of a Parquet file, gives None
where nothing is told, and raises ValueError with a reason where the value makes no sense.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from typing import Any

from jobsight.clock import likeliest, micros

__all__ = ["amount", "count", "moments", "text"]

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


def moments(
    row: Mapping[str, Any], names: Sequence[str], zone: dt.tzinfo, span_s: float | None
) -> tuple[int | None, ...]:
    """µs since 1970 of dates and times of a life, in its order; those without offset are in `zone`.

    Args:
        row: the values by column.
        names: of the columns.
        zone: see `jobsight.clock.likeliest`, of the hour that its clock shows twice.
        span_s: seconds between the last two; None: not told.
    """
    return likeliest(
        [_moment(row.get(name), zone) for name in names],
        lambda: [_moment(row.get(name), zone, again=True) for name in names],
        span_s,
    )


def _moment(value: Any, zone: dt.tzinfo, *, again: bool = False) -> int | None:
    value = _told(value)
    if value is None:
        return None
    try:
        found = value if isinstance(value, dt.datetime) else dt.datetime.fromisoformat(value)
        time = micros(found if found.tzinfo else found.replace(tzinfo=zone, fold=again))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{str(value)[:40]!r} is no time such as 2021-05-01 12:00:00") from None
    if not 0 < time < _LATEST:
        raise ValueError(f"{str(value)[:40]!r} is no time of a job")
    return time
