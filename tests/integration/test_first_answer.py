"""The first commands after an install: none waits for the compiler, which runs after one."""

from __future__ import annotations

import fcntl
import gzip
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.limits import limit

from jobsight.kernelcache import lock_file

DATA = Path(__file__).parents[2] / "data"
SIZE = 5_000_000
COMPILED = "import jobsight.compiling\n"
PROGRAM = """
import sys
from jobsight.cli.main import main
try:
    main(sys.argv[1:])
finally:
    print("numba" if "numba" in sys.modules else "python", file=sys.stderr)
"""
ACCOUNTING = """\
JobID|User|Partition|State|Submit|Start|End|Timelimit|ReqCPUS|ReqMem
1|u|p|COMPLETED|2026-11-21T01:00:00|2026-11-21T01:00:01|2026-11-21T01:00:09|00:10:00|1|1G
2|u|p|FAILED|2026-11-21T01:00:00|2026-11-21T01:00:01|2026-11-21T01:00:09|00:10:00|1|1G
3|u|p|RUNNING|2026-11-21T01:00:00|2026-11-21T01:00:10|Unknown|00:10:00|1|1G
4|u|p|PENDING|2026-11-21T01:00:20|Unknown|Unknown|00:10:00|1|1G
"""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the first 5 MB of a real log, an accounting dump and a script."""
    folder = tmp_path_factory.mktemp("inputs")
    with gzip.open(DATA / "pool-a.log.gz") as stream:
        head = stream.read(SIZE)
    (folder / "pool.log").write_bytes(head[: head.rfind(b"\n...\n") + 5])
    (folder / "jobs.sacct").write_text(ACCOUNTING)
    (folder / "job.sh").write_text('#!/bin/bash\n#SBATCH --mem=4G\npython3 -c "print(1)"\n')
    return folder


def run(
    inputs: Path, words: str, *, before: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """A command, and in the last line of its errors what its kernels ran on."""
    done = subprocess.run(
        [sys.executable, "-c", before + PROGRAM, *words.split()],
        cwd=inputs, env={**os.environ, "TZ": "UTC", **environment}, timeout=limit(300),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


def on(done: subprocess.CompletedProcess[str]) -> str:
    return done.stderr.splitlines()[-1]


def untimed(done: subprocess.CompletedProcess[str]) -> str:
    """What was printed, without how long it took."""
    return re.sub(r" in [\d.]+ s$", "", done.stdout, flags=re.MULTILINE)


@pytest.mark.parametrize(
    "words",
    [
        "events pool.log", "hold --all --log pool.log", "fail --running --log pool.log",
        "fail --pending --import jobs.sacct", "start --pending --import jobs.sacct",
        "fail job.sh --import jobs.sacct", "check job.sh", "bound job.sh",
    ],
)  # fmt: skip
def test_a_first_answer_compiles_nothing_and_is_that_of_compiled_kernels(
    inputs: Path, tmp_path: Path, words: str
) -> None:
    first = run(inputs, words, NUMBA_CACHE_DIR=str(tmp_path))
    assert on(first) == "python"
    assert list(tmp_path.rglob("*")) == []
    compiled = run(inputs, words, before=COMPILED)
    assert on(compiled) == "numba"
    assert untimed(first) == untimed(compiled)


def test_a_first_import_compiles_nothing_and_stores_the_same(inputs: Path, tmp_path: Path) -> None:
    cache, words = tmp_path / "cache", f"import pool.log --store {tmp_path}/"
    first = run(inputs, f"{words}first.db", NUMBA_CACHE_DIR=str(cache))
    assert on(first) == "python"
    assert not cache.exists()
    run(inputs, f"{words}compiled.db", before=COMPILED)
    counts, other = (
        run(inputs, f"jobs --json --store {tmp_path}/{name}.db").stdout
        for name in ("first", "compiled")
    )
    assert counts == other


def test_kernels_are_compiled_in_the_background_and_found_by_the_next_command(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("JOBSIGHT_COMPILE")
    words = "hold --all --log pool.log"
    assert on(run(inputs, words)) == "python"
    end = time.monotonic() + limit(60)
    while not lock_file().exists() or not lock_file().read_text():
        assert time.monotonic() < end, "nothing was started"
        time.sleep(0.05)
    with lock_file().open() as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)  # until the compilation has ended
    kept = set(tmp_path.rglob("*.nb*"))
    assert on(run(inputs, words)) == "numba"
    for other in ("fail --running --log pool.log", "start --pending --import jobs.sacct"):
        run(inputs, other, before=COMPILED)
    assert set(tmp_path.rglob("*.nb*")) == kept != set()
