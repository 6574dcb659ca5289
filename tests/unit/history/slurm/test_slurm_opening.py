"""How the cluster's name is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobsight.errors import SourceError
from jobsight.history.slurm.client import SlurmClient
from jobsight.history.slurm.opening import cluster_name
from jobsight.settings import SlurmSettings


def name_of(settings: SlurmSettings) -> str:
    return cluster_name(SlurmClient(settings), settings)


def scontrol(folder: Path, text: str) -> Path:
    tool = folder / "scontrol"
    tool.write_text(f"#!/bin/sh\n{text}\n")
    tool.chmod(0o755)
    return folder


def conf(folder: Path, name: str) -> Path:
    path = folder / "slurm.conf"
    path.write_text(f"# ClusterName=no\nSlurmctldHost=a\n clustername = {name} # yes\n")
    return path


def test_what_is_set_wins_in_lowercase_as_in_the_accounts(tmp_path: Path) -> None:
    scontrol(tmp_path, "echo 'ClusterName = red'")
    assert name_of(SlurmSettings(bin=tmp_path, cluster="Blue")) == "blue"


def test_the_controller_goes_before_slurm_conf_in_lowercase(tmp_path: Path) -> None:
    scontrol(tmp_path, "echo 'ClusterName             = Red'")
    assert name_of(SlurmSettings(bin=tmp_path, conf=conf(tmp_path, "Green"))) == "red"


@pytest.mark.parametrize("answer", ["exit 1", "exit 0"])
def test_slurm_conf_tells_where_the_controller_does_not(
    answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scontrol(tmp_path, answer)
    path = conf(tmp_path, "Green")
    assert name_of(SlurmSettings(bin=tmp_path, conf=path)) == "green"
    monkeypatch.setenv("SLURM_CONF", str(path))
    assert name_of(SlurmSettings(bin=tmp_path)) == "green"


@pytest.mark.parametrize("answer", [None, "exit 0"])
def test_nobody_tells(answer: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_CONF", raising=False)
    if answer is not None:
        scontrol(tmp_path, answer)
    with pytest.raises(SourceError, match=r"set slurm\.cluster"):
        name_of(SlurmSettings(bin=tmp_path))
