"""One record of a text event log as kernels: its row, its header line, the lines of its body.

A record is one int64 row. Numbers are in it as they are, `NONE` where absent; texts as the range
of the buffer they were found in (−1 where absent), since users write parts of them (reasons, node
names, messages). Layout: HTCondor's condor_utils/condor_event.cpp, ``formatHeader``,
``readHeader`` and the bodies.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jobsight.history.eventlog.blocks import WIDTH, equal, first
from jobsight.jit import helper, kernel

__all__ = [
    "BELOW_USAGE",
    "COLUMNS",
    "ENDED",
    "NONE",
    "Bytes",
    "Row",
    "body_line",
    "find_after",
    "find_byte",
    "find_newline",
    "finish",
    "first_line",
    "is_foreign",
    "numbers",
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
    HOLD_CODE, HOLD_SUBCODE, RETURN_VALUE, SIGNAL, MEMORY_MB, VACATE_CODE, VACATE_SUBCODE, DETAIL,
    OFFSET_START, OFFSET_END,
    REASON_START, REASON_END, HOST_START, HOST_END, SLOT_START, SLOT_END,
    DAG_NODE_START, DAG_NODE_END, AD_START, AD_END,
    CODE_LINE,
) = range(27)  # fmt: skip
COLUMNS = 27

LOCAL, LOCAL_NO_YEAR = 0, 2
"""Forms of a time stamp, see `times`; one without a year is given the leap year 1972."""

_YEARLESS = 1972
_NEWLINE = 10
_SPACE, _PAREN, _CLOSE, _DOT, _ZERO, _NINE, _MINUS, _PLUS = 32, 40, 41, 46, 48, 57, 45, 43


_TAB, _COLON, _COMMA, _QUOTE = 9, 58, 44, 34
_NO_REASON = b"Reason unspecified"
ENDED, BELOW_USAGE = -2, -3
"""Values of CODE_LINE: no text of a user's follows; (004) what follows may be one."""


@kernel
def numbers(count: int) -> Row:
    """So many zeros."""
    return np.zeros(count, np.int64)


@numbers.in_python
def _numbers(count: int) -> Any:
    return [0] * count


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


@_digits.in_python
def _digits_of_bytes(buffer: Any, at: int, count: int) -> int:
    text = buffer[at : at + count]
    return int(text) if text.isdigit() else -1


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


@starts_with.in_python
def _bytes_start_with(buffer: Any, at: int, end: int, text: bytes) -> bool:
    return bool(buffer.startswith(text, at, end))


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


@find_byte.in_python
def _find_in_bytes(buffer: Any, at: int, end: int, byte: int) -> int:
    found: int = buffer.find(byte, at, end)
    return end if found < 0 else found


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


@find_after.in_python
def _find_after_in_bytes(buffer: Any, at: int, end: int, text: bytes) -> int:
    found: int = buffer.find(text, at, end)
    return -1 if found < 0 else found + len(text)


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


@helper
def _range(buffer: Bytes, start: int, end: int, row: Row, column: int) -> None:
    """Put the range, less blanks at both ends, into ``row[column : column + 2]``; not if empty."""
    while start < end and (buffer[start] == _SPACE or buffer[start] == _TAB):
        start += 1
    while end > start and buffer[end - 1] <= _SPACE:
        end -= 1
    if start < end:
        row[column] = start
        row[column + 1] = end


@helper
def _word(buffer: Bytes, start: int, end: int, row: Row, column: int) -> int:
    """Put the text up to the next blank, less a final colon or comma, there; where it ended."""
    stop = start
    while stop < end and buffer[stop] != _SPACE:
        stop += 1
    trimmed = stop
    while trimmed > start and (buffer[trimmed - 1] == _COLON or buffer[trimmed - 1] == _COMMA):
        trimmed -= 1
    _range(buffer, start, trimmed, row, column)
    return stop


@helper
def first_line(buffer: Bytes, at: int, end: int, row: Row) -> None:
    """Read what follows the header on its line."""
    code = row[CODE]
    if code in (0, 1, 14):
        start = find_after(buffer, at, end, b"host: ")
        if start > 0:
            _range(buffer, start, end, row, HOST_START)
    elif code == 4:
        start = find_after(buffer, at, end, b"Code ")
        after = read_integer(buffer, start, end, row, VACATE_CODE) if start > 0 else -1
        if after > 0 and starts_with(buffer, after, end, b" Subcode "):
            read_integer(buffer, after + 9, end, row, VACATE_SUBCODE)
    elif code == 21:
        start = find_after(buffer, at, end, b" on ")
        if start > 0:
            _word(buffer, start, end, row, SLOT_START)
    elif code == 23:
        start = find_after(buffer, at, end, b"reconnected to ")
        if start > 0:
            _word(buffer, start, end, row, SLOT_START)
    elif code == 33:
        _range(buffer, at, end, row, REASON_START)
    elif code == 40:
        row[DETAIL] = _transfer_type(buffer, at, end)


@helper
def _transfer_type(buffer: Bytes, at: int, end: int) -> int:
    """FileTransferEventType: 1 queued, 2 started, 3 finished for input; 4, 5, 6 for output."""
    direction = 3 if find_after(buffer, at, end, b"transferring output") > 0 else 0
    if find_after(buffer, at, end, b"transfer output") > 0:
        direction = 3
    if starts_with(buffer, at, end, b"Entered queue"):
        return 1 + direction
    if starts_with(buffer, at, end, b"Started transferring"):
        return 2 + direction
    if starts_with(buffer, at, end, b"Finished transferring"):
        return 3 + direction
    return 0


@helper
def body_line(buffer: Bytes, at: int, end: int, row: Row) -> None:
    """Read one further line of the record, ``buffer[at:end]``."""
    code = row[CODE]
    if code in (9, 12, 13, 7, 21):
        _reason_line(buffer, at, end, row)
    elif code == 4:
        _eviction_line(buffer, at, end, row)
    elif code in (5, 15, 16):
        _result_line(buffer, at, end, row)
    elif code == 6:
        if find_after(buffer, at, end, b"  -  MemoryUsage") > 0:  # 12  -  MemoryUsage of job (MB)
            read_integer(buffer, _skip_blanks(buffer, at, end), end, row, MEMORY_MB)
    elif code in (1, 14):
        _slot_line(buffer, at, end, row)
    elif code == 40:
        start = _skip_blanks(buffer, at, end)
        if starts_with(buffer, start, end, b"Transferring to host: "):
            _range(buffer, start + 22, end, row, HOST_START)
    elif code == 0:
        # The note that HTCondor writes is above the user's own.
        start = _skip_blanks(buffer, at, end)
        if row[DAG_NODE_START] < 0 and starts_with(buffer, start, end, b"DAG Node: "):
            _range(buffer, start + 10, end, row, DAG_NODE_START)
    elif code in (22, 24):
        _connection_line(buffer, at, end, row)


@helper
def _skip_blanks(buffer: Bytes, at: int, end: int) -> int:
    while at < end and (buffer[at] == _SPACE or buffer[at] == _TAB):
        at += 1
    return at


@helper
def _slot_line(buffer: Bytes, at: int, end: int, row: Row) -> None:
    """``<tab>SlotName: slot1_3@host``, also in quotes."""
    start = _skip_blanks(buffer, at, end)
    if starts_with(buffer, start, end, b"SlotName: "):
        start += 10
        if end - start >= 2 and buffer[start] == _QUOTE and buffer[end - 1] == _QUOTE:
            start, end = start + 1, end - 1
        _range(buffer, start, end, row, SLOT_START)


@helper
def _code_line(buffer: Bytes, at: int, end: int, row: Row) -> bool:
    """``<tab>Code 13 Subcode 2``: whether this is such a line; its numbers where it is."""
    start = _skip_blanks(buffer, at, end)
    if start == at or not starts_with(buffer, start, end, b"Code "):
        return False
    after = read_integer(buffer, start + 5, end, row, HOLD_CODE)
    if after < 0 or not starts_with(buffer, after, end, b" Subcode "):
        return False
    after = read_integer(buffer, after + 9, end, row, HOLD_SUBCODE)
    return after > 0 and _skip_blanks(buffer, after, end) == end


@helper
def _ends_reason(buffer: Bytes, at: int, end: int, code: int) -> bool:
    """Lines that HTCondor writes below a reason: usage, and the ticket of execution."""
    start = _skip_blanks(buffer, at, end)
    if code == 9:
        return bool(starts_with(buffer, start, end, b"Job terminated by "))
    return bool(code == 7 and find_after(buffer, start, end, b"  -  Run Bytes ") > 0)


@helper
def _reason_line(buffer: Bytes, at: int, end: int, row: Row) -> None:
    # A reason may span lines, and one of them may look like the line of codes. The last such line
    # is the one that HTCondor wrote; an earlier one turns out to be text when another line follows.
    if row[CODE_LINE] == ENDED or _ends_reason(buffer, at, end, row[CODE]):
        row[CODE_LINE] = ENDED
        return
    if row[CODE_LINE] >= 0:
        _extend_reason(buffer, row[CODE_LINE], at, row)
        row[CODE_LINE] = -1
    if row[CODE] in (12, 21) and _code_line(buffer, at, end, row):
        row[CODE_LINE] = at
        return
    _extend_reason(buffer, at, end, row)


@helper
def _extend_reason(buffer: Bytes, at: int, end: int, row: Row) -> None:
    if row[REASON_START] < 0:
        _range(buffer, at, end, row, REASON_START)
    else:
        while end > at and buffer[end - 1] <= _SPACE:
            end -= 1
        if end > at:
            row[REASON_END] = end


@helper
def _result(buffer: Bytes, at: int, end: int, row: Row) -> bool:
    """Read how the job terminated; whether the line is about that. The first such line counts."""
    if row[RETURN_VALUE] != NONE or row[SIGNAL] != NONE:
        return False
    column = -1
    if starts_with(buffer, at, end, b"(1) Normal termination (return value "):
        column = RETURN_VALUE
        after = read_integer(buffer, at + 37, end, row, RETURN_VALUE)
    elif starts_with(buffer, at, end, b"(0) Abnormal termination (signal "):
        column = SIGNAL
        after = read_integer(buffer, at + 33, end, row, SIGNAL)
    if column < 0:
        return False
    if after < 0 or after >= end or buffer[after] != _CLOSE:  # cut: its last digits may be missing
        row[column] = NONE
    return True


@helper
def _result_line(buffer: Bytes, at: int, end: int, row: Row) -> None:
    start = _skip_blanks(buffer, at, end)
    if _result(buffer, start, end, row):
        return
    if row[CODE] == 16 and starts_with(buffer, start, end, b"DAG Node: "):
        _range(buffer, start + 10, end, row, DAG_NODE_START)


@helper
def _eviction_line(buffer: Bytes, at: int, end: int, row: Row) -> None:
    """Usage, the result of a job put back in the queue, the reason, a table; in this order.

    The reason follows ``Reason: `` since 24.11; before, and for a job put back, alone.
    """
    start = _skip_blanks(buffer, at, end)
    if row[CODE_LINE] == ENDED:
        return
    if starts_with(buffer, start, end, b"Partitionable Resources"):
        row[CODE_LINE] = ENDED
    elif row[REASON_START] >= 0:
        _extend_reason(buffer, at, end, row)
    elif starts_with(buffer, start, end, b"Reason: "):
        row[CODE_LINE] = BELOW_USAGE
        _range(buffer, start + 8, end, row, REASON_START)
    elif row[CODE_LINE] != BELOW_USAGE:
        if find_after(buffer, start, end, b"  -  Run Bytes Received ") > 0:
            row[CODE_LINE] = BELOW_USAGE
    elif not (
        _result(buffer, start, end, row)
        or starts_with(buffer, start, end, b"(0) No core file")
        or starts_with(buffer, start, end, b"(1) Corefile in: ")
    ):
        _range(buffer, start, end, row, REASON_START)


@helper
def _connection_line(buffer: Bytes, at: int, end: int, row: Row) -> None:
    start = _skip_blanks(buffer, at, end)
    tries = starts_with(buffer, start, end, b"Trying to reconnect to ")
    if tries or starts_with(buffer, start, end, b"Can not reconnect to "):
        stop = _word(buffer, start + (23 if tries else 21), end, row, SLOT_START)
        if row[CODE] == 22 and tries:
            _range(buffer, stop, end, row, HOST_START)
    elif row[SLOT_START] < 0:
        _extend_reason(buffer, at, end, row)


@helper
def is_foreign(buffer: Bytes, at: int, end: int, row: Row) -> bool:
    """Whether no record like the open one has such a line below a text of its user's.

    Then that text was cut short, and another record may have begun in its last line. (Users write
    no line ends into texts since HTCondor 23.8, so none of them can bring about such a line.)
    """
    code, start = row[CODE], _skip_blanks(buffer, at, end)
    if code == 28:
        return bool(buffer[at] <= _NINE)
    if code == 12:
        kept = row[HOLD_CODE], row[HOLD_SUBCODE]
        known = _code_line(buffer, at, end, row)
        row[HOLD_CODE], row[HOLD_SUBCODE] = kept
        return not known
    if code == 7:
        return row[CODE_LINE] != ENDED and find_after(buffer, start, end, b"  -  Run Bytes ") < 0
    if code == 9:
        return not starts_with(buffer, start, end, b"Job terminated by ")
    if code == 4:
        if row[CODE_LINE] == ENDED:
            return find_after(buffer, start, end, b":") < 0
        below = row[CODE_LINE] == BELOW_USAGE
        return below and not starts_with(buffer, start, end, b"Partitionable Resources")
    return code in (13, 33) or (code == 0 and buffer[at] != _SPACE)


@helper
def finish(buffer: Bytes, end: int, row: Row) -> None:
    """Close the record at `end`, with what can be decided only once all of it was read."""
    row[OFFSET_END] = end
    if row[CODE] == 28:
        row[AD_START], row[AD_END] = row[OFFSET_START], end
    if row[CODE] != 12 or row[CODE_LINE] < 0:
        row[HOLD_CODE] = row[HOLD_SUBCODE] = NONE
    start, stop = row[REASON_START], row[REASON_END]
    if start < 0:
        return
    if row[CODE] == 12 and stop - start == 18 and starts_with(buffer, start, stop, _NO_REASON):
        row[REASON_START] = row[REASON_END] = -1
    elif row[CODE] in (7, 12) and starts_with(buffer, start, stop, b"Error from "):
        _word(buffer, start + 11, stop, row, SLOT_START)
