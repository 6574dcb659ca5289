"""Scanning text event logs: bytes in, one row of numbers per record out, compiled to machine code.

The scanner does no I/O and makes no strings: it fills a table of int64, one row a record, whose
columns `record` names; texts are ranges of the buffer, cut out afterwards by `texts`. Every form
that HTCondor wrote since 2003 is read: ``MM/DD`` and ISO dates, ``T``, fractions, ``Z`` and
offsets, CRLF, procs of any length, negative ids, both shapes of 004, reasons over several lines,
unknown event numbers.

Damage is a stretch of the buffer that belongs to no sound record. The scanner goes on at the next
record: a header at the start of a line, behind a separator that lost its line end, behind NUL
bytes, or in the middle of a line that HTCondor alone writes. In a text of users a header may be
forged; it begins a record only where what follows cannot belong to the record with the text.
"""

import re
from typing import Any

import numpy as np

from jobsight.history.eventlog.blocks import WIDTH, ad_ends, first
from jobsight.history.eventlog.record import (
    BELOW_USAGE,
    CODE,
    CODE_LINE,
    COLUMNS,
    DAG_NODE_START,
    ENDED,
    NONE,
    OFFSET_START,
    RETURN_VALUE,
    SIGNAL,
    Bytes,
    Row,
    body_line,
    find_after,
    find_byte,
    find_newline,
    finish,
    first_line,
    is_foreign,
    numbers,
    parse_header,
    starts_with,
)
from jobsight.jit import helper, kernel

__all__ = ["SKIP_REASONS", "capacity", "scan", "seconds", "skip_capacity"]

_JUNK, _CUT_SHORT, _TRUNCATED, _NUL_BYTES, _NO_RESULT = 0, 1, 2, 3, 4
SKIP_REASONS = (
    "no event record here",
    "record cut short where another begins",
    "truncated record at the end of the log",
    "NUL bytes in a record",
    "termination without a result",
)
"""What the third column of a skip means."""

_NEWLINE, _RETURN, _DOT, _PAREN, _SPACE, _TAB, _NINE = 10, 13, 46, 40, 32, 9, 57
_QUOTE, _CLOSE, _ZERO, _EQUALS, _GREATER = 34, 41, 48, 61, 62
_GUARDED = np.isin(np.arange(1000), (0, 4, 7, 9, 12, 13, 28, 33))
"""Event numbers that `is_foreign` knows something of."""
_AD_END = re.compile(rb"\n[\x00-9]")
_PER_BYTE = 2e-7
"""Seconds of plain Python until a byte is in the event table."""
_COUNT, _SKIPS, _INSIDE, _JUNK_START, _FULL = 0, 1, 2, 3, 4  # the scanner's state, an int64 array


def capacity(size: int) -> int:
    """How many rows a buffer of `size` bytes can need: each has a header of at least 26 bytes."""
    return size // 26 + 1


def skip_capacity(size: int) -> int:
    """How many skips a buffer of `size` bytes can need.

    Skips do not overlap. One that ends with a separator takes 4 bytes, the line ``...``. A shorter
    one is the last, or ends where a header begins: with that record, which may be a skip too, it
    takes 27 bytes.
    """
    return size // 4 + 1


@helper
def _behind_ad(buffer: Bytes, at: int, size: int) -> int:
    """The first line at or after the line at `at` that cannot be one of an ad, or `size`.

    Lines of ads begin with an attribute's name.
    """
    if buffer[at] <= _NINE:
        return at
    while at + WIDTH < size:
        mask = ad_ends(buffer, at)
        if mask != 0:
            return at + first(mask) + 1
        at += WIDTH
    at = find_newline(buffer, at, size) + 1
    while at < size and buffer[at] > _NINE:
        at = find_newline(buffer, at, size) + 1
    return min(at, size)


@_behind_ad.in_python
def _behind_ad_in_bytes(buffer: Any, at: int, size: int) -> int:
    if buffer[at] <= _NINE:
        return at
    found = _AD_END.search(buffer, at, size)
    return found.start() + 1 if found else size


@helper
def _only_blank(buffer: Bytes, at: int, end: int) -> bool:
    """Whether nothing is there but blanks, or the mark with which some editors begin a file."""
    if starts_with(buffer, at, end, b"\xef\xbb\xbf"):
        at += 3
    while at < end:
        if buffer[at] != _SPACE and buffer[at] != _TAB and buffer[at] != _RETURN:
            return False
        at += 1
    return True


@helper
def _behind_separator(buffer: Bytes, at: int, stop: int, following: int, probe: Row) -> int:
    """The position behind the separator in ``buffer[at:stop]``, or −1; it may lack its line end."""
    if not starts_with(buffer, at, stop, b"..."):
        return -1
    if _only_blank(buffer, at + 3, stop):
        return following
    return at + 3 if parse_header(buffer, at + 3, stop, probe) > 0 else -1


@helper
def _header_inside(buffer: Bytes, start: int, end: int, after_nul: bool, row: Row) -> int:
    """Where at or behind `start` in a line another record's header begins, or −1."""
    at = find_byte(buffer, start + 4, end, _PAREN)
    while at < end:
        if (not after_nul or buffer[at - 5] == 0) and parse_header(buffer, at - 4, end, row) > 0:
            return at - 4
        at = find_byte(buffer, at + 1, end, _PAREN)
    return -1


@helper
def _written_by_users(row: Row, in_first_line: bool) -> bool:
    """Whether users write into such lines, so that a header inside one may be forged."""
    code = row[CODE]
    if in_first_line:
        return code in (2, 7, 8, 21, 33)
    if code == 4:
        return bool(row[CODE_LINE] == BELOW_USAGE)
    # Names of DAG nodes are users' too, but without blanks.
    return row[CODE_LINE] != ENDED and code not in (1, 3, 5, 6, 10, 11, 14, 15, 16, 22, 23, 24, 40)


@helper
def _run_into(buffer: Bytes, at: int, row: Row, probe: Row) -> int:
    """Where in the line before the one at `at` a header ends the open record, or −1."""
    end = at - 1
    start = end
    while start > row[OFFSET_START] and buffer[start - 1] != _NEWLINE:
        start -= 1
    if end > start and buffer[end - 1] == _RETURN:
        end -= 1
    text = start
    if start == row[OFFSET_START]:
        text = parse_header(buffer, start, end, probe)
    found = _header_inside(buffer, text, end, False, probe)
    if found > 0 and row[CODE] == 28 and buffer[end - 1] == _QUOTE:
        # A header within the quotes of an attribute is its user's text.
        return -1 if find_after(buffer, start, found, b' = "') > 0 else found
    return found


@helper
def _skip(skips: Row, state: Row, start: int, end: int, reason: int) -> None:
    count = state[_SKIPS]
    if count == len(skips):
        state[_FULL] = 1
        return
    skips[count, 0] = start
    skips[count, 1] = end
    skips[count, 2] = reason
    state[_SKIPS] = count + 1


@helper
def _is_whole(buffer: Bytes, end: int, row: Row) -> bool:
    """Whether a record that ends at `end` without a separator has all that its kind has."""
    code, mark = row[CODE], buffer[end - 1]
    if code in (5, 15, 16):
        return bool(row[RETURN_VALUE] != NONE or row[SIGNAL] != NONE)
    if mark != _NEWLINE:
        # The last line may lack its end, unless it stops as HTCondor's own lines do.
        closed = mark in (_GREATER, _CLOSE, _DOT)
        return closed and code in (0, 1, 6, 11, 14) and row[DAG_NODE_START] < 0
    if code == 12:
        return bool(row[CODE_LINE] >= 0)
    if code == 28:
        mark = find_after(buffer, row[OFFSET_START], end, b"\nTriggerEventTypeNumber = ")
        return bool(mark > 0)
    return True


@helper
def _unsound(buffer: Bytes, end: int, separated: bool, nuls: bool, row: Row) -> int:
    """Why the record that ends at `end` is unsound (an index of `SKIP_REASONS`), or −1."""
    if nuls and find_byte(buffer, row[OFFSET_START], end, 0) < end:
        return _NUL_BYTES
    if not separated and not _is_whole(buffer, end, row):
        return _CUT_SHORT
    if row[CODE] == 5 and row[RETURN_VALUE] == NONE and row[SIGNAL] == NONE:
        return _NO_RESULT  # it would count as a failure
    return -1


@helper
def _end_record(
    buffer: Bytes,
    end: int,
    separated: bool,
    nuls: bool,
    row: Row,
    rows: Row,
    skips: Row,
    state: Row,
) -> None:
    """End the open record at `end`: keep it if it is sound, else report it."""
    state[_INSIDE] = 0
    reason = _unsound(buffer, end, separated, nuls, row)
    if reason >= 0:
        _skip(skips, state, row[OFFSET_START], end, reason)
    else:
        finish(buffer, end, row)
        if state[_COUNT] == len(rows):
            state[_FULL] = 1
            return
        count = state[_COUNT]
        for column in range(COLUMNS):
            rows[count, column] = row[column]
        state[_COUNT] = count + 1


@helper
def _end_junk(end: int, skips: Row, state: Row) -> None:
    if state[_JUNK_START] >= 0:
        _skip(skips, state, state[_JUNK_START], end, _JUNK)
        state[_JUNK_START] = -1


@helper
def _line(
    buffer: Bytes,
    at: int,
    end: int,
    nuls: bool,
    row: Row,
    probe: Row,
    rows: Row,
    skips: Row,
    state: Row,
) -> bool:
    """Take one line that is not a separator; it may hold the beginnings of several records.

    Returns whether an 028 is open now: the lines of its ad are passed over.
    """
    while True:
        text = parse_header(buffer, at, end, probe)
        is_header = text > 0
        if is_header:
            if state[_INSIDE]:
                _end_record(buffer, at, False, nuls, row, rows, skips, state)
            _end_junk(at, skips, state)
            for column in range(COLUMNS):
                row[column] = probe[column]
            row[OFFSET_START] = at
            state[_INSIDE] = 1
        else:
            text = at
        another = -1
        if not state[_INSIDE] or not _written_by_users(row, is_header):
            another = _header_inside(buffer, text, end, False, probe)
        elif nuls:  # no user can write these
            another = _header_inside(buffer, text, end, True, probe)
        stop = another if another > 0 else end
        if is_header:
            first_line(buffer, text, stop, row)
        elif state[_INSIDE]:
            body_line(buffer, at, stop, row)
        elif state[_JUNK_START] < 0 and not _only_blank(buffer, at, stop):
            state[_JUNK_START] = at
        if another < 0:
            return bool(state[_INSIDE] == 1 and row[CODE] == 28)
        at = another


@helper
def _ends_in_number(buffer: Bytes, at: int) -> bool:
    """Whether the line before the one at `at` ends as most ads do: in `` = 12``."""
    at -= 2
    while at > 3 and _ZERO <= buffer[at] <= _NINE:
        at -= 1
    return bool(buffer[at] == _SPACE and buffer[at - 1] == _EQUALS and buffer[at - 2] == _SPACE)


@helper
def _ended_before(buffer: Bytes, at: int, stop: int, separator: bool, row: Row, probe: Row) -> int:
    """Where the open record really ended if the line at `at` cannot be one of it, or −1."""
    if buffer[at - 1] != _NEWLINE or not _GUARDED[row[CODE]]:
        return -1
    if separator:
        suspect = row[CODE] == 12 and row[CODE_LINE] < 0
        suspect = suspect or (row[CODE] == 28 and not _ends_in_number(buffer, at))
    else:
        suspect = is_foreign(buffer, at, stop, row)
    return _run_into(buffer, at, row, probe) if suspect else -1


@helper
def _separate(
    buffer: Bytes, at: int, behind: int, nuls: bool, row: Row, rows: Row, skips: Row, state: Row
) -> None:
    """Take a separator, which ends a record; alone it is junk, and ends a stretch of that."""
    if state[_INSIDE]:
        _end_record(buffer, behind, True, nuls, row, rows, skips, state)
    elif state[_JUNK_START] < 0:
        state[_JUNK_START] = at
    _end_junk(behind, skips, state)


@kernel
def scan(
    buffer: Bytes, size: int, last: bool, nuls: bool, rows: Row, skips: Row
) -> tuple[int, int]:
    """Scan ``buffer[:size]``, which begins at a record and, unless `last`, ends after a separator.

    Args:
        buffer: uint8, the text.
        size: number of bytes to scan.
        last: whether the log ends here; a record without its separator is then a truncated tail.
        nuls: whether the buffer holds NUL bytes anywhere; a record that does is rubbish.
        rows: int64 (``capacity(size)``, ``record.COLUMNS``), filled in place.
        skips: int64 (``skip_capacity(size)``, 3), filled with (start, end, index in
            `SKIP_REASONS`).

    Returns:
        The number of rows and of skips filled; −1, −1 where one of the arrays was too small.
    """
    state = numbers(5)
    state[_JUNK_START] = -1
    row, probe = numbers(COLUMNS), numbers(COLUMNS)
    in_ad = False
    at = 0
    while at < size:
        at = _behind_ad(buffer, at, size) if in_ad else at
        if at == size:
            break
        end = find_newline(buffer, at, size)
        stop = end - 1 if end > at and buffer[end - 1] == _RETURN else end
        following = min(end + 1, size)
        behind = _behind_separator(buffer, at, stop, following, probe)
        other = -1
        if state[_INSIDE]:
            other = _ended_before(buffer, at, stop, behind >= 0, row, probe)
        if other >= 0:
            at, in_ad = other, False  # the rest of that line is the next record's
        elif behind >= 0:
            _separate(buffer, at, behind, nuls, row, rows, skips, state)
            at, in_ad = behind, False
        else:
            in_ad = _line(buffer, at, stop, nuls, row, probe, rows, skips, state)
            at = following
    if state[_INSIDE] and last:
        _skip(skips, state, row[OFFSET_START], size, _TRUNCATED)
    elif state[_INSIDE]:
        _end_record(buffer, size, False, nuls, row, rows, skips, state)
    _end_junk(size, skips, state)
    if state[_FULL]:
        return -1, -1
    return state[_COUNT], state[_SKIPS]


@scan.estimate
def _scan_seconds(
    _buffer: Bytes, size: int, _last: bool, _nuls: bool, _rows: Row, _skips: Row
) -> float:
    return seconds(size)


@scan.in_python
def _scan_bytes(
    buffer: Bytes, size: int, last: bool, nuls: bool, rows: Row, skips: Row
) -> tuple[int, int]:
    text: Any = buffer.tobytes()  # bytes are numbers of Python's, and searched at the speed of C
    return scan.interpreted(text, size, last, nuls, rows, skips)


def seconds(size: int) -> float:
    """What plain Python takes from `size` bytes to the event table, by its usual speed."""
    return size * _PER_BYTE
