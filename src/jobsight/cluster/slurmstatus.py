"""The status of a plan on Slurm: by the states of its nodes, the queue, and the accounts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

import msgspec

from jobsight.cluster.base import NodeState, NodeStatus, PlanStatus
from jobsight.cluster.plan import Node, Plan
from jobsight.cluster.slurmscript import FOLDER, task_log
from jobsight.cluster.states import (
    Attempt,
    done,
    explained,
    how_ended,
    last_line,
    logs,
    node_status,
)
from jobsight.documents.states import State, slurm_state
from jobsight.errors import ClusterError
from jobsight.files import read_json, write_json
from jobsight.history.slurm.ids import SlurmId
from jobsight.history.slurm.sacct import Run
from jobsight.history.slurm.squeue import Queued

__all__ = ["Record", "Seen", "Task", "queued", "ran", "status_of", "supposed", "unexplained"]

_ENDS = {
    State.OUT_OF_MEMORY: "out of memory; let it ask for more",
    State.TIMEOUT: "over its time limit; let it ask for more",
    State.NODE_FAIL: "its machine failed",
    State.PREEMPTED: "another job took its place",
}
"""Ends that Slurm knows better than the node, which it killed."""

_NO_FOLDER = "machines must see the plan's folder, and the submitting user must be able to write it"
_NOWHERE = ("", "None assigned")
"""What sacct shows as the machines of a job that never began."""


@dataclass(frozen=True)
class Seen:
    """One task as Slurm has it: its state, why it waits, and whether it ever started."""

    state: State
    reason: str = ""
    started: bool = False


def queued(rows: Iterable[Queued]) -> dict[Task, Seen]:
    """Tasks in the queue, ended ones too as long as the controller knows them."""
    return {
        task: Seen(state, row.reason, bool(row.hosts))
        for row in rows
        if (state := slurm_state(row.state)) is not None
        for task in _tasks(row.id)
    }


def ran(runs: Iterable[Run]) -> dict[Task, Seen]:
    """Tasks in the accounts; of a task's runs, the last counts."""
    return {
        task: Seen(state, "", run.hosts not in _NOWHERE)
        for run in sorted(runs, key=lambda run: run.submit or 0)
        if (state := slurm_state(run.state)) is not None
        for task in _tasks(run.id)
    }


def _tasks(job: SlurmId) -> list[Task]:
    tasks = job.tasks if job.tasks is not None else [job.task]
    return [(job.base, task) for task in tasks if task is not None]


def supposed(
    states: Mapping[str, Sequence[Attempt]], tasks: Mapping[str, Task], submission: int
) -> dict[Task, Seen]:
    """Tasks as they may be, by the states of their nodes alone.

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
    """Arrays with nodes that are not done and not in the queue."""
    names = (node.name for node in plan.nodes() if not done(states[node.name]))
    return {tasks[name][0] for name in names if name in tasks and tasks[name] not in seen}


def status_of(
    plan: Plan,
    states: Mapping[str, Sequence[Attempt]],
    tasks: Mapping[str, Task],
    seen: Mapping[Task, Seen],
    submission: int,
) -> PlanStatus:
    """The status of a plan, by the attempts of its nodes and its tasks as Slurm has them."""
    nodes = {}
    whole = True
    for stage in plan.stages:
        for node in stage.nodes:
            task = tasks.get(node.name)
            found = seen.get(task) if task is not None else None
            attempts = states[node.name]
            latest = [one for one in attempts if one.submission == submission]
            last = latest[-1] if latest else None
            nodes[node.name] = _node(plan, node, attempts, last, found, task, whole=whole)
        whole = whole and all(nodes[node.name].state is NodeState.DONE for node in stage.nodes)
    active = any(task in seen and not seen[task].state.ended for task in tasks.values())
    arrays = list(dict.fromkeys(array for array, _ in tasks.values()))
    manager = f"Slurm: {'job' if len(arrays) == 1 else 'jobs'} {', '.join(arrays)}"
    return PlanStatus(active, nodes, manager if arrays else None)


def _node(
    plan: Plan,
    node: Node,
    attempts: Sequence[Attempt],
    last: Attempt | None,
    found: Seen | None,
    task: Task | None,
    *,
    whole: bool,
) -> NodeStatus:
    cause, log = None, None
    if found is not None and task is not None and _is_held(found):
        # Also where its work is done: what depends on the task waits for its release.
        release = f"release it with: scontrol release {task[0]}_{task[1]}"
        state, cause = NodeState.HELD, f"{found.reason or 'no reason given'}; {release}"
    elif done(attempts):
        state = NodeState.DONE
    elif found is not None and found.state is State.PENDING:
        # Slurm names the dependency only when it has looked at it
        state = NodeState.QUEUED if whole else NodeState.WAITING
    elif found is not None and not found.state.ended:
        state = NodeState.RUNNING
    elif last is not None or (found is not None and found.started):
        state, cause, log = _ended(plan, node, last, found, task)
    elif task is None or not whole:  # what it waited for was not done: so it was never begun
        state = NodeState.WAITING
    else:
        state, cause = NodeState.REMOVED, "it was cancelled before it began"
    return node_status(node.name, state, cause, attempts, log)


def _is_held(found: Seen) -> bool:
    pending = found.state is State.PENDING
    return found.state is State.HELD or (pending and "held" in found.reason.lower())


def _ended(
    plan: Plan, node: Node, last: Attempt | None, found: Seen | None, task: Task | None
) -> tuple[NodeState, str | None, str | None]:
    """State, cause and log of a task that is over."""
    state = None if found is None else found.state
    if state is State.COMPLETED:
        return NodeState.DONE, None, None
    if state is State.CANCELLED:
        return NodeState.REMOVED, "it was cancelled; submit again to go on", None
    files = () if last is None else (*reversed(logs(plan.folder, node.name)),)
    if task is not None and (last is None or last.status is None):  # the node recorded no end
        files = (task_log(plan, task), *files)
    line, log = last_line(plan.folder, *files)
    how = "its job ended before the node began" if last is None else how_ended(last)
    if last is None and not line:
        how += f"; {_NO_FOLDER}"
    how = how if state is None else _ENDS.get(state, how)
    return NodeState.FAILED, explained(how, line, last.status if last else None), log


Task = tuple[str, int]
"""Number of an array, and of a task of it."""

_Number = Annotated[str, msgspec.Meta(pattern="^[0-9]{1,20}$")]


@dataclass
class Record:
    """The latest submission, as in ``submitted/slurm/jobs.json``.

    `arrays` has the node of each task, by job number; `complete` says that all of it was submitted
    and noted here.
    """

    digest: str = ""
    submission: int = 0
    arrays: dict[_Number, dict[int, str]] = field(default_factory=dict)
    complete: bool = True

    @property
    def tasks(self) -> dict[str, Task]:
        """The task of each node."""
        return {
            name: (array, number)
            for array, nodes in self.arrays.items()
            for number, name in nodes.items()
        }

    def write(self, folder: Path) -> None:
        """Keep it; `folder` is the plan's.

        Raises:
            OutputError: it cannot be written.
        """
        write_json(folder / FOLDER / "jobs.json", asdict(self))

    @classmethod
    def read(cls, folder: Path) -> Record:
        """What was kept; without any, that of a plan never submitted.

        Raises:
            ClusterError: it is damaged.
        """
        path = folder / FOLDER / "jobs.json"
        try:
            return msgspec.convert(read_json(path, dict), cls, str_keys=True)
        except FileNotFoundError:
            return cls()
        except OSError as error:
            raise ClusterError(f"cannot read {path}: {error.strerror or error}") from None
        except ValueError as error:
            raise ClusterError(
                f"{path} is damaged ({type(error).__name__}); see squeue for jobs of the plan, "
                "then remove the file"
            ) from None
