"""An event log for tests that grows, rotates and breaks as HTCondor's and its neighbours' do."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from jobsight.documents import JobDocument, decode, encode, merge
from jobsight.history.eventlog.generations import segment_name
from jobsight.history.events import EventReader
from jobsight.history.following.source import EventLogSource
from jobsight.history.jobdocuments import documents_of_batch, unnamed_access_point
from jobsight.settings import EventLogSettings
from tests.support.logtext import information, record

BEGUN = 1_795_000_000
HOST = "Job submitted from host: <192.0.2.1:9618?alias=ap1>\n"
NEVER = 1e9


class GrowingLog:
    """A log in `folder`, written as HTCondor writes a global event log."""

    def __init__(self, folder: Path, *, headers: bool = True, keep: int = 99) -> None:
        self.path = folder / "EventLog"
        self.headers = headers
        self.keep = keep
        self.sequence = 0
        self.offset = 0
        self.begin()

    def begin(self) -> None:
        """Begin a new newest file."""
        self.sequence += 1
        self.ctime = BEGUN + self.sequence // 3
        self.path.write_bytes(self._header(0) if self.headers else b"")

    def _header(self, size: int) -> bytes:
        told = (
            f"008 (-01.-01.-01) 2026-11-18 01:00:{self.sequence % 60:02d} Global JobLog: "
            f"ctime={self.ctime} id=0.77.{BEGUN}.5.{self.sequence}.{self.ctime}.{self.sequence} "
            f"sequence={self.sequence} size={size} events=0 offset={self.offset} event_off=0 "
            "max_rotation=4 creator_name=<>"
        )
        return f"{told:<256}\n...\n".encode()

    def write(self, data: bytes, *, age: int = 0) -> None:
        """Append to the file that was the newest `age` rotations ago, if it is still there."""
        path = self.path if not age else self.path.with_name(f"EventLog.{age}")
        if path.exists():
            append(path, data)

    def rotate(self) -> None:
        """Rename all files, the header of the newest written anew before."""
        size = self.path.stat().st_size
        if self.headers:
            with self.path.open("r+b") as file:
                file.write(self._header(size))
        for age in range(self.keep, 0, -1):
            old = self.path.with_name(f"EventLog.{age - 1}") if age > 1 else self.path
            if old.exists():
                old.replace(self.path.with_name(f"EventLog.{age}"))
        self.offset += size
        self.begin()


class Follower:
    """Follows a log and keeps the documents; its source can be restarted at any moment."""

    def __init__(self, path: Path, **settings: Any) -> None:
        self.path = path
        self.settings = EventLogSettings(
            **{"settle_seconds": NEVER, "name_seconds": NEVER} | settings
        )
        self.documents: dict[str, JobDocument] = {}
        self.position: dict[str, Any] | None = None
        self.missed: list[str] = []
        self.now = BEGUN + 1e6
        self.restart()

    def restart(self) -> None:
        """As after a kill: only what was saved is known."""
        self.source = EventLogSource(
            self.path, self.settings, timezone="UTC", clock=lambda: self.now
        )
        self.source.resume(
            None if self.position is None else json.loads(json.dumps(self.position)),
            lambda _: iter(()),
        )

    def poll(self) -> bool:
        """Look once and save; whether more is waiting."""
        found = self.source.poll()
        if found is None:
            return False
        ids = [document.id for document in found.documents]
        assert len(set(ids)) == len(ids)
        for document in found.documents:
            self.documents[document.id] = merge(self.documents.get(document.id), document)
        self.position = found.position
        self.missed += found.missed
        return found.more

    def catch_up(self) -> None:
        """Look until nothing is left."""
        for _ in range(10_000):
            if not self.poll():
                return
        raise AssertionError("it never ends")

    def close(self) -> None:
        self.source.close()


class Follow(Protocol):
    """Makes a follower of a log."""

    def __call__(self, path: Path, **settings: Any) -> Follower: ...


class Begun(Protocol):
    """Begins a log with one event, and a follower that has read it."""

    def __call__(self, *, keep: int = 99, **settings: Any) -> tuple[GrowingLog, Follower]: ...


def append(path: Path, data: bytes) -> None:
    """Write behind what a file has."""
    with path.open("ab") as file:
        file.write(data)


def read_at_once(paths: Iterable[Path]) -> dict[str, JobDocument]:
    """The documents of finished logs."""
    reader = EventReader([str(path) for path in paths], timezone="UTC", generations=True)
    documents: dict[str, JobDocument] = {}
    for batch in reader.batches():
        log = reader.logs[batch.column("log")[0].as_py()] if batch.num_rows else reader.logs[0]
        point = log.access_point or unnamed_access_point(segment_name(log.segments[0]))
        for document in documents_of_batch(batch, point):
            documents[document.id] = merge(documents.get(document.id), document)
    return {key: decode(encode(document)) for key, document in documents.items()}


def held(number: int, job: int) -> bytes:
    """A hold, which tells nothing of the job but itself."""
    name, date = _name(job), _date(number)
    return record(12, f"Job was held.\n\tlate {number}\n\tCode 6 Subcode {number}\n", name, date)


def _name(job: int) -> str:
    return f"{100 + job:03d}.000.000"


def _date(number: int) -> str:
    return f"2026-11-18 01:{number // 180 % 60:02d}:{number // 3 % 60:02d}"


def event(number: int, job: int) -> bytes:
    """One record of a job, of a kind that depends on the number; its date rises with it."""
    date, name = _date(number), _name(job)
    kinds = (
        (0, HOST),
        (1, f"Job executing on host: <192.0.2.7:9618>\n\tSlotName: slot1_{number}@site-a\n"),
        (12, f"Job was held.\n\tno such file {number}\n\tCode 13 Subcode 2\n"),
        (13, "Job was released.\n\tvia condor_release (by user u01)\n"),
        (6, f"Image size of job updated: {number}\n\t{number}  -  MemoryUsage of job (MB)\n"),
        (40, "Finished transferring input files\n"),
    )
    code, body = kinds[number % len(kinds)]
    whole = record(code, body, name, date)
    if number % 4:
        extra = f'Owner = "u{job}"\nRequestMemory = {number}\nNumHolds = {number // 5}\n'
        whole += information(code, name, date, extra)
    return whole
