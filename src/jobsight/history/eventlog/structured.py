"""XML and JSON event logs: one ClassAd per event, split by bytes, each parsed alone.

A parser without I/O: bytes are pushed in, ads come out. Memory stays bounded, as no record may be
longer than 1 MiB. How one record is written is the business of `adformats`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from jobsight.history.eventlog.adformats import Attributes, Json, Xml

__all__ = ["MAX_RECORD", "Ad", "Skip", "StructuredParser"]

MAX_RECORD = 1 << 20
"""Bytes; a longer record is skipped."""

_NOTHING_HERE = "no event record here"
_TOO_LONG = f"record longer than {MAX_RECORD} bytes"


class Ad(NamedTuple):
    """One event: where its record starts in the log, and its attributes, names as written."""

    offset: int
    attributes: Attributes


class Skip(NamedTuple):
    """A stretch of the log that holds no sound record."""

    offset: int
    length: int
    reason: str


class StructuredParser:
    """Push parser of one XML or JSON log. Not thread-safe.

    Attributes:
        skipped: what was passed over so far, in order of position.
    """

    def __init__(self, kind: Literal["xml", "json"]) -> None:
        self.skipped: list[Skip] = []
        self._format: Xml | Json = Xml() if kind == "xml" else Json()
        self._buffer = bytearray()
        self._base = 0  # position of the buffer's first byte
        self._inside = False  # whether the buffer starts with a record
        self._dropping: str | None = None  # why bytes are dropped up to the next record

    def feed(self, data: bytes) -> list[Ad]:
        """Take the next bytes of the log; the ads that are complete by now."""
        self._buffer += data
        return self._run(final=False)

    @property
    def position(self) -> int:
        """Bytes of the log that are done with: whole records, and what was passed over."""
        return self._base

    def close(self) -> list[Ad]:
        """The log has ended: the ads that were still open."""
        return self._run(final=True)

    def _run(self, *, final: bool) -> list[Ad]:
        ads: list[Ad] = []
        while self._buffer:
            if not self._inside and not self._enter(final=final):
                break
            end = self._format.end(self._buffer)
            if end is None and final:
                end = len(self._buffer)
            if end is None:
                if len(self._buffer) > MAX_RECORD:
                    self._drop_all(_TOO_LONG)
                    continue
                break
            self._take(end, ads)
        return ads

    def _enter(self, *, final: bool) -> bool:
        """Drop what stands before the next record; False where none is to be seen yet."""
        start = self._format.start(self._buffer)
        if start is None:
            if final:
                self._drop(len(self._buffer), self._dropping or _NOTHING_HERE)
            elif len(self._buffer) > MAX_RECORD or self._dropping:
                self._drop(len(self._buffer) - 64, self._dropping or _NOTHING_HERE)
            return False
        self._drop(start, self._dropping or _NOTHING_HERE)
        self._dropping = None
        self._inside = True
        self._format.begin()
        return True

    def _drop_all(self, reason: str) -> None:
        self._drop(len(self._buffer) - 8, reason)
        self._dropping = reason
        self._inside = False

    def _drop(self, count: int, reason: str) -> None:
        if count <= 0:
            return
        found = self._format.benign.match(self._buffer, 0, count)
        passed = found.end() if found and not self._dropping else 0
        if passed < count:
            self._skip(self._base + passed, count - passed, reason)
        self._advance(count)

    def _skip(self, offset: int, length: int, reason: str) -> None:
        if self.skipped:
            last = self.skipped[-1]
            if last.offset + last.length == offset and last.reason == reason:
                self.skipped[-1] = Skip(last.offset, last.length + length, reason)
                return
        self.skipped.append(Skip(offset, length, reason))

    def _advance(self, count: int) -> None:
        del self._buffer[:count]
        self._base += count

    def _take(self, end: int, ads: list[Ad]) -> None:
        """Parse the record in the first `end` bytes; damaged, go on inside it where one begins."""
        piece, start = bytes(self._buffer[:end]), self._base
        self._inside = False
        self._advance(end)
        if len(piece) > MAX_RECORD:
            self._skip(start, end, _TOO_LONG)
            return
        at = 0
        while at < end:
            found = self._format.parse(piece, at)
            if found.ad is not None:
                ads.append(Ad(start + at, found.ad))
            elif found.reason is not None:
                self._skip(start + at, found.length, found.reason)
            at += found.length
