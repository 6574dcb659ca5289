"""The files that ship with Jobsight: the example settings load, the unit says what it must."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jobsight import service
from jobsight.cli.main import app
from jobsight.service.configured import make_sources
from jobsight.settings import Settings

ROOT = Path(__file__).parents[3]
PACKAGING = ROOT / "packaging"
CONFIG = PACKAGING / "jobsight.yaml"
UNITS = Path(service.__file__).parent / "units"
UNIT = UNITS / "jobsight-collect.service"


@pytest.fixture(autouse=True)
def _no_other_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("JOBSIGHT_CONFIG", raising=False)
    monkeypatch.delenv("JOBSIGHT_STORE", raising=False)


def test_the_example_settings_load() -> None:
    settings = Settings.load(config=CONFIG)
    assert settings.store.url == "/var/lib/jobsight/jobs.db"
    assert settings.store.retention_days == 90
    assert settings.collect.sources == "auto"
    assert settings.kafka.topics == ("jobsight-notices",)


def test_what_is_commented_out_loads_too_and_shows_the_default(tmp_path: Path) -> None:
    text = re.sub(r"^( *)# (?=[a-z_]+: )", r"\1", CONFIG.read_text(), flags=re.MULTILINE)
    (tmp_path / "jobsight.yaml").write_text(text)
    full, default = Settings.load(config=tmp_path / "jobsight.yaml"), Settings()
    assert full.collect == default.collect
    assert full.slurm.cluster == "mycluster"
    assert full.slurm.details_per_poll == default.slurm.details_per_poll
    assert full.kafka.dead_letters == default.kafka.dead_letters
    assert full.kafka.answers == default.kafka.answers
    assert full.kafka.brokers is not None
    assert full.eventlog.interval == default.eventlog.interval


def test_the_example_names_sources_that_can_be_made(tmp_path: Path) -> None:
    settings = Settings.load(
        {"eventlog": {"paths": [str(tmp_path / "EventLog")]}, "slurm": {"cluster": "mycluster"}},
        config=CONFIG,
    )
    names = [source.name for source in make_sources(settings)]
    assert names == [f"eventlog:{tmp_path}/EventLog", "slurm:mycluster"]


def test_every_command_that_installs_names_extras_that_there_are() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    guides = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), PACKAGING / "Containerfile"]
    named = {
        extra
        for path in [*guides, *UNITS.iterdir()]
        for extras in re.findall(r"(?:jobsight|\.|/src)\[([a-z,]+)\]", path.read_text("utf-8"))
        for extra in extras.split(",")
    }
    assert {"learn", "serve"} <= named <= project["optional-dependencies"].keys()


def test_the_unit_notifies_guards_and_owns_its_folders() -> None:
    told = dict(
        line.split("=", 1) for line in UNIT.read_text().splitlines() if re.match(r"^\w+=", line)
    )
    assert told["Type"] == "notify"
    assert int(told["WatchdogSec"]) >= 60
    assert int(told["TimeoutStopSec"]) > Settings().collect.stop_seconds
    assert told["User"] == told["StateDirectory"] == told["RuntimeDirectory"] == "jobsight"
    assert told["NoNewPrivileges"] == "yes"
    assert told["ProtectSystem"] == "strict"
    assert told["ExecStart"].split()[1:] == ["collect", "--log-format", "json"]


def test_the_service_may_ask_the_kernel_whose_a_connection_is() -> None:
    unit = (UNITS / "jobsight-serve.service").read_text()
    (allowed,) = re.findall(r"^RestrictAddressFamilies=(.*)$", unit, re.MULTILINE)
    assert {"AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"} == set(allowed.split())


def test_systemd_takes_the_units_as_setup_writes_them(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        app, ["setup", "systemd", "--output", str(tmp_path), "--program", "/bin/true"]
    )
    assert done.exit_code == 0, done.output
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == sorted(path.name for path in UNITS.iterdir())
    assert not any("=/opt/jobsight" in path.read_text() for path in tmp_path.iterdir())
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    for path in tmp_path.iterdir():
        unit = path.rename(path.with_name(path.name.replace("@", "@hold")))
        done_ = subprocess.run(
            ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False
        )
        assert unit.name not in done_.stderr
