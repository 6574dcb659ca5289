"""Importing accounting into a store: a million generated rows of sacct."""

from __future__ import annotations

import datetime as dt
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.measure import Section, isolated, peak_mb

__all__ = ["ROWS", "accounting", "measure", "run", "write_accounting"]

ROWS = 1_000_000
_SEED = 20_261_121
_START = dt.datetime(2026, 1, 1)
_COLUMNS = (
    "JobID|JobIDRaw|Cluster|JobName|User|Group|Account|Partition|QOS|State|ExitCode|Submit|"
    "Eligible|Start|End|ElapsedRaw|TimelimitRaw|Priority|ReqMem|ReqCPUS|ReqNodes|ReqTRES|AllocCPUS|"
    "AllocNodes|AllocTRES|NodeList|WorkDir|SubmitLine|MaxRSS|TotalCPU"
)
_STATES = ("COMPLETED", "FAILED", "TIMEOUT", "OUT_OF_MEMORY", "CANCELLED by 1000", "NODE_FAIL")
_WEIGHTS = (80, 10, 4, 2, 3, 1)


def accounting(rows: int) -> Iterator[str]:
    """Lines of ``sacct --parsable2``, header first: one job in three has a batch step, or two."""
    yield _COLUMNS
    draw, job, written = random.Random(_SEED), 1000, 0
    clock = _START
    while written < rows:
        job += 1
        clock += dt.timedelta(seconds=draw.randrange(20))
        steps = draw.choice((0, 0, 0, 1, 1, 2))
        for line in _job(draw, job, clock, min(steps, rows - written - 1)):
            yield line
            written += 1


def _job(draw: random.Random, job: int, submit: dt.datetime, steps: int) -> Iterator[str]:
    user, cpus = f"user{draw.randrange(400):03d}", draw.choice((1, 1, 2, 4, 8, 32))
    start = submit + dt.timedelta(seconds=draw.randrange(4000))
    elapsed = draw.randrange(1, 90_000)
    end = start + dt.timedelta(seconds=elapsed)
    (state,) = draw.choices(_STATES, _WEIGHTS)
    code = "1:0" if state == "FAILED" else "0:0"
    memory = f"{draw.choice((1, 2, 4, 16, 64)) * cpus}G"
    tres = f"billing={cpus},cpu={cpus},mem={memory},node=1"
    node, name = f"node{draw.randrange(1500):04d}", f"run_{draw.randrange(5000)}"
    moments = "|".join(moment.isoformat() for moment in (submit, submit, start, end))
    cpu = f"{elapsed // 3600:02d}:{elapsed // 60 % 60:02d}:{elapsed % 60:02d}"
    yield (
        f"{job}|{job}|bench|{name}|{user}|users|lab{draw.randrange(40)}|main|normal|{state}|{code}|"
        f"{moments}|{elapsed}|1440|{draw.randrange(100_000)}|{memory}|{cpus}|1|{tres}|{cpus}|1|"
        f"{tres}|{node}|/home/{user}/work|sbatch {name}.sh||{cpu}"
    )
    for step in ("batch", "extern")[:steps]:
        yield (
            f"{job}.{step}|{job}.{step}|bench|{step}||||||{state.split()[0]}|{code}|{moments}|"
            f"{elapsed}|||||||{cpus}|1|{tres}|{node}|||{draw.randrange(9_000_000)}K|{cpu}"
        )


def write_accounting(path: Path, rows: int = ROWS) -> None:
    """Write this many rows to a file, the same ones each time."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in accounting(rows))


def measure(path: str, store: str) -> Any:
    """Import the file into a new store; seconds, processor seconds, peak MB, rows and jobs."""
    from jobsight.cli.import_ import ImportRun
    from jobsight.history.importers import FileImport, Options
    from jobsight.store import open_store

    spent = time.process_time()
    run = ImportRun(FileImport([path], format="auto", options=Options(timezone="UTC")))
    with open_store(store, create=True) as target:
        run.into(target)
    return {
        "seconds": run.seconds,
        "cpu": time.process_time() - spent,
        "peak": peak_mb(),
        "rows": run.report.rows,
        "bad": run.report.bad,
        "jobs": sum(run.tally.by_mark().values()),
        "bytes": run.report.bytes,
    }


def run() -> Section:
    """Import a million rows once, in a separate process."""
    section = Section("Import of a million accounting rows")
    with tempfile.TemporaryDirectory(prefix="jobsight-bench-") as name:
        path = Path(name) / "sacct.psv"
        write_accounting(path)
        found = isolated("bench.imports:measure", path=str(path), store=str(Path(name) / "jobs.db"))
        again = isolated("bench.imports:measure", path=str(path), store=str(Path(name) / "jobs.db"))
        size = (Path(name) / "jobs.db").stat().st_size
    section.say(
        f"`jobsight import` of {found['rows']:,} rows of sacct ({found['bytes'] / 1e6:.0f} MB, "
        f"{found['jobs']:,} jobs and their steps) into an SQLite store: each row parsed, steps "
        "folded into their jobs, documents merged and written. One run."
    )
    section.table(
        ["", "seconds", "processor seconds", "rows/s", "peak memory, MB"],
        [
            [what, f"{one['seconds']:.1f}", f"{one['cpu']:.1f}",
             f"{one['rows'] / one['seconds']:,.0f}", f"{one['peak']:.0f}"]
            for what, one in (("into an empty store", found), ("again: nothing changes", again))
        ],
    )  # fmt: skip
    section.say(
        f"The store then has {size / 1e6:.0f} MB, {size / found['jobs']:.0f} bytes per job."
    )
    return section
