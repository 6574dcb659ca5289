"""``jobsight setup``; compiling itself is in tests/integration/test_first_answer.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jobsight.cli.main import app
from jobsight.kernelcache import lock_file
from jobsight.locks import take


def test_two_processes_do_not_compile_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    held = take(lock_file())
    assert held is not None
    try:
        done = CliRunner().invoke(app, ["setup", "kernels"])
    finally:
        os.close(held)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "another process compiles them" in done.stderr
    assert list(tmp_path.iterdir()) == [lock_file()]


def test_without_a_folder_for_machine_code_nothing_is_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("jobsight.cli.setup.cache_directory", lambda: None)
    done = CliRunner().invoke(app, ["setup", "kernels"])
    assert "set NUMBA_CACHE_DIR" in str(done.exception)
