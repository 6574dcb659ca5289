"""Values of tables' columns, read with care: a function for each kind of value.

Each takes what a table holds, text of a CSV file or a typed value of a Parquet file, gives None
where nothing is recorded, and raises ValueError with a reason where the value makes no sense.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from typing import Any, Literal

from jobsight.clock import local_micros, micros
from jobsight.documents.states import State, slurm_state
from jobsight.history.importers.mapping import FIELDS, MOMENTS, Column, units_of
from jobsight.history.slurm.documents import exit_of, limit_of
from jobsight.history.slurm.ids import parse_id
from jobsight.history.slurm.sizes import parse_exit, parse_memory, parse_tres
from jobsight.history.slurm.times import parse_span

__all__ = ["Clock", "Twice", "converter"]

_NOTHING = frozenset({"", "na", "n/a", "nan", "none", "null", "unknown", "nat"})
_LARGEST = 2**53
_LATEST = 2**33 * 1_000_000
_SHOWN_SINCE = dt.datetime(1970, 1, 1)
_MICROSECOND = dt.timedelta(microseconds=1)

Clock = Literal["utc", "local"]
Converter = Callable[[Any], Any]


class Twice(int):
    """A moment of an hour that the clock showed twice, at its first showing."""

    again: int
    """At its second."""


def converter(column: Column, zone: dt.tzinfo, clock: Clock | None = None) -> Converter:
    """What reads a column's values.

    Args:
        column: what it holds.
        zone: of dates and times without one.
        clock: the values are µs since 1970, by the clock of UTC or of the zone (``local``), as
            `tables` gives the typed moments of Parquet files; None: they are as they are written.

    Returns:
        A function of a value: µs since 1970 for moments (perhaps `Twice`), a pair of state and
        word, a pair of exit code and signal, else the field's type.
    """
    read = _reader(column, zone, clock)
    if not column.unknown:
        return read
    nothing = {_comparable(value) for value in column.unknown}
    return lambda value: None if _comparable(value) in nothing else read(value)


def _reader(column: Column, zone: dt.tzinfo, clock: Clock | None) -> Converter:
    field, scale = column.field, units_of(column.field).get(column.unit or "", 1.0)
    if field in MOMENTS:
        if clock is not None:
            return lambda value: _moment(value, zone, 1.0 if clock == "utc" else None, int)
        return lambda value: _moment(value, zone, scale if column.unit else None, str)
    if field == "state":
        return lambda value: _state(_text(value), column.states)
    if field == "id":
        return _id
    if field == "exit_code":
        return lambda value: _exit(value, column.unit)
    if field.endswith(".tres"):
        return _tres
    if FIELDS[field] is str:
        return _text
    if scale is None:
        return _span_as_slurm if field.endswith("_s") else _memory_as_slurm
    if FIELDS[field] is int and column.unit is None:
        return _count
    return lambda value: _scaled(value, scale, whole=FIELDS[field] is int)


def _comparable(value: Any) -> float | str:
    text = str(value).strip()
    try:
        return float(text)
    except ValueError:
        return text


def _known(value: Any) -> Any:
    if isinstance(value, str):
        value = value.strip()
        return None if value.lower() in _NOTHING else value
    return None if isinstance(value, float) and math.isnan(value) else value


def _amount(value: Any) -> float | None:
    value = _known(value)
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{str(value)[:40]!r} is not a number") from None
    if not 0 <= number < _LARGEST:
        raise ValueError(f"{str(value)[:40]!r} is out of range")
    return number


def _scaled(value: Any, scale: float, *, whole: bool) -> float | None:
    number = _amount(value)
    if number is None:
        return None
    return round(number * scale) if whole else number * scale


def _count(value: Any) -> int | None:
    """A whole number that is not negative, also where it is written as 3.0."""
    number = _amount(value)
    if number is None:
        return None
    if not number.is_integer():
        raise ValueError(f"{str(value)[:40]!r} is not a whole number")
    return int(number)


def _text(value: Any) -> str | None:
    """Text, of at most 16 384 characters."""
    value = _known(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return None if value is None else str(value)[:16_384]


def _id(value: Any) -> str:
    text = _text(value)
    if text is None:
        raise ValueError("no number")
    return parse_id(text).name if "_" in text or "+" in text else str(_count(value))


def _state(word: str | None, states: dict[str, State]) -> tuple[State, str] | None:
    if word is None:
        return None
    state = states.get(word) if states else slurm_state(word)
    if state is None:
        whose = "in the mapping's states" if states else "a state of Slurm's"
        raise ValueError(f"{word[:40]!r} is not {whose}")
    return state, word


def _exit(value: Any, unit: str | None) -> tuple[int | None, int | None] | None:
    """Exit code and signal."""
    if unit == "slurm":
        text = _text(value)
        pair = parse_exit(text or "")
        if text is not None and pair is None:
            raise ValueError(f"{text[:40]!r} is not an exit code such as 0:15")
        return exit_of(pair)
    status = _count(value)
    if status is None:
        return None
    return exit_of((status >> 8, status & 127) if unit == "wait" else (status, 0))


def _tres(value: Any) -> str | None:
    text = _text(value)
    parse_tres(text or "")
    return text


def _span_as_slurm(value: Any) -> int | None:
    return limit_of(parse_span(_text(value) or ""))


def _memory_as_slurm(value: Any) -> int | None:
    found = parse_memory(_text(value) or "")
    if found is not None and found.per is not None:
        raise ValueError(f"{str(value)[:40]!r} is not for the whole job")
    return None if found is None else found.size >> 20


def _moment(value: Any, zone: dt.tzinfo, scale: float | None, kind: type) -> int | None:
    value = _known(value)
    if value is None:
        return None
    try:
        if scale is None and not isinstance(value, kind):
            raise TypeError
        first, again = _readings(value, zone, scale)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{str(value)[:40]!r} is not a time such as 2021-05-01 12:00:00") from None
    if not 0 < first < _LATEST:
        raise ValueError(f"{str(value)[:40]!r} is not a time of a job")
    if first == again:
        return first
    moment = Twice(first)
    moment.again = again
    return moment


def _readings(value: Any, zone: dt.tzinfo, scale: float | None) -> tuple[int, int]:
    """µs since 1970, as a clock showed it first and again, where it did."""
    if scale is not None:
        since = round(float(value) * scale)
        return since, since
    if isinstance(value, str):
        value = dt.datetime.fromisoformat(value)
        if value.tzinfo is not None:
            return micros(value), micros(value)
        value = (value - _SHOWN_SINCE) // _MICROSECOND
    return local_micros(value, zone), local_micros(value, zone, again=True)
