"""Compiling numeric kernels with Numba: one decorator, one place for its cache.

Kernels release the GIL and are cached on disk, so that a command does not wait for the compiler.
Where no cache directory is writable, kernels are compiled anew in each process and all else works.
"""

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

__all__ = ["helper", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])


def _sources() -> str:
    """A name for this state of all source files that hold kernels.

    Numba compiles a kernel anew when its own file changes, but not when a file that it calls into
    does; old machine code would then run in new surroundings.
    """
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        text = path.read_bytes()
        if b"jobsight.jit import" in text or b"numba" in text:
            digest.update(text)
    return digest.hexdigest()[:16]


def _cache_directory() -> str | None:
    if "NUMBA_CACHE_DIR" in os.environ:
        return os.environ["NUMBA_CACHE_DIR"]
    base = os.environ.get("XDG_CACHE_HOME") or str(Path("~").expanduser() / ".cache")
    for root in (Path(base) / "jobsight", Path(tempfile.gettempdir()) / f"jobsight-{os.getuid()}"):
        folder = root / "numba" / _sources()
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if _is_ours(root) and _is_ours(folder) and os.access(folder, os.W_OK):
                return str(folder)
        except OSError:
            continue
    return None


def _is_ours(folder: Path) -> bool:
    """Whether nobody else made it or may change it: a cache holds code that will be run."""
    status = folder.lstat()
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.getuid()
        and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


_CACHE = _cache_directory()
if _CACHE is not None:
    setattr(numba.config, "CACHE_DIR", _CACHE)  # noqa: B010 - numba makes its settings at run time


def kernel(function: F) -> F:
    """Compile `function` in nopython mode, without the GIL, cached where a cache is writable."""
    compiled: F = numba.njit(function, nogil=True, cache=_CACHE is not None)
    return compiled


def helper(function: F) -> F:
    """Compile `function`, which other kernels call at every byte or line, as `kernel` does.

    It may neither allocate nor return arrays. In return its arrays are not reference-counted: a
    count costs two locked instructions per array and call, more than most helpers do themselves.
    """
    options: dict[str, Any] = {"nogil": True, "cache": _CACHE is not None, "_nrt": False}
    compiled: F = numba.njit(**options)(function)
    return compiled
