"""Machine code of the kernels, compiled where they are packed, so that no node has to.

Numba looks for it beside the sources where a file says that it lies there, for these very sources
and this kind of processor (`jobsight.jit`); elsewhere it compiles as ever, for the user's cache.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import jobsight
from jobsight.errors import JobsightError
from jobsight.jit import kernels_marker
from jobsight.text import printable

__all__ = ["compiled_kernels"]

_ADDRESS = re.compile(rb"(?<= at 0x)[0-9a-f]+")
"""What Numba's notes beside the code tell of the process that compiled it."""


def compiled_kernels(practice: Sequence[str], package: str) -> Iterator[tuple[str, bytes]]:
    """Where each file of machine code goes in the pack, and its content.

    `jobsight` is called with the words of `practice` to compile what nodes use; `package` is where
    Jobsight itself is in the pack.

    Raises:
        JobsightError: the practice fails.
    """
    with tempfile.TemporaryDirectory(prefix="jobsight-kernels-") as name:
        _practise(practice, Path(name))
        home = Path(jobsight.__file__).parent
        for folder in sorted({path.parent for path in home.rglob("*.py")}):
            place = f"{package}/{folder.relative_to(home).as_posix()}/__pycache__"
            for file in sorted(_kept_for(folder, Path(name)).glob("*.nb[ic]")):
                code = _ADDRESS.sub(lambda found: b"0" * len(found[0]), file.read_bytes())
                yield f"{place.replace('/./', '/')}/{file.name}", code
    yield f"{package}/{kernels_marker()}", b""


def _practise(practice: Sequence[str], cache: Path) -> None:
    # An order of its own in each process would give other bytes each time.
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONHASHSEED": "0"}
    done = subprocess.run(  # noqa: S603  # no shell; ourselves
        [sys.executable, "-m", "jobsight", *practice],
        env=environment,
        cwd=cache,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise JobsightError(f"the kernels cannot be compiled: {printable(last, 300)}")


def _kept_for(folder: Path, cache: Path) -> Path:
    """Where Numba keeps machine code of a folder's sources, below a cache folder that was set."""
    digest = hashlib.sha1(str(folder).encode(), usedforsecurity=False).hexdigest()
    return cache / f"{folder.name}_{digest}"
