"""Job ads in text, cut out of a stream of bytes: as HTCondor's tools print and keep them.

Two forms. *Text*: a line ``Name = expression`` an attribute; ads end at a blank line
(``condor_history -l``) or at a line of stars (a schedd's own history file). *JSON*: objects, in an
array or one behind another (``-json``, ``-jsonl``). Ads come one by one, in bounded memory.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from jobsight.text import without_surrogates

__all__ = ["LONGEST_AD", "Piece", "cut_json", "cut_text", "parse_text"]

LONGEST_AD = 8 << 20
"""Bytes of the longest ad that is read."""

_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(r"[\s\[\],]*")
_RESUME = re.compile(r"\n[ \t]*\{")


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
    """Takes JSON objects out of a text that grows."""

    def __init__(self) -> None:
        self._text, self._at, self._line = "", 0, 1
        self._damaged = False

    def feed(self, text: str, *, last: bool) -> Iterator[tuple[Piece, dict[str, Any] | None]]:
        """The objects that are whole now, parsed, and damage between them."""
        self._text, self._at = self._text[self._at :] + text, 0
        while self._begins():
            if self._text[self._at] != "{":
                yield self._skip(self._at, "no ad")
                continue
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                fault = f"no sound JSON ({error.msg})"
                if "\n" not in self._text[error.pos :].rstrip():  # there may be more to come
                    if not last and len(self._text) - self._at <= LONGEST_AD:
                        return
                    fault = "the ad is cut short" if last else f"longer than {LONGEST_AD} bytes"
                yield self._skip(error.pos, fault)
            except (RecursionError, ValueError) as error:
                deep = isinstance(error, RecursionError)
                fault = "nested too deeply" if deep else "a number of thousands of digits"
                yield self._skip(self._at + 1, fault)
            else:
                ad = {_sound(name): _sound(item) for name, item in value.items()}
                yield Piece(self._line, self._text[self._at : self._at + 200].encode()), ad
                self._go(end)

    def _begins(self) -> bool:
        """Go to where an object begins; whether there is one."""
        if self._damaged:
            found = _RESUME.search(self._text, self._at)
            if found is None:
                line = self._text.rfind("\n", self._at)
                self._go(len(self._text) if line < 0 else line)
                return False
            self._go(found.start())
            self._damaged = False
        blank = _BETWEEN.match(self._text, self._at)
        assert blank is not None
        self._go(blank.end())
        return self._at < len(self._text)

    def _skip(self, found: int, fault: str) -> tuple[Piece, None]:
        """Damage: go on with the first line after `found` that begins an object."""
        piece = Piece(self._line, self._text[self._at : self._at + 200].encode(), fault)
        self._go(found)
        self._damaged = True
        return piece, None

    def _go(self, at: int) -> None:
        self._line += self._text.count("\n", self._at, at)
        self._at = at


def cut_json(blocks: Iterable[bytes]) -> Iterator[tuple[Piece, dict[str, Any] | None]]:
    """The objects of a JSON text, parsed; None where a piece holds none, see its `fault`."""
    objects = _Objects()
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for block in blocks:
        yield from objects.feed(decoder.decode(block), last=False)
    yield from objects.feed(decoder.decode(b"", True), last=True)


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
    found = json.loads(out[:size].tobytes().decode("utf-8", "replace"))
    if not found:
        raise ValueError("no attribute such as 'ClusterId = 12'")
    return {_sound(name): _sound(item) for name, item in found.items()}


def _sound(value: Any) -> Any:
    return without_surrogates(value) if isinstance(value, str) else value
