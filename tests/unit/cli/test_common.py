"""What all verbs share."""

import os
from pathlib import Path

import pytest
from tests.hold_models import constant_model
from typer.testing import CliRunner

from jobsight.cli.common import check_output, table
from jobsight.cli.main import app
from jobsight.errors import OutputError

LOG = "000 (001.000.000) 2026-11-21 01:00:00 Job submitted from host: <127.0.0.1:9618>\n...\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "logs" / "pool.log"
    path.parent.mkdir()
    path.write_text(LOG)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    constant_model(0.05).save(folder, seed=0, facts={})
    return folder


def fails(*arguments: object) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert isinstance(result.exception, OutputError), result.exception
    return str(result.exception)


@pytest.mark.parametrize("verb", [["report", "hold"], ["verify", "hold"]])
@pytest.mark.parametrize("as_folder", [False, True])
def test_no_page_or_result_replaces_a_log(
    log: Path, model: Path, verb: list[str], as_folder: bool
) -> None:
    (log.parent / "other.log").symlink_to(log)
    given = log.parent if as_folder else log
    for output in (log, log.parent / "other.log", log.parent / ".." / "logs" / "pool.log"):
        said = fails(*verb, given, "--model", model, "-o", output)
        assert "is one of the files read" in said
    assert log.read_text() == LOG


@pytest.mark.parametrize("verb", [["report", "hold"], ["verify", "hold"]])
def test_nothing_is_written_into_the_model(log: Path, model: Path, verb: list[str]) -> None:
    before = sorted(model.rglob("*"))
    for output in (model / "hold.json", model / "models" / "new.html"):
        assert "model directory" in fails(*verb, log, "--model", model, "-o", output)
    assert sorted(model.rglob("*")) == before


def test_a_report_replaces_neither_settings_nor_what_it_shows(
    log: Path, model: Path, tmp_path: Path
) -> None:
    config = tmp_path / "own.yaml"
    config.write_text("timezone: UTC\n")
    call = ("report", "hold", log, "--model", model, "-o", config)
    assert "files read" in fails(*call, "--config", config)
    assert "files read" in fails(*call, "--verified", config)
    assert config.read_text() == "timezone: UTC\n"


@pytest.mark.parametrize("verb", [["train", "hold"], ["frames"]])
def test_no_folder_replaces_one_that_is_read(log: Path, verb: list[str]) -> None:
    (log.parent / "manifest.json").write_text("{}")
    assert "which is read, lies in" in fails(*verb, log, "-o", log.parent)
    assert "it is no folder" in fails(*verb, log, "-o", log)
    config = log.parent / "own.yaml"
    config.write_text("timezone: UTC\n")
    assert "which is read" in fails(*verb, log, "-o", log.parent, "--config", config)
    assert log.read_text() == LOG


def test_devices_pipes_and_folders_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path, "a folder"), (tmp_path / "pipe", "no regular file"),
                       (Path("/dev/null"), "no regular file")):  # fmt: skip
        with pytest.raises(OutputError, match=f"it is {kind}"):
            check_output(path, [])
    check_output(tmp_path, [tmp_path.parent / "x"], folder=True)
    check_output(tmp_path / "new", [tmp_path / "none", None])
    check_output(None, [tmp_path])


def test_a_table_in_a_narrow_terminal_does_without_what_it_can_spare(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    headings, rows = ["model", "F1", "Brier", "log loss"], [["rates", "0.5", "0.25", "0.693"]]
    monkeypatch.delenv("COLUMNS", raising=False)
    whole = "model   F1  Brier  log loss\nrates  0.5   0.25     0.693"
    assert table(headings, rows, ["Brier", "F1"]) == whole
    monkeypatch.setenv("COLUMNS", "21")
    assert table(headings, rows, ["Brier", "F1"]) == "model   F1  log loss\nrates  0.5     0.693"
    assert table(headings, rows) == whole
    monkeypatch.setenv("COLUMNS", "15")
    assert table(headings, rows, ["Brier", "F1"]) == "model  log loss\nrates     0.693"
