"""From event tables to job documents, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.support import histories, pools
from tests.support.growing import event, read_at_once
from tests.support.limits import examples
from tests.support.logtext import (
    ABORTED,
    EXECUTE,
    HELD,
    RELEASED,
    SUBMIT,
    TERMINATED,
    information,
    record,
)

from jobsight.documents import Event, JobDocument, State, Submission, merge
from jobsight.errors import DocumentError
from jobsight.history.eventlog.terms import GATHERED
from jobsight.history.events import EventReader, read_events
from jobsight.history.eventtables import event_table, joined_tables, queue_table
from jobsight.history.jobdocuments import documents_of_batch, unnamed_access_point
from jobsight.history.timelines import History

FORMS = Path(__file__).resolve().parents[3] / "data" / "forms"
JOB = "htcondor:ap1:123.0"


def table(*paths: Path) -> pl.DataFrame:
    return read_events([str(path) for path in paths], timezone="UTC").table


def documents(tmp_path: Path, data: bytes) -> dict[str, JobDocument]:
    log = tmp_path / "log"
    log.write_bytes(data)
    return read_at_once([log])


def same(mine: pl.DataFrame, other: pl.DataFrame) -> None:
    """The tables are one, but for the names of files, and the dates of headers made anew."""
    assert mine.schema == other.schema
    of_jobs = other["cluster"] >= 0
    for name in other.columns:
        if name == "time":
            assert mine.filter(of_jobs)[name].to_list() == other.filter(of_jobs)[name].to_list()
        elif name != "source":
            assert mine[name].to_list() == other[name].to_list(), name


def test_every_column_comes_back(tmp_path: Path) -> None:
    notes = "Job submitted from host: <192.0.2.1:9618?alias=ap1>\n    DAG Node: A\n"
    log = tmp_path / "log"
    log.write_bytes(
        record(0, notes)
        + information(0, extra='Owner = "u01"\nRequestMemory = 64\n')
        + record(40, "Started transferring input files\n\tTransferring to host: <h>\n")
        + record(1, EXECUTE)
        + record(6, "Image size of job updated: 9\n\t7  -  MemoryUsage of job (MB)\n")
        + record(4, "Job was evicted. Code 1 Subcode 2\n\t(0) CPU times\n")
        + record(33, "Changing job attribute A from 1 to 2\n")
        + record(12, HELD)
        + record(13, RELEASED)
        + information(13)
        + information(13)
        + record(5, TERMINATED)
        + record(9, ABORTED, "124.002.001")
    )
    read = table(log)
    back = event_table(read_at_once([log]).values())
    same(back, read)
    told = {name for name in read.columns if read[name].null_count() < len(read)}
    assert set(read.columns) - told == {"signal"}
    assert back["source"].n_unique() == 1


@pytest.mark.parametrize("form", ["json", "xml", "legacy", "utc-sub_second"])
def test_every_form_comes_back(form: str) -> None:
    if not (FORMS / form).exists():
        pytest.skip("no log of this form here")
    log = FORMS / form / "EventLog"
    same(event_table(read_at_once([log]).values()), table(log))


def test_a_rotated_log_comes_back_but_for_the_dates_of_its_headers() -> None:
    paths = sorted((FORMS / "rot").glob("EventLog*"))
    if not paths:
        pytest.skip("no rotated log here")
    read = table(*paths)
    back = event_table(read_at_once(paths).values())
    same(back, read)
    pairs = pl.DataFrame({"file": read["source"], "generation": back["source"]}).unique()
    assert len(pairs) == pairs["file"].n_unique() == pairs["generation"].n_unique() == 5


def test_two_access_points_are_two_logs(tmp_path: Path) -> None:
    other = SUBMIT.replace("ap1", "ap2").encode()
    late = record(0, SUBMIT, date="2026-01-03 00:00:00").replace(SUBMIT.encode(), other)
    told = documents(tmp_path, record(0, SUBMIT)) | documents(tmp_path, late)
    back = event_table(told.values())
    assert back["log"].to_list() == [0, 1]
    assert back["access_point"].to_list() == ["ap1", "ap2"]


def test_an_access_point_without_a_name_comes_back_as_none(tmp_path: Path) -> None:
    told = documents(tmp_path, record(9, ABORTED))
    (job,) = told
    assert job.startswith("htcondor:log-")
    assert event_table(told.values())["access_point"].to_list() == [None]
    assert unnamed_access_point("a") != unnamed_access_point("b")


def test_entries_of_others_are_no_records(tmp_path: Path) -> None:
    (document,) = documents(tmp_path, record(0, SUBMIT)).values()
    asked = Event(time=1, source="condor_history", code=5, state=State.COMPLETED)
    mixed = JobDocument(id=document.id, updated=1, timeline=(*document.timeline, asked))
    slurm = JobDocument(id="slurm:a:1", updated=1, timeline=(asked,))
    assert len(event_table([mixed, slurm])) == 1
    assert len(event_table([])) == 0


def with_number(name: str, value: int) -> list[JobDocument]:
    event = Event(time=1, source="eventlog-a", position=0, code=0)
    job = f"7.{value}" if name == "proc" else "7.1"
    event = event if name == "proc" else structs.replace(event, **{name: value})
    return [JobDocument(id=f"htcondor:ap1:{job}", updated=1, timeline=(event,))]


@pytest.mark.parametrize(("name", "value"), [("code", 70_000), ("time", 2**63), ("proc", 2**31)])
def test_numbers_of_no_event_are_refused(name: str, value: int) -> None:
    with pytest.raises(DocumentError, match=f"a number as {name} that is not of an event log"):
        event_table(with_number(name, value))


@pytest.mark.parametrize(("name", "value"), [("return_value", 2**40), ("memory_mb", -(2**70))])
def test_other_numbers_that_no_column_holds_are_unknown(name: str, value: int) -> None:
    assert event_table(with_number(name, value))[name].to_list() == [None]


def test_sections_are_told_by_records_and_their_ads(tmp_path: Path) -> None:
    ad = (
        'Owner = "u01"\nRequestMemory = 64\nRequestDisk = 10240\nQDate = 1767323040\n'
        'Cmd = "/bin/true"\nDAGManJobId = 7\nDAGNodeName = "A"\nNumJobStarts = 1\n'
    )
    data = record(0, SUBMIT) + information(0, extra=ad)
    data += record(1, EXECUTE) + information(1, extra="RequestMemory = 128\n")
    data += record(6, "Image size of job updated: 9\n\t7  -  MemoryUsage of job (MB)\n")
    data += record(6, "Image size of job updated: 9\n\t5  -  MemoryUsage of job (MB)\n")
    document = documents(tmp_path, data + record(5, TERMINATED))[JOB]
    assert document.state is State.COMPLETED
    assert (document.request.memory_mb, document.request.disk_mb) == (128, 10)
    submission = document.submission
    assert (submission.user, submission.command, submission.dag) == ("u01", "/bin/true", "7:A")
    assert (submission.submitted, submission.array) == (1767323040 * 10**6, "123")
    assert submission.host == "ap1"
    usage = document.usage
    assert (usage.memory_mb, usage.starts, usage.hosts) == (7, 1, "slot1_1@site-a")


@pytest.mark.parametrize(
    ("body", "state"),
    [
        (TERMINATED, State.COMPLETED),
        (TERMINATED.replace("value 0", "value 3"), State.FAILED),
        ("Job terminated.\n\t(0) Abnormal termination (signal 9)\n\t(0) No core\n", State.FAILED),
    ],
)
def test_how_a_job_terminated_is_its_state(tmp_path: Path, body: str, state: State) -> None:
    assert documents(tmp_path, record(0, SUBMIT) + record(5, body))[JOB].state is state


def test_a_job_submitted_on_hold_is_held_until_its_release(tmp_path: Path) -> None:
    ad = "JobStatus = 5\nHoldReasonCode = 15\n"
    data = record(0, SUBMIT) + information(0, extra=ad)
    assert documents(tmp_path, data)[JOB].state is State.HELD
    assert documents(tmp_path, data + record(13, RELEASED))[JOB].state is State.PENDING
    # Of any other record the ad may be older than what its number tells.
    late = record(0, SUBMIT) + record(13, RELEASED) + information(13, extra=ad)
    assert documents(tmp_path, late)[JOB].state is State.PENDING
    same(event_table(read_at_once([tmp_path / "log"]).values()), table(tmp_path / "log"))


def test_records_of_no_job_make_no_document(tmp_path: Path) -> None:
    data = record(8, "anything\n", "-01.-01.-01") + record(0, SUBMIT)
    assert list(documents(tmp_path, data)) == [JOB]


def test_any_bytes_come_back(tmp_path: Path) -> None:
    strange = 'Owner = "a\\"b"\nRequestMemory = {}\nArgs = "\\\\ \\n é"\nX = 1e999\n'
    data = record(0, SUBMIT) + information(0, extra=strange) + record(12, "Job was held.\n\t\x01\n")
    (tmp_path / "log").write_bytes(data + b"\xff\xfe\n...\n")
    read = table(tmp_path / "log")
    same(event_table(read_at_once([tmp_path / "log"]).values()), read)


_KINDS = st.tuples(st.integers(0, 11), st.integers(0, 2))


@settings(max_examples=examples(60))
@given(st.lists(_KINDS, max_size=40))
def test_records_of_several_writers_come_back(kinds: list[tuple[int, int]]) -> None:
    import tempfile

    pieces = []
    for at, (kind, job) in enumerate(kinds):
        whole = event(at, job)
        parts = [part + b"...\n" for part in whole.split(b"...\n")[:-1]]
        # Writers in each other's way: sometimes the ad alone, or before its event.
        pieces += parts if kind < 8 else parts[::-1] if kind < 10 else parts[-1:]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        log.write_bytes(b"".join(pieces))
        if not pieces:
            return
        same(event_table(read_at_once([log]).values()), table(log))


def test_a_batch_gives_each_job_one_document(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"".join(event(number, number % 3) for number in range(30)))
    (batch,) = EventReader([str(log)], timezone="UTC", generations=True).batches()
    found = documents_of_batch(batch, "ap1")
    assert [one.id for one in found] == [f"htcondor:ap1:{100 + job}.0" for job in range(3)]


def log(*numbers: int) -> pl.DataFrame:
    return histories.table({"at": 0, "code": 0, "log": number} for number in numbers)


def test_logs_are_numbered_behind_those_before() -> None:
    joined = joined_tables([log(0, 1, 1), log(0, 2), log(), log(0)])
    assert joined["log"].to_list() == [0, 1, 1, 2, 4, 5]
    assert joined.schema == log(0).schema


def test_one_table_stays_as_it_is() -> None:
    table = pools.events(clusters=3)
    assert joined_tables([table]).equals(table)


def test_held_jobs_of_the_queue_are_a_history() -> None:
    ads = [
        {"ClusterId": 7, "ProcId": proc, "JobStatus": 5, "Owner": "ann", "QDate": 1795828420,
         "EnteredCurrentStatus": 1795828420 + wait, "HoldReasonCode": 15, "HoldReason": "on hold",
         "PeriodicHold": "/Expr(NumHolds > 3)/"}
        for proc, wait in ((1, 0), (0, 60))
    ]  # fmt: skip
    found = History.from_table(queue_table(ads, "ap1"))
    rows = found.table.filter(found.held)
    assert rows.select("cluster", "proc", "hold_code").rows() == [(7, 1, 15), (7, 0, 15)]
    assert set(rows["owner"]) == {"ann"}
    assert set(found.jobs["access_point"]) == {"ap1"}
    assert '"PeriodicHold":"NumHolds > 3"' in rows["attributes"][0]


LOGGED = 1_767_323_045  # when all records of `record` are, UTC


def rows_with(tmp_path: Path, data: bytes, *events: tuple[int, int, State]) -> list[Any]:
    """Log, code and owner of the rows of a job of ann's, of which a log and its schedd report.

    The schedd's events are given as seconds after the log's, code and state.
    """
    timeline = tuple(
        Event(
            time=(LOGGED + after) * 1_000_000, source="condor_q", code=code, state=state, subproc=0
        )
        for after, code, state in events
    )
    polled = JobDocument(id=JOB, updated=0, submission=Submission(user="ann"), timeline=timeline)
    logged = documents(tmp_path, data).get(JOB) if data else None
    table = event_table([merge(logged, polled)])
    return table.select(pl.col("source") == GATHERED, "code", "owner").rows()


RUN = record(0, SUBMIT) + record(1, EXECUTE)


def test_what_only_the_schedd_reports_is_a_log_too(tmp_path: Path) -> None:
    events = (0, 0, State.PENDING), (5, 1, State.RUNNING), (9, 12, State.HELD)
    rows = rows_with(tmp_path, b"", *events)
    assert rows == [(True, 0, "ann"), (True, 1, "ann"), (True, 12, "ann")]


def test_a_log_that_has_the_last_state_is_taken_as_it_is(tmp_path: Path) -> None:
    for events in ([(-3, 1, State.RUNNING)], [(2, 1, State.RUNNING)], []):
        assert rows_with(tmp_path, RUN, *events) == [(False, 0, None), (False, 1, None)]


def test_a_state_that_the_log_lacks_follows_its_records(tmp_path: Path) -> None:
    rows = rows_with(tmp_path, RUN, (-3, 1, State.RUNNING), (60, 12, State.HELD))
    assert rows == [(True, 0, "ann"), (True, 1, "ann"), (True, 12, "ann")]
    again = rows_with(tmp_path, RUN + record(12, HELD), (60, 12, State.HELD))
    assert [code for _, code, _ in again] == [0, 1, 12, 12]
    on_hold = rows_with(tmp_path, record(0, SUBMIT), (0, 0, State.PENDING), (0, 12, State.HELD))
    assert on_hold == [(True, 0, "ann"), (True, 12, "ann")]


def test_a_held_job_that_started_again_was_released(tmp_path: Path) -> None:
    life = [(0, 0, State.PENDING), (5, 1, State.RUNNING), (9, 12, State.HELD)]
    rows = rows_with(tmp_path, b"", *life, (60, 1, State.RUNNING), (65, 12, State.HELD))
    assert [code for _, code, _ in rows] == [0, 1, 12, 13, 1, 12]
    known = rows_with(tmp_path, b"", *life, (50, 13, State.PENDING), (60, 1, State.RUNNING))
    assert [code for _, code, _ in known] == [0, 1, 12, 13, 1]


def test_a_sighting_without_a_number_is_no_record(tmp_path: Path) -> None:
    idle = Event(time=(LOGGED + 9) * 1_000_000, source="condor_q", state=State.PENDING, word="IDLE")
    polled = JobDocument(id=JOB, updated=0, timeline=(idle,))
    assert not len(event_table([merge(None, polled)]))
    document = merge(documents(tmp_path, RUN)[JOB], polled)
    assert event_table([document])["code"].to_list() == [0, 1]
