"""Lock files (flock(2)), which the kernel drops whatever ends their holder."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import time
from pathlib import Path
from typing import NamedTuple

from jobsight.errors import OutputError

__all__ = ["Holder", "holder", "is_locked", "take"]

_BUSY = (errno.EWOULDBLOCK, errno.EACCES)
_PAUSES = (0.05, 0.1, 0.2, 0.0)
"""Between tries, in seconds: `is_locked` of another process holds the file for a moment."""


class Holder(NamedTuple):
    """A process that took a lock; as text, ``process 12 on node7``."""

    process: int
    machine: str

    def __str__(self) -> str:
        return f"process {self.process} on {self.machine}"

    def gone(self) -> bool:
        """Whether it is known to have ended; what inherited the lock from it may still hold it."""
        if self.machine != socket.gethostname():
            return False
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except (PermissionError, OverflowError):
            return False
        return False


def take(path: Path) -> int | None:
    """Lock the file `path`, which is made where it lacks and stays behind.

    The lock is dropped when the descriptor is closed, here and in every child that inherited it.
    The file has the holder's process id, and in a second line its machine.

    Returns:
        An open descriptor; None: another process holds the lock.

    Raises:
        OutputError: the file cannot be made or opened.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OutputError(f"cannot open the lock file {path}: {reason}") from None
    try:
        if _lock(number):
            os.ftruncate(number, 0)
            os.write(number, f"{os.getpid()}\n{socket.gethostname()}\n".encode())
            return number
    except OSError as error:
        os.close(number)
        raise OutputError(f"cannot lock {path}: {error.strerror}") from None
    os.close(number)
    return None


def _lock(number: int) -> bool:
    for pause in _PAUSES:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _BUSY:
                raise
        else:
            return True
        time.sleep(pause)
    return False


def is_locked(path: Path) -> bool | None:
    """Whether a process holds the lock file; None: not known (missing, no permission)."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return True if error.errno in _BUSY else None
    finally:
        os.close(number)
    return False


def holder(path: Path) -> Holder | None:
    """Who took the lock last; None: not known."""
    try:
        with path.open("rb") as stream:
            words = stream.read(300).decode("utf-8", "replace").split()
    except OSError:
        return None
    if len(words) != 2 or not words[1].isprintable():
        return None
    return Holder(int(words[0]), words[1]) if words[0].isdecimal() else None
