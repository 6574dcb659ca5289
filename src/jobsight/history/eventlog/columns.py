"""Batches of the event table, from scanned text and from the events of XML and JSON logs.

One row an event, in file order. Names and types of the columns are fixed (`terms`). Attribute names
of XML and JSON: HTCondor's condor_utils/condor_event.cpp, ``toClassAd`` of each event.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.errors import SourceError
from jobsight.history.eventlog import record
from jobsight.history.eventlog.blocks import WIDTH, copy_block, equal, first
from jobsight.history.eventlog.classads import ad_to_json, room
from jobsight.history.eventlog.record import AD_END, AD_START, NONE, Bytes, Row
from jobsight.history.eventlog.structured import Ad, Attributes, Skip, parse_time
from jobsight.history.eventlog.terms import event_schema
from jobsight.jit import kernel

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Batch",
    "Origin",
    "ad_columns",
    "ads_to_columns",
    "batch_from_ads",
    "batch_from_rows",
    "columns_of_origin",
    "scratch",
    "text_column",
]

T = TypeVar("T", bound=np.generic)

_KEEP = 64 << 20
"""Bytes: a larger array, as only rubbish needs, is not kept."""

_kept = threading.local()

_RETURN = 13
_NUMBERS = (
    ("cluster", "int64", record.CLUSTER),
    ("proc", "int32", record.PROC),
    ("subproc", "int32", record.SUBPROC),
    ("code", "int16", record.CODE),
)
_OPTIONAL_NUMBERS = (
    ("hold_code", "int32", record.HOLD_CODE),
    ("hold_subcode", "int32", record.HOLD_SUBCODE),
    ("return_value", "int32", record.RETURN_VALUE),
    ("signal", "int32", record.SIGNAL),
    ("memory_mb", "int64", record.MEMORY_MB),
    ("vacate_code", "int32", record.VACATE_CODE),
    ("vacate_subcode", "int32", record.VACATE_SUBCODE),
    ("detail", "int16", record.DETAIL),
)
_TEXTS = (
    ("reason", record.REASON_START),
    ("host", record.HOST_START),
    ("slot", record.SLOT_START),
    ("dag_node", record.DAG_NODE_START),
)
_ENDS = (EventCode.EVICTED, EventCode.TERMINATED, EventCode.NODE_TERMINATED, EventCode.POST_SCRIPT)
_REASON: dict[int, str] = {
    EventCode.SHADOW_EXCEPTION: "Message",
    EventCode.HELD: "HoldReason",
    EventCode.REMOTE_ERROR: "ErrorMsg",
    EventCode.DISCONNECTED: "DisconnectReason",
}
"""Attribute with the reason; of all other events it is ``Reason``."""

_ERROR_FROM = re.compile(r"Error from (\S+?)[:,]*(?:\s|$)")
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_INT16, _INT32, _INT64 = 2**15, 2**31, 2**63


def scratch(name: str, size: int, kind: type[T]) -> NDArray[T]:
    """An array of `size` elements of `kind` with any values, in memory that a thread uses again.

    It is good until this thread asks for `name` again; a name always has one kind. Fresh memory
    comes from the system page by page, and clearing those pages takes longer than the kernels need
    to fill them.
    """
    kept: NDArray[Any] | None = getattr(_kept, name, None)
    if kept is None or len(kept) < size:
        kept = np.empty(size, kind)
        if kept.nbytes <= _KEEP:
            setattr(_kept, name, kept)
    return kept[:size]


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


@_convert_ads.estimate
def _convert_seconds(*_arguments: object) -> float:
    return 0.0  # is in `scanner.seconds`


@_convert_ads.in_python
def _convert_bytes(buffer: Bytes, rows: Row, out: Bytes, ads: Row, owners: Row) -> bool:
    text: Any = buffer.tobytes()
    return _convert_ads.interpreted(text, rows, out, ads, owners)


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


@_gather.estimate
def _gather_seconds(*_arguments: object) -> float:
    return 0.0  # is in `scanner.seconds`


@_gather.in_python
def _gather_bytes(buffer: Bytes, starts: Row, ends: Row, out: Bytes, offsets: Row) -> None:
    text = buffer.tobytes()
    ranges = zip(starts.tolist(), ends.tolist(), strict=True)
    texts = [text[at:end].replace(b"\r", b"") if at >= 0 else b"" for at, end in ranges]
    offsets[1:] = np.cumsum([len(one) for one in texts])
    out[: offsets[-1]] = np.frombuffer(b"".join(texts), np.uint8)


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
    """Attributes (JSON objects) and owners of each 028, null in other rows: large_string (n,) each.

    The rows, int64 (n, record.COLUMNS), were scanned in `buffer`, uint8.
    """
    sizes = (rows[:, AD_END] - rows[:, AD_START])[rows[:, AD_START] >= 0]
    total, largest = int(sizes.sum()), int(sizes.max(initial=0))
    ads = scratch("ads", 2 * len(rows), np.int64).reshape(-1, 2)
    owners = scratch("owners", 2 * len(rows), np.int64).reshape(-1, 2)
    # JSON is hardly ever longer than the ad; hostile text can make it six times as long.
    out = scratch("json", total + total // 4 + room.python(largest, 1), np.uint8)
    if not _convert_ads(buffer, rows, out, ads, owners):
        out = scratch("json", room.python(total, len(sizes)), np.uint8)
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


@dataclass(frozen=True)
class Origin:
    """Where a batch comes from: what is the same in all of its rows."""

    source: str
    log: int
    access_point: str | None


@dataclass(frozen=True)
class Batch:
    """A stretch of the event table whose times are not yet resolved.

    Attributes:
        columns: Arrow arrays of n rows by name, all of `event_schema` but ``time``.
        stamp: int64 (n,), µs, wall clock as written (see `jobsight.history.eventlog.times`).
        form: uint8 (n,), how it was written.
        skipped: stretches skipped in this batch: (offset, length, reason).
        size: bytes of the log that this batch covers.
    """

    columns: dict[str, pa.Array]
    stamp: NDArray[np.int64]
    form: NDArray[np.uint8]
    skipped: list[tuple[int, int, str]]
    size: int

    def table(self, time: NDArray[np.int64]) -> pa.RecordBatch:
        """The batch with its times, int64 µs since 1970 in UTC."""
        import pyarrow as pa

        schema = event_schema()
        columns = dict(self.columns, time=pa.array(time, schema.field("time").type))
        return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def columns_of_origin(origin: Origin, rows: int) -> dict[str, pa.Array]:
    """The columns that have the same value in all rows."""
    import pyarrow as pa

    text = pa.large_string()
    point = pa.scalar(origin.access_point, text)
    source = origin.source.encode("utf-8", "replace").decode()  # a file's name may be no UTF-8
    return {
        "source": pa.repeat(pa.scalar(source, text), rows),
        "access_point": pa.repeat(point, rows) if origin.access_point else pa.nulls(rows, text),
        "log": pa.repeat(pa.scalar(origin.log, pa.int32()), rows),
    }


def batch_from_rows(
    buffer: Bytes, rows: Row, skips: Row, *, base: int, origin: Origin, reasons: tuple[str, ...]
) -> Batch:
    """Make a batch from what the scanner found in `buffer`, which begins at `base` in its log."""
    import pyarrow as pa

    by_column = rows.T.copy()  # of its own: `rows` may be scratch memory
    columns = columns_of_origin(origin, len(rows))
    for name, kind, column in _NUMBERS:
        columns[name] = pa.array(by_column[column].astype(kind))
    for name, kind, column in _OPTIONAL_NUMBERS:  # what its type cannot hold is unknown too
        values, limits = by_column[column], np.iinfo(kind)
        absent = (values == NONE) | (values < limits.min) | (values > limits.max)
        columns[name] = pa.array(np.where(absent, 0, values).astype(kind), mask=absent)
    for name, column in _TEXTS:
        columns[name] = text_column(buffer, by_column[column], by_column[column + 1])
    columns["attributes"], columns["owner"] = ad_columns(buffer, rows)
    columns["offset"] = pa.array(by_column[record.OFFSET_START] + base)
    return Batch(
        columns,
        by_column[record.STAMP],
        by_column[record.FORM].astype(np.uint8),
        [(int(start) + base, int(end - start), reasons[why]) for start, end, why in skips],
        len(buffer),
    )


def ads_to_columns(ads: Sequence[Ad]) -> dict[str, list[Any]]:
    """Columns of the event table, each a list of n values, None where an event has none.

    All columns but ``time``, ``source``, ``log`` and ``access_point``.
    """
    rows = [_row(ad) for ad in ads]
    names = _row(Ad(0, {"EventTypeNumber": 0}))
    return {name: [row[name] for row in rows] for name in sorted(names)}


def batch_from_ads(ads: Sequence[Ad], skips: Sequence[Skip], *, origin: Origin, size: int) -> Batch:
    """A batch of these events, in order, and of the stretches skipped between them.

    Offsets are those in the log, of which they cover `size` bytes.
    """
    import pyarrow as pa

    schema, values = event_schema(), ads_to_columns(ads)
    columns = columns_of_origin(origin, len(ads))
    columns |= {name: pa.array(values[name], schema.field(name).type) for name in values}
    times = [parse_time(ad.attributes["EventTime"]) or (0, 0) for ad in ads]
    return Batch(
        columns,
        np.array([stamp for stamp, _ in times], np.int64),
        np.array([form for _, form in times], np.uint8),
        [*skips],
        size,
    )


def _row(ad: Ad) -> dict[str, Any]:
    of = ad.attributes
    code = of["EventTypeNumber"]
    held, information, evicted = (
        code == of for of in (EventCode.HELD, EventCode.AD, EventCode.EVICTED)
    )
    host = None
    if code == EventCode.DISCONNECTED:
        host = _text(of, "StartdAddr")
    elif code != EventCode.REMOTE_ERROR and not information:
        host = _text(of, "ExecuteHost", "SubmitHost", "Host")
    return {
        "cluster": _integer(of, "Cluster", _INT32, -1),
        "proc": _integer(of, "Proc", _INT32, -1),
        "subproc": _integer(of, "Subproc", _INT32, -1),
        "code": code,
        "hold_code": _integer(of, "HoldReasonCode", _INT32) if held else None,
        "hold_subcode": _integer(of, "HoldReasonSubCode", _INT32) if held else None,
        "reason": _reason(code, of),
        "return_value": _integer(of, "ReturnValue", _INT32) if code in _ENDS else None,
        "signal": _integer(of, "TerminatedBySignal", _INT32) if code in _ENDS else None,
        "host": host,
        "slot": _slot(code, of),
        "memory_mb": _integer(of, "MemoryUsage", _INT64) if code == EventCode.IMAGE_SIZE else None,
        "owner": _text(of, "Owner") if information else None,
        "vacate_code": _integer(of, "ReasonCode", _INT32) if evicted else None,
        "vacate_subcode": _integer(of, "ReasonSubCode", _INT32) if evicted else None,
        "attributes": _ENCODER.encode(of) if information else None,
        "offset": ad.offset,
        "detail": _integer(of, "Type", _INT16) if code == EventCode.FILE_TRANSFER else None,
        "dag_node": _dag_node(of) if code in (EventCode.SUBMIT, EventCode.POST_SCRIPT) else None,
    }


def _integer(of: Attributes, name: str, limit: int, default: int | None = None) -> int | None:
    """A whole number that its column can hold, else `default`."""
    value = of.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    fits = type(value) is int and -limit <= value < limit
    return value if fits else default


def _text(of: Attributes, *names: str) -> str | None:
    """The first of the attributes that is a text and not empty."""
    for name in names:
        value = of.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return None


def _slot(code: int, of: Attributes) -> str | None:
    if code == EventCode.AD:
        return None
    if code == EventCode.REMOTE_ERROR:
        return _text(of, "ExecuteHost")  # its name there, as in the text form
    named = _text(of, "SlotName", "StartdName")
    if named is None and code in (EventCode.HELD, EventCode.SHADOW_EXCEPTION):
        found = _ERROR_FROM.match(_reason(code, of) or "")
        return found[1] if found else None
    return named


def _reason(code: int, of: Attributes) -> str | None:
    if code == EventCode.AD:
        return None
    if code == EventCode.ATTRIBUTE_UPDATE:
        name, value = _text(of, "Attribute"), of.get("Value")
        return f"Setting job attribute {name} to {value}" if name else None
    reason = _text(of, _REASON.get(code, "Reason"))
    return None if reason == "Reason unspecified" else reason


def _dag_node(of: Attributes) -> str | None:
    """The node that a submission's notes name: ``DAG Node: A``."""
    named = _text(of, "DAGNodeName")
    if named is not None:
        return named
    for line in (_text(of, "LogNotes") or "").splitlines():
        _, found, name = line.partition("DAG Node: ")
        if found and name.strip():
            return name.strip()
    return None
