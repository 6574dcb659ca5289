"""Following event logs: what is read, in every form, and what becomes of what is not whole."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from tests.support.growing import Begun, Follow, Follower, GrowingLog, append, event, read_at_once
from tests.support.logtext import ABORTED, HELD, SUBMIT, information, record

from jobsight.errors import SourceError
from jobsight.history.following.source import EventLogSource
from jobsight.settings import EventLogSettings

DATA = Path(__file__).resolve().parents[4] / "data"
JOB = "htcondor:ap1:123.0"
LOG = record(0, SUBMIT) + information(0) + record(12, HELD) + information(12)


def codes(one: Follower, job: str = JOB) -> list[int | None]:
    return [event.code for event in one.documents[job].timeline] if one.documents else []


@pytest.mark.parametrize("form", ["json", "xml", "legacy", "utc-sub_second", "rot"])
@pytest.mark.parametrize("step", [997, 20_000])
def test_every_form_is_followed_as_it_is_read(
    tmp_path: Path, follow: Follow, form: str, step: int
) -> None:
    source = DATA / "forms" / form
    if not source.exists():
        pytest.skip("no log of this form here")
    for path in sorted(source.glob("EventLog.*")):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    whole = (source / "EventLog").read_bytes()
    log = tmp_path / "EventLog"
    log.write_bytes(b"")
    # The rotated files have lost the submissions, which name the access point.
    one = follow(log, events_per_poll=50, name_seconds=0 if form == "rot" else 60)
    modified = (source / "EventLog").stat().st_mtime
    for at in range(0, len(whole), step):
        append(log, whole[at : at + step])
        os.utime(log, (modified, modified))
        one.poll()
        if at // step % 5 == 0:
            one.close()
            one.restart()
    one.catch_up()
    one.close()
    expected = read_at_once(sorted(tmp_path.iterdir()))
    assert one.documents == expected
    assert len(expected) == 5


def test_a_half_written_record_waits_and_says_so(tmp_path: Path, follow: Follow) -> None:
    log = tmp_path / "job.log"
    log.write_bytes(LOG + record(9, ABORTED)[:-2])
    one = follow(log)
    one.catch_up()
    assert codes(one) == [0, 28, 12, 28]
    assert one.source.status()["bytes_behind"] == len(record(9, ABORTED)) - 2
    append(log, b".\n")
    one.catch_up()
    assert codes(one) == [0, 28, 12, 28, 9]
    assert one.source.status()["bytes_behind"] == 0


def test_a_record_that_will_never_be_whole_is_reported(tmp_path: Path, follow: Follow) -> None:
    log = GrowingLog(tmp_path)
    log.write(event(0, 1) + b"012 (101.000.000) 2026-11-18 01:00:00 Job was he")
    one = follow(log.path, settle_seconds=30)
    one.catch_up()
    log.rotate()
    log.write(event(1, 1))
    one.catch_up()
    assert one.source.status()["skipped"] == 0
    one.now += 31
    one.catch_up()
    status = one.source.status()
    assert (status["skipped"], status["skipped_bytes"]) == (1, 48)
    assert "truncated record" in status["last_skipped"][0][3]
    assert status["files_open"] == 1
    assert one.documents == read_at_once(sorted(tmp_path.iterdir()))


def test_a_poll_gives_no_more_than_it_may(tmp_path: Path, follow: Follow) -> None:
    log = GrowingLog(tmp_path)
    log.write(b"".join(event(number, number % 7) for number in range(100)))
    one = follow(log.path, events_per_poll=10)
    seen = []
    for _ in range(40):
        before = one.source.status()["events"]
        more = one.poll()
        seen.append(one.source.status()["events"] - before)
        if not more:
            break
    assert max(seen) == 10
    assert sum(seen) == 1 + 100 + 75


def test_a_record_longer_than_a_poll_may_read_is_read(tmp_path: Path, follow: Follow) -> None:
    log = tmp_path / "job.log"
    long = record(12, "Job was held.\n\t" + "x" * 200_000 + "\n\tCode 13 Subcode 2\n")
    log.write_bytes(LOG + long + record(9, ABORTED))
    one = follow(log, bytes_per_poll=4096)
    one.catch_up()
    assert codes(one) == [0, 28, 12, 28, 12, 9]


def test_several_writers_may_put_an_028_behind_other_records(
    tmp_path: Path, follow: Follow
) -> None:
    log = tmp_path / "log"
    log.write_bytes(record(0, SUBMIT) + record(0, SUBMIT, "124.000.000"))
    one = follow(log)
    one.poll()
    append(log, information(0, extra='Owner = "u9"\nRequestMemory = 77\n'))
    one.catch_up()
    assert one.documents[JOB].request.memory_mb == 77
    assert [event.attributes is None for event in one.documents[JOB].timeline] == [True, False]
    assert one.documents == read_at_once([log])


def test_what_was_skipped_is_told_once(tmp_path: Path, follow: Follow) -> None:
    log = tmp_path / "log"
    log.write_bytes(LOG + b"rubbish\n...\n")
    one = follow(log)
    one.catch_up()
    (told,) = one.missed
    assert told.startswith(f"1 damaged stretch skipped; the last has 12 bytes at {len(LOG)} of ")
    append(log, record(13, "Job was released.\n"))
    one.close()
    one.restart()
    one.catch_up()
    assert len(one.missed) == one.source.status()["skipped"] == 1
    assert one.source.status()["last_skipped"][0][1] == len(LOG)


def test_nuls_of_a_network_file_system_are_waited_for(tmp_path: Path, follow: Follow) -> None:
    log = tmp_path / "log"
    late = record(9, ABORTED)
    log.write_bytes(LOG + bytes(len(late)) + record(13, "Job was released.\n"))
    one = follow(log)
    one.now = log.stat().st_mtime + 1
    one.catch_up()
    assert codes(one) == [0, 28, 12, 28]
    with log.open("r+b") as file:
        file.seek(len(LOG))
        file.write(late)
    one.catch_up()
    assert codes(one) == [0, 28, 12, 28, 9, 13]


@pytest.mark.parametrize("form", ["text", "json", "xml"])
def test_a_record_right_behind_nuls_is_read(tmp_path: Path, follow: Follow, form: str) -> None:
    records = []
    for code in (0, 6, 9):
        told = {"EventTypeNumber": code, "EventTime": f"2026-11-18T01:00:0{code}", "Cluster": 123}
        told |= {"Proc": 0, "Subproc": 0, "SubmitHost": "<192.0.2.1:9618?alias=ap1>"}
        kinds = {int: "i", str: "s"}
        cells = (
            f'<a n="{name}"><{kinds[type(value)]}>{escape(str(value))}</{kinds[type(value)]}></a>'
            for name, value in told.items()
        )
        written = {
            "text": record(code, {0: SUBMIT, 9: ABORTED}.get(code, "Image size of job: 1\n")),
            "json": (json.dumps(told, indent=2) + "\n").encode(),
            "xml": f"<c>{''.join(cells)}</c>\n".encode(),
        }
        records.append(written[form])
    log = tmp_path / "log"
    log.write_bytes(records[0] + bytes(100) + records[1] + records[2])
    one = follow(log)
    one.catch_up()
    assert codes(one) == [0, 6, 9]
    assert one.source.status()["skipped_bytes"] == 100


def test_nuls_that_stay_do_not_stop_a_busy_log(tmp_path: Path, follow: Follow) -> None:
    log = tmp_path / "log"
    log.write_bytes(LOG + bytes(100) + b"\n...\n")
    one = follow(log)
    for _ in range(9):
        append(log, record(6, "Image size of job updated: 1\n"))
        one.now += 5
        os.utime(log, (one.now, one.now))  # which is always now, or later by the server's clock
        one.catch_up()
    assert codes(one) == [0, 28, 12, 28, *[6] * 9]
    assert one.source.status()["skipped"] == 1


def test_years_are_told_by_the_last_change_and_kept(tmp_path: Path, follow: Follow) -> None:
    log = tmp_path / "log"
    log.write_bytes(record(0, SUBMIT, date="12/30 10:00:00"))
    os.utime(log, (1_735_700_000, 1_735_700_000))  # 2025-01-01
    one = follow(log)
    one.catch_up()
    append(log, record(9, ABORTED, date="01/02 10:00:00"))
    one.close()
    one.restart()
    one.catch_up()
    first, last = (event.time // 1_000_000 for event in one.documents[JOB].timeline)
    assert (first, last) == (1_735_552_800, 1_735_812_000)


def test_a_log_that_names_no_access_point_is_waited_for(tmp_path: Path, follow: Follow) -> None:
    log = tmp_path / "log"
    log.write_bytes(record(9, ABORTED))
    one = follow(log, name_seconds=20)
    assert not one.poll()
    assert not one.documents
    one.now += 21
    one.catch_up()
    (job,) = one.documents
    assert job.startswith("htcondor:log-")
    append(log, record(0, SUBMIT))
    one.close()
    one.restart()
    one.catch_up()
    assert list(one.documents) == [job]


def test_a_log_that_names_its_access_point_later(tmp_path: Path, follow: Follow) -> None:
    log = tmp_path / "log"
    log.write_bytes(record(9, ABORTED))
    one = follow(log, name_seconds=20)
    one.poll()
    append(log, record(0, SUBMIT, "124.000.000"))
    one.catch_up()
    assert sorted(one.documents) == [JOB, "htcondor:ap1:124.0"]


def test_the_setting_names_the_access_point(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(LOG)
    source = EventLogSource(log, access_point="mine:1", timezone="UTC")
    source.resume(None, lambda _: iter(()))
    found = source.poll()
    assert found is not None
    assert found.documents[0].id == "htcondor:mine%3A1:123.0"
    source.close()


def test_the_position_is_small_plain_and_checked(begun: Begun) -> None:
    log, one = begun()
    one.close()
    assert one.position is not None
    assert len(json.dumps(one.position)) < 1500
    source = EventLogSource(log.path, EventLogSettings())
    with pytest.raises(SourceError, match="newer version"):
        source.resume({**one.position, "version": 99}, lambda _: iter(()))
    with pytest.raises(SourceError, match="damaged"):
        source.resume({**one.position, "parts": 3}, lambda _: iter(()))


def test_the_status_tells_where_it_stands(begun: Begun) -> None:
    log, one = begun()
    status = one.source.status()
    assert json.loads(json.dumps(status)) == status
    assert status["access_point"] == "ap1"
    assert (status["last_event"], status["events"]) == ("2026-11-18 01:00:01Z", 2)
    assert status["identity"].startswith("eventlog#")
    assert one.source.name == f"eventlog:{log.path}"


def test_a_put_that_failed_is_read_again(begun: Begun) -> None:
    log, one = begun()
    log.write(event(1, 1))
    lost = one.source.poll()
    assert lost is not None
    one.source.resume(one.position, lambda _: iter(()))
    again = one.source.poll()
    assert again is not None
    assert (again.documents, again.position) == (lost.documents, lost.position)
