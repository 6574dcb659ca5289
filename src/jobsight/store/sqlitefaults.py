"""What SQLite says went wrong, as errors that say what to do.

SQLite's result codes: https://www.sqlite.org/rescode.html.
"""

from __future__ import annotations

import sqlite3

from jobsight.errors import StoreError, StoreUnavailableError
from jobsight.text import printable

__all__ = ["READ_ONLY", "code_of", "explained"]

READ_ONLY = (
    "it is read-only here; open it as its owner, or mend the permissions of the file, its folder "
    "and what lies beside it (-wal, -shm)"
)
_PASSING = {
    sqlite3.SQLITE_BUSY: "another process has kept it locked for {timeout:g} s; if none is "
    "at work, look for one that hangs (fuser {path})",
    sqlite3.SQLITE_LOCKED: "it is locked; try again",
    sqlite3.SQLITE_FULL: "the disk is full; nothing of this was stored, and nothing was lost: free "
    "some space (to read takes 32 kB too, for what SQLite keeps beside the file)",
    sqlite3.SQLITE_IOERR: "the disk failed ({error}); look at your quota on it, at its health, and "
    "at the kernel's log",
    sqlite3.SQLITE_PROTOCOL: "its lock is contended; try again",
}
_NO_ROOM_TO_SHARE = 0x130A
"""SQLITE_IOERR_SHMSIZE, as it calls a disk too full for the memory that is shared (``-shm``)."""
_LASTING = {
    sqlite3.SQLITE_CORRUPT: "it is damaged ({error}); keep a copy, and restore a backup",
    sqlite3.SQLITE_NOTADB: "it is no SQLite database; name another file",
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; mend the permissions of the file and its folder",
    sqlite3.SQLITE_PERM: "it may not be opened; mend its permissions",
    sqlite3.SQLITE_TOOBIG: "a document is larger than SQLite can keep",
}


def code_of(error: sqlite3.Error) -> int | None:
    """SQLite's primary result code."""
    code = getattr(error, "sqlite_errorcode", None)
    if code == _NO_ROOM_TO_SHARE:
        return sqlite3.SQLITE_FULL
    return None if code is None else code & 0xFF


def explained(error: sqlite3.Error, shown: str, timeout: float) -> StoreError:
    """The error to be raised in place of SQLite's.

    Args:
        error: SQLite's.
        shown: name of the store.
        timeout: seconds that were waited for locks.

    Returns:
        A `StoreUnavailableError` where trying again may help.
    """
    code = code_of(error)
    known = {**_PASSING, **_LASTING}.get(
        code or 0, "SQLite says: {error}; run: jobsight store check"
    )
    reason = known.format(timeout=timeout, path=shown, error=printable(error, 200))
    kind = StoreUnavailableError if code in _PASSING else StoreError
    return kind(f"the store {shown}: {reason}")
