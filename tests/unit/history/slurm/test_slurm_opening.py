"""How the cluster's name is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobsight.errors import SourceError
from jobsight.history.slurm.client import SlurmClient
from jobsight.settings import SlurmSettings


def name_of(settings: SlurmSettings) -> str:
    return SlurmClient(settings).cluster_name()


def scontrol(folder: Path, text: str) -> Path:
    tool = folder / "scontrol"
    tool.write_text(f"#!/bin/sh\n{text}\n")
    tool.chmod(0o755)
    return folder


def test_what_is_set_wins_in_lowercase_as_in_the_accounts(tmp_path: Path) -> None:
    scontrol(tmp_path, "echo 'ClusterName = red'")
    assert name_of(SlurmSettings(bin=tmp_path, cluster="Blue")) == "blue"


def test_the_controller_says_it_in_lowercase(tmp_path: Path) -> None:
    scontrol(tmp_path, "echo 'ClusterName             = Red'")
    assert name_of(SlurmSettings(bin=tmp_path)) == "red"


@pytest.mark.parametrize("answer", [None, "exit 0", "exit 1"])
def test_without_an_answer_it_must_be_set(answer: str | None, tmp_path: Path) -> None:
    if answer is not None:
        scontrol(tmp_path, answer)
    with pytest.raises(SourceError, match=r"set slurm\.cluster"):
        name_of(SlurmSettings(bin=tmp_path))
