"""Tables of jobs, CSV or Parquet, row by row: values by the names of their columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jobsight.errors import SourceError
from jobsight.history.eventlog.logfiles import LogFile, LogStream, spool
from jobsight.history.importers.base import ImportReport
from jobsight.history.importers.lines import Meter, lines

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["columns_of", "rows"]

_MAGIC = b"PAR1"
_ROWS = 4096
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_LATEST = 2**33
_FAULTS = (OSError, ValueError, OverflowError, KeyError, IndexError)
"""What pyarrow raises, beside its own errors, for damaged files (names that are no UTF-8, …)."""

Values = dict[str, Any]


class _Bytes(io.RawIOBase):
    """A file's uncompressed bytes, for whoever reads here and there."""

    def __init__(self, file: LogFile) -> None:
        super().__init__()
        self._file = file if file.seekable else spool(file)
        self._at = 0
        self._stream: LogStream | None = None
        self._stands = -1

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._file.size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        if self._stream is None or self._stands != self._at:
            self._let_go()
            self._stream = self._file.open(self._at)
        count = self._stream.readinto(memoryview(buffer).cast("B"))
        self._at += count
        self._stands = self._at
        return count

    def _let_go(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def close(self) -> None:
        self._let_go()
        super().close()


def columns_of(file: LogFile) -> frozenset[str]:
    """The names of a table's columns; none where the file is no table.

    Raises:
        SourceError: it is a damaged Parquet file.
    """
    if file.head.startswith(_MAGIC):
        return frozenset(_names(file, _parquet(file)))
    head = file.head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]
    return frozenset(_cells(head.decode("utf-8", "replace").rstrip("\r")) or ())


def rows(
    file: LogFile, wanted: Sequence[str], report: ImportReport, meter: Meter
) -> Iterator[tuple[int, Values]]:
    """Each row's number (of its line, the header being 1; in Parquet from 1) and its values.

    Args:
        file: a CSV file with a header, or a Parquet file; either may be compressed.
        wanted: columns to be given, where the table has them.
        report: counts rows, and bad ones: those with too many or too few fields.
        meter: counts bytes.

    Raises:
        SourceError: the file is a damaged Parquet file.
    """
    if file.head.startswith(_MAGIC):
        yield from _parquet_rows(file, wanted, report, meter)
    else:
        yield from _csv_rows(file, wanted, report, meter)


def _cells(text: str) -> list[str] | None:
    """The fields of a line; None where it is no CSV."""
    if '"' not in text:
        return text.split(",")
    try:
        return next(csv.reader([text], strict=True), None)
    except csv.Error:
        return None


def _csv_rows(
    file: LogFile, wanted: Sequence[str], report: ImportReport, meter: Meter
) -> Iterator[tuple[int, Values]]:
    names: list[str] = []
    places: list[tuple[str, int]] = []
    for number, text in lines(file, report, meter):
        if not text:
            continue
        cells = _cells(text)
        if not names and cells is not None:
            names = [name.strip() for name in cells]
            places = [(name, names.index(name)) for name in wanted if name in names]
            continue
        report.rows += 1
        if cells is None or len(cells) != len(names):
            found = "quotes that do not close" if cells is None else f"{len(cells)} fields"
            reason = f"{found}, where there are {len(names)} columns"
            report.refuse(file.name, number, reason, text)
        else:
            yield number, {name: cells[at] for name, at in places}


def _parquet(file: LogFile) -> pq.ParquetFile:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(pa.PythonFile(_Bytes(file), mode="r"))
    except (pa.ArrowException, *_FAULTS) as error:
        raise _damaged(file, error) from None


def _names(file: LogFile, table: pq.ParquetFile) -> list[str]:
    import pyarrow as pa

    try:
        return list(table.schema_arrow.names)
    except (pa.ArrowException, *_FAULTS) as error:
        raise _damaged(file, error) from None


def _damaged(file: LogFile, error: Exception) -> SourceError:
    reason = " ".join(str(error).split())[:160]
    return SourceError(f"{file.name} is a damaged Parquet file ({reason}); fetch it again")


def _tamed(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with null for each moment that no clock shows, which Python could not hold."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for column in batch.columns:
        if pa.types.is_timestamp(column.type):
            scale = _PER_SECOND[column.type.unit]
            count = column.cast(pa.int64())
            sound = pc.and_(pc.greater(count, 0), pc.less(count, _LATEST * scale))
            kept = pc.if_else(sound, column, pa.scalar(None, column.type))
            column = kept.cast(pa.timestamp("us", column.type.tz), safe=False)  # noqa: PLW2901
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _parquet_rows(
    file: LogFile, wanted: Sequence[str], report: ImportReport, meter: Meter
) -> Iterator[tuple[int, Values]]:
    import pyarrow as pa

    table = _parquet(file)
    known = _names(file, table)
    names = [name for name in wanted if name in known]
    total, number = max(table.metadata.num_rows, 1), 0
    try:
        for batch in table.iter_batches(batch_size=_ROWS, columns=names):
            for values in _tamed(batch).to_pylist():
                number += 1
                report.rows += 1
                yield number, values
            meter.add(file.size * batch.num_rows // total)
    except (pa.ArrowException, *_FAULTS) as error:
        if not number:
            raise _damaged(file, error) from None
        report.breaks.append((file.name, " ".join(str(error).split())[:160]))
