"""Where the machine code of kernels is, and whether it is there; light, for commands in a hurry."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import stat
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

from jobsight.runtime import cache_folder

__all__ = [
    "are_compiled",
    "cache_directory",
    "compile_later",
    "lock_file",
    "note_compiled",
    "processor",
    "sources",
]

_OF_KERNELS = (
    b"jobsight.jit import", b"\nfrom numba", b"\nimport numba", b"_numba_type_",
    b"# Kernels have it",
)  # fmt: skip
"""In their sources; others name Numba too, as a package of the jobs that they check. All sources
are searched in each command: four times sooner than by a regular expression."""
_AGAIN_S = 3600.0
"""Between two attempts to compile in the background."""
_CPUINFO = Path("/proc/cpuinfo")
_OF_PROCESSOR = ("model name", "flags", "CPU implementer", "CPU part", "Features")


@cache
def sources() -> str:
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


def processor() -> str:
    """A name for the kind of processor that Numba compiles for.

    Of two processes that compile one kernel in one folder at the same time, for processors of two
    kinds, Numba may keep the code of the one under the name of the other's. So it does with code
    that checks each index.
    """
    kind = [platform.machine()]
    with contextlib.suppress(OSError), _CPUINFO.open("rb") as stream:
        first = stream.read(16 << 10).decode("utf-8", "replace").split("\n\n")[0]
        kind += [line for line in first.splitlines() if line.startswith(_OF_PROCESSOR)]
    names = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_BOUNDSCHECK")
    kind += [os.environ.get(name, "") for name in names]
    return hashlib.sha256("\n".join(kind).encode()).hexdigest()[:16]


def cache_directory() -> str | None:
    """The folder of machine code, which is made; None: none is writable and ours alone."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return os.environ["NUMBA_CACHE_DIR"]
    import tempfile

    roots = [Path(tempfile.gettempdir()) / f"jobsight-{os.getuid()}"]
    with contextlib.suppress(OSError):  # there may be no home to write in
        if (own := cache_folder()) is not None:
            Path(own).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            roots.insert(0, Path(own))
    for root in roots:
        state = root / "numba" / sources()
        folder = state / processor()
        way = (root, state.parent, state, folder)
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


def are_compiled() -> bool:
    """Whether the machine code of all kernels is there that small inputs can do without."""
    marker = _marker()
    return marker is not None and marker.exists()


def note_compiled() -> None:
    """Note that they are all compiled: from now on `are_compiled`."""
    if (marker := _marker()) is not None:
        marker.touch()


def _marker() -> Path | None:
    # A folder that is named by the user may serve several versions and machines.
    folder = cache_directory()
    return None if folder is None else Path(folder, f"compiled-{sources()}-{processor()}")


def lock_file() -> Path:
    """What is locked while all kernels are compiled; as old as the last attempt to do that."""
    return Path(cache_directory() or "", "compiling.lock")


def compile_later() -> None:
    """Compile all kernels in a process of its own, which outlives this one; at most once an hour.

    ``JOBSIGHT_COMPILE=never`` forbids it.
    """
    if os.environ.get("JOBSIGHT_COMPILE") == "never" or cache_directory() is None:
        return
    with contextlib.suppress(OSError):  # without a lock file: this is the first attempt
        if time.time() - lock_file().stat().st_mtime < _AGAIN_S:
            return
    command = [sys.executable, "-m", "jobsight", "setup", "kernels", "--background"]
    nothing = subprocess.DEVNULL
    with contextlib.suppress(OSError):  # no memory or process is left: another time
        subprocess.Popen(  # noqa: S603  # no shell; this very command
            command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True, cwd="/"
        )
