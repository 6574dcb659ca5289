"""What befalls sweeps where they run: evictions, sites that are turned off, machines that die."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.integration.sweepproof import Sweep, epochs_told
from tests.testbed import HtcondorPool, SlurmCluster
from tests.testbed.namespace import until


@dataclass(frozen=True)
class OnCondor:
    """What befalls the runs of a sweep on a pool."""

    pool: HtcondorPool
    sweep: Sweep

    def job(self, run: int) -> dict[str, Any]:
        """The ad of the job of a run, now in the queue."""
        return self.pool.queue(f'DAGNodeName == "run-{run:04d}"')[0]

    def training(self) -> dict[int, tuple[str, int]]:
        """Site and epochs of each run that is being trained now, as its record there tells."""
        found = {}
        for record in self.pool.folder.glob("state/execute-*/*/runs/*/record.jsonl"):
            site = record.parts[-5].removeprefix("execute-")
            with contextlib.suppress(OSError, ValueError):
                text = record.read_text()
                if '"event": "end"' not in text:
                    found[int(record.parent.name)] = (site, text.count('"event": "epoch"'))
        return found

    def wait_training(self, runs: Collection[int], epoch: int, *, timeout: float) -> int:
        """Until one of these runs has trained so many epochs and trains on; which."""

        def there() -> int | None:
            return next(
                (
                    run
                    for run, (_, done) in self.training().items()
                    if run in runs and done >= epoch
                ),
                None,
            )

        found = until(there, f"epoch {epoch} of runs {sorted(runs)}", timeout=timeout, pause=0.05)
        assert found is not None
        return found

    def wait_ended(self, runs: Collection[int], *, timeout: float) -> None:
        """Until these runs have results."""
        files = [self.sweep.run_folder(run) / "result.json" for run in runs]
        until(
            lambda: all(file.exists() for file in files),
            f"runs {sorted(runs)} to end",
            timeout=timeout,
            pause=0.3,
        )

    def evict(self, run: int) -> None:
        """Have a run go, softly, as for a job of higher priority."""
        self.pool.run("condor_vacate_job", str(self.job(run)["ClusterId"]))

    def switch(self, site: str, *, on: bool) -> None:
        """Turn a site off, or on again."""
        verb = ("condor_on",) if on else ("condor_off", "-graceful")
        self.pool.run(*verb, "-daemon", site)

        def switched() -> bool:
            return (site in self.pool.run("condor_status", "-af", "TestbedSite")) is on

        until(switched, f"{site} to be {'on' if on else 'off'}", timeout=90)

    def check_processes(self) -> None:
        """Runs that train now have all their code from where they were unpacked."""
        seen = 0
        for entry in Path("/proc").glob("[0-9]*"):  # a job has mounts of its own
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_text().split("\0")
                place = str((entry / "cwd").readlink())
                if words[3:6] == ["sweep", "node", "run"] and self.pool.folder.name in place:
                    files = (entry / "maps").read_text()
                    assert "/jobsight-environment/" in files
                    assert sys.prefix not in files
                    seen += 1
        assert seen, "no run was seen"

    def saves(self, run: int) -> int:
        """How often the access point fetched what a run had while it went on."""
        jobs = self.pool.queue(f'DAGNodeName == "run-{run:04d}"')
        return max((int(job.get("CheckpointNumber", -1)) + 1 for job in jobs), default=0)

    @contextlib.contextmanager
    def lose_machine(self, run: int) -> Iterator[str]:
        """Kill -9 what a run's site has, and the run, without a word to anybody; the site.

        It comes back, and takes no job until the block ends.
        """
        site = str(self.job(run)["RemoteHost"]).split("@")[1].upper()
        self.pool.configure([f"{site}.START = False"])
        try:
            pids = [pid for one in self._processes(run) for pid in (self._starter(one), one)]
            self.pool.namespace.kill(f"condor_startd -f -local-name {site}")
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):  # it went with its startd
                    os.kill(pid, signal.SIGKILL)
            yield site
        finally:
            self.pool.configure([f"{site}.START = True"])
            until(lambda: site in self.pool.run("condor_status", "-af", "TestbedSite"),
                  f"{site} to be back", timeout=60)  # fmt: skip

    def _processes(self, run: int) -> Iterator[int]:
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_text().split("\0")
                here = self.pool.folder.name in str((entry / "cwd").readlink())
                if here and words[3:7] == ["sweep", "node", "run", str(run)]:
                    yield int(entry.name)

    def _starter(self, pid: int) -> int:
        """The condor_starter that watches over a process."""
        parent = int(Path(f"/proc/{pid}/status").read_text().partition("PPid:")[2].split()[0])
        assert Path(f"/proc/{parent}/comm").read_text().strip() == "condor_starter"
        return parent

    def managers(self) -> set[int]:
        """Processes of DAGMan."""
        found = self.pool.namespace.processes().items()
        return {pid for pid, name in found if name == "condor_dagman"}

    def kill_manager(self) -> None:
        """Kill -9 DAGMan, and wait for the next."""
        before = self.managers()
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        until(lambda: self.managers() - before, "another DAGMan", timeout=90)

    def remove_dag(self) -> None:
        """Remove the DAG, as its user would, and wait until all of it is gone."""
        (dag,) = self.pool.queue('regexp("condor_dagman", Cmd)')
        self.pool.run("condor_rm", str(dag["ClusterId"]), user="alice")
        until(lambda: not self.pool.queue(), "the queue to be empty", timeout=90)


@dataclass(frozen=True)
class OnThisMachine:
    """What befalls the runs of a sweep here."""

    sweep: Sweep

    def kill_one(self, runs: Collection[int], epoch: int, *, timeout: float) -> int:
        """Kill -9 the process of the first of these runs that has so many epochs; which."""

        def there() -> tuple[int, int] | None:
            for run in runs:
                if epochs_told(self.sweep.run_folder(run) / "record.jsonl") >= epoch:
                    for pid in self._processes(run):
                        return run, pid
            return None

        found = until(there, f"epoch {epoch} of runs {sorted(runs)}", timeout=timeout, pause=0.05)
        assert found is not None
        os.kill(found[1], signal.SIGKILL)
        return found[0]

    def _processes(self, run: int) -> Iterator[int]:
        end = f"sweep node run {run} .".split()
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_text().rstrip("\0").split("\0")
                here = (entry / "cwd").readlink() == self.sweep.folder
                if here and words[-5:] == end and words[1:3] == ["-m", "jobsight"]:
                    yield int(entry.name)


@dataclass(frozen=True)
class OnSlurm:
    """What befalls the runs of a sweep on a cluster."""

    cluster: SlurmCluster
    sweep: Sweep

    def wait_epoch(self, run: int, epoch: int, *, timeout: float) -> None:
        """Until a run has trained so many epochs."""
        record = self.sweep.run_folder(run) / "record.jsonl"
        there = lambda: epochs_told(record) >= epoch  # noqa: E731
        until(there, f"epoch {epoch} of run {run}", timeout=timeout, pause=0.05)

    def requeue(self, run: int) -> None:
        """Have a run go, and queue it again."""
        state = self.sweep.folder / f"submitted/state/run-{run:04d}.jsonl"
        lines = [json.loads(line) for line in state.read_text().splitlines() if line]
        self.cluster.requeue(lines[-1]["job"])
