"""Writing outputs whole or not at all, over nothing else; small JSON files, hashes."""

import contextlib
import enum
import fcntl
import hashlib
import json
import math
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jobsight.errors import OutputError
from jobsight.modes import folder_mode, make_folder, restrict

__all__ = [
    "MANIFEST",
    "REGISTRY",
    "Kind",
    "new_file",
    "new_folder",
    "read_json",
    "require_replaceable",
    "sha256",
    "unfinished",
    "without_nan",
    "write_json",
    "write_shared",
]

MANIFEST = "manifest.json"
"""In every folder that Jobsight writes: its schema (``jobsight.…``) and the files next to it."""

REGISTRY = "registry.json"
"""In every folder of a registry that has models of one question and cluster."""

MAX_JSON_BYTES = 256 << 20

_UNLOCKED = 2.0
"""Seconds; between its creation and its lock a file is younger."""


class Kind(enum.Enum):
    """What a path holds, in words; the name in lower case is that in its schema."""

    MODEL = "a model"
    FRAMES = "frames"
    SNAPSHOT = "a snapshot"
    EVENTS = "an event table"
    REPORT = "a report"
    VERIFICATION = "a verification"
    SWEEP = "a sweep"
    STORE = "a store of jobs"
    ARCHIVE = "the archive of a store"
    REGISTRY = "a registry of models"
    TIMELINE = "the picture of a profile"
    MATRIX = "a matrix of slowdowns"

    @property
    def schema(self) -> str:
        """What marks a file of this kind."""
        return f"jobsight.{self.name.lower()}/1"

    @property
    def is_folder(self) -> bool:
        """Whether an output of this kind is a folder."""
        return self in (Kind.MODEL, Kind.FRAMES, Kind.SNAPSHOT)


_SCHEMA = re.compile(r"jobsight\.([a-z]+)/\d+", re.ASCII)
_HEAD = 4096
_TAIL = 64 << 10


def _place(path: Path) -> Path:
    """Where `path` really is: what a link points to is written, not the link."""
    return Path(os.path.realpath(path))


def _beside(path: Path, end: str = ".part") -> Path:
    """A name next to `path` that cannot be guessed, so that no link waits there."""
    return path.with_name(f".jobsight-{secrets.token_hex(8)}{end}")


@contextlib.contextmanager
def unfinished(target: Path, mode: int, *, folder: bool = False) -> Iterator[Path]:
    """Yield a new hidden file or folder next to `target`; removed in the end if it still exists.

    It is locked (flock(2)) while the block runs, and what a killed process left next to `target`
    is deleted first: what is of this user, has such a name, and is not locked.

    Raises:
        OSError: it cannot be made.
    """
    _sweep(target.parent)
    path = _beside(target)
    if folder:
        path.mkdir(mode=mode)
    else:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode))
    lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # a file system without locks, where nothing is swept
            fcntl.flock(lock, fcntl.LOCK_SH)
        yield path
    finally:
        _remove(path)
        os.close(lock)


def _sweep(folder: Path) -> None:
    """Delete what killed processes of this user left unfinished in a folder."""
    for path in folder.glob(".jobsight-*.part"):
        with contextlib.suppress(OSError):
            found = path.lstat()
            young = time.time() - found.st_ctime < _UNLOCKED
            if stat.S_ISLNK(found.st_mode) or found.st_uid != os.geteuid() or young:
                continue
            lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(path)
            finally:
                os.close(lock)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        path.unlink()


@contextlib.contextmanager
def _replacing(path: Path, kind: Kind | None, *, private: bool) -> Iterator[Path]:
    """Yield where `path` really is.

    Raises:
        OutputError: as by `require_replaceable`, or in place of any `OSError`.
    """
    target = _place(path)
    try:
        if kind is None:
            _require_place(path, folder=False)
        else:
            require_replaceable(path, kind)
        if private:
            make_folder(target.parent)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
        yield target
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OutputError(f"cannot write {path}: {reason}") from error


@contextlib.contextmanager
def new_file(path: Path, kind: Kind | None = None) -> Iterator[Path]:
    """Yield a temporary path next to `path` that takes its name when the block succeeds.

    A file that is replaced hands on its permissions. A link is followed.

    Args:
        path: of the file.
        kind: of an output that a user names, see `require_replaceable`; a new one holds data of
            jobs. None: a file within a folder of Jobsight's own; it is
            replaced whatever it is, and a new one has the permissions of the umask.

    Raises:
        OutputError: the folder is not writable or full, or something that is not a regular file
            (a folder, a device) or not to be replaced has that name; `path` is then untouched.
    """
    private = kind is not None
    with _replacing(path, kind, private=private) as target:
        mode = folder_mode() & 0o666 if private else None
        if target.exists():
            mode = target.stat().st_mode & 0o777
        with unfinished(target, 0o666 if mode is None else 0o600) as temporary:
            yield temporary
            if mode is not None:
                temporary.chmod(mode)
            temporary.replace(target)


@contextlib.contextmanager
def new_folder(path: Path, kind: Kind, *, private: bool = True) -> Iterator[Path]:
    """Yield an empty temporary folder that takes the place of `path` when the block succeeds.

    Permissions and links are treated as by `new_file`.

    Args:
        path: of the folder.
        kind: what is written, see `require_replaceable`.
        private: False: within a sweep; the folder and its files have the modes of the umask.

    Raises:
        OutputError: as by `require_replaceable`, or the disk is full or not writable; `path` is
            then untouched.
    """
    with (
        _replacing(path, kind, private=private) as target,
        unfinished(target, 0o700 if private else 0o777, folder=True) as temporary,
    ):
        yield temporary
        require_replaceable(path, kind)
        if private:
            restrict(temporary, target.stat().st_mode & 0o777 if target.exists() else None)
        _exchange(temporary, target)


def _exchange(temporary: Path, target: Path) -> None:
    """Put a folder in the place of another, which is deleted, or stays where that fails."""
    if not target.exists():
        temporary.rename(target)
        return
    temporary.chmod(stat.S_IMODE(target.stat().st_mode))
    retired = _beside(target, ".old")  # a kill here leaves the old one, which nothing deletes
    target.rename(retired)
    try:
        temporary.rename(target)
    except BaseException:
        retired.rename(target)
        raise
    shutil.rmtree(retired.rename(_beside(target)), ignore_errors=True)


def require_replaceable(path: Path, kind: Kind) -> None:
    """Refuse to write an output where something else would be lost.

    It replaces nothing, an empty file or folder, or one of its own kind that is whole: a folder
    whose manifest lists exactly the files in it, a file that ends as it should. Into a registry
    only the registry itself writes.

    Raises:
        OutputError: it may not be replaced; says what it is.
    """
    target = _place(path)
    _require_place(path, folder=kind.is_folder)
    if any((place / REGISTRY).exists() for place in (target, *target.parents)):
        raise OutputError(
            f"{path} is in {Kind.REGISTRY.value}, which only `train` and `jobsight models` change; "
            "name another"
        )
    if not target.exists() or not (
        any(target.iterdir()) if kind.is_folder else target.stat().st_size
    ):
        return
    found = _kind_of_folder(target) if kind.is_folder else _kind_of_file(target)
    if found != kind:
        words = f"a {'folder' if kind.is_folder else 'file'} that was not written by jobsight"
        words = f"{found.value}, not {kind.value}" if found else words
        raise OutputError(f"{path} is {words}; move it away or name another")
    if kind.is_folder:
        _require_whole(path, kind)


def _require_place(path: Path, *, folder: bool) -> None:
    if path.exists() and not (path.is_dir() if folder else path.is_file()):
        found = "a folder" if path.is_dir() else "no folder" if folder else "no regular file"
        raise OutputError(f"cannot write {path}: it is {found}; name another")


def _kind_of_folder(folder: Path) -> Kind | None:
    if kind := _kind_of_json(folder / MANIFEST) or _kind_of_json(folder / "sweep.json"):
        return kind
    if any(folder.glob(f"*/{REGISTRY}")) or any(folder.glob(f"*/*/{REGISTRY}")):
        return Kind.REGISTRY
    return Kind.ARCHIVE if any(folder.glob("part-????????-??????.parquet")) else None


def _kind_of_file(file: Path) -> Kind | None:
    """What a file is by its first bytes and its last."""
    with file.open("rb") as stream:
        head = stream.read(_HEAD)
        stream.seek(-min(_TAIL, file.stat().st_size), os.SEEK_END)
        tail = stream.read()
    if head.startswith(b"SQLite format 3\0"):
        # The application id is at byte 68 (sqlite.org/fileformat.html); ours spells Jobs.
        return Kind.STORE if head[68:72] == b"Jobs" else None
    if head.startswith(b"<!doctype html>") and f'content="{Kind.REPORT.schema}"'.encode() in head:
        return Kind.REPORT if tail.endswith(b"</html>\n") else None
    if head.startswith(f"<!-- {Kind.TIMELINE.schema} -->".encode()):
        return Kind.TIMELINE if tail.endswith(b"</svg>\n") else None
    if head.startswith(b"PAR1") and tail.endswith(b"PAR1"):
        return Kind.EVENTS if Kind.EVENTS.schema.encode() in tail else None
    return _kind_of_json(file) if head.lstrip().startswith(b"{") else None


def _kind_of_json(file: Path) -> Kind | None:
    try:
        found = _SCHEMA.fullmatch(str(read_json(file, dict).get("schema")))
    except (OSError, ValueError):
        return None
    return Kind.__members__.get(found[1].upper()) if found else None


def _require_whole(path: Path, kind: Kind) -> None:
    """Refuse a folder in which files of its manifest are missing, or others are."""
    files = read_json(path / MANIFEST, dict).get("files")
    listed, found = {MANIFEST, *(files if isinstance(files, dict) else ())}, set()
    for folder, subfolders, names in os.walk(path):
        links = [name for name in subfolders if (Path(folder) / name).is_symlink()]
        found |= {(Path(folder) / name).relative_to(path).as_posix() for name in (*names, *links)}
    for name in sorted(listed ^ found):
        wrong = (
            f"lacks {name!r}" if name in listed else f"holds {name!r}, which jobsight did not write"
        )
        raise OutputError(f"{path} is {kind.value}, but {wrong}; move it or name another folder")


def without_nan(value: Any) -> Any:
    """The same value with every NaN and infinity replaced by None, as strict JSON wants it."""
    if isinstance(value, dict):
        return {str(key): without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def write_shared(path: Path, text: str, mode: int = 0o644) -> None:
    """Write a text that others read, whole or not at all; a new file has these permissions.

    Raises:
        OutputError: the file cannot be written.
    """
    with new_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
        temporary.chmod(mode)


def write_json(path: Path, value: Any, kind: Kind | None = None) -> None:
    """Write `value` as indented JSON with sorted keys, whole or not at all.

    Raises:
        OutputError: the file cannot be written.
    """
    text = json.dumps(without_nan(value), indent=1, sort_keys=True, allow_nan=False)
    with new_file(path, kind) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def read_json(path: Path, expect: type = object) -> Any:
    """Read a JSON file of at most 256 MiB.

    Raises:
        OSError: the file is missing or unreadable.
        ValueError: it is not a regular file, too large, not UTF-8 or JSON, nested too deeply, or
            of another type.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path} is not a regular file")
    if status.st_size > MAX_JSON_BYTES:
        raise ValueError(f"{path} is larger than {MAX_JSON_BYTES} bytes")
    try:
        found = json.loads(path.read_bytes().decode("utf-8"))
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply") from None
    if not isinstance(found, expect):
        raise ValueError(f"{path} holds a {type(found).__name__}, no {expect.__name__}")
    return found


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, as hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
