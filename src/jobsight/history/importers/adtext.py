"""Job ads in text, cut out of a stream of bytes: as HTCondor's tools print and keep them.

Two forms. *Text*: a line ``Name = expression`` an attribute; ads end at a blank line
(``condor_history -l``) or at a line of stars (a schedd's own history file). *JSON*: objects, in an
array or one behind another (``-json``, ``-jsonl``). Ads come one by one, in bounded memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

__all__ = ["LONGEST_AD", "Piece", "cut_json", "cut_text", "parse_json", "parse_text"]

LONGEST_AD = 8 << 20
"""Bytes of the longest ad that is read."""

_SEARCHED, _SEARCHED_PER_BYTE = 32 << 20, 16
"""Bytes that may be looked through in vain for the end of an object, so and so many for each byte
of the file; where there are no more, damage ends at the next object that begins after it."""

_BETWEEN = re.compile(rb"[\s\[\],]*")
_TOKEN = re.compile(rb'"(?:[^"\\]+|\\.)*(?P<close>"|\Z|\\\Z)|[{}]', re.DOTALL)
_RESUME = re.compile(rb"\n[ \t]*\{")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Piece(NamedTuple):
    """Bytes that should hold an ad.

    Attributes:
        line: number of the line at which it begins.
        data: the bytes; where `fault` says why they hold none, only their beginning.
    """

    line: int
    data: bytes
    fault: str | None = None


def cut_text(blocks: Iterable[bytes]) -> Iterator[Piece]:
    """The ads of a text, without blank lines and banners."""
    first, size = 1, 0
    kept: list[bytes] = []
    for number, line in enumerate(_raw_lines(blocks), 1):
        border = line.startswith(b"***") or not line.strip()
        if not border:
            if not size:
                first = number
            size += len(line)
            if size <= LONGEST_AD:
                kept.append(line)
        elif size:
            yield _whole(first, kept, size)
            kept, size = [], 0
    if size:
        yield _whole(first, kept, size)


def _whole(line: int, kept: list[bytes], size: int) -> Piece:
    if size > LONGEST_AD:
        return Piece(line, kept[0][:200] if kept else b"", f"longer than {LONGEST_AD} bytes")
    if not kept[-1].endswith(b"\n"):
        return Piece(line, b"".join(kept)[:200], "the ad is cut short")
    return Piece(line, b"".join(kept))


def _raw_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines with their ends; one longer than an ad may be comes in parts."""
    rest = b""
    for block in blocks:
        *parts, rest = (rest + block).split(b"\n")
        yield from (part + b"\n" for part in parts)
        if len(rest) > LONGEST_AD:
            yield rest
            rest = b""
    if rest:
        yield rest


class _Objects:
    """Finds the ends of JSON objects in a buffer that grows."""

    def __init__(self) -> None:
        self._buffer = b""
        self._at = 0
        self._line = 1
        self._torn = False
        self._budget = _SEARCHED

    def feed(self, block: bytes) -> Iterator[Piece]:
        """The objects that are whole now."""
        self._budget += _SEARCHED_PER_BYTE * len(block)
        self._buffer, self._at = self._buffer[self._at :] + block, 0
        while (piece := self._next(last=False)) is not None:
            yield piece

    def close(self) -> Iterator[Piece]:
        """What is left at the end."""
        while (piece := self._next(last=True)) is not None:
            yield piece

    def resume(self, piece: Piece) -> None:
        """The piece, just given, was no sound object: look for another one inside it."""
        self._budget -= len(piece.data)
        found = _RESUME.search(piece.data, 1)
        if found is not None and self._budget > 0:
            self._at -= len(piece.data) - found.start()
            self._line -= piece.data.count(b"\n", found.start())

    def _next(self, *, last: bool) -> Piece | None:
        if (piece := self._between()) is not None:
            return piece
        left = len(self._buffer) - self._at
        if not left:
            return None
        end = self._end()
        if end:
            return self._cut(end, None)
        if last:
            return self._unended("the ad is cut short")
        return self._unended(f"longer than {LONGEST_AD} bytes") if left > LONGEST_AD else None

    def _between(self) -> Piece | None:
        """Go to where an object begins; what stands before it is a piece of its own.

        None: nothing does, or the rest of a piece that was given already.
        """
        blank = _BETWEEN.match(self._buffer, self._at)
        assert blank is not None
        self._take(blank.end())
        if self._at == len(self._buffer) or self._buffer.startswith(b"{", self._at):
            return None
        torn, found = self._torn, self._buffer.find(b"{", self._at)
        piece = self._cut(found, "no ad")
        return None if torn else piece

    def _end(self) -> int:
        """Where the first object ends; 0 where that is not to be seen yet."""
        depth = 0
        for token in _TOKEN.finditer(self._buffer, self._at):
            first = token[0][:1]
            if first == b'"':
                if token["close"] != b'"':
                    break
            else:
                depth += 1 if first == b"{" else -1
                if not depth:
                    return token.end()
        self._budget -= len(self._buffer) - self._at
        return 0

    def _unended(self, why: str) -> Piece:
        found = _RESUME.search(self._buffer, self._at + 1) if self._budget > 0 else None
        return self._cut(found.start() if found else -1, why)

    def _cut(self, end: int, fault: str | None) -> Piece:
        """The bytes up to `end`; −1: all there are, and what follows is no piece of its own."""
        line, self._torn = self._line, end < 0
        data = self._take(len(self._buffer) if end < 0 else end)
        return Piece(line, data if fault is None else data[:200], fault)

    def _take(self, end: int) -> bytes:
        data, self._at = self._buffer[self._at : end], end
        self._line += data.count(b"\n")
        return data


def cut_json(blocks: Iterable[bytes]) -> Iterator[tuple[Piece, dict[str, Any] | None]]:
    """The objects of a JSON text, parsed; None where a piece holds none, see its `fault`."""
    objects = _Objects()

    def parsed(pieces: Iterator[Piece]) -> Iterator[tuple[Piece, dict[str, Any] | None]]:
        for piece in pieces:
            try:
                yield piece, None if piece.fault else parse_json(piece.data)
            except ValueError as error:
                objects.resume(piece)
                yield piece._replace(fault=str(error), data=piece.data[:200]), None

    for block in blocks:
        yield from parsed(objects.feed(block))
    yield from parsed(objects.close())


def parse_json(data: bytes) -> dict[str, Any]:
    """The attributes of an ad in JSON.

    Raises:
        ValueError: it is no JSON object.
    """
    try:
        value = json.loads(_unicode(data))
    except json.JSONDecodeError as error:
        raise ValueError(f"no sound JSON ({error.msg})") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("no ad")
    return {_sound(name): _sound(item) for name, item in value.items()}


def parse_text(data: bytes) -> dict[str, Any]:
    """The attributes of an ad in lines; expressions that are no values become their text.

    Raises:
        ValueError: no line of it is an attribute.
    """
    # Only importers of HTCondor's text wait for Numba.
    from jobsight.history.eventlog.classads import ad_to_json, room

    buffer = np.frombuffer(bytearray(data), np.uint8)
    out = np.empty(room(len(data), 1), np.uint8)
    size = ad_to_json(buffer, 0, len(data), out, 0, np.empty(3, np.int64))
    ad = parse_json(out[:size].tobytes())
    if not ad:
        raise ValueError("no attribute such as 'ClusterId = 12'")
    return ad


def _unicode(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _sound(value: Any) -> Any:
    """Text with half characters replaced: no document can hold them."""
    if isinstance(value, str) and not value.isascii():
        return _SURROGATE.sub("\ufffd", value)
    return value
