"""What is dear to make and needed by several processes of a test run is made once."""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

__all__ = ["FOLDER", "once"]

FOLDER = "JOBSIGHT_TESTS_SHARED"
"""The environment variable that names the folder which the processes of a run share."""

_T = TypeVar("_T")


def once(name: str, make: Callable[[], _T]) -> _T:
    """What `make` returns, made by the first process that asks; the others wait for it."""
    if FOLDER not in os.environ:
        return make()
    file = Path(os.environ[FOLDER]) / name
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            made = make()
            file.write_bytes(pickle.dumps(made))
            return made
    found: _T = pickle.loads(file.read_bytes())
    return found
