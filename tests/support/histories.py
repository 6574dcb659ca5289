"""Small event tables for tests."""

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

EPOCH = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)

SCHEMA: dict[str, Any] = {
    "log": pl.Int32,
    "cluster": pl.Int64,
    "proc": pl.Int32,
    "subproc": pl.Int32,
    "time": pl.Datetime("us", "UTC"),
    "code": pl.Int16,
    "hold_code": pl.Int32,
    "hold_subcode": pl.Int32,
    "reason": pl.String,
    "return_value": pl.Int32,
    "signal": pl.Int32,
    "host": pl.String,
    "slot": pl.String,
    "memory_mb": pl.Int64,
    "access_point": pl.String,
    "owner": pl.String,
    "vacate_code": pl.Int32,
    "vacate_subcode": pl.Int32,
    "attributes": pl.String,
    "source": pl.String,
    "offset": pl.Int64,
    "detail": pl.Int16,
    "dag_node": pl.String,
}
USUAL = {"log": 0, "cluster": 1, "proc": 0, "subproc": 0, "access_point": "ap", "source": "log"}


def micros(seconds: float) -> int:
    """`seconds` after the tests' epoch, in µs since 1970."""
    return round((EPOCH.timestamp() + seconds) * 1_000_000)


def table(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """An event table of rows that give `at` (seconds), `code`, and what else they tell."""
    full = []
    for number, row in enumerate(rows):
        values = dict.fromkeys(SCHEMA) | USUAL | {"offset": number}
        values |= {name: value for name, value in row.items() if name != "at"}
        values["time"] = EPOCH + dt.timedelta(seconds=row["at"])
        full.append(values)
    return pl.DataFrame(full, schema=SCHEMA)
