"""Reading event logs into the event table: the driver of files, scanner, times and report.

Chunks of a log are scanned by worker threads (the kernels hold no GIL) and come back in order; the
times of a log are resolved in that order. Memory stays bounded by a few chunks, whatever the size.
"""

from __future__ import annotations

import datetime as dt
import os
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jobsight.clock import zone_named
from jobsight.errors import SourceError
from jobsight.history.eventlog import record, scanner
from jobsight.history.eventlog.chunks import Chunk, chunks
from jobsight.history.eventlog.columns import (
    Batch,
    Origin,
    batch_from_ads,
    batch_from_rows,
    scratch,
)
from jobsight.history.eventlog.discovery import find_logs
from jobsight.history.eventlog.generations import in_generation, segment_name
from jobsight.history.eventlog.logfiles import Kind, LogFile, LogStream, looks_like_log, spool
from jobsight.history.eventlog.segments import Log, Segment, plan
from jobsight.history.eventlog.structured import StructuredParser
from jobsight.history.eventlog.terms import event_schema
from jobsight.history.eventlog.times import TimeResolver, YearCounter
from jobsight.history.readreport import ReadReport, Skipped
from jobsight.jit import expect
from jobsight.text import beginning

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

__all__ = ["EventLog", "EventReader", "read_events", "scan_chunk", "year_of_first"]

_AD_BLOCK = 1 << 20
_MOST_WAITING = 1_000_000
_COMPRESSED = 12
"""Bytes of an event log that gzip makes one of, or a little more."""
_MOST_BEFORE_FIRST = 256 << 20
"""Bytes of a file until its first record: a small compressed file may be gigabytes of anything."""


@dataclass(frozen=True)
class EventLog:
    """An event table in memory, the report of its reading, and the files it came from."""

    table: pl.DataFrame
    report: ReadReport
    files: tuple[LogFile, ...]


def _unpacked(file: LogFile) -> int:
    """How many times as large the text of a file may be."""
    return 1 if file.compression is None else _COMPRESSED


def _distinct(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each key once, in order: sorting is several times as fast as the hashing of `np.unique`."""
    keys = np.sort(keys)
    new = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    return keys[new]


class _Jobs:
    """Counts distinct jobs without keeping their events: sorted arrays, merged now and then."""

    def __init__(self) -> None:
        self._keys: dict[str | int, list[NDArray[np.int64]]] = defaultdict(list)
        self._waiting = 0

    def add(self, log: str | int, cluster: NDArray[np.int64], proc: NDArray[np.int32]) -> None:
        jobs = (cluster >= 0) & (proc >= 0)
        keys = _distinct((cluster[jobs] << 31) | proc[jobs])
        self._keys[log].append(keys)
        self._waiting += len(keys)
        if self._waiting > _MOST_WAITING:
            self._merge()

    def _merge(self) -> None:
        for keys in self._keys.values():
            keys[:] = [_distinct(np.concatenate(keys))]
        self._waiting = 0

    def count(self) -> int:
        self._merge()
        return sum(len(keys[0]) for keys in self._keys.values())


def _chunk_batch(chunk: Chunk, origin: Origin) -> Batch:
    rows, skips = scan_chunk(chunk)
    return batch_from_rows(
        chunk.data, rows, skips, base=chunk.offset, origin=origin, reasons=scanner.SKIP_REASONS
    )


def scan_chunk(chunk: Chunk) -> tuple[record.Row, record.Row]:
    """Rows and skips of a chunk, good until this thread scans the next one.

    Raises:
        SourceError: the chunk has more of them than its size allows, which is a fault of Jobsight.
    """
    size = len(chunk.data)
    most = scanner.capacity(size)
    rows = scratch("rows", most * record.COLUMNS, np.int64).reshape(most, record.COLUMNS)
    skips = scratch("skips", scanner.skip_capacity(size) * 3, np.int64).reshape(-1, 3)
    nuls = bool(size) and int(chunk.data.min()) == 0
    count, skipped = scanner.scan(chunk.data, size, chunk.last, nuls, rows, skips)
    if count < 0:
        raise SourceError(
            f"the {size} bytes of the log from {chunk.offset} on hold more records or damage than "
            "their size allows: please report this, with the log"
        )
    return rows[:count], skips[:skipped]


class EventReader:
    """Reads logs batch by batch, in bounded memory; one pass, one thread.

    Args:
        paths: files, folders, globs, archives, ``-``; or logs that `find_logs` found.
        access_point: name of the access point; None: as in the logs.
        timezone: IANA name of the zone of times written without one; None: the machine's.
        progress: called with the bytes done and their total (0 where unknown).
        workers: threads that scan; None: one a core, at most eight.
        generations: `source` and `offset` are each record's generation and its place in that
            (`eventlog.generations`): what job documents are made of.

    Raises:
        SourceError: a path does not exist, cannot be read, or holds no event log.
        UsageError: the time zone is unknown.
    """

    def __init__(
        self,
        paths: Sequence[str | LogFile],
        *,
        access_point: str | None = None,
        timezone: str | None = None,
        progress: Callable[[int, int], None] | None = None,
        workers: int | None = None,
        generations: bool = False,
    ) -> None:
        self.report = ReadReport()
        self._generations = generations
        self._zone = zone_named(timezone)
        self._progress = progress or (lambda _done, _total: None)
        self._workers = workers or min(os.cpu_count() or 1, 8)
        files = find_logs(
            paths,
            skipped=lambda name, why: self.report.passed_over.append((name, why)),
            failed=lambda name, why: self.report.unreadable.append((name, why)),
        )
        self.files = files
        expect(scanner.seconds(sum(file.size * _unpacked(file) for file in files)))
        self.logs = plan(files, access_point=access_point)
        self.report.files, self.report.logs = len(files), len(self.logs)
        known = all(file.compression is None for file in files)
        self._total = sum(file.size for file in files) if known else 0
        self._jobs = _Jobs()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The event table (`terms.event_schema`), batch by batch; the report is whole at the end.

        Raises:
            SourceError: a log vanished meanwhile.
        """
        started = time.perf_counter()
        found: Counter[str] = Counter()
        with ThreadPoolExecutor(self._workers, "jobsight-scan") as pool:
            for log in self.logs:
                resolver = self._resolver(log)
                for segment in _ready(log):
                    if segment.header is not None and segment.header.ctime is not None:
                        resolver.begin_segment(segment.header.ctime)
                    name = segment_name(segment) if self._generations else ""
                    origin = Origin(segment.file.name, log.number, log.access_point)
                    read = 0
                    for batch in self._segment(segment, origin, pool):
                        times = resolver.resolve(batch.stamp, batch.form)
                        self._account(batch, times, origin)
                        found[segment.file.name] += len(times)
                        for skip in batch.skipped:
                            self._skipped(Skipped(origin.source, *skip))
                        if self._generations:
                            yield in_generation(batch, name, segment.start).table(times)
                        else:
                            yield batch.table(times)
                        read += batch.size
                        if read > _MOST_BEFORE_FIRST and not found[segment.file.name]:
                            where = segment.start + read
                            self._skipped(
                                Skipped(origin.source, where, 0, "not read: no record before")
                            )
                            break
        for file in self.files:  # what is not an event log
            if not found[file.name] and file.head.strip() and not looks_like_log(file.head):
                line = f"{file.name!r} has no event record: it begins with {beginning(file.head)}"
                self.report.unreadable.append((file.name, line))
        self.report.jobs = self._jobs.count()
        self.report.seconds = time.perf_counter() - started

    def _segment(
        self, segment: Segment, origin: Origin, pool: ThreadPoolExecutor
    ) -> Iterator[Batch]:
        before = self.report.bytes
        with segment.file.open(segment.start) as stream:
            if segment.file.kind in ("xml", "json"):
                yield from _structured(stream, segment.file.kind, origin)
            else:  # in order, no more chunks than these ahead of who reads
                waiting: deque[Future[Batch]] = deque()
                for chunk in chunks(stream, start=segment.start, end=segment.end):
                    waiting.append(pool.submit(_chunk_batch, chunk, origin))
                    if len(waiting) >= self._workers + 2:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            if stream.problem is not None:
                where = segment.start + self.report.bytes - before
                self.report.skipped.append(Skipped(origin.source, where, 0, stream.problem))

    def _account(self, batch: Batch, times: NDArray[np.int64], origin: Origin) -> None:
        report = self.report
        report.events += len(times)
        report.bytes += batch.size
        if len(times):
            low, high = int(times.min()), int(times.max())
            report.first = low if report.first is None else min(report.first, low)
            report.last = high if report.last is None else max(report.last, high)
            for found in batch.columns["code"].value_counts().to_pylist():
                report.by_code[found["values"]] += found["counts"]
            cluster, proc = (batch.columns[name].to_numpy() for name in ("cluster", "proc"))
            # Logs that do not name their access point may be of several, with equal ids.
            self._jobs.add(origin.access_point or origin.log, cluster, proc)
        self._progress(report.bytes, self._total)

    def _skipped(self, stretch: Skipped) -> None:
        """Report a stretch; one that was cut where a chunk ends is one stretch."""
        known = self.report.skipped
        if known:
            before = known[-1]
            joined = before.offset + before.length == stretch.offset
            if joined and (before.file, before.reason) == (stretch.file, stretch.reason):
                length = before.length + stretch.length
                known[-1] = Skipped(before.file, before.offset, length, before.reason)
                return
        known.append(stretch)

    def _resolver(self, log: Log) -> TimeResolver:
        """What dates the records of one log."""
        first = log.segments[0]
        if first.file.kind in ("xml", "json") or (first.header and first.header.ctime):
            return TimeResolver(self._zone)
        modified = max(segment.file.modified for segment in log.segments)

        def parts() -> Iterator[Chunk]:
            for segment in _ready(log):
                with segment.file.open(segment.start) as stream:
                    yield from chunks(stream, start=segment.start, end=segment.end)

        return TimeResolver(self._zone, first_year=year_of_first(parts(), modified, self._zone))


def year_of_first(parts: Iterable[Chunk], modified: float, zone: dt.tzinfo) -> int:
    """The year of a text log's first record, found in all parts of it if need be.

    The log was changed last at `modified` (seconds since 1970); its wall clock is that of `zone`.
    """
    counter, read, found = YearCounter(), 0, 0
    for part in parts:
        rows, _ = scan_chunk(part)
        counter.feed(rows[:, record.STAMP], rows[:, record.FORM].astype(np.uint8))
        read, found = read + len(part.data), found + len(rows)
        if counter.known or (read > _MOST_BEFORE_FIRST and not found):
            break
    return counter.first_year(modified, zone)


def _ready(log: Log) -> Iterator[Segment]:
    """The log's segments; a compressed file of several parts is unpacked first, once for all."""
    parts = Counter(segment.file for segment in log.segments)
    unpacked: dict[LogFile, LogFile] = {}
    for segment in log.segments:
        file = segment.file
        if parts[file] > 1 and not file.seekable:
            if file not in unpacked:
                unpacked[file] = spool(file)
            file = unpacked[file]
        yield Segment(file, segment.start, segment.end, segment.header)


def _structured(stream: LogStream, kind: Kind, origin: Origin) -> Iterator[Batch]:
    """An XML or JSON log, through a library, a block at a time."""
    parser = StructuredParser("xml" if kind == "xml" else "json")
    block = memoryview(bytearray(_AD_BLOCK))
    while True:
        size = stream.readinto(block)
        ads = parser.feed(bytes(block[:size]))
        if size < len(block):
            ads += parser.close()
        yield batch_from_ads(ads, parser.skipped, origin=origin, size=size)
        parser.skipped.clear()
        if size < len(block):
            return


def read_events(
    paths: Sequence[str],
    *,
    access_point: str | None = None,
    timezone: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> EventLog:
    """Read logs into one event table in memory (see `EventReader` for arguments and errors)."""
    import polars as pl
    import pyarrow as pa

    reader = EventReader(paths, access_point=access_point, timezone=timezone, progress=progress)
    table = pa.Table.from_batches(list(reader.batches()), event_schema())
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return EventLog(frame, reader.report, tuple(reader.files))
