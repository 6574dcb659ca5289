"""What real jobs used, of several tasks, steps, nodes and array tasks, as `jobsight job` shows it.

A program of the jobs writes down the CPU time that the kernel counted for it, as time(1) does.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.limits import limit, prove
from tests.support.users import User
from tests.testbed import HtcondorPool, SlurmCluster
from tests.testbed.namespace import until

_PROGRAM = """
my ($size, $cpu, $wall, $file) = @ARGV;
my ($begun, $memory) = (time, "");
sub used { my ($user, $system) = times; return $user + $system }
vec($memory, $size * 1048576 - 1, 8) = 1;
while (used() < $cpu) { 1 for 1 .. 10000 }
sleep 1 while time - $begun < $wall;
open(my $stream, ">>", $file);
printf $stream "%.2f\\n", used();
"""
_OWN_MB = 30
"""At most, of an interpreter, a shell or srun."""
_SHORT = (3.0, 5.0)
"""CPU seconds and the least wall seconds of each process."""

Program = Callable[[str, int], str]


def program(folder: Path, lengths: tuple[float, float]) -> Program:
    """Gives the command of a process that notes its CPU time under a name, and takes so many MB."""
    (folder / "program.pl").write_text(_PROGRAM)
    (folder / "noted").mkdir(mode=0o777, exist_ok=True)
    (folder / "noted").chmod(0o777)
    cpu, wall = lengths
    return lambda name, size: f"perl {folder}/program.pl {size} {cpu} {wall} {folder}/noted/{name}"


def noted(folder: Path, name: str) -> float:
    return sum(map(float, (folder / "noted" / name).read_text().split()))


def check(shown: dict[str, Any], cpu_s: float, memory_mb: int, processes: int) -> dict[str, Any]:
    """Compare what a job shows with its CPU time and memory as they were; its share and request."""
    used: dict[str, Any] = shown["usage"]
    whole = 2.0 if shown["id"].startswith("htcondor:") else 0.5  # it cuts two numbers to seconds
    assert used["cpu_s"] == pytest.approx(cpu_s, rel=0.05, abs=whole)
    assert memory_mb <= used["memory_mb"] <= memory_mb + _OWN_MB * processes
    efficiency: dict[str, Any] = shown["efficiency"]
    assert "sampled" in efficiency["measured"]
    share = used["cpu_s"] / (used["wall_s"] * used["cpus"])
    assert efficiency["cpu_share"] == pytest.approx(share, abs=0.001)
    request: dict[str, Any] = efficiency["would_fit"]["request"]
    return request


@pytest.mark.parametrize("lengths", [_SHORT, pytest.param((15.0, 62.0), marks=prove)])
def test_slurm_jobs_of_several_tasks_steps_and_nodes(
    cluster: SlurmCluster, tmp_path: Path, lengths: tuple[float, float]
) -> None:
    folder = cluster.folder / "work"
    run = program(folder, lengths)
    tasks = f"srun -n4 {run('$SLURM_JOB_ID', 60)}"
    steps = [f"srun --exact -n1 {run('$SLURM_JOB_ID', size)}" for size in (40, 90)]
    name = f"--job-name=usage{lengths[0]}"
    mpi = cluster.submit(tasks, "-n4", "--mem-per-cpu=200", name)
    at_once = cluster.submit(" & ".join([*steps, "wait"]), "-n2", "--mem-per-cpu=200", f"{name}a")
    in_turn = cluster.submit("\n".join(steps), "-n2", "--mem=300", f"{name}b")
    nodes = cluster.submit(f"srun {run('$SLURM_JOB_ID', 60)}", "-N2", "-n3", f"{name}c")
    array = cluster.submit(
        run("$SLURM_JOB_ID", 50), "--array=0-1", "-c2", "--mem=200", "--time=9", f"{name}d"
    )
    jobs = [mpi, at_once, in_turn, nodes, array]
    for job in jobs:
        cluster.wait(job, timeout=limit(240))
        cluster.wait_accounted(job)
    alice = User("alice", cluster.bin, tmp_path)

    def shown(job: str) -> dict[str, Any]:
        """Once its steps are in the accounting, which may be after its own end is."""

        def measured() -> dict[str, Any]:
            found: dict[str, Any] = alice.json("job", f"slurm:{cluster.name}:{job}")
            return found if "memory_mb" in found["usage"] else {}

        return until(measured, f"the memory of {job}", timeout=limit(60))

    request = check(shown(mpi), noted(folder, mpi), 4 * 60, 6)
    assert 60 * 1.2 <= int(request["--mem-per-cpu"].removesuffix("M")) <= 200
    assert "4 tasks" in alice.run("job", mpi).stdout
    check(shown(at_once), noted(folder, at_once), 40 + 90, 6)
    check(shown(in_turn), noted(folder, in_turn), 90, 4)
    spread = shown(nodes)
    check(spread, noted(folder, nodes), 2 * 60, 4)
    assert spread["usage"]["total_memory_mb"] >= 3 * 60
    raw = {row["JobID"]: row["JobIDRaw"]
           for row in cluster.accounted("-j", array, fields="JobID,JobIDRaw")}  # fmt: skip
    for task in (f"{array}_0", f"{array}_1"):
        request = check(shown(task), noted(folder, raw[task]), 50, 2)
        assert request["--cpus-per-task"] == "1"
        assert 50 * 1.2 <= int(request["--mem"].removesuffix("M")) <= 200


@prove
def test_a_slurm_job_out_of_time_is_not_asked_for_less(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    job = cluster.submit("sleep 300", "--partition=short", "--time=1")
    cluster.wait_for(job, lambda state: state == "TIMEOUT", "to time out", timeout=limit(180))
    cluster.wait_accounted(job)
    fit = User("alice", cluster.bin, tmp_path).json("job", job)[0]["efficiency"]["would_fit"]
    assert (fit["runs"], [*fit["request"]]) == (0, ["--time"])
    assert fit["request"]["--time"] > "00:01:30"


@pytest.mark.parametrize("lengths", [_SHORT, pytest.param((62.0, 62.0), marks=prove)])
def test_an_htcondor_job(bed_ready: None, tmp_path: Path, lengths: tuple[float, float]) -> None:
    # Without cgroups the starter's figures are as old as its last look at the processes.
    with HtcondorPool(settings=["PID_SNAPSHOT_INTERVAL = 1"]) as pool:
        folder = pool.folder / "work"
        job = pool.submit(
            program(folder, lengths)("one", 80), request_memory="400", request_cpus="2"
        )
        pool.wait(job, timeout=limit(240))
        alice = User("alice", pool.bin, tmp_path)
        shown = alice.json("job", f"{job}.0")
        request = check(shown, noted(folder, "one"), 80, 2)
    assert request["request_cpus"] == "1"
    assert 80 * 1.2 <= int(request["request_memory"]) <= 400
