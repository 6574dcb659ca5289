"""One event as XML or JSON: where its record begins and ends in a buffer, and its attributes.

Layouts: HTCondor's classad/jsonSink.cpp and classad/xmlSink.cpp, and the DTD that old XML logs
name. A record that is one line or many, and two that run together, are told apart by their bytes.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
from typing import Any, NamedTuple
from xml.etree import ElementTree

__all__ = ["Attributes", "Json", "Parsed", "Xml", "parse_time"]

Attributes = dict[str, Any]

_NOTHING_HERE = "no event record here"
_CUT_SHORT = "record cut short where another begins"

_XML_BENIGN = re.compile(
    rb"(?:\s|\xef\xbb\xbf|<\?xml[^<>]*\?>|<!DOCTYPE[^<>\[\]]*>|</?classads>|\.\.\.(?=\s|\Z))*"
)
_XML_START = re.compile(rb'(?<!">)<c>')
_XML_TAG = re.compile(rb"\n<c>|<c>|</c>")
_JSON_BENIGN = re.compile(rb"(?:[\s\[\],]|\xef\xbb\xbf|\.\.\.(?=\s|\Z))*")
_JSON_START = re.compile(rb"(?:^|(?<=\0))\{", re.MULTILINE)
"""At the start of a line, or behind the NULs that a machine's crash may leave in a file."""

_JSON_BORDER = re.compile(rb"\n[{}]")

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")

_DEEPEST = 20

_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?"
    r"(?:(Z)|([+-])(\d\d):?(\d\d)?)?",
    re.ASCII,
)
_MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Parsed(NamedTuple):
    """What the first bytes of a piece are.

    Attributes:
        ad: an event's attributes, or None.
        length: how many bytes it took, at least 1.
        reason: why they hold no event; None where they do, or where they may be passed in silence.
    """

    ad: Attributes | None
    length: int
    reason: str | None


def parse_time(text: str) -> tuple[int, int] | None:
    """µs of ``2026-11-21T02:31:12.679Z`` as if it were UTC, and its form (0 local, 1 absolute).

    An offset is taken off. None where the text is no date, or one that no calendar has.
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(found[k]) for k in range(1, 7))
    if not (year >= 1 and 1 <= month <= 12 and 1 <= day <= _MONTH_DAYS[month - 1]):
        return None
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if hour > 23 or minute > 59 or second > 60 or (month == 2 and day == 29 and not leap):
        return None
    seconds = (_days(year, month, day) * 24 + hour) * 3600 + minute * 60 + second
    if found[9]:
        east = int(found[10]) * 3600 + int(found[11] or 0) * 60
        seconds -= east if found[9] == "+" else -east
    fraction = int((found[7] or "0").ljust(6, "0")[:6])
    return seconds * 1_000_000 + fraction, 1 if found[8] or found[9] else 0


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 (Hinnant's days_from_civil)."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def _fault(ad: object) -> str | None:
    """Why a parsed record is no event, None where it is one."""
    if _deeper(ad, _DEEPEST):
        return f"ad nested more than {_DEEPEST} deep"
    number = ad.get("EventTypeNumber") if isinstance(ad, dict) else None
    if type(number) is not int or not 0 <= number <= 32767:
        return "ad without an EventTypeNumber"
    time = ad.get("EventTime") if isinstance(ad, dict) else None
    if not isinstance(time, str) or parse_time(time) is None:
        return "ad without a sound EventTime"
    return None


def _deeper(value: object, limit: int) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return False
    return not limit or any(_deeper(item, limit - 1) for item in value)


def _short(error: Exception) -> str:
    return str(error).partition("\n")[0][:80]


def _no_record(form: Json | Xml, start: bytes, piece: bytes, at: int) -> Parsed | None:
    """What stands at `at` where no record does: blanks to pass in silence, or rubbish."""
    blank = form.benign.match(piece, at)
    if blank and blank.end() > at:
        return Parsed(None, blank.end() - at, None)
    if piece.startswith(start, at):
        return None
    following = piece.find(start, at)
    return Parsed(None, (following if following > 0 else len(piece)) - at, _NOTHING_HERE)


def _unsound(form: Json | Xml, start: bytes, piece: bytes, at: int, why: str) -> Parsed:
    """A record that cannot be parsed: perhaps another runs into it, which then is kept."""
    inner = piece.rfind(start)
    if inner > at and form.parse(piece, inner).ad is not None:
        return Parsed(None, inner - at, _CUT_SHORT)
    return Parsed(None, len(piece) - at, why)


class Json:
    """Records of a JSON log: an object that begins at the start of a line."""

    benign = _JSON_BENIGN

    def __init__(self) -> None:
        self._at = 0

    def start(self, buffer: bytearray) -> int | None:
        """Where the first record begins."""
        found = _JSON_START.search(buffer)
        return found.start() if found else None

    def begin(self) -> None:
        """The buffer now begins with a record, whose end is to be found."""
        self._at = 1

    def end(self, buffer: bytearray) -> int | None:
        """Where the record ends, or at the latest the next one begins; may be asked again."""
        found = _JSON_BORDER.search(buffer, self._at)
        if found is None:
            self._at = max(1, len(buffer) - 1)
            return None
        return found.end() if found[0] == b"\n}" else found.end() - 1

    def parse(self, piece: bytes, at: int) -> Parsed:
        """The first thing in ``piece[at:]``, which is not empty."""
        if nothing := _no_record(self, b"{", piece, at):
            return nothing
        try:
            ad, length = _decode_json(piece, at)
        except (ValueError, RecursionError) as error:
            return _unsound(self, b"{\n", piece, at, f"no sound JSON record ({_short(error)})")
        reason = _fault(ad)
        return Parsed(None if reason else _sound(ad), length, reason)


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)


def _decode_json(piece: bytes, at: int) -> tuple[Any, int]:
    """The JSON value at `at`, and its length in bytes; text that is no UTF-8 is kept as halves."""
    border = piece.find(b"}{", at)  # objects run together, or a text that looks like that
    if border > 0:
        with contextlib.suppress(ValueError, RecursionError):
            return _raw_decode(piece[at : border + 1])
    return _raw_decode(piece[at:])


def _raw_decode(piece: bytes) -> tuple[Any, int]:
    text = piece.decode("utf-8", "surrogateescape")
    value, end = _DECODER.raw_decode(text)
    return value, end if text.isascii() else len(text[:end].encode("utf-8", "surrogateescape"))


def _sound(value: Any) -> Any:
    """The same value with half characters replaced: no text column can hold them."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_sound(item) for item in value]
    if isinstance(value, dict):
        return {_sound(name): _sound(item) for name, item in value.items()}
    return value


class Xml:
    """Records of an XML log: ``<c>`` … ``</c>``, which may hold others."""

    benign = _XML_BENIGN

    def __init__(self) -> None:
        self._at = self._depth = 0

    def start(self, buffer: bytearray) -> int | None:
        """Where the first record begins."""
        found = _XML_START.search(buffer)
        return found.start() if found else None

    def begin(self) -> None:
        """The buffer now begins with a record, whose end is to be found."""
        self._at, self._depth = 3, 1

    def end(self, buffer: bytearray) -> int | None:
        """Where the record ends, or at the latest the next one begins; may be asked again."""
        while found := _XML_TAG.search(buffer, self._at):
            if found[0].startswith(b"\n"):
                return found.start() + 1
            self._depth += -1 if found[0] == b"</c>" else 1
            self._at = found.end()
            if not self._depth:
                return self._at
        self._at = max(self._at, len(buffer) - 3)
        return None

    def parse(self, piece: bytes, at: int) -> Parsed:
        """The first thing in ``piece[at:]``, which is not empty."""
        if nothing := _no_record(self, b"<c>", piece, at):
            return nothing
        try:
            ad = _decode_xml(piece[at:])
        except (ElementTree.ParseError, ValueError, RecursionError) as error:
            return _unsound(self, b"<c>\n", piece, at, f"no sound XML record ({_short(error)})")
        reason = _fault(ad)
        return Parsed(None if reason else ad, len(piece) - at, reason)


def _decode_xml(piece: bytes) -> Attributes:
    if b"<!" in piece or b"<?" in piece:
        raise ValueError("a declaration inside a record")
    text = _NOT_XML.sub("\ufffd", piece.decode("utf-8", "replace"))
    # No document type is let in, so there are no entities but the five of XML itself.
    return _classad(ElementTree.fromstring(text))  # noqa: S314


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
