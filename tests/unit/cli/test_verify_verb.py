import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support import pools
from typer.testing import CliRunner

from jobsight.cli import reading
from jobsight.cli.main import app


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    read: tuple[object, ...] = (pools.history(), None, [])
    monkeypatch.setattr(reading, "read", lambda *_given, **_more: read)
    monkeypatch.setattr("jobsight.learning.audit.audit", lambda *_given, **_more: pools.audited())
    made = pools.trained()
    (tmp_path / "model").mkdir()
    made.model.save(tmp_path / "model", seed=0, facts=made.facts())
    return tmp_path / "model"


def test_text_begins_with_the_verdict_and_marks_each_check(folder: Path) -> None:
    result = CliRunner().invoke(app, ["verify", "hold", "x.log", "--model", str(folder)])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith(("Passed: ", "Doubtful: "))
    grades = ("passed   ", "doubtful ", "failed   ", "unknown  ")
    assert sum(line.startswith(grades) for line in lines) == 9
    assert any(line.startswith("passed   shuffled outcomes: ") for line in lines)
    assert "would have found" in result.stdout
    assert max(map(len, lines)) < 140


def test_json_is_one_object_with_the_promised_keys(folder: Path) -> None:
    call = ["verify", "hold", "x.log", "--model", str(folder), "--json"]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert {"question", "model", "checks", "verdict", "grade"} <= data.keys()
    assert data["question"] == "hold"


def test_a_failed_audit_shows_in_the_exit_status(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = pools.audited()
    bad = replace(sound, checks=(replace(sound.checks[0], grade="failed"), *sound.checks[1:]))
    monkeypatch.setattr("jobsight.learning.audit.audit", lambda *_given, **_more: bad)
    for more in ([], ["--json"]):
        call = ["verify", "hold", "x.log", "--model", str(folder), *more]
        result = CliRunner().invoke(app, call)
        assert result.exit_code == 3
        assert "cannot be believed" in result.stdout
