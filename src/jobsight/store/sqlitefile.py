"""The SQLite file under a store: opened, checked, locked; any failure becomes one error.

Its write-ahead log needs memory shared between all who open the file, and locks that hold
(https://www.sqlite.org/wal.html, "Overview"); network file systems have neither.
"""

from __future__ import annotations

import os
import re
import secrets
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from jobsight.errors import StoreError, StoreUnavailableError
from jobsight.modes import make_file, make_folder
from jobsight.store.packing import ACTIVE, SCHEMA, require_schema
from jobsight.text import printable, wordlist

__all__ = ["APPLICATION_ID", "SqliteFile", "filesystem_of", "is_remote"]

APPLICATION_ID = 0x4A6F6273
"""In the file's header: distinguishes a store from another program's database."""

_TABLES = """
CREATE TABLE jobs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    active INTEGER AS (state IN ({active})) VIRTUAL,
    user TEXT,
    time INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    document BLOB NOT NULL,
    raw TEXT
);
CREATE INDEX jobs_by_time ON jobs (time, id);
CREATE INDEX jobs_by_state ON jobs (state, time, id);
CREATE INDEX jobs_by_user ON jobs (user, time, id) WHERE user IS NOT NULL;
CREATE INDEX jobs_active_by_time ON jobs (time, id) WHERE active;
CREATE INDEX jobs_by_revision ON jobs (revision);
CREATE INDEX jobs_by_raw ON jobs (raw, id) WHERE raw IS NOT NULL;
CREATE TABLE positions (source TEXT PRIMARY KEY, position TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE parts (name TEXT PRIMARY KEY, part TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE numbers (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO numbers VALUES ('revision', 0), ('generation', 0), ('fence', 0);
""".format(active=", ".join(f"'{state}'" for state in sorted(ACTIVE)))
_ELSEWHERE = "name another with --store or JOBSIGHT_STORE"
_REMOTE = wordlist(
    "9p acfs afs beegfs beegfs_nodev ceph cifs coda daos davfs gfs gfs2 glusterfs gpfs lustre "
    "moosefs ncpfs nfs nfs4 ocfs2 orangefs panfs pvfs2 quobyte smb smb2 smb3 smbfs vboxsf virtiofs "
    "vmhgfs wekafs"
)
_LOCAL_FUSE = frozenset({"fuse.fuse-overlayfs", "fuse.mergerfs"})
_OCTAL = re.compile(rb"\\([0-7]{3})")
_SHRINK_PAGES = 2000
_MARKS = ("application_id", "user_version")
_READ_ONLY = (
    "it is read-only here; open it as its owner, or fix the permissions of the file, its folder "
    "and the files next to it (-wal, -shm)"
)
_MAY_PASS = {
    sqlite3.SQLITE_BUSY: "another process has kept it locked for {timeout:g} s; if none is "
    "at work, look for one that hangs (fuser {path})",
    sqlite3.SQLITE_LOCKED: "it is locked; try again",
    sqlite3.SQLITE_FULL: "the disk is full; nothing of this was stored, and nothing was lost: free "
    "some space (reading needs 32 kB too, for what SQLite keeps next to the file)",
    sqlite3.SQLITE_IOERR: "the disk failed ({error}); look at your quota on it, at its health, and "
    "at the kernel's log",
    sqlite3.SQLITE_PROTOCOL: "its lock is contended; try again",
}
_LASTING = {
    sqlite3.SQLITE_CORRUPT: "it is damaged ({error}); keep a copy, and restore a backup",
    sqlite3.SQLITE_NOTADB: "it is not an SQLite database; name another file",
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; fix the permissions of the file and its folder",
    sqlite3.SQLITE_PERM: "it may not be opened; fix its permissions",
    sqlite3.SQLITE_TOOBIG: "a document is larger than SQLite can keep",
}
"""By primary result code (https://www.sqlite.org/rescode.html), what to do."""
_UNKNOWN = "SQLite says: {error}; run: jobsight store check"
_NO_ROOM_TO_SHARE = 0x130A
"""SQLITE_IOERR_SHMSIZE, its code for a disk too full for the memory that is shared (``-shm``)."""


def is_remote(kind: str) -> bool:
    """Whether a file system of this kind, as the kernel names it, may be shared with other hosts.

    Of those that programs provide (``fuse.sshfs``), all count as remote but the few known not to
    be: they seldom share memory between processes.
    """
    kind = kind.lower()
    if kind == "fuse" or kind.startswith("fuse."):
        return kind not in _LOCAL_FUSE
    return kind in _REMOTE


def filesystem_of(path: Path, mounts: Path = Path("/proc/self/mountinfo")) -> str | None:
    """The kind of file system that `path` is, or will be, on, e.g. ``ext4``; None: not known.

    `mounts` is the kernel's list (proc(5), ``/proc/[pid]/mountinfo``).
    """
    # First of all: where an automounter waits, to follow the path is what mounts its file system.
    place = os.fsencode(os.path.realpath(path))
    try:
        lines = mounts.read_bytes().splitlines()
    except OSError:
        return None
    best: tuple[int, str] | None = None
    for line in lines:
        before, found, after = line.partition(b" - ")
        fields = before.split(b" ")
        if not found or len(fields) < 5:
            continue
        point = _OCTAL.sub(lambda code: bytes([int(code[1], 8) & 0xFF]), fields[4]).rstrip(b"/")
        # Of two mounts at one point, the later hides the earlier.
        if (place == point or place.startswith(point + b"/")) and (
            best is None or len(point) >= best[0]
        ):
            best = (len(point), after.split(b" ")[0].decode("ascii", "replace"))
    return best[1] if best else None


class _Handle:
    """A connection that is closed when its thread ends."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.process = os.getpid()

    def __del__(self) -> None:
        # Closing a connection after a fork would drop the locks of the parent.
        if self.process == os.getpid():
            with suppress(sqlite3.Error):
                self.db.close()


class SqliteFile:
    """One SQLite file and this process's connections to it; waits `timeout` seconds for locks.

    Attributes:
        read_only: the file cannot be written by this user.
    """

    def __init__(
        self, path: Path, timeout: float, filesystem: Callable[[Path], str | None]
    ) -> None:
        self.read_only = False
        self._path = path
        # What SQLite keeps next to a file is next to the file itself, not to a link to it.
        self._log = Path(f"{os.path.realpath(path)}-wal")
        self._rest: tuple[int, ...] | None = None
        self._shown = printable(path)
        self._timeout = timeout
        self._filesystem = filesystem
        self._closed = False
        self._local = threading.local()
        self._lock = threading.Lock()
        self._handles: weakref.WeakSet[_Handle] = weakref.WeakSet()

    def open(self, *, create: bool) -> None:
        """Make the file if need be and allowed, and check that it is a store of this schema.

        Raises:
            StoreUnavailableError: it is locked, or the disk is full.
            StoreError: it is missing, damaged, foreign, of another schema, or is where no store
                can be.
        """
        kind = self._filesystem(self._path)
        if kind is not None and is_remote(kind):
            raise StoreError(
                f"{self._shown} is on a network file system ({kind}), where SQLite cannot lock; "
                "name a file on a local disk, or use a redis:// store, with the setting store.url "
                "(JOBSIGHT_STORE)"
            )
        self._require_place(create)
        # In this order: another process may make the file meanwhile.
        log = os.access(self._log.parent, os.W_OK) or self._log.exists()
        self.read_only = self._path.exists() and not (log and os.access(self._path, os.W_OK))
        with self.explained():
            if create:  # a kill may have left nothing in the file yet
                blank = not self._path.exists() or self._path.stat().st_size == 0
                if not blank:
                    with closing(self._connect()) as db:
                        blank = not any(_pragma(db, name) for name in _MARKS) and not _tables(db)
                if blank:
                    self._create()
            db = self._thread_connection()
            self._require_ours(db)
            if not self.read_only:
                # A copy that was made by VACUUM INTO has no log; while it is read, it stays so.
                with suppress(sqlite3.OperationalError):
                    db.execute("PRAGMA journal_mode = WAL")

    def _require_place(self, create: bool) -> None:
        try:
            if self._path.exists():
                if not self._path.is_file():
                    raise StoreError(f"{self._shown} is no file; name a file for the store")
            elif not create:
                raise StoreError(
                    f"there is no store at {self._shown}; `jobsight collect` and `jobsight import` "
                    f"make one, or {_ELSEWHERE}"
                )
            else:
                make_folder(self._path.parent)
                # SQLite gives its log and shared memory the permissions of the file.
                make_file(self._path)
        except (FileExistsError, NotADirectoryError):
            raise StoreError(
                f"no store can be kept at {self._shown}: its folder is a file; {_ELSEWHERE}"
            ) from None
        except OSError as error:
            raise StoreError(
                f"no store can be kept at {self._shown}: {error.strerror or error}; {_ELSEWHERE}"
            ) from None

    def _create(self) -> None:
        """Make the tables, unless another process does it first."""
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                with closing(self._connect()) as db:
                    db.execute("PRAGMA auto_vacuum = INCREMENTAL")
                    if db.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
                        raise StoreError(
                            f"{self._shown} is on a file system where SQLite cannot keep its log "
                            "(shared memory is needed); name a file on another disk"
                        )
                    db.execute("BEGIN IMMEDIATE")
                    if not _tables(db):
                        for statement in _TABLES.split(";\n"):
                            db.execute(statement)
                        identity = secrets.randbits(63)
                        db.execute("INSERT INTO numbers VALUES ('identity', ?)", (identity,))
                        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                        db.execute(f"PRAGMA user_version = {SCHEMA}")
                    db.execute("COMMIT")
                return
            except sqlite3.OperationalError as error:
                # The busy timeout does not hold for a change of the journal's mode.
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def _require_ours(self, db: sqlite3.Connection) -> None:
        application, schema = (_pragma(db, name) for name in _MARKS)
        if not application and not schema and not _tables(db):
            raise StoreError(
                f"there is no store at {self._shown} yet: the file is empty, as it is left where "
                "the first `jobsight collect` or `jobsight import` was killed; run that again"
            )
        if application != APPLICATION_ID:
            raise StoreError(
                f"{self._shown} is a database of another program, not a store of jobsight; name "
                "another file"
            )
        require_schema(self._shown, str(schema))

    def _connect(self) -> sqlite3.Connection:
        mode = "ro" if self.read_only else "rwc"
        if self.read_only and not self._log.exists():
            # No process has the file open. A user who may not write it must not make a log next to
            # it either: its owner could not write that. SQLite needs one unless the file does not
            # change meanwhile, which is checked after each reading.
            mode += "&immutable=1"
            self._rest = self._rest or self._stamp()
        db = sqlite3.connect(
            f"file:{quote(str(self._path.absolute()))}?mode={mode}",
            uri=True,
            timeout=self._timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA trusted_schema = OFF")
            db.execute("PRAGMA temp_store = MEMORY")  # a statement's undo journal needs no file
        except BaseException:
            db.close()
            raise
        return db

    def _stamp(self) -> tuple[int, ...]:
        """What changes when the file is written or replaced."""
        with suppress(OSError):
            found = self._path.stat()
            return found.st_ino, found.st_size, found.st_mtime_ns
        return ()

    def _require_rest(self) -> None:
        """Refuse what was read of a file without a log, if it was written meanwhile."""
        if self._rest is not None and self._rest != self._stamp():
            self._rest, self._local = None, threading.local()
            raise StoreUnavailableError(
                f"the store {self._shown}: it was written while it was read; try again"
            )

    def _thread_connection(self) -> sqlite3.Connection:
        handle: _Handle | None = getattr(self._local, "handle", None)
        if handle is None or handle.process != os.getpid():
            handle = self._local.handle = self._handle()
        return handle.db

    def _handle(self) -> _Handle:
        with self._lock:
            if self._closed:
                raise StoreError(f"the store {self._shown} was closed")
            handle = _Handle(self._connect())
            self._handles.add(handle)
            return handle

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Any error of SQLite becomes one `StoreError` that says what to do.

        Raises:
            StoreUnavailableError: trying again may help; other `StoreError`: it does not.
        """
        try:
            yield
        except sqlite3.Error as error:
            self._require_rest()
            if self._closed:
                raise StoreError(f"the store {self._shown} was closed") from None
            code, shown = _code(error), printable(error, 200)
            words = {**_MAY_PASS, **_LASTING}.get(code, _UNKNOWN)
            reason = words.format(timeout=self._timeout, path=self._shown, error=shown)
            kind = StoreUnavailableError if code in _MAY_PASS else StoreError
            raise kind(f"the store {self._shown}: {reason}") from None
        except StoreError:
            self._require_rest()
            raise
        except UnicodeEncodeError:
            raise StoreError("a name that was asked for is not valid Unicode") from None
        self._require_rest()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection, `explained`; each statement sees what is committed then."""
        with self.explained():
            yield self._thread_connection()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection in a write transaction, committed when the block ends well.

        Raises:
            StoreUnavailableError, StoreError: as by `explained`; or the file has another schema
                since it was opened.
        """
        if self.read_only:
            raise StoreError(f"the store {self._shown}: {_READ_ONLY}")
        with self.explained():
            db = self._thread_connection()
            db.execute("BEGIN IMMEDIATE")
            try:
                self._require_ours(db)
                yield db
                db.execute("COMMIT")
            except BaseException:
                # After some errors SQLite has rolled back by itself.
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own in a read transaction, which sees no later change."""
        with self.explained():
            handle = self._handle()
            handle.db.execute("BEGIN")
            handle.db.execute("SELECT value FROM numbers").fetchall()
        try:
            yield handle.db
        finally:
            with suppress(sqlite3.Error):
                handle.db.close()

    def size(self) -> int:
        """Bytes of the file and its log."""
        size = 0
        for path in (self._path, self._log):
            with suppress(OSError):
                size += path.stat().st_size
        return size

    def used(self) -> int:
        """Bytes of the file that are in use: it keeps pages that deletions freed."""
        with self.reading() as db:
            pages = _pragma(db, "page_count") - _pragma(db, "freelist_count")
            return pages * _pragma(db, "page_size")

    def shrink(self) -> None:
        """Give pages that deletions freed back to the file system, a few at a time."""
        with self.reading() as db:
            before = None
            # A file whose auto_vacuum was changed gives nothing back.
            while (free := _pragma(db, "freelist_count")) > _SHRINK_PAGES and free != before:
                before = free
                # A script is stepped to its end; `execute` would free a single page.
                db.executescript(f"PRAGMA incremental_vacuum({_SHRINK_PAGES})")

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            self._closed = True
            for handle in list(self._handles):
                handle.__del__()
            self._handles.clear()
        self._local = threading.local()


def _pragma(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute(f"PRAGMA {name}").fetchone()[0])


def _code(error: sqlite3.Error) -> int:
    """SQLite's primary result code; 0: not known."""
    code = getattr(error, "sqlite_errorcode", 0)
    return sqlite3.SQLITE_FULL if code == _NO_ROOM_TO_SHARE else code & 0xFF


def _tables(db: sqlite3.Connection) -> int:
    number: int = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return number
