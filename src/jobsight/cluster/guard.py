"""Runs one command and ends it when the process that started this one is gone.

Run as a script of the standard library alone, `command` says how. The command runs in a session of
its own. When the socket `life` is closed (its owner ended, by `kill -9` even), or on SIGTERM, the
command gets SIGTERM and, `grace` seconds later, SIGKILL with all of its children; on SIGQUIT now.
When the guard itself is killed, the kernel kills the command.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

__all__ = ["command"]

_PR_SET_PDEATHSIG = 1
_PAUSE = 0.2
"""Seconds between two attempts to kill what does not end."""


def command(words: Sequence[str], *, life: int, grace: float) -> list[str]:
    """The command that runs this file; it exits with 128 + n where `words` ended by signal n.

    `life` is the descriptor of a socket, which it must inherit; `grace` the seconds between SIGTERM
    and SIGKILL.
    """
    return [sys.executable, "-I", "-S", __file__, str(life), str(grace), *words]


def _die_with_the_guard() -> None:
    with contextlib.suppress(AttributeError, OSError):  # only Linux has it
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kill the command and the children that are left of it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def _watch(
    child: subprocess.Popen[bytes], life: int, grace: float, wakeup: int, received: list[int]
) -> int:
    deadline = None
    while child.poll() is None:
        left = None if deadline is None else max(_PAUSE, deadline - time.monotonic())
        watched = [wakeup] if deadline is not None else [wakeup, life]
        ready, _, _ = select.select(watched, [], [], left)
        if wakeup in ready:
            os.read(wakeup, 4096)
        if deadline is None and (life in ready or signal.SIGTERM in received):
            deadline = time.monotonic() + grace
            child.terminate()
        if signal.SIGQUIT in received or (deadline and time.monotonic() >= deadline):
            _kill(child)
    _kill(child)
    return child.returncode


def _main() -> None:
    life, grace, *words = sys.argv[1:]
    wakeup, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    received: list[int] = []
    for number in (signal.SIGTERM, signal.SIGQUIT, signal.SIGCHLD):
        signal.signal(number, lambda number, _: received.append(number))
    try:
        child = subprocess.Popen(  # noqa: S603  # no shell; the words are the manager's
            words,
            start_new_session=True,
            preexec_fn=_die_with_the_guard,  # noqa: PLW1509  # there is one thread
        )
    except OSError as error:
        os.write(2, f"cannot run {words[0]}: {error.strerror}\n".encode())
        os._exit(126 if isinstance(error, PermissionError) else 127)
    status = _watch(child, int(life), float(grace), wakeup, received)
    os._exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    _main()
