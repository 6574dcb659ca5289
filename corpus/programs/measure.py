"""``python -m corpus.programs.measure [--jobs N] [PATH ...]``: what binds the programs?

Measures those that changed since, writes ``measured.jsonl``. README.md here explains it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

from corpus.programs.families import HERE, LANGUAGES, Program, programs
from corpus.programs.servers import SERVERS, serve
from corpus.programs.truth import AMBIGUOUS, Counted, Row, judged, on_cpu, read_rows, write_rows
from jobsight.cli.output import progress_bar
from jobsight.commands import Ended, child_environment, run_command
from jobsight.errors import SourceError
from jobsight.format import timestamp
from jobsight.program.counters import CACHE, cachegrind_command, read_cachegrind
from jobsight.program.profile import THRESHOLDS
from jobsight.program.sampling import machine
from jobsight.text import printable

__all__ = ["PYTHON", "VENV", "main", "measure", "set_up"]

VENV = HERE / ".venv"
PYTHON = str(VENV / "bin/python")
TIMEOUT = 60.0
"""Seconds of a run; a build may take as long, cachegrind `_SLOWER` times."""
_SLOWER = 4
_LEAST_SECONDS = 2.0
_TOOLS = {
    **{one.tool: one.package for one in LANGUAGES.values()},
    **{name: name for name in ("redis-server", "valgrind", "sqlite3")},
}
_MOST_OUTPUT = 16 << 20
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main(arguments: Sequence[str]) -> int:
    """Measure what changed; 1: a program could not be measured."""
    parser = argparse.ArgumentParser(prog="python -m corpus.programs.measure")
    parser.add_argument("path", nargs="*", help="of families or programs; all by default")
    parser.add_argument("--timeout", type=float, default=TIMEOUT, help="seconds of one run")
    parser.add_argument("--jobs", type=int, default=1, help="programs that are measured at once")
    options = parser.parse_args(arguments)
    found = programs()
    rows = read_rows()
    chosen = [one for one in found if not options.path or _named(one, options.path)]
    todo = [one for one in chosen if one.path not in rows or rows[one.path].digest != one.digest()]
    missing = _prepare(todo)
    for path, names in missing.items():
        print(f"{path}: left out, needs {names}")
    able = [one for one in todo if one.path not in missing]
    failed = 0
    with progress_bar("measuring") as report, ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(measure, one, options.timeout): one for one in able}
        for done, future in enumerate(as_completed(running), 1):
            one = running[future]
            try:
                row = future.result()
            except (OSError, SourceError, subprocess.SubprocessError) as error:
                failed += 1
                print(f"{one.path}: {printable(str(error), 600)}", flush=True)
            else:
                print(_line(one, row), flush=True)
                write_rows((read_rows() | {one.path: row}).values())
            report(done, len(able))
    known = {one.path for one in found}
    write_rows(row for path, row in read_rows().items() if path in known)
    print(f"{len(able) - failed} measured, {len(missing)} left out, {failed} failed")
    return int(failed > 0)


def _named(one: Program, names: Sequence[str]) -> bool:
    return any(one.path == name or one.family == name.rstrip("/") for name in names)


def _line(one: Program, row: Row) -> str:
    shares = " ".join(f"{name} {100 * (value or 0):.0f}" for name, value in row.shares.items())
    misses = "" if row.misses_per_1000 is None else f" {row.misses_per_1000:.2f} misses"
    differs = "" if row.label == one.intent else f" (expected: {one.intent})"
    return f"{row.path}: {'/'.join(row.classes)}{differs}; {shares};{misses} {row.wall_s:.1f} s"


def set_up() -> None:
    """Make the environment of the programs, with the packages that they import."""
    if not Path(PYTHON).exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    wanted = HERE / "requirements.txt"
    stamp = VENV / "installed.txt"
    if not stamp.exists() or stamp.read_bytes() != wanted.read_bytes():
        install = [PYTHON, "-m", "pip", "install", "--quiet", "--requirement", str(wanted)]
        subprocess.run(install, check=True)
        shutil.copy(wanted, stamp)


def _prepare(todo: Sequence[Program]) -> dict[str, str]:
    """Install what is missing, where that is allowed; by path, what a program still misses."""
    if not todo:
        return {}
    set_up()
    tools = {LANGUAGES[one.language].tool: LANGUAGES[one.language].package for one in todo}
    tools |= {name: _TOOLS[name] for one in todo for name in one.needs if name in _TOOLS}
    absent = [
        package
        for tool, package in {**tools, "valgrind": "valgrind"}.items()
        if not shutil.which(tool)
    ]
    if absent and os.geteuid() == 0 and shutil.which("apt-get"):
        get = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *absent]
        subprocess.run(["apt-get", "update", "--quiet"], check=False)
        subprocess.run(get, check=False)
    lacks = {
        one.path: ", ".join(name for name in _needs(one) if not _is_here(name)) for one in todo
    }
    return {path: names for path, names in lacks.items() if names}


def _needs(one: Program) -> tuple[str, ...]:
    return (LANGUAGES[one.language].tool, *one.needs)


def _is_here(name: str) -> bool:
    """Whether a server, a program or a Python package can be used."""
    if name in SERVERS or shutil.which(name):
        return name not in ("redis", "postgres") or _is_server_here(name)
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
    return subprocess.run([PYTHON, "-c", code, name], check=False).returncode == 0


def _is_server_here(name: str) -> bool:
    if name == "redis":
        return shutil.which("redis-server") is not None
    return any(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


def measure(one: Program, timeout: float = TIMEOUT) -> Row:
    """Measure one program.

    Args:
        one: whose needs are there.
        timeout: seconds of a run.

    Raises:
        SourceError: it fails, or runs too short or too long.
    """
    started = time.time_ns() // 1000
    with _ready(one, timeout) as (work, ports):
        command = one.filled(one.command(one.args), work, **ports)
        observe = [sys.executable, "-m", "jobsight", "profile", "--json", "--", *command]
        done = _run(observe, work, timeout, f"{one.path} as {' '.join(command)}")
    profile = json.loads(done.stdout)
    wall = profile["signals"]["wall_s"]
    if wall < _LEAST_SECONDS:
        raise SourceError(f"runs for {wall} s, less than {_LEAST_SECONDS}")
    counted, how = None, "shares"
    if on_cpu(profile) >= THRESHOLDS["on_cpu"] / 2:
        counted, how = _count(one, timeout)
    classes, shares = judged(profile, counted)
    return Row(
        path=one.path,
        family=one.family,
        language=one.language,
        label=classes[0] if len(classes) == 1 else AMBIGUOUS,
        classes=classes,
        shares=shares,
        wall_s=wall,
        queued_s=profile["signals"]["queued_s"],
        misses_per_1000=round(1000 * counted[0] / counted[1], 3) if counted else None,
        how=how,
        digest=one.digest(),
        machine=_machine(),
        measured=timestamp(started) or "",
        arguments=one.args,
    )


def _machine() -> str:
    found = machine()
    memory = round(int(found["memory_mb"] or 0) / 1000)
    return f"{found['cpu']}, {found['cpus']} CPUs, {memory} GB, {found['system']}"


def _count(one: Program, timeout: float) -> tuple[Counted | None, str]:
    """Misses and instructions of its small run under cachegrind, and how that is known.

    Raises:
        SourceError: the small run fails, or is not done in time.
    """
    args = one.args if one.small is None else one.small
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return None, "valgrind is missing"
    with _ready(one, timeout) as (work, ports), tempfile.TemporaryDirectory() as counts:
        command = one.filled(one.command(args), work, **ports)
        counting = cachegrind_command(valgrind, counts, command, CACHE)
        _run(counting, work, timeout * _SLOWER, f"{one.path} under cachegrind")
        return read_cachegrind(Path(counts)), "cachegrind"


@contextmanager
def _ready(one: Program, timeout: float) -> Iterator[tuple[Path, dict[str, str]]]:
    """A fresh folder with what it builds and reads, which is not in the page cache; its servers."""
    servers = [name for name in one.needs if name in SERVERS]
    with tempfile.TemporaryDirectory(prefix="corpus-", dir=_scratch()) as name:
        top = Path(name)
        top.chmod(0o755)
        work = top / "work"
        work.mkdir()
        for command in (*one.builds(), *one.inputs):
            _run(one.filled(command, work, python=PYTHON), work, timeout, f"{one.path}: {command}")
        _leave_cache(work)
        with serve(servers, top) as ports:
            yield work, {"python": PYTHON, **ports}


def _scratch() -> str:
    """On a disk: what is written to memory waits for nothing."""
    return os.environ.get("TMPDIR", "/var/tmp")


def _leave_cache(folder: Path) -> None:
    """Write the files of a folder to disk and out of the page cache; needs no privileges."""
    for path in folder.rglob("*"):
        if path.is_file() and not os.access(path, os.X_OK):
            descriptor = os.open(path, os.O_RDONLY)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def _run(command: Sequence[str], folder: Path, timeout: float, what: str) -> Ended:
    """Run a command to its success.

    Raises:
        SourceError: it fails, or does not end in time.
    """
    one_thread = dict.fromkeys(_ONE_THREAD, "1")
    env = child_environment(**one_thread, PYTHONDONTWRITEBYTECODE="1", GOCACHE=str(VENV / "go"))
    done = run_command(command, env=env, timeout=timeout, most_output=_MOST_OUTPUT, folder=folder)
    if done.status != 0:
        how = (
            f"exit status {done.status}"
            if done.status is not None
            else f"not done in {timeout:.0f} s"
        )
        raise SourceError(f"{what}: {how}: {done.stderr[-400:].decode(errors='replace').strip()}")
    return done


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
