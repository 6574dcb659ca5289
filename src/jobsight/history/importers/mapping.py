"""What the columns of a table of jobs mean: a mapping, written in YAML.

NREL's Eagle (``eagle.yaml``) and the Alliance's Graham and Cedar (``graham.yaml``) are mappings of
this package; a user's own is read in the same way.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping as Values
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
import pydantic
from pydantic_core import PydanticCustomError

from jobsight.clock import zone_named
from jobsight.documents import Request, State, Submission, Usage
from jobsight.errors import UsageError
from jobsight.settings.section import Section
from jobsight.settings.yamlfiles import YamlFile, explain

__all__ = [
    "FIELDS", "MOMENTS", "MOMENT_UNITS", "QUEUE", "SECTIONS", "Column", "Mapping", "kind_of",
    "near", "units_of",
]  # fmt: skip

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


def _fields() -> dict[str, type]:
    found: dict[str, type] = dict.fromkeys(("id", "cluster", "state", "reason", "host"), str)
    found |= dict.fromkeys(("task", "exit_code", "signal", *MOMENTS), int)
    for section, struct in SECTIONS.items():
        for field in msgspec.structs.fields(struct):
            kind = get_args(field.type)[0]
            if kind in (int, float, str) and field.name != "submitted":
                found[f"{section}.{field.name}"] = kind
    return found


FIELDS: Values[str, type] = _fields()
"""What a column may hold, and of which type that is in a document."""


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
            name: {"field": one} if isinstance(one, str) else one for name, one in columns.items()
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
