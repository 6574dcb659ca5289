from pathlib import Path

import pytest

from jobsight.cluster import Node, NodeState, Plan, Program, Stage
from jobsight.cluster.slurmstatus import Seen, queued, ran, status_of, supposed, unexplained
from jobsight.cluster.states import Attempt, logs, make_folders
from jobsight.documents.states import State
from jobsight.history.slurm.ids import parse_id
from jobsight.history.slurm.sacct import Run

PLAN = Plan(
    "p",
    Path("/nowhere"),
    (Stage("s", (Node("a", ()), Node("b", ()))), Stage("t", (Node("c", ()),))),
    Program(("jobsight",)),
    shared=True,
)
TASKS = {"a": ("7", 0), "b": ("7", 1), "c": ("8", 0)}
DONE = Attempt(1, 5, "n1", "7_0", 9, 0)


def told(
    seen: Seen | None, *attempts: Attempt, plan: Plan = PLAN, name: str = "a"
) -> tuple[NodeState, str | None]:
    states: dict[str, list[Attempt]] = {"a": [DONE], "b": [DONE], "c": []}
    states[name] = list(attempts)
    found = {} if seen is None else {TASKS[name]: seen}
    one = status_of(plan, states, TASKS, found, 2).nodes[name]
    return one.state, one.cause


FAILED = Attempt(2, 10, "n1", "7_0", 11, 3, None, True)
CUT = Attempt(2, 10, "n1", "7_0")


@pytest.mark.parametrize(
    ("seen", "attempts", "state", "cause"),
    [
        (Seen(State.PENDING, "Priority"), (), NodeState.QUEUED, None),
        (Seen(State.PENDING, "BeginTime"), (FAILED,), NodeState.QUEUED, None),
        (Seen(State.PENDING, "JobHeldUser"), (), NodeState.HELD, "JobHeldUser"),
        (Seen(State.HELD, "launch failed requeued held"), (), NodeState.HELD, "launch failed"),
        (
            Seen(State.PENDING, "job requeued in held state"),
            (DONE,),
            NodeState.HELD,
            "job requeued in held state; release it with: scontrol release 7_0",
        ),
        (Seen(State.RUNNING), (), NodeState.RUNNING, None),
        (Seen(State.SUSPENDED), (CUT,), NodeState.RUNNING, None),
        (Seen(State.RUNNING), (DONE,), NodeState.DONE, None),
        (None, (DONE,), NodeState.DONE, None),
        (Seen(State.COMPLETED, started=True), (CUT,), NodeState.DONE, None),
        (Seen(State.FAILED, started=True), (FAILED,), NodeState.FAILED, "ended with status 3"),
        (None, (FAILED,), NodeState.FAILED, "ended with status 3"),
        (None, (CUT,), NodeState.FAILED, "it was ended from outside"),
        (Seen(State.FAILED, started=True), (), NodeState.FAILED, "its job ended before the node"),
        (Seen(State.TIMEOUT, started=True), (FAILED,), NodeState.FAILED, "over its time limit"),
        (Seen(State.OUT_OF_MEMORY, started=True), (CUT,), NodeState.FAILED, "out of memory"),
        (Seen(State.NODE_FAIL, started=True), (CUT,), NodeState.FAILED, "its machine failed"),
        (Seen(State.CANCELLED, started=True), (CUT,), NodeState.REMOVED, "it was cancelled"),
        (Seen(State.CANCELLED), (), NodeState.REMOVED, "it was cancelled before it began"),
        (None, (), NodeState.REMOVED, "it was cancelled before it began"),
    ],
)
def test_where_a_node_stands(
    seen: Seen | None, attempts: tuple[Attempt, ...], state: NodeState, cause: str | None
) -> None:
    found, why = told(seen, *attempts)
    assert found is state
    assert (why or "").startswith(cause or "")
    assert (why is None) == (cause is None)


def test_what_an_earlier_submission_did_is_no_cause_now() -> None:
    before = Attempt(1, 10, "n1", "7_0", 11, 3, None, True)
    assert told(Seen(State.RUNNING), before)[0] is NodeState.RUNNING
    assert told(Seen(State.CANCELLED), before)[0] is NodeState.REMOVED


def test_a_stage_waits_for_the_one_before() -> None:
    states: dict[str, list[Attempt]] = {"a": [DONE], "b": [FAILED], "c": []}
    for seen in (Seen(State.PENDING, "Dependency"), Seen(State.PENDING), Seen(State.CANCELLED)):
        status = status_of(PLAN, states, TASKS, {("8", 0): seen}, 2)
        assert status.nodes["c"].state is NodeState.WAITING
        assert status.active is (seen.state is State.PENDING)
    assert status.manager == "Slurm: jobs 7, 8"
    never = status_of(PLAN, {"a": [], "b": [], "c": []}, {}, {}, 0)
    assert {one.state for one in never.nodes.values()} == {NodeState.WAITING}
    assert never.manager is None


def test_last_words_stand_behind_the_cause(tmp_path: Path) -> None:
    plan = Plan("p", tmp_path, PLAN.stages, PLAN.program, shared=True)
    make_folders(tmp_path)
    logs(tmp_path, "a")[1].write_text("it broke\n")
    log = tmp_path / "submitted/logs/slurm-7_0.log"
    log.write_text("slurmstepd: error: exceeded memory limit\n")
    assert told(None, FAILED, plan=plan)[1] == "ended with status 3: it broke"
    ended = "it was ended from outside: slurmstepd: error: exceeded memory limit"
    assert told(None, CUT, plan=plan)[1] == ended


def test_of_whom_the_accounts_are_asked() -> None:
    states: dict[str, list[Attempt]] = {"a": [DONE], "b": [CUT], "c": []}
    assert unexplained(PLAN, states, TASKS, {}) == {"7", "8"}
    assert unexplained(PLAN, states, TASKS, {("7", 1): Seen(State.RUNNING)}) == {"8"}
    assert unexplained(PLAN, states, {}, {}) == set()


def test_rows_of_accounts_are_tasks() -> None:
    runs = [
        Run(parse_id("7_1"), "COMPLETED", submit=9, hosts="n1"),
        Run(parse_id("7_1"), "NODE_FAIL", submit=5, hosts="n1"),
        Run(parse_id("8_[0-2]"), "CANCELLED by 0", submit=5, hosts="None assigned"),
        Run(parse_id("9_0"), "NONSENSE", submit=5),
    ]
    assert ran(runs) == {
        ("7", 1): Seen(State.COMPLETED, started=True),
        **{("8", task): Seen(State.CANCELLED) for task in range(3)},
    }
    assert queued([]) == {}


def test_what_the_queue_does_not_tell_is_supposed() -> None:
    again = Attempt(2, 10, "n1", "7_1", 11, 85)
    found = supposed({"a": [CUT], "b": [again], "c": []}, TASKS, 2)
    assert {task: (seen.state, seen.started) for task, seen in found.items()} == {
        ("7", 0): (State.RUNNING, True),
        ("7", 1): (State.PENDING, True),
        ("8", 0): (State.PENDING, False),
    }
    assert supposed({"a": [DONE], "b": [FAILED], "c": [DONE]}, TASKS, 2) == {}
