"""How the kernels of `jobsight.jit` are compiled with Numba, and where its cache is.

Kernels release the GIL and are cached on disk, so that a command does not wait for the compiler.
Where no cache directory is writable, kernels are compiled anew in each process and all else works.
"""

import contextlib
import fcntl
import hashlib
import importlib
import itertools
import os
import secrets
import stat
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import numba.core.bytecode
import numba.core.caching
import numba.np.linalg

from jobsight.runtime import cache_folder

__all__ = ["compiled", "is_compiled"]


_OF_KERNELS = (
    b"jobsight.jit import", b"\nfrom numba", b"\nimport numba", b"_numba_type_",
    b"# Kernels have it",
)  # fmt: skip
"""In their sources; others name Numba too, as a package of the jobs that they check. All sources
are searched in each command: four times sooner than by a regular expression."""


@cache
def _sources() -> str:
    """A name for this state of all source files that hold kernels.

    Numba compiles a kernel anew when its own file changes, but not when a file that it calls into
    does; old machine code would then run in new surroundings.
    """
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        text = path.read_bytes()
        lines = b"\n" + text
        if any(mark in lines for mark in _OF_KERNELS):
            digest.update(text)
    return digest.hexdigest()[:16]


def _processor() -> str:
    """A name for the kind of processor that Numba compiles for.

    Of two processes that compile one kernel in one folder at the same time, for processors of two
    kinds, Numba may keep the code of the one under the name of the other's. So it does with code
    that checks each index.
    """
    name = getattr(numba.config, "CPU_NAME", None) or llvmlite.binding.get_host_cpu_name()
    features = getattr(numba.config, "CPU_FEATURES", None)
    if features is None:
        try:
            features = llvmlite.binding.get_host_cpu_features().flatten()
        except RuntimeError:  # LLVM does not know them here
            features = ""
    checks = " checked" if getattr(numba.config, "BOUNDSCHECK", None) else ""
    return hashlib.sha256(f"{name} {features}{checks}".encode()).hexdigest()[:16]


def _cache_directory() -> str | None:
    if "NUMBA_CACHE_DIR" in os.environ:
        return os.environ["NUMBA_CACHE_DIR"]
    roots = [Path(tempfile.gettempdir()) / f"jobsight-{os.getuid()}"]
    with contextlib.suppress(OSError):  # there may be no home to write in
        if (cache := cache_folder()) is not None:
            Path(cache).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            roots.insert(0, Path(cache))
    for root in roots:
        sources = root / "numba" / _sources()
        folder = sources / _processor()
        way = (root, sources.parent, sources, folder)
        with contextlib.suppress(OSError):
            if all(map(_is_ours, way)) and os.access(folder, os.W_OK):
                return str(folder)
    return None


def _is_ours(folder: Path) -> bool:
    """Make a folder unless it exists; whether only we may change it: a cache has code to be run."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.getuid()
        and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


def _load_without_blas() -> None:
    """Load what the first kernel would, but for SciPy, which takes as long as all the rest.

    Numba imports SciPy's BLAS for kernels that multiply matrices; ours do not.
    """

    def absent() -> None:
        raise ImportError

    found = getattr(numba.np.linalg, "ensure_blas", None)
    if found is None or "numba.np.arraymath" in sys.modules:
        return
    numba.np.linalg.ensure_blas = absent
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        numba.np.linalg.ensure_blas = found


_load_without_blas()
_CACHE = _cache_directory()
if _CACHE is not None:
    setattr(numba.config, "CACHE_DIR", _CACHE)  # noqa: B010 - numba makes its settings at run time


class _CacheFile(numba.core.caching.IndexDataCacheFile):
    """Numba's record of a kernel's machine code, with one writer at a time.

    Numba numbers the code for each type of arguments by an index that it has read before. Two
    processes that compile one kernel for two types would give both one number, and the code for
    the one type would run on the other.
    """

    def save(self, key: object, data: object) -> None:
        folder = os.open(self._cache_path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(folder, fcntl.LOCK_EX)
            super().save(key, data)  # type: ignore[no-untyped-call]
        finally:
            os.close(folder)


setattr(numba.core.caching, "IndexDataCacheFile", _CacheFile)  # noqa: B010 - not typed
# Numba numbers functions from 1 in each process, and machine code finds what it calls by name and
# number. Among kernels that several processes compiled, one number would stand for several
# functions of one name (those that Numba makes for a sort, say), and the wrong one be called.
setattr(  # noqa: B010 - not typed
    numba.core.bytecode.FunctionIdentity, "_unique_ids", itertools.count(secrets.randbits(48))
)


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """Numba's function, in nopython mode, without the GIL, cached where a cache is writable."""
    return numba.njit(nogil=True, cache=_CACHE is not None, **options)(function)


def is_compiled(kernel: Any) -> bool:
    """Whether the code of a `jobsight.jit.Kernel` is in the cache; else its first call is slow."""
    folder, name = kernel.compiled._cache.cache_path, kernel.py_func.__name__
    return folder is not None and any(Path(folder).glob(f"*.{name}-*.nbi"))
