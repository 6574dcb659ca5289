"""The event table: its columns, and building batches of it from scanned text.

One row an event, in file order. Names and types are fixed by the design (see docs/architecture.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jobsight.history.eventlog import record, texts
from jobsight.history.eventlog.record import NONE, Bytes, Row
from jobsight.history.eventlog.terms import event_schema

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Batch", "Origin", "batch_from_rows", "columns_of_origin"]

_NUMBERS = (
    ("cluster", "int64", record.CLUSTER),
    ("proc", "int32", record.PROC),
    ("subproc", "int32", record.SUBPROC),
    ("code", "int16", record.CODE),
)
_OPTIONAL_NUMBERS = (
    ("hold_code", "int32", record.HOLD_CODE),
    ("hold_subcode", "int32", record.HOLD_SUBCODE),
    ("return_value", "int32", record.RETURN_VALUE),
    ("signal", "int32", record.SIGNAL),
    ("memory_mb", "int64", record.MEMORY_MB),
    ("vacate_code", "int32", record.VACATE_CODE),
    ("detail", "int16", record.DETAIL),
)
_TEXTS = (
    ("reason", record.REASON_START),
    ("host", record.HOST_START),
    ("slot", record.SLOT_START),
    ("dag_node", record.DAG_NODE_START),
)


@dataclass(frozen=True)
class Origin:
    """Where a batch comes from: what is the same in all of its rows."""

    source: str
    log: int
    access_point: str | None


@dataclass(frozen=True)
class Batch:
    """A stretch of the event table whose times are not yet resolved.

    Attributes:
        columns: Arrow arrays of n rows by name, all of `event_schema` but ``time``.
        stamp: int64 (n,), µs, wall clock as written (see `jobsight.history.eventlog.times`).
        form: uint8 (n,), how it was written.
        skipped: stretches skipped in this batch: (offset, length, reason).
        size: bytes of the log that this batch covers.
    """

    columns: dict[str, pa.Array]
    stamp: NDArray[np.int64]
    form: NDArray[np.uint8]
    skipped: list[tuple[int, int, str]]
    size: int

    def table(self, time: NDArray[np.int64]) -> pa.RecordBatch:
        """The batch with its times, int64 µs since 1970 in UTC."""
        import pyarrow as pa

        schema = event_schema()
        columns = dict(self.columns, time=pa.array(time, schema.field("time").type))
        return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def columns_of_origin(origin: Origin, rows: int) -> dict[str, pa.Array]:
    """The columns that have the same value in all rows."""
    import pyarrow as pa

    text = pa.large_string()
    point = pa.scalar(origin.access_point, text)
    source = origin.source.encode("utf-8", "replace").decode()  # a file's name may be no UTF-8
    return {
        "source": pa.repeat(pa.scalar(source, text), rows),
        "access_point": pa.repeat(point, rows) if origin.access_point else pa.nulls(rows, text),
        "log": pa.repeat(pa.scalar(origin.log, pa.int32()), rows),
    }


def _optional(values: Row, kind: str) -> pa.Array:
    """A column with nulls; a number that its type cannot hold is unknown too."""
    import pyarrow as pa

    limits = np.iinfo(kind)
    absent = (values == NONE) | (values < limits.min) | (values > limits.max)
    return pa.array(np.where(absent, 0, values).astype(kind), mask=absent)


def batch_from_rows(
    buffer: Bytes, rows: Row, skips: Row, *, base: int, origin: Origin, reasons: tuple[str, ...]
) -> Batch:
    """Make a batch from what the scanner found in `buffer`, which begins at `base` in its log."""
    import pyarrow as pa

    by_column = rows.T.copy()  # of its own: `rows` may be scratch memory
    columns = columns_of_origin(origin, len(rows))
    for name, kind, column in _NUMBERS:
        columns[name] = pa.array(by_column[column].astype(kind))
    for name, kind, column in _OPTIONAL_NUMBERS:
        columns[name] = _optional(by_column[column], kind)
    for name, column in _TEXTS:
        columns[name] = texts.text_column(buffer, by_column[column], by_column[column + 1])
    columns["attributes"], columns["owner"] = texts.ad_columns(buffer, rows)
    columns["offset"] = pa.array(by_column[record.OFFSET_START] + base)
    return Batch(
        columns,
        by_column[record.STAMP],
        by_column[record.FORM].astype(np.uint8),
        [(int(start) + base, int(end - start), reasons[why]) for start, end, why in skips],
        len(buffer),
    )
