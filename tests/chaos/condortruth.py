"""A store's documents of HTCondor jobs against condor_history, condor_q and the log's own text."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jobsight.documents import Event, JobDocument
from tests.chaos.segments import Record

__all__ = ["ATTRIBUTES", "Verdict", "compare"]

ATTRIBUTES = (
    "Owner", "QDate", "RequestCpus", "RequestMemory", "NumJobStarts", "NumHolds", "RemoteHost",
    "LastRemoteHost", "JobCurrentStartDate", "JobCurrentStartExecutingDate", "JobBatchName", "Cmd",
)  # fmt: skip
"""What the log is asked to say of a job beside its events."""

_SLACK = 1
"""Seconds: the schedd and a shadow stamp one moment each by itself."""

Ad = dict[str, Any]


@dataclass
class Verdict:
    """What a comparison found.

    Attributes:
        jobs: documents compared.
        fields: values compared.
        differences: of the store and the truth, in words.
        disputes: where HTCondor's log and HTCondor's history differ (a schedd that is killed may
            have written the one and not the other), and the store has what the log says.
    """

    jobs: int = 0
    fields: int = 0
    differences: list[str] = field(default_factory=list)
    disputes: list[str] = field(default_factory=list)

    def check(self, where: str, told: object, true: object) -> bool:
        """Note a difference, if there is one."""
        self.fields += 1
        if told != true:
            self.differences.append(f"{where}: the store has {told!r}, the truth is {true!r}")
        return told == true


def compare(
    documents: Mapping[str, JobDocument], ads: Sequence[Ad], log: Mapping[str, Sequence[Record]]
) -> Verdict:
    """Compare all jobs, all fields.

    Args:
        documents: of the store, by the job's number (`12.0`).
        ads: of condor_history and condor_q.
        log: every record that was ever written, by job, in order.
    """
    verdict = Verdict(jobs=len(documents))
    true = {f"{ad['ClusterId']}.{ad['ProcId']}": ad for ad in ads}
    verdict.check("jobs of the log", sorted(documents), sorted(log))
    verdict.check("jobs of the schedd", sorted(documents), sorted(true))
    for job in sorted(documents.keys() & true.keys() & log.keys()):
        _compare_with_log(verdict, job, documents[job], log[job])
        _compare_fields(verdict, job, documents[job], true[job], log[job])
    return verdict


# --- with the log ---


def _compare_with_log(
    verdict: Verdict, job: str, document: JobDocument, records: Sequence[Record]
) -> None:
    entries = [event for event in document.timeline if event.position is not None]
    verdict.check(f"{job} entries of other sources", len(document.timeline), len(entries))
    verdict.check(f"{job} entries dropped", document.dropped, 0)
    told = Counter((event.code or 0, event.time // 1_000_000) for event in entries)
    true = Counter((record.code, record.time) for record in records)
    verdict.check(f"{job} too many entries", dict(told - true), {})
    verdict.check(f"{job} missing entries", dict(true - told), {})
    places = [(event.source, event.position) for event in entries]
    verdict.check(f"{job} places in the log", len(set(places)), len(places))
    for code, told_of in _DETAILS.items():
        lines = sorted(told_of.of_record(record.text) for record in records if record.code == code)
        events = sorted(told_of.of_event(event) for event in entries if event.code == code)
        verdict.check(f"{job} what its {code:03d} say", events, lines)


@dataclass(frozen=True)
class _Detail:
    """What a kind of record tells: as its text says, and as an entry of a timeline does."""

    of_record: Callable[[str], tuple[Any, ...]]
    of_event: Callable[[Event], tuple[Any, ...]]


def _held(text: str) -> tuple[Any, ...]:
    lines = text.split("\n")
    codes = re.search(r"^\tCode (-?\d+) Subcode (-?\d+)$", text, re.M)
    assert codes is not None
    return int(codes[1]), int(codes[2]), _reason(lines[1])


def _terminated(text: str) -> tuple[Any, ...]:
    value = re.search(r"\(1\) Normal termination \(return value (-?\d+)\)", text)
    signal = re.search(r"\(0\) Abnormal termination \(signal (\d+)\)", text)
    return (int(value[1]) if value else -1), (int(signal[1]) if signal else -1)


def _second_line(text: str) -> str:
    return (text.split("\n")[1:] or [""])[0].strip()


def _reason(line: str) -> str:
    return "" if line.strip() == "Reason unspecified" else line.strip()


def _optional(value: int | None) -> int:
    return -1 if value is None else value


_DETAILS = {
    5: _Detail(_terminated, lambda event: (_optional(event.return_value), _optional(event.signal))),
    9: _Detail(
        lambda text: (_second_line(text),),
        lambda event: (event.reason or "",),
    ),
    12: _Detail(
        _held, lambda event: (event.hold_code, event.hold_subcode, (event.reason or "").strip())
    ),
    13: _Detail(
        lambda text: (_second_line(text),),
        lambda event: (event.reason or "",),
    ),
}


# --- field by field, with the log and with the schedd ---

Fields = dict[str, Any]


def _compare_fields(
    verdict: Verdict, job: str, document: JobDocument, ad: Ad, records: Sequence[Record]
) -> None:
    told, logged, true = _of_document(document), _of_log(records), _of_ad(ad)
    for name, value in told.items():
        verdict.check(f"{job} {name}, by the log", value, logged[name])
        verdict.fields += 1
        if _same(name, value, true[name]):
            continue
        note = f"{job} {name}: the store has {value!r}, the schedd says {true[name]!r}"
        agreed = value == logged[name]
        (verdict.disputes if agreed else verdict.differences).append(note)


def _same(name: str, told: Any, true: Any) -> bool:
    if name in ("started", "ended") and told is not None and true is not None:
        return abs(int(told) - int(true)) <= _SLACK
    return bool(told == true)


def _of_document(document: JobDocument) -> Fields:
    submission, usage, outcome = document.submission, document.usage, document.outcome
    hold = next((event for event in reversed(document.timeline) if event.code == 12), None)
    start = next((event for event in reversed(document.timeline) if event.code == 1), None)
    return {
        "state": str(document.state),
        "Owner": submission.user,
        "QDate": _seconds(submission.submitted),
        "JobBatchName": submission.name,
        "Cmd": submission.command,
        "RequestMemory": document.request.memory_mb,
        "RequestCpus": document.request.cpus,
        "NumHolds": usage.holds or 0,
        "NumJobStarts": usage.starts or 0,
        "LastRemoteHost": usage.hosts,
        "started": _seconds(start.time) if start else None,
        "HoldReasonCode": hold.hold_code if hold else None,
        "HoldReasonSubCode": hold.hold_subcode if hold else None,
        "HoldReason": (hold.reason or "").strip() if hold else "",
        "ended": _seconds(outcome.ended) if outcome else None,
        "ExitCode": outcome.exit_code if outcome else None,
        "ExitSignal": outcome.signal if outcome else None,
        "RemoveReason": _removal(document),
    }


def _removal(document: JobDocument) -> str:
    ended = document.outcome
    removed = ended is not None and ended.exit_code is None and ended.signal is None
    return (ended.reason or "").strip() if removed and ended else ""


def _removed(reason: str) -> str:
    """The state of a removed job: its own policy removed it, or a person."""
    return "failed" if "PeriodicRemove expression" in reason else "cancelled"


def _of_log(records: Sequence[Record]) -> Fields:
    told = _attributes(records)
    last = _last(records)
    hold = next((record for record in reversed(records) if record.code == 12), None)
    start = next((record for record in reversed(records) if record.code == 1), None)
    code, subcode, reason = _held(hold.text) if hold else (None, None, "")
    value, signal = _terminated(last.text) if last.code == 5 else (-1, -1)
    ended = {5: "completed" if value == 0 else "failed", 9: _removed(last.text)}
    return {
        **_plain(told),
        "state": ended.get(last.code) or _STATES[last.code],
        "NumHolds": told.get("NumHolds", 0),
        "NumJobStarts": told.get("NumJobStarts", 0),
        "LastRemoteHost": told.get("host"),
        "started": start.time if start else None,
        "HoldReasonCode": code,
        "HoldReasonSubCode": subcode,
        "HoldReason": reason,
        "ended": last.time if last.code in (5, 9) else None,
        "ExitCode": value if value >= 0 else None,
        "ExitSignal": signal if signal >= 0 else None,
        "RemoveReason": _second_line(last.text) if last.code == 9 else "",
    }


def _last(records: Sequence[Record]) -> Record:
    """The record that the state follows from: removal of a job that terminated changes nothing."""
    last, *before = (record for record in reversed(records) if record.code in _STATES)
    return before[0] if last.code == 9 and before and before[0].code == 5 else last


def _attributes(records: Sequence[Record]) -> Fields:
    """What the 028 records say, the last of them first; `host` is where the job ran last."""
    told: Fields = {}
    for record in records:
        if record.code != 28:
            continue
        found = dict(re.findall(r"^(\w+) = (.*)$", record.text, re.M))
        ad = {name: json.loads(found[name]) for name in ATTRIBUTES if name in found}
        host = ad.get("RemoteHost", ad.get("LastRemoteHost"))
        told |= ad | ({"host": host} if host else {})
    return told


def _of_ad(ad: Ad) -> Fields:
    terminated, removed = ad["JobStatus"] == 4, ad["JobStatus"] == 3
    well = ad.get("ExitBySignal") is False and ad.get("ExitCode") == 0
    now = "" if ad.get("HoldReasonCode") is not None else "Last"
    held = ad.get(f"{now}HoldReasonCode") is not None
    ended = {4: ad.get("CompletionDate"), 3: ad.get("EnteredCurrentStatus")}
    state = {4: "completed" if well else "failed", 3: _removed(ad.get("RemoveReason") or "")}
    return {
        **_plain(ad),
        "state": state.get(ad["JobStatus"]) or _STATUS[ad["JobStatus"]],
        "NumHolds": ad.get("NumHolds", 0),
        "NumJobStarts": ad.get("NumJobStarts", 0),
        "LastRemoteHost": ad.get("RemoteHost", ad.get("LastRemoteHost")),
        "started": ad.get("JobCurrentStartExecutingDate"),
        "HoldReasonCode": ad.get(f"{now}HoldReasonCode"),
        "HoldReasonSubCode": ad.get(f"{now}HoldReasonSubCode", 0) if held else None,
        "HoldReason": (ad.get(f"{now}HoldReason") or "").strip(),
        "ended": ended.get(ad["JobStatus"]),
        "ExitCode": ad["ExitCode"] if terminated and not ad["ExitBySignal"] else None,
        "ExitSignal": ad["ExitSignal"] if terminated and ad["ExitBySignal"] else None,
        "RemoveReason": (ad.get("RemoveReason") or "").strip() if removed else "",
    }


_PLAIN = ("Owner", "QDate", "JobBatchName", "Cmd", "RequestMemory", "RequestCpus")
_STATUS = {1: "pending", 2: "running", 5: "held", 7: "suspended"}
_STATES = {
    0: "pending", 1: "running", 4: "pending", 5: "", 7: "pending", 9: "", 10: "suspended",
    11: "running", 12: "held", 13: "pending", 23: "running", 24: "pending",
}  # fmt: skip
"""State after a record of the log, by its number (HTCondor's manual, "Job Event Log Codes")."""


def _plain(ad: Mapping[str, Any]) -> Fields:
    """Attributes as they are; a job without a batch name has its command's."""
    found = {name: ad.get(name) for name in _PLAIN}
    return found | {"JobBatchName": found["JobBatchName"] or (found["Cmd"] or "").split("/")[-1]}


def _seconds(micros: int | None) -> int | None:
    return None if micros is None else micros // 1_000_000
