"""What a document records, in words: the facts of a job, and each event. The words are hostile."""

from __future__ import annotations

from jobsight.codes import EventCode, event_name, hold_name
from jobsight.documents import Event, JobDocument
from jobsight.documents.spans import submitted, why
from jobsight.format import memory, moment
from jobsight.history.eventlog.headers import sinful_name

__all__ = ["event_words", "job_facts"]

_TRANSFERS = {
    1: "input transfer queued", 2: "input transfer started", 3: "input transfer finished",
    4: "output transfer queued", 5: "output transfer started", 6: "output transfer finished",
}  # fmt: skip


def event_words(event: Event) -> str:
    """The event in words: its name, its numbers, where, and why."""
    name = event_name(event.code) if event.code is not None else event.word
    if event.code == EventCode.FILE_TRANSFER:
        name = _TRANSFERS.get(event.detail or 0, name)
    hold = f"{event.hold_code}/{event.hold_subcode or 0}"
    place = event.slot or event.host
    if place and place == event.host and place.startswith("<"):
        # HTCondor writes an address with all that belongs to it.
        place = sinful_name(place) or place
    text = _joined(
        name,
        None if event.hold_code is None else f"{hold_name(event.hold_code)} ({hold})",
        None if event.return_value is None else f"exit code {event.return_value}",
        f"signal {event.signal}" if event.signal else None,
        None if event.memory_mb is None else memory(event.memory_mb),
        place and f"on {place}",
    )
    return f"{text}: {event.reason}" if text and event.reason else text or event.reason or ""


def job_facts(document: JobDocument) -> dict[str, str]:
    """Who submitted what, where to and with which wishes, by label; only what is known."""
    job, asked = document.submission, document.request
    facts = {
        "id": document.id,
        "user": _joined(job.user, job.group and f"group {job.group}", job.project,
                        asked.account and f"account {asked.account}"),
        "name": job.name,
        "submitted": _joined(moment(submitted(document)), job.host and f"from {job.host}"),
        "command": _joined(job.command, job.arguments, by=" "),
        "line": job.line,
        "directory": job.directory,
        "queue": _joined(asked.partition, asked.qos and f"qos {asked.qos}", asked.reservation),
        "requires": asked.constraints,
        "depends on": asked.dependency,
        "ran on": document.usage.hosts,
        "node of": job.dag,
        "comment": job.comment,
        "written in": document.program.language,
        # An exit code alone is said with the state.
        "reason": why(document) if document.outcome is None else document.outcome.reason,
    }  # fmt: skip
    return {label: text for label, text in facts.items() if text}


def _joined(*parts: str | None, by: str = ", ") -> str:
    return by.join(part for part in parts if part)
