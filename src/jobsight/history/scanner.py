"""Scanning text event logs: bytes in, one row of numbers per record out, compiled to machine code.

The scanner does no I/O and makes no strings: it fills a table of int64, one row a record, whose
columns `jobsight.history.record` names; texts are ranges of the buffer, cut out afterwards by
`jobsight.history.texts`. Every form that HTCondor wrote since 2003 is read: ``MM/DD`` and ISO
dates, ``T``, fractions, ``Z`` and offsets, CRLF, procs of any length, negative ids, both shapes of
004, reasons over several lines, unknown event numbers.

Damage is a stretch of the buffer that belongs to no sound record. The scanner goes on at the next
record: a header at the start of a line, behind a separator that lost its line end, or in the middle
of a line where HTCondor alone writes the text (never inside a reason: reasons are hostile text).
"""

import numpy as np

from jobsight.history.blocks import WIDTH, ad_ends, first
from jobsight.history.bodies import body_line, finish, first_line
from jobsight.history.record import (
    CODE,
    COLUMNS,
    NONE,
    OFFSET_START,
    RETURN_VALUE,
    SIGNAL,
    Bytes,
    Row,
    find_byte,
    find_newline,
    parse_header,
)
from jobsight.jit import helper, kernel

__all__ = ["SKIP_REASONS", "capacity", "scan"]

_JUNK, _CUT_SHORT, _TRUNCATED, _NUL_BYTES = 0, 1, 2, 3
SKIP_REASONS = (
    "no event record here",
    "record cut short where another begins",
    "truncated record at the end of the log",
    "NUL bytes in a record",
)
"""What the third column of a skip means."""

_NEWLINE, _RETURN, _DOT, _PAREN, _SPACE, _TAB, _NINE = 10, 13, 46, 40, 32, 9, 57
_COUNT, _SKIPS, _INSIDE, _JUNK_START = 0, 1, 2, 3  # the scanner's state, an int64 array


def capacity(size: int) -> int:
    """How many rows and skips a buffer of `size` bytes can need (a header takes 26 bytes)."""
    return size // 26 + 2


@helper
def _behind_ad(buffer: Bytes, at: int, size: int) -> int:
    """The first line at or after the line at `at` that cannot be one of an ad, or `size`.

    Lines of ads begin with the letter or underscore of an attribute's name.
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


@helper
def _is_separator(buffer: Bytes, at: int, end: int) -> bool:
    return (
        end - at >= 3 and buffer[at] == _DOT and buffer[at + 1] == _DOT and buffer[at + 2] == _DOT
    )


@helper
def _only_blank(buffer: Bytes, at: int, end: int) -> bool:
    while at < end:
        if buffer[at] != _SPACE and buffer[at] != _TAB and buffer[at] != _RETURN:
            return False
        at += 1
    return True


@helper
def _header_inside(buffer: Bytes, start: int, end: int, row: Row) -> int:
    """Where behind `start` in a line another record's header begins, or −1."""
    at = find_byte(buffer, start + 5, end, _PAREN)
    while at < end:
        if parse_header(buffer, at - 4, end, row) > 0:
            return at - 4
        at = find_byte(buffer, at + 1, end, _PAREN)
    return -1


@helper
def _written_by_users(code: int, in_first_line: bool) -> bool:
    """Whether users write into such lines, so that a header inside one may be forged."""
    if in_first_line:
        return code in (2, 7, 8, 21, 33)
    return code not in (3, 5, 6, 10, 11, 15)


@helper
def _skip(skips: Row, state: Row, start: int, end: int, reason: int) -> None:
    count = state[_SKIPS]
    skips[count, 0] = start
    skips[count, 1] = end
    skips[count, 2] = reason
    state[_SKIPS] = count + 1


@helper
def _has_nul(buffer: Bytes, start: int, end: int) -> bool:
    return bool(find_byte(buffer, start, end, 0) < end)


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
    start = row[OFFSET_START]
    if nuls and _has_nul(buffer, start, end):
        _skip(skips, state, start, end, _NUL_BYTES)
    elif not separated and row[CODE] == 5 and row[RETURN_VALUE] == NONE and row[SIGNAL] == NONE:
        # Without its end a termination may lack its result; it would then count as a failure.
        _skip(skips, state, start, end, _CUT_SHORT)
    else:
        finish(buffer, end, row)
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
    """Take one line that is no separator; it may hold the beginnings of several records.

    Returns whether an 028 is open now: the lines of its ad need no look until it ends.
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
        if not state[_INSIDE] or not _written_by_users(row[CODE], is_header):
            another = _header_inside(buffer, text, end, probe)
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
        skips: int64 (``capacity(size)``, 3), filled with (start, end, index in `SKIP_REASONS`).

    Returns:
        The number of rows and the number of skips filled.
    """
    state = np.zeros(4, np.int64)
    state[_JUNK_START] = -1
    row, probe = np.empty(COLUMNS, np.int64), np.empty(COLUMNS, np.int64)
    in_ad = False
    at = 0
    while at < size:
        if in_ad:
            at = _behind_ad(buffer, at, size)
            if at == size:
                break
        end = find_newline(buffer, at, size)
        stop = end - 1 if end > at and buffer[end - 1] == _RETURN else end
        following = min(end + 1, size)
        if _is_separator(buffer, at, stop):
            alone = _only_blank(buffer, at + 3, stop)
            if alone or parse_header(buffer, at + 3, stop, probe) > 0:
                following = following if alone else at + 3
                if state[_INSIDE]:
                    _end_record(buffer, following, True, nuls, row, rows, skips, state)
                elif state[_JUNK_START] < 0:
                    state[_JUNK_START] = at
                at = following
                in_ad = False
                continue
        in_ad = _line(buffer, at, stop, nuls, row, probe, rows, skips, state)
        at = following
    if state[_INSIDE] and last:
        _skip(skips, state, row[OFFSET_START], size, _TRUNCATED)
    elif state[_INSIDE]:
        _end_record(buffer, size, False, nuls, row, rows, skips, state)
    _end_junk(size, skips, state)
    return state[_COUNT], state[_SKIPS]
