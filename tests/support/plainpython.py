"""Kernels that have an estimate run in plain Python, also where Numba is imported."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from jobsight.jit import Kernel


@contextlib.contextmanager
def plain_python() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "_suits_python", lambda _kernel, _seconds: True)
        yield
