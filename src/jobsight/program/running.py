"""A command run under observation: started without a shell, its orphans adopted, signals forwarded.

The signals that end or wake the loop are blocked and fetched with a time limit, so a loop of
samples needs neither handlers nor polling. Those that the terminal sends reach the command by
themselves (it is in the same process group); only what another process sends is forwarded.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import TracebackType

from jobsight.errors import SourceError
from jobsight.program.counters import Counters
from jobsight.program.profile import WINDOW, Timeline, Window
from jobsight.program.sampling import Sampler
from jobsight.text import printable

__all__ = ["INTERVAL", "Observed", "Seen", "StartError", "observe"]

INTERVAL = 0.1
"""Seconds between samples, by default."""
_MOST_COST = 0.005
_BURST = 0.01
"""Share of a core that samples may take, and seconds more for some: where many processes cost more,
samples are rarer."""
_ASKS = 1.0
_FORWARDED = frozenset(
    {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2}
)
_ENDS = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
_PR_SET_CHILD_SUBREAPER = 36
_SPAWNED_DEFAULTS = (signal.SIGPIPE, signal.SIGXFSZ)  # Python ignores these


class StartError(SourceError):
    """The command cannot be started; the exit status is 127 (missing) or 126, as of a shell."""

    def __init__(self, command: str, error: OSError) -> None:
        super().__init__(f"cannot run {printable(command, 200)}: {error.strerror}")
        self.exit_status = 127 if isinstance(error, FileNotFoundError) else 126


class Observed:
    """A command while it runs, or processes that others started.

    Used as a context, in the main thread; signals come in the usual way afterwards.

    Attributes:
        status: exit status of the command as a shell reports it; None: it has not ended.
        stopped: a signal, or `asked`, ended the observation of others' processes.
    """

    def __init__(
        self, reaped: Callable[[float], None], asked: Callable[[], bool] = lambda: False
    ) -> None:
        """Begin with no command.

        Args:
            reaped: is given the CPU seconds of every process that ended and was waited for.
            asked: whether the observation is to end; asked every second at least.
        """
        self.status: int | None = None
        self.stopped = False
        self._reaped = reaped
        self._asked = asked
        self._pid: int | None = None

    def __enter__(self) -> Observed:
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, _FORWARDED | {signal.SIGCHLD})
        self._handler = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:  # fmt: skip
        signal.signal(signal.SIGCHLD, self._handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def start(self, command: Sequence[str], *, to_stderr: bool) -> None:
        """Start the command; processes whose parents end become children of this one.

        Args:
            command: the program, on the PATH or with a path, and its arguments.
            to_stderr: its standard output goes to standard error.

        Raises:
            StartError: it is missing, or no program.
        """
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        sys.stdout.flush()
        try:
            self._pid = os.posix_spawnp(
                command[0],
                list(command),
                os.environ,
                file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)] if to_stderr else [],
                setsigmask=self._mask,
                setsigdef=_SPAWNED_DEFAULTS,
            )
        except OSError as error:
            raise StartError(command[0], error) from error

    def wait(self, seconds: float) -> None:
        """Wait that long; less if the command ends, or a signal ends the observation."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self._asked():
                self.stopped = True
                return
            found = signal.sigtimedwait(_FORWARDED | {signal.SIGCHLD}, min(left, _ASKS))
            if found is None:
                continue
            if found.si_signo == signal.SIGCHLD:
                if self._has_ended():
                    return
            elif self._pid is None:
                self.stopped = found.si_signo in _ENDS
                if self.stopped:
                    return
            elif found.si_code <= 0:  # SI_USER and others, not the kernel for the terminal
                os.kill(self._pid, found.si_signo)

    def _has_ended(self) -> bool:
        """Wait for orphans that ended; whether the command did, which is left as it is."""
        while (ended := _ended()) is not None and ended != self._pid:
            self._collect(ended)
        return ended is not None

    @property
    def over(self) -> bool:
        """Whether the command has ended, or the observation was stopped."""
        return self.stopped or (self._pid is not None and self._has_ended())

    def finish(self) -> None:
        """Wait for the command, which has ended, and set `status`."""
        assert self._pid is not None
        self.status = self._collect(self._pid)

    def _collect(self, pid: int) -> int:
        _, status, usage = os.wait4(pid, 0)
        self._reaped(usage.ru_utime + usage.ru_stime)
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else 128 - code


def _ended() -> int | None:
    """A child that has ended and was not waited for yet."""
    try:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return found.si_pid if found else None


@dataclass
class Seen:
    """What `observe` saw, and what that cost."""

    timeline: Timeline
    samples: int = 0
    cost: float = 0.0
    """CPU seconds of observing: all that this process used meanwhile."""
    left: int = 0
    """Processes that still ran in the end."""


def observe(
    observed: Observed,
    sampler: Sampler,
    counters: Counters | None,
    *,
    interval: float = INTERVAL,
    patience: float = 0.0,
    show: Callable[[Timeline], None] = lambda _timeline: None,
) -> Seen:
    """Sample until the command or all processes have ended, or a signal ends the observation.

    Time without a process counts between the first one and the last one.

    Args:
        observed: entered, and its command started, if there is one.
        sampler: of the processes.
        counters: opened before the command started; None: hardware counts nothing.
        interval: seconds between two samples at least.
        patience: for so many seconds it goes on without a process.
        show: is given the timeline after each window.
    """
    seen, credit, over = Seen(Timeline()), _BURST, False
    gap = Window(0.0)
    begun = time.process_time()
    last = opened = alive = time.monotonic()
    while not over:
        observed.wait(max(interval, -credit / _MOST_COST))
        over = observed.over
        now, busy = time.monotonic(), time.thread_time()
        sampler.sample(now - last)
        credit = min(credit + (now - last) * _MOST_COST, _BURST)
        last = now
        alive = now if sampler.running else alive
        over = over or (not sampler.running and now - alive >= patience)
        if over or now - opened >= WINDOW:
            instructions, misses = counters.read() if counters else (None, None)
            idle = sampler.idle
            window = replace(sampler.window(), instructions=instructions, misses=misses)
            if not idle:
                if gap.seconds:
                    seen.timeline.add(gap)
                seen.timeline.add(window)
                gap = Window(0.0)
            elif seen.timeline.begun:
                gap += window
            opened = now
            show(seen.timeline)
        credit -= time.thread_time() - busy
        seen.samples += 1
    seen.timeline.close()
    seen.cost = time.process_time() - begun
    seen.left = sum(one.state not in "ZX" for one in sampler.running.values())
    return seen
