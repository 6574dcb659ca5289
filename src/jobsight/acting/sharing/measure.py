"""Pairs of programs on this node: how many times as long each takes next to each other.

Each program runs alone, once under the sampler of `jobsight profile`, which gives its vector. Then
two run at the same time, each on a CPU of its own (or both on one, where CPUs are shared), again
and again, until each has run often enough while the other was running.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import combinations_with_replacement
from pathlib import Path
from typing import NamedTuple

import numpy as np

from jobsight.acting.sharing.probe import BLOCK_MB, KINDS
from jobsight.acting.sharing.slowdown import Matrix, Pair
from jobsight.acting.sharing.vectors import RESOURCES, of_time
from jobsight.errors import SourceError, UsageError
from jobsight.program.sampling import machine
from jobsight.text import printable

__all__ = ["Program", "measure", "probes"]

_UNIT_S = 4.0
"""Seconds that a run of a probe is made to take."""
_MOST_S = 600.0
"""Seconds after which a program that does not end is given up."""
_DRAWS = 1000
_LEAST_S = 1.0
_USED = 0.3


class Program(NamedTuple):
    """A program that ends by itself, and does the same each time."""

    name: str
    command: tuple[str, ...]


def measure(
    programs: Sequence[Program],
    folder: Path,
    *,
    runs: int = 5,
    shared: bool = False,
    progress: Callable[[str, float], None] = lambda _what, _part: None,
) -> Matrix:
    """The matrix of this node.

    Args:
        programs: at least one.
        folder: on the disk that is to be measured; programs run in folders within it.
        runs: of each program alone and next to each other one.
        shared: both of a pair run on one CPU.
        progress: is given what is measured, and the part that is done.

    Raises:
        UsageError: two programs of one name, or too few CPUs.
        SourceError: a program fails, does not end, or ends within 1 s.
    """
    names = [one.name for one in programs]
    if len(set(names)) < len(names) or not names:
        raise UsageError("name each program to measure once")
    halves = _halves(shared=shared)
    pairs = list(combinations_with_replacement(programs, 2))
    steps = len(programs) + len(pairs)
    alone: dict[str, list[float]] = {}
    shares: dict[str, dict[str, float]] = {}
    found: list[Pair] = []
    with tempfile.TemporaryDirectory(prefix="jobsight-sharing-", dir=folder) as place:
        work = Path(place)
        for number, program in enumerate(programs):
            progress(program.name, number / steps)
            shares[program.name] = _shares(program, work, halves[0])
            alone[program.name] = [_timed(program, work, halves[0]) for _ in range(runs)]
            if max(alone[program.name]) < _LEAST_S:
                raise SourceError(
                    f"{printable(program.name, 60)} ends within {_LEAST_S:g} s: give it more to do"
                )
        for number, (first, second) in enumerate(pairs, len(programs)):
            progress(f"{first.name} next to {second.name}", number / steps)
            both = _together((first, second), work, halves, runs)
            for (one, other), seconds in zip(((first, second), (second, first)), both, strict=True):
                if one is not other or seconds is both[0]:
                    found.append(_pair(one.name, other.name, seconds, alone[one.name]))
    most = {name: max(one[name] for one in shares.values()) for name in RESOURCES}
    return Matrix(
        kind=str(machine().get("cpu") or "unknown"),
        date=dt.datetime.now(dt.UTC).date().isoformat(),
        cpus=1 if shared else 2 * len(halves[0]),
        cpus_each=len(halves[0]),
        disk_mb_s=_disk_mb_s(programs, alone),
        shares=shares,
        alone_s={name: float(np.median(seconds)) for name, seconds in alone.items()},
        pairs=found,
        unmeasured={
            name: "no program that was run used it for 30 % of its time"
            for name, share in most.items()
            if share < _USED
        },
    )


def _pair(program: str, neighbour: str, seconds: list[float], alone: list[float]) -> Pair:
    """The ratio of medians, with its bootstrap interval."""
    random = np.random.default_rng(0)
    drawn = np.median(random.choice(seconds, (_DRAWS, len(seconds))), axis=1)
    drawn /= np.median(random.choice(alone, (_DRAWS, len(alone))), axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    ratio = float(np.median(seconds) / np.median(alone))
    return Pair(
        program,
        neighbour,
        round(ratio, 4),
        round(float(low), 4),
        round(float(high), 4),
        len(seconds),
    )


def _disk_mb_s(programs: Sequence[Program], alone: Mapping[str, Sequence[float]]) -> float | None:
    """What the disk took from the probe; None: it was not run."""
    for program in programs:
        if program.name == "diskbw" and program.command[:-1] == _probe("diskbw", 0).command[:-1]:
            return int(program.command[-1]) * BLOCK_MB / float(np.median(alone["diskbw"]))
    return None


def _halves(*, shared: bool) -> tuple[list[int], list[int]]:
    """The CPUs of either program of a pair.

    Raises:
        UsageError: there are too few.
    """
    cpus = sorted(os.sched_getaffinity(0))
    if shared:
        return cpus[:1], cpus[:1]
    if len(cpus) < 2:
        raise UsageError("two programs need two CPUs; measure sharing of one CPU with --one-cpu")
    half = len(cpus) // 2
    return cpus[:half], cpus[half : 2 * half]


def probes(folder: Path, *, shared: bool = False) -> list[Program]:
    """Programs that use one resource each, with as much to do as takes four seconds here.

    Raises:
        UsageError: there are too few CPUs.
        SourceError: one cannot run here.
    """
    found, cpus = [], _halves(shared=shared)[0]
    with tempfile.TemporaryDirectory(prefix="jobsight-sharing-", dir=folder) as place:
        for kind in KINDS:
            units, seconds = 4, 0.0
            base = min(_timed(_probe(kind, 0), Path(place), cpus) for _ in range(3))
            while seconds - base < _UNIT_S / 4:
                units *= 2
                seconds = _timed(_probe(kind, units), Path(place), cpus)
            found.append(_probe(kind, round(units * _UNIT_S / (seconds - base))))
    return found


def _probe(kind: str, units: int) -> Program:
    module = "jobsight.acting.sharing.probe"
    return Program(kind, (sys.executable, "-m", module, kind, str(units)))


@contextmanager
def _started(
    command: Sequence[str], folder: Path, cpus: Sequence[int], output: int = subprocess.DEVNULL
) -> Iterator[subprocess.Popen[bytes]]:
    """A command on these CPUs; in the end all of its process group is ended."""
    own = Path(tempfile.mkdtemp(dir=folder))
    try:
        process = subprocess.Popen(  # noqa: S603  # the caller's own program, without a shell
            command, cwd=own, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise SourceError(f"cannot run {printable(command[0], 200)}: {error.strerror}") from None
    with suppress(ProcessLookupError):
        if cpus:
            os.sched_setaffinity(process.pid, cpus)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _timed(program: Program, folder: Path, cpus: Sequence[int]) -> float:
    """Seconds of a run.

    Raises:
        SourceError: it fails, or does not end.
    """
    started = time.monotonic()
    with _started(program.command, folder, cpus) as process:
        try:
            status = process.wait(_MOST_S)
        except subprocess.TimeoutExpired:
            raise SourceError(f"{program.name} has not ended in {_MOST_S:g} s") from None
    _require(program, status)
    return time.monotonic() - started


def _require(program: Program, status: int) -> None:
    if status:
        raise SourceError(f"{printable(program.name, 60)} ended with exit code {status}")


def _shares(program: Program, folder: Path, cpus: Sequence[int]) -> dict[str, float]:
    """The parts of its time that it uses each resource, as `jobsight profile` measures them.

    Memory is known where hardware counts its misses, and of the probe, which does nothing else.
    """
    command = (sys.executable, "-m", "jobsight", "profile", "--json", "--", *program.command)
    with _started(command, folder, cpus, subprocess.PIPE) as process:
        try:
            printed, _ = process.communicate(timeout=_MOST_S)
        except subprocess.TimeoutExpired:
            raise SourceError(f"{program.name} has not ended in {_MOST_S:g} s") from None
    _require(program, process.returncode)
    shares: dict[str, float | None] = json.loads(printed)["shares"]
    if program.name == "membw" and shares["memory"] is None:
        shares |= {"memory": shares["cpu"], "cpu": 0.0}
    found = dict.fromkeys(RESOURCES, 0.0) | of_time(shares)
    return {name: round(share, 4) for name, share in found.items()}


def _together(
    programs: tuple[Program, Program], folder: Path, cpus: Sequence[Sequence[int]], runs: int
) -> tuple[list[float], list[float]]:
    """Seconds of runs of each of two programs, all of the while next to a run of the other."""
    seconds: tuple[list[float], list[float]] = ([], [])
    enough = threading.Event()

    def again(which: int) -> None:
        try:
            while not enough.is_set():
                took = _timed(programs[which], folder, cpus[which])
                # The other one may have stopped within this run.
                if not enough.is_set():
                    seconds[which].append(took)
                if all(len(each) >= runs for each in seconds):
                    enough.set()
        finally:
            enough.set()

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(again, which) for which in (0, 1)]:
            done.result()
    return seconds
