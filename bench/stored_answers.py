"""One answer from a store as a command, the whole process: by itself, and of a running service.

``python -m bench stored_answers_many`` fills a store with a million jobs first; the variable
``JOBSIGHT_BENCH_JOBS`` names another number.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from bench import inputs
from bench.measure import Section, Times, isolated, median, spread
from bench.serving import fill, process

__all__ = ["command_times", "held_job", "many", "run", "served"]

_RUNS = 15
_PART = 0.6
_JOBSIGHT = (sys.executable, "-m", "jobsight")
_SCRIPT = """#!/bin/bash
#SBATCH --job-name=fit
#SBATCH --time=01:00:00
#SBATCH --cpus-per-task=4
#SBATCH --mem=4G
set -e
cd "$SLURM_SUBMIT_DIR"
python fit.py --epochs 20 > fit.out
"""
_PROGRAM = """import numpy as np

for number in range(100):
    product = np.random.rand(1000, 1000) @ np.random.rand(1000, 1000)
    np.save("product.npy", product)
"""
_HEADINGS = ("wall time, s", "runs", "processor time, s", "runs")


def held_job(log: str) -> Any:
    """A job that is held at a moment in the log, and that moment; and how many events there are."""
    import numpy as np

    from jobsight.clock import format_micros
    from jobsight.history.events import read_events
    from jobsight.history.timelines import History
    from jobsight.questions.hold.examples.decisions import HeldHistory

    history = History.from_table(read_events([log]).table)
    moment = int(np.quantile(history.clock, _PART))
    held = HeldHistory(history).held(moment)
    held = held.filter(held["hold_code"] != 1)
    cluster, proc = held.select("cluster", "proc").row(0)
    at = format_micros(moment).replace(" ", "T")
    return {"job": f"{cluster}.{proc}", "at": at, "events": len(history)}


def run() -> Section:
    """Measure answers of commands without a service, from a pool's jobs."""
    with tempfile.TemporaryDirectory(prefix="jobsight-bench-") as name:
        folder = Path(name)
        log, model = str(inputs.plain_log(folder)), str(folder / "model")
        store, script = str(folder / "jobs.db"), _script(folder)
        label = isolated("bench.answers:train_model", log=log, folder=model)["model"]
        asked = isolated("bench.stored_answers:held_job", log=log)
        command_times("import", log, "--store", store)
        ask = ["hold", asked["job"], "--at", asked["at"]]
        found = _measured(
            {
                "`hold JOB` from the store": [*ask, "--store", store, "--model", model],
                "the same by today's rules": [*ask, "--store", store, "--model", "none"],
                "the same from the log": [*ask, "--log", log, "--model", model],
                "`fail SCRIPT` from the store": ["fail", script, "--store", store],
                "`start SCRIPT` from the store": ["start", script, "--store", store],
                "`check SCRIPT`": ["check", script],
                "`--help`": ["--help"],
            }
        )
    text = (
        f"From a store (SQLite) of the jobs of a log of {asked['events']:,} events, model {label} "
        f"for held jobs, else none; the whole process. Medians of {_RUNS} alternating runs of "
        "each, after one that is not counted; the aim is one second. On a busy machine (see the "
        "load), compare processor times; they grow less with the load."
    )
    return _section("One answer as a command", text, found)


def many() -> Section:
    """Measure the same with a million jobs in the store."""
    count = int(os.environ.get("JOBSIGHT_BENCH_JOBS", "1000000"))
    with tempfile.TemporaryDirectory(prefix="jobsight-bench-") as name:
        store = str(Path(name) / "jobs.db")
        fill(store, count)
        words = [*_JOBSIGHT, "hold", "--each", "--json", "--store", store]
        held = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
        job, waiting = held[0]["id"], f"slurm:grid:{count - 2}"
        found = _measured(
            {
                "`hold JOB`": ["hold", job, "--store", store],
                "`fail JOB`": ["fail", waiting, "--store", store],
                "`start JOB`": ["start", waiting, "--store", store],
            }
        )
    text = (
        f"{count:,} jobs in the store (SQLite), no trained model. Medians of {_RUNS} alternating "
        "runs of each, after one that reads all documents and is not counted. The aim of `hold` is "
        "two seconds."
    )
    return _section("One answer as a command, many jobs", text, found)


def served() -> Section:
    """Measure answers of commands that a running service gives."""
    with tempfile.TemporaryDirectory(prefix="jobsight-bench-") as name:
        folder = Path(name)
        log, store = str(inputs.plain_log(folder)), str(folder / "jobs.db")
        asked = isolated("bench.stored_answers:held_job", log=log)
        command_times("import", log, "--store", store)
        script, program = _script(folder), str(folder / "fit.py")
        ways = {
            "`hold JOB`": ["hold", asked["job"], "--at", asked["at"], "--store", store],
            "`fail SCRIPT`": ["fail", script, "--store", store],
            "`start SCRIPT`": ["start", script, "--store", store],
            "`bound PROGRAM`": ["bound", program],
            "`check SCRIPT`": ["check", script],
            "`python -c pass`": [],
        }
        found = asyncio.run(_of_service(ways, store, str(folder / "serve.sock")))
    text = (
        f"`jobsight serve` runs on the same machine and has read the store of a log of "
        f"{asked['events']:,} events; no trained model. The whole process of the command, which "
        f"asks it over its socket: medians of {_RUNS} alternating runs. The aim is 150 ms of wall "
        "time on a quiet machine; processor time is the command's own."
    )
    return _section("One answer of a running service, as a command", text, found)


async def _of_service(
    ways: Mapping[str, Sequence[str]], store: str, socket: str
) -> dict[str, Times]:
    environment = _environment() | {"JOBSIGHT_SERVE__SOCKET": socket}
    words = [*_JOBSIGHT, "serve", "--listen", "127.0.0.1:0", "--store", store]
    async with process(words, environment) as (address, _):
        async with httpx.AsyncClient(base_url=address, timeout=120) as client:
            while not (await client.get("/api/v1/health")).json()["ready"]:
                await asyncio.sleep(0.2)
        return await asyncio.to_thread(_measured, ways, socket)


def _script(folder: Path) -> str:
    """A batch script and the program that it runs."""
    (folder / "fit.py").write_text(_PROGRAM, encoding="utf-8")
    (folder / "fit.sh").write_text(_SCRIPT, encoding="utf-8")
    return str(folder / "fit.sh")


def _measured(ways: Mapping[str, Sequence[str]], socket: str | None = None) -> dict[str, Times]:
    """The times of commands, one after another, again and again."""
    found = {way: Times(seconds=[], cpu=[]) for way in ways}
    for number in range(_RUNS + 1):
        for way, words in ways.items():
            seconds, cpu = command_times(*words, socket=socket)
            if number:
                found[way]["seconds"].append(seconds)
                found[way]["cpu"].append(cpu)
    return found


def command_times(*words: str, socket: str | None = None) -> tuple[float, float]:
    """Wall time and processor time of a command, s; without words of Python alone.

    Args:
        words: of the command.
        socket: of a service that may answer; None: none may.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(
        [*_JOBSIGHT, *words] if words else [sys.executable, "-c", "pass"],
        stdout=subprocess.DEVNULL,
        env=_environment() | {"JOBSIGHT_SERVE__SOCKET": socket or os.devnull},
        check=True,
    )
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _environment() -> dict[str, str]:
    # As it is installed, a package is compiled: where this is set, each process compiles it anew.
    own = {name: one for name, one in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return own | {"JOBSIGHT_CONFIG": os.devnull}


def _section(title: str, text: str, found: Mapping[str, Times]) -> Section:
    section = Section(title)
    section.say(text)
    rows = [
        [
            way,
            f"{median(times['seconds']):.3f}",
            spread(times["seconds"]),
            f"{median(times['cpu']):.3f}",
            spread(times["cpu"]),
        ]
        for way, times in found.items()
    ]
    section.table(["", *_HEADINGS], rows)
    return section
