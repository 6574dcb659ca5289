"""How the kernels of `jobsight.jit` are compiled with Numba, and where its cache is.

Kernels release the GIL and are cached on disk, so that a command does not wait for the compiler.
Where no cache directory is writable, kernels are compiled anew in each process and all else works.
"""

import contextlib
import fcntl
import importlib
import itertools
import os
import secrets
import sys
from collections.abc import Callable
from typing import Any

import numba
import numba.core.bytecode
import numba.core.caching
import numba.np.linalg
from numba.core.registry import cpu_target

from jobsight.kernelcache import cache_directory

__all__ = ["compiled", "type_of"]


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
_CACHE = cache_directory()
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


def type_of(place: str) -> Any:
    """Numba's type of the intrinsic function at ``module:name``."""
    module, _, name = place.partition(":")
    typing = cpu_target.typing_context
    intrinsic = getattr(importlib.import_module(module), name)
    typing.refresh()
    return typing.resolve_value_type(intrinsic)
