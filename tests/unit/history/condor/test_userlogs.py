"""Users' logs, read into one: growing, cut short, many of them, missing, hostile."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.support.logtext import EXECUTE, HELD, RELEASED, SUBMIT, TERMINATED, record

from jobsight.documents import JobDocument, State, merge
from jobsight.history.condor.userlogs import UserLog, UserLogs
from jobsight.history.eventlog.terms import GATHERED
from jobsight.history.eventtables import event_table
from jobsight.history.timelines import History


def at(second: int) -> str:
    return f"2026-01-02 03:04:{second:02d}"


def life(job: int, *bodies: tuple[int, str], first: int = 0) -> bytes:
    name = f"{job:03d}.000.000"
    return b"".join(
        record(code, body, name, at(first + number)) for number, (code, body) in enumerate(bodies)
    )


WHOLE = ((0, SUBMIT), (1, EXECUTE), (12, HELD), (13, RELEASED), (1, EXECUTE), (5, TERMINATED))


class Keeper:
    """Reads logs in rounds, each as a new process does; keeps the documents."""

    def __init__(self, **options: Any) -> None:
        chosen = {"most": 10, "room": 1 << 20, "known_only": False, "elsewhere": False}
        self.options = chosen | options
        self.access_point = "ap1"
        self.documents: dict[str, JobDocument] = {}
        self.saved: Any = {}
        self.reads = 0

    def round(self, *paths: Path, owner: str = "ann", **owners: str) -> UserLogs:
        logs = UserLogs(self.access_point, **self.options)
        logs.restore(self.saved)
        known = {job.strip("_") + ".0": name for job, name in owners.items()}
        self.left_out = logs.begin([UserLog(str(path), owner) for path in paths], known)
        self.reads = 0
        while logs.more:
            for one in logs.read():
                self.documents[one.id] = merge(self.documents.get(one.id), one)
            self.reads += 1
        self.saved = json.loads(json.dumps(logs.position()))
        return logs

    def codes(self, job: int) -> list[int | None]:
        return [event.code for event in self.documents[f"htcondor:ap1:{job}.0"].timeline]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "job.log"


def test_a_log_that_grows_is_read_from_where_it_was(log: Path) -> None:
    keeper, data = Keeper(), life(7, *WHOLE)
    for end in range(0, len(data) + 97, 97):
        log.write_bytes(data[:end])
        keeper.round(log)
    document = keeper.documents["htcondor:ap1:7.0"]
    assert keeper.codes(7) == [code for code, _ in WHOLE]
    assert (document.state, document.submission.user) == (State.COMPLETED, "ann")
    assert {(event.source, event.owner) for event in document.timeline} == {(GATHERED, "ann")}
    assert not keeper.round(log).unread and keeper.reads == 1


def test_what_is_read_again_from_its_beginning_counts_once(log: Path) -> None:
    keeper = Keeper()
    log.write_bytes(life(7, *WHOLE))
    keeper.round(log)
    before, keeper.saved = dict(keeper.documents), {}
    keeper.round(log)
    assert keeper.documents == before


def test_many_logs_are_one_in_order_of_time(tmp_path: Path) -> None:
    paths = [tmp_path / f"{job}.log" for job in range(5)]
    for job, path in enumerate(paths):
        path.write_bytes(life(job, *WHOLE, first=5 - job))
    keeper = Keeper()
    keeper.round(*paths)
    history = History.from_table(event_table(keeper.documents.values()))
    assert history.logs == 1
    assert (history.time[1:] >= history.time[:-1]).all()
    assert len(history) == 5 * len(WHOLE)


def test_records_of_one_second_stay_in_their_order(log: Path) -> None:
    order = ((0, SUBMIT), (12, HELD), (13, RELEASED), (12, HELD), (13, RELEASED), (1, EXECUTE))
    name = "007.000.000"
    log.write_bytes(b"".join(record(code, body, name, at(1)) for code, body in order))
    keeper = Keeper()
    keeper.round(log)
    assert keeper.codes(7) == [code for code, _ in order]


def test_bytes_that_one_round_reads_at_once_are_bounded(tmp_path: Path) -> None:
    paths = [tmp_path / f"{job}.log" for job in range(3)]
    for job, path in enumerate(paths):
        path.write_bytes(life(job, *WHOLE) * 4)
    keeper = Keeper(room=1000)
    keeper.round(*paths)
    assert keeper.reads >= sum(path.stat().st_size for path in paths) // 2000
    assert all(keeper.documents[f"htcondor:ap1:{job}.0"].state for job in range(3))


def test_logs_that_no_round_came_to_are_read_in_the_next(tmp_path: Path) -> None:
    paths = [tmp_path / f"{job}.log" for job in range(3)]
    for job, path in enumerate(paths):
        path.write_bytes(life(job, *WHOLE))
    keeper = Keeper(room=1000)
    logs = UserLogs("ap1", **keeper.options)
    logs.begin([UserLog(str(path), "ann") for path in paths], {})
    logs.read()
    assert logs.more
    keeper.saved = json.loads(json.dumps(logs.position()))
    keeper.round()
    assert {f"htcondor:ap1:{job}.0" for job in (1, 2)} <= set(keeper.documents)


def test_a_log_begun_anew_or_cut_is_read_again(log: Path) -> None:
    keeper = Keeper()
    log.write_bytes(life(7, *WHOLE))
    keeper.round(log)
    log.write_bytes(life(8, *WHOLE[:2]))  # condor_submit with the same file, which was removed
    keeper.round(log)
    assert keeper.codes(8) == [0, 1]
    log.write_bytes(life(8, *WHOLE[:1]))
    keeper.round(log)
    log.write_bytes(life(8, *WHOLE[:1]) + life(9, *WHOLE))
    keeper.round(log)
    assert keeper.codes(9) == [code for code, _ in WHOLE]
    assert keeper.codes(8) == [0, 1]


def test_a_log_that_no_ad_names_any_more_is_read_on(log: Path) -> None:
    keeper = Keeper()
    log.write_bytes(life(7, *WHOLE[:2]))
    keeper.round(log)
    log.write_bytes(life(7, *WHOLE))
    keeper.round()
    assert keeper.codes(7) == [code for code, _ in WHOLE]


def test_of_too_many_logs_the_first_are_read(tmp_path: Path) -> None:
    paths = [tmp_path / f"{job}.log" for job in range(5)]
    for job, path in enumerate(paths):
        path.write_bytes(life(job, *WHOLE[:1]))
    keeper = Keeper(most=2)
    keeper.round(*paths)
    assert (keeper.left_out, len(keeper.documents), len(keeper.saved)) == (3, 2, 2)
    keeper.round(paths[4])
    assert list(keeper.saved) == [str(paths[4]), str(paths[0])]


def test_what_is_no_log_or_may_not_be_read_is_counted_and_harms_nothing(tmp_path: Path) -> None:
    good, pipe, folder, text = (tmp_path / name for name in ("good", "pipe", "folder", "text"))
    good.write_bytes(life(7, *WHOLE))
    os.mkfifo(pipe)
    folder.mkdir()
    text.write_bytes(b"\x7fELF" + bytes(range(256)) * 99)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    strange = [Path("/dev/null"), Path("relative"), Path("/a\0b"), Path("/" + "a" * 5000)]
    keeper = Keeper()
    logs = keeper.round(pipe, folder, text, loop, tmp_path / "none", *strange, good)
    assert logs.unread == 3  # text, loop, none; what is no regular file is not opened
    assert keeper.codes(7) == [code for code, _ in WHOLE]


@pytest.mark.parametrize("rubbish", [b"0", b"{", b"<", b"012 (", b"\0" * 5000, b"123\n...\n" * 50])
def test_rubbish_is_passed_over(log: Path, rubbish: bytes) -> None:
    log.write_bytes(rubbish)
    keeper = Keeper()
    keeper.round(log)
    with log.open("ab") as file:
        file.write(b"\n...\n" + life(7, *WHOLE))
    keeper.round(log)
    assert len(keeper.documents) <= 1


def test_a_log_says_nothing_of_the_jobs_of_other_users(log: Path) -> None:
    log.write_bytes(life(7, *WHOLE) + life(8, *WHOLE) + life(9, *WHOLE))
    keeper = Keeper()
    keeper.round(log, _7="ann", _8="bob")
    assert set(keeper.documents) == {"htcondor:ap1:7.0", "htcondor:ap1:9.0"}
    strict = Keeper(known_only=True)
    strict.round(log, _7="ann", _8="bob")
    assert set(strict.documents) == {"htcondor:ap1:7.0"}


@pytest.mark.parametrize(
    ("point", "read"),
    [("ap1", True), ("schedd@AP1", True), ("ap1.example", True), ("ap2", False), ("", False)],
)
def test_of_a_schedd_elsewhere_only_its_own_logs_are_read(
    log: Path, point: str, *, read: bool
) -> None:
    log.write_bytes(life(7, *WHOLE))
    keeper = Keeper(elsewhere=True)
    keeper.access_point = point or "ap"
    keeper.round(log)
    assert bool(keeper.documents) is read
