"""Ask a real Slurm and a real HTCondor of the test bed what they do with a job."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.testbed.condor import HtcondorPool
from tests.testbed.namespace import free_ports, until
from tests.testbed.slurm import SlurmCluster

from corpus.check.manifest import SITE, Job

__all__ = ["CheckCluster", "ask_beds"]

_UPDATES = (
    "PartitionName=main MaxTime=2-0 DefaultTime=60 DefMemPerCPU=2000 OverSubscribe=NO",
    "PartitionName=short MaxTime=60 DefaultTime=10 DefMemPerCPU=2000 OverSubscribe=NO MaxNodes=1",
)
# Any four devices stand for the GPUs.
_GRES = "NodeName=gpu[1-2] Name=gpu Type=a100 File=/dev/null,/dev/zero,/dev/full,/dev/random\n"
_SETTLE = 40.0
_Said = tuple[int, str]


class CheckCluster(SlurmCluster):
    """The cluster that ``site/`` describes: its files are what this one printed."""

    def __init__(self) -> None:
        text = (SITE / "slurm.conf").read_text()
        for port in free_ports(text.count("@PORT@")):
            text = text.replace("@PORT@", str(port), 1)
        super().__init__(nodes=4, cpus=16, memory=64_000, settings=text.splitlines())

    def _configure(self) -> None:
        super()._configure()
        (self.folder / "etc/slurm/gres.conf").write_text(_GRES)

    def start(self) -> CheckCluster:
        """Start it, with the nodes and partitions of ``site/``."""
        super().start()
        for name in ("gpu1", "gpu2", "big1"):
            self.start_node(name)
        for update in _UPDATES:
            self.run("scontrol", "update", *update.split())
        until(lambda: self.run("sinfo", "-hN", "-o", "%n %t").count("idle") == 11, "all nodes")
        return self


def ask_beds(chosen: Sequence[Job]) -> dict[tuple[str, str], _Said]:
    """Status (0: good) and output by path and way, of the ways that need a scheduler."""
    with CheckCluster() as cluster:
        command: list[str | Path] = [cluster.bin / "sbatch", "--test-only"]
        asked = [job for job in chosen if "sbatch" in job.verified]
        found = {(job.path, "sbatch"): _said(command, job.folder, job.file) for job in asked}
    sent = [job for job in chosen if job.scheduler == "htcondor" and "read" not in job.verified]
    with HtcondorPool() as pool:
        outcomes = _submitted(pool, sent)
    return found | {(job.path, job.verified[0]): outcomes[job.path] for job in sent}


def _said(command: list[str | Path], folder: Path, stdin: Path | None = None) -> _Said:
    text = stdin.read_bytes() if stdin else b""
    done = subprocess.run(command, cwd=folder, input=text, capture_output=True, check=False)
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def _submitted(pool: HtcondorPool, jobs: Iterable[Job]) -> dict[str, _Said]:
    """What becomes of jobs that are really submitted, by path."""
    outcomes: dict[str, _Said] = {}
    waiting: dict[str, tuple[int, str]] = {}
    for job in jobs:
        status, said = _submit(pool, job)
        cluster = re.search(r"submitted to cluster (\d+)", said)
        if cluster and not status:
            waiting[job.path] = int(cluster[1]), said
        else:
            outcomes[job.path] = int("dry" not in job.verified) or status, said
    deadline = time.monotonic() + _SETTLE
    while waiting:
        late = time.monotonic() > deadline
        for path, (number, said) in list(waiting.items()):
            if state := _state(pool, number, late=late):
                outcomes[path] = (int(state != "completed"), f"{said}\n{state}")
                del waiting[path]
        time.sleep(0.5)
    pool.remove_all()
    return outcomes


def _submit(pool: HtcondorPool, job: Job) -> _Said:
    """Submit the job as alice, from a fresh copy of its folder."""
    folder = Path(shutil.copytree(job.folder, pool.folder / "work" / job.folder.name))
    for path in (folder, *(one for one in folder.rglob("*") if one.is_dir())):
        path.chmod(0o777)
    if job.file.suffix == ".dag":
        return _said([pool.bin / "condor_submit_dag", "-f", job.file.name], folder)
    dry = ["-dry-run", "-"] if "dry" in job.verified else []
    return _said([pool.bin / "condor_submit", *dry, job.file.name], folder)


def _state(pool: HtcondorPool, cluster: int, *, late: bool) -> str:
    """completed, failed, held or, late, waiting; empty while this is not known."""
    queued = pool.queue(f"ClusterId == {cluster}")
    if held := [str(ad.get("HoldReason")) for ad in queued if ad["JobStatus"] == 5]:
        return f"held: {held[0]}"
    if queued:
        return f"waiting: {[ad['JobStatus'] for ad in queued]}" if late else ""
    ended = pool.history(f"ClusterId == {cluster}")
    codes = [ad.get("ExitCode") if ad["JobStatus"] == 4 else "removed" for ad in ended]
    return ("completed" if set(codes) == {0} else f"failed: {codes}") if codes else ""
