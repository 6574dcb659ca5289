"""The body of one record of a text event log: what its lines mean.

Layout of the bodies: HTCondor's condor_utils/condor_event.cpp. Users write parts of them (reasons,
node names, messages), so every text is only kept as a range of bytes.
"""

from jobsight.history.eventlog.record import (
    AD_END,
    AD_START,
    CODE,
    CODE_LINE,
    DAG_NODE_START,
    DETAIL,
    HOLD_CODE,
    HOLD_SUBCODE,
    HOST_START,
    MEMORY_MB,
    NONE,
    OFFSET_END,
    OFFSET_START,
    REASON_END,
    REASON_START,
    RETURN_VALUE,
    SIGNAL,
    SLOT_START,
    VACATE_CODE,
    Bytes,
    Row,
    find_after,
    read_integer,
    starts_with,
)
from jobsight.jit import helper

__all__ = ["BELOW_USAGE", "ENDED", "body_line", "finish", "first_line", "is_foreign"]

_SPACE, _TAB, _COLON, _COMMA, _QUOTE, _CLOSE, _NINE = 32, 9, 58, 44, 34, 41, 57
_NO_REASON = b"Reason unspecified"

ENDED, BELOW_USAGE = -2, -3
"""Values of CODE_LINE: no text of a user's follows; (004) what follows may be one."""


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
        if start > 0:
            read_integer(buffer, start, end, row, VACATE_CODE)
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
