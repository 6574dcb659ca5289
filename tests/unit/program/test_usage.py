"""What a job used of what it asked for, and the request that would have fitted."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.storedjobs import START, job, told

from jobsight.documents import JobDocument, Request, State, Submission, Usage, condor_id, slurm_id
from jobsight.program.usage import amounts, fitted, measured, usage_fields

NOW = START + 10**12


def ended(
    state: State = State.COMPLETED, *, id_: str = slurm_id("grid", "7"), ran: int = 600,
    line: str = "sbatch -n1 job.sh", used: dict[str, Any] | None = None, **asked: Any,
) -> JobDocument:  # fmt: skip
    """A job that ran for so many seconds of the hour that it asked for."""
    request = {"cpus": 1, "memory_mb": 4000, "time_limit_s": 3600, "nodes": 1, **asked}
    usage = {"cpus": request["cpus"], "memory_mb": 1000, "wall_s": float(ran), **(used or {})}
    return job(
        id_, told(0, State.RUNNING), told(ran, state),
        request=Request(**request), usage=Usage(**usage),
        submission=Submission(user="ann", name="sim", line=line),
    )  # fmt: skip


def options(document: JobDocument, *like: JobDocument) -> dict[str, str]:
    fit = fitted(document, like, NOW)
    return {} if fit is None else dict(fit.options)


def other(document: JobDocument, at: int, **changes: Any) -> JobDocument:
    return ended(id_=slurm_id("grid", str(100 + at)), **changes)


@pytest.mark.parametrize(
    ("line", "asked", "used", "expected"),
    [
        ("sbatch job.sh", {}, {}, {"--mem": "1200M", "--time": "00:12:00"}),
        ("sbatch -n4 --mem-per-cpu=1000 job.sh", {"cpus": 4}, {"tasks": 4},
         {"--mem-per-cpu": "300M", "--time": "00:12:00"}),
        ("/usr/bin/sbatch --mem-per-gpu=2G x", {"gpus": 2}, {"gpus": 2},
         {"--mem-per-gpu": "600M", "--time": "00:12:00"}),
        ("sbatch -N2 --mem=2G x", {"nodes": 2}, {"nodes": 2, "total_memory_mb": 1900},
         {"--mem": "1200M", "--time": "00:12:00"}),
        # One of four CPUs does not get a quarter of the memory.
        ("sbatch -c4 --mem-per-cpu=1000 job.sh", {"cpus": 4}, {"task_cpus": 0.98},
         {"--mem-per-cpu": "1200M", "--time": "00:12:00", "--cpus-per-task": "1"}),
        # On fewer CPUs, of which several were busy, how long it takes is not known.
        ("sbatch -c8 job.sh", {"cpus": 8}, {"task_cpus": 3.4},
         {"--mem": "1200M", "--cpus-per-task": "4"}),
        ("sbatch -c4 job.sh", {"cpus": 4}, {"task_cpus": 3.2},
         {"--mem": "1200M", "--time": "00:12:00"}),
        ("sbatch -n8 job.sh", {"cpus": 8}, {"task_cpus": 1.0},
         {"--mem": "1200M", "--time": "00:12:00", "--ntasks": "1"}),
        ("sbatch -n8 job.sh", {"cpus": 8}, {"task_cpus": 1.0, "tasks": 8},
         {"--mem": "1200M", "--time": "00:12:00"}),
        ("sbatch 'job.sh", {"memory_mb": 1100, "time_limit_s": 660}, {},
         {"--mem": "1100M", "--time": "00:11:00"}),
        ("", {"time_limit_s": -1, "memory_mb": None}, {},
         {"--mem": "1200M", "--time": "00:12:00"}),
    ],
)  # fmt: skip
def test_the_request_that_would_fit_in_the_form_in_which_it_was_asked(
    line: str, asked: dict[str, Any], used: dict[str, Any], expected: dict[str, str]
) -> None:
    assert options(ended(line=line, used=used, **asked)) == expected


def test_nothing_is_lowered_for_what_did_not_complete() -> None:
    assert options(ended(State.FAILED)) == {}
    assert options(ended(State.CANCELLED, cpus=4, used={"task_cpus": 1.0})) == {}
    killed = ended(State.OUT_OF_MEMORY, memory_mb=1000, used={"memory_mb": 990, "task_cpus": 0.1})
    assert options(killed) == {"--mem": "1500M"}
    assert "0.977 GB did not suffice" in str(fitted(killed, [], NOW))
    assert options(ended(State.TIMEOUT, ran=3620)) == {"--time": "01:40:00"}
    running = job(slurm_id("grid", "7"), told(0, State.RUNNING), usage=Usage(memory_mb=5))
    assert options(running) == {}


def test_several_runs_of_a_name_give_the_largest() -> None:
    mine = ended()
    like = [other(mine, at, ran=60 * at, used={"memory_mb": 500 * at}) for at in range(1, 6)]
    fit = fitted(mine, [mine, *like], NOW)
    assert fit is not None
    assert fit.options == {"--mem": "3000M", "--time": "00:12:00"}
    assert "the largest of 6 runs of its name" in str(fit)
    late = ended(State.TIMEOUT, time_limit_s=240, ran=250)
    assert options(late, *like) == {"--mem": "4000M", "--time": "00:06:00"}
    small = other(mine, 9, state=State.OUT_OF_MEMORY, memory_mb=2900)
    assert options(mine, *like, small)["--mem"] == "4400M"


@given(
    st.lists(st.tuples(st.sampled_from([*State][4:]), *[st.integers(1, 5000)] * 4), min_size=1),
)  # fmt: skip
def test_it_is_never_below_what_was_used_or_did_not_suffice(runs: list[Any]) -> None:
    documents = [
        other(ended(), at, state=state, ran=ran, used={"memory_mb": peak}, memory_mb=memory,
              time_limit_s=limit)
        for at, (state, ran, peak, memory, limit) in enumerate(runs)
    ]  # fmt: skip
    found = options(*documents)
    if "--mem" in found:
        size = int(found["--mem"].rstrip("MG")) * (1024 if "G" in found["--mem"] else 1)
        assert size >= max(peak for _, _, peak, _, _ in runs)
        assert size > max((m for s, _, _, m, _ in runs if s is State.OUT_OF_MEMORY), default=0)
    if "--time" in found:
        hours, minutes, _ = map(int, found["--time"].split(":"))
        assert hours * 3600 + minutes * 60 >= max(ran for _, ran, _, _, _ in runs)


def test_the_commands_of_htcondor() -> None:
    asked: dict[str, Any] = {
        "id_": condor_id("ap", 7, 0),
        "line": "",
        "cpus": 4,
        "nodes": None,
        "disk_mb": 900,
    }
    mine = ended(used={"task_cpus": 1.4, "disk_mb": 20}, **asked)
    fit = fitted(mine, [], NOW)
    assert fit is not None
    shown = "request_memory = 1200, request_cpus = 2 (from one run"
    assert str(fit).startswith(shown)
    assert measured(mine) == "memory sampled by HTCondor's starter"


def test_what_was_used_of_what_was_asked() -> None:
    mpi = ended(
        line="sbatch -N2 -n8 x", cpus=8, nodes=2, gpus=2, memory_mb=8000,
        used={"nodes": 2, "cpus": 16, "memory_mb": 3000, "total_memory_mb": 5000, "cpu_s": 4800.0,
              "tasks": 8, "gpus": 2, "memory_by": "jobacct_gather/linux every 30 s"},
    )  # fmt: skip
    rows = {row.name: row[1:] for row in amounts(mpi, NOW)}
    assert rows["ran"] == ("60 min", "10 min", "17 %")
    assert rows["memory"] == ("7.81 GB", "4.88 GB", "62 %")
    assert rows["memory of a node"] == ("3.91 GB", "2.93 GB", "75 %")
    assert rows["cpu time"] == ("–", "80 min", "50 % of 16 cpus")
    assert rows["gpus busy"] == ("2", "not measured", "")
    how = measured(mpi)
    assert how is not None
    assert how.startswith("memory sampled by Slurm's accounting (jobacct_gather/linux every 30 s)")
    assert "16 CPUs for 8: each thread of a whole core counts" in how
    fields = usage_fields(mpi, fitted(mpi, [], NOW), NOW)
    assert (fields["cpu_share"], fields["memory_share"]) == (0.5, 0.625)
    assert fields["would_fit"]["request"] == {"--mem": "3600M", "--time": "00:12:00"}
    busy = ended(gpus=2, used={"gpus": 2, "gpus_busy": 0.5, "gpu_memory_mb": 900})
    assert {row.name: row.share for row in amounts(busy, NOW)}["gpus busy"] == "25 %"
