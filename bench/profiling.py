"""What `jobsight profile` costs while it watches, on a busy machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from bench.measure import Section

__all__ = ["run"]

_SECONDS = 10
_PROCESSES = (
    "import os, time\n"
    "for _ in range({n}):\n"
    "    if not os.fork():\n"
    "        end = time.time() + {s}\n"
    "        while time.time() < end: time.sleep(0.01)\n"
    "        os._exit(0)\n"
    "time.sleep({s})"
)
_THREADS = (
    "import threading, time\n"
    "for _ in range({n}): threading.Thread(target=time.sleep, args=({s},)).start()"
)
_WATCHED = {
    "1 process": ("time.sleep({s})", 0),
    "21 processes": (_PROCESSES, 20),
    "101 processes": (_PROCESSES, 100),
    "101 threads": (_THREADS, 100),
}
_MOST = 0.01


def _measure(program: str, number: int) -> Any:
    code = "import time\n" + program.format(n=number, s=_SECONDS)
    done = subprocess.run(
        [sys.executable, "-m", "jobsight", "profile", "--json", "--", sys.executable, "-c", code],
        check=True,
        stdout=subprocess.PIPE,
    )
    return json.loads(done.stdout)


def run() -> Section:
    """The benchmark.

    Raises:
        AssertionError: observing takes more than one per cent of a core.
    """
    section = Section("Watching programs")
    section.say(
        f"`jobsight profile` of programs that run for {_SECONDS} s, at its default rate, next to "
        f"{os.cpu_count()} spinning processes; the aim is under 1 % of a core."
    )
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(os.cpu_count() or 1)
    ]
    rows = []
    try:
        for name, (program, number) in _WATCHED.items():
            found = _measure(program, number)
            wall, cost = found["signals"]["wall_s"], found["sampling"]["own_cpu_s"]
            assert cost < _MOST * wall
            rows.append([name, f"{found['sampling']['samples'] / wall:.1f}", f"{cost / wall:.2%}"])
    finally:
        for process in busy:
            process.kill()
            process.wait()
    section.table(["watched", "samples/s", "of a core"], rows)
    return section
