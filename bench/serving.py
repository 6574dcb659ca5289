"""The service under load: mixed reads at a fixed rate, next to a plain FastAPI application; a soak.

``python -m bench serving`` fills a store with a million jobs first; the variable
``JOBSIGHT_BENCH_JOBS`` names another number. ``python -m bench soaking`` takes ten minutes more
than a tenth of that.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import httpx
import numpy as np

from bench.inputs import part_of, plain_log
from bench.measure import Section

if TYPE_CHECKING:
    from jobsight.documents import Event, JobDocument

__all__ = ["fill", "process", "run", "soak"]

_JOBSIGHT = (sys.executable, "-m", "jobsight")
_RATE, _SECONDS, _STREAMS = 200, 60.0, 200
_GAP_S, _OPEN, _BATCH = 0.5, 1000, 2000
"""Between submissions; jobs that have not ended, half of them pending; documents of a write."""
_SLOW, _MINUTES, _NEW = 100, 10, 60
"""Clients that send a byte a second; of the soak, and jobs that come in each of its minutes."""
_LOG = "eventlog#1790000000.000001.00c0ffee"
_HELLO = """
import uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.get("/hello")
def hello() -> dict[str, str]:
    return {"hello": "world"}
server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="info", access_log=False))
server.run()
"""


@asynccontextmanager
async def process(
    words: Sequence[str], environment: Mapping[str, str]
) -> AsyncIterator[tuple[str, int]]:
    """A server as a process; its address, from what it logs, and process id."""
    server = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        address = None
        while address is None:
            line = await asyncio.to_thread(server.stderr.readline)
            assert line, "the server has ended"
            address = re.search(r"http://127\.0\.0\.1:\d+", line)
        drain = asyncio.create_task(asyncio.to_thread(server.stderr.read))
        yield address[0], server.pid
    finally:
        server.terminate()
        server.wait()
        await drain


async def _load(
    address: str, paths: Sequence[str], rate: int = _RATE, seconds: float = _SECONDS
) -> list[float]:
    """Milliseconds of requests at a fixed rate, counted from when each was due.

    Sent over plain sockets: an HTTP library would take as long as the service.
    """
    place = urlsplit(address)
    idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
    took: list[float] = []

    async def ask(path: str, due: float) -> None:
        pair = idle.pop() if idle else await asyncio.open_connection(place.hostname, place.port)
        try:
            pair[1].write(_request(place.netloc, path))
            head = await pair[0].readuntil(b"\r\n\r\n")
        except (ConnectionError, asyncio.IncompleteReadError):  # the server closes what is idle
            await ask(path, due)
            return
        length = re.search(rb"content-length: (\d+)", head)
        assert head.startswith(b"HTTP/1.1 200") and length, (path, head)
        await pair[0].readexactly(int(length[1]))
        took.append((time.perf_counter() - due) * 1000)
        idle.append(pair)

    start, asked = time.perf_counter(), []
    for number in range(int(rate * seconds)):
        due = start + number / rate
        await asyncio.sleep(max(due - time.perf_counter(), 0))
        asked.append(asyncio.create_task(ask(paths[number % len(paths)], due)))
    await asyncio.gather(*asked)
    for _, writer in idle:
        writer.close()
    return took


def _request(host: str, path: str) -> bytes:
    head = f"GET {path} HTTP/1.1\r\nhost: {host}\r\naccept-encoding: gzip\r\n\r\n"
    return head.encode()


@asynccontextmanager
async def _watching(address: str) -> AsyncIterator[None]:
    """Event streams are open."""
    place = urlsplit(address)
    streams = []
    for _ in range(_STREAMS):
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        writer.write(_request(place.netloc, "/api/v1/events"))
        assert (await reader.readuntil(b"\r\n")).split()[1] == b"200"
        streams.append((writer, asyncio.create_task(reader.read())))
    yield
    for writer, _ in streams:
        writer.close()
    await asyncio.gather(*(listening for _, listening in streams), return_exceptions=True)


@asynccontextmanager
async def _serving(store: str) -> AsyncIterator[tuple[str, int, list[str]]]:
    """The service, ready; its address, process id, and paths that were asked for once."""
    environment = os.environ | {
        "JOBSIGHT_SERVE__REQUESTS_PER_SECOND": "1e6",
        "JOBSIGHT_SERVE__SOCKET": f"{store}.sock",
        "JOBSIGHT_SERVE__AUDIT": f"{store}.audit",
    }
    words = [*_JOBSIGHT, "serve", "--listen", "127.0.0.1:0", "--store", store]
    async with process(words, environment) as (address, pid):
        async with httpx.AsyncClient(base_url=address, timeout=120) as client:
            while not (await client.get("/api/v1/health")).json()["ready"]:
                await asyncio.sleep(0.2)
            paths = await _paths(client)
            for path in paths:  # asked before, as most are at a site
                await client.get(path)
        yield address, pid, paths


async def _measure(store: str) -> dict[str, list[float]]:
    found = {}
    async with process([sys.executable, "-c", _HELLO], os.environ) as (address, _):
        found["plain FastAPI, hello"] = await _load(address, ["/hello"])
    async with _serving(store) as (address, _, paths):
        found["mixed reads"] = await _load(address, paths)
        async with _watching(address):
            found[f"mixed reads, {_STREAMS} event streams open"] = await _load(address, paths)
    return found


async def _slow(address: str, sent: bytes, times: int) -> bool:
    """A client that sends these bytes a byte a second, then reads as slowly; was it cut off?"""
    place = urlsplit(address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    try:
        for number in range(times):
            writer.write(sent[number : number + 1])
            await writer.drain()
            with suppress(TimeoutError):
                if not await asyncio.wait_for(reader.read(1), 1.0):
                    return True
    except ConnectionError:
        return True
    finally:
        writer.close()
    return False


async def _soaked(store: str) -> tuple[list[list[str]], int]:
    """A row for each minute, and how many of the slow clients were cut off."""
    from jobsight.store import open_store

    body = b"POST /api/v1/answers/bound HTTP/1.1\r\nhost: localhost\r\ncontent-length: 900\r\n\r\n"
    rows, made = [], _documents(_MINUTES * _NEW)
    async with _serving(store) as (address, pid, paths), _watching(address):
        slow = [
            asyncio.create_task(_slow(address, sent, 60))
            for sent in [_request(urlsplit(address).netloc, "/held"), body] * (_SLOW // 2)
        ]
        for minute in range(1, _MINUTES + 1):
            with open_store(store) as opened:
                opened.merge(itertools.islice(made, _NEW))
            took = await _load(address, paths, _RATE // 4, 60.0)
            status = Path(f"/proc/{pid}/status").read_text()
            resident = re.search(r"VmRSS:\s+(\d+)", status)
            assert resident is not None
            files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
            last = f"{np.percentile(took, 99):.1f} ms"
            rows.append([f"minute {minute}", last, f"{int(resident[1]) / 1024:.0f} MB", str(files)])
        return rows, sum(await asyncio.gather(*slow))


async def _paths(client: httpx.AsyncClient) -> list[str]:
    """Lists, and documents and answers of jobs that wait and that have ended, mixed."""
    lists = ["jobs?limit=50", "jobs?state=failed&limit=50", "held", "pending?limit=50", "models"]
    found = [f"/api/v1/{one}" for one in lists]
    for state in ("pending", "completed"):
        jobs = (await client.get(f"/api/v1/jobs?state={state}&limit=10")).json()["jobs"]
        found += [
            f"/api/v1/jobs/{quote(one['id'])}{tail}" for one in jobs for tail in ("", "/answers")
        ]
    return [*found, "/", "/held"]


def _events(number: int, at: float, ran: float, failed: bool, steps: int) -> Iterator[Event]:
    """The first so many of: it is pending, runs, ends; every fourth job as a log tells it."""
    from jobsight.documents import Event, State

    end = State.FAILED if failed else State.COMPLETED
    life = ((0.0, State.PENDING, 0), (600.0, State.RUNNING, 1), (600.0 + ran, end, 5))
    for after, state, code in life[:steps]:
        time_ = int((at + after) * 1e6)
        if number % 4:
            yield Event(time=time_, source="sacct", state=state)
        else:
            yield Event(
                time=time_, source=_LOG, position=1000 * number + code, state=state, code=code,
                return_value=int(failed) if code == 5 else None,
            )  # fmt: skip


def _documents(count: int) -> Iterator[JobDocument]:
    """Jobs of many users of a Slurm cluster and an access point; the last have not ended."""
    from jobsight.documents import JobDocument, Request, Submission, condor_id, slurm_id

    draw = np.random.default_rng(0)
    users, ran = draw.zipf(1.4, count) % 500, draw.lognormal(6.0, 1.0, count)
    failed = draw.random(count) < 0.1 + 0.3 * (users % 7 == 0)
    begun = time.time() - count * _GAP_S - ran.max()
    for number in range(count):
        left, user = count - number, int(users[number])
        steps = 1 if left <= _OPEN // 2 else 2 if left <= _OPEN else 3
        at = begun + number * _GAP_S
        events = tuple(_events(number, at, ran[number], bool(failed[number]), steps))
        yield JobDocument(
            id=slurm_id("grid", str(number + 1)) if number % 4 else condor_id("ap", number, 0),
            updated=events[-1].time,
            request=Request(cpus=1 + number % 8, memory_mb=2048, time_limit_s=7200),
            submission=Submission(
                submitted=events[0].time, user=f"user{user}", name=f"fit{user % 30}"
            ),
            timeline=events,
        )


def fill(url: str, count: int) -> None:
    """A store of the jobs of a small pool, some held, and so many more."""
    from jobsight.store import open_store

    with tempfile.TemporaryDirectory() as folder:
        log = plain_log(Path(folder))
        part = part_of(log, Path(folder), log.stat().st_size // 2)
        words = [*_JOBSIGHT, "import", str(part), "--store", url]
        subprocess.run(words, check=True, capture_output=True)
    made = _documents(count)
    with open_store(url) as store:
        while batch := list(itertools.islice(made, _BATCH)):
            store.merge(batch)


def soak() -> Section:
    """Watch the service for ten minutes: what it takes must not grow."""
    section = Section("The service for ten minutes")
    count = int(os.environ.get("JOBSIGHT_BENCH_JOBS", "1000000")) // 10
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "jobs.db")
        fill(store, count)
        rows, cut = asyncio.run(_soaked(store))
    section.table(["", "99 % of requests", "resident memory", "open files"], rows)
    section.say(
        f"{count:,} jobs in the store, {_RATE // 4} mixed reads per second, {_STREAMS} event "
        f"streams, {_NEW} jobs new each minute. Of {_SLOW} clients that sent a byte a second, half "
        f"of them a body, {cut} were cut off within a minute."
    )
    return section


def run() -> Section:
    """Measure the service with many jobs in its store."""
    section = Section("The service under load")
    count = int(os.environ.get("JOBSIGHT_BENCH_JOBS", "1000000"))
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "jobs.db")
        fill(store, count)
        found = asyncio.run(_measure(store))
    rows = [
        [name, *(f"{np.percentile(took, q):.1f} ms" for q in (50, 95, 99)), f"{max(took):.0f} ms"]
        for name, took in found.items()
    ]
    section.table(["requests", "median", "95 %", "99 %", "longest"], rows)
    section.say(
        f"{count:,} jobs in the store, no trained model. {_RATE} requests per second for "
        f"{_SECONDS:.0f} s, sent by one process on the same machine; the time of each is from when "
        "it was due to its last byte. Mixed reads are lists, documents and answers of jobs that "
        "wait and that have ended, held and pending jobs, models, and two pages; each was asked "
        "for once before. No published figures of ClusterCockpit or Slurm-web were found that "
        "could stand beside these."
    )
    return section
