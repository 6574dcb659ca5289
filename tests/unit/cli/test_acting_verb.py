"""The commands that act, where there is no HTCondor; with it, see tests/integration."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.support.calling import jobsight

from jobsight.acting.condor.installing import file_texts, missing
from jobsight.history.condor.client import CondorClient
from jobsight.settings import ActingSettings, CondorSettings


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tools").mkdir()
    monkeypatch.setenv("JOBSIGHT_CONDOR__BIN", str(tmp_path / "tools"))
    monkeypatch.setenv("JOBSIGHT_ACTING__FOLDER", str(tmp_path / "acting"))
    return tmp_path / "acting"


def test_it_is_off_unless_a_mode_is_set(folder: Path) -> None:
    done = jobsight("acting", "run", "--once")
    assert (done.returncode, done.stdout) == (2, "")
    assert "acting is off" in done.stderr
    assert jobsight("acting", "run", "--mode", "try").returncode == 2
    assert not folder.exists()


def test_without_a_schedd_nothing_acts(folder: Path) -> None:
    done = jobsight("acting", "run", "--once", "--mode", "observe")
    assert done.returncode == 1
    assert "no scheduler to act through" in done.stderr


def test_off_writes_the_kill_file_also_where_the_schedd_gives_no_answer(folder: Path) -> None:
    done = jobsight("acting", "off")
    assert done.returncode == 1
    assert (folder / "off").exists()
    assert "expires within 900 s" in done.stderr
    shown = jobsight("acting", "status")
    assert "turned off" in shown.stdout
    assert jobsight("acting", "on").returncode == 0
    assert not (folder / "off").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_root_leaves_files_that_the_account_can_write(tmp_path: Path) -> None:
    account = 65534
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        os.chown(name, account, account)
        line = [sys.executable, "-m", "jobsight", "acting", "off"]
        environment = {**os.environ, "JOBSIGHT_ACTING__FOLDER": name}
        done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
        assert "is written" in done.stdout
        assert {path.stat().st_uid for path in Path(name).iterdir()} == {account}


def test_settings_that_let_answers_expire_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOBSIGHT_ACTING__VALID", "300")
    done = jobsight("acting", "status")
    assert done.returncode == 2
    assert "must be at most valid (300 s)" in done.stderr


def test_the_files_have_the_values_of_the_settings() -> None:
    text = file_texts(ActingSettings(valid=1200, most_holds=4, removal=True))["90-jobsight.conf"]
    assert "\nJOBSIGHT_VALID = 1200\n" in text
    assert "\nJOBSIGHT_MOST_HOLDS = 4\n" in text
    assert "\nJOBSIGHT_REMOVES = True\n" in text
    script = file_texts(ActingSettings(valid=1200, most_holds=4))["jobsight-dag.sh"]
    assert "\nVALID=1200\nMOST_HOLDS=4\n" in script
    cooled = file_texts(ActingSettings(cool_down=60))["90-jobsight.conf"]
    assert "\nJOBSIGHT_COOL_DOWN = 60\n" in cooled
    default = file_texts(ActingSettings())["90-jobsight.conf"]
    assert "\nJOBSIGHT_REMOVES = False\n" in default


def test_removing_leaves_nothing_and_touches_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "etc"
    target.mkdir()
    (target / "site.conf").touch()
    done = jobsight("setup", "htcondor", "--install", target)
    assert f"include : {target}/90-jobsight.conf" in done.stdout
    assert sorted(path.name for path in target.iterdir()) == [
        "90-jobsight.conf", "92-jobsight-sharing.conf", "held-jobs.cpf", "idle-jobs.cpf",
        "jobsight-aliases.sh", "jobsight-dag.sh", "site.conf",
    ]  # fmt: skip
    assert os.access(target / "jobsight-dag.sh", os.X_OK)
    assert f"-print-format {target}/idle-jobs.cpf" in (target / "jobsight-aliases.sh").read_text()
    (target / "91-jobsight-warnings.conf").touch()
    assert jobsight("setup", "htcondor", "--remove", target).returncode == 0
    assert [path.name for path in target.iterdir()] == ["site.conf"]
    assert jobsight("setup", "htcondor").returncode == 2


def test_no_warnings_are_made_of_a_pool_without_slots(tmp_path: Path) -> None:
    done = jobsight("setup", "htcondor", "--install", tmp_path / "etc", "--warnings")
    assert done.returncode == 1
    assert "the collector shows no slot" in done.stderr
    assert not (tmp_path / "etc").exists()


def test_what_a_pool_lacks_is_named(tmp_path: Path) -> None:
    tools = tmp_path / "condor"
    tools.mkdir()
    for name in ("condor_q", "condor_qedit"):
        (tools / name).touch(mode=0o755)
    values = "CONDOR_VERSION) echo 9.4.0;; QUEUE_SUPER_USERS) echo root, condor;; *) exit 1;;"
    (tools / "condor_config_val").write_text(f'#!/bin/sh\ncase "$1" in {values} esac\n')
    (tools / "condor_config_val").chmod(0o755)
    client = CondorClient(CondorSettings(bin=tools))
    lacks = missing(client, "ann")
    assert [line.split()[0] for line in lacks] == ["HTCondor", "ann", "the", "EVENT_LOG"]
    assert len(missing(client, "condor")) == 3
    assert len(missing(CondorClient(CondorSettings(bin=tmp_path)), "ann")) == 3
