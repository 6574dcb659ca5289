"""From ranges of bytes to columns of text, and 028 records to the events that triggered them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jobsight.history.classads import ad_to_json, trigger_of
from jobsight.history.record import AD_END, AD_START, CLUSTER, CODE, PROC, Bytes, Row
from jobsight.jit import kernel

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ads_column", "join_ads", "text_column"]

_RETURN = 13
_LOOK_BACK = 256
"""How many records may lie between an event and its 028: several writers share a global log, and
each appends its event and its 028 in two writes."""


@kernel
def join_ads(buffer: Bytes, rows: Row, ads: Row, owners: Row) -> None:
    """Give each event the ad of the 028 that it triggered.

    Args:
        buffer: uint8, the text.
        rows: int64 (n, record.COLUMNS), scanned.
        ads: int64 (n, 2), filled: range of the ad of each row, (−1, −1) without one. An 028 whose
            trigger is not among the rows keeps its ad itself.
        owners: int64 (n, 2), filled: range of the owner's name, in the event's and the 028's row.
    """
    found = np.empty(3, np.int64)
    ads[:] = -1
    owners[:] = -1
    for k in range(len(rows)):
        if rows[k, CODE] != 28:
            continue
        trigger_of(buffer, rows[k, AD_START], rows[k, AD_END], found)
        owners[k] = found[1:]
        to = k
        for back in range(k - 1, max(k - _LOOK_BACK, 0) - 1, -1):
            if (
                rows[back, CODE] == found[0]
                and rows[back, CLUSTER] == rows[k, CLUSTER]
                and rows[back, PROC] == rows[k, PROC]
            ):
                if ads[back, 0] < 0:
                    to = back
                break
        ads[to, 0] = rows[k, AD_START]
        ads[to, 1] = rows[k, AD_END]
        owners[to] = found[1:]


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
def _gather_ads(buffer: Bytes, ads: Row, out: Bytes, offsets: Row) -> int:
    """The number of rows done before `out` might not have held the next ad."""
    to = 0
    for k in range(len(ads)):
        if ads[k, 0] >= 0:
            if to + 6 * (ads[k, 1] - ads[k, 0]) + 2 > len(out):
                return k
            to = ad_to_json(buffer, ads[k, 0], ads[k, 1], out, to)
        offsets[k + 1] = to
    return len(ads)


def text_column(buffer: Bytes, starts: Row, ends: Row) -> pa.Array:
    """A column of n texts cut out of `buffer`: Arrow large_string, null where the start is −1.

    Carriage returns are left out; bytes that are no UTF-8 become U+FFFD.
    """
    lengths = np.where(starts >= 0, ends - starts, 0)
    out = np.empty(int(lengths.sum()), np.uint8)
    offsets = np.zeros(len(starts) + 1, np.int64)
    _gather(buffer, np.ascontiguousarray(starts), np.ascontiguousarray(ends), out, offsets)
    return _strings(out[: offsets[-1]], offsets, starts >= 0)


def ads_column(buffer: Bytes, ads: Row) -> pa.Array:
    """A column of n JSON objects from the ads at the ranges ``ads`` (n, 2): Arrow large_string."""
    total = int((ads[:, 1] - ads[:, 0]).sum())
    largest = int((ads[:, 1] - ads[:, 0]).max(initial=0))
    offsets = np.zeros(len(ads) + 1, np.int64)
    # JSON is hardly ever longer than the ad; hostile text can make it six times as long.
    room = total + total // 4 + 6 * largest + 4096
    while True:
        out = np.empty(room, np.uint8)
        if _gather_ads(buffer, ads, out, offsets) == len(ads):
            return _strings(out[: offsets[-1]], offsets, ads[:, 0] >= 0)
        room = 6 * total + 2 * len(ads) + 6 * largest + 4096


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
