"""Plans as processes of this machine: `submit` runs them, and returns when all is done.

Whatever ends it (Ctrl-C, SIGTERM, `kill -9`) ends its nodes too; submitting again goes on with what
is not done. A lock file says that a plan is active.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

from jobsight.cluster.base import SUBMITTED, NodeState, NodeStatus, PlanStatus, Scheduler, busy
from jobsight.cluster.manager import STOPPED, Limits, Manager
from jobsight.cluster.plan import Node, Plan
from jobsight.cluster.starting import contained, unpacking, write_start_script
from jobsight.cluster.states import (
    Attempt,
    done,
    explained,
    how_ended,
    last_line,
    logs,
    make_folders,
    node_status,
    plan_digest,
    read_states,
    require_undone,
)
from jobsight.errors import ClusterError
from jobsight.files import new_file
from jobsight.locks import holder, is_locked, take
from jobsight.text import counted, printable

__all__ = ["MOST_PROCESSES", "Local", "processes_of"]

_LOCK = "here.lock"
_STOP = "here.stop"
MOST_PROCESSES = 500
"""Nodes that run at once: each costs a descriptor, and `select` takes 1024 of them."""
_STOP_SECONDS = 90.0
"""Beyond the grace of nodes, for a manager on another machine to see the file that says stop."""
_ENDING_SECONDS = 5.0
"""Beyond the grace of nodes, for those of a killed manager to end."""


class Local(Scheduler):
    """Processes of this machine.

    Option ``processes``: how many nodes run at once. Without it as many as cores and memory allow,
    and one where nodes ask for graphics processors.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()

    def write(self, plan: Plan) -> list[Path]:
        """Make folders, and the script that unpacks a pack; see `Scheduler.write`."""
        if is_locked(_place(plan) / _LOCK):
            raise busy(plan, _who(plan))
        make_folders(plan.folder)
        return write_start_script(plan)

    def submit(self, plan: Plan) -> str:
        """Run the plan's nodes that are not done, and return when none can go on; this process.

        Nodes that fail do not raise; ask `status`. The first SIGINT, SIGTERM or SIGHUP asks nodes
        to end, a second one kills them (in the main thread; `cancel` works in any).

        Raises:
            ClusterError: the plan is active or all done, or it was stopped.
            OutputError: a state cannot be written; all nodes were ended.
        """
        processes = processes_of(plan)
        lock = self._lock(plan)
        try:
            make_folders(plan.folder)
            write_start_script(plan)
            states = read_states(plan)
            require_undone(plan, states)
            manager = Manager(
                *(plan.folder, plan_digest(plan), _submission(states) + 1, states),
                *(processes, lock, self._limits),
                start=lambda node: _command(plan, node),
                stop_reason=lambda: _stop_reason(plan),
            )
            with _stopping_on_signals(manager):
                manager.run(plan.stages)
        finally:
            with contextlib.suppress(OSError):
                (_place(plan) / _STOP).unlink(missing_ok=True)
            os.close(lock)
        finished = sum(map(done, states.values()))
        if manager.stopping and finished < len(states):
            raise ClusterError(
                f"{manager.stopping} when {finished} of {counted(len(states), 'node')} were done; "
                "submit again to go on"
            )
        return f"process {os.getpid()}"

    def status(self, plan: Plan) -> PlanStatus:
        """The status of the plan, from the states of its nodes alone."""
        active = reached = is_locked(_place(plan) / _LOCK) is True
        states = read_states(plan)
        nodes = {}
        for stage in plan.stages:
            for node in stage.nodes:
                attempts = states[node.name]
                current = bool(attempts) and attempts[-1].submission == _submission(states)
                if active and not current and not done(attempts):
                    state = NodeState.QUEUED if reached else NodeState.WAITING
                else:
                    state = _state(attempts, active=active)
                nodes[node.name] = _status(plan, node.name, state, attempts)
            reached = reached and all(done(states[node.name]) for node in stage.nodes)
        return PlanStatus(active, nodes, _who(plan) if active or any(states.values()) else None)

    def cancel(self, plan: Plan) -> None:
        """Have the process that runs the plan, on any machine, end it; return when it has."""
        lock = _place(plan) / _LOCK
        if not is_locked(lock):
            raise ClusterError(f"plan {plan.name} is not active; there is nothing to cancel")
        who = None
        end = time.monotonic() + self._limits.grace + _STOP_SECONDS
        while is_locked(lock):
            if who != _who(plan):
                who = _who(plan)
                with new_file(_place(plan) / _STOP) as temporary:
                    temporary.write_text(who)
            if time.monotonic() > end:
                raise ClusterError(f"{who} does not stop; look at it")
            time.sleep(0.1)

    def _lock(self, plan: Plan) -> int:
        """Lock the plan; nodes of a killed manager are given time to end."""
        if not plan.folder.is_dir():
            raise ClusterError(f"there is no folder {printable(plan.folder)}; plan again")
        path = _place(plan) / _LOCK
        end = time.monotonic() + self._limits.grace + _ENDING_SECONDS
        while (lock := take(path)) is None:
            who = holder(path)
            if who is None or not who.gone() or time.monotonic() > end:
                raise busy(plan, _who(plan))
        return lock


def processes_of(plan: Plan) -> int:
    """How many nodes of a plan run at once."""
    if "processes" in (options := plan.options.get("here", {})):
        return int(str(options["processes"]))
    asked = [node.resources for node in plan.nodes()]
    if any(one.gpus for one in asked):
        return 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    fit = (cores or 1) // max(one.cpus for one in asked)
    return max(1, min(MOST_PROCESSES, fit, memory // max(one.memory_mb for one in asked)))


def _place(plan: Plan) -> Path:
    return plan.folder / SUBMITTED


def _submission(states: Mapping[str, Sequence[Attempt]]) -> int:
    """The number of the latest submission in which a node was started."""
    return max((one.submission for attempts in states.values() for one in attempts), default=0)


def _state(attempts: Sequence[Attempt], *, active: bool) -> NodeState:
    if done(attempts):
        return NodeState.DONE
    if not attempts:
        return NodeState.WAITING
    last = attempts[-1]
    if last.ended is None:
        return NodeState.RUNNING if active else NodeState.REMOVED
    if last.final and last.cause != STOPPED:
        return NodeState.FAILED
    return NodeState.QUEUED if active and last.cause != STOPPED else NodeState.REMOVED


def _status(plan: Plan, name: str, state: NodeState, attempts: Sequence[Attempt]) -> NodeStatus:
    """With the cause and its log where it is not done."""
    if state not in (NodeState.FAILED, NodeState.REMOVED):
        return node_status(name, state, None, attempts)
    last = attempts[-1]
    if last.cause == STOPPED:
        return node_status(name, state, "it was stopped; submit again to go on", attempts)
    if last.status is None:
        cause = "it was ended together with what ran it; submit again to go on"
        return node_status(name, state, cause, attempts)
    line, log = last_line(plan.folder, *reversed(logs(plan.folder, name)))
    return node_status(name, state, explained(how_ended(last), line, last.status), attempts, log)


def _command(plan: Plan, node: Node) -> tuple[Sequence[str], Mapping[str, str]]:
    """How a node is started here: in the plan's folder, in a container, or from a pack."""
    if plan.program.image is not None and not node.near:
        runner = next(filter(shutil.which, ("apptainer", "singularity")), None)
        if runner is None:
            raise ClusterError("the plan has a container image, and apptainer is not on the PATH")
        words = contained(plan, node, runner=runner)
    else:
        words = unpacking(plan, node, _place(plan) / "pack")
    threads = {"OMP_NUM_THREADS": str(node.resources.cpus)}  # as HTCondor and Slurm jobs have it
    return words, {**os.environ, **threads, **plan.program.environment}


def _who(plan: Plan) -> str:
    return str(holder(_place(plan) / _LOCK) or "an unknown process")


def _stop_reason(plan: Plan) -> str | None:
    """Why to stop: the file that says so names who holds the plan now; one left behind does not."""
    try:
        named = (_place(plan) / _STOP).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return "cancelled" if named == _who(plan) else None


@contextlib.contextmanager
def _stopping_on_signals(manager: Manager) -> Iterator[None]:
    """Signals ask the nodes to end, then kill them; only the main thread receives signals."""

    def stop(number: int, _: FrameType | None) -> None:
        if manager.stopping:
            manager.kill()
        manager.stopping = manager.stopping or f"stopped by {signal.Signals(number).name}"

    before = {}
    with contextlib.suppress(ValueError):  # another thread
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup means it
                before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
