"""How far a sweep is: by its scheduler and the records of its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from jobsight.cluster import NodeState, NodeStatus, Plan, PlanStatus
from jobsight.learning.sweep.best import is_collected
from jobsight.learning.sweep.layout import Frozen, Layout
from jobsight.learning.sweep.records import Goal, RunRecord, RunStatus, read_all
from jobsight.learning.sweep.stages import run_of

__all__ = ["BestSoFar", "Failure", "Progress", "RunProgress", "StageProgress", "progress_of"]

_FAILED = (NodeState.FAILED, NodeState.HELD)


@dataclass(frozen=True)
class StageProgress:
    """Nodes of one stage by their state."""

    name: str
    total: int
    done: int
    running: int
    failed: int
    stopped: int


@dataclass(frozen=True)
class RunProgress:
    """One run.

    `state` is how it ended (finished, early, failed, dropped); before that running, queued, held,
    or waiting; ``broken`` where its node failed for good. `value` is of the kept weights once it
    ended, else the best so far; `where` the machine it runs or ran on last.
    """

    run: int
    state: str
    epochs: int
    value: float | None
    where: str | None
    attempts: int
    cause: str | None


@dataclass(frozen=True)
class Failure:
    """A node that failed, is held or was stopped, or a run that ended failed.

    `log` is the file with more about the cause, relative to the sweep's folder; None: unknown.
    """

    what: str
    state: str
    cause: str
    log: str | None = None


@dataclass(frozen=True)
class BestSoFar:
    """The run with the best value up to now, ended or not."""

    run: int
    value: float
    epoch: int | None
    ended: bool


@dataclass(frozen=True)
class Progress:
    """How far a sweep is.

    Attributes:
        manager: what drives it; None: it was not submitted.
        asked: the scheduler answered, where it was needed; else `manager` says why not.
        stages: in order; none where no scheduler was asked.
        runs: in order of their numbers.
        states: runs by state.
        epochs: trained by all runs, of at most `epochs_most` where none stops early.
        failures: nodes and runs that failed or are held, with causes.
        best: None before any value.
        done: the best of the runs, as they are, was found, tested, registered and reported.
        spent: seconds that all runs took.
        updated: µs since 1970, of the last line of any record.
    """

    active: bool
    manager: str | None
    asked: bool
    stages: tuple[StageProgress, ...]
    runs: tuple[RunProgress, ...]
    states: dict[str, int]
    epochs: int
    epochs_most: int
    failures: tuple[Failure, ...]
    metric: str
    best: BestSoFar | None
    done: bool
    spent: float
    updated: int | None

    @property
    def ended(self) -> int:
        """Runs that ended, in whatever way."""
        return sum(self.states.get(status.value, 0) for status in RunStatus if status.ended)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "ended": self.ended}


def progress_of(frozen: Frozen, layout: Layout, plan: Plan, status: PlanStatus | None) -> Progress:
    """Join a scheduler's status with the records; None: no scheduler can be asked."""
    stages = () if status is None else tuple(_stages(plan, status))
    status = status or PlanStatus(active=False, nodes={})
    records = {one.run: one for one in read_all(layout.runs) if one.run is not None}
    metric, goal = frozen.metric
    nodes = _nodes_of_runs(status)
    runs = tuple(
        _run(run, records.get(run, RunRecord(layout.run(run), run)), nodes.get(run), metric, goal)
        for run in range(1, frozen.runs + 1)
    )
    return Progress(
        active=status.active,
        manager=status.manager,
        asked=status.asked,
        stages=stages,
        runs=runs,
        states=dict(Counter(one.state for one in runs)),
        epochs=sum(one.epochs for one in runs),
        epochs_most=frozen.runs * int(frozen.config["epochs"]),
        failures=tuple(_failures(runs, status)),
        metric=metric,
        best=_best(list(records.values()), metric, goal),
        done=not status.active and is_collected(frozen, layout, list(records.values())),
        spent=sum(one.seconds for one in records.values()),
        updated=max((one.last_update or 0 for one in records.values()), default=0) or None,
    )


def _nodes_of_runs(status: PlanStatus) -> dict[int, NodeStatus]:
    """The node that counts for each run: of two, the second once the first is done."""
    found: dict[int, NodeStatus] = {}
    for node in status.nodes.values():
        run = run_of(node.name)
        if run is not None and (run not in found or found[run].state is NodeState.DONE):
            found[run] = node
    return found


def _run(
    run: int, record: RunRecord, node: NodeStatus | None, metric: str, goal: Goal
) -> RunProgress:
    best = record.best(metric, goal)
    state, cause = _state(record, node)
    return RunProgress(
        run=run,
        state=state,
        epochs=int(record.epochs.number[-1]) if len(record.epochs) else 0,
        value=None if best is None else best.value,
        where=record.history[-1].host if record.history else node.where if node else None,
        attempts=max(record.attempts, node.attempts if node else 0),
        cause=cause,
    )


def _state(record: RunRecord, node: NodeStatus | None) -> tuple[str, str | None]:
    """The end of a run is in its record; its state before that is its node's."""
    if record.status.ended or record.status is RunStatus.UNREADABLE:
        return record.status.value, record.cause
    if node is None or node.state is NodeState.DONE:
        return record.status.value, record.cause
    if node.state in (NodeState.FAILED, NodeState.REMOVED):
        return "broken", node.cause
    return node.state.value, node.cause


def _stages(plan: Plan, status: PlanStatus) -> Iterator[StageProgress]:
    for stage in plan.stages:
        states = Counter(
            status.nodes[node.name].state for node in stage.nodes if node.name in status.nodes
        )
        yield StageProgress(
            stage.name,
            len(stage.nodes),
            states[NodeState.DONE],
            states[NodeState.RUNNING],
            sum(states[one] for one in _FAILED),
            states[NodeState.REMOVED],
        )


def _failures(runs: Sequence[RunProgress], status: PlanStatus) -> Iterator[Failure]:
    for node in status.nodes.values():
        if node.state in (*_FAILED, NodeState.REMOVED):
            yield Failure(node.name, node.state.value, node.cause or "no cause given", node.log)
    for one in runs:
        if one.state in (RunStatus.FAILED, RunStatus.UNREADABLE):
            yield Failure(f"run {one.run}", one.state, one.cause or "no cause given")


def _best(records: Sequence[RunRecord], metric: str, goal: Goal) -> BestSoFar | None:
    found = [
        BestSoFar(record.run or 0, best.value, best.epoch, record.status.ended)
        for record in sorted(records, key=lambda one: one.run or 0)
        if record.status not in (RunStatus.FAILED, RunStatus.DROPPED)
        and (best := record.best(metric, goal)) is not None
    ]
    choose = max if goal == "maximize" else min
    return choose(found, key=lambda one: one.value, default=None)
