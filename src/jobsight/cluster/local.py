"""Plans as processes of this machine: `submit` runs them, and comes back when all is done.

Whatever ends it (Ctrl-C, SIGTERM, `kill -9`) ends its nodes too; submitting again goes on with what
is not done. One lock file says that a plan is being worked on.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from jobsight.cluster.base import SUBMITTED, PlanStatus, Scheduler, busy
from jobsight.cluster.localstatus import status_of
from jobsight.cluster.manager import Limits, Manager, Task
from jobsight.cluster.plan import Node, Plan
from jobsight.cluster.starting import START_SCRIPT, START_SCRIPT_LINES, contained, unpacking
from jobsight.cluster.states import Attempt, done, make_folders, plan_digest, read_states
from jobsight.errors import ClusterError
from jobsight.files import new_file, read_json, write_json
from jobsight.locks import holder, is_locked, take
from jobsight.text import counted, printable

__all__ = ["MOST_PROCESSES", "Local", "processes_of"]

_RECORD = "here.json"
_LOCK = "here.lock"
_STOP = "here.stop"
_PROCESSES = "processes"
MOST_PROCESSES = 500
"""Nodes that run at once: each costs a descriptor, and `select` takes 1024 of them."""
_STOP_SECONDS = 90.0
"""Beyond the grace of nodes, for a manager on another machine to see the file that says stop."""
_ENDING_SECONDS = 5.0
"""Beyond the grace of nodes, for those of a killed manager to be gone."""


class Local(Scheduler):
    """Processes of this machine.

    Option ``processes``: how many nodes run at once. Without it as many as cores and memory allow,
    and one where nodes ask for graphics processors.

    Args:
        limits: how long is waited, and how much of the logs is kept.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()

    def write(self, plan: Plan) -> list[Path]:
        """Make the folders of states and logs; where there is a pack, the script that unpacks it.

        Raises:
            ClusterError: the plan is active, or an option is unknown or bad.
            OutputError: a file cannot be written.
        """
        if is_locked(_place(plan) / _LOCK):
            raise busy(plan, _who(plan))
        processes_of(plan)
        return _write(plan)

    def submit(self, plan: Plan) -> str:
        """Run the plan's nodes that are not done, and come back when none can go on.

        Nodes that fail do not raise; ask `status`. The first SIGINT, SIGTERM or SIGHUP asks nodes
        to end, a second one kills them (in the main thread; `cancel` works in any).

        Returns:
            This process, in words.

        Raises:
            ClusterError: the plan is active or all done; an option is bad; or it was stopped.
            OutputError: a state cannot be written; all nodes were ended.
        """
        processes = processes_of(plan)
        lock = self._lock(plan)
        try:
            _write(plan)
            digest, states = plan_digest(plan), _states(plan)
            if all(map(done, states.values())):
                raise ClusterError(f"plan {plan.name} is all done; there is nothing to go on with")
            submission = _submission(plan) + 1
            write_json(_place(plan) / _RECORD, {"submission": submission})
            manager = Manager(
                *(plan.folder, digest, submission, states, processes, lock, self._limits),
                told_to_stop=lambda: _told_to_stop(plan),
            )
            with _stopping_on_signals(manager):
                manager.run([[_task(plan, node) for node in stage.nodes] for stage in plan.stages])
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
        """What is known of the plan and its nodes."""
        active = is_locked(_place(plan) / _LOCK) is True
        states = _states(plan)
        who = _who(plan) if active or any(states.values()) else None
        return status_of(plan, states, _submission(plan), who, active=active)

    def cancel(self, plan: Plan) -> None:
        """Tell whoever runs the plan, on any machine, to end it; come back when it has.

        Raises:
            ClusterError: nobody runs it, or it does not end.
        """
        lock = _place(plan) / _LOCK
        if not is_locked(lock):
            raise ClusterError(f"plan {plan.name} is not active; there is nothing to cancel")
        told = ""
        end = time.monotonic() + self._limits.grace + _STOP_SECONDS
        while is_locked(lock):
            if (who := _who(plan)) != told:
                told = who
                with new_file(_place(plan) / _STOP) as temporary:
                    temporary.write_text(who)
            if time.monotonic() > end:
                raise ClusterError(f"{who} was told to stop and has not; look at it")
            time.sleep(0.1)

    def _lock(self, plan: Plan) -> int:
        """Take the plan; nodes of a killed manager are given time to be gone."""
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
    """How many nodes of a plan run at once.

    Raises:
        ClusterError: an option for here is unknown or bad.
    """
    options = plan.options.get("here", {})
    for name in options:
        if name != _PROCESSES:
            raise ClusterError(f"here: there is no option {printable(name, 60)!r}; known is "
                               f"{_PROCESSES}")  # fmt: skip
    given = options.get(_PROCESSES)
    if given is not None:
        if not (isinstance(given, str) and given.isdecimal() and given.isascii()) or not (
            len(given) < 6 and 1 <= int(given) <= MOST_PROCESSES
        ):
            raise ClusterError(
                f"here: processes is {printable(given, 40)!r}; give 1 to {MOST_PROCESSES}"
            )
        return int(given)
    asked = [node.resources for node in plan.nodes()]
    if any(one.gpus for one in asked):
        return 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    fit = (cores or 1) // max(one.cpus for one in asked)
    return max(1, min(MOST_PROCESSES, fit, memory // max(one.memory_mb for one in asked)))


def _place(plan: Plan) -> Path:
    return plan.folder / SUBMITTED


def _states(plan: Plan) -> dict[str, list[Attempt]]:
    return read_states(plan.folder, (node.name for node in plan.nodes()), plan_digest(plan))


def _write(plan: Plan) -> list[Path]:
    make_folders(plan.folder)
    if plan.program.pack is None:
        return []
    script = _place(plan) / START_SCRIPT
    with new_file(script) as temporary:
        temporary.write_text("\n".join((*START_SCRIPT_LINES, "")))
    return [script]


def _task(plan: Plan, node: Node) -> Task:
    """How a node is started here: in the plan's folder, in a container, or from a pack."""
    if plan.program.image is not None and not node.near:
        runner = next(filter(shutil.which, ("apptainer", "singularity")), None)
        if runner is None:
            raise ClusterError("the plan has a container image, and apptainer is not on the PATH")
        words = contained(plan, node, runner=runner)
    else:
        place = _place(plan)
        pack = plan.program.pack or ""
        words = unpacking(plan, node, script=place / START_SCRIPT, pack=pack, place=place / "pack")
    threads = {"OMP_NUM_THREADS": str(node.resources.cpus)}  # as HTCondor and Slurm jobs have it
    return Task(node, words, {**os.environ, **threads, **plan.program.environment})


def _who(plan: Plan) -> str:
    return str(holder(_place(plan) / _LOCK) or "by an unknown process")


def _told_to_stop(plan: Plan) -> str | None:
    """Whether the file that says stop means who holds the plan now: one left behind does not."""
    try:
        told = (_place(plan) / _STOP).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return "cancelled" if told == _who(plan) else None


def _submission(plan: Plan) -> int:
    """How often the plan was handed over here."""
    try:
        return max(0, int(read_json(_place(plan) / _RECORD, dict)["submission"]))
    except (OSError, ValueError, TypeError, LookupError, OverflowError):
        return 0


@contextlib.contextmanager
def _stopping_on_signals(manager: Manager) -> Iterator[None]:
    """Signals ask the nodes to end, then kill them; only the main thread can be told by signals."""

    def stop(number: int, _: FrameType | None) -> None:
        if manager.stopping:
            manager.hurry()
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
