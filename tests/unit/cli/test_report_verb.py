import json
from pathlib import Path

import pytest
from tests.support.storedjobs import filled, held_job, slurm_job
from typer.testing import CliRunner

from jobsight.cli.main import app
from jobsight.documents import State

REPORT = Path(__file__).parents[3] / "docs" / "reference" / "json.md"


def test_site_writes_a_page_and_prints_numbers(tmp_path: Path) -> None:
    jobs = [slurm_job(str(at), State.PENDING, State.RUNNING, State.COMPLETED) for at in range(3)]
    store = filled(tmp_path / "jobs.db", [*jobs, held_job()])
    page = tmp_path / "site.html"
    result = CliRunner().invoke(app, ["report", "site", store, "-o", str(page), "--json"])
    assert result.exit_code == 0, result.output
    numbers = json.loads(result.stdout)
    assert (numbers["total"]["jobs"], numbers["total"]["failed_jobs"]) == (4, 1)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    words = REPORT.read_text(encoding="utf-8").partition("## report site")[2]
    for part in (numbers, numbers["total"], numbers["causes"][0], numbers["waits"][0],
                 numbers["outliers"], numbers["outliers"]["users_idle"]):  # fmt: skip
        assert [name for name in part if f"`{name}" not in words and name not in words] == []
    # Of a file, and of a store with a snapshot of it, the same.
    again = CliRunner().invoke(app, ["report", "site", store, store, "--json"])
    assert json.loads(again.stdout) == numbers


@pytest.mark.parametrize(
    ("call", "status", "words"),
    [
        (["site", "x.db"], 2, "-o, or ask for --json"),
        (["site", "no.such.file", "--json"], 1, "no.such.file"),
        (["fail", "x.db", "--model", "m", "-o", "x", "--json"], 2, "--json is of"),
        (["fail", "x.db", "--model", "m"], 2, "name the page with -o"),
    ],
)
def test_a_wrong_call_has_one_clear_line(call: list[str], status: int, words: str) -> None:
    result = CliRunner().invoke(app, ["report", *call])
    error = result.exception
    assert getattr(error, "exit_status", result.exit_code) == status, result.output
    assert words in str(error)


def test_an_empty_store_is_refused(tmp_path: Path) -> None:
    store = filled(tmp_path / "jobs.db", [])
    result = CliRunner().invoke(app, ["report", "site", store, "--json"])
    assert "no job in" in str(result.exception)
