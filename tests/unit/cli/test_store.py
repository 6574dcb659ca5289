"""``jobsight store``."""

import json
import sqlite3
from pathlib import Path

import pytest
from tests.support.storedjobs import SECOND, START, filled, held_job, slurm_job
from typer.testing import CliRunner, Result

from jobsight.cli.main import app
from jobsight.documents import JobDocument, State
from jobsight.errors import OutputError, StoreError, UsageError
from jobsight.store import Move, open_store
from jobsight.store.snapshot import read_documents, read_manifest

JOBS = [
    slurm_job("1", State.PENDING),
    slurm_job("2", State.PENDING, State.RUNNING, user="ann"),
    slurm_job("3", State.PENDING, State.RUNNING, State.COMPLETED),
    held_job(),
    JobDocument(id="slurm:other:1", updated=START),
]


@pytest.fixture
def url(tmp_path: Path) -> str:
    address = filled(tmp_path / "jobs.db", JOBS)
    with open_store(address) as store:
        store.put([], [Move("eventlog:/var/log/\x1b[2Jcondor", None, {"offset": 7})])
    return address


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "JOBSIGHT_STORE", "JOBSIGHT_STORE__RETENTION_DAYS"):
        monkeypatch.delenv(name, raising=False)


def call(*arguments: object, **environment: str) -> Result:
    return CliRunner().invoke(app, ["store", *map(str, arguments)], env=environment)


def said(*arguments: object, **environment: str) -> str:
    result = call(*arguments, **environment)
    assert result.exit_code == 0, result.exception
    return result.stdout


def test_the_status_in_words(url: str) -> None:
    lines = said("status", "--store", url).splitlines()
    assert lines[0].endswith("jobs.db (sqlite, schema 3)")
    assert lines[1] == "  5 jobs, 3 of which have not ended"
    assert ["pending", "1"] in [line.split() for line in lines]
    assert ["no", "state", "1"] in [line.split() for line in lines]
    assert "0 jobs in the archive" in "\n".join(lines)
    assert lines[-2:] == ["  eventlog:/var/log/ [2Jcondor", "    offset 7"]


def test_where_sources_stand_is_readable_at_80_columns(url: str) -> None:
    position = {
        "version": 1, "events": 11158, "parts": [{"offset": 3}], "last_event": START,
        "access_point": "x" * 150, "gap": None, "late": "", "bad\x1b[2J": "\x1b[2J",
    }  # fmt: skip
    with open_store(url) as store:
        store.put([], [Move("eventlog:" + "/spool" * 20 + "/EventLog", None, position)])
    lines = said("status", "--store", url, COLUMNS="80").splitlines()
    lines = lines[lines.index("sources:") :]
    assert max(map(len, lines)) <= 80
    assert "eventlog:" + "/spool" * 20 + "/EventLog" in "".join("".join(lines).split())
    text = "\n".join(lines)
    assert "events 11158" in text
    assert "late" not in text
    assert "last event 2026-11-21 01:35:00Z" in " ".join(text.split())
    assert "{" not in text
    assert all(line.isprintable() for line in lines)


def test_the_status_for_machines(url: str) -> None:
    found = json.loads(said("status", "--json", JOBSIGHT_STORE=url))
    assert (found["documents"], found["active"], found["archived"]) == (5, 3, 0)
    assert found["states"] == {"": 1, "completed": 1, "failed": 1, "pending": 1, "running": 1}
    assert found["positions"] == {"eventlog:/var/log/\x1b[2Jcondor": {"offset": 7}}
    assert found["backend"] == "sqlite"


def test_an_export_is_a_snapshot_of_all(url: str, tmp_path: Path) -> None:
    folder = tmp_path / "snapshot"
    assert said("export", "-o", folder, "--store", url) == f"5 jobs in 1 file\nwrote {folder}\n"
    with open_store(url) as store:
        assert list(read_documents(folder)) == list(store.scan())
    first = (folder / "manifest.json").read_bytes()
    again = json.loads(said("export", "-o", folder, "--store", url, "--json"))
    assert (again["documents"], again["replaced"]) == (5, True)
    assert said("export", "-o", folder, "--store", url).endswith(f"replaced {folder}\n")
    assert (folder / "manifest.json").read_bytes() == first


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (["--user", "bob"], 2),
        (["--state", "ended"], 2),
        (["--cluster", "grid"], 3),
        (["--cluster", "slurm:other"], 1),
        (["--since", f"@{START // SECOND + 120}"], 2),
        (["--until", f"@{START // SECOND + 60}"], 2),
    ],
)
def test_an_export_of_some(url: str, tmp_path: Path, asked: list[str], found: int) -> None:
    said("export", "-o", tmp_path / "snapshot", "--store", url, *asked)
    assert read_manifest(tmp_path / "snapshot").documents == found


def test_an_export_of_a_cluster_that_is_none_or_two_is_refused(url: str, tmp_path: Path) -> None:
    with open_store(url) as store:
        store.merge([held_job("grid")])
    for name, why in (("nowhere", "has no job of nowhere"), ("grid", "is two clusters")):
        result = call("export", "-o", tmp_path / "snapshot", "--store", url, "--cluster", name)
        assert isinstance(result.exception, UsageError)
        assert why in str(result.exception)
    assert not (tmp_path / "snapshot").exists()


def test_an_export_replaces_nothing_but_snapshots(url: str, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "jobs.db"):
        result = call("export", "-o", folder, "--store", url)
        assert isinstance(result.exception, OutputError)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    assert isinstance(
        call("export", "-o", tmp_path / "mine", "--store", url).exception, OutputError
    )
    assert (tmp_path / "mine" / "thesis.tex").exists()


def test_old_jobs_move_to_the_archive_and_are_still_shown(url: str) -> None:
    text = said("prune", "--store", url, "--before", f"@{START // SECOND + 1000}")
    assert text.startswith("2 jobs that ended before 2026-11-21 01:51:40Z moved to the archive (1")
    listed = CliRunner().invoke(app, ["jobs", "--store", url, "--json"])
    assert len(json.loads(listed.stdout)) == 5
    assert json.loads(said("status", "--store", url, "--json"))["archived"] == 2
    again = json.loads(said("prune", "--store", url, "--before", "90d", "--json"))
    assert again["documents"] == 0


def test_without_a_time_the_settings_tell_what_is_old(url: str) -> None:
    assert isinstance(call("prune", "--store", url).exception, UsageError)
    assert "0 jobs" in said("prune", "--store", url, JOBSIGHT_STORE__RETENTION_DAYS="30000")


def test_a_sound_store_is_found_sound(url: str) -> None:
    assert said("check", "--store", url) == "5 jobs and 0 in the archive were read\n"
    assert json.loads(said("check", "--store", url, "--json"))["problems"] == 0


def test_a_damaged_store_is_told_with_status_1(url: str) -> None:
    with sqlite3.connect(url) as database:
        database.execute("UPDATE jobs SET document = x'00' WHERE id = 'slurm:grid:2'")
    database.close()
    result = call("check", "--store", url)
    assert isinstance(result.exception, StoreError)
    assert "1 problem found" in str(result.exception)
    assert "slurm:grid:2" in result.stderr


@pytest.mark.parametrize(
    "words", [("jobs",), ("job", "1"), ("store", "status"), ("collect", "--once")]
)
def test_a_store_of_another_schema_is_refused_by_every_verb(
    url: str, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sqlite3.connect(url) as database:
        database.execute("PRAGMA user_version = 1")
    database.close()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    log = tmp_path / "EventLog"
    log.write_text("")
    more = ("--event-log", str(log)) if words[0] == "collect" else ()
    result = CliRunner().invoke(app, [*words, *more, "--store", url])
    assert isinstance(result.exception, StoreError)
    assert str(result.exception).endswith(
        "has schema 1; this version reads 3; import the sources again into another store"
    )


def test_what_is_no_store_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("dear diary\n" * 100)
    for verb in ("status", "check"):
        result = call(verb, "--store", tmp_path / "notes.txt")
        assert isinstance(result.exception, StoreError), verb
        assert "notes.txt" in str(result.exception)
    assert (tmp_path / "notes.txt").read_text() == "dear diary\n" * 100


def test_the_verb_alone_shows_its_help() -> None:
    assert "export" in CliRunner().invoke(app, ["store"]).output


def test_a_check_tells_of_modes_that_are_too_wide(url: str) -> None:
    path = Path(url.removeprefix("sqlite://"))
    path.chmod(0o644)
    result = call("check", "--store", url)
    assert result.exit_code == 0
    assert f"(mode 0644); run: chmod 600 {path}\n" in result.stderr
    path.chmod(0o640)
    assert "mode" not in call("check", "--store", url, JOBSIGHT_GROUP_ACCESS="read").stderr
    assert "chmod 600" in call("check", "--store", url).stderr
