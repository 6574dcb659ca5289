"""From ranges of bytes to columns of text, and 028 records to the events that triggered them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jobsight.history.classads import ad_to_json, room
from jobsight.history.record import AD_END, AD_START, CLUSTER, CODE, PROC, Bytes, Row
from jobsight.jit import helper, kernel

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ad_columns", "text_column"]

_RETURN, _AD_EVENT = 13, 28
_LOOK_BACK = 256
"""How many records may lie between an event and its 028: several writers share a global log, and
each appends its event and its 028 in two writes."""


@helper
def _trigger(rows: Row, k: int, number: int, taken: Row) -> int:
    """The row of the event that triggered the 028 of row k; k itself where there is none."""
    for back in range(k - 1, max(k - _LOOK_BACK, 0) - 1, -1):
        if (
            rows[back, CODE] == number
            and rows[back, CLUSTER] == rows[k, CLUSTER]
            and rows[back, PROC] == rows[k, PROC]
        ):
            return back if taken[back, 0] < 0 else k
    return k


@kernel
def _convert_ads(buffer: Bytes, rows: Row, out: Bytes, ads: Row, owners: Row) -> bool:
    """Write all ads as JSON to `out` and fill `ads` and `owners`; False if `out` is too small."""
    found = np.empty(3, np.int64)
    ads[:] = -1
    owners[:] = -1
    to = 0
    for k in range(len(rows)):
        if rows[k, CODE] != _AD_EVENT:
            continue
        start, end = rows[k, AD_START], rows[k, AD_END]
        if to + room(end - start, 1) > len(out):
            return False
        begun, to = to, ad_to_json(buffer, start, end, out, to, found)
        row = _trigger(rows, k, found[0], ads)
        ads[row, 0], ads[row, 1] = begun, to
        owners[row, 0] = owners[k, 0] = found[1]
        owners[row, 1] = owners[k, 1] = found[2]
    return True


@kernel
def _gather(buffer: Bytes, starts: Row, ends: Row, out: Bytes, offsets: Row) -> None:
    to = 0
    for k in range(len(starts)):
        if starts[k] >= 0:
            for at in range(starts[k], ends[k]):
                if buffer[at] != _RETURN:
                    out[to] = buffer[at]
                    to += 1
        offsets[k + 1] = to


@kernel
def _in_order(ranges: Row, offsets: Row) -> bool:
    """Whether the ranges lie one behind the other without gaps; `offsets` are filled if they do."""
    to = 0
    for k in range(len(ranges)):
        if ranges[k, 0] >= 0:
            if ranges[k, 0] != to:
                return False
            to = ranges[k, 1]
        offsets[k + 1] = to
    return True


def text_column(buffer: Bytes, starts: Row, ends: Row) -> pa.Array:
    """A column of n texts cut out of `buffer`: Arrow large_string, null where the start is −1.

    Carriage returns are left out; bytes that are no UTF-8 become U+FFFD.
    """
    lengths = np.where(starts >= 0, ends - starts, 0)
    out = np.empty(int(lengths.sum()), np.uint8)
    offsets = np.zeros(len(starts) + 1, np.int64)
    _gather(buffer, np.ascontiguousarray(starts), np.ascontiguousarray(ends), out, offsets)
    return _strings(out[: offsets[-1]], offsets, starts >= 0)


def ad_columns(buffer: Bytes, rows: Row) -> tuple[pa.Array, pa.Array]:
    """The columns of attributes and owners: each event has those of the 028 that it triggered.

    An 028 has its owner too, and keeps its attributes itself if its trigger is not among the rows.

    Args:
        buffer: uint8, the text.
        rows: int64 (n, record.COLUMNS), scanned.

    Returns:
        Two Arrow large_string arrays of n texts; the attributes are JSON objects.
    """
    sizes = (rows[:, AD_END] - rows[:, AD_START])[rows[:, CODE] == _AD_EVENT]
    total, largest = int(sizes.sum()), int(sizes.max(initial=0))
    ads, owners = np.empty((len(rows), 2), np.int64), np.empty((len(rows), 2), np.int64)
    # JSON is hardly ever longer than the ad; hostile text can make it six times as long.
    out = np.empty(total + total // 4 + room(largest, 1), np.uint8)
    if not _convert_ads(buffer, rows, out, ads, owners):
        out = np.empty(room(total, len(sizes)), np.uint8)
        _convert_ads(buffer, rows, out, ads, owners)
    return _ranges_column(out, ads), text_column(buffer, owners[:, 0], owners[:, 1])


def _ranges_column(data: Bytes, ranges: Row) -> pa.Array:
    offsets = np.zeros(len(ranges) + 1, np.int64)
    if _in_order(ranges, offsets):
        return _strings(data[: offsets[-1]], offsets, ranges[:, 0] >= 0)
    return text_column(data, ranges[:, 0], ranges[:, 1])


def _strings(
    data: Bytes, offsets: Row, present: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> pa.Array:
    import pyarrow as pa

    if len(data) and int(data.max()) > 127 and not _is_utf8(data):
        return _repaired(data, offsets, present)
    validity = None
    if not present.all():
        validity = pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.LargeStringArray.from_buffers(
        len(present), pa.py_buffer(offsets), pa.py_buffer(data), validity
    )


def _is_utf8(data: Bytes) -> bool:
    try:
        data.tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _repaired(
    data: Bytes, offsets: Row, present: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> pa.Array:
    import pyarrow as pa

    raw = data.tobytes()
    texts = [
        raw[offsets[k] : offsets[k + 1]].decode("utf-8", "replace") if there else None
        for k, there in enumerate(present)
    ]
    return pa.array(texts, pa.large_string())
