"""Plans as processes of this machine, ended in every way a process can end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.limits import limit
from tests.testbed.namespace import until

from jobsight.cluster import Node, NodeState, Plan, Program, Resources, Stage, create
from jobsight.cluster.local import Local
from jobsight.cluster.manager import Limits
from jobsight.cluster.states import logs
from jobsight.errors import ClusterError, OutputError

QUICK = Limits(grace=1.0, pause=0.05)
PROGRAM = r"""
verb=$1
echo "$verb" >> order
case $verb in
    save) trap 'echo saved >> order; exit 85' TERM
          [ ! -e save ] || exit 0
          : > save; sleep 600 & wait $! ;;
    deaf) trap '' TERM
          [ ! -e deaf ] || exit 0
          sleep 600 & echo $! > deaf.part; mv deaf.part deaf
          while :; do sleep 0.1; done ;;
    slow) trap 'exit 85' TERM; sleep 600 & wait $! ;;
    fail) echo "it broke" >&2; exit 3 ;;
    again) exit 85 ;;
    leave) sleep 600 & echo $! > leave ;;
esac
"""
MANAGER = """
import json, signal, sys
from pathlib import Path
from jobsight.cluster import Plan
from jobsight.cluster.local import Local
from jobsight.cluster.manager import Limits
from jobsight.errors import JobsightError
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # these tests may themselves run under nohup
plan = Plan.from_json(json.loads(Path("plan.json").read_text()))
try:
    print(Local(Limits(grace=float(sys.argv[1]))).submit(plan))
except JobsightError as error:
    sys.exit(str(error))
"""


def planned(folder: Path, *stages: tuple[Node, ...], processes: str = "2") -> Plan:
    (folder / "program.sh").write_text(PROGRAM)
    return Plan(
        "made",
        folder,
        tuple(Stage(f"s{number}", nodes) for number, nodes in enumerate(stages)),
        Program(("/bin/sh", str(folder / "program.sh"))),
        shared=True,
        options={"here": {"processes": processes}},
    )


def node(
    verb: str, *, retries: int = 0, checkpoints: bool = False, seconds: int | None = None
) -> Node:
    return Node(verb, (verb,), (), (), Resources(seconds=seconds), retries, checkpoints)


def lives(process: int) -> bool:
    """Whether it does; a child of a node's command ends a moment after its node."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def order(plan: Plan) -> list[str]:
    return (plan.folder / "order").read_text().split()


@contextlib.contextmanager
def managed(plan: Plan, grace: float = 1.0) -> Iterator[subprocess.Popen[str]]:
    """A manager in a process of its own."""
    (plan.folder / "plan.json").write_text(json.dumps(plan.to_json()))
    with subprocess.Popen(
        [sys.executable, "-c", MANAGER, str(grace)],
        cwd=plan.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_killed_with_its_nodes_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    plan = planned(tmp_path, (node("first"),), (node("save", checkpoints=True), node("deaf")))
    with managed(plan) as manager:
        until(lambda: (tmp_path / "save").exists() and (tmp_path / "deaf").exists())
        assert create("here").status(plan).active
        manager.kill()
        manager.wait()
        # Nodes are still being ended: nobody else may begin, and submitting waits for that.
        sleeper = int((tmp_path / "deaf").read_text())
        assert Local(QUICK).submit(plan)
        until(lambda: not lives(sleeper))
    status = Local().status(plan)
    assert not status.active
    assert {one.state for one in status.nodes.values()} == {NodeState.DONE}
    assert [one.attempts for one in status.nodes.values()] == [1, 2, 2]
    assert order(plan)[0] == "first"
    assert sorted(order(plan)[1:]) == ["deaf", "deaf", "save", "save", "saved"]


def test_a_killed_manager_is_told_of(tmp_path: Path) -> None:
    plan = planned(tmp_path, (node("save", checkpoints=True),))
    with managed(plan) as manager:
        until((tmp_path / "save").exists)
        manager.kill()
        manager.wait()
        until(lambda: not Local().status(plan).active)
    status = Local().status(plan).nodes["save"]
    assert status.state is NodeState.REMOVED
    assert status.cause == "it was ended together with what ran it; submit again to go on"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_asks_nodes_to_save(tmp_path: Path, number: signal.Signals) -> None:
    plan = planned(tmp_path, (node("save", checkpoints=True), node("deaf")), (node("last"),))
    with managed(plan) as manager:
        until(lambda: (tmp_path / "save").exists() and (tmp_path / "deaf").exists())
        manager.send_signal(number)
        told = manager.communicate(timeout=limit(120))[1]
        assert manager.returncode == 1
    assert told == f"stopped by {number.name} when 0 of 3 nodes were done; submit again to go on\n"
    until(lambda: not lives(int((tmp_path / "deaf").read_text())))
    assert order(plan)[-1] == "saved"
    status = Local().status(plan)
    states = [one.state for one in status.nodes.values()]
    assert states == [NodeState.REMOVED, NodeState.REMOVED, NodeState.WAITING]
    assert Local(QUICK).submit(plan)
    assert {one.state for one in Local().status(plan).nodes.values()} == {NodeState.DONE}


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    plan = planned(tmp_path, (node("deaf"),))
    with managed(plan, grace=100.0) as manager:
        until((tmp_path / "deaf").exists)
        manager.send_signal(signal.SIGINT)
        time.sleep(0.3)
        manager.send_signal(signal.SIGINT)
        manager.wait(limit(30))


def test_two_managers_do_not_run_one_plan(tmp_path: Path) -> None:
    plan = planned(tmp_path, (node("save", checkpoints=True),))
    with managed(plan) as manager:
        until((tmp_path / "save").exists)
        with managed(plan) as second:
            told = second.communicate(timeout=limit(120))[1]
            assert second.returncode == 1
        assert f"is active (process {manager.pid} on " in told
        assert (Local().status(plan).manager or "").startswith(f"process {manager.pid} on ")
        Local().cancel(plan)
        assert "cancelled when 0 of 1 node were done" in manager.communicate(timeout=limit(120))[1]


def test_the_guard_itself_may_be_killed(tmp_path: Path) -> None:
    plan = planned(tmp_path, (node("save", checkpoints=True, retries=1),))
    with managed(plan) as manager:
        until((tmp_path / "save").exists)
        os.kill(int(Local().status(plan).nodes["save"].job or ""), signal.SIGKILL)
        assert manager.wait() == 0
    status = Local().status(plan).nodes["save"]
    assert (status.state, status.attempts) == (NodeState.DONE, 2)


def test_failures_are_tried_again_so_often(tmp_path: Path) -> None:
    plan = planned(tmp_path, (node("fail", retries=2), node("again", checkpoints=True)))
    assert Local(QUICK).submit(plan)
    status = Local().status(plan)
    assert {one.state for one in status.nodes.values()} == {NodeState.FAILED}
    assert status.nodes["fail"].attempts == 3
    assert status.nodes["fail"].cause == "ended with status 3: it broke"
    assert status.nodes["again"].attempts == QUICK.quick_most
    assert "started again 20 times without progress" in (status.nodes["again"].cause or "")


def test_time_has_an_end(tmp_path: Path) -> None:
    plan = planned(tmp_path, (node("deaf", seconds=1), node("save", checkpoints=True, seconds=1)))
    Local(QUICK).submit(plan)
    nodes = Local().status(plan).nodes
    assert nodes["deaf"].state is NodeState.FAILED
    assert nodes["deaf"].cause == "over its time of 1 s; ended by signal 9 (SIGKILL)"
    assert (nodes["save"].state, nodes["save"].attempts) == (NodeState.DONE, 2)


def test_children_are_not_left(tmp_path: Path) -> None:
    plan = planned(tmp_path, (node("leave"),))
    Local(QUICK).submit(plan)
    until(lambda: not lives(int((tmp_path / "leave").read_text())))


def test_a_full_disk_ends_no_work_but_is_told(tmp_path: Path) -> None:
    plan = planned(tmp_path, (node("save", checkpoints=True), node("first")))
    Local().write(plan)
    for path in logs(tmp_path, "first"):
        path.symlink_to("/dev/full")
    state = tmp_path / "submitted/state/first.jsonl"
    state.symlink_to("/dev/full")
    with pytest.raises(OutputError, match=r"first\.jsonl: No space left on device"):
        Local(QUICK).submit(plan)
    assert not Local().status(plan).active
    state.unlink()
    (tmp_path / "save").touch()
    Local(QUICK).submit(plan)
    assert {one.state for one in Local().status(plan).nodes.values()} == {NodeState.DONE}


def test_in_a_thread_it_is_cancelled_by_whoever_asks(tmp_path: Path) -> None:
    plan = planned(tmp_path, (node("slow", checkpoints=True),))
    told: list[str] = []

    def submit() -> None:
        try:
            Local(QUICK).submit(plan)
        except ClusterError as error:
            told.append(str(error))

    thread = threading.Thread(target=submit)
    thread.start()
    until(lambda: Local().status(plan).nodes["slow"].state is NodeState.RUNNING)
    time.sleep(0.2)
    Local().cancel(plan)
    thread.join()
    assert told == ["cancelled when 0 of 1 node were done; submit again to go on"]


def test_a_program_that_is_not_there_fails_its_node(tmp_path: Path) -> None:
    plan = Plan(
        "made", tmp_path, (Stage("s", (node("x"),)),), Program(("/nowhere/program",)), shared=True
    )
    Local(QUICK).submit(plan)
    cause = Local().status(plan).nodes["x"].cause
    told, _, advice = (cause or "").partition("; ")
    assert told == "ended with status 127: cannot run /nowhere/program: No such file or directory"
    assert advice.startswith("the program is not there under that path; name `program: {pack: ")


def test_nodes_start_from_a_pack(tmp_path: Path) -> None:
    made = tmp_path / "made/bin"
    made.mkdir(parents=True)
    tool = made / "tool"
    tool.write_text('#!/bin/sh\necho "packed $1" >> order\n')
    tool.chmod(0o755)
    pack = tmp_path / "it's a pack.tar"
    subprocess.run(["tar", "-cf", pack, "-C", made.parent, "bin"], check=True)
    stages = (Stage("s", (node("x"), node("y"))), Stage("t", (node("z"),)))
    plan = Plan("made", tmp_path, stages, Program(("tool",), pack=pack), shared=True)
    Local(QUICK).submit(plan)
    lines = (tmp_path / "order").read_text().splitlines()
    assert (sorted(lines[:2]), lines[2:]) == (["packed x", "packed y"], ["packed z"])
