"""A program that uses one resource of a node: ``python -m jobsight.acting.sharing.probe KIND N``.

It does N units of work and ends. ``cpu`` adds numbers and ``membw`` copies memory, N units on each
CPU that it may use; ``diskbw`` writes N blocks past the page cache, into the working folder.
"""

from __future__ import annotations

import mmap
import os
import sys
from pathlib import Path

import numpy as np

__all__ = ["BLOCK_MB", "KINDS", "work"]

KINDS = ("cpu", "membw", "diskbw")
_ARRAY = 64 << 20
BLOCK_MB = 4
_BLOCKS = 16


def work(kind: str, units: int) -> None:
    """Do so many units of work."""
    if kind == "cpu":
        for _ in range(units):
            sum(range(100_000))
    elif kind == "membw":
        source, target = np.ones(_ARRAY // 8), np.empty(_ARRAY // 8)
        for _ in range(units):
            np.copyto(target, source)
    else:
        _write(Path(f"probe-{os.getpid()}"), units)


def _write(path: Path, units: int) -> None:
    """Blocks of 4 MiB, each on the disk before the next one is begun."""
    block = mmap.mmap(-1, BLOCK_MB << 20)  # aligned, as O_DIRECT wants it
    block.write(os.urandom(BLOCK_MB << 20))
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_DIRECT | os.O_CLOEXEC, 0o600)
    try:
        path.unlink()
        for unit in range(units):
            os.pwrite(number, block, unit % _BLOCKS * BLOCK_MB << 20)
    finally:
        os.close(number)


def _main(kind: str, units: int) -> None:
    for _ in range(1 if kind == "diskbw" else len(os.sched_getaffinity(0)) - 1):
        if os.fork() == 0:
            break
    else:
        work(kind, units)
        while True:
            try:
                _, status = os.wait()
            except ChildProcessError:
                return
            if status:
                sys.exit(1)
    work(kind, units)


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))
