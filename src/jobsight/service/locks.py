"""One collector at a time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from jobsight.errors import OutputError, SourceError
from jobsight.locks import holder, is_locked, take
from jobsight.modes import make_folder

__all__ = ["is_locked", "locked", "store_lock"]


@contextlib.contextmanager
def locked(
    path: Path, what: str, advice: str = "mend the permissions of its folder"
) -> Iterator[None]:
    """Hold the lock file `path`, which is made where it lacks and stays behind.

    Args:
        path: the lock file; it tells its holder.
        what: what the lock is for, in the words of an error: "with the status file …".
        advice: what to do where the file cannot be made.

    Raises:
        SourceError: another process holds it; names that process.
        OutputError: the file cannot be made or opened.
    """
    try:
        with contextlib.suppress(OSError):  # `take` says what is wrong with it
            make_folder(path.parent)
        number = take(path)
    except OutputError as error:
        raise OutputError(f"{error}; {advice}") from None
    if number is None:
        who = holder(path)
        raise SourceError(
            f"a collector runs already {what}{f' ({who})' if who else ''}; stop it first, or give "
            "this one settings of its own"
        )
    try:
        yield
    finally:
        os.close(number)


def store_lock(url: str) -> Path | None:
    """The lock of the collector into an embedded store; None: it is a server's, with no lock.

    It lies beside the file itself, so that a store of two names has one.

    Args:
        url: as the store tells it.
    """
    scheme, found, rest = url.partition("://")
    if found and scheme != "sqlite":
        return None
    file = Path(os.path.realpath(rest if found else url))
    return file.with_name(f"{file.name}.collect.lock")
