from typing import Any

import pytest

from jobsight.documents import Event, JobDocument, State, decode, encode, merge
from jobsight.history.slurm.jobcomp import document_from_message, job_of_message

ENDED: dict[str, Any] = {
    "jobid": 42, "container": None, "username": "alice", "user_id": 1000, "groupname": "users",
    "group_id": 100, "@start": "2026-11-21T01:05:00", "@end": "2026-11-21T01:06:30", "elapsed": 90,
    "partition": "main", "alloc_node": "login1", "nodes": "n[1-2]", "total_cpus": 8,
    "total_nodes": 2, "derived_ec": "0:0", "exit_code": "7:0", "state": "FAILED",
    "failed_node": None, "cpu_hours": 0.2, "@submit": "2026-11-21T01:00:00",
    "@eligible": "2026-11-21T01:00:10", "@queue_wait": 290, "work_dir": "/home/alice",
    "cluster": "c1", "qos": "normal", "ntasks": 4, "cpus_per_task": 2, "time_limit": 3600,
    "job_name": "train", "tres_req": "cpu=8,mem=16G,node=2,billing=8,gres/gpu=2",
    "tres_alloc": "cpu=8,mem=16G,node=2,gres/gpu:a100=4", "account": "lab",
    "script": "#!/bin/sh\n#SBATCH -t 60\nx\n",
}  # fmt: skip


def test_an_end_tells_the_whole_life_at_the_times_of_slurm() -> None:
    document = merge(None, document_from_message(ENDED, "c1"))
    assert document.id == "slurm:c1:42"
    assert [(one.word, one.state) for one in document.timeline] == [
        ("PENDING", State.PENDING),
        ("ELIGIBLE", None),
        ("RUNNING", State.RUNNING),
        ("FAILED", State.FAILED),
    ]
    outcome = document.outcome
    assert outcome is not None
    assert (outcome.state, outcome.exit_code, outcome.signal) == (State.FAILED, 7, None)
    assert outcome.ended == 1_795_223_190_000_000
    assert (document.request.gpus, document.usage.gpus) == (2, 4)
    assert document.request.memory_mb == 16_384
    assert document.request.time_limit_s == 3600
    assert document.submission.directives == ("-t 60",)
    assert document.submission.raw_id is None
    assert (document.usage.wall_s, document.usage.cpus, document.usage.hosts) == (90.0, 8, "n[1-2]")


def test_what_sacct_tells_of_the_same_moments_counts_once() -> None:
    told = merge(None, document_from_message(ENDED, "c1"))
    end = Event(time=1_795_223_190_000_000, source="sacct", state=State.FAILED, return_value=7)
    again = merge(told, JobDocument("slurm:c1:42", told.updated + 1, timeline=(end,)))
    assert len(again.timeline) == 4


def test_a_start_has_no_end() -> None:
    start = {**ENDED, "state": "RUNNING", "@end": "Unknown", "exit_code": "0:0"}
    document = merge(None, document_from_message(start, "c1"))
    assert document.state is State.RUNNING
    assert document.usage.wall_s is None


def test_a_job_cancelled_while_pending_never_ran() -> None:
    message = {**ENDED, "state": "CANCELLED", "@start": "Unknown", "nodes": None, "elapsed": 0}
    document = merge(None, document_from_message(message, "c1"))
    assert State.RUNNING not in {one.state for one in document.timeline}
    assert document.outcome is not None
    assert document.outcome.exit_code is None
    assert document.usage.hosts is None


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("0:0", (0, None)),
        ("0:9", (None, 9)),
        ("1:15", (1, 15)),
        ("0:125", (None, None)),
        ("x", (None, None)),
    ],
)
def test_exit_codes(code: str, told: tuple[int | None, int | None]) -> None:
    last = document_from_message({**ENDED, "exit_code": code}, "c1").timeline[-1]
    assert (last.return_value, last.signal) == told


def test_ids_as_users_see_them() -> None:
    task = {**ENDED, "array_job_id": 40, "array_task_id": 0}
    component = {**ENDED, "het_job_id": 41, "het_job_offset": 1, "pack_job_id": 41}
    assert job_of_message(task).name == "40_0"
    assert document_from_message(task, "c1").submission.raw_id == "42"
    assert job_of_message(component).name == "41+1"
    assert job_of_message({**ENDED, "het_job_id": 0, "array_job_id": None}).name == "42"


@pytest.mark.parametrize(
    "others",
    [
        {"jobid": None}, {"jobid": "42"}, {"jobid": 0}, {"jobid": -3}, {"jobid": 2**40},
        {"jobid": True}, {"state": None}, {"state": "SLEEPING"}, {"@end": 5}, {"@end": "later"},
        {"tres_req": "all"}, {"time_limit": "60"}, {"username": ["alice"]}, {"total_cpus": 1e9},
    ],
)  # fmt: skip
def test_what_slurm_would_not_write_is_refused(others: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        document_from_message({**ENDED, **others}, "c1")


def test_long_texts_are_bounded() -> None:
    message = {**ENDED, "job_name": "x" * 100_000, "script": "y" * 1_000_000}
    submission = document_from_message(message, "c1").submission
    assert len(submission.name or "") <= 4096
    assert len(submission.script or "") <= 300_000


def test_halves_of_characters_are_nothing_that_a_store_could_keep() -> None:
    message = {**ENDED, "job_name": "a\ud800", "script": "#!/bin/sh\n: \udfff\n"}
    document = merge(None, document_from_message(message, "c1"))
    assert decode(encode(document)) == document
    assert document.submission.name == "a?"
