"""Numeric kernels that Numba compiles: one decorator.

Numba takes longer to import than many a command takes in all, so it is imported when a kernel is
first called, by `jobsight.compiling`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

__all__ = ["Kernel", "helper", "kernel", "numba_is_here"]

P = ParamSpec("P")
R = TypeVar("R")


class Kernel(Generic[P, R]):
    """A function that is compiled when it is first called, by a program or by another kernel.

    Attributes:
        py_func: the function as it was written: for so little that Numba is not worth its import.
    """

    def __init__(self, function: Callable[P, R], **options: Any) -> None:
        """Compile `function` later, with these options of Numba's."""
        self.py_func = function
        self._options = options
        functools.update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the compiled function."""
        found: R = self.compiled(*args, **kwargs)
        return found

    @functools.cached_property
    def compiled(self) -> Any:
        """Numba's function."""
        from jobsight.compiling import compiled

        return compiled(self.py_func, **self._options)

    @property
    def _numba_type_(self) -> Any:
        """What another kernel that calls this one takes it for."""
        return self.compiled._numba_type_


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Compile `function` in nopython mode, without the GIL, cached where a cache is writable."""
    return Kernel(function)


def helper(function: Callable[P, R]) -> Kernel[P, R]:
    """Compile `function`, which other kernels call at every byte or line, as `kernel` does.

    It may neither allocate nor return arrays. In return its arrays are not reference-counted: a
    count costs two locked instructions per array and call, more than most helpers do themselves.
    """
    return Kernel(function, _nrt=False)


def numba_is_here() -> bool:
    """Whether Numba is imported already, so that a kernel costs little more than its own work."""
    return "numba" in sys.modules
