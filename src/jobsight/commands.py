"""The schedulers' tools as child processes, without a shell, bounded in time and output."""

from __future__ import annotations

import ctypes
import os
import re
import resource
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

__all__ = [
    "Ended",
    "bounded_child",
    "child_environment",
    "die_with",
    "end_commands",
    "find_tool",
    "lower_limit",
    "run_command",
    "status_kb",
]

_MOST_STDERR = 64 << 10
_PIECE = 1 << 18
_NOT_THEIRS = ("JOBSIGHT_", "LANG", "LC_")
"""Our settings, which hold passwords, and what makes a tool answer in another language."""

_PR_SET_PDEATHSIG = 1
_MOST_MEMORY = 512 << 20
"""Bytes that a program may allocate that reads a script."""
_MOST_WRITTEN = 64 << 20
_LIBC = ctypes.CDLL(None)

_running: set[subprocess.Popen[bytes]] = set()
"""What `run_command` has begun, in any thread."""


def child_environment(**more: str) -> dict[str, str]:
    """Our environment without our settings, in the language C."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_THEIRS)}
    return {**kept, "LC_ALL": "C", **more}


def find_tool(name: str, folder: Path | None, prefix: Sequence[str]) -> str | None:
    """What to run for a tool, of a folder or the PATH; None: it is missing.

    Behind a `prefix` there may be another file system: nothing is checked there.
    """
    if folder is not None:
        path = folder / name
        return str(path) if prefix or path.exists() else None
    return name if prefix else shutil.which(name)


def die_with(parent: int) -> None:
    """Have the kernel kill this process when the thread of `parent` that started it ends."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def bounded_child() -> Callable[[], None]:
    """What a child does before it becomes a program that reads a script: `preexec_fn` of Popen.

    The program ends with this process, and is limited in memory and in what it writes.
    """
    parent = os.getpid()

    def before() -> None:
        die_with(parent)
        lower_limit(resource.RLIMIT_CORE, 0, for_good=True)
        lower_limit(resource.RLIMIT_DATA, _MOST_MEMORY, for_good=True)
        lower_limit(resource.RLIMIT_FSIZE, _MOST_WRITTEN, for_good=True)

    return before


def lower_limit(limit: int, most: int, *, for_good: bool = False) -> None:
    """Limit this process (setrlimit(2)) to `most`, or less where less is allowed.

    Args:
        limit: such as `resource.RLIMIT_DATA`.
        most: in the limit's unit.
        for_good: it cannot be raised again; else up to what this process was given.
    """
    hard = resource.getrlimit(limit)[1]
    lower = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(limit, (lower, lower if for_good else hard))


def status_kb(name: str) -> int:
    """An amount of memory of this process in KiB, such as ``VmRSS`` (proc_pid_status(5)); or 0."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(rf"{name}:\s*(\d+) kB", status)
    return int(found[1]) if found else 0


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int | None
    """Exit status, or minus a signal; None: it was stopped for its time or its output."""
    stdout: bytes
    stderr: bytes
    seconds: float
    overflow: bool = False
    """It printed more than was allowed."""


def run_command(
    arguments: Sequence[str],
    *,
    env: Mapping[str, str],
    timeout: float,
    most_output: int,
    folder: Path | None = None,
    before: Callable[[], None] | None = None,
) -> Ended:
    """Run a command to its end, or stop it and all its children after `timeout` seconds.

    Of standard error 64 KiB are kept. `before` is called in the child before the program begins.

    Raises:
        OSError: it cannot be started (missing, no permission; the folder is).
    """
    started = time.monotonic()
    process = subprocess.Popen(  # noqa: S603  # no shell; the path is the settings'
        list(arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(env),
        cwd=folder,
        start_new_session=True,
        preexec_fn=before,  # noqa: PLW1509  # it takes no lock
    )
    assert process.stdout is not None
    assert process.stderr is not None
    _running.add(process)
    try:
        with process.stdout, process.stderr:
            deadline = started + timeout
            complete, output, errors = _drain(process.stdout, process.stderr, deadline, most_output)
        if complete:  # what is left is the moment between closing its pipes and leaving
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, started + timeout - time.monotonic()))
        status = process.poll()
    finally:
        if process.poll() is None:
            _kill(process)
            process.wait()
        _running.discard(process)
    took = time.monotonic() - started
    return Ended(status, output, errors, took, overflow=len(output) > most_output)


def end_commands() -> None:
    """End what `run_command` runs now, in whatever thread: there it comes back as killed."""
    for process in tuple(_running):
        if process.returncode is None:
            _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _drain(
    stdout: IO[bytes], stderr: IO[bytes], deadline: float, most: int
) -> tuple[bool, bytes, bytes]:
    """Read both pipes until they are closed (then True), the time is over, or too much is there."""
    kept: dict[int, bytearray] = {stdout.fileno(): bytearray(), stderr.fileno(): bytearray()}
    output = kept[stdout.fileno()]
    complete = False
    with selectors.DefaultSelector() as waiting:
        for number in kept:
            waiting.register(number, selectors.EVENT_READ)
        while not complete and len(output) <= most and (left := deadline - time.monotonic()) > 0:
            for key, _ in waiting.select(left):
                piece = os.read(key.fd, _PIECE)
                if not piece:
                    waiting.unregister(key.fd)
                elif key.fd == stdout.fileno() or len(kept[key.fd]) < _MOST_STDERR:
                    kept[key.fd] += piece
            complete = not waiting.get_map()
    return complete, bytes(output), bytes(kept[stderr.fileno()][:_MOST_STDERR])
