"""A sweep as processes of this machine: `submit` runs them, and returns when all have ended.

Whatever ends it (Ctrl-C, SIGTERM, `kill -9`) ends its runs too; submitting again resumes them. A
lock file says that the sweep is active.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from jobsight.commands import die_with
from jobsight.errors import ClusterError
from jobsight.files import write_json
from jobsight.locks import holder, is_locked, take
from jobsight.tuning.folder import Sweep, saved
from jobsight.tuning.scheduler import RESUME, NodeStatus, Status, last_line, words_of

__all__ = ["Here", "processes_of"]

_RETRIES = 2
"""Times that a run is started again after its process failed."""
_TURN = 0.2


class Here:
    """Processes of this machine; one `submit` of a sweep at a time."""

    def write(self, sweep: Sweep, runs: Sequence[int]) -> list[Path]:
        """Nothing is to be written."""
        return []

    def submit(
        self, sweep: Sweep, runs: Sequence[int], watch: Callable[[], None] = lambda: None
    ) -> str:
        """Run these runs, and return when none can go on; finishing is the caller's.

        Args:
            sweep: planned.
            runs: that have not ended.
            watch: is called about every second.

        Raises:
            ClusterError: the sweep is active already, or it was stopped; runs that fail do not
                raise, `status` has them.
        """
        lock = take(_lock(sweep))
        if lock is None:
            raise ClusterError(f"the sweep is active ({holder(_lock(sweep))}); wait or cancel it")
        try:
            stopped = _Pool(sweep, list(runs)).run(watch)
        finally:
            os.close(lock)
        if stopped:
            raise ClusterError("stopped; submit again to continue")
        return f"process {os.getpid()}"

    def status(self, sweep: Sweep) -> Status:
        """Whether a process works on it, and which runs could not be run."""
        active = is_locked(_lock(sweep)) is True
        nodes = {}
        if (path := sweep.submitted / "failed.json").exists():
            for name, (cause, log) in saved(path, "").items():
                nodes[name] = NodeStatus("failed", cause, socket.gethostname(), log)
        who = holder(_lock(sweep))
        return Status(active, str(who) if who and active else None if who is None else "", nodes)

    def cancel(self, sweep: Sweep) -> None:
        """Stop the process that runs the sweep; it must be of this machine."""
        who = holder(_lock(sweep))
        if not is_locked(_lock(sweep)) or who is None:
            raise ClusterError("the sweep is not active; there is nothing to cancel")
        if who.machine != socket.gethostname():
            raise ClusterError(f"the sweep is run by {who}; cancel it there")
        os.kill(who.process, signal.SIGTERM)


def _lock(sweep: Sweep) -> Path:
    return sweep.submitted / "here.lock"


def processes_of(sweep: Sweep) -> int:
    """How many runs run at once: as many as cores and memory allow, one where they ask for GPUs."""
    config, asked = sweep.config, sweep.config.resources
    if config.at_once is not None:
        return config.at_once
    if asked.gpus:
        return 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    cores = len(os.sched_getaffinity(0))
    return max(1, min(cores // asked.cpus, memory // asked.memory, 500))


class _Pool:
    """The processes of one submission."""

    def __init__(self, sweep: Sweep, runs: list[int]) -> None:
        self.sweep, self.waiting = sweep, runs
        self.failures: dict[int, int] = {}
        self.failed: dict[str, tuple[str, str]] = {}
        self.running: dict[int, subprocess.Popen[bytes]] = {}
        self.stopped = 0
        runner = "apptainer" if shutil.which("apptainer") else "singularity"
        self.words = partial(words_of, sweep, runner=runner)
        program = sweep.config.program.environment
        threads = str(sweep.config.resources.cpus)
        self.environment = {**os.environ, "OMP_NUM_THREADS": threads, **program}

    def run(self, watch: Callable[[], None]) -> int:
        """Run all; how often it was asked to stop."""
        most, looked = processes_of(self.sweep), 0.0
        write_json(self.sweep.submitted / "failed.json", {})
        try:
            with self._stopping_on_signals():
                while self.running or (self.waiting and not self.stopped):
                    while self.waiting and len(self.running) < most and not self.stopped:
                        self._start(self.waiting.pop(0))
                    time.sleep(_TURN)
                    for run, process in list(self.running.items()):
                        if (code := process.poll()) is not None:
                            del self.running[run]
                            self._judge(run, code)
                    if time.monotonic() - looked > 1.0:
                        watch()
                        looked = time.monotonic()
        finally:
            for process in self.running.values():
                process.kill()
                process.wait()
        return self.stopped

    def _start(self, run: int) -> None:
        log = self.sweep.submitted / "logs" / f"run-{run:04d}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        words = self.words("run", str(run))
        try:
            with log.open("ab") as stream:
                self.running[run] = subprocess.Popen(  # noqa: S603  # no shell
                    words,
                    cwd=self.sweep.planned.folder,
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=stream,
                    start_new_session=True,  # Ctrl-C is handed on by us, once
                    preexec_fn=partial(die_with, os.getpid()),  # noqa: PLW1509  # one thread
                )
        except OSError as error:
            raise ClusterError(f"cannot run {words[0]}: {error.strerror}") from None

    def _judge(self, run: int, code: int) -> None:
        """Start a run again, or record why it could not be run."""
        if code == 0 or self.stopped:
            return
        if code == RESUME:
            self.waiting.insert(0, run)
            return
        self.failures[run] = self.failures.get(run, 0) + 1
        if self.failures[run] <= _RETRIES:
            self.waiting.insert(0, run)
            return
        name = f"run-{run:04d}"
        log = f"submitted/logs/{name}.log"
        how = f"killed by signal {-code}" if code < 0 else f"exit status {code}"
        line = last_line(self.sweep.folder / log)
        self.failed[name] = (f"{how}: {line}" if line else how, log)
        write_json(self.sweep.submitted / "failed.json", self.failed)

    @contextlib.contextmanager
    def _stopping_on_signals(self) -> Iterator[None]:
        """The first signal asks runs to save and to end, a second one kills them."""

        def stop(*_: object) -> None:
            self.stopped += 1
            for process in self.running.values():
                process.send_signal(signal.SIGTERM if self.stopped == 1 else signal.SIGKILL)

        before = {
            number: signal.signal(number, stop)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
