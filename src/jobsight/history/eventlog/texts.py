"""From ranges of bytes to columns of text, and 028 records to JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jobsight.errors import SourceError
from jobsight.history.eventlog.blocks import WIDTH, copy_block, equal, first
from jobsight.history.eventlog.classads import ad_to_json, room
from jobsight.history.eventlog.record import AD_END, AD_START, Bytes, Row
from jobsight.history.eventlog.scratch import scratch
from jobsight.jit import kernel

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ad_columns", "text_column"]

_RETURN = 13


@kernel
def _convert_ads(buffer: Bytes, rows: Row, out: Bytes, ads: Row, owners: Row) -> bool:
    """Write all ads as JSON to `out` and fill `ads` and `owners`; False if `out` is too small."""
    ads[:] = -1
    owners[:] = -1
    to = 0
    for k in range(len(rows)):
        start, end = rows[k, AD_START], rows[k, AD_END]
        if start < 0:
            continue
        if to + room(end - start, 1) > len(out):
            return False
        ads[k, 0] = to
        ads[k, 1] = to = ad_to_json(buffer, start, end, out, to, owners[k])
    return True


@kernel
def _gather(buffer: Bytes, starts: Row, ends: Row, out: Bytes, offsets: Row) -> None:
    """Copy the ranges, less carriage returns, to `out`, which has `WIDTH` bytes more than they."""
    to = 0
    for k in range(len(starts)):
        at, end = starts[k], ends[k]
        while 0 <= at < end:
            size = 1
            if at + WIDTH <= len(buffer):
                copy_block(buffer, at, out, to)
                size = min(first(equal(buffer, at, _RETURN)), end - at)
            elif buffer[at] != _RETURN:
                out[to] = buffer[at]
            else:
                size = 0
            at += size
            to += size
            if at < end and buffer[at] == _RETURN:
                at += 1
        offsets[k + 1] = to


def text_column(buffer: Bytes, starts: Row, ends: Row) -> pa.Array:
    """A column of n texts cut out of `buffer`: Arrow large_string, null where the start is −1.

    Carriage returns are left out; bytes that are not UTF-8 become U+FFFD.
    """
    lengths = np.where(starts >= 0, np.maximum(ends - starts, 0), 0)
    out = np.empty(int(lengths.sum()) + WIDTH, np.uint8)
    offsets = np.zeros(len(starts) + 1, np.int64)
    _gather(buffer, np.ascontiguousarray(starts), np.ascontiguousarray(ends), out, offsets)
    return _strings(out[: offsets[-1]], offsets, starts >= 0)


def ad_columns(buffer: Bytes, rows: Row) -> tuple[pa.Array, pa.Array]:
    """The columns of attributes and owners: those of each 028, null in other rows.

    Args:
        buffer: uint8, the text.
        rows: int64 (n, record.COLUMNS), scanned.

    Returns:
        Two Arrow large_string arrays of n texts; the attributes are JSON objects.
    """
    sizes = (rows[:, AD_END] - rows[:, AD_START])[rows[:, AD_START] >= 0]
    total, largest = int(sizes.sum()), int(sizes.max(initial=0))
    ads = scratch("ads", 2 * len(rows), np.int64).reshape(-1, 2)
    owners = scratch("owners", 2 * len(rows), np.int64).reshape(-1, 2)
    # JSON is hardly ever longer than the ad; hostile text can make it six times as long.
    out = scratch("json", total + total // 4 + room(largest, 1), np.uint8)
    if not _convert_ads(buffer, rows, out, ads, owners):
        out = scratch("json", room(total, len(sizes)), np.uint8)
        if not _convert_ads(buffer, rows, out, ads, owners):
            raise SourceError(f"{total} bytes of ads need more room: please report this log")
    attributes = text_column(out, ads[:, 0], ads[:, 1])
    return attributes, text_column(buffer, owners[:, 0], owners[:, 1])


def _strings(
    data: Bytes, offsets: Row, present: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> pa.Array:
    import pyarrow as pa

    if len(data) and int(data.max()) > 127:
        raw = data.tobytes()
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError:
            texts = [
                raw[offsets[k] : offsets[k + 1]].decode("utf-8", "replace") if there else None
                for k, there in enumerate(present)
            ]
            return pa.array(texts, pa.large_string())
    validity = None
    if not present.all():
        validity = pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.LargeStringArray.from_buffers(
        len(present), pa.py_buffer(offsets), pa.py_buffer(data), validity
    )
