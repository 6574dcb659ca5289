"""Children: what they may know, where they are found."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.limits import limit

from jobsight.commands import child_environment, find_tool, run_command


def test_a_child_knows_neither_our_settings_nor_our_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("JOBSIGHT_STORE_PASSWORD", "hunter2")
    monkeypatch.setenv("LC_MESSAGES", "de_DE")
    monkeypatch.setenv("LANGUAGE", "de")
    monkeypatch.setenv("KRB5CCNAME", "kept")
    ended = run_command(
        ["/usr/bin/env"],
        env=child_environment(SLURM_CONF="/x"),
        timeout=limit(5),
        most_output=1 << 20,
    )
    lines = ended.stdout.decode().splitlines()
    assert {"LC_ALL=C", "SLURM_CONF=/x", "KRB5CCNAME=kept"} <= set(lines)
    assert not [one for one in lines if one.startswith(("JOBSIGHT_", "LC_M", "LANGUAGE"))]


def test_where_a_tool_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "squeue").write_text("#!/bin/sh\n")
    (tmp_path / "squeue").chmod(0o755)
    assert find_tool("squeue", tmp_path, ()) == str(tmp_path / "squeue")
    assert find_tool("sacct", tmp_path, ()) is None
    assert find_tool("sacct", tmp_path, ("ssh", "far")) == str(tmp_path / "sacct")
    assert find_tool("sacct", None, ("ssh", "far")) == "sacct"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_tool("squeue", None, ()) == str(tmp_path / "squeue")
    assert find_tool("sacct", None, ()) is None
