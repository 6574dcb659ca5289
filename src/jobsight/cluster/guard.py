"""Watches one process for whoever started this one, and ends it when that one is gone.

Run as a script of the standard library alone, `command` tells how. It runs the command in a session
of its own, hands signals on, keeps the end of what it writes, and leaves as the command did. The
socket is its starter's life: when it is closed, by `kill -9` even, the command is asked to end
(SIGTERM) and, `grace` seconds later, killed with all of its children. When the guard itself is
killed, the kernel kills the command.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

__all__ = ["command"]

_PIECE = 1 << 16
_DRAIN_SECONDS = 1.0
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
"""prctl(2): what the command leaves behind becomes a child of the guard."""


def command(
    words: Sequence[str], *, life: int, grace: float, logs: tuple[Path, Path], most: int
) -> list[str]:
    """The command that runs this file.

    Args:
        words: the command to be watched.
        life: descriptor of a socket, which it must inherit.
        grace: seconds between asking the command to end and killing it.
        logs: files that standard output and standard error are appended to.
        most: bytes after which such a file is renamed ``….old`` and a new one begun.
    """
    told = [str(life), str(grace), str(most), *map(str, logs)]
    return [sys.executable, "-I", "-S", __file__, *told, *words]


class _Log:
    """A file of bounded size. What cannot be written is lost: a full disk must end no work."""

    def __init__(self, path: str, most: int) -> None:
        self.path = path
        self.most = most
        self.stream = self._open()

    def _open(self) -> int | None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        try:
            return os.open(self.path, flags, 0o666)
        except OSError:
            return None

    def write(self, data: bytes) -> None:
        if self.stream is None:
            return
        with contextlib.suppress(OSError):
            os.write(self.stream, data)
            if os.fstat(self.stream).st_size > self.most:
                os.replace(self.path, self.path + ".old")  # noqa: PTH105
                os.close(self.stream)
                self.stream = self._open()


class _Guard:
    def __init__(self, child: subprocess.Popen[bytes], life: int, grace: float) -> None:
        self.child = child
        self.life = life
        self.grace = grace
        self.deadline: float | None = None

    def ask_to_end(self) -> None:
        """SIGTERM to the command, once; SIGKILL to it and its children later."""
        if self.deadline is None:
            self.deadline = time.monotonic() + self.grace
            self.hand_on(signal.SIGTERM)

    def hand_on(self, number: int) -> None:
        if self.child.poll() is None:
            self.child.send_signal(number)

    def kill(self) -> None:
        """Kill whatever is left of the command's session's group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.child.pid, signal.SIGKILL)

    def clear(self) -> None:
        """Kill the children that the command left, and wait until they are gone, a moment."""
        self.kill()
        end = time.monotonic() + _DRAIN_SECONDS
        with contextlib.suppress(ChildProcessError):  # all are gone, or are not ours to wait for
            while time.monotonic() < end:
                if os.waitpid(-self.child.pid, os.WNOHANG) == (0, 0):
                    time.sleep(0.005)

    def watch(self, files: dict[int, _Log]) -> int:
        """Relay until the command has ended; its status as `Popen` has it."""
        with selectors.DefaultSelector() as waiting:
            for number in (*files, self.life, _wakeups()):
                waiting.register(number, selectors.EVENT_READ)
            while self.child.poll() is None:
                left = 60.0 if self.deadline is None else self.deadline - time.monotonic()
                if left <= 0:
                    self.kill()
                    left = 1.0
                self._relay(waiting, files, left)
            self.clear()
            end = time.monotonic() + _DRAIN_SECONDS
            while self._relay(waiting, files, 0.0) and time.monotonic() < end:
                pass
        return self.child.returncode

    def _relay(
        self, waiting: selectors.BaseSelector, files: dict[int, _Log], timeout: float
    ) -> bool:
        """Take what there is; whether anything was written by the command."""
        relayed = False
        for key, _ in waiting.select(timeout):
            piece = os.read(key.fd, _PIECE)
            if not piece:
                waiting.unregister(key.fd)
            if key.fd in files and piece:
                files[key.fd].write(piece)
                relayed = True
            elif key.fd == self.life and not piece:
                self.ask_to_end()
        return relayed


def _wakeups() -> int:
    """A descriptor that can be read whenever a signal came, SIGCHLD too."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(AttributeError, OSError):  # only Linux has it
        ctypes.CDLL(None).prctl(option, value)


def _die_with_the_guard() -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _leave_as(status: int) -> None:
    if status < 0 and -status in (signal.SIGKILL, signal.SIGSTOP):
        os.kill(os.getpid(), -status)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        with contextlib.suppress(ImportError, ValueError, OSError):
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), -status)
    os._exit(status & 0xFF)


def _main() -> None:
    life, grace, most, out, err, *words = sys.argv[1:]
    early: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: early.append(signal.SIGTERM))
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    files = [_Log(path, int(most)) for path in (out, err)]
    try:
        child = subprocess.Popen(  # noqa: S603  # no shell; the words are the manager's
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=_die_with_the_guard,  # noqa: PLW1509  # there is one thread
        )
    except OSError as error:
        files[1].write(f"cannot run {words[0]}: {error.strerror}\n".encode())
        os._exit(126 if isinstance(error, PermissionError) else 127)
    assert child.stdout is not None
    assert child.stderr is not None
    guard = _Guard(child, int(life), float(grace))
    signal.signal(signal.SIGTERM, lambda *_: guard.ask_to_end())
    signal.signal(signal.SIGQUIT, lambda *_: guard.kill())
    if early:
        guard.ask_to_end()
    _leave_as(guard.watch({child.stdout.fileno(): files[0], child.stderr.fileno(): files[1]}))


if __name__ == "__main__":
    _main()
