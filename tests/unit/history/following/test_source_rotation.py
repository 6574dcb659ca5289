"""Following event logs: rotated files, found, read in order, and missed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.growing import BEGUN, Begun, Follow, GrowingLog, event, read_at_once

from jobsight.errors import SourceError
from jobsight.history.following.family import Opened, opened_family

JOB = "htcondor:ap1:123.0"


def everything(folder: Path) -> list[Path]:
    return sorted(folder.glob("EventLog*"))


def test_rotation_is_followed_over_a_restart(tmp_path: Path, follow: Follow) -> None:
    log = GrowingLog(tmp_path)
    log.write(event(0, 1) + event(1, 1))
    one = follow(log.path)
    one.catch_up()
    one.close()
    log.write(event(2, 1))
    log.rotate()
    log.write(event(3, 1))
    log.rotate()
    log.write(event(4, 1))
    one.restart()
    one.catch_up()
    assert one.documents == read_at_once(everything(tmp_path))
    assert one.source.status()["gaps"] == 0
    assert one.source.status()["files_seen"] == 3


def test_all_that_was_rotated_before_the_first_look_is_read(tmp_path: Path, follow: Follow) -> None:
    log = GrowingLog(tmp_path)
    for number in range(30):
        log.write(event(number, number % 3))
        log.rotate()
    one = follow(log.path)
    one.catch_up()
    assert one.documents == read_at_once(everything(tmp_path))
    assert one.source.status()["files_seen"] == 31


@pytest.mark.parametrize("times", [1, 2, 3])
def test_files_may_be_rotated_while_they_are_looked_for(
    tmp_path: Path, begun: Begun, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    log, one = begun()
    one.close()
    for number in range(1, 4):
        log.rotate()
        log.write(event(number, number % 2))

    def rotating(path: Path) -> Iterator[Opened]:
        for number, file in enumerate(opened_family(path)):
            yield file
            for more in range(times if number == 0 else 0):
                log.rotate()
                log.write(event(10 + more, 1))

    monkeypatch.setattr("jobsight.history.following.source.opened_family", rotating)
    one.restart()
    one.poll()
    monkeypatch.undo()
    one.catch_up()
    assert one.documents == read_at_once(everything(tmp_path))
    status = one.source.status()
    assert (status["gaps"], status["files_seen"], status["files_open"]) == (0, 4 + times, 4 + times)


@pytest.mark.parametrize("times", [1, 3])
def test_the_oldest_file_is_found_though_all_are_renamed_at_the_first_look(
    tmp_path: Path, follow: Follow, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    log = GrowingLog(tmp_path)
    for number in range(4):
        log.write(event(number, number % 2))
        log.rotate()

    def rotating(path: Path) -> Iterator[Opened]:
        for number, file in enumerate(opened_family(path)):
            yield file
            for more in range(times if number == 1 else 0):  # the folder has just been listed
                log.rotate()
                log.write(event(10 + more, 1))

    monkeypatch.setattr("jobsight.history.following.source.opened_family", rotating)
    one = follow(log.path)
    one.poll()
    monkeypatch.undo()
    one.catch_up()
    assert one.documents == read_at_once(everything(tmp_path))


def test_a_file_that_the_folders_list_lacks_is_looked_for_again(
    tmp_path: Path, begun: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, one = begun()
    for number in range(1, 5):
        log.rotate()
        log.write(event(number, 1))
    looks = itertools.count()

    def halfway(path: Path) -> Iterator[Opened]:
        # As when the log is rotated just now: one is not there any more, or not yet again.
        lacking = {0: "EventLog.1", 1: "EventLog.2"}.get(next(looks))
        for file in opened_family(path):
            if file.path.name == lacking:
                file.close()
            else:
                yield file

    monkeypatch.setattr("jobsight.history.following.source.opened_family", halfway)
    one.catch_up()
    assert one.documents == read_at_once(everything(tmp_path))
    assert one.source.status()["gaps"] == 0


def test_a_log_that_keeps_one_old_file(tmp_path: Path, begun: Begun) -> None:
    log, one = begun()
    one.close()
    log.write(event(1, 1))
    log.rotate()
    (tmp_path / "EventLog.1").rename(tmp_path / "EventLog.old")
    log.write(event(2, 1))
    one.restart()
    one.catch_up()
    assert one.documents == read_at_once(everything(tmp_path))


def test_a_record_that_goes_to_the_rotated_file_is_read(tmp_path: Path, begun: Begun) -> None:
    log, one = begun(settle_seconds=60)
    log.rotate()
    log.write(event(1, 1))
    one.catch_up()
    log.write(event(2, 1), age=1)
    one.now += 50
    one.catch_up()
    log.write(event(4, 1), age=1)
    one.now += 50
    one.catch_up()
    assert one.documents == read_at_once(everything(tmp_path))
    one.now += 61
    one.catch_up()
    assert one.source.status()["files_open"] == 1


def test_files_rotated_away_unread_are_a_gap(begun: Begun) -> None:
    log, one = begun(keep=2)
    one.close()
    for number in range(1, 6):
        log.rotate()
        log.write(event(number, 1))
    one.restart()
    one.catch_up()
    status = one.source.status()
    assert status["gaps"] == 1
    (gap,) = status["last_gaps"]
    assert (gap["kind"], gap["files"]) == ("rotated", 2)
    assert gap["bytes"] == status["gap_bytes"] > 2 * 256
    assert "EVENT_LOG_MAX_ROTATIONS" in status["advice"]
    assert one.missed == [f"2 files rotated away unread, {gap['bytes']:,} bytes"]
    one.close()
    one.restart()
    one.catch_up()
    assert one.source.status()["gaps"] == 1
    assert len(one.missed) == 1


def test_a_file_that_was_read_to_its_end_and_is_gone_is_no_gap(
    tmp_path: Path, begun: Begun
) -> None:
    log, one = begun(keep=1)
    one.close()
    log.rotate()
    (tmp_path / "EventLog.1").unlink()
    log.write(event(1, 1))
    one.restart()
    one.catch_up()
    assert one.source.status()["gaps"] == 0
    assert one.source.status()["events"] == 5


def test_files_that_another_number_of_rotations_left_behind_are_passed_over(
    tmp_path: Path, follow: Follow
) -> None:
    log = GrowingLog(tmp_path, keep=3)
    log.write(event(0, 1))
    log.rotate()
    (tmp_path / "EventLog.1").rename(tmp_path / "EventLog.old")
    one = follow(log.path, settle_seconds=60)
    for number in range(1, 8):
        log.write(event(number, 1))
        one.catch_up()
        one.now += 100
        one.catch_up()
        log.rotate()
    one.catch_up()
    status = one.source.status()
    assert (status["gaps"], status["files_seen"]) == (0, 9)


def test_a_log_that_begins_while_the_clock_is_set_back_is_followed(
    tmp_path: Path, follow: Follow
) -> None:
    log = GrowingLog(tmp_path)
    log.sequence = 4
    log.begin()
    log.write(event(0, 1))
    one = follow(log.path)
    one.catch_up()
    for number in (1, 2):
        log.rotate()
        early = log.path.read_bytes().replace(str(log.ctime).encode(), str(BEGUN - 99).encode())
        log.path.write_bytes(early)
        log.write(event(number, 1))
    one.catch_up()
    assert one.documents == read_at_once(everything(tmp_path))
    assert one.source.status()["files_seen"] == 3


def test_a_rotated_file_waits_until_the_log_is_there_again(tmp_path: Path, begun: Begun) -> None:
    log, one = begun(settle_seconds=60)
    log.rotate()
    log.write(event(1, 1))
    one.catch_up()
    one.close()
    log.write(event(2, 1), age=1)
    away = log.path.rename(tmp_path / "away")
    one.restart()
    assert not one.poll()
    for _ in range(3):
        one.now += 61
        with pytest.raises(SourceError, match="no such file yet"):
            one.poll()
    away.rename(log.path)
    one.catch_up()
    assert one.documents == read_at_once(everything(tmp_path))


def test_what_was_not_read_of_an_older_file_that_is_gone_is_a_gap(begun: Begun) -> None:
    log, one = begun(keep=1)
    half_written = event(1, 1)[:-4]  # its separator never comes
    log.write(half_written)
    log.rotate()
    log.write(event(2, 1))
    one.catch_up()
    one.close()
    log.rotate()
    log.write(event(4, 1))
    one.restart()
    one.catch_up()
    (gap,) = one.source.status()["last_gaps"]
    assert (gap["kind"], gap["files"]) == ("gone", 0)
    half = half_written.rindex(b"\n...\n") + 5  # the first of two records is whole
    assert gap["bytes"] == one.source.status()["gap_bytes"] == len(half_written) - half
    one.close()
    one.restart()
    one.catch_up()
    assert one.source.status()["gaps"] == 1
