"""Numeric kernels that Numba compiles: two decorators.

Numba takes longer to import than many a command takes in all, and much longer to compile. So it is
imported when a kernel is first called, by `jobsight.compiling`, and a kernel with an `estimate`
runs in plain Python where that is done sooner: always for very little work, and for a few seconds
of work while its machine code is not in the cache (`jobsight.kernelcache`).
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

from jobsight.kernelcache import are_compiled

__all__ = [
    "Kernel",
    "Primitive",
    "expect",
    "helper",
    "kernel",
    "numba_is_here",
    "on_compile",
    "uncompiled",
]

P = ParamSpec("P")
R = TypeVar("R")

_VERY_LITTLE, _LITTLE = 0.4, 4.0
"""Seconds of a process in plain Python: up to these Numba's import takes longer; the compiler."""
on_compile: list[Callable[[], None]] = []
"""What is called before a kernel that may have to be compiled: that takes its time."""
_work = {"done": 0.0, "ahead": 0.0, "uncompiled": 0.0}
_are_compiled = functools.cache(are_compiled)


class Kernel(Generic[P, R]):
    """A function that is compiled when it is first called, by a program or by another kernel.

    Attributes:
        py_func: the function as it was written.
    """

    def __init__(self, function: Callable[P, R], **options: Any) -> None:
        """Compile `function` later, with these options of Numba's."""
        self.py_func = function
        self._options = options
        self._seconds: Callable[..., float] | None = None
        functools.update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the compiled function, or for little work the one in plain Python."""
        if self._seconds is not None and self._suits_python(self._seconds(*args, **kwargs)):
            return self.python(*args, **kwargs)
        found: R = self.compiled(*args, **kwargs)
        return found

    def estimate(self, seconds: Callable[..., float]) -> None:
        """Decorate what estimates the seconds of a call in plain Python; both give the same."""
        self._seconds = seconds

    def in_python(self, function: Callable[P, R]) -> None:
        """Decorate what plain Python runs in place of the function as it was written."""
        self.python = function

    @functools.cached_property
    def python(self) -> Callable[P, R]:
        """The function in plain Python."""
        return self.interpreted

    @functools.cached_property
    def interpreted(self) -> Callable[P, R]:
        """The function as it was written; what it calls are functions in plain Python too."""
        code, names = self.py_func.__code__, self.py_func.__globals__
        used = {k: names[k] for k in ("__builtins__", "__name__", *code.co_names) if k in names}
        plain = {k: v.python if isinstance(v, Kernel) else v for k, v in used.items()}
        function: Any = types.FunctionType(code, plain, code.co_name)
        return function  # type: ignore[no-any-return]

    @functools.cached_property
    def compiled(self) -> Any:
        """Numba's function."""
        from jobsight.compiling import compiled

        if not _are_compiled():
            for report in on_compile:
                report()
        return compiled(self.py_func, **self._options)

    @property
    def _numba_type_(self) -> Any:
        """What another kernel that calls this one takes it for."""
        return self.compiled._numba_type_

    def _suits_python(self, seconds: float) -> bool:
        if numba_is_here():
            return False
        _work["done"] += seconds  # threads may lose some of it
        work = max(_work["done"], _work["ahead"])
        if work <= _VERY_LITTLE:
            return True
        if _are_compiled():
            return False
        _work["uncompiled"] = work
        return work <= _LITTLE


class Primitive:
    """A function of a few machine instructions, which kernels use only where they are compiled.

    Attributes:
        place: ``module:name`` of Numba's intrinsic function.
    """

    def __init__(self, place: str) -> None:
        self.place = place

    def __call__(self, *_args: Any) -> Any:
        """Refuse: this is only for compiled kernels."""
        raise NotImplementedError(f"{self.place} has no form in plain Python")

    @functools.cached_property
    def _numba_type_(self) -> Any:
        from jobsight.compiling import type_of

        return type_of(self.place)


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


def expect(seconds: float) -> None:
    """Announce work, in seconds of plain Python, so that its first part is not done in vain."""
    _work["ahead"] = max(_work["ahead"], _work["done"] + seconds)


def uncompiled() -> bool:
    """Whether this process had so much to do that compiled kernels serve, and they are missing."""
    return _work["uncompiled"] > 0.0
