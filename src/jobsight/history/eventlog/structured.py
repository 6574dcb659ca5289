"""XML and JSON event logs: one ClassAd per event, split by bytes, each parsed alone.

Layouts: HTCondor's classad/jsonSink.cpp and classad/xmlSink.cpp, and the DTD that old XML logs
name. A parser without I/O: bytes are pushed in, ads come out. Memory is bounded, as a record has at
most 1 MiB.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Callable
from typing import Any, Literal, NamedTuple
from xml.etree import ElementTree

from jobsight.clock import micros
from jobsight.text import without_surrogates

__all__ = ["MAX_RECORD", "Ad", "Attributes", "Skip", "StructuredParser", "first_end", "parse_time"]

Attributes = dict[str, Any]

MAX_RECORD = 1 << 20
"""Bytes; a longer record is skipped."""

_NOTHING_HERE = "no event record here"
_CUT_SHORT = "record cut short where another begins"
_TOO_LONG = f"record longer than {MAX_RECORD} bytes"
_LONGEST_BORDER = 16
_DEEPEST = 20
_LEAST_TIME = len("2026-11-21T02:31")

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Ad(NamedTuple):
    """One event: where its record starts in the log, and its attributes, names as written."""

    offset: int
    attributes: Attributes


class Skip(NamedTuple):
    """A stretch of the log without a sound record."""

    offset: int
    length: int
    reason: str


class _Form(NamedTuple):
    """How records are written.

    Attributes:
        blank: what may be between records.
        start: where a record begins: at the start of a line, or behind the NULs that a crash of
            the machine may leave in a file; in XML also within a line.
        border: where one ends, or the next begins.
        mark: the first line of a record as HTCondor writes it.
        decode: the value at the beginning of some bytes, and how many of them it takes.
    """

    blank: re.Pattern[bytes]
    start: re.Pattern[bytes]
    border: re.Pattern[bytes]
    mark: bytes
    decode: Callable[[bytes], tuple[Any, int]]


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)


def _decode_json(piece: bytes) -> tuple[Any, int]:
    text = piece.decode("utf-8", "surrogateescape")
    value, end = _DECODER.raw_decode(text)
    return value, end if text.isascii() else len(text[:end].encode("utf-8", "surrogateescape"))


def _decode_xml(piece: bytes) -> tuple[Any, int]:
    if b"<!" in piece or b"<?" in piece:
        raise ValueError("a declaration inside a record")
    text = _NOT_XML.sub("\ufffd", piece.decode("utf-8", "replace"))
    # No document type is let in, so there are no entities but the five of XML itself.
    return _classad(ElementTree.fromstring(text)), len(piece)  # noqa: S314


def _classad(element: ElementTree.Element) -> Attributes:
    """The attributes; where one is repeated, as old logs do, its last value counts."""
    return {
        attribute.get("n", ""): _value(attribute[0]) if len(attribute) else None
        for attribute in element
        if attribute.tag == "a"
    }


def _value(element: ElementTree.Element) -> Any:
    tag, text = element.tag, element.text or ""
    if tag == "c":
        return _classad(element)
    if tag == "l":
        return [_value(item) for item in element]
    if tag == "b":
        return element.get("v", text).strip().lower() in ("t", "true")
    if tag == "i":
        return int(text)
    if tag in ("r", "n"):
        return _finite(text)
    if tag in ("s", "e", "at", "rt"):
        return text
    return None  # undefined and error


_FORMS = {
    "xml": _Form(
        blank=re.compile(
            rb"(?:\s|\xef\xbb\xbf|<\?xml[^<>]*\?>|<!DOCTYPE[^<>\[\]]*>|</?classads>"
            rb"|\.\.\.(?=\s|\Z))*"
        ),
        start=re.compile(rb'(?<!">)<c>'),
        border=re.compile(rb"</c>(?=\s|<c>|</classads>)|\n(?=<c>)"),
        mark=b"<c>\n",
        decode=_decode_xml,
    ),
    "json": _Form(
        blank=re.compile(rb"(?:[\s\[\],]|\xef\xbb\xbf|\.\.\.(?=\s|\Z))*"),
        start=re.compile(rb"(?:^|(?<=\0))\{", re.MULTILINE),
        border=re.compile(rb"\n\}|\n(?=\{)"),
        mark=b"{\n",
        decode=_decode_json,
    ),
}


def parse_time(text: str) -> tuple[int, int] | None:
    """µs of ``2026-11-21T02:31:12.679Z`` as if it were UTC, and its form (0 local, 1 absolute).

    An offset is subtracted. None where the text is not a date and time.
    """
    text = text.strip()
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    if len(text) < _LEAST_TIME:
        return None
    absolute = moment.tzinfo is not None
    return micros(moment if absolute else moment.replace(tzinfo=dt.UTC)), int(absolute)


def first_end(kind: Literal["xml", "json"], head: bytes) -> int | None:
    """Where the first record in `head` ends, None where it has not ended."""
    form = _FORMS[kind]
    start = form.start.search(head)
    end = form.border.search(head, start.end()) if start else None
    return end.end() if end else None


def _sound(value: Any, depth: int = 0) -> Any:
    """The value with half characters replaced, which no text column can hold.

    Raises:
        ValueError: it is nested too deeply for the columns' JSON.
    """
    if depth > _DEEPEST:
        raise ValueError(f"nested more than {_DEEPEST} deep")
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, list):
        return [_sound(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {_sound(name): _sound(item, depth + 1) for name, item in value.items()}
    return value


class _NotAnEventError(Exception):
    """Bytes that do not begin with an event; says why."""


class StructuredParser:
    """Push parser of one XML or JSON log. Not thread-safe.

    Attributes:
        skipped: what was passed over so far, in order of position.
    """

    def __init__(self, kind: Literal["xml", "json"]) -> None:
        self.skipped: list[Skip] = []
        self._kind = kind
        self._form = _FORMS[kind]
        self._buffer = bytearray()
        self._base = 0  # position of the buffer's first byte
        self._searched = 0  # where in the buffer to look for a border
        self._dropping: str | None = None  # why bytes are dropped up to the next border

    def feed(self, data: bytes) -> list[Ad]:
        """Take the next bytes of the log; the ads that are complete by now."""
        self._buffer += data
        ads: list[Ad] = []
        while found := self._form.border.search(self._buffer, self._searched):
            self._take(found.end(), ads)
        if len(self._buffer) > MAX_RECORD + _LONGEST_BORDER:
            begun = self._form.start.search(self._buffer) is not None
            self._dropping = self._dropping or (_TOO_LONG if begun else _NOTHING_HERE)
            self._pass(len(self._buffer) - _LONGEST_BORDER)
        self._searched = max(0, len(self._buffer) - _LONGEST_BORDER)
        return ads

    @property
    def position(self) -> int:
        """Bytes of the log that are done with: whole records, and what was passed over."""
        return self._base

    def close(self) -> list[Ad]:
        """The log has ended: the ads that were still open."""
        ads: list[Ad] = []
        self._take(len(self._buffer), ads)
        return ads

    def _pass(self, end: int) -> bytes:
        """Remove the first `end` bytes; those that are dropped are reported."""
        piece = bytes(self._buffer[:end])
        if self._dropping is not None:
            self._skip(piece, 0, end, self._dropping)
        del self._buffer[:end]
        self._base += end
        self._searched = 0
        return piece

    def _skip(self, piece: bytes, start: int, end: int, reason: str) -> None:
        """Report ``piece[start:end]``, where the buffer begins with `piece`, less blanks before."""
        offset = self._base + start
        last = self.skipped[-1] if self.skipped else None
        if last and last.offset + last.length == offset and last.reason == reason:
            self.skipped[-1] = Skip(last.offset, last.length + end - start, reason)
            return
        blank = self._form.blank.match(piece, start, end)
        passed = blank.end() if blank else start
        if passed < end:
            self.skipped.append(Skip(self._base + passed, end - passed, reason))

    def _take(self, end: int, ads: list[Ad]) -> None:
        """Parse the first `end` bytes, which hold at most one whole record."""
        piece, at, why = bytes(self._buffer[:end]), 0, _NOTHING_HERE
        if self._dropping is None and end > MAX_RECORD:
            why = _TOO_LONG
        elif self._dropping is None and (found := self._form.start.search(piece)):
            self._skip(piece, 0, found.start(), _NOTHING_HERE)
            at, why = self._parse(piece, found.start(), ads)
        if self._dropping is None:
            self._skip(piece, at, end, why)
        self._pass(end)
        self._dropping = None

    def _parse(self, piece: bytes, at: int, ads: list[Ad]) -> tuple[int, str]:
        """Take the record at `at`, or one that begins within it: where to go on; why to skip."""
        try:
            return self._event(piece, at, ads), _NOTHING_HERE
        except _NotAnEventError as error:
            inner = piece.rfind(self._form.mark)
            if inner <= at:
                return at, str(error)
            try:
                end = self._event(piece, inner, ads)
            except _NotAnEventError:
                return at, str(error)
            self._skip(piece, at, inner, _CUT_SHORT)
            return end, _NOTHING_HERE

    def _event(self, piece: bytes, at: int, ads: list[Ad]) -> int:
        """Append the event at `at`; where it ends."""
        try:
            value, length = self._form.decode(piece[at:])
            ad = _sound(value)
        except (ElementTree.ParseError, ValueError, RecursionError) as error:
            why = str(error).partition("\n")[0][:80]
            raise _NotAnEventError(f"no sound {self._kind.upper()} record ({why})") from None
        number, time = (
            (ad.get("EventTypeNumber"), ad.get("EventTime")) if isinstance(ad, dict) else (None, 0)
        )
        if type(number) is not int or not 0 <= number <= 32767:
            raise _NotAnEventError("ad without an EventTypeNumber")
        if not isinstance(time, str) or parse_time(time) is None:
            raise _NotAnEventError("ad without a sound EventTime")
        ads.append(Ad(self._base + at, ad))
        return at + length
