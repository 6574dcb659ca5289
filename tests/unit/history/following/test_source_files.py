"""Following event logs: replacement, truncation, and what stands in the way."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.growing import Begun, Follow, GrowingLog, append, event, read_at_once
from tests.support.logtext import ABORTED, HELD, SUBMIT, record

from jobsight.errors import SourceError

JOB = "htcondor:ap1:123.0"


def everything(folder: Path) -> list[Path]:
    return sorted(folder.glob("EventLog*"))


def test_an_open_file_is_read_to_its_end_though_it_was_overwritten(
    tmp_path: Path, begun: Begun
) -> None:
    log, one = begun(keep=1)
    log.write(event(1, 1))
    log.rotate()
    (tmp_path / "EventLog.1").unlink()
    log.write(event(2, 1))
    one.catch_up()
    assert one.source.status()["gaps"] == 0
    assert one.source.status()["events"] == 2 + 2 + 4 - 1


def test_a_log_begun_anew_is_another_generation(begun: Begun) -> None:
    log, one = begun()
    log.path.unlink()
    assert not one.poll()  # for a moment there is none while files are renamed
    log.sequence, log.ctime = 0, 0
    log.begin()
    log.ctime += 100
    log.path.write_bytes(log.path.read_bytes().replace(b".5.1.", b".6.1."))
    log.write(event(1, 1))
    one.catch_up()
    assert one.source.status()["gaps"] == 0
    assert [entry.code for entry in one.documents["htcondor:ap1:101.0"].timeline] == [0, 1, 28]


def test_a_users_log_without_header_is_replaced(tmp_path: Path, follow: Follow) -> None:
    log = tmp_path / "EventLog"
    log.write_bytes(record(0, SUBMIT))
    one = follow(log)
    one.catch_up()
    (tmp_path / "new").write_bytes(record(0, SUBMIT, "124.000.000") + record(9, ABORTED))
    (tmp_path / "new").replace(log)
    one.catch_up()
    assert sorted(one.documents) == [JOB, "htcondor:ap1:124.0"]
    assert len(one.documents[JOB].timeline) == 2


def test_a_copy_that_is_replaced_as_the_original_grows(tmp_path: Path, follow: Follow) -> None:
    log = tmp_path / "EventLog"
    told = b""
    one = None
    for number in range(5):
        told += event(number, 1)
        (tmp_path / "copy").write_bytes(told)
        (tmp_path / "copy").replace(log)
        one = one or follow(log)
        one.catch_up()
    assert one is not None
    assert one.documents == read_at_once([log])
    assert one.source.status()["gaps"] == 0


def test_a_log_copied_and_truncated_loses_and_doubles_nothing(
    tmp_path: Path, follow: Follow
) -> None:
    log = tmp_path / "EventLog"
    log.write_bytes(record(0, SUBMIT))
    one = follow(log)
    one.catch_up()
    append(log, record(12, HELD))
    (tmp_path / "EventLog.1").write_bytes(log.read_bytes())
    os.truncate(log, 0)
    one.catch_up()
    append(log, record(9, ABORTED))
    one.catch_up()
    one.catch_up()
    assert [entry.code for entry in one.documents[JOB].timeline] == [0, 12, 9]


@pytest.mark.parametrize("restart", [False, True])
def test_a_truncated_log_is_reported_and_read_on(
    tmp_path: Path, follow: Follow, restart: bool
) -> None:
    log = GrowingLog(tmp_path)
    log.write(event(0, 1) + event(1, 1) + event(2, 1))
    one = follow(log.path)
    one.catch_up()
    before = one.source.status()["events"]
    if restart:
        one.close()
        one.restart()
    os.truncate(log.path, log.path.stat().st_size - 200)
    one.catch_up()
    log.write(b"\n...\n" + event(3, 1) + event(4, 1))
    one.catch_up()
    one.catch_up()
    status = one.source.status()
    assert status["last_gaps"][0]["kind"] == "truncated"
    assert status["events"] == before + 3
    sources = [entry.source for entry in one.documents["htcondor:ap1:101.0"].timeline]
    assert sources[-1].endswith("~1")


def test_a_log_written_anew_in_place_is_noticed(tmp_path: Path, follow: Follow) -> None:
    log = tmp_path / "EventLog"
    log.write_bytes(record(0, SUBMIT) + record(12, HELD))
    one = follow(log)
    one.catch_up()
    log.write_bytes(record(0, SUBMIT) + record(9, ABORTED) * 4)
    one.catch_up()
    one.catch_up()
    assert one.source.status()["last_gaps"][0]["kind"] == "truncated"


def test_a_log_that_appears_late(tmp_path: Path, follow: Follow) -> None:
    log = tmp_path / "EventLog"
    one = follow(log)
    with pytest.raises(SourceError, match="as soon as it appears"):
        one.poll()
    log.write_bytes(record(0, SUBMIT))
    one.catch_up()
    assert list(one.documents) == [JOB]


def test_a_log_that_vanishes_is_missed_after_a_while(tmp_path: Path, follow: Follow) -> None:
    log = tmp_path / "EventLog"
    log.write_bytes(record(0, SUBMIT))
    one = follow(log)
    one.catch_up()
    log.unlink()
    assert not one.poll()
    one.now += 11
    with pytest.raises(SourceError, match="no such file"):
        one.poll()
    log.write_bytes(record(9, ABORTED))
    one.catch_up()
    assert [entry.code for entry in one.documents[JOB].timeline] == [0, 9]


def test_what_is_no_log_is_named_and_mended(tmp_path: Path, follow: Follow) -> None:
    log = tmp_path / "EventLog"
    one = follow(log)
    log.mkdir()
    with pytest.raises(SourceError, match="is a folder; name the log"):
        one.poll()
    log.rmdir()
    os.mkfifo(log)
    with pytest.raises(SourceError, match="not a regular file"):
        one.poll()
    log.unlink()
    log.write_bytes(record(0, SUBMIT))
    one.catch_up()
    assert list(one.documents) == [JOB]
    log.unlink()
    os.mkfifo(log)
    with pytest.raises(SourceError, match="not a regular file"):
        one.poll()


@pytest.mark.parametrize("text", [b"hello\n", b"root:x:0:0::/root:/bin/sh\n" * 9000])
def test_another_kind_of_file_is_told(tmp_path: Path, follow: Follow, text: bytes) -> None:
    log = tmp_path / "EventLog"
    log.write_bytes(text)
    one = follow(log)
    with pytest.raises(SourceError, match=r"is not one: it begins with '(hello|root:x:0)"):
        one.poll()
    log.write_bytes(record(0, SUBMIT))
    one.catch_up()
    assert list(one.documents) == [JOB]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_log_that_may_not_be_read(tmp_path: Path, follow: Follow) -> None:
    log = tmp_path / "EventLog"
    log.write_bytes(record(0, SUBMIT))
    log.chmod(0)
    one = follow(log)
    with pytest.raises(SourceError, match="let the collector's user read it"):
        one.poll()
    log.chmod(0o600)
    one.catch_up()


def test_a_stale_handle_is_opened_again(
    tmp_path: Path, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "EventLog"
    log.write_bytes(record(0, SUBMIT))
    one = follow(log)
    one.catch_up()
    append(log, record(9, ABORTED))

    def stale(*_: object) -> int:
        raise OSError(116, "Stale file handle")

    with monkeypatch.context() as patch:
        patch.setattr(os, "preadv", stale)
        with pytest.raises(SourceError, match="stale handle"):
            one.poll()
    one.catch_up()
    assert [entry.code for entry in one.documents[JOB].timeline] == [0, 9]


@pytest.mark.parametrize("name", ["preadv", "fstat"])
def test_whichever_call_fails_nothing_is_lost(
    tmp_path: Path, follow: Follow, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    plain = getattr(os, name)
    for bad in itertools.count():
        folder = tmp_path / str(bad)
        folder.mkdir()
        log = GrowingLog(folder)
        log.write(event(0, 1))
        one = follow(log.path)
        one.catch_up()
        log.write(event(1, 1))
        log.rotate()
        log.write(event(2, 1))
        calls = itertools.count()

        def stale(*args: Any, calls: Iterator[int] = calls, bad: int = bad) -> Any:
            if next(calls) == bad:
                raise OSError(116, "Stale file handle")
            return plain(*args)

        with monkeypatch.context() as patch:
            patch.setattr(os, name, stale)
            try:
                one.catch_up()
            except SourceError:
                one.catch_up()
        assert one.documents == read_at_once(everything(folder)), bad
        assert (one.source.status()["gaps"], one.source.status()["events"]) == (0, 7), bad
        one.close()
        if next(calls) <= bad:
            break
    assert bad > 5


def test_rotated_files_that_cannot_be_read_now_are_not_passed_over(
    tmp_path: Path, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = GrowingLog(tmp_path)
    for number in range(3):
        log.write(event(number, 1))
        log.rotate()
    one = follow(log.path)
    before = len(list(Path("/proc/self/fd").iterdir()))
    plain = os.open

    def refused(path: Path, *args: Any, **more: Any) -> int:
        if str(path).endswith("EventLog.2"):
            raise PermissionError(13, "Permission denied")
        return plain(path, *args, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refused)
        for _ in range(3):
            with pytest.raises(SourceError, match=r"EventLog\.2': may not be read; let"):
                one.poll()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    one.catch_up()
    assert one.documents == read_at_once(everything(tmp_path))


def test_rotated_files_of_a_log_that_is_named_by_a_link_are_found(
    tmp_path: Path, follow: Follow
) -> None:
    log = GrowingLog(tmp_path)
    link = tmp_path / "elsewhere"
    link.symlink_to(log.path)
    log.write(event(0, 1))
    one = follow(link)
    one.catch_up()
    one.close()
    log.write(event(1, 1))
    log.rotate()
    log.write(event(2, 1))
    one.restart()
    one.catch_up()
    assert one.documents == read_at_once(everything(tmp_path))
    assert one.source.status()["gaps"] == 0


def test_an_empty_or_half_header_is_waited_for(tmp_path: Path, follow: Follow) -> None:
    log = GrowingLog(tmp_path)
    header = log.path.read_bytes()
    log.path.write_bytes(b"")
    one = follow(log.path)
    for size in (0, 1, 100, len(header) - 1):
        log.path.write_bytes(header[:size])
        assert not one.poll()
    log.path.write_bytes(header + event(0, 1))
    one.catch_up()
    assert one.documents == read_at_once([log.path])
