"""Runs a plan's nodes as processes of this machine, stage after stage, until nothing can go on.

One thread, one loop. Each node has a guard (`guard`) that ends it when this process is gone.
"""

from __future__ import annotations

import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jobsight.cluster import guard
from jobsight.cluster.plan import CHECKPOINT, Node
from jobsight.cluster.states import Attempt, append, done, logs, state_file, take
from jobsight.errors import ClusterError
from jobsight.history.pauses import Pause

__all__ = ["Limits", "Manager", "Task"]

_TURN = 0.2
"""Seconds between two looks at what nobody wakes us for: signals, the file that says stop."""
STOPPED = "stopped"


@dataclass(frozen=True)
class Limits:
    """How long is waited, and how much is kept. Spans in seconds.

    Attributes:
        grace: between asking a node to end and killing it.
        quick: a node that asks to be started again sooner than that got nowhere.
        quick_most: so often in a row, then it has failed.
        first_pause: before such a node, or one that failed, is started again; doubled each time.
        longest_pause: the bound of these.
        log_bytes: of a node's standard output, and of its error output, that are kept at least.
    """

    grace: float = 30.0
    quick: float = 5.0
    quick_most: int = 20
    first_pause: float = 1.0
    longest_pause: float = 30.0
    log_bytes: int = 1 << 20


@dataclass(frozen=True)
class Task:
    """A node and how it is started: its words, its environment."""

    node: Node
    words: Sequence[str]
    environment: Mapping[str, str]


@dataclass
class _Course:
    """How a node fares in this submission."""

    task: Task
    pause: Pause
    failures: int = 0
    quick: int = 0


@dataclass
class _Running:
    course: _Course
    process: subprocess.Popen[bytes]
    life: socket.socket
    started: float
    told: str | None = None
    """Why it was asked to end."""


@dataclass
class Manager:
    """One handing over of a plan. For one thread.

    Attributes:
        folder: the plan's.
        digest: the plan's.
        submission: its number.
        states: attempts of all nodes; kept up to date.
        processes: how many nodes run at once.
        lock: descriptor of the lock file, handed on to the guards, so that nobody else begins while
            a node of ours is still being ended.
        limits: how long is waited.
        told_to_stop: asked again and again; a reason, or None.
    """

    folder: Path
    digest: str
    submission: int
    states: dict[str, list[Attempt]]
    processes: int
    lock: int
    limits: Limits
    told_to_stop: Callable[[], str | None]
    stopping: str | None = field(default=None, init=False)
    _running: list[_Running] = field(default_factory=list, init=False)

    def run(self, stages: Sequence[Sequence[Task]]) -> None:
        """Run until all is done, nothing can go on, or somebody says stop.

        Raises:
            ClusterError: a node cannot be started at all.
            OutputError: its state cannot be written. All nodes were ended then.
        """
        try:
            for tasks in stages:
                if not self._run_stage(tasks):
                    break
        finally:
            self._end_all()

    def hurry(self) -> None:
        """Kill what was asked to end and has not; for a signal's handler."""
        for one in self._running:
            one.process.send_signal(signal.SIGQUIT)

    def _run_stage(self, tasks: Sequence[Task]) -> bool:
        """Whether all of a stage is done."""
        waiting = [
            _Course(task, Pause(self.limits.first_pause, self.limits.longest_pause))
            for task in tasks
            if not done(self.states[task.node.name])
        ]
        while waiting or self._running:
            self._heed()
            if self.stopping:
                waiting = []
            while waiting and len(self._running) < self.processes:
                ready = next((c for c in waiting if c.pause.over(time.monotonic())), None)
                if ready is None:
                    break
                waiting.remove(ready)
                self._start(ready)
            waiting += self._ended(self._timeout(waiting))
        return all(done(self.states[task.node.name]) for task in tasks)

    def _timeout(self, waiting: Sequence[_Course]) -> float:
        if len(self._running) >= self.processes or not waiting:
            return _TURN
        now = time.monotonic()
        return min([_TURN, *(course.pause.left(now) for course in waiting)])

    def _heed(self) -> None:
        """Ask nodes to end: all, if somebody said stop; those over their time."""
        self.stopping = self.stopping or self.told_to_stop()
        now = time.monotonic()
        for one in self._running:
            most = one.course.task.node.resources.seconds
            if self.stopping and one.told != STOPPED:
                one.told = STOPPED
                one.process.terminate()
            elif one.told is None and most is not None and now > one.started + most:
                one.told = f"over its time of {most} s"
                one.process.terminate()

    def _start(self, course: _Course) -> None:
        node = course.task.node
        ours, theirs = socket.socketpair()
        words = guard.command(
            course.task.words,
            life=theirs.fileno(),
            grace=self.limits.grace,
            logs=logs(self.folder, node.name),
            most=self.limits.log_bytes,
        )
        with theirs:
            try:
                process = subprocess.Popen(  # noqa: S603  # no shell; the plan's own command
                    words,
                    cwd=self.folder,
                    env=dict(course.task.environment),
                    stdin=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(), self.lock),
                    start_new_session=True,
                )
            except OSError as error:
                ours.close()
                raise ClusterError(f"cannot start node {node.name}: {error.strerror}") from None
        self._running.append(_Running(course, process, ours, time.monotonic()))
        about = {"host": socket.gethostname(), "job": str(process.pid)}
        self._tell(node.name, {"event": "start", **about})

    def _ended(self, timeout: float) -> list[_Course]:
        """Wait for nodes to end; those that are to be started again."""
        again: list[_Course] = []
        lives, _, _ = select.select([one.life for one in self._running], [], [], timeout)
        for one in [one for one in self._running if one.life in lives]:
            self._running.remove(one)
            one.life.close()
            if self._judge(one, one.process.wait()):
                again.append(one.course)
        return again

    def _judge(self, one: _Running, code: int) -> bool:
        """Write down how a node ended; whether it is to be started again."""
        course, limits, now = one.course, self.limits, time.monotonic()
        node = course.task.node
        status = code if code >= 0 else 128 - code
        cause, again = one.told, False
        if status == 0:
            cause = None
        elif node.checkpoints and status == CHECKPOINT:
            course.quick = course.quick + 1 if now - one.started < limits.quick else 0
            again = course.quick < limits.quick_most
            if not again:
                cause = f"asked to be started again {course.quick} times without getting on"
        else:
            course.failures += 1
            again = course.failures <= node.retries
        again = again and not self.stopping
        if course.quick or course.failures:
            course.pause.failed(now)
        end: dict[str, object] = {"event": "end", "status": status}
        end |= {"cause": cause} if cause else {}
        self._tell(node.name, end | ({} if again else {"final": True}))
        return again

    def _tell(self, name: str, line: dict[str, object]) -> None:
        told = {
            **line,
            "plan": self.digest,
            "submission": self.submission,
            "time": time.time_ns() // 1000,
        }
        take(self.states[name], told, self.digest)
        append(state_file(self.folder, name), told)

    def _end_all(self) -> None:
        """After trouble of our own: closing their lives ends the nodes; wait for the guards."""
        for one in self._running:
            one.life.close()
        for one in self._running:
            one.process.wait()
        self._running.clear()
