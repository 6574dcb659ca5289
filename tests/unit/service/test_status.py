import time
from pathlib import Path
from typing import Any

import pytest

from jobsight.errors import SourceError
from jobsight.files import write_json
from jobsight.service import status
from jobsight.settings import CollectSettings

WELL = {"healthy": True, "turning": True, "state": "waiting", "problem": None, "last_error": None}


def written(**others: Any) -> dict[str, Any]:
    return {
        "schema": status.SCHEMA,
        "pid": 1,
        "written": time.time_ns() // 1000,
        "stopped": None,
        "once": False,
        "every_s": 5.0,
        "store": {"url": "jobs.db", "last_error": None},
        "sources": {"lines:a": WELL},
        **others,
    }


@pytest.fixture
def settings(tmp_path: Path) -> CollectSettings:
    return CollectSettings(status_file=tmp_path / "status.json")


def problems(settings: CollectSettings, told: dict[str, Any], *, running: bool = True) -> list[str]:
    path = status.status_path(settings)
    write_json(path, told)
    if not running:
        return list(status.read(settings).problems)
    with status.locked(status.lock_path(path), "x"):
        return list(status.read(settings).problems)


def test_a_running_collector_is_well(settings: CollectSettings) -> None:
    assert problems(settings, written()) == []


def test_a_stopped_one_is_not(settings: CollectSettings) -> None:
    (problem,) = problems(settings, written(stopped=time.time_ns() // 1000))
    assert "was stopped" in problem


def test_a_killed_one_is_known_by_its_lock_at_once(settings: CollectSettings) -> None:
    with status.locked(status.lock_path(status.status_path(settings)), "x"):
        pass
    (problem,) = problems(settings, written(), running=False)
    assert "ended without a word" in problem


def test_a_status_that_is_written_no_more_is_stale(settings: CollectSettings) -> None:
    old = time.time_ns() // 1000 - 60_000_000
    (problem,) = problems(settings, written(written=old))
    assert "stale" in problem


def test_a_source_in_trouble_is_named_with_its_error_in_one_line(settings: CollectSettings) -> None:
    error = {"text": "down\x1b[1m\nnow"}
    bad = WELL | {"healthy": False, "state": "backing off", "last_error": error}
    stuck = WELL | {"healthy": False, "state": "running", "turning": False}
    found = problems(settings, written(sources={"b": bad, "a": stuck}))
    assert found == ["a: is stuck", "b: backing off: down [1m now"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": "jobsight.collect/999"}'])
def test_what_is_no_status_is_one_clear_error(settings: CollectSettings, text: str) -> None:
    status.status_path(settings).write_text(text)
    with pytest.raises(SourceError, match=r"status"):
        status.read(settings)


def test_where_there_is_none_the_place_is_named(settings: CollectSettings) -> None:
    with pytest.raises(SourceError, match=r"no collector has written .*status\.json"):
        status.read(settings)


def test_the_place_follows_settings_then_systemd_then_the_users_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert status.status_path(CollectSettings()) == tmp_path / "jobsight" / "collect.json"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert status.status_path(CollectSettings()).is_relative_to(tmp_path / ".local/state")
    monkeypatch.setenv("RUNTIME_DIRECTORY", "/run/jobsight:/run/other")
    assert status.status_path(CollectSettings()) == Path("/run/jobsight/collect.json")
    named = CollectSettings(status_file=tmp_path / "x.json")
    assert status.status_path(named) == tmp_path / "x.json"
