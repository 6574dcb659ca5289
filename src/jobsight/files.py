"""Writing outputs whole or not at all, reading small JSON files with a bound, hashing."""

import contextlib
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jobsight.errors import OutputError

__all__ = ["new_file", "new_folder", "read_json", "sha256", "without_nan", "write_json"]

MAX_JSON_BYTES = 256 << 20


def _explain(path: Path, error: OSError) -> OutputError:
    reason = os.strerror(error.errno) if error.errno else str(error)
    return OutputError(f"cannot write {path}: {reason}")


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its name when the block ends well.

    Raises:
        OutputError: the folder is not writable or full, or something that is no regular file (a
            folder, a device) has that name; `path` is then untouched.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        if path.exists() and not path.is_file():
            kind = "a folder" if path.is_dir() else "no regular file"
            raise OutputError(f"cannot write {path}: it is {kind}; name a file")
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise _explain(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield an empty temporary folder that takes the place of `path` when the block ends well.

    A folder already at `path` is replaced only if it holds a ``manifest.json``, that is, if it was
    written so before; anything else there is refused, so that a mistyped name deletes nothing.

    Raises:
        OutputError: as above, or the disk is full or not writable; `path` is then untouched.
    """
    import shutil

    if path.exists() and not (path / "manifest.json").is_file() and not _is_empty_folder(path):
        raise OutputError(f"{path} exists and was not written by jobsight; name another folder")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise _explain(path, error) from error
    try:
        yield temporary
        temporary.chmod(0o755)
        retired = temporary.with_name(temporary.name + ".old")
        if path.exists():
            path.rename(retired)
        temporary.rename(path)
        shutil.rmtree(retired, ignore_errors=True)
    except OSError as error:
        raise _explain(path, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


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


def read_json(path: Path) -> Any:
    """Read a JSON file of at most 256 MiB.

    Raises:
        OSError: the file is missing or unreadable.
        ValueError: it is too large, no UTF-8, or no JSON.
    """
    if path.stat().st_size > MAX_JSON_BYTES:
        raise ValueError(f"{path} is larger than {MAX_JSON_BYTES} bytes")
    return json.loads(path.read_text(encoding="utf-8"))


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, as hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
