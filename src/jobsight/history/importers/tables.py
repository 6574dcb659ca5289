"""Tables of jobs, CSV or Parquet, in batches of rows: values by the names of their columns."""

from __future__ import annotations

import csv
import datetime as dt
import itertools
import mmap
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jobsight.errors import SourceError
from jobsight.history.eventlog.logfiles import LogFile, spool
from jobsight.history.importers.base import BATCH, ImportReport, Meter, lines
from jobsight.history.importers.mapping import Clock

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["Batch", "batches", "columns_of", "has_columns"]

_MAGIC = b"PAR1"
_DELIMITERS = ",\t;|"
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_FAULTS = (OSError, ValueError, OverflowError, KeyError, IndexError)
"""What pyarrow raises, besides its own errors, for damaged files (names that are no UTF-8, …)."""


@dataclass(frozen=True)
class Batch:
    """Some rows of a table, one after another.

    Attributes:
        numbers: of their lines, the header being 1; in Parquet from 1.
        columns: values by column: text, or what Python has for a type of Parquet; moments are
            numbers of their clock.
        clocks: of columns that are moments.
    """

    numbers: Sequence[int]
    columns: dict[str, list[Any]]
    clocks: dict[str, Clock]

    def shown(self, at: int) -> str:
        """A row as an error shows it."""
        cells = {name: values[at] for name, values in self.columns.items()}
        for name, clock in self.clocks.items():
            if cells[name] is not None:
                with suppress(ValueError, OverflowError):
                    moment = dt.datetime.fromtimestamp(cells[name] // clock.per_second, dt.UTC)
                    cells[name] = f"{moment:%Y-%m-%d %H:%M:%S}"
        return ",".join("" if value is None else str(value) for value in cells.values())


def columns_of(file: LogFile) -> frozenset[str]:
    """The names of a table's columns; none where the file is no table.

    Raises:
        SourceError: it is a damaged Parquet file.
    """
    if file.head.startswith(_MAGIC):
        return frozenset(_parquet(file)[1])
    head = file.head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]
    text = head.decode("utf-8", "replace").rstrip("\r")
    return frozenset(map(str.strip, _cells(text, _delimiter(text)) or ()))


def has_columns(file: LogFile, names: Iterable[str]) -> bool:
    """Whether a file is a table with these columns, among others."""
    with suppress(SourceError):
        return columns_of(file).issuperset(names)
    return False


def batches(
    file: LogFile, wanted: Sequence[str], report: ImportReport, meter: Meter
) -> Iterator[Batch]:
    """The rows of a table, at most `BATCH` at a time, with the wanted columns that it has.

    It is a CSV file with a header, its fields between commas, semicolons, tabs or bars, or a
    Parquet file; either may be compressed. Bad rows have too many or too few fields.

    Raises:
        SourceError: the file is a damaged Parquet file.
    """
    if file.head.startswith(_MAGIC):
        yield from _parquet_batches(file, wanted, report, meter)
        return
    rows = _csv_rows(file, report, meter)
    _, names = next(rows, (1, []))
    places = [(name, names.index(name)) for name in wanted if name in names]
    while some := list(itertools.islice(rows, BATCH)):
        columns = {name: [cells[at] for _, cells in some] for name, at in places}
        yield Batch([number for number, _ in some], columns, {})


def _delimiter(head: str) -> str:
    """What separates the names of a header, and so the fields of all rows."""
    return max(_DELIMITERS, key=head.count)


def _cells(text: str, delimiter: str) -> list[str] | None:
    """The fields of a line; None where its quotes do not close."""
    if '"' not in text:
        return text.split(delimiter)
    try:
        return next(csv.reader([text], delimiter=delimiter, strict=True), None)
    except csv.Error:
        return None


def _csv_rows(file: LogFile, report: ImportReport, meter: Meter) -> Iterator[tuple[int, list[str]]]:
    """Numbers and fields of the lines: first the header's, then those with as many fields."""
    names: list[str] = []
    delimiter = ","
    for number, text in lines(file, report, meter):
        if not text:
            continue
        if not names:
            delimiter = _delimiter(text)
            names = [name.strip() for name in _cells(text, delimiter) or ()]
            if names:
                yield number, names
                continue
        cells = _cells(text, delimiter)
        report.rows += 1
        if cells is None or len(cells) != len(names):
            found = "quotes that do not close" if cells is None else f"{len(cells)} fields"
            reason = f"{found}, where there are {len(names)} columns"
            report.refuse(file.name, number, reason, text)
        else:
            yield number, cells


def _parquet(file: LogFile) -> tuple[pq.ParquetFile, list[str]]:
    """The table, and the names of its columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain = file if file.seekable else spool(file)
    descriptor = plain.descriptor()
    try:
        end = plain.start + plain.size
        memory = memoryview(mmap.mmap(descriptor, end, prot=mmap.PROT_READ))[plain.start :]
        table = pq.ParquetFile(pa.BufferReader(memory))
        return table, list(table.schema_arrow.names)
    except (pa.ArrowException, *_FAULTS) as error:
        raise _damaged(file, error) from None
    finally:
        os.close(descriptor)


def _damaged(file: LogFile, error: Exception) -> SourceError:
    reason = " ".join(str(error).split())[:160]
    return SourceError(f"{file.name} is a damaged Parquet file ({reason}); fetch it again")


def _column(column: pa.Array) -> tuple[list[Any], Clock | None]:
    """The values of a column, and its clock if they are moments."""
    import pyarrow as pa

    kind = column.type
    # Views, for casts would import pyarrow.compute.
    if pa.types.is_date32(kind):
        days = column.view(pa.int32()).to_pylist()
        return [None if day is None else day * 86_400 for day in days], Clock(False, 1)
    if pa.types.is_date64(kind) or pa.types.is_timestamp(kind):
        unit = kind.unit if pa.types.is_timestamp(kind) else "ms"
        utc = pa.types.is_timestamp(kind) and kind.tz is not None
        return column.view(pa.int64()).to_pylist(), Clock(utc, _PER_SECOND[unit])
    values = column.to_pylist()
    return ([*map(str, values)] if pa.types.is_nested(kind) else values), None


def _parquet_batches(
    file: LogFile, wanted: Sequence[str], report: ImportReport, meter: Meter
) -> Iterator[Batch]:
    import pyarrow as pa

    table, known = _parquet(file)
    names = [name for name in wanted if name in known]
    total, number = max(table.metadata.num_rows, 1), 0
    try:
        for batch in table.iter_batches(batch_size=BATCH, columns=names):
            found = {name: _column(batch.column(name)) for name in batch.schema.names}
            clocks = {name: clock for name, (_, clock) in found.items() if clock is not None}
            numbers = range(number + 1, number + batch.num_rows + 1)
            number += batch.num_rows
            report.rows += batch.num_rows
            yield Batch(numbers, {name: values for name, (values, _) in found.items()}, clocks)
            meter.add(file.size * batch.num_rows // total)
    except (pa.ArrowException, *_FAULTS) as error:
        if not number:
            raise _damaged(file, error) from None
        report.breaks.append((file.name, " ".join(str(error).split())[:160]))
