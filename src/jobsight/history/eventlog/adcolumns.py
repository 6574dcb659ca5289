"""Events of XML and JSON logs as columns of the event table (docs/architecture.md).

Attribute names: HTCondor's condor_utils/condor_event.cpp, ``toClassAd`` of each event.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from jobsight.codes import EventCode
from jobsight.history.eventlog.columns import Batch, Origin, columns_of_origin
from jobsight.history.eventlog.structured import Ad, Attributes, Skip, parse_time
from jobsight.history.eventlog.terms import event_schema

__all__ = ["ads_to_columns", "batch_from_ads"]

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


def ads_to_columns(ads: Sequence[Ad]) -> dict[str, list[Any]]:
    """Columns of the event table, each a list of n values, None where an event has none.

    All columns but ``time``, ``source``, ``log`` and ``access_point``.
    """
    rows = [_row(ad) for ad in ads]
    return {name: [row[name] for row in rows] for name in sorted(_row(_SAMPLE))}


_SAMPLE = Ad(0, {"EventTypeNumber": 0})


def batch_from_ads(ads: Sequence[Ad], skips: Sequence[Skip], *, origin: Origin, size: int) -> Batch:
    """A batch of these events, and of the stretches skipped between them.

    Args:
        ads: in order, offsets in the log.
        skips: likewise.
        origin: where they come from.
        size: bytes of the log that they cover.
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
    held = code == EventCode.HELD
    information = code == EventCode.AD
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
        "host": _host(code, of),
        "slot": _slot(code, of),
        "memory_mb": _integer(of, "MemoryUsage", _INT64) if code == EventCode.IMAGE_SIZE else None,
        "owner": _text(of, "Owner") if information else None,
        "vacate_code": _integer(of, "Code", _INT32) if code == EventCode.EVICTED else None,
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


def _host(code: int, of: Attributes) -> str | None:
    if code in (EventCode.REMOTE_ERROR, EventCode.AD):
        return None
    if code == EventCode.DISCONNECTED:
        return _text(of, "StartdAddr")
    return _text(of, "ExecuteHost", "SubmitHost", "Host")


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
