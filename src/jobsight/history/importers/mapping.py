"""What the columns of a table of jobs mean (a mapping, written in YAML), and how values are read.

NREL's Eagle (``eagle.yaml``) and the Alliance's Graham and Cedar (``graham.yaml``) are mappings of
this package; a user's own is read in the same way.
"""

from __future__ import annotations

import datetime as dt
import difflib
import math
from collections.abc import Callable
from collections.abc import Mapping as Values
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import msgspec
import numpy as np
import pydantic
from pydantic_core import PydanticCustomError

from jobsight.clock import QUARTER, local_micros, micros, zone_named
from jobsight.documents import Request, State, Submission, Usage
from jobsight.documents.states import slurm_state
from jobsight.errors import UsageError
from jobsight.history.slurm.documents import exit_of, limit_of
from jobsight.history.slurm.ids import parse_id
from jobsight.history.slurm.sacct import checked_tres
from jobsight.program.submission.sizes import parse_exit, parse_memory
from jobsight.program.submission.times import parse_span
from jobsight.settings.section import Section
from jobsight.settings.yamlfiles import YamlFile, explain

__all__ = [
    "FIELDS",
    "MOMENTS",
    "MOMENT_UNITS",
    "QUEUE",
    "SECTIONS",
    "Clock",
    "Column",
    "Converter",
    "Mapping",
    "Twice",
    "converter",
    "kind_of",
    "near",
    "typed_moments",
    "units_of",
]

MOMENTS = ("submitted", "eligible", "waiting", "started", "ended")
"""Moments of a job, in the order of its life; at ``waiting`` it was seen in the queue."""

SECTIONS: Values[str, type[msgspec.Struct]] = {
    "request": Request, "submission": Submission, "usage": Usage,
}  # fmt: skip

QUEUE = "queue."
"""Fields that begin so are numbers of the queue around the job at ``waiting``, of any name."""
_SIZES = {"B": 2.0**-20, "KB": 2.0**-10, "MB": 1.0, "GB": 2.0**10, "TB": 2.0**20}
_SPANS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
MOMENT_UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}

FIELDS: dict[str, type] = {
    **dict.fromkeys(("id", "cluster", "state", "reason", "host"), str),
    **dict.fromkeys(("task", "exit_code", "signal", *MOMENTS), int),
    **{
        f"{section}.{field.name}": kind
        for section, struct in SECTIONS.items()
        for field in msgspec.structs.fields(struct)
        if (kind := get_args(field.type)[0]) in (int, float, str) and field.name != "submitted"
    },
}
"""What a column may hold, and of which type that is in a document."""

_NOTHING = frozenset({"", "na", "n/a", "nan", "none", "null", "unknown", "nat"})
_LARGEST = 2**53
_LATEST = 2**33 * 1_000_000
_SHOWN_SINCE = dt.datetime(1970, 1, 1)
_MICROSECOND = dt.timedelta(microseconds=1)
Converter = Callable[[Any], Any]


def kind_of(field: str) -> type:
    """The type of a field in a document; KeyError: there is no such field."""
    return float if field.startswith(QUEUE) and field != QUEUE else FIELDS[field]


def units_of(field: str) -> Values[str, float | None]:
    """Units in which a field may be given, and how much of ours each is; None: Slurm's text."""
    if field in MOMENTS:
        return MOMENT_UNITS
    if field == "exit_code":
        return {"slurm": None, "wait": None}
    if field.endswith("_mb"):
        return {**_SIZES, "slurm": None}
    return {**_SPANS, "slurm": None} if field.endswith("_s") else {}


def near(name: str, known: Values[str, Any] | frozenset[str]) -> str:
    """A hint at the known names that are most like another; empty where none is."""
    found = difflib.get_close_matches(name, list(known), 3, 0.5)
    return f"; did you mean {' or '.join(map(repr, found))}?" if found else ""


def _wrong(reason: str) -> PydanticCustomError:
    return PydanticCustomError("mapping", "{reason}", {"reason": reason})


class Column(Section):
    """What one column holds.

    Attributes:
        field: one of `FIELDS`, or ``queue.NAME``.
        unit: one of `units_of` the field; None: a plain count, MB, seconds, or a date and time.
        unknown: values that stand for "not known", besides empty ones.
        states: the state for each of the column's words; empty: they are Slurm's.
    """

    field: str
    unit: str | None = None
    unknown: tuple[int | float | str, ...] = ()
    states: dict[str, State] = pydantic.Field({})

    @pydantic.field_validator("field")
    @classmethod
    def _known(cls, name: str) -> str:
        try:
            kind_of(name)
        except KeyError:
            hint = near(name, FIELDS) or f"; there are {', '.join(FIELDS)}"
            raise _wrong(f"no field has this name{hint}") from None
        return name

    @pydantic.model_validator(mode="after")
    def _fitting(self) -> Column:
        units = units_of(self.field)
        if self.unit is not None and self.unit not in units:
            valid = f"may be {', '.join(units)}" if units else "has none"
            raise _wrong(f"the unit of {self.field} {valid}")
        if self.states and self.field != "state":
            raise _wrong("only the field state has states")
        return self


class Mapping(Section):
    """What a table's columns mean.

    Attributes:
        name: source of the timeline's entries.
        title: what the table is, in a few words.
        clusters: names of clusters, and the time zone of each; which of several a file is of is
            given by its name.
        recognised_by: columns by which a table is known without ``--mapping``, and which it must
            have; none: it must have all.
        repeated_ids: what rows are that share an id: one job, or tasks of one array.
        columns: what each column holds; those not named are not read.
        unknowable: what the table does not record, and why.
    """

    name: str = pydantic.Field("mapping", pattern="^[a-z][a-z0-9_-]{0,39}$")
    title: str = "a table as its mapping describes it"
    clusters: dict[str, str | None] = pydantic.Field({})
    recognised_by: tuple[str, ...] = ()
    repeated_ids: Literal["one_job", "array_tasks"] = "one_job"
    columns: dict[str, Column]
    unknowable: dict[str, str] = pydantic.Field({})

    @classmethod
    def read(cls, path: Path) -> tuple[Mapping, YamlFile]:
        """The mapping in a file, and the file, for the places of errors.

        Raises:
            SettingsError: it is missing or no mapping; names line and column.
        """
        file = YamlFile.read(path, "columns of a table", "mapping")
        try:
            return cls.model_validate(file.values), file
        except pydantic.ValidationError as error:
            raise explain(error, [file]) from None

    @pydantic.field_validator("columns", mode="before")
    @classmethod
    def _spelled_out(cls, columns: Any) -> Any:
        if not isinstance(columns, dict):
            return columns
        return {
            name: {"field": meaning} if isinstance(meaning, str) else meaning
            for name, meaning in columns.items()
        }

    @pydantic.field_validator("columns")
    @classmethod
    def _complete(cls, columns: dict[str, Column]) -> dict[str, Column]:
        fields = [column.field for column in columns.values()]
        for needed in ("id", "submitted"):
            if needed not in fields:
                raise _wrong(f"one of the columns must be the field {needed}")
        if twice := next((field for field in fields if fields.count(field) > 1), None):
            raise _wrong(f"two columns are the field {twice}")
        return columns

    @pydantic.field_validator("clusters")
    @classmethod
    def _zoned(cls, clusters: dict[str, str | None]) -> dict[str, str | None]:
        try:
            for zone in clusters.values():
                zone_named(zone)
        except UsageError as error:
            raise _wrong(str(error)) from None
        return clusters


class Clock(NamedTuple):
    """The typed moments of a column of a Parquet file, as numbers since 1970."""

    utc: bool
    """False: as if the local clock's date and time were UTC."""
    per_second: int


class Twice(int):
    """A moment of an hour that the clock showed twice, at its first showing."""

    again: int
    """At its second."""

    @classmethod
    def of(cls, first: int, again: int) -> Twice:
        """The moment of both showings."""
        moment = cls(first)
        moment.again = again
        return moment


def converter(column: Column, zone: dt.tzinfo) -> Converter:
    """A function that reads a column's values: text, or typed values of a Parquet file.

    It returns None where nothing is recorded, else µs since 1970 for moments (perhaps `Twice`), a
    pair of state and word, a pair of exit code and signal, or the field's type. It raises
    ValueError, with a reason, for a value that makes no sense. `zone` is that of dates and times
    without one.
    """
    read = _reader(column, zone)
    unknown = {_comparable(value) for value in column.unknown}

    def convert(value: Any) -> Any:
        if isinstance(value, str):
            value = value.strip()
            value = None if value.lower() in _NOTHING else value
        elif isinstance(value, float) and math.isnan(value):
            value = None
        if value is None or (unknown and _comparable(value) in unknown):
            return None
        return read(value)

    return convert


def _reader(column: Column, zone: dt.tzinfo) -> Converter:
    field, kind = column.field, kind_of(column.field)
    scale = units_of(field).get(column.unit or "", 1.0)
    if field in MOMENTS:
        return partial(_moment, unit=column.unit, zone=zone)
    if field == "exit_code":
        return partial(_exit, unit=column.unit)
    if field == "state":
        return partial(_state, column=column)
    if field == "id":
        return _id
    if field.endswith(".tres"):
        return lambda value: checked_tres(_text(value))
    if kind is str:
        return _text
    if field.startswith(QUEUE):  # None: infinite, as a fair-share factor can be
        return lambda value: number if math.isfinite(number := _float(value)) else None
    if scale is None:
        spans = field.endswith("_s")
        return (lambda value: limit_of(parse_span(_text(value)))) if spans else _memory_as_slurm
    if kind is int:
        return _count if column.unit is None else lambda value: round(_amount(value) * scale)
    return lambda value: _amount(value) * scale


def _comparable(value: Any) -> float | str:
    text = str(value).strip()
    try:
        return float(text)
    except ValueError:
        return text


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{str(value)[:40]!r} is not a number") from None


def _amount(value: Any) -> float:
    number = _float(value)
    if not 0 <= number < _LARGEST:
        raise ValueError(f"{str(value)[:40]!r} is out of range")
    return number


def _count(value: Any) -> int:
    """A whole number that is not negative, also where it is written as 3.0."""
    number = _amount(value)
    if not number.is_integer():
        raise ValueError(f"{str(value)[:40]!r} is not a whole number")
    return int(number)


def _text(value: Any) -> str:
    """Text, of at most 16 384 characters."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)[:16_384]


def _id(value: Any) -> str:
    if type(value) is int and 0 <= value < _LARGEST:  # nearly always, in Parquet
        return str(value)
    text = _text(value)
    return parse_id(text).name if "_" in text or "+" in text else str(_count(value))


def _state(value: Any, column: Column) -> tuple[State, str]:
    word = _text(value)
    state = column.states.get(word) if column.states else slurm_state(word)
    if state is None:
        whose = "in the mapping's states" if column.states else "a state of Slurm's"
        raise ValueError(f"{word[:40]!r} is not {whose}")
    return state, word


def _exit(value: Any, unit: str | None) -> tuple[int | None, int | None]:
    """Exit code and signal."""
    if unit == "slurm":
        pair = parse_exit(_text(value))
        if pair is None:
            raise ValueError(f"{_text(value)[:40]!r} is not an exit code such as 0:15")
        return exit_of(pair)
    status = _count(value)
    return exit_of((status >> 8, status & 127) if unit == "wait" else (status, 0))


def _memory_as_slurm(value: Any) -> int | None:
    found = parse_memory(_text(value))
    if found is not None and found.per is not None:
        raise ValueError(f"{str(value)[:40]!r} is not for the whole job")
    return None if found is None else found.size >> 20


def _moment(value: Any, unit: str | None, zone: dt.tzinfo) -> int:
    try:
        if unit is None:
            moment = dt.datetime.fromisoformat(value)
            if moment.tzinfo is not None:
                first = again = micros(moment)
            else:  # as its clock showed it first and again
                first, again = local_micros((moment - _SHOWN_SINCE) // _MICROSECOND, zone)
        else:
            first = again = round(float(value) * MOMENT_UNITS[unit])
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{str(value)[:40]!r} is not a time such as 2021-05-01 12:00:00") from None
    if not 0 < first < _LATEST:
        raise ValueError(f"{str(value)[:40]!r} is not a time of a job")
    return first if first == again else Twice.of(first, again)


def typed_moments(values: list[int | None], zone: dt.tzinfo, clock: Clock) -> list[int | None]:
    """µs since 1970 (perhaps `Twice`) of typed moments; None where no clock shows them."""
    shown = np.array([value or 0 for value in values], np.int64)
    scale = 1_000_000 / clock.per_second
    shown = shown * int(scale) if scale >= 1 else shown // round(1 / scale)
    sound = (shown > 0) & (shown < _LATEST)
    shown = np.where(sound, shown, 1)
    first = again = shown
    if not clock.utc:  # offsets are the same within a quarter of an hour
        quarters, which = np.unique(shown // QUARTER, return_inverse=True)
        starts = quarters * QUARTER
        moments = np.array([local_micros(start, zone) for start in starts.tolist()], np.int64)
        first, again = ((moments[:, fold] - starts)[which] + shown for fold in (0, 1))
    found: list[int | None] = first.tolist()
    for at in np.flatnonzero(~sound):
        found[at] = None
    for at in np.flatnonzero(sound & (first != again)):
        found[at] = Twice.of(int(first[at]), int(again[at]))
    return found
