"""The status file of a collector, and its locks."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from jobsight.errors import OutputError, SourceError
from jobsight.files import write_json
from jobsight.locks import is_locked
from jobsight.service import status
from jobsight.service.status import locked, store_lock
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


@pytest.mark.parametrize(
    ("key", "ago_s", "said"), [("written", 0, []), ("stopped", 0, ["was stopped"]),
                               ("written", 60, ["stale"])],
)  # fmt: skip
def test_a_running_collector_is_well_and_one_that_stopped_or_hangs_is_not(
    settings: CollectSettings, key: str, ago_s: int, said: list[str]
) -> None:
    found = problems(settings, written(**{key: time.time_ns() // 1000 - ago_s * 1_000_000}))
    assert len(found) == len(said)
    assert all(word in problem for word, problem in zip(said, found, strict=True))


def test_a_killed_one_is_known_by_its_lock_at_once(settings: CollectSettings) -> None:
    with status.locked(status.lock_path(status.status_path(settings)), "x"):
        pass
    (problem,) = problems(settings, written(), running=False)
    assert "ended without a word" in problem


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


HOLDER = """
import sys, time
from pathlib import Path
from jobsight.service.status import locked
with locked(Path(sys.argv[1]), "x"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_is_told_who_holds_it_and_gets_it_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "lock"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert is_locked(path) is True
        told = pytest.raises(SourceError, match=rf"with it \(process {holder.pid} on \S+\)")
        with told, locked(path, "with it"):
            pass
        holder.kill()
    assert is_locked(path) is False
    with locked(path, "with it"):
        assert path.parent.stat().st_mode & 0o777 == 0o700
        assert path.read_text().split() == [str(os.getpid()), socket.gethostname()]


def test_it_cannot_be_told_of_a_lock_that_is_not_there(tmp_path: Path) -> None:
    assert is_locked(tmp_path / "none") is None


def test_a_lock_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told = pytest.raises(OutputError, match=r"cannot open the lock file .*; name another$")
    with told, locked(tmp_path / "file" / "lock", "with it", "name another"):
        pass


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError), locked(tmp_path / "lock", "with it"):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_store_of_two_names_has_one_lock(tmp_path: Path) -> None:
    (tmp_path / "jobs.db").touch()
    (tmp_path / "link").symlink_to(tmp_path / "jobs.db")
    lock = tmp_path / "jobs.db.collect.lock"
    for name in ("jobs.db", "link"):
        assert store_lock(str(tmp_path / name)) == lock
        assert store_lock(f"sqlite://{tmp_path / name}") == lock
    assert store_lock("redis://127.0.0.1/0") is None
