"""Reading one growing file of an event log, a piece at a time, and dating what is read.

A piece ends where the reader may cut (`eventlog.chunks`): after a separator, or the brace of an ad.
So the records are the same whenever the file is read.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jobsight.history.eventlog import record, scanner
from jobsight.history.eventlog.chunks import LARGEST, Chunk, last_end, last_header
from jobsight.history.eventlog.columns import Batch, Origin, batch_from_ads, batch_from_rows
from jobsight.history.eventlog.generations import in_generation
from jobsight.history.eventlog.headers import Header
from jobsight.history.eventlog.structured import StructuredParser
from jobsight.history.eventlog.times import LOCAL_NO_YEAR, TimeResolver
from jobsight.history.events import scan_chunk
from jobsight.history.following.family import Opened, read_at
from jobsight.history.following.position import Place

__all__ = ["Part", "Piece", "ShrunkError"]

_MARK = 256
"""Bytes before a position whose digest shows whether they are still the same."""

_HOLES_SECONDS = 30.0
"""On network file systems bytes of another machine may show as NULs until they have arrived."""


class ShrunkError(Exception):
    """The file is shorter than what was read of it, or that has been written anew."""


class Piece(NamedTuple):
    """The records read in one poll of a file.

    Attributes:
        batch: records of one generation: `source` and `offset` are its name and offsets in it.
        time: int64 (n,), µs since 1970.
        more: the file has more after them.
    """

    batch: Batch
    time: NDArray[np.int64]
    more: bool


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
        header: its header, None where it has none.
        ended: when (seconds since 1970) it was read to its end after it had been rotated.
        begun: whether any of it was read.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self.inode: tuple[int, int] | None = None
        self.header: Header | None = None
        self.ended: float | None = None
        self.begun = place.offset > 0
        self._hole = (-1, 0.0)  # where NULs begin, and since when they have been seen there
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

    def close(self) -> None:
        """Close the file; closing twice does no harm."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def size(self) -> int:
        """Bytes of the file now."""
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
        """Its file was truncated or written anew, and is `file` now: go on after what is there.

        What follows is another segment, as its offsets were used before.
        """
        place = self.place
        place.cuts += 1
        place.offset = place.start = min(place.offset, file.size)
        place.segment = f"{place.name}~{place.cuts}"
        place.mark = _mark(file.descriptor, place, place.offset)

    def fits(self, file: Opened) -> bool:
        """Whether `file` still has what was read of this part."""
        unchanged = _mark(file.descriptor, self.place, self.place.offset) == self.place.mark
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
        first_year: Callable[[], int],
    ) -> Piece | None:
        """The next whole records, at most so many; None where there are none.

        So many bytes are read (`room`), more where one record needs them. If `final`, nothing will
        be written any more, and what has not ended is given up. Times without one are of `zone`;
        `first_year` finds the year of the log's first records, where neither they nor a header have
        it.

        Raises:
            OSError, ShrunkError: see there.
        """
        place = self.place
        status = os.fstat(self._descriptor)
        if status.st_size == place.offset:
            return None
        before = _mark(self._descriptor, place, place.offset)
        if status.st_size < place.offset or before != place.mark:
            raise ShrunkError
        written = final or now - status.st_mtime > _HOLES_SECONDS
        seen = None if written else now
        taken = self._take(room, most, origin, status.st_size, final=final, now=seen)
        if taken is None:
            return None
        # Whatever fails is before anything has changed: then the same is read again.
        batch, size = taken
        end = place.offset + size
        mark = _mark(self._descriptor, place, end)
        times = self._dated(batch, zone, first_year)
        self.begun = True
        place.offset, place.mark = end, mark
        batch = in_generation(batch, place.segment, place.start)
        return Piece(batch, times, more=end < status.st_size)

    def _take(
        self, room: int, most: int, origin: Origin, size: int, *, final: bool, now: float | None
    ) -> tuple[Batch, int] | None:
        place = self.place
        while True:
            data = read_at(self._descriptor, room, place.offset)
            full = place.offset + len(data) < size
            # NULs in whose place bytes may still arrive. A busy log is written all the time: those
            # that have been there for a while are permanent.
            hole = -1 if now is None else data.find(b"\0")
            if hole >= 0 and now is not None:
                if self._hole[0] != place.offset + hole:
                    self._hole = (place.offset + hole, now)
                if now - self._hole[1] <= _HOLES_SECONDS:
                    del data[hole:]
                    full = False
            last = final and not full
            if place.kind in ("xml", "json"):
                taken = _take_ads(data, place, most, final=last, origin=origin)
            else:
                taken = _take_text(data, place, most, full=full, final=last, origin=origin)
            if taken is not None or not full or room >= LARGEST:
                return taken
            room *= 2

    def _dated(
        self, batch: Batch, zone: dt.tzinfo, first_year: Callable[[], int]
    ) -> NDArray[np.int64]:
        """Times of the records, int64 (n,) µs."""
        place = self.place
        yearless = len(batch.form) > 0 and batch.form[0] >= LOCAL_NO_YEAR
        if place.times is None and self.header is None and yearless:
            resolver = TimeResolver(zone, first_year=first_year())
        else:
            resolver = TimeResolver(zone)
        if place.times is not None:
            resolver.recall(place.times)
        if place.offset == 0 and self.header is not None and self.header.ctime is not None:
            resolver.begin_segment(self.header.ctime)
        times = resolver.resolve(batch.stamp, batch.form)
        place.times = resolver.state()
        return times


def _mark(descriptor: int, place: Place, end: int) -> str:
    """Digest of the bytes before `end`, without those that may be written anew."""
    start = max(place.first, end - _MARK)
    size = end - start
    if size <= 0:
        return ""
    return hashlib.sha256(read_at(descriptor, size, start)).hexdigest()[:16]


def _take_text(
    data: bytearray, place: Place, most: int, *, full: bool, final: bool, origin: Origin
) -> tuple[Batch, int] | None:
    """The first whole records of `data`, at `place` in a text log, and where they end, or None."""
    cut = len(data) if final else last_end(data, len(data))
    if not cut and full:
        cut = last_header(data, len(data)) or (len(data) if len(data) >= LARGEST else 0)
    if not cut:
        return None
    text = np.frombuffer(data, np.uint8)[:cut]
    rows, skips = scan_chunk(Chunk(text, place.offset, last=final))
    end = int(rows[most, record.OFFSET_START]) if len(rows) > most else cut
    rows = rows[:most]
    skips = skips[skips[:, 0] < end]
    reasons = scanner.SKIP_REASONS
    batch = batch_from_rows(text, rows, skips, base=place.offset, origin=origin, reasons=reasons)
    return batch, end


def _take_ads(
    data: bytearray, place: Place, most: int, *, final: bool, origin: Origin
) -> tuple[Batch, int] | None:
    """As `_take_text`, of an XML or JSON log."""
    parser = StructuredParser("xml" if place.kind == "xml" else "json")
    found = parser.feed(bytes(data)) + (parser.close() if final else [])
    end = len(data) if final else parser.position
    if not end:
        return None
    if len(found) > most:
        end = found[most].offset
        del found[most:]
    ads = [ad._replace(offset=ad.offset + place.offset) for ad in found]
    skips = [
        skip._replace(offset=skip.offset + place.offset)
        for skip in parser.skipped
        if skip.offset < end
    ]
    return batch_from_ads(ads, skips, origin=origin, size=end), end
