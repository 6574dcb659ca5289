"""Which kernels run in plain Python, and when a compilation is left to the background."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jobsight import kernelcache
from jobsight.jit import Primitive

PROGRAM = """
import sys
import numpy as np
from jobsight import jit
from jobsight.history.pastwalk import grouped
jit.on_compile.append(lambda: print("compiles"))
def work(seconds, ahead=0.0):
    grouped.estimate(lambda _codes, _count: seconds)
    if ahead:
        jit.expect(ahead)
    at, places = grouped(np.array([1, -1, 0, 1], np.int32), 2)
    assert (at.tolist(), places.tolist()) == ([0, 1, 3], [2, 0, 3])
    print("numba" if "numba" in sys.modules else "python", jit.uncompiled())
"""


def run(cache: Path, calls: str) -> list[str]:
    """What a process with this cache prints."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    return subprocess.check_output(
        [sys.executable, "-c", PROGRAM + calls], text=True, env=environment
    ).splitlines()


def test_kernels_wait_for_no_compiler_where_python_is_done_sooner(tmp_path: Path) -> None:
    little, more = ["python False"], ["python False", "python True"]
    assert run(tmp_path, "work(0.1)") == little
    assert run(tmp_path, "work(0.1); work(0.5)") == more
    assert run(tmp_path, "work(0.1); work(0.1, ahead=0.5)") == more
    assert not any(tmp_path.rglob("*.nbi"))
    # What is expected is too much: its first part is not done in vain.
    assert run(tmp_path, "work(0.1, ahead=60.0)") == ["compiles", "numba True"]
    assert any(tmp_path.rglob("*.nbi"))
    # As long as another kernel may lack, none is taken from the cache: Numba would compile that.
    assert run(tmp_path, "work(0.1); work(0.5)") == more
    assert run(tmp_path, "from jobsight.kernelcache import note_compiled; note_compiled()") == []
    assert run(tmp_path, "work(0.1)") == little
    assert run(tmp_path, "work(0.5)") == ["numba False"]
    assert run(tmp_path, "import numba; work(0.1)") == ["numba False"]


def test_a_long_process_goes_over_to_compiled_kernels(tmp_path: Path) -> None:
    said = run(tmp_path, "for _ in range(10): work(0.5)")
    assert said == ["python True"] * 8 + ["compiles"] + ["numba True"] * 2


def test_a_primitive_has_no_form_in_python() -> None:
    with pytest.raises(NotImplementedError, match="nowhere:nothing has no form in plain Python"):
        Primitive("nowhere:nothing")(1)


def test_an_attempt_in_the_background_is_made_once_an_hour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda words, **_: started.append(words))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    kernelcache.compile_later()
    assert started == []  # forbidden, as in all tests
    monkeypatch.delenv("JOBSIGHT_COMPILE")
    kernelcache.compile_later()
    assert [words[-3:] for words in started] == [["setup", "kernels", "--background"]]
    kernelcache.lock_file().touch()
    kernelcache.compile_later()
    assert len(started) == 1
    long_ago = time.time() - 7200
    os.utime(kernelcache.lock_file(), (long_ago, long_ago))
    kernelcache.compile_later()
    assert len(started) == 2
