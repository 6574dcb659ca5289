"""Jobs that share nodes of a real Slurm: what tokens change, against exclusive nodes and packing.

A node is one core with two slots, and a disk of 30 MB/s. Half of the jobs compute, half write to
the disk past the page cache. Network and memory bandwidth are left out: all nodes here have one
loopback, and two cores hardly contend for memory.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from tests.support.limits import prove
from tests.testbed.fixtures import python_folders
from tests.testbed.namespace import until
from tests.testbed.slurm import SlurmCluster

from jobsight.acting.sharing.policy import said_by
from jobsight.acting.sharing.vectors import Node, Vector, of_node, of_time
from jobsight.answering.session import AnswerSession
from jobsight.documents import JobDocument, Submission
from jobsight.questions.bound.answering import BOUND_ANSWERS
from jobsight.settings import Settings

pytestmark = [pytest.mark.slow, prove]

JOBS, SECONDS, MB_S = 24, 8.0, 30
TOKENS = ("cpu", "diskbw")
NODE = Node(cpus=1, saturating=1.0)
PROGRAMS = {
    "compute": "total = 0\nfor i in range({units}):\n    total += sum(range(20_000))\n",
    "write": (
        "import mmap, os\nblock = mmap.mmap(-1, 1 << 20)\n"
        "file = os.open('out-%d' % os.getpid(), os.O_WRONLY | os.O_CREAT | os.O_DIRECT)\n"
        "for i in range({units}):\n    os.pwrite(file, block, (i % 16) << 20)\n"
        "os.unlink('out-%d' % os.getpid())\n"
    ),
}


class Run(NamedTuple):
    """A job of an arm: what it ran, and when."""

    kind: str
    node: str
    begun: float
    ended: float


def _put_into(cgroup: str, pid: int, values: Mapping[str, str]) -> None:
    """Create a cgroup v1 with these values and put a process into it."""
    folder = Path("/sys/fs/cgroup") / cgroup
    folder.mkdir(exist_ok=True)
    for name, value in values.items():
        (folder / name).write_text(value)
    (folder / "cgroup.procs").write_text(str(pid))


def _pid_of(slurm: SlurmCluster, node: str) -> int:
    words = f"slurmd\0-D\0-N\0{node}\0"
    return next(
        pid
        for pid in slurm.namespace.processes()
        if Path(f"/proc/{pid}/cmdline").read_text() == words
    )


@pytest.fixture(scope="module")
def cluster(bed_ready: None) -> Iterator[SlurmCluster]:
    """Two nodes of one core and two slots each, with a slow disk."""
    gres = "".join(f"Name={name} Count=100 Flags=CountOnly\n" for name in TOKENS)
    settings = [
        f"GresTypes={','.join(TOKENS)}",
        "NodeName=DEFAULT Gres=" + ",".join(f"{name}:100" for name in TOKENS),
        "PartitionName=two Nodes=node1,node2 State=UP MaxTime=60 DefaultTime=10",
    ]
    slurm = SlurmCluster(
        nodes=2, cpus=2, accounting=False, settings=settings, files={"gres.conf": gres},
        shows=python_folders(),
    )  # fmt: skip
    with slurm:
        device = slurm.folder.stat().st_dev
        limit = f"{os.major(device)}:{os.minor(device)} {MB_S << 20}"
        cores = sorted(os.sched_getaffinity(0))[:2]
        for number, core in enumerate(cores, 1):
            pid = _pid_of(slurm, f"node{number}")
            _put_into(f"blkio/jobsight-{number}", pid, {"blkio.throttle.write_bps_device": limit})
            cpuset = {"cpuset.cpus": str(core), "cpuset.mems": "0"}
            _put_into(f"cpuset/jobsight-{number}", pid, cpuset)
        yield slurm


class Sharing:
    """Arms of one cluster, with the same jobs."""

    def __init__(self, cluster: SlurmCluster) -> None:
        self.cluster = cluster
        self.work = cluster.folder / "work"
        self.alone: dict[str, float] = {}
        self._write("compute", 1000)
        self._write("write", 60)
        took = {kind: self._once(kind) for kind in PROGRAMS}
        self._write("compute", round(1000 * SECONDS / took["compute"]))
        self._write("write", round(60 * SECONDS / took["write"]))
        self.launch = self._launch()

    def _write(self, kind: str, units: int) -> None:
        (self.work / f"{kind}.py").write_text(PROGRAMS[kind].replace("{units}", str(units)))

    def script(self, kind: str) -> str:
        """The batch script of a kind of job."""
        return f"python3 {self.work}/{kind}.py\n"

    def submit(self, kind: str, *options: str) -> str:
        """A held job, that writes down where and when it runs."""
        note = f'echo "{kind} $SLURMD_NODENAME $(date +%s.%N)'
        script = f'{note}" >$SLURM_JOB_ID.run\n{self.script(kind)}{note}" >>$SLURM_JOB_ID.run'
        options = ("--hold", "--mem=50", "--partition=two", *options)
        return self.cluster.submit(f"cd {self.work}\n{script}", *options)

    def finished(self, jobs: list[str]) -> list[Run]:
        """Release the jobs, and wait for their ends."""
        for at in range(0, len(jobs), 8):
            self.cluster.run("scontrol", "release", ",".join(jobs[at : at + 8]))
        files = [self.work / f"{job}.run" for job in jobs]
        ended = lambda: all(  # noqa: E731
            file.exists() and file.read_text().count("\n") == 2 for file in files
        )
        until(ended, "the jobs to end", timeout=600)
        runs = []
        for file in files:
            (kind, node, begun), (*_, end) = map(str.split, file.read_text().splitlines())
            runs.append(Run(kind, node, float(begun), float(end)))
        return runs

    def _once(self, kind: str) -> float:
        (run,) = self.finished([self.submit(kind, "--exclusive")])
        return run.ended - run.begun

    def _launch(self) -> float:
        """Seconds from the end of a job to the begin of the next one on a node."""
        where = ("--exclusive", "--nodelist=node1")
        first, second = self.finished([self.submit("compute", *where) for _ in range(2)])
        return max(first.begun, second.begun) - min(first.ended, second.ended)

    def arm(self, seed: int, options: Callable[[str, random.Random], list[str]]) -> list[Run]:
        """The runs of the jobs of a seed, submitted with these options."""
        order = random.Random(seed)
        kinds = [*PROGRAMS] * (JOBS // len(PROGRAMS))
        order.shuffle(kinds)
        return self.finished([self.submit(kind, *options(kind, order)) for kind in kinds])


def _gres(tokens: Mapping[str, int]) -> list[str]:
    counts = [f"{name}:{count}" for name, count in tokens.items() if name in TOKENS]
    return [f"--gres={','.join(counts)}"] if counts else []


def _measured(sharing: Sharing, kind: str) -> dict[str, int]:
    """Tokens by a watched run on a node like those of the cluster."""
    profile = [sys.executable, "-m", "jobsight", "profile", "--json", "--", "python3"]
    words = [*profile, f"{sharing.work}/{kind}.py"]
    limits = "cd /sys/fs/cgroup && echo $$ >blkio/jobsight-1/cgroup.procs && exec"
    line = f'{limits} env -C "$0" "$@"'
    ran = subprocess.run(
        ["sh", "-c", line, str(sharing.work), *words], check=True, capture_output=True
    )
    shares = of_time(json.loads(ran.stdout)["shares"])
    return Vector(of_node(shares, 1, NODE), "").tokens()


def _by_script(sharing: Sharing, kind: str) -> dict[str, int]:
    """Tokens by what `bound` says of the program."""
    session = AnswerSession(BOUND_ANSWERS, None, 0, Settings(), champions=False)
    submission = Submission(script=f"#!/bin/sh\n{sharing.script(kind)}", directory="/")
    document = JobDocument(id="slurm:c:1", updated=0, submission=submission)
    shares = said_by(session.answerer(None).of_document(document))
    return {} if shares is None else Vector(of_node(of_time(shares), 1, NODE), "").tokens()


def test_tokens_let_unlike_jobs_share(
    cluster: SlurmCluster, record_property: Callable[[str, object], None]
) -> None:
    sharing = Sharing(cluster)
    history = {kind: _measured(sharing, kind) for kind in PROGRAMS}
    scripts = {kind: _by_script(sharing, kind) for kind in PROGRAMS}
    arms: dict[str, Callable[[str, random.Random], list[str]]] = {
        "exclusive nodes": lambda _kind, _order: ["--exclusive"],
        "usual packing": lambda _kind, _order: [],
        "random tokens": lambda _kind, order: _gres({order.choice(TOKENS): 90}),
        "tokens by bound": lambda kind, _order: _gres(scripts[kind]),
        "tokens by history": lambda kind, _order: _gres(history[kind]),
        "oracle": lambda kind, _order: _gres({"cpu" if kind == "compute" else "diskbw": 95}),
    }
    seeds = (1, 2)
    runs = {name: [sharing.arm(seed, options) for seed in seeds] for name, options in arms.items()}
    alone = {
        kind: float(np.median([r.ended - r.begun for arm in runs["exclusive nodes"] for r in arm
                               if r.kind == kind]))
        for kind in PROGRAMS
    }  # fmt: skip
    span = {
        name: [max(r.ended for r in arm) - min(r.begun for r in arm) for arm in each]
        for name, each in runs.items()
    }
    lines = ["| arm | seconds of 24 jobs | throughput against exclusive | against packing "
             "| mean slowdown | 95th percentile | slower by over 10 % |"]  # fmt: skip
    lines.append("|---" * 7 + "|")
    gain = {}
    for name, each in runs.items():
        slow = np.array([(r.ended - r.begun) / alone[r.kind] for arm in each for r in arm])
        against = {
            other: np.mean([b / a for a, b in zip(span[name], span[other], strict=True)]) - 1
            for other in ("exclusive nodes", "usual packing")
        }
        gain[name] = against
        lines.append(
            f"| {name} | {', '.join(f'{each:.0f}' for each in span[name])} "
            f"| {against['exclusive nodes']:+.0%} | {against['usual packing']:+.0%} "
            f"| {slow.mean():.2f} | {np.quantile(slow, 0.95):.2f} | {np.mean(slow > 1.1):.0%} |"
        )
    record_property("launch", f"{sharing.launch:.2f} s")
    record_property("alone", ", ".join(f"{kind} {value:.1f} s" for kind, value in alone.items()))
    record_property("tokens", f"by history {history}, by bound {scripts}")
    record_property("arms", "\n".join(lines))
    # Each limit bites: two of a kind on one node take longer than alone.
    packed = [r for arm in runs["usual packing"] for r in arm]
    for kind in PROGRAMS:
        assert max((r.ended - r.begun) / alone[kind] for r in packed if r.kind == kind) > 1.3
    assert gain["oracle"]["exclusive nodes"] > 0.2
