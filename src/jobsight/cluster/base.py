"""The contract of a scheduler that runs plans, and the status of a plan."""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from jobsight.cluster.plan import Plan
from jobsight.errors import ClusterError
from jobsight.text import printable

__all__ = ["NO_PROGRAM", "SUBMITTED", "NodeState", "NodeStatus", "PlanStatus", "Scheduler", "busy"]

SUBMITTED = "submitted"
"""Folder, in the plan's, of what a scheduler is given and what it writes."""

NO_PROGRAM = (
    "the program is not there under that path; name `program: {pack: …}` or `{image: …}` in the "
    "config, or use a Python that all machines see"
)
"""Advice where a node could not be started."""


class NodeState(StrEnum):
    """The state of a node."""

    WAITING = "waiting"
    """For an earlier stage, or not submitted."""
    QUEUED = "queued"
    RUNNING = "running"
    HELD = "held"
    """The scheduler waits for an error to pass, or for a person."""
    DONE = "done"
    FAILED = "failed"
    REMOVED = "removed"
    """Cancelled before its end."""


@dataclass(frozen=True)
class NodeStatus:
    """The status of one node.

    Attributes:
        cause: one line, of a failure or a hold: reason, exit status or signal, last line of its
            standard error; printable. None: nothing is wrong.
        attempts: how often it was started.
        where: machine that it runs or ran on last.
        job: the scheduler's id of the last attempt.
        log: the file, relative to the plan's folder, with more about the cause.
    """

    name: str
    state: NodeState
    cause: str | None = None
    attempts: int = 0
    where: str | None = None
    job: str | None = None
    log: str | None = None


@dataclass(frozen=True)
class PlanStatus:
    """The status of a plan.

    Attributes:
        active: the scheduler still works on it.
        nodes: every node of the plan, by name, in the plan's order.
        manager: one line about what drives the plan (the DAGMan job, a process); None: it was not
            submitted.
        asked: the scheduler answered; else `manager` says why not, `nodes` is by files alone, and
            a node without an end there counts as active.
    """

    active: bool
    nodes: Mapping[str, NodeStatus]
    manager: str | None = None
    asked: bool = True


def busy(plan: Plan, who: str) -> ClusterError:
    """The error of a plan on which `who` works; names the way out."""
    return ClusterError(
        f"plan {plan.name} is active ({who}); wait for it, or cancel it: jobsight sweep cancel "
        f"{shlex.quote(printable(plan.folder))}"
    )


class Scheduler(ABC):
    """Submits plans, and reports their status.

    Its memory is in the plan's folder, under `SUBMITTED`, so any later process can ask. One plan is
    for one thread of one process at a time; `status` is safe.

    All methods raise `ClusterError` where the scheduler is missing, does not answer or refuses.
    """

    @abstractmethod
    def write(self, plan: Plan) -> list[Path]:
        """Write what the scheduler is given, and submit nothing; the files, absolute.

        Raises:
            ClusterError: the plan is active, or cannot be run by this scheduler.
            OutputError: a file cannot be written.
        """

    @abstractmethod
    def submit(self, plan: Plan) -> str:
        """Submit what is not done of the plan; the id by which the scheduler knows it.

        Raises:
            ClusterError: the plan is active or all done.
        """

    @abstractmethod
    def status(self, plan: Plan) -> PlanStatus:
        """The status of the plan and its nodes; a plan never submitted is all waiting."""

    @abstractmethod
    def cancel(self, plan: Plan) -> None:
        """Stop all of it; what nodes wrote stays.

        Raises:
            ClusterError: the plan is not active.
        """
