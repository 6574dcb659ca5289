"""Cutting a stream of log text into chunks that end where a record ends, in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from jobsight.history.eventlog.record import COLUMNS, Bytes, numbers, parse_header

__all__ = ["LARGEST", "ByteStream", "Chunk", "chunks", "last_end", "last_header"]

CHUNK = 2 << 20
"""Small enough that a chunk is still in the processor's cache when its texts are cut out."""

LARGEST = 64 << 20
"""Without a record in so many bytes a chunk is cut anywhere: this is not an event log."""

_HEADER = re.compile(rb"\n(?=(\d{3} \([^\r\n]*)\r?\n)")


class ByteStream(Protocol):
    """What chunks are cut from."""

    def readinto(self, buffer: memoryview, /) -> int:
        """Fill as much of `buffer` as there is; 0 at the end."""
        ...


@dataclass(frozen=True)
class Chunk:
    """A part of a log: bytes, their position in the uncompressed log, whether the log ends here."""

    data: Bytes
    offset: int
    last: bool


def last_end(buffer: bytearray, size: int) -> int:
    """Where the last record with a separator ends in ``buffer[:size]``, 0 without any."""
    at = buffer.rfind(b"\n...", 0, size)
    while at >= 0:
        after = at + 4 + (buffer[at + 4 : at + 5] == b"\r")
        if buffer[after : after + 1] == b"\n" and after < size:
            return after + 1
        at = buffer.rfind(b"\n...", 0, at + 3)
    return 0


def last_header(buffer: bytearray, size: int) -> int:
    """Where the last record begins of those that lack separators, 0 without any."""
    for at, end in reversed([found.span(1) for found in _HEADER.finditer(buffer, 0, size)]):
        header: Any = bytes(buffer[at:end])
        if parse_header.python(header, 0, end - at, numbers.python(COLUMNS)) > 0:
            return at
    return 0


def chunks(stream: ByteStream, *, start: int = 0, end: int | None = None) -> Iterator[Chunk]:
    """Cut `stream`, which is at `start`, up to position `end` (None: to its end)."""
    rest, offset, room = b"", start, CHUNK
    while True:
        buffer = bytearray(room)
        buffer[: len(rest)] = rest
        limit = room if end is None else min(room, end - offset)
        size, view = len(rest), memoryview(buffer)
        while size < limit and (count := stream.readinto(view[size:limit])):
            size += count
        last = size < room
        cut = size if last else last_end(buffer, size) or last_header(buffer, size)
        if cut == 0 and not last and room < LARGEST:
            rest, room = bytes(buffer), room * 2
            continue
        cut = cut or size
        rest, room = bytes(memoryview(buffer)[cut:size]), CHUNK
        while room <= len(rest):
            room *= 2
        if cut or last:
            yield Chunk(np.frombuffer(buffer, np.uint8)[:cut], offset, last)
        offset += cut
        if last:
            return
