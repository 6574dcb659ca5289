"""The script that unpacks a pack, run by the real shell."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest

from jobsight.cluster.starting import _SCRIPT


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with the script and a pack, whose program says where it lies."""
    program = tmp_path / "made/bin/where"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\nreadlink -f -- "$0"\n')
    program.chmod(0o755)
    with tarfile.open(tmp_path / "env.tar", "w") as pack:
        pack.add(tmp_path / "made", arcname=".")
    (tmp_path / "start.sh").write_text(_SCRIPT)
    return tmp_path


def start(work: Path, pack: str = "env.tar") -> subprocess.Popen[str]:
    words = ["sh", "start.sh", pack, "a place/of it", "where"]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, cwd=work, stdout=pipe, stderr=pipe, text=True)


def places(work: Path) -> list[str]:
    return sorted(path.name for path in (work / "a place").glob("*"))


def test_nobody_waits_for_one_that_was_killed_in_the_middle(work: Path) -> None:
    (work / "a place/of it.AAAAAA").mkdir(parents=True)
    process = start(work)
    assert process.communicate()[0].strip() == str(work / "a place/of it/bin/where")


def test_what_cannot_be_unpacked_leaves_nothing(work: Path) -> None:
    (work / "broken.tar").write_bytes((work / "env.tar").read_bytes()[:700])
    process = start(work, "broken.tar")
    assert "tar:" in process.communicate()[1]
    assert process.returncode != 0
    assert places(work) == []


def test_others_may_enter_what_was_unpacked(work: Path) -> None:
    start(work).communicate()
    assert (work / "a place/of it").stat().st_mode & 0o055 == 0o055
