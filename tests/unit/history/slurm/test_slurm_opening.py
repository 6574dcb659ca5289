"""How the cluster's name is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobsight.errors import SourceError
from jobsight.history.slurm.opening import cluster_name, open_collector, open_source
from jobsight.settings import SlurmSettings


def test_as_set() -> None:
    settings = SlurmSettings(cluster="blue")
    assert open_source(settings).name == "slurm:blue"
    assert open_collector(settings).collect([]) == []


def test_as_slurm_conf_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conf = tmp_path / "slurm.conf"
    conf.write_text("# ClusterName=no\nSlurmctldHost=a\n clustername = Green # yes\n")
    assert cluster_name(SlurmSettings(conf=conf)) == "Green"
    monkeypatch.setenv("SLURM_CONF", str(conf))
    assert cluster_name(SlurmSettings()) == "Green"


def test_as_the_controller_says(tmp_path: Path) -> None:
    tool = tmp_path / "scontrol"
    tool.write_text("#!/bin/sh\necho 'ClusterName             = red'\n")
    tool.chmod(0o755)
    assert cluster_name(SlurmSettings(bin=tmp_path)) == "red"
    tool.write_text("#!/bin/sh\n")
    with pytest.raises(SourceError, match=r"set slurm\.cluster"):
        cluster_name(SlurmSettings(bin=tmp_path))


def test_nobody_tells(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"set slurm\.cluster"):
        cluster_name(SlurmSettings(bin=tmp_path))
