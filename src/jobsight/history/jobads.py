"""HTCondor's job attributes as fields of the job document.

One table for 028 records of event logs, ``condor_history`` and ``condor_q``. Names and units:
HTCondor's manual, "Job ClassAd Attributes" (sizes of memory requests in MiB, of disk and memory
used in KiB, times in seconds since 1970, 0 for never).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from jobsight.codes import EventCode
from jobsight.documents import (
    JSON,
    Event,
    JobDocument,
    Request,
    State,
    Submission,
    Usage,
    condor_id,
)
from jobsight.documents.states import CONDOR_STATUS, condor_state
from jobsight.errors import DocumentError
from jobsight.text import wordlist, wordset

__all__ = [
    "POLLED",
    "USER_LOGS",
    "Sections",
    "access_point_of",
    "document_from_ad",
    "parse_ad",
    "plain_ad",
    "sections",
    "submitted_on_hold",
]

LONGEST_TEXT = 16_384
"""Characters kept of a text in a document's sections: arguments can be of any length."""

_KIB_PER_MIB = 1024
_MICROS = 1_000_000
_LATEST = 2**33
_LAST_NUMBER = 2**31 - 1
_COMPLETED, _ON_HOLD = 4, 5
_EXPRESSION = ("/Expr(", ")/")  # how HTCondor writes an expression into JSON

Fields = dict[str, JSON]

_Reader = Callable[[JSON], JSON]
_WITH_OTHERS = {
    name.lower(): name
    for name in wordlist(
        "AccountingGroup AcctGroup CumulativeRemoteSysCpu CumulativeRemoteUserCpu DAGManJobId "
        "DAGNodeName ImageSize LastRemoteHost MemoryUsage RemoteHost RemoteSysCpu RemoteUserCpu "
        "ResidentSetSize"
    )
}
_POLICIES = wordset("PeriodicHold PeriodicRelease PeriodicRemove OnExitHold OnExitRemove")
USER_LOGS = ("UserLog", "DAGManNodesLog")
"""Attributes that name logs with the job's events: the user's own, and DAGMan's of its nodes."""
_decode = msgspec.json.Decoder().decode


class Sections(NamedTuple):
    """Fields of three sections of the document, by name."""

    request: Fields
    submission: Fields
    usage: Fields


def _whole(value: JSON) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    fits = type(value) is int and -(2**63) <= value < 2**63
    return value if fits else None


def _count(value: JSON) -> int | None:
    number = _whole(value)
    return None if number is None or number < 0 else number


def _mib(value: JSON) -> int | None:
    """MiB of a size in KiB, no smaller than it."""
    number = _count(value)
    return None if number is None else -(-number // _KIB_PER_MIB)


def _seconds(value: JSON) -> float | None:
    number = float(value) if type(value) in (int, float) else -1.0
    return number if math.isfinite(number) and number >= 0 else None


def _moment(value: JSON) -> int | None:
    """µs of seconds since 1970; 0 means never."""
    number = _whole(value)
    return number * _MICROS if number is not None and 0 < number < _LATEST else None


def _text(value: JSON) -> str | None:
    if not isinstance(value, str):
        return None
    begin, end = _EXPRESSION
    if value.startswith(begin) and value.endswith(end):
        value = value[len(begin) : -len(end)]
    value = value.strip()
    return value[:LONGEST_TEXT] or None


_TABLE: dict[str, tuple[str, str, _Reader]] = {
    "AllowedJobDuration": ("request", "time_limit_s", _count),
    "Args": ("submission", "arguments", _text),
    "Arguments": ("submission", "arguments", _text),
    "Cmd": ("submission", "command", _text),
    "CpusProvisioned": ("usage", "cpus", _count),
    "CpusUsage": ("usage", "task_cpus", _seconds),
    "DiskUsage": ("usage", "disk_mb", _mib),
    "Err": ("submission", "stderr", _text),
    "GPUsAverageUsage": ("usage", "gpus_busy", _seconds),
    "GPUsMemoryUsage": ("usage", "gpu_memory_mb", _count),
    "GPUsProvisioned": ("usage", "gpus", _count),
    "Iwd": ("submission", "directory", _text),
    "JobBatchName": ("submission", "name", _text),
    "JobPrio": ("request", "priority", _whole),
    "NumHolds": ("usage", "holds", _count),
    "NumJobStarts": ("usage", "starts", _count),
    "Out": ("submission", "stdout", _text),
    "Owner": ("submission", "user", _text),
    "ProjectName": ("submission", "project", _text),
    "QDate": ("submission", "submitted", _moment),
    "RemoteWallClockTime": ("usage", "wall_s", _seconds),
    "RequestCpus": ("request", "cpus", _count),
    "RequestDisk": ("request", "disk_mb", _mib),
    "RequestGPUs": ("request", "gpus", _count),
    "RequestMemory": ("request", "memory_mb", _count),
    "Requirements": ("request", "constraints", _text),
}
"""Attribute → section, field and how its value is read; attributes with one field each."""

POLLED = tuple(sorted({
    *_TABLE, *_WITH_OTHERS.values(), *_POLICIES, *USER_LOGS,
    *wordlist(
        "ClusterId ProcId GlobalJobId ServerTime JobStatus LastJobStatus EnteredCurrentStatus "
        "JobStartDate JobCurrentStartDate JobCurrentStartExecutingDate CompletionDate "
        "LeaveJobInQueue HoldReason HoldReasonCode HoldReasonSubCode ReleaseReason RemoveReason "
        "LastHoldReason LastHoldReasonCode LastHoldReasonSubCode NumHoldsByReason NumSystemHolds "
        "NumShadowStarts LastVacateTime VacateReason VacateReasonCode VacateReasonSubCode "
        "ExitBySignal ExitCode ExitSignal ExitStatus JobUniverse In "
        "DiskProvisioned DiskUsage_RAW MemoryProvisioned ResidentSetSize_RAW"
    ),
}))  # fmt: skip
"""Attributes that say what a document has of a job, and what may fix its hold."""

_BY_NAME = {name.lower(): entry for name, entry in _TABLE.items()}


@lru_cache(4096)
def _entry(name: str) -> tuple[str, str, _Reader] | str | None:
    """What to do with an attribute; the names of ClassAds have no case."""
    lower = name.lower()
    return _BY_NAME.get(lower) or _WITH_OTHERS.get(lower)


def sections(ad: Mapping[str, JSON]) -> Sections:
    """The fields of request, submission and usage in the attributes of an ad or an 028.

    What is missing or has no sensible value (expressions among them) is left out.
    """
    found = Sections({}, {}, {})
    together: Fields = {}
    for name, value in ad.items():
        entry = _entry(name)
        if entry is None or value is None:
            continue
        if isinstance(entry, str):
            together[entry] = value
        elif (field := entry[2](value)) is not None:
            getattr(found, entry[0])[entry[1]] = field
    if "command" in found.submission:  # where it has no batch name; as Slurm names jobs
        found.submission.setdefault("name", found.submission["command"].rpartition("/")[2])
    # Fields that rest on several attributes.
    ad = together
    dagman, node = _whole(ad.get("DAGManJobId")), _text(ad.get("DAGNodeName"))
    if dagman is not None and node is not None:
        found.submission["dag"] = f"{dagman}:{node}"
    # The group without its user, the present slot: whatever the order of the attributes.
    if (account := _text(ad.get("AcctGroup")) or _text(ad.get("AccountingGroup"))) is not None:
        found.request["account"] = account
    if (host := _text(ad.get("RemoteHost")) or _text(ad.get("LastRemoteHost"))) is not None:
        found.usage["hosts"] = host
    # MemoryUsage is mostly an expression over ResidentSetSize; the size of the whole image is all
    # that very old pools have.
    sizes = [_count(ad.get("MemoryUsage")), _mib(ad.get("ResidentSetSize"))]
    known = [size for size in sizes if size is not None]
    if known or (size := _mib(ad.get("ImageSize"))) is not None:
        found.usage["memory_mb"] = max(known) if known else size
    # Of all runs, as RemoteWallClockTime is; else of the last one.
    for runs in ("CumulativeRemote", "Remote"):
        user, system = (_seconds(ad.get(f"{runs}{kind}Cpu")) for kind in ("User", "Sys"))
        if "cpu_s" not in found.usage and (user, system) != (None, None):
            found.usage["cpu_s"] = (user or 0.0) + (system or 0.0)
    return found


def plain_ad(ad: Mapping[str, JSON]) -> Fields:
    """An ad of ``condor_q`` with expressions as their texts, and every policy as one."""

    def plain(name: str, value: JSON) -> JSON:
        if isinstance(value, bool) and name in _POLICIES:
            return str(value).lower()
        is_expression = isinstance(value, str) and value.startswith(_EXPRESSION[0])
        return _text(value) if is_expression else value

    return {name: plain(name, value) for name, value in ad.items()}


def submitted_on_hold(ad: Mapping[str, JSON]) -> bool:
    """Whether the ad of an 028 says that its job was submitted on hold.

    For ``hold = True``, and while input is spooled, HTCondor writes no 012.
    """
    return (ad.get("TriggerEventTypeNumber"), ad.get("JobStatus")) == (EventCode.SUBMIT, _ON_HOLD)


def access_point_of(ad: Mapping[str, JSON]) -> str | None:
    """The access point that ``GlobalJobId`` (``<name of the schedd>#123.4#1795223111``) names."""
    name, hash_, _ = str(ad.get("GlobalJobId") or "").partition("#")
    return name.strip() if hash_ and name.strip() else None


def document_from_ad(
    ad: Mapping[str, JSON],
    access_point: str | None,
    *,
    source: str = "condor_history",
    with_ad: bool = False,
) -> JobDocument:
    """The document of the job of one ad of ``condor_history`` or ``condor_q``, with values of JSON.

    Without an access point it is that of the ad's GlobalJobId; `source` is of the timeline's
    entries. With `with_ad`, the hold or release by which the job came into its present status has
    the ad's attributes.

    Raises:
        DocumentError: the ad has no ClusterId and ProcId, or nothing names its access point.
    """
    cluster, proc = _count(ad.get("ClusterId")), _count(ad.get("ProcId"))
    if cluster is None or proc is None or max(cluster, proc) > _LAST_NUMBER:
        raise DocumentError("an ad without ClusterId and ProcId is none of a job")
    point = access_point or access_point_of(ad)
    if point is None:
        raise DocumentError(
            f"nothing names the access point of job {cluster}.{proc}; set access_point"
        )
    request, submission, usage = sections(ad)
    submission["array"] = str(cluster)
    timeline = tuple(sorted(_timeline(ad, source, with_ad=with_ad), key=lambda event: event.time))
    polled = _moment(ad.get("ServerTime"))
    newest = max((event.time for event in timeline), default=0)
    return JobDocument(
        id=condor_id(point, cluster, proc),
        updated=max(polled or 0, newest),
        request=Request(**request),
        submission=Submission(**submission),
        usage=Usage(**usage),
        timeline=timeline,
    )


def _timeline(ad: Mapping[str, JSON], source: str, *, with_ad: bool) -> list[Event]:
    """The events in an ad: submission, first and last start, and its present status."""
    events = []
    submitted = _moment(ad.get("QDate"))
    if submitted is not None:
        events.append(_event(submitted, source, 0, State.PENDING))
    starts = {_moment(ad.get(name)) for name in ("JobStartDate", "JobCurrentStartDate")} - {None}
    slot = _text(ad.get("RemoteHost")) or _text(ad.get("LastRemoteHost"))
    for start in starts:
        last = start == max(known for known in starts if known is not None)
        if start is not None:
            events.append(_event(start, source, 1, State.RUNNING, slot=slot if last else None))
    state, entered = _status(ad)
    if state is None or entered is None:
        return events
    if state is State.RUNNING or (state is State.PENDING and entered == submitted):
        return events  # it is among these
    # Of one second, in which ads count, what the job is now comes behind its start.
    tie = entered in starts and not state.ended
    present = _present(ad, state, entered + tie, source)
    if with_ad and present.code in (EventCode.HELD, EventCode.RELEASED, EventCode.EVICTED):
        present = msgspec.structs.replace(present, attributes=_text_of(ad))
    return [*events, present]


def _status(ad: Mapping[str, JSON]) -> tuple[State | None, int | None]:
    """The present state, and since when."""
    status = _whole(ad.get("JobStatus"))
    state = CONDOR_STATUS.get(status) if status is not None else None
    entered = _moment(ad.get("EnteredCurrentStatus"))
    if state is State.COMPLETED:
        entered = _moment(ad.get("CompletionDate")) or entered
    if state is State.CANCELLED and _whole(ad.get("LastJobStatus")) == _COMPLETED:
        return State.COMPLETED, _moment(ad.get("CompletionDate"))  # leave_in_queue
    return state, entered


def _present(ad: Mapping[str, JSON], state: State, entered: int, source: str) -> Event:
    """The event by which the job came into its present status."""
    if state is State.HELD:
        codes = {"hold_code": "HoldReasonCode", "hold_subcode": "HoldReasonSubCode"}
        held = {field: _whole(ad.get(name)) for field, name in codes.items()}
        return _event(entered, source, 12, state, reason=_text(ad.get("HoldReason")), **held)
    if state is State.PENDING and _whole(ad.get("LastJobStatus")) == _ON_HOLD:
        return _event(entered, source, 13, state, reason=_text(ad.get("ReleaseReason")))
    vacated = _moment(ad.get("LastVacateTime"))
    if state is State.PENDING and vacated is not None and abs(vacated - entered) <= _MICROS:
        code, subcode = (_whole(ad.get(f"VacateReason{of}")) for of in ("Code", "SubCode"))
        reason = _text(ad.get("VacateReason"))
        return _event(
            entered, source, 4, state, reason=reason, vacate_code=code or None,
            vacate_subcode=subcode if code else None,
        )  # fmt: skip
    if state is State.CANCELLED:
        reason = _text(ad.get("RemoveReason"))
        return _event(entered, source, 9, condor_state(9, None, reason) or state, reason=reason)
    if state is State.COMPLETED:
        killed = ad.get("ExitBySignal") is True
        signal = _whole(ad.get("ExitSignal")) if killed else None
        value = None if killed else _whole(ad.get("ExitCode"))
        if value != 0 and (value is not None or killed):
            state = State.FAILED
        return _event(entered, source, 5, state, return_value=value, signal=signal)
    if state is State.SUSPENDED:
        return _event(entered, source, 10, state)
    return Event(time=entered, source=source, state=state, word="IDLE")


def _text_of(ad: Mapping[str, JSON]) -> str:
    """JSON of the ad's plain values; the same at each look at a job that stays as it is."""
    plain = plain_ad(ad).items()
    found = {name: value for name, value in plain if _is_plain(value) and name != "ServerTime"}
    return msgspec.json.encode(found).decode()


def _is_plain(value: JSON) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST_TEXT
    return isinstance(value, bool | float) or _whole(value) is not None


def _event(time: int, source: str, code: int, state: State, **fields: JSON) -> Event:
    # The event's number lets the log's own record of it be recognised.
    return Event(time=time, source=source, state=state, code=code, subproc=0, **fields)


def parse_ad(text: str) -> dict[str, Any] | None:
    """The ad that a text holds; None where it is not a JSON object.

    `json` also accepts what msgspec refuses (NaN, numbers too large, half a surrogate pair).
    """
    try:
        found = _decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return None
    return found if isinstance(found, dict) else None
