"""The event table's columns and the names of generations, for readers of logs and documents."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

__all__ = [
    "ENTRY_COLUMNS", "GATHERED", "PREFIX", "begun", "event_kinds", "event_schema", "rotation",
]  # fmt: skip

PREFIX = "eventlog"
"""Every generation's name begins with it."""

GATHERED = f"{PREFIX}-gathered"
"""The log that the records of many users' logs, and what schedds report, make together: its offsets
are moments, in µs since 1970."""

_NAME = re.compile(rf"{PREFIX}#(\d{{16}})\.[0-9a-f]{{8}}")
_ROTATED = re.compile(r"(.+?)\.(old|[1-9]\d{0,8})")
_MOMENT = "datetime"
_TEXT = "text"
_COLUMNS = {
    "cluster": "int64",
    "proc": "int32",
    "subproc": "int32",
    "time": _MOMENT,
    "code": "int16",
    "hold_code": "int32",
    "hold_subcode": "int32",
    "reason": _TEXT,
    "return_value": "int32",
    "signal": "int32",
    "host": _TEXT,
    "slot": _TEXT,
    "memory_mb": "int64",
    "access_point": _TEXT,
    "owner": _TEXT,
    "vacate_code": "int32",
    "vacate_subcode": "int32",
    "attributes": _TEXT,
    "source": _TEXT,
    "offset": "int64",
    "log": "int32",
    "detail": "int16",
    "dag_node": _TEXT,
}
"""The event table's columns, in order, and what is in them (docs/develop/architecture.md)."""

ENTRY_COLUMNS = (
    "code", "subproc", "hold_code", "hold_subcode", "reason", "return_value", "signal", "host",
    "slot", "memory_mb", "vacate_code", "vacate_subcode", "attributes", "owner", "detail",
    "dag_node",
)  # fmt: skip
"""Columns that are fields of a timeline's entry (`jobsight.documents.Event`) by the same names."""


@cache
def event_schema() -> pa.Schema:
    """The Arrow schema of the event table."""
    import pyarrow as pa

    kinds = {
        "int16": pa.int16(),
        "int32": pa.int32(),
        "int64": pa.int64(),
        _MOMENT: pa.timestamp("us", "UTC"),
        _TEXT: pa.large_string(),
    }
    return pa.schema([(name, kinds[kind]) for name, kind in _COLUMNS.items()])


@cache
def event_kinds() -> dict[str, pl.DataType | type[pl.DataType]]:
    """The same for Polars: the type of each column, in order."""
    import polars as pl

    kinds: dict[str, pl.DataType | type[pl.DataType]] = {
        "int16": pl.Int16,
        "int32": pl.Int32,
        "int64": pl.Int64,
        _MOMENT: pl.Datetime("us", "UTC"),
        _TEXT: pl.String,
    }
    return {name: kinds[kind] for name, kind in _COLUMNS.items()}


def begun(name: str) -> int | None:
    """µs since 1970 at which a generation with a header was begun, by its name."""
    found = _NAME.match(name)
    return None if found is None else int(found[1])


def rotation(name: str) -> tuple[str, float]:
    """The name of a log's newest file, and the age (0: the newest) of the one called `name`."""
    found = _ROTATED.fullmatch(name)
    if found is None:
        return name, 0.0
    return found[1], 0.5 if found[2] == "old" else float(found[2])
