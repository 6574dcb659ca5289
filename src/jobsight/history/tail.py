"""Reading one growing file of an event log, a piece at a time: only whole records are taken.

Where a piece may end is where the reader may cut (`eventlog.chunks`): behind a separator, or the
brace of an ad. So the records are the same whenever the file is looked at.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from jobsight.history.eventlog import record, scanner
from jobsight.history.eventlog.adcolumns import ads_to_columns, ads_to_times
from jobsight.history.eventlog.chunks import LARGEST, Chunk, last_header
from jobsight.history.eventlog.columns import (
    Batch,
    Origin,
    batch_from_rows,
    batch_from_values,
)
from jobsight.history.eventlog.family import Opened, read_at
from jobsight.history.eventlog.generations import Generation, generation_name, in_generation
from jobsight.history.eventlog.headers import Header, parse_header
from jobsight.history.eventlog.logfiles import Kind
from jobsight.history.eventlog.structured import Ad, StructuredParser
from jobsight.history.eventlog.times import FutureDates, TimeResolver
from jobsight.history.events import scan_chunk

__all__ = ["Part", "Piece", "Place", "ShrunkError", "Taken", "take"]

_SEPARATOR = b"\n..."
_LINE = 4096
_ANY_YEAR = 1972
_MARK = 256
"""Bytes before a position whose digest tells whether they are still the same."""

_GENERIC = 8


class ShrunkError(Exception):
    """The file is shorter than what was read of it, or that has been written anew."""


class Place(msgspec.Struct, forbid_unknown_fields=True):
    """Where reading stands in one file, as it is saved.

    Attributes:
        name: of the file's generation.
        kind: how its records are written.
        first: bytes up to the end of its first record, which may be written anew.
        segment: generation of the records at `offset`: `name`, but for files that were joined.
        start: where in the file the segment begins.
        sequence, ctime, base: number, time and bytes before it, of the file's header.
        offset: bytes read.
        mark: digest of the bytes before `offset`.
        cuts: how often it was truncated.
        times, dates: states of `TimeResolver` and `FutureDates`; None before the first record.
    """

    name: str
    kind: Kind
    first: int
    segment: str
    start: int = 0
    sequence: int | None = None
    ctime: int | None = None
    base: int | None = None
    offset: int = 0
    mark: str = ""
    cuts: int = 0
    times: dict[str, Any] | None = None
    dates: list[Any] | None = None

    @classmethod
    def at_start(cls, found: Generation) -> Place:
        """The beginning of a file."""
        header = found.header
        return cls(
            name=found.name,
            kind=found.kind,
            first=found.first,
            segment=found.name,
            sequence=header.sequence if header else None,
            ctime=header.ctime if header else None,
            base=header.offset if header else None,
        )


@dataclass(frozen=True)
class Taken:
    """Records taken from the beginning of some bytes.

    Attributes:
        batch: the records, times not yet resolved, offsets in the file.
        end: how many bytes are done with.
        header: what the first record says of the file, if it is a header.
    """

    batch: Batch
    end: int
    header: Header | None


@dataclass(frozen=True)
class Piece:
    """What one look at a file gave.

    Attributes:
        batch: records of one generation: `source` and `offset` are its name and their places in it.
        time: int64 (n,), µs since 1970.
        skipped: stretches without a sound record: (offset in the file, length, reason).
    """

    batch: Batch
    time: np.ndarray[Any, np.dtype[np.int64]]
    skipped: list[tuple[int, int, str]]


def take(
    data: bytearray, place: Place, *, most: int, full: bool, final: bool, origin: Origin
) -> Taken | None:
    """The whole records at the beginning of `data`; None where there is none yet.

    Args:
        data: bytes of the file from `place.offset` on.
        place: where they stand.
        most: records taken at most.
        full: the file has more behind `data`.
        final: nothing will be written any more: what has not ended is given up.
        origin: see `columns.Origin`.
    """
    if place.kind in ("xml", "json"):
        return _take_ads(data, place, most, final=final, origin=origin)
    cut = len(data) if final else _last_end(data)
    if not cut and full:
        cut = last_header(data, len(data)) or (len(data) if len(data) >= LARGEST else 0)
    if not cut:
        return None
    text = np.frombuffer(data, np.uint8)[:cut]
    rows, skips = scan_chunk(Chunk(text, place.offset, last=final))
    header, end = _border(data, rows, most, cut)
    rows = rows[rows[:, record.OFFSET_START] < end]
    skips = skips[skips[:, 0] < end]
    reasons = scanner.SKIP_REASONS
    batch = batch_from_rows(text, rows, skips, base=place.offset, origin=origin, reasons=reasons)
    return Taken(batch, end, header)


def _last_end(data: bytearray) -> int:
    """Where the last whole record ends, 0 without any."""
    at = data.rfind(_SEPARATOR)
    while at >= 0:
        after = at + len(_SEPARATOR)
        if data[after : after + 1] == b"\r":
            after += 1
        if data[after : after + 1] == b"\n":
            return after + 1
        at = data.rfind(_SEPARATOR, 0, at + len(_SEPARATOR) - 1)
    return 0


def _border(data: bytearray, rows: record.Row, most: int, cut: int) -> tuple[Header | None, int]:
    """The header that the rows begin with, and where to stop: at `most`, or before a header."""
    end = int(rows[most, record.OFFSET_START]) if len(rows) > most else cut
    first = None
    generic = (rows[:, record.CODE] == _GENERIC) & (rows[:, record.CLUSTER] < 0)
    for row in np.flatnonzero(generic).tolist():
        at = int(rows[row, record.OFFSET_START])
        header = parse_header(bytes(data[at : at + _LINE]))
        if header is not None and row > 0:
            return first, min(end, at)
        first = header if row == 0 else first
    return first, end


def _take_ads(
    data: bytearray, place: Place, most: int, *, final: bool, origin: Origin
) -> Taken | None:
    parser = StructuredParser("xml" if place.kind == "xml" else "json")
    found = parser.feed(bytes(data)) + (parser.close() if final else parser.release())
    end = len(data) if final else parser.position
    if not end:
        return None
    if len(found) > most:
        end = found[most].offset
        del found[most:]
    ads = [Ad(ad.offset + place.offset, ad.attributes) for ad in found]
    skipped = [
        (skip.offset + place.offset, skip.length, skip.reason)
        for skip in parser.skipped
        if skip.offset < end
    ]
    stamp, form = ads_to_times(ads)
    values = ads_to_columns(ads, join=False)
    batch = batch_from_values(values, stamp, form, origin=origin, skipped=skipped, size=end)
    return Taken(batch, end, None)


class _Stream:
    """The bytes of an open file, as `chunks` reads them."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._position = 0

    def readinto(self, buffer: memoryview, /) -> int:
        count = os.preadv(self._descriptor, [buffer], self._position)
        self._position += count
        return count


class Part:
    """One file of a log that is being followed: its place, and the open file. Not thread-safe.

    Attributes:
        place: see `Place`.
        inode: device and number of the open file.
        creator: what its header names as the access point.
        header: its header, None where it has none.
        ended: when (seconds since 1970) it was read to its end after it had been rotated.
        begun: whether any of it was read.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self.inode: tuple[int, int] | None = None
        self.creator: str | None = None
        self.header: Header | None = None
        self.ended: float | None = None
        self.begun = place.times is not None
        self._descriptor = -1

    @property
    def open(self) -> bool:
        """Whether the file is open."""
        return self._descriptor >= 0

    def attach(self, file: Opened) -> None:
        """Read `file` from now on, which is that generation."""
        self.close()
        self._descriptor, self.inode = file.take(), file.inode
        assert file.generation is not None
        self.header = file.generation.header
        self.creator = self.header.creator if self.header else None

    def close(self) -> None:
        """Let go of the file; closing twice does no harm."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def size(self) -> int:
        """Bytes of the file now.

        Raises:
            OSError: as the system tells.
        """
        return os.fstat(self._descriptor).st_size if self.open else self.place.offset

    def head(self, size: int) -> bytes:
        """Its first bytes."""
        return bytes(read_at(self._descriptor, size, 0)) if self.open else b""

    def modified(self) -> float:
        """Seconds since 1970 of its last change."""
        return os.fstat(self._descriptor).st_mtime

    def stream(self) -> _Stream:
        """All of it, from its beginning to its present end."""
        return _Stream(self._descriptor)

    def cut_short(self, file: Opened) -> None:
        """Its file was truncated or written anew, and is `file` now: go on behind what is there.

        What follows is another segment, as its places were taken before.
        """
        place = self.place
        place.cuts += 1
        place.offset = place.start = min(place.offset, file.size)
        place.segment = f"{place.name}~{place.cuts}"
        place.mark = _mark(file.descriptor, place)

    def fits(self, file: Opened) -> bool:
        """Whether what was read of this part stands in `file` as it did."""
        unchanged = _mark(file.descriptor, self.place) == self.place.mark
        return file.size >= self.place.offset and unchanged

    def read(
        self,
        *,
        room: int,
        most: int,
        final: bool,
        now: float,
        origin: Origin,
        zone: dt.tzinfo,
        first_year: Callable[[Batch], int],
    ) -> Piece | None:
        """The next whole records; None where there are none.

        Args:
            room: bytes to read; more where one record needs them.
            most: records to give at most.
            final: see `take`.
            now: seconds since 1970.
            origin: see `columns.Origin`.
            zone: of times that tell none.
            first_year: the year of a file's first records, where neither they nor a header tell.

        Raises:
            OSError: as the system tells.
            ShrunkError: see there.
        """
        status = os.fstat(self._descriptor)
        if status.st_size < self.place.offset:
            raise ShrunkError
        if status.st_size == self.place.offset:
            return None
        if _mark(self._descriptor, self.place) != self.place.mark:
            raise ShrunkError
        settled = final or now - status.st_mtime > _HOLES_SECONDS
        taken = self._take(room, most, origin, status.st_size, final=final, settled=settled)
        if taken is None:
            return None
        dates = FutureDates(max(now, status.st_mtime))
        known = self.place.times is not None or self.header is not None
        year = _ANY_YEAR if known else first_year(taken.batch)
        times, noted = self._dated(taken, dates, TimeResolver(zone, first_year=year))
        piece = Piece(
            in_generation(taken.batch, self.place.segment, self.place.start),
            times,
            sorted([*taken.batch.skipped, *noted]),
        )
        self.begun = True
        self.place.offset += taken.end
        self.place.mark = _mark(self._descriptor, self.place)
        return piece

    def _take(
        self, room: int, most: int, origin: Origin, size: int, *, final: bool, settled: bool
    ) -> Taken | None:
        place = self.place
        while True:
            data = read_at(self._descriptor, room, place.offset)
            full = place.offset + len(data) < size
            hole = -1 if settled else data.find(b"\0")
            if hole >= 0:
                del data[hole:]
                full = False
            last = final and not full
            taken = take(data, place, most=most, full=full, final=last, origin=origin)
            if taken is not None or not full or room >= LARGEST:
                return taken
            room *= 2

    def _dated(
        self, taken: Taken, dates: FutureDates, resolver: TimeResolver
    ) -> tuple[np.ndarray[Any, np.dtype[np.int64]], list[tuple[int, int, str]]]:
        """Times of the records, int64 (n,) µs; and what to say of those dated in the future."""
        place, batch = self.place, taken.batch
        if place.times is not None:
            resolver.recall(place.times)
        if place.dates is not None:
            dates.recall(place.dates)
        header = taken.header
        if header is None and place.offset == 0:
            header = self.header
        if header is not None:
            self._begin(header, taken, resolver)
        times, _, odd = dates.mend(resolver.resolve(batch.stamp, batch.form))
        place.times, place.dates = resolver.state(), dates.state()
        at = batch.columns["offset"].take(odd).to_pylist()
        return times, [(one, 0, _IN_FUTURE) for one in at]

    def _begin(self, header: Header, taken: Taken, resolver: TimeResolver) -> None:
        """A header: a segment begins, mostly with the file itself."""
        name = generation_name(header)
        if self.place.offset > 0:
            self.place.start = taken.batch.columns["offset"][0].as_py()
        if name is not None and name != self.place.name:
            self.place.segment = name
        if header.ctime is not None:
            resolver.begin_segment(header.ctime)


_HOLES_SECONDS = 30.0
"""On network file systems bytes of another machine may show as NULs until they have arrived."""

_IN_FUTURE = "dated in the future; taken as of the record before"


def _mark(descriptor: int, place: Place) -> str:
    """Digest of the bytes before the place, without those that may be written anew."""
    start = max(place.first, place.offset - _MARK)
    size = place.offset - start
    if size <= 0:
        return ""
    return hashlib.sha256(read_at(descriptor, size, start)).hexdigest()[:16]
