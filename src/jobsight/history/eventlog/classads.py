"""ClassAds as 028 records print them (``Name = value`` lines), turned into JSON by a kernel.

Strings, whole and real numbers, booleans and ``undefined`` become their JSON counterparts; anything
else (an expression such as ``time()``) becomes a string of its text. In a string of this form
(HTCondor's "old" ClassAds) a backslash is itself, but before a quote that does not end the
string. The result is valid JSON whatever a user wrote.
"""

import re
from typing import Any

import numpy as np

from jobsight.history.eventlog.blocks import WIDTH, copy_block, digit_run, name_run, plain_run
from jobsight.history.eventlog.record import Bytes, Row, find_after, find_newline, starts_with
from jobsight.jit import helper

__all__ = ["ad_to_json", "room"]

_SPACE, _QUOTE, _BACKSLASH, _ZERO, _NINE = 32, 34, 92, 48, 57
_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
_MINUS, _DOT, _PLUS, _EQUALS, _COMMA, _OPEN, _CLOSE, _COLON = (
    45, 46, 43, 61, 44, 123, 125, 58,
)  # fmt: skip
_PLAIN = np.array([32 <= k != 127 and k not in b'"\\' for k in range(256)])
_USUAL = re.compile(
    rb'([A-Za-z0-9_.]+) = ("[^\x00-\x1f"\\\x7f]*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?|true|false)'
)
"""A line whose value is as in JSON."""
_IN_NAME = np.array([(chr(k).isalnum() and k < 128) or k in b"_." for k in range(256)])


@helper
def _copy(text: bytes, out: Bytes, to: int) -> int:
    for k in range(len(text)):
        out[to + k] = text[k]
    return to + len(text)


@helper
def _is_number(buffer: Bytes, at: int, end: int) -> bool:
    """Whether the text is a number by JSON's grammar."""
    if at < end and buffer[at] == _MINUS:
        at += 1
    start = at
    while at < end and _ZERO <= buffer[at] <= _NINE:
        at += 1
    if at == start or (buffer[start] == _ZERO and at > start + 1):
        return False
    if at < end and buffer[at] == _DOT:
        start = at = at + 1
        while at < end and _ZERO <= buffer[at] <= _NINE:
            at += 1
        if at == start:
            return False
    if at < end and (buffer[at] | 32) == 101:
        at += 1
        if at < end and (buffer[at] == _PLUS or buffer[at] == _MINUS):
            at += 1
        start = at
        while at < end and _ZERO <= buffer[at] <= _NINE:
            at += 1
        if at == start or at - start > 2:
            return False
    return at == end


@helper
def _put(byte: int, out: Bytes, to: int) -> int:
    """Write one character of a JSON string."""
    if _PLAIN[byte]:
        out[to] = byte
        return to + 1
    if byte in (_QUOTE, _BACKSLASH):
        out[to] = _BACKSLASH
        out[to + 1] = byte
        return to + 2
    to = _copy(b"\\u00", out, to)
    out[to] = _HEX[byte >> 4]
    out[to + 1] = _HEX[byte & 15]
    return to + 2


@helper
def _string(buffer: Bytes, at: int, end: int, out: Bytes, to: int, quoted: bool) -> int:
    out[to] = _QUOTE
    to += 1
    while at < end:
        byte = buffer[at]
        if _PLAIN[byte]:
            out[to] = byte
            to += 1
            at += 1
        elif quoted and byte == _BACKSLASH and at + 1 < end and buffer[at + 1] == _QUOTE:
            to = _put(_QUOTE, out, to)
            at += 2
        else:
            to = _put(byte, out, to)
            at += 1
    out[to] = _QUOTE
    return to + 1


@helper
def _same_word(buffer: Bytes, at: int, end: int, word: bytes) -> bool:
    if end - at != len(word):
        return False
    for k in range(len(word)):  # noqa: SIM110 - the compiler takes a plain loop
        if (buffer[at + k] | 32) != word[k]:
            return False
    return True


@helper
def _value(buffer: Bytes, at: int, end: int, out: Bytes, to: int) -> int:
    if end - at >= 2 and buffer[at] == _QUOTE and buffer[end - 1] == _QUOTE:
        return _string(buffer, at + 1, end - 1, out, to, True)
    if _is_number(buffer, at, end):
        while at < end:
            out[to] = buffer[at]
            at += 1
            to += 1
        return to
    if _same_word(buffer, at, end, b"true"):
        return _copy(b"true", out, to)
    if _same_word(buffer, at, end, b"false"):
        return _copy(b"false", out, to)
    if _same_word(buffer, at, end, b"undefined"):
        return _copy(b"null", out, to)
    return _string(buffer, at, end, out, to, False)


@helper
def _name_length(buffer: Bytes, at: int, end: int) -> int:
    """Length of the attribute name before `` = `` at the start of a line; 0 where there is none."""
    stop = at
    while stop < end and _IN_NAME[buffer[stop]]:
        stop += 1
    if stop + 2 >= end or buffer[stop] != _SPACE or buffer[stop + 1] != _EQUALS:
        return 0
    return stop - at


@helper
def _plain_end(buffer: Bytes, at: int) -> int:
    """The first byte at or after `at` that a JSON string cannot hold as it is."""
    size = plain_run(buffer, at)
    while size == WIDTH and at + 2 * WIDTH <= len(buffer):
        at += WIDTH
        size = plain_run(buffer, at)
    return at + size


@helper
def _is_short_value(buffer: Bytes, at: int, stop: int) -> bool:
    """Whether ``buffer[at:stop]`` is a string without escapes, or a whole number, as in JSON."""
    if buffer[at] == _QUOTE:
        return (
            stop - at >= 2
            and _plain_end(buffer, at + 1) == stop - 1
            and (buffer[stop - 1] == _QUOTE)
        )
    start = at + (buffer[at] == _MINUS)
    size = digit_run(buffer, start)
    return start + size == stop and size > 0 and (size == 1 or buffer[start] != _ZERO)


@helper
def _short_line(buffer: Bytes, at: int, stop: int, out: Bytes, to: int) -> int:
    """Write the usual line, ``Name = 12`` or ``Name = "text"``, up to its newline at `stop`.

    Its JSON, ``"Name":12``, is as long as the line, so where the next one goes follows from `stop`
    alone: the processor need not wait for this one's parts. Returns the length of the name, 0 where
    the line is of another shape. Up to 64 bytes more than the line has are written.
    """
    if stop + 2 * WIDTH > len(buffer):
        return 0
    size = name_run(buffer, at)
    value = at + size + 3
    if size == 0 or size == WIDTH or value >= stop or buffer[value - 3] != _SPACE:
        return 0
    if buffer[value - 2] != _EQUALS or buffer[value - 1] != _SPACE:
        return 0
    if not _is_short_value(buffer, value, stop):
        return 0
    out[to] = _QUOTE
    copy_block(buffer, at, out, to + 1)
    to += size
    out[to + 1] = _QUOTE
    out[to + 2] = _COLON
    for done in range(0, stop - value, WIDTH):
        copy_block(buffer, value + done, out, to + 3 + done)
    return size


@helper
def _long_line(buffer: Bytes, at: int, stop: int, out: Bytes, to: int) -> tuple[int, int]:
    """Any line, ``buffer[at:stop]``: (end in `out`, name length); (to, 0) without an attribute."""
    while stop > at and buffer[stop - 1] <= _SPACE:
        stop -= 1
    length = _name_length(buffer, at, stop)
    if length == 0:
        return to, 0
    value = at + length + 2
    while value < stop and buffer[value] == _SPACE:
        value += 1
    to = _string(buffer, at, at + length, out, to, False)
    out[to] = 58
    return _value(buffer, value, stop, out, to + 1), length


@helper
def _note_owner(buffer: Bytes, at: int, stop: int, owner: Row) -> None:
    """Remember the range of the owner's name, if the line has it."""
    if starts_with(buffer, at, stop, b'Owner = "'):
        close = find_after(buffer, at + 9, stop, b'"')
        if close > 0:
            owner[0], owner[1] = at + 9, close - 1


@helper
def ad_to_json(buffer: Bytes, at: int, end: int, out: Bytes, to: int, owner: Row) -> int:
    """Write the ad in ``buffer[at:end]`` as one JSON object at ``out[to]``; where it ends.

    Lines without an attribute (the record's header, its separator) are passed over. `out` must
    have `room` for the ad. ``owner`` is set to start and end of the owner's name, if there is one.
    """
    out[to] = _OPEN
    start = to = to + 1
    while at < end:
        stop = find_newline(buffer, at, end)
        behind = to + stop - at
        length = _short_line(buffer, at, stop, out, to)
        if length == 0:
            behind, length = _long_line(buffer, at, stop, out, to)
        if length > 0:
            if length == 5:
                _note_owner(buffer, at, stop, owner)
            out[behind] = _COMMA
            to = behind + 1
        at = stop + 1
    if to == start:
        to += 1
    out[to - 1] = _CLOSE
    return to


@ad_to_json.in_python
def _ad_of_bytes(buffer: Any, at: int, end: int, out: Bytes, to: int, owner: Row) -> int:
    at, parts = int(at), []
    for line in buffer[at : int(end)].split(b"\n"):
        if usual := _USUAL.fullmatch(line):
            parts.append(b'"%b":%b' % usual.groups())
        else:
            room_of_line: Any = bytearray(room.python(len(line), 1))
            size, length = _long_line.python(line, 0, len(line), room_of_line, 0)
            parts += [room_of_line[:size]] if length else []
        if line.startswith(b'Owner = "') and (close := line.find(b'"', 9)) > 0:
            owner[0], owner[1] = at + 9, at + close
        at += len(line) + 1
    ad = b"{%b}" % b",".join(parts)
    out[to : to + len(ad)] = np.frombuffer(ad, np.uint8)
    return to + len(ad)


@helper
def room(size: int, ads: int) -> int:
    r"""Bytes that the JSON of `ads` ads of together `size` bytes can take, whatever they hold.

    A byte of a value becomes at most six (``\u0001``). What JSON adds to a line, four quotes, a
    colon and a comma, is at most six for each byte of the line's own `` = `` and end. Blocks are
    written at most 2 * `WIDTH` bytes too far.
    """
    return 6 * size + (2 + 4 * WIDTH) * ads
