"""One answer from a store as a command: the whole process."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import inputs
from bench.measure import Section, Times, isolated, median, spread

__all__ = ["command_times", "held_job", "run"]

_RUNS = 9
_PART = 0.6


def held_job(log: str) -> Any:
    """A job that is held at a moment in the log, and that moment; and how many events there are."""
    import numpy as np

    from jobsight.clock import format_micros
    from jobsight.history.events import read_events
    from jobsight.history.timelines import History
    from jobsight.questions.hold.answering.answer import Answerer
    from jobsight.questions.hold.answering.lookup import current_jobs
    from jobsight.questions.hold.settings import HoldSettings

    history = History.from_table(read_events([log]).table)
    moment = int(np.quantile(history.clock, _PART))
    answerer = Answerer(history, HoldSettings())
    held = answerer.held(moment, current_jobs(history, moment))
    held = held.filter(held["hold_code"] != 1)
    cluster, proc = held.select("cluster", "proc").row(0)
    at = format_micros(moment).replace(" ", "T")
    return {"job": f"{cluster}.{proc}", "at": at, "events": len(history)}


def run() -> Section:
    """The benchmark."""
    with tempfile.TemporaryDirectory(prefix="jobsight-bench-") as name:
        log, folder = str(inputs.plain_log(Path(name))), str(Path(name) / "model")
        store = str(Path(name) / "jobs.db")
        label = isolated("bench.answers:train_model", log=log, folder=folder)["model"]
        asked = isolated("bench.stored_answers:held_job", log=log)
        command_times("import", log, "--store", store)
        ask = ["hold", asked["job"], "--at", asked["at"]]
        ways = {
            "from the store": [*ask, "--store", store, "--model", folder],
            "from the store, today's rules": [*ask, "--store", store, "--model", "none"],
            "from the log": [*ask, "--log", log, "--model", folder],
            "`jobsight --help`": ["--help"],
        }
        found = {way: Times(seconds=[], cpu=[]) for way in ways}
        for number in range(_RUNS + 1):
            for way, arguments in ways.items():
                seconds, cpu = command_times(*arguments)
                if number:
                    found[way]["seconds"].append(seconds)
                    found[way]["cpu"].append(cpu)
    return _section(found, asked["events"], label)


def command_times(*arguments: str) -> tuple[float, float]:
    """Wall time and processor time of a command, s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "jobsight", *arguments],
        stdout=subprocess.DEVNULL,
        env={**os.environ, "JOBSIGHT_CONFIG": os.devnull},
        check=True,
    )
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _section(found: dict[str, Times], events: int, label: str) -> Section:
    section = Section("One answer as a command")
    section.say(
        f"`jobsight hold JOB` from a store (SQLite) of the jobs of a log of {events:,} events, "
        f"model {label}; the whole process. Medians of {_RUNS} alternating runs of each; the aim "
        "is one second. On a busy machine (see the load), compare processor times; they grow less "
        "with the load."
    )
    section.table(
        ["one job", "wall time, s", "runs", "processor time, s", "runs"],
        [
            [
                way,
                f"{median(times['seconds']):.2f}",
                spread(times["seconds"]),
                f"{median(times['cpu']):.2f}",
                spread(times["cpu"]),
            ]
            for way, times in found.items()
        ],
    )
    return section
