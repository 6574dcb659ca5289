"""How a plan fares on Slurm: from the states of its nodes, the queue, and the accounts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from jobsight.cluster.base import NodeState, NodeStatus, PlanStatus
from jobsight.cluster.plan import Node, Plan
from jobsight.cluster.slurmrecord import Task
from jobsight.cluster.slurmscript import task_log
from jobsight.cluster.states import (
    Attempt,
    done,
    explained,
    how_ended,
    last_words,
    node_status,
    words_of,
)
from jobsight.documents.states import State, slurm_state
from jobsight.history.slurm.sacct import Run
from jobsight.history.slurm.squeue import Queued

__all__ = ["Seen", "queued", "ran", "status_of", "supposed", "unexplained"]

_ENDS = {
    State.OUT_OF_MEMORY: "out of memory; let it ask for more",
    State.TIMEOUT: "over its time limit; let it ask for more",
    State.NODE_FAIL: "its machine failed",
    State.PREEMPTED: "another job took its place",
}
"""Ends that Slurm tells better than the node, which it killed."""


_NO_FOLDER = "machines must see the plan's folder, and whoever submits must be able to write there"
_NOWHERE = ("", "None assigned")
"""What sacct shows as the machines of a job that never began."""


@dataclass(frozen=True)
class Seen:
    """What Slurm tells of one task: its state, why it waits, and whether it ever started."""

    state: State
    reason: str = ""
    started: bool = False


def queued(rows: Iterable[Queued]) -> dict[Task, Seen]:
    """Tasks in the queue, ended ones too as long as the controller knows them."""
    found = {}
    for row in rows:
        state = slurm_state(row.state)
        if state is None:
            continue
        seen = Seen(state, row.reason, bool(row.hosts))
        tasks = row.id.tasks if row.id.tasks is not None else [row.id.task]
        found.update({(row.id.base, task): seen for task in tasks if task is not None})
    return found


def ran(runs: Iterable[Run]) -> dict[Task, Seen]:
    """Tasks in the accounts; of a task's runs, the last counts."""
    found = {}
    for run in sorted(runs, key=lambda run: run.submit or 0):
        state = slurm_state(run.state)
        if state is None:
            continue
        tasks = run.id.tasks if run.id.tasks is not None else [run.id.task]
        seen = Seen(state, "", run.hosts not in _NOWHERE)
        found.update({(run.id.base, task): seen for task in tasks if task is not None})
    return found


def supposed(
    states: Mapping[str, Sequence[Attempt]], tasks: Mapping[str, Task], submission: int
) -> dict[Task, Seen]:
    """Tasks as they may be, by what their nodes told, where the queue does not tell.

    What runs, what is to be tried again, and what was not begun yet counts as in the queue.
    """
    found = {}
    for name, task in tasks.items():
        latest = [one for one in states.get(name, ()) if one.submission == submission]
        if done(states.get(name, ())) or (latest and latest[-1].final):
            continue
        runs = bool(latest) and latest[-1].ended is None
        found[task] = Seen(State.RUNNING if runs else State.PENDING, started=bool(latest))
    return found


def unexplained(
    plan: Plan,
    states: Mapping[str, Sequence[Attempt]],
    tasks: Mapping[str, Task],
    seen: Mapping[Task, Seen],
) -> set[str]:
    """Arrays with nodes that are not done, and of which the queue does not tell."""
    names = (node.name for node in plan.nodes() if not done(states[node.name]))
    return {tasks[name][0] for name in names if name in tasks and tasks[name] not in seen}


def status_of(
    plan: Plan,
    states: Mapping[str, Sequence[Attempt]],
    tasks: Mapping[str, Task],
    seen: Mapping[Task, Seen],
    submission: int,
) -> PlanStatus:
    """The status of a plan.

    Args:
        plan: what was handed over.
        states: attempts of each of its nodes.
        tasks: of the nodes that were handed over last.
        seen: what Slurm tells of these tasks.
        submission: the number of the latest handing over.
    """
    nodes = {}
    whole = True
    for stage in plan.stages:
        for node in stage.nodes:
            task = tasks.get(node.name)
            told = seen.get(task) if task is not None else None
            attempts = states[node.name]
            latest = [one for one in attempts if one.submission == submission]
            nodes[node.name] = _node(plan, node, attempts, latest, told, task, whole=whole)
        whole = whole and all(nodes[node.name].state is NodeState.DONE for node in stage.nodes)
    active = any(task in seen and not seen[task].state.ended for task in tasks.values())
    arrays = list(dict.fromkeys(array for array, _ in tasks.values()))
    manager = f"Slurm: {'job' if len(arrays) == 1 else 'jobs'} {', '.join(arrays)}"
    return PlanStatus(active, nodes, manager if arrays else None)


def _node(
    plan: Plan,
    node: Node,
    attempts: Sequence[Attempt],
    latest: Sequence[Attempt],
    told: Seen | None,
    task: Task | None,
    *,
    whole: bool,
) -> NodeStatus:
    last, log = latest[-1] if latest else None, None
    if told is not None and task is not None and _is_held(told):
        # Also where its work is done: what depends on the task waits for its release.
        state, cause = NodeState.HELD, _release(told.reason, task)
    elif done(attempts):
        state, cause = NodeState.DONE, None
    elif told is not None and not told.state.ended:
        state, cause = _living(told, whole=whole), None
    elif last is not None or (told is not None and told.started):
        state, cause, log = _ended(plan, node, last, told, task)
    elif task is None or not whole:  # what it waited for was not done: so it was never begun
        state, cause = NodeState.WAITING, None
    else:
        state, cause = NodeState.REMOVED, "it was cancelled before it began"
    return node_status(node.name, state, cause, attempts, log)


def _is_held(told: Seen) -> bool:
    pending = told.state is State.PENDING
    return told.state is State.HELD or (pending and "held" in told.reason.lower())


def _release(reason: str, task: Task) -> str:
    number, place = task
    return f"{reason or 'no reason given'}; release it with: scontrol release {number}_{place}"


def _living(told: Seen, *, whole: bool) -> NodeState:
    if told.state is State.PENDING:  # Slurm names the dependency only when it has looked at it
        return NodeState.QUEUED if whole else NodeState.WAITING
    return NodeState.RUNNING


def _ended(
    plan: Plan, node: Node, last: Attempt | None, told: Seen | None, task: Task | None
) -> tuple[NodeState, str | None, str | None]:
    """State, cause and log of a task that is over."""
    if told is not None and told.state is State.COMPLETED:
        return NodeState.DONE, None, None
    if told is not None and told.state is State.CANCELLED:
        return NodeState.REMOVED, "it was cancelled; submit again to go on", None
    wrote: tuple[str, str | None] = ("", None)
    how = "its job ended before the node began"
    if last is not None:
        how = how_ended(last)
        wrote = last_words(plan.folder, node.name)
    if task is not None and (last is None or last.status is None):  # the node had no last word
        found = words_of(plan.folder, task_log(plan, task))
        wrote = found if found[0] else wrote
    if last is None and not wrote[0]:
        how += f"; {_NO_FOLDER}"
    if told is not None and told.state in _ENDS:
        how = _ENDS[told.state]
    return NodeState.FAILED, explained(how, wrote[0], last.status if last else None), wrote[1]
