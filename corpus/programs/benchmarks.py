"""``python -m corpus.programs.benchmarks [NAME ...]``: what binds the programs of pyperformance?

They were written by others, so they test `jobsight bound` apart from the corpus. Their code is
installed from PyPI into `.venv` and never committed; `BENCHMARKS` has the rows of their
measurement, and names what is left out. Each runs in one process, without pyperf's repetitions, as
many loops as take some seconds.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from corpus.programs.families import HERE, Program
from corpus.programs.measure import PYTHON, VENV, measure, set_up
from corpus.programs.truth import read_rows, write_rows
from jobsight.errors import SourceError
from jobsight.text import printable

__all__ = ["BENCHMARKS", "benchmarks", "main"]

BENCHMARKS = HERE / "pyperformance.jsonl"
LINK = VENV / "pyperformance"
"""Where the benchmarks are, whatever the version of Python."""
_DATA = "pyperformance/data-files/benchmarks"
_FILE = "run_benchmark.py"
_ONCE = ("--worker", "-w0", "-n1")
_CALIBRATE = ("--worker", "--calibrate-loops", "--min-time=2.2", "-w1", "-n1", "-l0")
_TOO_LONG = frozenset({"bm_bpe_tokeniser", "bm_mdp", "bm_pprint"})
_SMALLER = 256


def main(arguments: Sequence[str]) -> int:
    """Measure what has no row yet; 1: a benchmark could not be measured."""
    found, left_out = benchmarks()
    for name, reason in left_out.items():
        print(f"{name}: left out, {reason}")
    rows, failed = read_rows(BENCHMARKS), 0
    for name, (program, options) in found.items():
        if (program.path in rows and not arguments) or (arguments and name not in arguments):
            continue
        try:
            row = measure(_sized(program, options))
        except (OSError, SourceError, subprocess.SubprocessError) as error:
            failed += 1
            print(f"{name}: {printable(str(error), 400)}", flush=True)
            continue
        own = {row.path: msgspec.structs.replace(row, family=name)}
        write_rows((read_rows(BENCHMARKS) | own).values(), BENCHMARKS)
        print(f"{name}: {'/'.join(row.classes)}, {row.wall_s:.1f} s", flush=True)
    return int(failed > 0)


def benchmarks() -> tuple[dict[str, tuple[Program, tuple[str, ...]]], dict[str, str]]:
    """The benchmarks by name, each with its own options, and why others are left out."""
    set_up()
    if not LINK.exists():
        LINK.symlink_to(next(VENV.glob(f"lib/python*/site-packages/{_DATA}")))
    found, left_out = {}, {}
    for folder in sorted(LINK.glob("bm_*")):
        needs = folder / "requirements.txt"
        if needs.exists():
            left_out[folder.name] = f"needs {', '.join(needs.read_text().split())}"
            continue
        if folder.name in _TOO_LONG:
            left_out[folder.name] = "one loop takes minutes under cachegrind"
            continue
        about = tomllib.loads((folder / "pyproject.toml").read_text())
        family = str(folder.relative_to(HERE))
        program = Program(_FILE, "python", "", args=_ONCE, family=family)
        found[folder.name] = program, tuple(about["tool"]["pyperformance"].get("extra_opts", ()))
    return found, left_out


def _sized(program: Program, options: Sequence[str]) -> Program:
    """The benchmark with as many loops as take some seconds, and fewer for cachegrind."""
    loops = _loops(HERE / program.path, options)
    args, small = ((*_ONCE, f"-l{one}", *options) for one in (loops, max(1, loops // _SMALLER)))
    return msgspec.structs.replace(program, args=args, small=small)


def _loops(path: Path, options: Sequence[str]) -> int:
    """How many loops take some seconds; of several benchmarks in a file, the fewest."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [PYTHON, str(path), *_CALIBRATE, "-o", str(report), *options]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=180)
        if done.returncode:  # some run only one loop in a process
            return 1
        suite: dict[str, Any] = msgspec.json.decode(report.read_bytes())
    found = (suite["metadata"] | one.get("metadata", {}) for one in suite["benchmarks"])
    return min(int(one["loops"]) for one in found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
