"""The service under load: mixed reads at a fixed rate, next to a plain FastAPI application."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import numpy as np

from bench.inputs import plain_log
from bench.measure import Section

__all__ = ["run"]

_JOBSIGHT = (sys.executable, "-m", "jobsight")
_RATE, _SECONDS, _STREAMS = 200, 20.0, 200
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
async def _process(words: Sequence[str], environment: dict[str, str]) -> AsyncIterator[str]:
    """A server as a process; its address, from what it logs."""
    process = subprocess.Popen(
        words, env=os.environ | environment, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        address = None
        while address is None:
            line = await asyncio.to_thread(process.stderr.readline)
            assert line, "the server has ended"
            address = re.search(r"http://127\.0\.0\.1:\d+", line)
        drain = asyncio.create_task(asyncio.to_thread(process.stderr.read))
        yield address[0]
    finally:
        process.terminate()
        process.wait()
        await drain


async def _load(address: str, paths: Sequence[str]) -> list[float]:
    """Milliseconds of requests at a fixed rate, counted from when each was due."""
    limits = httpx.Limits(max_connections=64, max_keepalive_connections=64)
    took: list[float] = []
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=30) as client:

        async def ask(path: str, due: float) -> None:
            answer = await client.get(path)
            assert answer.status_code == 200, (path, answer.status_code)
            await answer.aread()
            took.append((time.perf_counter() - due) * 1000)

        start, asked = time.perf_counter(), []
        for number in range(int(_RATE * _SECONDS)):
            due = start + number / _RATE
            await asyncio.sleep(max(due - time.perf_counter(), 0))
            asked.append(asyncio.create_task(ask(paths[number % len(paths)], due)))
        await asyncio.gather(*asked)
    return took


async def _watched(address: str, paths: Sequence[str]) -> list[float]:
    """The same while event streams are open."""
    limits = httpx.Limits(max_connections=_STREAMS)
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=None) as client:

        async def listen() -> None:
            async with client.stream("GET", "/api/v1/events") as stream:
                async for _ in stream.aiter_raw():
                    pass

        streams = [asyncio.create_task(listen()) for _ in range(_STREAMS)]
        took = await _load(address, paths)
        for one in streams:
            one.cancel()
        await asyncio.gather(*streams, return_exceptions=True)
    return took


async def _measure(store: str) -> dict[str, list[float]]:
    found = {}
    environment = {
        "JOBSIGHT_SERVE__REQUESTS_PER_SECOND": "1e6",
        "JOBSIGHT_SERVE__SOCKET": f"{store}.sock",
        "JOBSIGHT_SERVE__AUDIT": f"{store}.audit",
    }
    async with _process([sys.executable, "-c", _HELLO], {}) as address:
        found["plain FastAPI, hello"] = await _load(address, ["/hello"])
    words = [*_JOBSIGHT, "serve", "--listen", "127.0.0.1:0", "--store", store]
    async with _process(words, environment) as address:
        async with httpx.AsyncClient(base_url=address, timeout=30) as client:
            while not (await client.get("/api/v1/health")).json()["ready"]:
                await asyncio.sleep(0.2)
            jobs = json.loads((await client.get("/api/v1/jobs?limit=50")).text)["jobs"]
        paths = ["/api/v1/jobs?limit=50", "/api/v1/held", "/api/v1/pending", "/api/v1/models"]
        paths += [f"/api/v1/jobs/{one['id']}" for one in jobs[:20]]
        paths += [f"/api/v1/jobs/{one['id']}/answers" for one in jobs[:20]]
        await _load(address, paths[:8])
        found["mixed reads"] = await _load(address, paths)
        found[f"mixed reads, {_STREAMS} event streams open"] = await _watched(address, paths)
    return found


def run() -> Section:
    """Measure the service with the jobs of a small pool."""
    section = Section("The service under load")
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "jobs.db")
        subprocess.run(
            [*_JOBSIGHT, "import", str(plain_log(Path(folder))), "--store", store],
            check=True,
            capture_output=True,
        )
        found = asyncio.run(_measure(store))
    rows = [
        [name, *(f"{np.percentile(took, q):.1f} ms" for q in (50, 95, 99)), f"{max(took):.0f} ms"]
        for name, took in found.items()
    ]
    section.table(["requests", "median", "95 %", "99 %", "longest"], rows)
    section.say(
        f"{_RATE} requests per second for {_SECONDS:.0f} s, sent by one process on the same "
        "machine; the time of each is from when it was due to its last byte. Mixed reads are "
        "lists, documents and answers of jobs, held and pending jobs, and models."
    )
    return section
