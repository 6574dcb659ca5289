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
from jobsight.cluster.plan import CHECKPOINT, Node, Stage
from jobsight.cluster.states import Attempt, append, done, logs, state_file, take
from jobsight.errors import ClusterError

__all__ = ["STOPPED", "Limits", "Manager"]

_TURN = 0.2
"""Seconds between two checks of what wakes no `select`: signals, the file that says stop."""
STOPPED = "stopped"


@dataclass(frozen=True)
class Limits:
    """Spans in seconds, and counts.

    Attributes:
        grace: between SIGTERM and SIGKILL.
        quick: a node that asks to be started again sooner than that made no progress.
        quick_most: so often in a row, then it has failed.
        pause: before such a node, or one that failed, is started again.
    """

    grace: float = 30.0
    quick: float = 5.0
    quick_most: int = 20
    pause: float = 2.0


Start = Callable[[Node], tuple[Sequence[str], Mapping[str, str]]]
"""The words and the environment that start a node."""


@dataclass
class _Work:
    """A node in this submission."""

    node: Node
    failures: int = 0
    quick: int = 0
    not_before: float = 0.0


@dataclass
class _Running:
    work: _Work
    process: subprocess.Popen[bytes]
    life: socket.socket
    started: float
    cause: str | None = None
    """Why it was asked to end."""


@dataclass
class Manager:
    """Runs one submission of a plan. For one thread.

    Attributes:
        digest: the plan's.
        submission: its number.
        states: attempts of all nodes; kept up to date.
        processes: how many nodes run at once.
        lock: descriptor of the lock file, inherited by the guards, so that no other manager begins
            while a node is still being ended.
        start: of a node.
        stop_reason: called again and again; a reason to stop, or None.
    """

    folder: Path
    digest: str
    submission: int
    states: dict[str, list[Attempt]]
    processes: int
    lock: int
    limits: Limits
    start: Start
    stop_reason: Callable[[], str | None]
    stopping: str | None = field(default=None, init=False)
    _running: list[_Running] = field(default_factory=list, init=False)

    def run(self, stages: Sequence[Stage]) -> None:
        """Run until all is done, nothing can go on, or there is a reason to stop.

        Raises:
            ClusterError: a node cannot be started at all.
            OutputError: its state cannot be written. All nodes were ended then.
        """
        try:
            for stage in stages:
                if not self._run_stage(stage):
                    break
        finally:  # closing their lives ends the nodes
            for one in self._running:
                one.life.close()
            for one in self._running:
                one.process.wait()

    def kill(self) -> None:
        """Kill what was asked to end and has not; for a signal's handler."""
        for one in self._running:
            one.process.send_signal(signal.SIGQUIT)

    def _run_stage(self, stage: Stage) -> bool:
        """Whether all of a stage is done."""
        waiting = [_Work(node) for node in stage.nodes if not done(self.states[node.name])]
        while waiting or self._running:
            self._end_some()
            if self.stopping:
                waiting = []
            ready = [one for one in waiting if one.not_before <= time.monotonic()]
            for one in ready[: self.processes - len(self._running)]:
                waiting.remove(one)
                self._start(one)
            waiting += self._ended()
        return all(done(self.states[node.name]) for node in stage.nodes)

    def _end_some(self) -> None:
        """Ask nodes to end: all, if there is a reason to stop; those over their time."""
        self.stopping = self.stopping or self.stop_reason()
        now = time.monotonic()
        for one in self._running:
            most = one.work.node.resources.seconds
            if self.stopping and one.cause != STOPPED:
                one.cause = STOPPED
                one.process.terminate()
            elif one.cause is None and most is not None and now > one.started + most:
                one.cause = f"over its time of {most} s"
                one.process.terminate()

    def _start(self, work: _Work) -> None:
        node = work.node
        words, environment = self.start(node)
        out, err = logs(self.folder, node.name)
        ours, theirs = socket.socketpair()
        try:
            with theirs, out.open("ab") as output, err.open("ab") as errors:
                process = subprocess.Popen(  # noqa: S603  # no shell; the plan's own command
                    guard.command(words, life=theirs.fileno(), grace=self.limits.grace),
                    cwd=self.folder,
                    env=dict(environment),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=errors,
                    pass_fds=(theirs.fileno(), self.lock),
                    start_new_session=True,
                )
        except OSError as error:
            ours.close()
            raise ClusterError(f"cannot start node {node.name}: {error.strerror}") from None
        self._running.append(_Running(work, process, ours, time.monotonic()))
        about = {"host": socket.gethostname(), "job": str(process.pid)}
        self._record(node.name, {"event": "start", **about})

    def _ended(self) -> list[_Work]:
        """Wait a moment for nodes to end; those that are to be started again."""
        again: list[_Work] = []
        ended, _, _ = select.select([one.life for one in self._running], [], [], _TURN)
        for one in [one for one in self._running if one.life in ended]:
            self._running.remove(one)
            one.life.close()
            if self._judge(one, one.process.wait()):
                again.append(one.work)
        return again

    def _judge(self, one: _Running, code: int) -> bool:
        """Record how a node ended; whether it is to be started again."""
        work, limits, now = one.work, self.limits, time.monotonic()
        node = work.node
        status = code if code >= 0 else 128 - code
        cause, again = one.cause, False
        if status == 0:
            cause = None
        elif node.checkpoints and status == CHECKPOINT:
            work.quick = work.quick + 1 if now - one.started < limits.quick else 0
            again = work.quick < limits.quick_most
            if not again:
                cause = f"asked to be started again {work.quick} times without progress"
        else:
            work.failures += 1
            again = work.failures <= node.retries
        again = again and not self.stopping
        if work.quick or work.failures:
            work.not_before = now + limits.pause
        end: dict[str, object] = {"event": "end", "status": status}
        end |= {"cause": cause} if cause else {}
        self._record(node.name, end | ({} if again else {"final": True}))
        return again

    def _record(self, name: str, line: dict[str, object]) -> None:
        whole = {
            **line,
            "plan": self.digest,
            "submission": self.submission,
            "time": time.time_ns() // 1000,
        }
        take(self.states[name], whole, self.digest)
        append(state_file(self.folder, name), whole)
