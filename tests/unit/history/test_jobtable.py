"""The job table: real dumps and traces, event logs, stores; what it says of single jobs."""

from __future__ import annotations

import datetime as dt
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.support import failing
from tests.support.histories import micros, table
from tests.support.importing import SACCT_JSON, SAMPLES, imported, written
from tests.support.storedjobs import START, held_job, job, told

from jobsight.codes import EventCode
from jobsight.documents import (
    Event,
    JobDocument,
    Request,
    State,
    Submission,
    Usage,
    condor_id,
)
from jobsight.history.events import read_events
from jobsight.history.jobtable import JobTable
from jobsight.history.timelines import History
from jobsight.learning.reading import job_table
from jobsight.settings import Settings
from jobsight.store import open_store

SECOND = 1_000_000
DATA = Path(__file__).parents[3] / "data"


def moment(at: float) -> dt.datetime:
    return dt.datetime.fromtimestamp((START + at * SECOND) / 1e6, dt.UTC)


def row(jobs: JobTable, id_: str) -> dict[str, Any]:
    (found,) = jobs.table.filter(pl.col("id") == id_).to_dicts()
    return found


def slurm_job(*events: Event, id_: str = "slurm:c:7", **sections: Any) -> JobDocument:
    submission = sections.pop("submission", Submission(submitted=START, user="ann"))
    return job(id_, *events, submission=submission, **sections)


def test_a_slurm_job_is_a_row() -> None:
    document = slurm_job(
        told(0, State.PENDING),
        told(5, word="ELIGIBLE"),
        told(60, State.RUNNING, host="n[1-2]"),
        told(90, State.TIMEOUT, return_value=0, signal=15),
        id_="slurm:big%20one:12_3",
        submission=Submission(
            submitted=START, user="ann", name="fit", directory="/home/ann", command="/home/ann/fit",
            script="#!/bin/sh\n", raw_id="15", array="12",
        ),
        request=Request(
            cpus=4, memory_mb=2048, gpus=1, nodes=2, time_limit_s=30, partition="main", qos="high",
            account="geo", dependency="afterok:9(failed)",
        ),
        usage=Usage(memory_mb=1500, cpu_s=61.5, wall_s=30.0, requeues=0, starts=1, cpus=4),
    )  # fmt: skip
    jobs = JobTable.read([document])
    found = row(jobs, document.id)
    digest = found.pop("script_digest")
    assert digest == hashlib.sha256(b"#!/bin/sh\n").hexdigest()[:16]
    assert found == {
        "id": "slurm:big%20one:12_3", "scheduler": "slurm", "scheduler_name": "big one",
        "job": "12_3", "cluster": None, "proc": None, "job_id": 15, "array_job_id": 12,
        "array_task_id": 3, "group": "slurm:big%20one:12", "owner": "ann", "account": "geo",
        "name": "fit", "command": "/home/ann/fit", "work_dir": "/home/ann", "partition": "main",
        "script": "#!/bin/sh\n", "dependency": "afterok:9(failed)",
        "qos": "high", "request_cpus": 4, "request_memory_mb": 2048, "request_gpus": 1,
        "request_nodes": 2, "time_limit_s": 30, "cpus": 4,
        "seen": moment(0), "submit": moment(0), "eligible": moment(5), "start": moment(60),
        "last_start": moment(60), "starts": 1, "host": "n[1-2]", "state": "timeout",
        "end": moment(90), "reported": moment(90), "exit_code": 0, "signal": 15,
        "max_rss_mb": 1500, "cpu_time_s": 61.5, "wall_s": 30.0, "restarts": 0,
    }  # fmt: skip


def test_a_running_job_has_no_end_and_no_usage() -> None:
    document = slurm_job(
        told(0, State.PENDING), told(60, State.RUNNING), usage=Usage(memory_mb=1, cpu_s=1.0)
    )
    found = row(JobTable.read([document]), "slurm:c:7")
    assert found["state"] == "running" and found["start"] == moment(60)
    names = ("end", "reported", "exit_code", "signal", "max_rss_mb", "cpu_time_s", "restarts")
    assert not any(found[name] is not None for name in names)


def test_a_job_requeued_after_its_end_has_two_ends() -> None:
    document = slurm_job(
        told(0, State.PENDING),
        told(10, State.RUNNING, host="n1"),
        told(50, State.NODE_FAIL),
        told(55, State.PENDING, word="REQUEUED"),
        told(70, State.RUNNING, host="n2"),
        told(99, State.COMPLETED, return_value=0),
        usage=Usage(memory_mb=9, requeues=1),
    )
    jobs = JobTable.read([document])
    found = row(jobs, "slurm:c:7")
    assert (found["start"], found["last_start"]) == (moment(10), moment(70))
    assert (found["starts"], found["restarts"], found["host"]) == (2, 1, "n2")
    assert (found["state"], found["end"]) == ("completed", moment(99))
    assert jobs.ends["state"].to_list() == ["node_fail", "completed"]
    at = [START + seconds * SECOND for seconds in (50, 51, 56, 99, 100)]
    known = [row(jobs.as_of(one), "slurm:c:7") for one in at]
    assert [one["state"] for one in known] == [
        "running", "node_fail", "pending", "running", "completed",
    ]  # fmt: skip
    assert [one["end"] for one in known] == [None, moment(50), None, None, moment(99)]
    assert [one["max_rss_mb"] for one in known] == [None, None, None, None, 9]


def test_an_end_is_not_reported_before_a_later_look_at_the_queue() -> None:
    document = slurm_job(
        told(0, State.PENDING),
        told(10, State.RUNNING),
        told(80, State.SUSPENDED, source="squeue"),
        told(75, State.CANCELLED),
    )
    assert [event.time for event in document.timeline[-2:]] == [
        START + at * SECOND for at in (80, 75)
    ]
    jobs = JobTable.read([document])
    found = row(jobs, "slurm:c:7")
    assert (found["end"], found["reported"]) == (moment(75), moment(80))
    assert [len(jobs.as_of(START + 80 * SECOND + more).ends) for more in (0, 1)] == [0, 1]


def test_an_end_without_date_is_known_to_no_moment() -> None:
    document = slurm_job(told(0, State.PENDING), told(0, State.FAILED, undated=True))
    jobs = JobTable.read([document])
    found = row(jobs, "slurm:c:7")
    assert (found["state"], found["end"], found["reported"]) == ("failed", None, None)
    assert not len(jobs.ends)
    assert row(jobs.as_of(START + 10**15), "slurm:c:7")["state"] == "pending"


def test_an_end_without_date_is_known_from_submission_plus_runtime_at_the_earliest() -> None:
    undated = told(0, State.FAILED, undated=True)
    jobs = JobTable.read([slurm_job(told(0, State.PENDING), undated, usage=Usage(wall_s=90.0))])
    for kept in (jobs, JobTable.unpacked(jobs.packed())):
        found = row(kept, "slurm:c:7")
        assert (found["start"], found["end"], found["reported"]) == (None, None, moment(90))
        for at, state in ((90, "pending"), (91, "failed")):
            assert row(kept.as_of(START + at * SECOND), "slurm:c:7")["state"] == state


def test_rows_are_in_order_of_submission_and_ids() -> None:
    documents = [
        slurm_job(told(at, State.PENDING), id_=f"slurm:c:{number}",
                  submission=Submission(submitted=START + at * SECOND))
        for number, at in ((3, 5), (2, 5), (9, 1))
    ]  # fmt: skip
    jobs = JobTable.read(documents)
    assert jobs.table["job"].to_list() == ["9", "2", "3"]
    assert [len(jobs.as_of(START + at * SECOND).table) for at in (1, 6)] == [0, 3]


def test_tasks_submitted_together_are_in_the_order_of_their_numbers() -> None:
    names = ("c:7_10", "c:7_2", "c:12", "c:7_1")
    documents = [slurm_job(told(0, State.PENDING), id_=f"slurm:{name}",
                           submission=Submission(submitted=START)) for name in names]  # fmt: skip
    jobs = JobTable.read(documents[:3]).updated(JobTable.read(documents[3:]))
    assert jobs.table["job"].to_list() == ["7_1", "7_2", "7_10", "12"]


def test_partial_documents_of_one_job_are_one_row() -> None:
    parts = [
        JobDocument(id="slurm:c:1", updated=START, timeline=(told(0, State.PENDING),),
                    submission=Submission(submitted=START, user="ann")),
        JobDocument(id="slurm:c:2", updated=START, timeline=(told(0, State.PENDING),)),
        JobDocument(id="slurm:c:1", updated=START, request=Request(cpus=2), timeline=(
            told(0, State.PENDING), told(9, State.RUNNING), told(12, State.FAILED))),
    ]  # fmt: skip
    jobs = JobTable.read(parts)
    found = row(jobs, "slurm:c:1")
    assert (found["owner"], found["request_cpus"], found["state"]) == ("ann", 2, "failed")
    assert (len(jobs.table), len(jobs.changes), len(jobs.ends)) == (2, 4, 1)


def test_no_documents_are_no_rows() -> None:
    jobs = JobTable.read()
    assert len(jobs.table) == 0
    assert jobs.table.schema == JobTable.read([held_job()]).table.schema


def test_a_log_its_parts_and_its_documents_give_the_same_table() -> None:
    log = DATA / "pool-a.log.gz"
    events = read_events([str(log)]).table
    history = History.from_table(events)
    of_log = JobTable.read(history=history)
    for share in (0.2, 0.5, 0.9):
        at = int(np.quantile(history.clock, share))
        cut = History.from_table(events.filter(pl.Series(history.clock) < at))
        assert of_log.as_of(at).table.equals(JobTable.read(history=cut).table)
    documents, _ = imported(log)
    of_documents = JobTable.read(documents.values())
    assert of_log.table.equals(of_documents.table)
    failed = [one.states().filter("fails")["row", "known"] for one in (of_log, of_documents)]
    assert failed[0].equals(failed[1]) and len(failed[0]) > 500
    ended = {one.id: one.outcome for one in documents.values() if one.outcome is not None}
    over = of_log.table.filter(pl.col("end").is_not_null())
    for id_, state, end in over.select("id", "state", pl.col("end").to_physical()).iter_rows():
        assert (ended[id_].state, ended[id_].ended) == (state, end)
    assert len(over) == len(ended)


def test_requests_of_an_event_log_are_those_of_the_submission() -> None:
    submitted = '{"TriggerEventTypeNumber": 0, "RequestMemory": 100, "Owner": "ann"}'
    later = '{"TriggerEventTypeNumber": 5, "RequestMemory": 900, "RemoteUserCpu": 4.0}'
    rows: list[dict[str, Any]] = [
        {"at": 0, "code": EventCode.SUBMIT},
        {"at": 0, "code": EventCode.AD, "attributes": submitted},
        {"at": 5, "code": EventCode.EXECUTE, "host": "h", "slot": "slot1@h"},
        {"at": 6, "code": EventCode.IMAGE_SIZE, "memory_mb": 70},
        {"at": 9, "code": EventCode.TERMINATED, "return_value": 0},
        {"at": 9, "code": EventCode.AD, "attributes": later},
        {"at": 10, "code": EventCode.ABORTED},
    ]
    jobs = JobTable.read(history=History.from_table(table(rows)))
    found = row(jobs, condor_id("ap", 1, 0))
    assert (found["request_memory_mb"], found["max_rss_mb"], found["cpu_time_s"]) == (100, 70, 4.0)
    assert (found["host"], found["owner"], found["group"]) == ("slot1@h", "ann", "htcondor:ap:1")
    assert (found["state"], found["exit_code"], len(jobs.ends)) == ("completed", 0, 1)
    assert row(jobs.as_of(micros(9)), condor_id("ap", 1, 0))["max_rss_mb"] is None


def test_a_kill_for_memory_is_one_in_documents_and_in_event_logs() -> None:
    for used, state in ((98, "out_of_memory"), (40, "failed")):
        rows: list[dict[str, Any]] = [
            {"at": 0, "code": EventCode.SUBMIT},
            {"at": 0, "code": EventCode.AD,
             "attributes": '{"TriggerEventTypeNumber": 0, "RequestMemory": 100}'},
            {"at": 5, "code": EventCode.EXECUTE},
            {"at": 6, "code": EventCode.IMAGE_SIZE, "memory_mb": used},
            {"at": 9, "code": EventCode.TERMINATED, "signal": 9},
        ]  # fmt: skip
        of_log = JobTable.read(history=History.from_table(table(rows)))
        document = slurm_job(
            told(0, State.PENDING), told(5, State.RUNNING), told(9, State.FAILED, signal=9),
            request=Request(memory_mb=100), usage=Usage(memory_mb=used),
        )  # fmt: skip
        for jobs in (of_log, JobTable.read([document])):
            assert jobs.table["state"].to_list() == jobs.ends["state"].to_list() == [state]
            assert jobs.states()["state"].to_list()[-1] == state


@pytest.mark.parametrize("sample", ["sacct.psv", "trace.swf", "eagle.csv", "graham.csv"])
def test_files_give_the_table_of_their_documents(sample: str) -> None:
    documents, _ = imported(SAMPLES / sample)
    reading = job_table([str(SAMPLES / sample)], Settings(), lambda *_: None)
    jobs = reading.jobs
    assert sorted(jobs.table["id"]) == sorted(one.id for one in documents.values())
    for document in documents.values():
        found, outcome = row(jobs, document.id), document.outcome
        assert found["state"] == document.state
        assert found["request_cpus"] == document.request.cpus
        if outcome is not None and outcome.ended is not None:
            assert found["end"].timestamp() * SECOND == pytest.approx(outcome.ended)
            assert found["reported"] >= found["end"] >= (found["start"] or found["submit"])
    assert [source.name for source in reading.sources] == [str(SAMPLES / sample)]


def test_a_store_with_both_schedulers_and_a_file_and_a_log(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'jobs.db'}"
    with open_store(url, settings=Settings().store, create=True) as store:
        store.merge([held_job(), slurm_job(told(0, State.PENDING), told(9, State.RUNNING))])
    dump = written(tmp_path, SACCT_JSON, "dump.json")
    log = DATA / "forms" / "utc-sub_second" / "EventLog"
    reading = job_table([url, str(dump), str(log)], Settings(), lambda *_: None)
    counts = dict(reading.jobs.table["scheduler"].value_counts().iter_rows())
    alone = JobTable.read(history=History.from_table(read_events([str(log)]).table))
    assert counts == {"htcondor": 1 + len(alone.table), "slurm": 5}
    assert len(reading.sources) == 3
    assert not job_table([url], Settings(), lambda *_: None, hashed=False).sources


@pytest.mark.parametrize("name", ["sacct.psv", "eagle.csv", "condor-history.json"])
def test_what_is_packed_is_the_table_again(name: str, tmp_path: Path) -> None:
    whole = failing.sample(name)
    file = tmp_path / "jobs.parquet"
    whole.packed().write_parquet(file)
    again = JobTable.unpacked(pl.read_parquet(file))
    for part in ("table", "starts", "ends", "changes"):
        assert getattr(again, part).equals(getattr(whole, part)), part


def test_a_removal_by_a_policy_is_a_failure() -> None:
    reasons = [
        "removed by SYSTEM_PERIODIC_REMOVE: run time",
        "too many holds",
        "(by user ann)",
        None,
    ]
    ends = [
        row | {"proc": proc}
        for proc, reason in enumerate(reasons)
        for row in (
            {"at": 1, "code": 0},
            {"at": 2, "code": 1},
            {"at": 9, "code": 9, "reason": reason},
        )
    ]
    jobs = JobTable.read(history=History.from_table(table(ends)))
    assert jobs.table["state"].to_list() == ["timeout", "failed", "cancelled", "cancelled"]


def test_one_job_of_a_wrong_year_does_not_move_the_end() -> None:
    jobs = [slurm_job(told(9 * k, State.PENDING), id_=f"slurm:c:{k}") for k in range(5)]
    late = told(2.5e11, State.PENDING)  # in the year 9949
    assert JobTable.read(jobs).end() == START + 36_000_000
    assert JobTable.read([*jobs, slurm_job(late)]).end() == START + 36_000_000
    again = [
        slurm_job(told(4e7, State.PENDING), id_="slurm:c:8"),
        slurm_job(told(4e7, State.RUNNING)),
    ]
    assert JobTable.read([*jobs, *again]).end() == START + 40_000_000_000_000
    assert JobTable.read([]).end() == 0
