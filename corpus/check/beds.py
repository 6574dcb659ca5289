"""Ask a real Slurm and a real HTCondor of the test bed what they do with a job."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from tests.testbed.condor import HtcondorPool
from tests.testbed.namespace import free_ports, until
from tests.testbed.slurm import SlurmCluster

from corpus.check.manifest import Job

__all__ = ["CheckCluster", "pool_outcomes", "sbatch"]

_NODES = {
    "gpu1": "CPUs=32 RealMemory=256000 Gres=gpu:a100:4 Features=icelake,ib",
    "gpu2": "CPUs=32 RealMemory=256000 Gres=gpu:a100:4 Features=icelake,ib",
    "big1": "CPUs=64 RealMemory=1000000 Features=icelake",
}
_PARTITIONS = (
    "PartitionName=gpu Nodes=gpu[1-2] MaxTime=1-0 DefaultTime=60 DefMemPerCPU=4000 State=UP",
    "PartitionName=bigmem Nodes=big1 MaxTime=7-0 DefaultTime=60 DefMemPerCPU=8000 MaxNodes=1",
)
_UPDATES = (
    "PartitionName=main MaxTime=2-0 DefaultTime=60 DefMemPerCPU=2000 OverSubscribe=NO",
    "PartitionName=short MaxTime=60 DefaultTime=10 DefMemPerCPU=2000 OverSubscribe=NO MaxNodes=1",
)
_SETTLE = 40.0


class CheckCluster(SlurmCluster):
    """The cluster that ``site/`` describes: its files are what this one printed."""

    def __init__(self) -> None:
        lines = ["GresTypes=gpu"]
        for port, (name, rest) in zip(free_ports(3), _NODES.items(), strict=True):
            there = f"NodeHostname=ctl NodeAddr=127.0.0.1 Port={port}"
            lines.append(f"NodeName={name} {there} {rest}")
        settings = [*lines, *_PARTITIONS]
        super().__init__(nodes=4, cpus=16, memory=64_000, settings=settings)

    def _configure(self) -> None:
        super()._configure()
        # Any four devices stand for the GPUs.
        devices = "/dev/null,/dev/zero,/dev/full,/dev/random"
        gres = f"NodeName=gpu[1-2] Name=gpu Type=a100 File={devices}\n"
        (self.folder / "etc/slurm/gres.conf").write_text(gres)

    def start(self) -> CheckCluster:
        """Start it, with the nodes and partitions of ``site/``."""
        super().start()
        for name in _NODES:
            self.start_node(name)
        for update in _UPDATES:
            self.run("scontrol", "update", *update.split())
        idle = len(_NODES) + self.nodes
        until(lambda: self.run("sinfo", "-hN", "-o", "%N %t").count("idle") >= idle, "all nodes")
        return self


def sbatch(cluster: SlurmCluster, job: Job) -> tuple[int, str]:
    """Exit status and output of ``sbatch --test-only``, or the reason for which the job waits."""
    if not job.pends:
        return _asked(cluster.bin / "sbatch", "--test-only", stdin=job.file)
    status, said = _asked(cluster.bin / "sbatch", "--parsable", stdin=job.file)
    if status:
        return status, said
    number = said.split()[-1]
    ask = ("squeue", "-h", "-j", number, "-o", "%r")
    until(lambda: cluster.run(*ask).strip() not in ("", "None"), "a reason", timeout=15)
    reason = cluster.run(*ask).strip()
    cluster.cancel(number)
    return int(reason == job.pends), reason


def _asked(*command: str | Path, stdin: Path) -> tuple[int, str]:
    with stdin.open() as stream:
        done = subprocess.run(
            command, stdin=stream, capture_output=True, text=True, errors="replace", check=False
        )
    return done.returncode, done.stdout + done.stderr


def pool_outcomes(pool: HtcondorPool, jobs: Iterable[Job]) -> dict[str, tuple[int, str]]:
    """What becomes of jobs that are really submitted: by path, a status (0: good) and words."""
    outcomes: dict[str, tuple[int, str]] = {}
    waiting: dict[str, tuple[int, str]] = {}
    for job in jobs:
        status, said = _submit(pool, job)
        cluster = re.search(r"submitted to cluster (\d+)", said)
        if status or not cluster or "dry" in job.verified:
            outcomes[job.path] = (
                status or int(cluster is None and "dry" not in job.verified),
                said,
            )
        else:
            waiting[job.path] = (int(cluster[1]), said)
    deadline = time.monotonic() + _SETTLE
    while waiting:
        late = time.monotonic() > deadline
        for path, (number, said) in list(waiting.items()):
            if (state := _state(pool, number, late=late)) is not None:
                outcomes[path] = (int(state != "completed"), f"{said}\n{state}")
                del waiting[path]
        time.sleep(0.5)
    pool.remove_all()
    return outcomes


def _submit(pool: HtcondorPool, job: Job) -> tuple[int, str]:
    """Submit the job as alice, from a fresh copy of its folder."""
    folder = pool.folder / "work" / job.folder.name
    shutil.copytree(job.folder, folder)
    for path in (folder, *(one for one in folder.rglob("*") if one.is_dir())):
        path.chmod(0o777)
    if job.file.suffix == ".dag":
        command = ["condor_submit_dag", "-f", job.file.name]
    else:
        dry = ["-dry-run", "-"] if "dry" in job.verified else []
        command = ["condor_submit", *dry, job.file.name]
    done = subprocess.run(
        [pool.bin / command[0], *command[1:]],
        cwd=folder, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def _state(pool: HtcondorPool, cluster: int, *, late: bool) -> str | None:
    """completed, failed, held or, late, idle; None while this is not known."""
    queued = pool.queue(f"ClusterId == {cluster}")
    if any(ad["JobStatus"] == 5 for ad in queued):
        return "held: " + next(str(ad.get("HoldReason")) for ad in queued if ad["JobStatus"] == 5)
    if queued:
        return (
            ("idle" if all(ad["JobStatus"] == 1 for ad in queued) else "running") if late else None
        )
    ended = pool.history(f"ClusterId == {cluster}")
    if not ended:
        return None
    good = all(ad["JobStatus"] == 4 and ad.get("ExitCode") == 0 for ad in ended)
    return "completed" if good else f"failed: {[ad.get('ExitCode') for ad in ended]}"
