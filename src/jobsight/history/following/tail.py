"""Reading one growing file of an event log, a piece at a time, and dating what is read."""

from __future__ import annotations

import datetime as dt
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jobsight.history.eventlog.chunks import LARGEST
from jobsight.history.eventlog.columns import Batch, Origin
from jobsight.history.eventlog.family import Opened, read_at
from jobsight.history.eventlog.generations import generation_name, in_generation
from jobsight.history.eventlog.headers import Header
from jobsight.history.eventlog.times import LOCAL_NO_YEAR, TimeResolver
from jobsight.history.following.pieces import Taken, take
from jobsight.history.following.position import Place

__all__ = ["Part", "Piece", "ShrunkError"]

_MARK = 256
"""Bytes before a position whose digest tells whether they are still the same."""


class ShrunkError(Exception):
    """The file is shorter than what was read of it, or that has been written anew."""


@dataclass(frozen=True)
class Piece:
    """What one look at a file gave.

    Attributes:
        batch: records of one generation: `source` and `offset` are its name and their places in it.
        time: int64 (n,), µs since 1970.
        skipped: stretches without a sound record: (offset in the file, length, reason).
        more: the file has more behind them.
    """

    batch: Batch
    time: np.ndarray[Any, np.dtype[np.int64]]
    skipped: list[tuple[int, int, str]]
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
        place.mark = _mark(file.descriptor, place, place.offset)

    def fits(self, file: Opened) -> bool:
        """Whether what was read of this part stands in `file` as it did."""
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
        """The next whole records; None where there are none.

        Args:
            room: bytes to read; more where one record needs them.
            most: records to give at most.
            final: see `take`.
            now: seconds since 1970.
            origin: see `columns.Origin`.
            zone: of times that tell none.
            first_year: finds the year of the log's first records, where neither they nor a header
                have it.

        Raises:
            OSError, ShrunkError: see there.
        """
        status = os.fstat(self._descriptor)
        if not self._has_more(status.st_size):
            return None
        settled = final or now - status.st_mtime > _HOLES_SECONDS
        seen = None if settled else now
        taken = self._take(room, most, origin, status.st_size, final=final, now=seen)
        if taken is None:
            return None
        # Whatever fails is before anything has changed: then the same is read again.
        end = self.place.offset + taken.end
        mark = _mark(self._descriptor, self.place, end)
        yearless = len(taken.batch.form) > 0 and taken.batch.form[0] >= LOCAL_NO_YEAR
        if self.place.times is None and self.header is None and yearless:
            resolver = TimeResolver(zone, first_year=first_year())
        else:
            resolver = TimeResolver(zone)
        times = self._dated(taken, resolver)
        batch = in_generation(taken.batch, self.place.segment, self.place.start)
        self.begun = True
        self.place.offset, self.place.mark = end, mark
        return Piece(batch, times, taken.batch.skipped, more=end < status.st_size)

    def _has_more(self, size: int) -> bool:
        """Whether there are bytes behind the place, and those before it are what they were."""
        if size < self.place.offset:
            raise ShrunkError
        if size == self.place.offset:
            return False
        if _mark(self._descriptor, self.place, self.place.offset) != self.place.mark:
            raise ShrunkError
        return True

    def _take(
        self, room: int, most: int, origin: Origin, size: int, *, final: bool, now: float | None
    ) -> Taken | None:
        place = self.place
        while True:
            data = read_at(self._descriptor, room, place.offset)
            full = place.offset + len(data) < size
            hole = -1 if now is None else self._arriving(data, now)
            if hole >= 0:
                del data[hole:]
                full = False
            last = final and not full
            taken = take(data, place, most=most, full=full, final=last, origin=origin)
            if taken is not None or not full or room >= LARGEST:
                return taken
            room *= 2

    def _arriving(self, data: bytearray, now: float) -> int:
        """Where `data` has NULs in whose place bytes may still arrive, -1 where it has none.

        A busy log is written all the time: NULs that have been there for a while are there to stay.
        """
        found = data.find(b"\0")
        at = self.place.offset + found
        if found >= 0 and self._hole[0] != at:
            self._hole = (at, now)
        return found if found >= 0 and now - self._hole[1] <= _HOLES_SECONDS else -1

    def _dated(self, taken: Taken, resolver: TimeResolver) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Times of the records, int64 (n,) µs."""
        place, batch = self.place, taken.batch
        if place.times is not None:
            resolver.recall(place.times)
        header = taken.header
        if header is None and place.offset == 0:
            header = self.header
        if header is not None:
            self._begin(header, taken, resolver)
        times = resolver.resolve(batch.stamp, batch.form)
        place.times = resolver.state()
        return times

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


def _mark(descriptor: int, place: Place, end: int) -> str:
    """Digest of the bytes before `end`, without those that may be written anew."""
    start = max(place.first, end - _MARK)
    size = end - start
    if size <= 0:
        return ""
    return hashlib.sha256(read_at(descriptor, size, start)).hexdigest()[:16]
