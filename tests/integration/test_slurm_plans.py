"""Plans on real Slurm: 24.11, and for `make prove` 22.05."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from tests.support.limits import prove
from tests.testbed import namespace
from tests.testbed.slurm import SlurmCluster

from jobsight.cluster import (
    Node,
    NodeState,
    Option,
    Plan,
    PlanStatus,
    Program,
    Resources,
    Scheduler,
    Stage,
)
from jobsight.cluster.slurm import Slurm
from jobsight.errors import ClusterError
from jobsight.settings import SlurmSettings
from jobsight.testing import SchedulerContract

HOSTILE = 'it\'s "é" %A %d $(id) #b'
SMALL = Resources(memory_mb=64)
PROGRAM = r"""
verb=$1
echo "$verb" >> order
case $verb in
    save) trap 'echo saved >> order; exit 85' USR1
          [ ! -e save ] || exit 0
          : > save; sleep 600 & wait $! ;;
    stay) [ ! -e stay ] || exit 0
          : > stay; exec sleep 600 ;;
    hold) exec sleep 600 ;;
    linger) while [ ! -e go ]; do sleep 0.2; done ;;
    fail) [ -e mended ] || { echo "it broke" >&2; exit 3; } ;;
    eat) all=$(head -c 150m /dev/zero | tr '\0' x); sleep 30; echo "${#all}" ;;
    env) env > seen ;;
esac
"""


@pytest.fixture(autouse=True)
def nodes_may_write() -> Iterator[None]:
    """Jobs run as alice in folders that this process makes."""
    before = os.umask(0)
    yield
    os.umask(before)


_NUMBERS = itertools.count()


def folder_of(cluster: SlurmCluster, name: str = HOSTILE) -> Path:
    folder = cluster.folder / "work" / f"{next(_NUMBERS)} {name}"
    folder.mkdir()
    return folder


def slurm(cluster: SlurmCluster) -> Slurm:
    return Slurm(SlurmSettings(bin=cluster.bin))


def planned(
    cluster: SlurmCluster,
    *stages: tuple[Node, ...],
    options: Mapping[str, Option] | None = None,
    name: str = HOSTILE,
) -> Plan:
    folder = folder_of(cluster, name)
    (folder / "program.sh").write_text(PROGRAM)
    return Plan(
        f"plan{next(_NUMBERS)}",
        folder,
        tuple(Stage(f"s{number}", nodes) for number, nodes in enumerate(stages)),
        Program(("/bin/sh", str(folder / "program.sh"))),
        shared=True,
        options={"slurm": options or {}},
    )


def node(verb: str, *, name: str | None = None, retries: int = 0, asks: Resources = SMALL) -> Node:
    saves = verb in ("save", "stay")
    return Node(name or verb, (verb,), (), (), asks, retries, saves)


def until(
    scheduler: Slurm, plan: Plan, true: Callable[[PlanStatus], bool], seconds: float = 60
) -> PlanStatus:
    def ask() -> list[PlanStatus]:
        status = scheduler.status(plan)
        return [status] if true(status) else []

    return namespace.until(ask, plan.name, timeout=seconds, pause=0.2)[0]


def ended(status: PlanStatus) -> bool:
    return not status.active


class TestSlurm(SchedulerContract):
    @pytest.fixture(autouse=True)
    def places(self, slurm_cluster: SlurmCluster) -> None:
        self.cluster = slurm_cluster

    def new_scheduler(self) -> Scheduler:
        return slurm(self.cluster)

    def new_folder(self) -> Path:
        return folder_of(self.cluster)


class TestSlurm2205(SchedulerContract):
    @pytest.fixture(autouse=True)
    def places(self, slurm_2205: SlurmCluster) -> None:
        self.cluster = slurm_2205

    new_scheduler = TestSlurm.new_scheduler
    new_folder = TestSlurm.new_folder


def test_sbatch_reads_every_script(cluster: SlurmCluster) -> None:
    wide = Resources(cpus=2, memory_mb=500, seconds=90)
    options: dict[str, Option] = {"partition": "main", "account": "science", "nice": "5"}
    options |= {"mail-user": "a.b@example.org", "mail-type": ["FAIL", "END"]}
    options |= {"begin": "now+60"}
    stages = (node("save"), node("x", asks=wide), node("y", asks=wide)), (node("z"),)
    plan = planned(cluster, *stages, options=options)
    scripts = slurm(cluster).write(plan)
    assert [path.name for path in scripts] == ["00-s0-1.sh", "01-s0-2.sh", "02-s1.sh"]
    for path in scripts:
        test = ("sbatch", "--test-only", f"--chdir={plan.folder}", "--array=0-1%1")
        cluster.run(*test, str(path), "0", "x/1", user="alice")
    number = slurm(cluster).submit(plan)
    told = cluster.run("scontrol", "-o", "show", "job", number.split(",")[1])
    slurm(cluster).cancel(plan)
    assert "TimeLimit=00:02:00" in told
    assert f"WorkDir={plan.folder}" in told


def test_told_to_save_or_requeued_it_goes_on(cluster: SlurmCluster) -> None:
    plan = planned(cluster, (node("save"), node("stay")), (node("last"),))
    scheduler = slurm(cluster)
    scheduler.submit(plan)
    both = {plan.folder / "save", plan.folder / "stay"}
    status = until(scheduler, plan, lambda _: all(path.exists() for path in both))
    jobs = {name: status.nodes[name].job or "" for name in ("save", "stay")}
    cluster.run("scancel", "--batch", "--signal=USR1", jobs["save"])  # as before the time limit
    cluster.requeue(jobs["stay"])
    status = until(scheduler, plan, ended)
    assert {one.state for one in status.nodes.values()} == {NodeState.DONE}
    assert [one.attempts for one in status.nodes.values()] == [2, 2, 1]
    order = (plan.folder / "order").read_text().split()
    assert sorted(order[:5]) == ["save", "save", "saved", "stay", "stay"]
    assert order[5:] == ["last"]


def test_a_task_requeued_held_though_it_is_done_is_named(cluster: SlurmCluster) -> None:
    plan = planned(cluster, (node("env"), node("linger")), (node("last"),))
    task = slurm(cluster).submit(plan).split(",")[0] + "_0"
    cluster.wait(task)
    assert slurm(cluster).status(plan).nodes["env"].state is NodeState.DONE
    cluster.run("scontrol", "requeuehold", task)
    (plan.folder / "go").touch()
    held = until(slurm(cluster), plan, lambda now: now.nodes["linger"].state is NodeState.DONE)
    release = f"scontrol release {task}"
    assert held.nodes["env"].state is NodeState.HELD
    assert held.nodes["env"].cause == f"job requeued in held state; release it with: {release}"
    assert held.nodes["last"].state is NodeState.WAITING
    assert held.active
    cluster.run(*release.split())
    done = until(slurm(cluster), plan, ended)
    assert {one.state for one in done.nodes.values()} == {NodeState.DONE}


def test_what_slurm_refuses_leaves_nothing_behind(slurm_cluster: SlurmCluster) -> None:
    plan = planned(slurm_cluster, (node("x"),), (node("y", asks=Resources(memory_mb=10**9)),))
    scheduler = slurm(slurm_cluster)
    with pytest.raises(ClusterError, match=r"sbatch: .*([Mm]emory|configuration)"):
        scheduler.submit(plan)
    until(scheduler, plan, ended)
    assert plan.name not in slurm_cluster.run("squeue", "-h", "-o", "%j")
    mended = Plan(
        plan.name, plan.folder, plan.stages, plan.program, shared=True,
        options={"slurm": {"partition": "none"}},
    )  # fmt: skip
    with pytest.raises(ClusterError, match="invalid partition"):
        scheduler.submit(mended)


def test_jobs_of_a_killed_submission_are_found(slurm_cluster: SlurmCluster) -> None:
    plan = planned(slurm_cluster, (node("hold"),))
    scheduler = slurm(slurm_cluster)
    number = scheduler.submit(plan)
    record = plan.folder / "submitted/slurm/jobs.json"
    told = json.loads(record.read_text())
    record.write_text(json.dumps(told | {"arrays": {}, "complete": False}))
    with pytest.raises(ClusterError, match=f"is active .jobs {number}"):
        scheduler.submit(plan)
    scheduler.cancel(plan)
    until(scheduler, plan, lambda _: not slurm_cluster.run("squeue", "-h", "-j", number).strip())


def test_keys_stay_where_they_are(
    slurm_cluster: SlurmCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "local-secret")
    monkeypatch.setenv("JOBSIGHT_STORE_PASSWORD", "local-secret")
    plan = planned(slurm_cluster, (node("env"),))
    scheduler = slurm(slurm_cluster)
    scheduler.submit(plan)
    until(scheduler, plan, ended)
    seen = (plan.folder / "seen").read_text()
    assert "local-secret" not in seen
    assert "OMP_NUM_THREADS=1" in seen
    for path in (plan.folder / "submitted").rglob("*"):
        assert path.is_dir() or "local-secret" not in path.read_text()


def test_without_accounts_and_with_small_arrays(bed_ready: None) -> None:
    few = ("MaxArraySize=4",)
    with SlurmCluster(accounting=False, min_job_age=2, settings=few, name="small") as cluster:
        nodes = tuple(node("x", name=f"x{number}") for number in range(9))
        plan = planned(cluster, (*nodes, node("fail")), (node("last"),))
        scheduler = slurm(cluster)
        assert len(scheduler.submit(plan).split(",")) == 4
        until(scheduler, plan, ended)
        number = scheduler.status(plan).nodes["x0"].job or ""
        until(scheduler, plan, lambda _: not cluster.states(number.split("_")[0]))
        scheduler.client.calls.clear()
        status = scheduler.status(plan)
        assert scheduler.client.calls["squeue"] == 1
        assert status.nodes["fail"].state is NodeState.FAILED
        assert status.nodes["fail"].cause == "ended with status 3: it broke"
        assert status.nodes["last"].state is NodeState.WAITING
        assert all(status.nodes[one.name].state is NodeState.DONE for one in nodes)
        (plan.folder / "mended").touch()
        assert len(scheduler.submit(plan).split(",")) == 2
        status = until(scheduler, plan, ended)
        assert {one.state for one in status.nodes.values()} == {NodeState.DONE}


def test_a_node_that_slurm_kills_says_so(slurm_cluster: SlurmCluster) -> None:
    greedy = Resources(memory_mb=30)
    plan = planned(slurm_cluster, (node("eat", asks=greedy),), (node("last"),), name="it's")
    scheduler = slurm(slurm_cluster)
    scheduler.submit(plan)
    status = until(scheduler, plan, ended)
    assert status.nodes["eat"].state is NodeState.FAILED
    assert "memory" in (status.nodes["eat"].cause or "")
    assert status.nodes["last"].state is NodeState.WAITING
    scheduler.client.calls.clear()
    scheduler.status(plan)
    assert sum(scheduler.client.calls.values()) <= 2


@prove
def test_it_saves_before_its_time_is_over(cluster: SlurmCluster) -> None:
    minute = Resources(memory_mb=64, seconds=60)
    stages = (node("save", asks=minute), node("hold", asks=minute)), (node("last"),)
    plan = planned(cluster, *stages)
    scheduler = slurm(cluster)
    scheduler.submit(plan)
    status = until(scheduler, plan, ended, 240)
    assert status.nodes["save"].state is NodeState.DONE
    assert status.nodes["save"].attempts == 2
    assert status.nodes["hold"].state is NodeState.FAILED
    assert "over its time limit" in (status.nodes["hold"].cause or "")
    assert status.nodes["last"].state is NodeState.WAITING


@prove
def test_a_dead_machine_is_left(bed_ready: None) -> None:
    with SlurmCluster(name="dying") as cluster:
        plan = planned(cluster, (node("stay"),), (node("last"),))
        scheduler = slurm(cluster)
        scheduler.submit(plan)
        status = until(scheduler, plan, lambda _: (plan.folder / "stay").exists())
        where = status.nodes["stay"].where or "node1"
        cluster.kill_node(where)
        status = until(scheduler, plan, ended, 180)
        assert {one.state for one in status.nodes.values()} == {NodeState.DONE}
        assert status.nodes["stay"].where != where
