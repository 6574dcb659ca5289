"""What all verbs share."""

import io
import shutil
from pathlib import Path

import pytest
from tests.support.hold_models import constant_model
from typer.testing import CliRunner

from jobsight.cli.main import app
from jobsight.cli.output import progress_bar
from jobsight.errors import OutputError
from jobsight.files import Kind, write_json
from jobsight.jit import on_compile
from jobsight.store import open_store

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
        assert "was not written by jobsight" in said
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
    assert "not written by jobsight" in fails(*call, "--config", config)
    assert config.read_text() == "timezone: UTC\n"
    verified = tmp_path / "verify.json"
    write_json(verified, {"schema": Kind.VERIFICATION.schema, "question": "hold", "grade": "",
                          "verdict": "", "checks": []})  # fmt: skip
    again = ("report", "hold", log, "--model", model, "-o", verified, "--verified", verified)
    assert "is a verification, not a report" in fails(*again)


@pytest.mark.parametrize("verb", [["train", "hold"], ["frames", "hold"]])
def test_no_folder_replaces_one_that_is_read(log: Path, verb: list[str]) -> None:
    (log.parent / "manifest.json").write_text("{}")
    assert "was not written by jobsight" in fails(*verb, log, "-o", log.parent)
    assert "it is no folder" in fails(*verb, log, "-o", log)
    assert log.read_text() == LOG


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_output_replaces_only_its_own_kind(log: Path, model: Path, tmp_path: Path) -> None:
    store, notes, other = tmp_path / "jobs.db", tmp_path / "notes.tar", tmp_path / "other"
    open_store(str(store), create=True).close()
    notes.write_text("precious")
    shutil.copytree(model, other)
    before = contents(tmp_path)
    report = ("report", "hold", log, "--model", model, "-o")
    verify = ("verify", "hold", log, "--model", model, "-o")
    cases: list[tuple[tuple[object, ...], str]] = [
        (("frames", "hold", log, "-o", other), "is a model, not frames"),
        (("store", "export", "--store", store, "-o", other), "is a model, not a snapshot"),
        ((*report, store), "is a store of jobs, not a report"),
        ((*verify, store), "is a store of jobs, not a verification"),
        (("events", log, "-o", store), "is a store of jobs, not an event table"),
        (("events", log, "-o", other / "manifest.json"), "is a model, not an event table"),
        *(
            ((*call, notes), "was not written by jobsight")
            for call in (report, verify, ("events", log, "-o"))
        ),
    ]
    for call, said in cases:
        assert said in fails(*call)
    assert contents(tmp_path) == before


def test_nothing_else_is_written_into_a_registry(
    log: Path, model: Path, registry: Path, tmp_path: Path
) -> None:
    cluster = registry / "hold" / "vm"
    shutil.copytree(model, cluster / "1a2b3c4d")
    (cluster / "registry.json").write_text("{}")
    before = contents(registry)
    inside = "is in a registry of models, which only"
    for verb in (("train", "hold", log), ("frames", "hold", log)):
        for place in (cluster / "1a2b3c4d", cluster / "2a2b3c4d", cluster):
            assert inside in fails(*verb, "-o", place)
        assert "is a registry of models, not" in fails(*verb, "-o", registry)
    call = ("report", "hold", log, "--model", model, "-o", cluster / "report.html")
    assert inside in fails(*call)
    assert contents(registry) == before


def test_the_group_may_see_what_the_settings_say(log: Path, tmp_path: Path) -> None:
    config, table = tmp_path / "own.yaml", tmp_path / "events.parquet"
    for access, mode in (("read", 0o640), ("write", 0o660), ("none", 0o600)):
        table.unlink(missing_ok=True)
        config.write_text(f"group_access: {access}\n")
        call = ["events", str(log), "-o", str(table), "--config", str(config)]
        for _ in range(2):
            assert CliRunner().invoke(app, call).exit_code == 0
        assert table.stat().st_mode & 0o777 == mode


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("reads_logs", [True, False])
def test_a_wait_for_the_compiler_is_shown(
    monkeypatch: pytest.MonkeyPatch, reads_logs: bool
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress_bar("reading", reads_logs=reads_logs):
        for report in on_compile:
            report()
    assert on_compile == []
    assert ("compiling the reader, once" in terminal.getvalue()) == reads_logs
