"""Event table → job documents, without loss.

Each record of a job becomes an entry of its timeline, identified by its generation and its offset
in that (`eventlog.generations`), wherever it is read again. Ads and submissions fill the sections
request, submission and usage. `jobsight.history.eventtables` goes the other way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from jobsight.documents.states import condor_state
from jobsight.history.eventlog.headers import sinful_name
from jobsight.history.eventlog.terms import ENTRY_COLUMNS
from jobsight.history.jobads import Fields, sections, submitted_on_hold

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["documents_of_batch", "unnamed_access_point"]

_decode_ad = msgspec.json.Decoder(dict[str, JSON]).decode


def unnamed_access_point(generation: str) -> str:
    """The access point in ids of a log that names none, by the name of its first generation."""
    import hashlib

    return f"log-{hashlib.sha256(generation.encode()).hexdigest()[:8]}"


class _Job:
    """One job's part of a batch."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.request: Fields = {}
        self.submission: Fields = {}
        self.usage: Fields = {}

    def take(self, event: Event) -> None:
        """Take an event, and what it reports of the sections; later ones win."""
        if event.code == EventCode.AD and self._take_ad(event):
            event = msgspec.structs.replace(event, state=State.HELD)
        self.events.append(event)
        if event.code == EventCode.SUBMIT:
            self._submitted(event.time)
            if event.host is not None and (name := sinful_name(event.host)) is not None:
                self.submission["host"] = name
            if event.dag_node is not None:
                self.submission["dag"] = f":{event.dag_node}"
        elif event.code == EventCode.EXECUTE:
            if event.slot is not None or event.host is not None:
                self.usage["hosts"] = event.slot or event.host
        elif event.code == EventCode.IMAGE_SIZE and event.memory_mb is not None:
            self._most_memory(event.memory_mb)

    def _take_ad(self, event: Event) -> bool:
        """Take what an ad reports; whether it says that the job was submitted on hold."""
        if event.attributes is None:
            return False
        try:
            ad = _decode_ad(event.attributes)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return False  # the entry keeps the text
        found = sections(ad)
        memory = found.usage.pop("memory_mb", None)
        submitted = found.submission.pop("submitted", None)
        self.request.update(found.request)
        self.submission.update(found.submission)
        self.usage.update(found.usage)
        if memory is not None:
            self._most_memory(memory)
        if submitted is not None:
            self._submitted(submitted)
        return submitted_on_hold(ad)

    def _submitted(self, time: int) -> None:
        # As `merge` joins them, so that it does not matter which records come together.
        self.submission["submitted"] = min(self.submission.get("submitted", time), time)

    def _most_memory(self, size: int) -> None:
        if size >= 0:
            self.usage["memory_mb"] = max(self.usage.get("memory_mb", 0), size)

    def document(self, access_point: str, cluster: int, proc: int) -> JobDocument:
        self.submission["array"] = str(cluster)
        return JobDocument(
            id=condor_id(access_point, cluster, proc),
            updated=max(event.time for event in self.events),
            request=Request(**self.request),
            submission=Submission(**self.submission),
            usage=Usage(**self.usage),
            timeline=tuple(self.events),
        )


def documents_of_batch(batch: pa.RecordBatch, access_point: str) -> list[JobDocument]:
    """A partial document of each job in a stretch of one log, in order of first row.

    The batch is of the event table, as `EventReader` gives it with `generations`.
    """
    columns = {name: batch.column(name).to_pylist() for name in ENTRY_COLUMNS}
    ids = zip(*(batch.column(name).to_pylist() for name in ("cluster", "proc")), strict=True)
    times = batch.column("time").cast("int64").to_pylist()
    sources, offsets = (batch.column(name).to_pylist() for name in ("source", "offset"))
    jobs: dict[tuple[int, int], _Job] = {}
    rows = zip(*columns.values(), strict=True)
    for job_id, time, source, offset, row in zip(ids, times, sources, offsets, rows, strict=True):
        if job_id[0] < 0 or job_id[1] < 0:
            continue
        fields = dict(zip(ENTRY_COLUMNS, row, strict=True))
        state = condor_state(fields["code"], fields["return_value"], fields["reason"])
        event = Event(time=time, source=source, position=offset, state=state, **fields)
        job = jobs.get(job_id)
        if job is None:
            job = jobs[job_id] = _Job()
        job.take(event)
    return [job.document(access_point, *job_id) for job_id, job in jobs.items()]
