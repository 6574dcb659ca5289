"""Plans run by the real DAGMan: what is written means to it what we mean."""

import contextlib
import json
import os
import random
import re
import signal
import tarfile
import time
from pathlib import Path

import pytest
from tests.integration.dagplans import Work, first_in_path, states
from tests.support.limits import limit, prove
from tests.testbed import HtcondorPool
from tests.testbed.namespace import until
from tests.testbed.sites import SitePool

from jobsight.cluster import NodeState, Plan, Program, Resources, create
from jobsight.cluster.dagman import Dagman
from jobsight.errors import ClusterError


def hostile_words() -> list[str]:
    """Arguments made of what means something to a shell, to submit or to DAGMan."""
    parts = [*"'\"\\$()[]{}#%,;=@*?&|<>~`! ü", "$(JOB)", "$$(Arch)", "$ENV(HOME)", "--", "a", "''"]
    draw = random.Random(1)
    drawn = ["".join(draw.choices(parts, k=draw.randrange(1, 8))) for _ in range(150)]
    return [*parts, *drawn, "", " a ", "-", "$$$", "$$$$(x)", "queue", "\\n"]


@pytest.fixture
def pool(condor_pool: HtcondorPool, monkeypatch: pytest.MonkeyPatch) -> HtcondorPool:
    """The pool, with its tools on the PATH."""
    if isinstance(condor_pool, SitePool):
        pytest.skip("needs the test bed's own pool: its jobs run as another user")
    monkeypatch.setenv("PATH", first_in_path(condor_pool))
    return condor_pool


@pytest.mark.parametrize("shared", [False, True])
def test_three_stages_run_to_the_end(pool: HtcondorPool, shared: bool) -> None:
    work = Work.at(pool, f"three $x 'stages' \"{shared}\"")
    parsed = "history/a $(b) 'c'"
    made = f"{parsed}/told"
    greeting = "a 'b\" $c $$(d)"
    plan = work.plan(
        (work.node("parse", "make", parsed),),
        (
            work.node("run-1", "make", "runs/1", made, inputs=(parsed,), checkpoints=True),
            work.node("run-2", "make", "runs/2", made, inputs=(parsed + "/",), retries=1),
            work.node("say", "say", "said", *hostile_words()),
        ),
        (work.node("best", "make", "best", "runs/1/told", "runs/2/told", inputs=("runs",)),),
        (work.node("register", "make", "models", "best/told", near=True),),
        shared=shared,
        program=Program(("python3", "program.py"), environment={"GREETING": greeting}),
    )
    work.submit(plan)
    status = work.wait(plan)
    assert set(states(status).values()) == {"done"}
    assert not status.active
    assert (status.manager or "").endswith("ended with status 0")
    (register,) = work.told("models")
    assert register["greeting"] == greeting
    assert register["folder"] == str(work.folder)
    assert json.dumps(register["read"]).count("read") == 5  # what each stage read of the former
    (parse,) = work.told(parsed)
    assert (parse["folder"] == str(work.folder)) is shared
    assert work.told("said")[0]["words"] == hostile_words()
    with pytest.raises(ClusterError, match="all 6 nodes of plan work are done"):
        Dagman().submit(plan)


def test_a_node_that_fails_is_started_elsewhere_and_a_plan_goes_on_where_it_stopped(
    pool: HtcondorPool,
) -> None:
    work = Work.at(pool, "goes-on")
    plan = work.plan(
        (
            work.node("flaky", "fail", "flaky", "2", retries=2),
            work.node("stuck", "need", "stuck", "mended", inputs=("given",)),
        ),
        (work.node("last", "make", "last", "flaky/told", inputs=("flaky",)),),
    )
    (work.folder / "given").mkdir()
    work.submit(plan)
    status = work.wait(plan)
    assert states(status) == {"flaky": "done", "stuck": "failed", "last": "waiting"}
    sites = [line["site"] for line in work.told("flaky")]
    assert len(sites) == 3
    assert sites[0] != sites[1] != sites[2]
    assert status.nodes["flaky"].attempts == 3
    assert status.nodes["stuck"].cause == "exit status 1: there is no mended"
    assert status.nodes["stuck"].where == pool.hostname
    assert (status.manager or "").endswith("ended with status 1")

    (work.folder / "stuck/mended").touch()
    mended = work.plan(
        (plan.stages[0].nodes[0], work.node("stuck", "need", "stuck", "stuck/mended")),
        plan.stages[1].nodes,
    )
    work.submit(mended)
    assert set(states(work.wait(mended)).values()) == {"done"}
    assert len(work.told("flaky")) == 3
    assert len(work.told("stuck")) == 2


def test_a_near_node_that_fails_is_given_up(pool: HtcondorPool) -> None:
    """The queue does not count how often jobs of the submitting machine complete."""
    work = Work.at(pool, "near-fails")
    plan = work.plan(
        (
            work.node("never", "need", "never", "missing", retries=2, near=True),
            work.node("flaky", "fail", "flaky", "1", retries=2, near=True),
        )
    )
    work.submit(plan)
    status = work.wait(plan)
    assert states(status) == {"never": "failed", "flaky": "done"}
    assert status.nodes["never"].cause == "exit status 1: there is no missing"
    assert len(work.told("never")) == 3
    assert len(work.told("flaky")) == 2


def test_a_node_that_is_held_is_given_up_and_tried_once_more(pool: HtcondorPool) -> None:
    work = Work.at(pool, "held")
    slow = Resources(1, 100, 10, 0, seconds=2)
    plan = work.plan(
        (
            work.node("loses", "lose", "lost", retries=1),
            work.node("slow", "train", "slow", "100", "1", "0", resources=slow),
            work.node("tries", "train", "tries", "9", "0.5", "0", resources=slow, checkpoints=True),
        ),
        options={"releases": "1"},
    )
    work.submit(plan)
    status = work.wait(plan)
    assert states(status) == {"loses": "failed", "slow": "failed", "tries": "done"}
    assert (status.nodes["loses"].cause or "").startswith("held (TransferOutputError): ")
    assert status.nodes["loses"].attempts == 4  # released once, and both again as a new job
    assert status.nodes["slow"].cause == (
        "held (JobPolicy): it ran longer than the 2 s that it asked for"
    )
    assert status.nodes["tries"].attempts > 1


def test_an_evicted_node_goes_on_from_its_checkpoint(pool: HtcondorPool) -> None:
    work = Work.at(pool, "evicted")
    plan = work.plan(
        (work.node("run", "train", "runs/1", "8", "0.7", "2", checkpoints=True, retries=1),)
    )
    work.submit(plan)

    def third_epoch() -> bool:
        spooled = pool.folder.glob("state/execute-*/*/runs/1/told")
        return any('"epoch": 4' in path.read_text() for path in spooled)

    until(third_epoch, "the fourth epoch", timeout=60)
    job = Dagman().status(plan).nodes["run"].job
    pool.run("condor_vacate_job", str(job))
    status = work.wait(plan)
    assert states(status) == {"run": "done"}, status.nodes["run"].cause
    assert status.nodes["run"].attempts == 2
    lines = work.told("runs/1")
    assert [line["epoch"] for line in lines if "epoch" in line] == list(range(1, 9))
    starts = [line["start"] for line in lines if "start" in line]
    assert starts[:2] == [0, 2]
    assert len(starts) == 3


def test_a_node_that_is_started_ever_again_is_given_up(pool: HtcondorPool) -> None:
    """As one whose output is never fetched; starts after an exit with 85 do not count."""
    work = Work.at(pool, "ever-again")
    plan = work.plan(
        (
            work.node("run", "train", "runs/1", "200", "0.5", "0", checkpoints=True),
            work.node("saves", "train", "runs/2", "4", "0.2", "2", checkpoints=True),
        ),
        options={"starts": "2"},
    )
    work.submit(plan)
    for start in (1, 2):
        evict_start(work, plan, start)
    status = work.wait(plan)
    assert states(status) == {"run": "failed", "saves": "done"}
    # Two starts ended for the reason that is told, or the third was ended as it ran: a start
    # clears the reason of the end before it.
    assert re.fullmatch(
        r"held \(JobPolicy\): it was started (2 times and never ended; the last time: User "
        "requested the job to vacate|3 times and never ended; the last time: no reason given)",
        status.nodes["run"].cause or "",
    )
    assert [line["start"] for line in work.told("runs/2") if "start" in line] == [0, 2]


def evict_start(work: Work, plan: Plan, start: int) -> None:
    """Evict the job of the node ``run`` as soon as it was started so often, without its output."""
    status = work.until(plan, lambda told: told.nodes["run"].attempts == start, f"start {start}")
    job = str(status.nodes["run"].job)
    runs = lambda ad: ad.get("NumJobStarts", 0) >= start  # noqa: E731
    work.pool.wait_for(int(job.partition(".")[0]), runs, "to run")
    work.pool.run("condor_vacate_job", "-fast", job)


def test_dagman_killed_takes_up_its_work_again(pool: HtcondorPool) -> None:
    work = Work.at(pool, "killed")
    plan = work.plan(
        (work.node("first", "train", "first", "4", "1", "0"),),
        (work.node("second", "make", "second"),),
    )
    work.submit(plan)
    work.until(plan, lambda told: told.nodes["first"].state is NodeState.RUNNING, "to run")
    assert kill_dagman(pool, work) == 1
    assert states(work.wait(plan)) == {"first": "done", "second": "done"}
    assert len([line for line in work.told("first") if "start" in line]) == 1


def kill_dagman(pool: HtcondorPool, work: Work) -> int:
    """Kill -9 the DAGMan whose folder is that of the work; how many there were."""
    killed = 0
    for pid, name in pool.namespace.processes().items():
        with contextlib.suppress(OSError):  # it ended meanwhile
            place = str(Path(f"/proc/{pid}/cwd").readlink())
            if name == "condor_dagman" and place.endswith(str(work.folder)):
                os.kill(pid, signal.SIGKILL)
                killed += 1
    return killed


def test_a_cancelled_plan_can_be_submitted_again(pool: HtcondorPool) -> None:
    work = Work.at(pool, "cancelled")
    plan = work.plan(
        (work.node("done", "make", "done"),), (work.node("long", "train", "long", "3", "99", "0"),)
    )
    scheduler = create("dagman")
    with pytest.raises(ClusterError, match="not active"):
        scheduler.cancel(plan)
    work.submit(plan)
    work.until(plan, lambda told: told.nodes["long"].state is NodeState.RUNNING, "to run")
    with pytest.raises(ClusterError, match=r"plan work is active \(DAGMan job \d+"):
        scheduler.submit(plan)
    scheduler.cancel(plan)
    status = work.wait(plan)
    assert states(status) == {"done": "done", "long": "removed"}
    assert (status.nodes["long"].cause or "").startswith("removed: ")
    shorter = work.plan(plan.stages[0].nodes, (work.node("long", "make", "long"),))
    work.submit(shorter)
    assert set(states(work.wait(shorter)).values()) == {"done"}
    assert len(work.told("done")) == 1


def test_a_packed_environment_is_unpacked_where_a_node_runs(pool: HtcondorPool) -> None:
    script = '#!/bin/sh\nexec python3 "$@"\n'
    plans = []
    for shared in (False, True):
        work = Work.at(pool, f"packed {shared}")
        (work.folder / "packed-program").write_text(script)
        (work.folder / "packed-program").chmod(0o755)
        with tarfile.open(work.folder / "environment.tar.gz", "w:gz") as archive:
            archive.add(work.folder / "packed-program", "bin/packed-program")
        packed = Program(
            ("packed-program", "program.py"),
            pack=work.folder / "environment.tar.gz",
            near=("/usr/bin/python3", "program.py"),
        )
        nodes = tuple(work.node(f"n{number}", "make", f"out/{number}") for number in range(3))
        near = (work.node("near", "make", "near", near=True),)
        plans.append((work, work.plan(nodes, near, shared=shared, program=packed)))
        work.submit(plans[-1][1])
    for work, plan in plans:
        status = work.wait(plan)
        assert set(states(status).values()) == {"done"}, status
        assert (work.folder / "submitted/jobsight-environment").exists() is plan.shared


def test_what_submit_refuses_is_told_before_anything_is_submitted(pool: HtcondorPool) -> None:
    work = Work.at(pool, "refused")
    nodes = (work.node("only", "make", "made"),)
    for options, words in (
        ({"requirements": "((("}, "Parse error in expression"),
        ({"recuirements": "true"}, "dagman.recuirements: condor_submit knows no such"),
    ):
        with pytest.raises(ClusterError, match=re.escape(words)):
            Dagman().submit(work.plan(nodes, options=options))
    assert Dagman().status(work.plan(nodes)).manager is None
    gpus = Resources(2, 100, 10, gpus=1)
    plan = work.plan(
        (work.node("only", "make", "made", resources=gpus, checkpoints=True, retries=1),),
        options={"requirements": ["true", 'OpSys == "LINUX"'], "+Project": '"x"', "rank": "Mips"},
        program=Program(("python3", "-m", "jobsight"), image="docker://example.org/jobsight:1"),
    )
    (file,) = [path for path in Dagman().write(plan) if path.suffix == ".sub"]
    said = pool.run("condor_submit", "-dry-run", "-", str(file), user="alice")
    assert 'ContainerImage="docker://example.org/jobsight:1"' in said
    assert "RequestGPUs=1" in said
    assert "SuccessCheckpointExitCode=85" in said
    assert 'Project="x"' in said


def test_dagman_says_why_it_does_not_begin(pool: HtcondorPool) -> None:
    work = Work.at(pool, "strict")
    plan = work.plan(
        (work.node("only", "make", "made"),), options={"DAGMAN_USE_STRICT": "1"}
    )  # it is strict about logs in /tmp
    work.submit(plan)
    status = work.wait(plan)
    assert states(status) == {"only": "waiting"}
    assert "DAGMAN_USE_STRICT" in (status.manager or "")


@prove
def test_a_thousand_nodes_are_understood(pool: HtcondorPool) -> None:
    work = Work.at(pool, "thousand")
    stages = tuple(
        tuple(
            work.node(f"{stage}-{number}", "make", f"{stage}/{number}", retries=1)
            for number in range(1000)
        )
        for stage in ("a", "b")
    )
    plan = work.plan(*stages, options={"DAGMAN_MAX_JOBS_SUBMITTED": "1"})
    started = time.monotonic()
    work.submit(plan)
    assert time.monotonic() - started < limit(5)
    out = work.folder / "submitted/plan.dag.dagman.out"
    until(
        lambda: out.exists() and "Of 2001 nodes total" in out.read_text(), "DAGMan to count"
    )  # and a join
    Dagman().cancel(plan)
    work.wait(plan)


@prove
def test_a_plan_whose_dagman_was_lost_goes_on_with_what_is_not_done(pool: HtcondorPool) -> None:
    work = Work.at(pool, "lost")
    plan = work.plan(
        (work.node("first", "make", "first"),), (work.node("long", "train", "long", "2", "5", "0"),)
    )
    job = work.submit(plan)
    work.until(plan, lambda told: told.nodes["long"].state is NodeState.RUNNING, "to run")
    pool.run("condor_hold", job)
    kill_dagman(pool, work)
    until(lambda: pool.job(int(job))["JobStatus"] == 5, "DAGMan to be held")
    status = Dagman().status(plan)
    assert status.active
    assert "is held" in (status.manager or "")
    pool.run("condor_rm", job)
    pool.run("condor_rm", "-forcex", job, check=False)
    work.wait(plan)
    for path in (work.folder / "submitted").glob("plan.dag.rescue*"):
        path.unlink()
    (work.folder / "submitted/plan.dag.lock").write_text("4194304\n")
    work.submit(plan)
    assert set(states(work.wait(plan)).values()) == {"done"}
    assert len(work.told("first")) == 1


@prove
def test_a_machine_that_is_lost_is_given_up_and_its_node_goes_on_elsewhere(
    pool: HtcondorPool,
) -> None:
    work = Work.at(pool, "vanished")
    plan = work.plan(
        (work.node("run", "train", "runs/1", "8", "1", "2", checkpoints=True),),
        options={"job_lease_duration": "20"},
    )
    work.submit(plan)

    def later_epoch() -> bool:
        found = pool.folder.glob("state/execute-*/*/runs/1/told")
        return any('"epoch": 3' in path.read_text() for path in found)

    until(later_epoch, "the third epoch", timeout=60)
    cluster, _, _ = str(Dagman().status(plan).nodes["run"].job).partition(".")
    lost = pool.job(int(cluster))["RemoteHost"].split("@")[1]
    for program in (f"condor_startd -f -local-name {lost.upper()}", "condor_starter"):
        pool.namespace.kill(program)
    status = work.wait(plan, timeout=120)
    assert states(status) == {"run": "done"}
    starts = [line["start"] for line in work.told("runs/1") if "start" in line]
    assert starts == [0, 2]  # what was kept when it left by itself; the rest is lost
