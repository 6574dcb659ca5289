"""The queue as squeue --json and scontrol show job print it: real outputs, and odd ones."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.importing import SAMPLES, imported, states, written

from jobsight.documents import JobDocument, decode, encode
from jobsight.errors import JobsightError, SourceError, UsageError
from jobsight.history.importers import ImportReport, Options

OPTIONS = Options(cluster="testbed", timezone="UTC")
OLD, NEW, TEXT = (SAMPLES / name for name in
                  ("squeue-22.05.json", "scontrol-24.11.json", "scontrol.txt"))  # fmt: skip
RECORDS = TEXT.read_text()


def read(
    folder: Path, text: str, kind: str = "auto", **options: Any
) -> tuple[dict[str, JobDocument], ImportReport]:
    """What a file of that text holds."""
    path = written(folder, text)
    named = {"cluster": "testbed", "timezone": "UTC"} | options
    return imported(path, format=kind, options=Options(**named))


def last_reason(job: JobDocument) -> str | None:
    return next((one.reason for one in reversed(job.timeline) if one.reason), None)


@pytest.mark.parametrize(
    ("path", "failed", "waits", "array"),
    [(OLD, "2", "7", range(3, 11)), (NEW, "2", "7", range(3, 11)), (TEXT, "2", "7", range(3, 11))],
)
def test_real_outputs_of_both_versions(path: Path, failed: str, waits: str, array: range) -> None:
    jobs, report = imported(path, options=OPTIONS)
    assert (report.bad, report.doubts, report.notes) == (0, 0, [])
    assert {f"11_{task}" for task in array} <= set(jobs)
    job = jobs[failed]
    assert job.outcome is not None
    assert (job.outcome.exit_code, job.outcome.signal, job.state) == (3, None, "failed")
    assert (job.submission.name, job.submission.user) == ("bad", "alice")
    assert job.submission.directory == "/home/alice/work"
    job = jobs[waits]
    assert (last_reason(job), job.state, job.submission.user) == ("Licenses", "pending", "bob")
    assert (job.request.cpus, job.request.memory_mb, job.request.nodes) == (1, 200, 1)
    assert (job.request.time_limit_s, job.request.partition) == (1200, "main")
    assert (job.request.qos, job.request.account) == ("normal", "science")
    task = jobs["11_3"]
    assert (last_reason(task), task.submission.array) == ("JobArrayTaskLimit", "11")
    assert task.submission.raw_id is None  # the number is the array's


def test_a_running_job_has_its_start_and_its_node() -> None:
    for path in (OLD, TEXT):
        job = next(j for j in imported(path, options=OPTIONS)[0].values() if j.state == "running")
        assert job.usage.hosts in ("node1", "node2") and job.request.qos in ("one", "normal")
        assert [event.word for event in job.timeline][-1] == "RUNNING"
    jobs, _ = imported(TEXT, options=OPTIONS)
    assert jobs["3"].request.cpus == 4 and jobs["19+1"].submission.raw_id == "20"


def test_text_and_json_of_one_moment_are_the_same_jobs() -> None:
    text, _ = imported(TEXT, options=OPTIONS)
    for name, job in imported(NEW, options=OPTIONS)[0].items():
        of_text = msgspec.structs.replace(text[name], updated=job.updated)
        moments = {event.time for event in job.timeline} ^ {e.time for e in of_text.timeline}
        assert len(moments) in (0, 2)  # when it was seen
        assert msgspec.structs.replace(of_text, timeline=job.timeline) == job


def test_the_moment_is_the_last_one_of_its_jobs() -> None:
    jobs, _ = imported(NEW, options=OPTIONS)
    assert {job.updated for job in jobs.values()} == {1_795_856_599_000_000}
    jobs, _ = imported(TEXT, options=OPTIONS)  # the start of a running job and its time
    assert {job.updated for job in jobs.values()} == {1_795_856_599_000_000}


@pytest.mark.parametrize(
    ("changed", "state", "exit_code"),
    [
        # v0.0.39: numbers in part wrapped, states and exits words and plain numbers
        ({"job_state": "FAILED", "exit_code": {"status": "ERROR", "return_code": 3}}, "failed", 3),
        # v0.0.40 to v0.0.44: a list of states, an exit with its signal
        ({"job_state": ["FAILED"], "exit_code": {
            "status": ["ERROR"], "return_code": {"set": True, "infinite": False, "number": 3},
            "signal": {"id": {"set": False, "infinite": False, "number": 0}, "name": ""}}},
         "failed", 3),
        ({"job_state": ["TIMEOUT"], "exit_code": {
            "status": ["SIGNALED"], "return_code": {"set": False, "number": 0},
            "signal": {"id": {"set": True, "number": 15}, "name": "Terminated"}}},
         "timeout", None),
        ({"job_state": ["COMPLETED", "COMPLETING"]}, "running", None),
        ({"job_state": ["PENDING", "REQUEUE_HOLD"], "start_time": 0, "end_time": 0}, "held", None),
        ({"job_state": ["NODE_FAIL"]}, "node_fail", None),
    ],
)  # fmt: skip
def test_forms_of_other_versions(
    changed: dict[str, Any], state: str, exit_code: int | None, tmp_path: Path
) -> None:
    job = {"job_id": 5, "user_id": 2001, "accrue_time": 0, "cluster": "fox", "nodes": "n1"}
    moments = {"submit_time": 100, "start_time": 150, "end_time": {"set": True, "number": 200}}
    text = json.dumps({"jobs": [job | moments | changed]})
    jobs, report = imported(written(tmp_path, text))
    assert (report.bad, jobs["5"].id, jobs["5"].submission.user) == (0, "slurm:fox:5", "2001")
    assert jobs["5"].state == state
    outcome = jobs["5"].outcome
    assert (None if outcome is None else outcome.exit_code) == (exit_code if outcome else None)


def test_what_is_not_known_is_not_a_number(tmp_path: Path) -> None:
    unset, endless = {"set": False, "infinite": False, "number": 0}, {"infinite": True, "number": 0}
    job = {"job_id": 5, "accrue_time": 0, "cluster": "fox", "job_state": "PENDING",
           "submit_time": 100, "time_limit": endless, "priority": unset, "start_time": 0xFFFFFFFE,
           "array_job_id": 4, "array_task_id": {"set": True, "number": 0},
           "state_reason": "None"}  # fmt: skip
    jobs, _ = imported(written(tmp_path, json.dumps({"jobs": [job]})))
    assert set(jobs) == {"4_0"}
    assert (jobs["4_0"].request.time_limit_s, jobs["4_0"].request.priority) == (-1, None)
    assert (last_reason(jobs["4_0"]), jobs["4_0"].submission.raw_id) == (None, "5")


def test_an_empty_queue_is_not_an_error(tmp_path: Path) -> None:
    empty = '{"jobs": [], "last_backfill": {"number": 1}, "meta": {"command": ["squeue"]}}'
    assert read(tmp_path, empty)[0] == read(tmp_path, "No jobs in the system\n")[0] == {}


def test_names_imitate_neither_fields_nor_ids(tmp_path: Path) -> None:
    mark = "JobName=lic2"
    for name in ("ArrayJobId=1 ArrayTaskId=2", "HetJobId=1 HetJobOffset=2", "JobId=9", "Cluster=z"):
        text = RECORDS.replace(mark, f"JobName=x {name} y=1")
        jobs, report = read(tmp_path, text, cluster=None, unnamed="own")
        assert last_reason(jobs["7"]) == "Licenses" and not report.bad
        assert jobs["7"].id == "slurm:own:7"
    jobs, report = read(tmp_path, RECORDS.replace(mark, "JobName=x JobState=COMPLETED"))
    assert "7" not in jobs
    assert report.first_bad[0].reason.startswith("JobState is missing, or is in it twice")
    # A line that looks like the begin of another job's record takes that job's record away.
    forged = RECORDS.replace(mark, f"{mark}\nJobId=2 JobName=evil JobState=RUNNING")
    jobs, report = read(tmp_path, forged)
    assert "2" not in jobs and [row.reason[:23] for row in report.first_bad] == [
        "several jobs of this nu", "JobState is missing, or", "several jobs of this nu",
    ]  # fmt: skip


def test_bad_values_and_bad_records_are_named_by_their_lines(tmp_path: Path) -> None:
    jobs, report = read(tmp_path, RECORDS.replace("TimeLimit=00:10:00", "TimeLimit=soon", 1))
    assert jobs["2"].request.time_limit_s is None and jobs["2"].state == "failed"
    (doubt,) = report.first_doubts
    assert (doubt.place, doubt.value) == (1, "JobId=2 JobName=bad")
    assert doubt.reason.startswith("TimeLimit: 'soon' is not a span")
    jobs, report = read(tmp_path, "$ scontrol show job\n\n" + RECORDS.replace(
        "SubmitTime=2026-11-28T09:03:02", "SubmitTime=soon", 1), kind="scontrol")  # fmt: skip
    assert "2" not in jobs
    assert [(row.place, row.reason[:6]) for row in report.first_bad] == [
        (1, "not a "), (3, "'soon'"),
    ]  # fmt: skip
    lines = [*report.said()]
    assert lines[0] == "2 bad rows left out; all others were imported:"
    assert "input:3: 'soon' is not a time" in lines[2]


def test_a_file_that_is_cut_short_gives_what_is_whole(tmp_path: Path) -> None:
    text = NEW.read_text()
    jobs, report = read(tmp_path, text[: text.index('"name": "arr"')])
    assert states(jobs) == {"failed": 1, "pending": 1}
    assert report.first_bad[0].reason == "the ad is cut short"


def test_tasks_beyond_the_most_and_lists_cut_short_are_said(tmp_path: Path) -> None:
    jobs, report = read(tmp_path, RECORDS, most_tasks=3)
    assert {name for name in jobs if name[:3] == "11_"} == {"11_3", "11_4", "11_5"}
    assert report.notes == ["5 pending array tasks beyond the most for one array"]
    _, report = read(tmp_path, RECORDS.replace("ArrayTaskId=3-10%2", "ArrayTaskId=3,5,..."))
    assert report.notes[0].startswith("1 list of array tasks cut short by Slurm")


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="give --cluster NAME"):
        read(tmp_path, RECORDS, cluster=None)
    for kind in ("scontrol", "squeue-json", "squeue"):
        with pytest.raises(SourceError, match=r"no record of|no list"):
            read(tmp_path, "no such thing\n\x00\xff\n", kind)


def test_a_format_that_is_named_wrong_is_answered_with_the_right_one(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no record of snapshots .*; it looks like scontrol$"):
        read(tmp_path, RECORDS, "squeue")


HEAD = "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"


@pytest.mark.parametrize(
    "text",
    [
        HEAD,
        HEAD + "   11_[3-10%2]      main      arr    alice PD       0:00      1 (JobArrayTask)\n",
        "   11_[3-10%2]      main  my  arr    alice PD       0:00      1 (JobArrayTaskLimit)\n",
        "Sat Nov 28 09:03:19 2026\n" + HEAD,
        "JOBID|STATE|USER|PARTITION|REASON|START_TIME|PRIORITY|NAME\n22|PENDING|alice|main|x|N|1|y\n",
        "JOBID|STATE|USER\n22|PENDING|alice\n",
        "JOBID               STATE               USER                REASON              \n",
    ],
)
def test_tables_of_squeue_are_refused_by_name(text: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"is a table of squeue.*scontrol show job or of squeue"):
        read(tmp_path, text)


KEYS = st.sampled_from(sorted(json.loads(NEW.read_text())["jobs"][0]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2**64) | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.fixed_dictionaries({}, optional={"set": inner, "infinite": inner, "number": inner})
    ),
    max_leaves=5,
)


def accepted(text: str, kind: str, folder: Path) -> None:
    with contextlib.suppress(JobsightError):
        jobs, _ = read(folder, text, kind)
        assert all(decode(encode(job)) == job for job in jobs.values())


@given(changed=st.dictionaries(KEYS, VALUES, max_size=8), at=st.integers(0, 2))
def test_any_json_is_read_or_refused(
    changed: dict[str, Any], at: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    queue = json.loads(NEW.read_text())
    queue["jobs"][at] |= changed
    accepted(json.dumps(queue), "squeue-json", tmp_path_factory.getbasetemp())


@given(data=st.data())
def test_any_text_is_read_or_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    at = data.draw(st.integers(0, len(RECORDS)))
    odd = data.draw(st.sampled_from(["", "\n", "\0", "JobId=7 ", "\nJobId=3 ", "=", "\ud7ff"]))
    gone = data.draw(st.integers(0, 200))
    accepted(RECORDS[:at] + odd + RECORDS[at + gone :], "scontrol", tmp_path_factory.getbasetemp())
