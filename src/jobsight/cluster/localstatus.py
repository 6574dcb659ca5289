"""How a plan fares that runs, or ran, as processes here: from the states of its nodes alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jobsight.cluster.base import NodeState, PlanStatus
from jobsight.cluster.manager import STOPPED
from jobsight.cluster.plan import Plan
from jobsight.cluster.states import Attempt, done, explained, last_words, node_status, words

__all__ = ["status_of"]


def status_of(
    plan: Plan,
    states: Mapping[str, Sequence[Attempt]],
    submission: int,
    manager: str | None,
    *,
    active: bool,
) -> PlanStatus:
    """The status of a plan.

    Args:
        plan: what was handed over.
        states: attempts of each of its nodes.
        submission: the number of the latest handing over.
        manager: who runs it, or did.
        active: somebody does.
    """
    nodes = {}
    reached = active
    for stage in plan.stages:
        for node in stage.nodes:
            attempts = states[node.name]
            state = _state(attempts, submission, active=active, reached=reached)
            cause, log = _cause(plan, node.name, state, attempts[-1] if attempts else None)
            nodes[node.name] = node_status(node.name, state, cause, attempts, log)
        reached = reached and all(done(states[node.name]) for node in stage.nodes)
    return PlanStatus(active, nodes, manager)


def _state(
    attempts: Sequence[Attempt], submission: int, *, active: bool, reached: bool
) -> NodeState:
    if done(attempts):
        return NodeState.DONE
    last = attempts[-1] if attempts else None
    if active and (last is None or last.submission < submission):
        return NodeState.QUEUED if reached else NodeState.WAITING
    if last is None:
        return NodeState.WAITING
    if last.ended is None:
        return NodeState.RUNNING if active else NodeState.REMOVED
    if last.cause == STOPPED:
        return NodeState.REMOVED
    if last.final:
        return NodeState.FAILED
    return NodeState.QUEUED if active else NodeState.REMOVED


def _cause(
    plan: Plan, name: str, state: NodeState, last: Attempt | None
) -> tuple[str | None, str | None]:
    """Why a node is not done: the last of what it told stands behind how it ended; and its log."""
    if last is None or state not in (NodeState.FAILED, NodeState.REMOVED):
        return None, None
    if last.cause == STOPPED:
        return "it was stopped; submit again to go on", None
    if last.status is None:
        return "it was ended together with what ran it; submit again to go on", None
    how = f"{last.cause}; {words(last.status)}" if last.cause else words(last.status)
    told, log = last_words(plan.folder, name)
    return explained(how, told, last.status), log
