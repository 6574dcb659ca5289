"""Documents per second into both stores, as the collector writes them: batches and a position."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.measure import Section, isolated, median, spread

if TYPE_CHECKING:
    from jobsight.documents import JobDocument
    from jobsight.store import Store

__all__ = ["measure", "run"]

_JOBS = 50_000
_BATCH = 1000
_SINGLE = 300
_SECOND = 1_000_000
_START = 1_790_000_000 * _SECOND
_SOURCE = "eventlog:/var/log/condor/EventLog"


def _document(number: int, at: int) -> JobDocument:
    """The part of a job that a log reports at once: 0 its submission, 1 its start, 2 its end."""
    from jobsight.documents import Event, JobDocument, Request, State, Submission, condor_id

    moment = _START + (number + 600 * at) * _SECOND
    state = (State.PENDING, State.RUNNING, State.COMPLETED)[at]
    event = Event(
        time=moment,
        source="eventlog#1790000000.000001.00c0ffee",
        position=300 * (3 * number + at),
        state=state,
        code=(0, 1, 5)[at],
        return_value=0 if at == 2 else None,
        slot=f"slot1_{number % 40}@node{number % 900:04d}" if at == 1 else None,
    )
    submitted = Submission(
        submitted=moment, user=f"user{number % 300:03d}", name="analysis", array=str(number // 10)
    )
    first = at == 0
    return JobDocument(
        id=condor_id("ap.example.org", number // 10, number % 10),
        updated=moment,
        request=Request(cpus=1, memory_mb=2048, disk_mb=4096) if first else Request(),
        submission=submitted if first else Submission(),
        timeline=(event,),
    )


def _write(store: Store, batches: list[list[JobDocument]], moved: int) -> dict[str, list[float]]:
    """Merge the batches, each with its position; seconds and processor seconds of each."""
    from jobsight.store import Move

    times: dict[str, list[float]] = {"seconds": [], "cpu": []}
    for batch in batches:
        old = {"offset": moved} if moved else None
        moved += 1
        started, spent = time.perf_counter(), time.process_time()
        store.merge(batch, [Move(_SOURCE, old, {"offset": moved})])
        times["seconds"].append(time.perf_counter() - started)
        times["cpu"].append(time.process_time() - spent)
    return times


def measure(url: str, jobs: int) -> Any:
    """New documents, then two updates of each, then single ones: times of every batch."""
    from jobsight.store import open_store

    found: dict[str, Any] = {}
    with open_store(url, create=True) as store:
        moved = 0
        for at, name in enumerate(("new", "started", "ended")):
            documents = [_document(number, at) for number in range(jobs)]
            batches = [documents[k : k + _BATCH] for k in range(0, jobs, _BATCH)]
            found[name] = _write(store, batches, moved)
            moved += len(batches)
        alone = [[_document(jobs + number, 0)] for number in range(_SINGLE)]
        found["single"] = _write(store, alone, moved)
        status = store.status()
        found["bytes"] = status.bytes_per_job or status.bytes / sum(status.states.values())
        found["durability"] = status.details.get("durability")
    return found


@contextlib.contextmanager
def _server(folder: Path) -> Iterator[str | None]:
    """The address of a server with an append-only file; None if there is none."""
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        with _server_of_the_bed() as url:
            yield url
        return
    socket = folder / "server.sock"
    options = ["--port", "0", "--unixsocket", str(socket), "--dir", str(folder), "--save", ""]
    options += ["--appendonly", "yes", "--daemonize", "no"]
    process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            if socket.exists():
                break
            time.sleep(0.05)
        yield f"unix://{socket}"
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def _server_of_the_bed() -> Iterator[str | None]:
    from tests.testbed import RedisServer, Unavailable

    try:
        server = RedisServer(settings=("appendfsync everysec",)).start()
    except Unavailable:
        yield None
        return
    try:
        yield server.url
    finally:
        server.stop()


def run() -> Section:
    """The benchmark."""
    section = Section("Documents into the store")
    section.say(
        f"{_JOBS:,} jobs of an event log: each is new, then starts, then ends, in batches of "
        f"{_BATCH:,} documents with the source's position, one transaction each, as `jobsight "
        "collect` does: read what the store has, merge, write. Then one document at a time."
    )
    rows: list[list[str]] = []
    notes: list[str] = []
    with tempfile.TemporaryDirectory(prefix="jobsight-bench-") as name:
        folder = Path(name)
        _measure("SQLite", str(folder / "jobs.db"), rows, notes)
        with _server(folder) as url:
            if url is None:
                notes.append("Redis was not measured: no redis-server, and no test bed.")
            else:
                _measure("Redis", url, rows, notes)
    section.table(
        ["documents/s", "median", "runs", "per second of Jobsight's processor time"], rows
    )
    for note in notes:
        section.say(note)
    return section


def _measure(name: str, url: str, rows: list[list[str]], notes: list[str]) -> None:
    found = isolated("bench.store:measure", url=url, jobs=_JOBS)
    names = {"new": "new", "started": "first update", "ended": "second update"}
    for key, what in names.items():
        rows.append(_row(f"{name}, {what}", found[key], _BATCH))
    rows.append(_row(f"{name}, new, one at a time", found["single"], 1))
    notes.append(f"{name}: {found['bytes']:.0f} bytes per job; durability: {found['durability']}.")


def _row(what: str, times: dict[str, list[float]], documents: int) -> list[str]:
    rate = documents / median(times["seconds"])
    per_cpu = documents * len(times["cpu"]) / max(sum(times["cpu"]), 1e-9)
    return [what, f"{rate:,.0f}", spread(times["seconds"]), f"{per_cpu:,.0f}"]
