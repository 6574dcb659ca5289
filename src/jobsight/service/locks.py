"""One collector at a time: locks (flock(2)) which the kernel drops whatever ends their holder."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from jobsight.errors import OutputError, SourceError

__all__ = ["is_locked", "locked"]

_BUSY = (errno.EWOULDBLOCK, errno.EACCES)
_PAUSES = (0.05, 0.1, 0.2, 0.0)
"""Between tries, in seconds: `is_locked` of another process holds the file for a moment."""


@contextlib.contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold the lock file `path`, which is made where it lacks and stays behind.

    Args:
        path: the lock file; it holds the process id of its holder.
        what: what the lock is for, in the words of an error: "with the status file …".

    Raises:
        SourceError: another process holds it; names that process.
        OutputError: the file cannot be made or opened.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OutputError(f"cannot open the lock file {path}: {reason}") from None
    try:
        if not _take(number, path):
            raise SourceError(
                f"a collector runs already {what}{_holder(number)}; stop it first, or give this "
                "one settings of its own"
            )
        os.ftruncate(number, 0)
        os.write(number, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(number)


def _take(number: int, path: Path) -> bool:
    for pause in _PAUSES:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _BUSY:
                raise OutputError(f"cannot lock {path}: {error.strerror}") from None
        else:
            return True
        time.sleep(pause)
    return False


def is_locked(path: Path) -> bool | None:
    """Whether a process holds the lock file; None: that cannot be told (missing, no permission)."""
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


def _holder(number: int) -> str:
    text = os.pread(number, 20, 0).decode("ascii", "replace").strip()
    return f" (process {text})" if text.isdigit() else ""
