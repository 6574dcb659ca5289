"""One record of a text event log: its row, and its header line, as kernels.

A record is one int64 row. Numbers are in it as they are, `NONE` where absent; texts as the range
of the buffer they were found in (−1 where absent). Layout of the header: HTCondor's
condor_utils/condor_event.cpp, ``formatHeader`` and ``readHeader``.
"""

import numpy as np
from numpy.typing import NDArray

from jobsight.history.eventlog.blocks import WIDTH, equal, first
from jobsight.jit import helper

__all__ = [
    "COLUMNS",
    "NONE",
    "Bytes",
    "Row",
    "find_after",
    "find_byte",
    "find_newline",
    "parse_header",
    "read_integer",
    "starts_with",
]

Bytes = NDArray[np.uint8]
Row = NDArray[np.int64]

NONE = -(2**63)
""""No number" in a row."""

(
    CODE, CLUSTER, PROC, SUBPROC, STAMP, FORM,
    HOLD_CODE, HOLD_SUBCODE, RETURN_VALUE, SIGNAL, MEMORY_MB, VACATE_CODE, DETAIL,
    OFFSET_START, OFFSET_END,
    REASON_START, REASON_END, HOST_START, HOST_END, SLOT_START, SLOT_END,
    DAG_NODE_START, DAG_NODE_END, AD_START, AD_END,
    CODE_LINE,
) = range(26)  # fmt: skip
COLUMNS = 26

LOCAL, LOCAL_NO_YEAR = 0, 2
"""Forms of a time stamp, see `times`; one without a year is given the leap year 1972."""

_YEARLESS = 1972
_NEWLINE = 10
_SPACE, _PAREN, _CLOSE, _DOT, _ZERO, _NINE, _MINUS, _PLUS = 32, 40, 41, 46, 48, 57, 45, 43


@helper
def _digits(buffer: Bytes, at: int, count: int) -> int:
    """The number written in exactly `count` digits, or −1."""
    value = 0
    for k in range(at, at + count):
        byte = buffer[k]
        if byte < _ZERO or byte > _NINE:
            return -1
        value = value * 10 + (byte - _ZERO)
    return value


@helper
def read_integer(buffer: Bytes, at: int, end: int, row: Row, column: int) -> int:
    """Read a signed integer of at most 18 digits into ``row[column]``; the position after it.

    −1, and the row untouched, where there is no such integer.
    """
    negative = at < end and buffer[at] == _MINUS
    if negative:
        at += 1
    start = at
    value = 0
    while at < end and _ZERO <= buffer[at] <= _NINE and at - start < 19:
        value = value * 10 + (buffer[at] - _ZERO)
        at += 1
    if at == start or at - start > 18:
        return -1
    row[column] = -value if negative else value
    return at


@helper
def starts_with(buffer: Bytes, at: int, end: int, text: bytes) -> bool:
    """Whether ``buffer[at:end]`` starts with `text`."""
    if end - at < len(text):
        return False
    for k in range(len(text)):  # noqa: SIM110 - a plain loop is what the compiler takes
        if buffer[at + k] != text[k]:
            return False
    return True


@helper
def find_byte(buffer: Bytes, at: int, end: int, byte: int) -> int:
    """The first position in ``at … end − 1`` of `byte`, or `end`."""
    while at + WIDTH <= len(buffer) and at < end:
        found = first(equal(buffer, at, byte))
        if found < WIDTH:
            return min(at + found, end)
        at += WIDTH
    while at < end and buffer[at] != byte:
        at += 1
    return min(at, end)


@helper
def find_newline(buffer: Bytes, at: int, end: int) -> int:
    """The first newline in ``at … end − 1``, or `end`."""
    return find_byte(buffer, at, end, _NEWLINE)


@helper
def find_after(buffer: Bytes, at: int, end: int, text: bytes) -> int:
    """The position after the first occurrence of `text`, or −1."""
    last = end - len(text)
    while at <= last:
        at = find_byte(buffer, at, last + 1, text[0])
        if at <= last and starts_with(buffer, at, end, text):
            return at + len(text)
        at += 1
    return -1


@helper
def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the Gregorian calendar (Hinnant's days_from_civil)."""
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


@helper
def _month_length(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


@helper
def _parse_stamp(buffer: Bytes, at: int, end: int, row: Row) -> int:
    """Read the date and time at `at` into STAMP (µs) and FORM; the position after it, or −1."""
    if end - at < 14:
        return -1
    yearless = buffer[at + 2] == 47  # MM/DD
    if yearless:
        year, month, day = _YEARLESS, _digits(buffer, at, 2), _digits(buffer, at + 3, 2)
        at += 5
    else:
        if end - at < 19 or buffer[at + 4] != _MINUS or buffer[at + 7] != _MINUS:
            return -1
        year, month, day = (
            _digits(buffer, at, 4),
            _digits(buffer, at + 5, 2),
            _digits(buffer, at + 8, 2),
        )
        at += 10
    if year < 1 or month < 1 or month > 12 or day < 1 or day > _month_length(year, month):
        return -1
    if buffer[at] != _SPACE and (buffer[at] != 84 or yearless):
        return -1
    hour, minute, second = (
        _digits(buffer, at + 1, 2),
        _digits(buffer, at + 4, 2),
        _digits(buffer, at + 7, 2),
    )
    if buffer[at + 3] != 58 or buffer[at + 6] != 58:
        return -1
    if hour < 0 or hour > 23 or minute < 0 or minute > 59 or second < 0 or second > 60:
        return -1
    row[STAMP] = (_days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second) * 1_000_000
    row[FORM] = LOCAL_NO_YEAR if yearless else LOCAL
    return _parse_zone(buffer, _parse_fraction(buffer, at + 9, end, row), end, row)


@helper
def _parse_fraction(buffer: Bytes, at: int, end: int, row: Row) -> int:
    if at + 1 < end and buffer[at] == _DOT and _ZERO <= buffer[at + 1] <= _NINE:
        at += 1
        unit = 100_000
        while at < end and _ZERO <= buffer[at] <= _NINE:
            row[STAMP] += (buffer[at] - _ZERO) * unit
            unit //= 10
            at += 1
    return at


@helper
def _parse_zone(buffer: Bytes, at: int, end: int, row: Row) -> int:
    if at < end and buffer[at] == 90:  # Z
        row[FORM] += 1
        return at + 1
    if at + 3 <= end and (buffer[at] == _PLUS or buffer[at] == _MINUS):
        hours = _digits(buffer, at + 1, 2)
        minutes = 0
        sign = 1 if buffer[at] == _PLUS else -1
        at += 3
        if at + 3 <= end and buffer[at] == 58:
            minutes = _digits(buffer, at + 1, 2)
            at += 3
        elif at + 2 <= end and _digits(buffer, at, 2) >= 0:
            minutes = _digits(buffer, at, 2)
            at += 2
        if hours < 0 or hours > 18 or minutes < 0 or minutes > 59:
            return -1
        row[STAMP] -= sign * (hours * 3600 + minutes * 60) * 1_000_000
        row[FORM] += 1
    return at


@helper
def parse_header(buffer: Bytes, at: int, end: int, row: Row) -> int:
    """Read ``NNN (cluster.proc.subproc) date time `` from ``buffer[at:end]`` into `row`.

    The fields of the body are reset. Returns the position of the text after the header, or −1 where
    there is no header; `row` is then undefined.
    """
    if end - at < 26 or buffer[at + 4] != _PAREN or buffer[at + 3] != _SPACE:
        return -1
    code = _digits(buffer, at, 3)
    if code < 0:
        return -1
    at += 4
    for column in range(CLUSTER, SUBPROC + 1):
        at = read_integer(buffer, at + 1, end, row, column)
        wanted = _CLOSE if column == SUBPROC else _DOT
        if at < 0 or at >= end or buffer[at] != wanted or abs(row[column]) >= 2**31:
            return -1
    if at + 1 >= end or buffer[at + 1] != _SPACE:
        return -1
    at = _parse_stamp(buffer, at + 2, end, row)
    if at < 0 or (at < end and buffer[at] != _SPACE):
        return -1
    row[CODE] = code
    for column in range(HOLD_CODE, DETAIL + 1):
        row[column] = NONE
    for column in range(REASON_START, COLUMNS):
        row[column] = -1
    return min(at + 1, end)
