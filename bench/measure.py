"""Measuring: runs in separate processes, medians, tables."""

from __future__ import annotations

import datetime as dt
import importlib
import importlib.metadata
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

__all__ = [
    "Section",
    "Times",
    "isolated",
    "machine",
    "main",
    "median",
    "peak_mb",
    "spread",
    "timed",
]

_VERSIONS = ("numba", "numpy", "polars", "pyarrow", "htcondor", "lightgbm")


@dataclass
class Section:
    """One benchmark's part of the results: tables and sentences, as Markdown."""

    title: str
    lines: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self.lines += [text, ""]

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table: the first column to the left, the others to the right."""
        self.lines.append("| " + " | ".join(headings) + " |")
        self.lines.append("|---" + "|---:" * (len(headings) - 1) + "|")
        self.lines += ["| " + " | ".join(row) + " |" for row in rows]
        self.lines.append("")

    def markdown(self) -> str:
        """The section as text."""
        return "\n".join([f"## {self.title}", "", *self.lines])


class Times(TypedDict):
    """Seconds of each run: wall time, and processor time, which depends less on other programs."""

    seconds: list[float]
    cpu: list[float]


def timed(work: Callable[[], object], runs: int, *, warm: int = 1) -> Times:
    """Time `runs` runs, after `warm` runs that are not counted."""
    for _ in range(warm):
        work()
    times = Times(seconds=[], cpu=[])
    for _ in range(runs):
        started, spent = time.perf_counter(), time.process_time()
        work()
        times["seconds"].append(time.perf_counter() - started)
        times["cpu"].append(time.process_time() - spent)
    return times


def median(seconds: Sequence[float]) -> float:
    """The median."""
    return statistics.median(seconds)


def spread(seconds: Sequence[float]) -> str:
    """The spread of runs: minimum and maximum relative to the median."""
    middle = median(seconds)
    low, high = min(seconds) / middle - 1, max(seconds) / middle - 1
    return f"{low:+.0%} … {high:+.0%}".replace("-", "−")


def peak_mb() -> float:
    """The peak memory of this process, in MB."""
    # Not ru_maxrss: that one starts at what the parent held when it forked.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024 / 1e6


def isolated(work: str, *, cores: int | None = None, **arguments: Any) -> Any:
    """Call ``package.module:function`` with JSON arguments in a fresh process; what it returned.

    Args:
        work: the function's name.
        cores: bind the process to so many of the processors allowed; None: all.
        arguments: keyword arguments of the function.
    """
    bound = sorted(os.sched_getaffinity(0))[:cores]
    order = json.dumps({"work": work, "cores": bound, "arguments": arguments})
    root = Path(__file__).parent.parent
    command = [sys.executable, "-m", "bench.measure", order]
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main(order: str) -> None:
    """The other side of `isolated`."""
    asked = json.loads(order)
    os.sched_setaffinity(0, asked["cores"])
    module, name = asked["work"].split(":")
    result = getattr(importlib.import_module(module), name)(**asked["arguments"])
    print(json.dumps(result))


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _version(name: str) -> str:
    try:
        return f"{name} {importlib.metadata.version(name)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{name} absent"


def machine() -> str:
    """When, where and with which versions, as Markdown."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[1] / len(os.sched_getaffinity(0))
    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
    versions = ", ".join([f"Python {platform.python_version()}", *map(_version, _VERSIONS)])
    return (
        f"{now}. {len(os.sched_getaffinity(0))} × {_processor()}, {memory:.0f} GiB of memory, "
        f"{platform.system()} {platform.release().split('-')[0]}; "
        f"load per core before the start {load:.1f} (0 = the machine was otherwise idle).\n"
        f"{versions}."
    )


if __name__ == "__main__":
    main(sys.argv[1])
