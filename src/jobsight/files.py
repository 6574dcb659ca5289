"""Writing outputs whole or not at all, reading small JSON files with a bound, hashing."""

import contextlib
import hashlib
import json
import math
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jobsight.errors import OutputError

__all__ = ["MANIFEST", "new_file", "new_folder", "read_json", "sha256", "without_nan", "write_json"]

MANIFEST = "manifest.json"
"""In every folder that Jobsight writes: its schema (``jobsight.…``) and the files beside it."""

MAX_JSON_BYTES = 256 << 20


def _explain(path: Path, error: OSError) -> OutputError:
    reason = os.strerror(error.errno) if error.errno else str(error)
    return OutputError(f"cannot write {path}: {reason}")


def _place(path: Path) -> Path:
    """Where `path` really lies: what a link points to is written, not the link."""
    return Path(os.path.realpath(path))


def _beside(path: Path) -> Path:
    """A name beside `path` that nobody can foresee, so that no link waits there."""
    return path.with_name(f".jobsight-{secrets.token_hex(8)}.part")


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its name when the block ends well.

    A file that is replaced hands on its permissions, a new one gets those of the umask. A link is
    followed.

    Raises:
        OutputError: the folder is not writable or full, or something that is no regular file (a
            folder, a device) has that name; `path` is then untouched.
    """
    target = _place(path)
    temporary = _beside(target)
    try:
        if target.exists() and not target.is_file():
            kind = "a folder" if target.is_dir() else "no regular file"
            raise OutputError(f"cannot write {path}: it is {kind}; name a file")
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(target.stat().st_mode) & 0o777 if target.exists() else None
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        os.close(os.open(temporary, flags, 0o666 if mode is None else mode))
        yield temporary
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    except OSError as error:
        raise _explain(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield an empty temporary folder that takes the place of `path` when the block ends well.

    A folder already at `path` is replaced only if it is empty, or if its ``manifest.json`` says
    that it was written so before and lists every file in it; anything else is refused, so that a
    mistyped name deletes nothing. Permissions and links are treated as by `new_file`.

    Raises:
        OutputError: as above, or the disk is full or not writable; `path` is then untouched.
    """
    target = _place(path)
    temporary = _beside(target)
    try:
        _require_ours(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        yield temporary
        _require_ours(path)
        _exchange(temporary, target)
    except OSError as error:
        raise _explain(path, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _exchange(temporary: Path, target: Path) -> None:
    """Put a folder in the place of another, which is deleted, or stays where that fails."""
    if not target.exists():
        temporary.rename(target)
        return
    temporary.chmod(stat.S_IMODE(target.stat().st_mode))
    retired = _beside(target)
    target.rename(retired)
    try:
        temporary.rename(target)
    except BaseException:
        retired.rename(target)
        raise
    shutil.rmtree(retired, ignore_errors=True)


def _require_ours(path: Path) -> None:
    """Refuse to replace what is there unless it is ours, whole and nothing but that."""
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    foreign = OutputError(f"{path} exists and was not written by jobsight; name another folder")
    try:
        manifest = read_json(path / MANIFEST, dict)
    except (OSError, ValueError):
        raise foreign from None
    kind = str(manifest.get("schema")).partition("/")[0]
    files = manifest.get("files")
    if not kind.startswith("jobsight.") or not isinstance(files, dict):
        raise foreign
    listed = {MANIFEST, *files}
    for folder, subfolders, files in os.walk(path):
        links = [name for name in subfolders if (Path(folder) / name).is_symlink()]
        for name in (*files, *links):
            found = (Path(folder) / name).relative_to(path).as_posix()
            if found not in listed:
                raise OutputError(
                    f"{path} would be replaced, but holds {found!r}, which jobsight did not "
                    "write; move it or name another folder"
                )


def without_nan(value: Any) -> Any:
    """The same value with every NaN and infinity replaced by None, as strict JSON wants it."""
    if isinstance(value, dict):
        return {str(key): without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON with sorted keys, whole or not at all.

    Raises:
        OutputError: the file cannot be written.
    """
    text = json.dumps(without_nan(value), indent=1, sort_keys=True, allow_nan=False)
    with new_file(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def read_json(path: Path, expect: type = object) -> Any:
    """Read a JSON file of at most 256 MiB.

    Args:
        path: a regular file.
        expect: type that the whole must have, such as dict.

    Raises:
        OSError: the file is missing or unreadable.
        ValueError: it is no regular file, too large, no UTF-8, no JSON, nested too deeply, or
            something else than expected.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path} is no regular file")
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
