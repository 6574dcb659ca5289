"""What ``jobsight setup slurm`` finds in configurations that the test bed does not have."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.calling import jobsight

from jobsight.acting.slurm.installing import Cluster
from jobsight.settings import ActingSettings, ServeSettings, Settings, SlurmSettings

CONFIG = """\
Configuration data as of 2026-11-28T15:00:00
CliFilterPlugins        = lua
Epilog                  = (null)
JobSubmitPlugins        = require_timelimit,cli
PluginDir               = {folder}/plugins
Prolog[0]               = {folder}/prolog.d/*
Prolog[1]               = {folder}/jobsight-prolog.sh
SlurmUser               = slurm(64030)
SLURM_CONF              = {folder}/slurm.conf
SLURM_VERSION           = 21.08.8
"""
NODES = """\
NodeName=a1 Gres=gpu:a100:4(S:0-1),membw:100 Partitions=all,fast
NodeName=a2 Gres=membw:80(S:0),diskbw:50 Partitions=all,fast,disk
NodeName=a3 Gres=membw:100,diskbw:60 Partitions=all,disk
NodeName=b1 Gres=(null) Partitions=old
"""
LICENCES = "LicenseName=fs Total=10 Used=0 Remote=no\nLicenseName=x@srv Total=4 Used=0 Remote=yes\n"


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of tools, and in it the site's files; Slurm answers what these say."""
    for name in ("prolog.d", "plugins", "bin"):
        (tmp_path / name).mkdir()
    said = {"config": CONFIG.format(folder=tmp_path), "node": NODES, "licenses": LICENCES}
    for name, text in said.items():
        (tmp_path / f"said-{name}").write_text(text)
    scontrol = tmp_path / "bin/scontrol"
    scontrol.write_text(f'#!/bin/sh\nfor what; do :; done\ncat "{tmp_path}/said-$what"\n')
    scontrol.chmod(0o755)
    monkeypatch.setenv("JOBSIGHT_SLURM__BIN", str(tmp_path / "bin"))
    return tmp_path


def cluster(tools: Path) -> Cluster:
    settings = Settings(
        slurm=SlurmSettings(bin=tools / "bin"),
        acting=ActingSettings(folder=tools / "it's"),
        serve=ServeSettings(socket=tools / 'a"b'),
    )
    return Cluster(settings, None)


def test_tokens_are_what_each_node_of_the_partitions_has(tools: Path) -> None:
    text = cluster(tools).texts(Path("/opt/jobsight"))["jobsight-submit.lua"]
    assert '\nlocal TOKENS = "diskbw:50,membw:80"\n' in text
    assert '\nlocal PARTITIONS = "disk"\n' in text
    assert '\nlocal LICENCES = "fs:10"\n' in text
    assert f'\nlocal POLICY = "{tools}/it\'s/slurm-policy"\n' in text
    assert f'pcall(dofile, "{tools}/jobsight-submit.lua")' in text


def test_what_a_cluster_lacks_is_named(tools: Path) -> None:
    lacks = list(cluster(tools).missing("ann"))
    assert lacks[0] == "Slurm 22.05 or later: this is 21.08.8"
    assert "lua in JobSubmitPlugins of slurm.conf" in lacks
    assert "lua in CliFilterPlugins of slurm.conf" not in lacks
    assert f"job_submit_lua.so in {tools}/plugins: install Slurm's Lua plugins" in lacks
    assert "a call of jobsight-epilog.sh" in lacks
    assert any(
        "sacctmgr modify user name=ann set AdminLevel=Administrator" in line for line in lacks
    )
    (tools / "said-node").write_text("NodeName=b1 Gres=(null) Partitions=old\n")
    assert any(
        line.startswith("a partition whose nodes") for line in cluster(tools).missing("root")
    )


def test_a_program_of_prolog_is_not_removed(tools: Path) -> None:
    """slurmd drains a node whose Prolog is missing."""
    assert jobsight("setup", "slurm", "--install").returncode == 0
    assert (tools / "jobsight-submit.lua").stat().st_mode & 0o777 == 0o644
    for calling in (tools / "jobsight-prolog.sh", tools / "prolog.d/10-jobsight"):
        calling.write_text(f"{tools}/jobsight-prolog.sh || true\n")
        done = jobsight("setup", "slurm", "--remove")
        assert done.returncode == 2
        assert f"{calling} calls jobsight-prolog.sh" in done.stderr
        assert (tools / "jobsight-submit.lua").exists()
        calling.unlink()
    assert jobsight("setup", "slurm", "--remove").returncode == 0
    assert not list(tools.glob("jobsight-*"))


def test_files_that_slurmctld_sends_are_no_place(tools: Path) -> None:
    (tools / "said-config").write_text("SLURM_CONF = /run/slurm/conf/slurm.conf\n")
    done = jobsight("setup", "slurm", "--install")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--folder" in done.stderr
