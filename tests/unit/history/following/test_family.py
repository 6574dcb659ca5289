"""The files of a rotated log, put in order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.support.growing import Follower, read_at_once

from jobsight.documents import State
from jobsight.errors import SourceError
from jobsight.history.following.family import oldest_first, opened_family, rotated

MOMENT = "2026-11-21T12:36:31.556"


def json_file(*events: tuple[int, int, str]) -> bytes:
    """A rotated file of a JSON log, whose header has lost its id, as HTCondor 23.9 writes it."""
    info = "Global JobLog: ctime=1795264591 id= sequence=0 size=3027 events=0 offset=0 event_off=0 "
    header = {"Info": info, "MyType": "GenericEvent", "EventTime": MOMENT, "EventTypeNumber": 8}
    records = [
        {
            "MyType": "Event", "EventTypeNumber": code, "Cluster": 1, "Proc": proc,
            "EventTime": time, "SubmitHost": "<192.0.2.1:9618?alias=ap1>",
            "TerminatedNormally": True, "ReturnValue": 0,
        }
        for code, proc, time in events
    ]  # fmt: skip
    return "".join(json.dumps(one, indent=1) + "\n" for one in [header, *records]).encode()


def write_family(folder: Path, files: Sequence[bytes]) -> Path:
    """Write files, oldest first, as a log and those rotated away."""
    path = folder / "EventLog"
    for age, data in enumerate(reversed(files)):
        (path.with_name(f"EventLog.{age}") if age else path).write_bytes(data)
    return path


def ages(path: Path) -> list[str]:
    found = oldest_first(opened_family(path))
    for file in found:
        file.close()
    return [file.path.name for file in found]


@pytest.mark.parametrize("turn", range(4))
def test_files_begun_in_one_millisecond_are_as_old_as_rotation_made_them(
    tmp_path: Path, turn: int
) -> None:
    files = [json_file((0, (proc + turn) % 4, MOMENT)) for proc in range(4)]
    assert ages(write_family(tmp_path, files)) == [
        "EventLog.3", "EventLog.2", "EventLog.1", "EventLog",
    ]  # fmt: skip


def test_a_file_begun_later_is_newer_whatever_it_is_called(tmp_path: Path) -> None:
    late = MOMENT.replace("556", "600")
    path = write_family(tmp_path, [json_file((0, 0, late)), json_file((0, 1, MOMENT))])
    assert ages(path) == ["EventLog", "EventLog.1"]


@pytest.mark.parametrize("turn", range(4))
def test_files_of_one_millisecond_are_all_followed_through_restarts(
    tmp_path: Path, turn: int
) -> None:
    files = [
        json_file((0, (proc + turn) % 4, MOMENT), (5, (proc + turn) % 4, MOMENT))
        for proc in range(4)
    ]
    path = write_family(tmp_path, files)
    one = Follower(path, events_per_poll=1)
    for _ in range(20):
        one.poll()
        one.close()
        one.restart()
    assert one.documents == read_at_once(sorted(tmp_path.iterdir()))
    assert len(one.documents) == 4
    assert {document.state for document in one.documents.values()} == {State.COMPLETED}


def test_a_folder_that_cannot_be_looked_into_is_one_clear_error(tmp_path: Path) -> None:
    # As root may look into every folder: a name that is too long fails alike.
    with pytest.raises(SourceError, match="cannot be read"):
        list(rotated(tmp_path / ("a" * 300) / "EventLog"))
