"""Why real jobs failed: thirty kinds of failure on real clusters, and the cause that is named."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.support.users import User
from tests.testbed import HtcondorPool, SlurmCluster

_GROW = "python3 -c 'import time; x = bytearray(400 << 20); time.sleep(60)'"


@dataclass(frozen=True)
class Case:
    """A job that fails, and what of the answer names its cause and its fix."""

    script: str
    why: str
    do: str
    options: tuple[str, ...] = field(default=())
    task: str = ""


SLURM = {
    "memory": Case(_GROW, "out of memory", "--mem", ("--mem=100",)),
    "memory of a step": Case(f"srun {_GROW}", "out of memory|killed from outside", "memory",
                             ("--mem=100",)),
    "time": Case("sleep 600", "time limit of 60 s", "--time", ("--time=1",)),
    "deadline": Case("exit 0", "--deadline", "deadline",
                     ("--deadline=now+70", "--time=1", "--hold")),
    "exit code": Case("exit 3", "exit code 3", "first error"),
    "exception": Case("python3 -c 'x = {}\nx[1]'", "KeyError: 1", "input|traceback"),
    "own file": Case("echo 'def f():\n  raise ValueError(7)\nf()' > f$$.py; python3 f$$.py",
                     r"ValueError: 7, at line \d of .*f\d+\.py", "line"),
    "command missing": Case("bwa-mem2 index x.fa", "bwa-mem2.*not (found|available)",
                            "module|path"),
    "not executable": Case("echo 1 > d$$; ./d$$", "permission|execut", r"chmod \+x"),
    "bad interpreter": Case("printf '#!/opt/nope/python\\n' > i$$; chmod +x i$$; ./i$$",
                            "interpreter|/opt/nope/python|not found",
                            "first line|path|interpreter"),
    "line ends": Case(r"printf 'cd /tmp\r\nls\r\n' > w$$.sh; bash w$$.sh",
                      "Windows|carriage", "dos2unix"),
    "syntax": Case("if true; then echo 1", "syntax error", "line|bash -n"),
    "unset variable": Case("set -u; echo $REFERENCE", "REFERENCE", "set|export|default"),
    "file missing": Case("set -e; cat reads.fq", r"reads\.fq", "path|directory|name"),
    "folder missing": Case("set -e; cd /scratch/nope", "/scratch/nope", "path|director|folder"),
    "segmentation fault": Case("kill -SEGV $$", "SIGSEGV|[Ss]egmentation", "debugger|stack"),
    "abort": Case("kill -ABRT $$", "SIGABRT|abort", "output|message"),
    "illegal instruction": Case("kill -ILL $$", "SIGILL|instruction", "processor"),
    "killed": Case("kill -KILL $$", "killed from outside", "memory"),
    "module": Case("module load gromacs; gmx mdrun", "module", "bash -l|init|source|login"),
    "disk full": Case("cat /etc/passwd > /dev/full", "[Nn]o space left|full", "quota|space|delete"),
    "library missing": Case(
        "sed s/libtinfo.so.6/libtinfx.so.6/ /bin/bash > b$$; chmod +x b$$; ./b$$",
        r"lib\w+\.so.* missing|missing.*lib\w+\.so|shared library", "module|LD_LIBRARY_PATH"),
    "import": Case("python3 -c 'import scanpy'", "scanpy", "install|environment"),
    "memory refused": Case("ulimit -v 200000; python3 -c 'bytearray(1 << 30)'", "memory", "--mem"),
    "stopped": Case("kill -TERM $$", "SIGTERM|asked to stop|terminated", "limit|cancel|preempt"),
    "task of an array": Case("exit $SLURM_ARRAY_TASK_ID", "exit code 2", "first error",
                             ("--array=2",), "_2"),
    "rank": Case("srun -n2 sh -c 'exit $((SLURM_PROCID * 5))'", "srun|exit code 5", "first error",
                 ("-n2",)),
    "no program for srun": Case("srun ./nope.exe", "nope.exe|not found|execve", "path|name"),
}  # fmt: skip
CONDOR = {
    "exit code": Case("exit 3", "exit code 3", "first error"),
    "signal": Case("kill -SEGV $$", "SIGSEGV|[Ss]egmentation", "debugger|stack"),
    "exception": Case("python3 -c 'import scanpy' >&2", "scanpy", "install|environment"),
    "command missing": Case("bwa-mem2 index x.fa", "bwa-mem2.*not (found|available)",
                            "module|path"),
    "removed by its policy": Case("sleep 600", "policy|time limit", "",
                                  ("periodic_remove=JobStatus == 2",)),
}  # fmt: skip
RIGHT = 0.9
"""Share of the causes and of the cures that are to be named."""


def _judge(user: User, cases: dict[str, Case], jobs: dict[str, str]) -> None:
    wrong = []
    for name, case in cases.items():
        said = re.sub(r"\s+", " ", user.run("why", jobs[name] + case.task).stdout)
        why, _, fix = said.partition(" to do ")
        if not re.search(case.why, why) or not re.search(case.do, fix):
            wrong.append(f"{name}: {said}")
    assert len(wrong) <= (1 - RIGHT) * len(cases), "\n".join(wrong)


@pytest.fixture
def own_cluster(bed_ready: None) -> Iterator[SlurmCluster]:
    """A cluster of its own: one of its nodes fails."""
    with SlurmCluster() as cluster:
        yield cluster


def test_causes_of_failures_of_slurm(own_cluster: SlurmCluster, tmp_path: Path) -> None:
    jobs = {name: own_cluster.submit(case.script, *case.options) for name, case in SLURM.items()}
    cancelled = own_cluster.submit("sleep 600")
    lost = own_cluster.submit("sleep 600", "--no-requeue")
    own_cluster.wait_running(cancelled)
    own_cluster.cancel(cancelled, user="alice")
    own_cluster.wait_running(lost)
    (node,) = re.findall(r"NodeList=([\w-]+)", own_cluster.run("scontrol", "show", "job", lost))
    for name in SLURM:
        own_cluster.wait_accounted(jobs[name], timeout=240)
    own_cluster.run("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
    own_cluster.wait_accounted(lost)
    cases = SLURM | {
        "cancelled": Case("", "cancelled", "submit"),
        "machine lost": Case("", "machine failed", "again"),
    }
    alice = User("alice", own_cluster.bin, tmp_path)
    _judge(alice, cases, jobs | {"cancelled": cancelled, "machine lost": lost})


def test_causes_of_failures_of_htcondor(condor_pool: HtcondorPool, tmp_path: Path) -> None:
    work = condor_pool.folder / "work"
    jobs: dict[str, int] = {}
    for number, (name, case) in enumerate(CONDOR.items()):
        commands: dict[str, Any] = dict(option.split("=", 1) for option in case.options)
        err, out = (work / f"why-{number}.{kind}" for kind in ("err", "out"))
        jobs[name] = condor_pool.submit(case.script, error=err, output=out, **commands)
    for cluster in jobs.values():
        condor_pool.wait(cluster, timeout=120)
    alice = User("alice", condor_pool.bin, tmp_path, eventlog__paths="[]")
    _judge(alice, CONDOR, {name: f"{cluster}.0" for name, cluster in jobs.items()})
