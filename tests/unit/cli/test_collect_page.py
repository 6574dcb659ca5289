"""``jobsight collect``: its status as a page, and one run of it."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner, Result

from jobsight.cli.collect import page
from jobsight.cli.main import app
from jobsight.errors import SourceError, UsageError
from jobsight.service.status import Report

LONG = "eventlog:/var/lib/condor/spool/of/the/access/point/of/the/institute/EventLog"
AT = 1_795_224_900_000_000


def source(**told: Any) -> dict[str, Any]:
    usual = {
        "state": "waiting", "healthy": True, "turning": True, "until": None, "last_error": None,
        "documents_per_s": 12.5, "documents": 8589, "polls": 1234, "errors": 0, "crashes": 0,
        "conflicts": 0, "refused": 0, "source": {"bytes_behind": 0},
    }  # fmt: skip
    return {**usual, **told}


def report(sources: dict[str, Any], *problems: str, **store: Any) -> Report:
    told = {
        "pid": 7, "host": "ap", "stopped": None, "uptime_s": 90.0, "memory_mb": 99.5, "written": AT,
        "store": {
            "url": "/var/lib/jobsight/jobs.db", "states": {"held": 3}, "active": 3,
            "last_error": None, **store,
        },
        "sources": sources,
    }  # fmt: skip
    return Report(Path("collect.json"), told, problems)


def lines(found: Report) -> list[str]:
    return "\n".join(page(found)).splitlines()


FAILED = {
    "time": AT, "text": "slurmctld cannot be reached " * 5, "event": "source failed", "over": None,
}  # fmt: skip
SOURCES = {
    LONG: source(),
    "slurm:grid": source(
        state="backing off", healthy=False, until=AT, errors=3, last_error=FAILED, source={}
    ),
    "kafka:notices": source(
        source={"lag": 123_456}, errors=1, last_error=FAILED | {"over": AT + 2_000_000}
    ),
}


@pytest.mark.parametrize("columns", [60, 80, 100, 160])
def test_a_narrow_terminal_hides_no_count_and_cuts_no_error(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = lines(report(SOURCES, "slurm:grid: backing off"))
    if columns >= 80:
        assert max(map(cell_len, shown)) <= columns
    text = "\n".join(shown)
    assert all(heading in text for heading in ("state", "lag", "documents", "errors", "source"))
    assert all(kind in text for kind in ("eventlog:", "slurm:grid", "kafka:notices"))
    assert text.count("8,589") == 3
    assert " ".join(text.split()).count("cannot be reached") == 5
    assert ("1,234" in text) is (columns >= 100)
    assert (LONG in text) is (columns == 160)


def test_trouble_that_is_over_has_its_time_and_that_of_now_is_told_among_the_problems(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = lines(report(SOURCES, "slurm:grid: backing off", last_error=FAILED))
    assert "is not well" in shown[0]
    assert shown[1] == "store /var/lib/jobsight/jobs.db: 3 jobs, 3 not ended"
    assert shown[2].startswith("  last error 2026-11-21 01:35:00Z: slurmctld")
    assert "  slurm:grid: asked again at 2026-11-21 01:35:00Z" in shown
    over = "last error 2026-11-21 01:35:00Z, over since 2026-11-21 01:35:02Z: slurmctld"
    assert sum("last error" in line for line in shown) == 2
    assert any(line.startswith(f"  kafka:notices: {over}") for line in shown)


def test_a_store_that_is_not_open_yet_is_shown_so() -> None:
    found = report({}, "the store is not open yet")
    found.status["store"] = {"url": None, "last_error": None}
    assert any("store not opened yet" in line for line in lines(found))


def test_what_was_missed_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    told = {"bytes_behind": 0, "gaps": 2, "gap_bytes": 4000, "advice": "keep more files"}
    told |= {"skipped": 1, "skipped_bytes": 70}
    shown = lines(report({"eventlog:/log": source(source=told)}))
    assert "runs well" in shown[0]
    assert shown[-2:] == [
        "  eventlog:/log: 2 gaps, at least 4,000 bytes missing: keep more files",
        "  eventlog:/log: 1 damaged stretch skipped, 70 bytes",
    ]


def test_hostile_texts_stay_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = "\x1b[2J\u202e"
    error = {"time": AT, "text": bad, "event": bad, "over": None}
    monkeypatch.setenv("COLUMNS", "80")
    shown = lines(report({bad: source(last_error=error)}, url=bad, last_error=error))
    assert all(line.isprintable() for line in shown)


@pytest.fixture
def log() -> Iterator[logging.Logger]:
    logger = logging.getLogger("jobsight.service")
    before = (logger.handlers, logger.level, logger.propagate, logging.raiseExceptions)
    yield logger
    logger.handlers, logger.level, logger.propagate, logging.raiseExceptions = before


POOL = "000 (001.000.000) 2026-11-21 01:00:00 Job submitted from host: <127.0.0.1?alias=ap>\n...\n"


@pytest.fixture
def once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: logging.Logger) -> Any:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    (tmp_path / "EventLog").write_text(POOL)

    def call(*arguments: str, log: str = "EventLog") -> Result:
        named = ["--event-log", str(tmp_path / log), "--store", str(tmp_path / "jobs.db")]
        return CliRunner().invoke(app, ["collect", "--once", *named, *arguments])

    return call


def test_a_run_that_goes_well_says_nothing(once: Any) -> None:
    done = once()
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    assert "collector stopped" in once("--verbose").stderr


def test_a_run_that_fails_ends_with_one_line_that_says_why(once: Any) -> None:
    done = once(log="nowhere")
    assert done.exit_code == 1
    assert isinstance(done.exception, SourceError)
    assert str(done.exception).startswith("1 of 1 source failed: eventlog:")
    assert "nowhere" in str(done.exception)
    assert "source failed" in done.stderr
    assert "collector started" not in done.stderr


def test_a_run_is_summed_up_for_machines(once: Any) -> None:
    told = json.loads(once("--json").stdout)
    assert (told["well"], told["documents"], told["errors"]) == (True, 1, 0)
    assert [one["state"] for one in told["sources"].values()] == ["done"]
    assert told["store"]["states"] == {"pending": 1}
    failed = once("--json", log="nowhere")
    assert failed.exit_code == 1
    assert json.loads(failed.stdout)["well"] is False


def test_json_needs_an_end() -> None:
    done = CliRunner().invoke(app, ["collect", "--json", "--event-log", "x"])
    assert isinstance(done.exception, UsageError)
