"""Planning and submitting 1000 runs with the command line, compared with one by one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.measure import Section, isolated, median, spread

if TYPE_CHECKING:
    from tests.integration.sweepproof import Sweep
    from tests.testbed import HtcondorPool, SlurmCluster

__all__ = ["measure", "planned_here", "run"]

_RUNS = 1000
_TIMES = 5
_SAMPLE = 20


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _told(sweep: Sweep, verb: str) -> None:
    """The command as a separate process, as a user starts it."""
    command = [sys.executable, "-m", "jobsight", "sweep", verb, str(sweep.file)]
    subprocess.run(
        command, env={**os.environ, **sweep.environment}, stdout=subprocess.DEVNULL, check=True
    )


def _size(folder: Path) -> tuple[int, int]:
    """Files, and bytes in them."""
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return len(sizes), sum(sizes)


def measure(where: str) -> Any:
    """All costs with one scheduler, or why they cannot be measured here."""
    from tests.integration.sweepproof import open_umask
    from tests.testbed import HtcondorPool, SlurmCluster, Unavailable

    with ExitStack() as stack:
        stack.enter_context(open_umask())
        try:
            bed = HtcondorPool().start() if where == "dagman" else SlurmCluster().start()
        except Unavailable as reason:
            return {"unavailable": str(reason)}
        stack.callback(bed.stop)
        return _measure(where, bed)


def _measure(where: str, bed: HtcondorPool | SlurmCluster) -> dict[str, Any]:
    from tests.integration.sweepproof import Sweep

    found: dict[str, Any] = {"plan": [], "submit": [], "status": []}
    work = bed.folder / "work"
    for number in range(_TIMES):
        sweep = Sweep.new(work / f"{where}-{number}", where, tools=bed.bin, runs=_RUNS)
        found["plan"].append(_seconds(lambda: _told(sweep, "plan")))  # noqa: B023
        found["files"], found["bytes"] = _size(sweep.folder)
        found["handed"] = _size(sweep.folder / "submitted")
        sweep.own(bed)
        found["submit"].append(_seconds(lambda: _told(sweep, "submit")))  # noqa: B023
        found["status"].append(_seconds(lambda: _told(sweep, "status")))  # noqa: B023
        _clear(where, bed)
    found["single"] = _one_by_one(where, bed)
    return found


def _clear(where: str, bed: HtcondorPool | SlurmCluster) -> None:
    """Take everything out of the queue."""
    if where == "dagman":
        bed.run("condor_rm", "-all", check=False)
    else:
        bed.run("scancel", "--user=alice")


def _one_by_one(where: str, bed: HtcondorPool | SlurmCluster) -> list[float]:
    """Seconds of each of some submissions of one job, as a loop over runs would do it."""
    file = bed.folder / "work" / "single"
    if where == "dagman":
        file.write_text("executable = /bin/true\nhold = true\nqueue\n")
        command = [str(bed.bin / "condor_submit"), str(file)]
    else:
        file.write_text("#!/bin/sh\nexit 0\n")
        command = [str(bed.bin / "sbatch"), "--hold", f"--chdir={file.parent}", str(file)]

    def submit() -> None:
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)

    return [_seconds(submit) for _ in range(_SAMPLE)]


def planned_here() -> dict[str, Any]:
    """Planning without a scheduler."""
    from tests.integration.sweepproof import Sweep

    found: dict[str, Any] = {"plan": []}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(_TIMES):
            sweep = Sweep.new(Path(folder) / str(number), "here", runs=_RUNS)
            found["plan"].append(_seconds(lambda: _told(sweep, "plan")))  # noqa: B023
            found["files"], found["bytes"] = _size(sweep.folder)
    return found


def run() -> Section:
    """The benchmark."""
    section = Section("Planning and handing over 1000 runs")
    section.say(
        f"`jobsight sweep plan`, `submit` and `status` of {_RUNS:,} random runs of seven "
        f"parameters, each in a separate process, medians of {_TIMES}, each in a new folder. One "
        f"by one: `condor_submit` or `sbatch` of a single job, the mean of {_SAMPLE}, times the "
        "runs."
    )
    rows, said = [], []
    here = isolated("bench.sweeps_planning:planned_here")
    rows.append(["here", *_planning(here), "", "", ""])
    for where, name in (("dagman", "DAGMan"), ("slurm", "Slurm")):
        found = isolated("bench.sweeps_planning:measure", where=where)
        if "unavailable" in found:
            said.append(f"{name} was not measured: no test bed here ({found['unavailable']}).")
            continue
        each = sum(found["single"]) / len(found["single"]) * _RUNS
        rows.append(
            [
                name,
                *_planning(found),
                f"{median(found['submit']):.2f}",
                f"{median(found['status']):.2f}",
                f"{each:,.0f}",
            ]
        )
        files, size = found["handed"]
        said.append(
            f"{name} gets {files} files of {size / 1e3:,.0f} kB; submitting takes "
            f"1/{each / median(found['submit']):,.0f} of one by one (runs "
            f"{spread(found['submit'])})."
        )
    section.table(["", "plan, s", "files", "kB", "submit, s", "status, s", "one by one, s"], rows)
    for text in said:
        section.say(text)
    return section


def _planning(found: dict[str, Any]) -> list[str]:
    return [f"{median(found['plan']):.2f}", f"{found['files']:,}", f"{found['bytes'] / 1e3:,.0f}"]
