"""Slurm's accounting in JSON and as tables of slurmdbd."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.importing import JOB_TABLE, SACCT_JSON, imported, states, written

from jobsight.documents import merge
from jobsight.errors import SourceError, UsageError
from jobsight.history.importers import Options

TABLE = "c_job_table.csv"


def test_jobs_of_sacct_in_json(tmp_path: Path) -> None:
    jobs, report = imported(written(tmp_path, SACCT_JSON))
    assert report.files[0][1] == "sacct-json"
    assert (report.rows, report.bad) == (4, 0)
    assert states(jobs) == {"failed": 1, "pending": 3}
    assert set(jobs) == {"9_0", "12_5", "12_6", "13+0"}
    task = jobs["9_0"]
    assert task.outcome is not None
    assert (task.outcome.exit_code, task.outcome.signal, task.submission.name) == (3, None, "a|b")
    assert (task.request.cpus, task.request.gpus, task.request.memory_mb) == (4, 2, 4096)
    assert (task.request.tres, task.request.time_limit_s) == ("cpu=4,gres/gpu=2,mem=4G", -1)
    assert (task.usage.cpu_s, task.usage.memory_mb, task.usage.read_mb) == (7.25, 6, 1.0)
    assert (task.submission.user, task.submission.raw_id) == ("ada", "11")
    assert jobs["13+0"].timeline[-1].word == "REQUEUED"


def test_both_forms_and_a_live_collector_tell_of_the_same_life(tmp_path: Path) -> None:
    json_, _ = imported(written(tmp_path, SACCT_JSON))
    table, report = imported(written(tmp_path, JOB_TABLE, TABLE))
    assert report.files[0][1] == "slurmdbd"
    assert (report.rows, report.bad) == (4, 0)
    for job in ("9_0", "12_5"):
        assert table[job].timeline == json_[job].timeline
    assert {event.source for event in table["9_0"].timeline} == {"sacct"}


def test_a_users_number_never_replaces_the_name(tmp_path: Path) -> None:
    table = written(tmp_path, JOB_TABLE, TABLE)
    text = written(tmp_path, SACCT_JSON, "sacct.json")
    both = [merge(imported(one)[0]["9_0"], imported(other)[0]["9_0"])
            for one, other in ((text, table), (table, text))]  # fmt: skip
    assert [job.submission.user for job in both] == ["ada", "ada"]
    assert both[0] == both[1]


def test_numbers_of_slurmdbds_table(tmp_path: Path) -> None:
    jobs, _ = imported(written(tmp_path, JOB_TABLE, TABLE))
    assert set(jobs) == {"9_0", "12_5", "12_6", "13+0", "14"}
    assert jobs["9_0"].id == "slurm:c:9_0"
    assert jobs["9_0"].submission.user == "1001"
    assert jobs["12_5"].request.memory_mb == 100  # 50 MB for each of 2 CPUs
    assert jobs["14"].outcome is not None
    assert jobs["14"].outcome.reason == "cancelled by user id 0"
    assert jobs["14"].request.time_limit_s is None
    assert jobs["13+0"].timeline[-1].word == "REQUEUED"


def test_a_table_with_commas_and_names_of_users_joined(tmp_path: Path) -> None:
    text = JOB_TABLE.replace("a|b", '"a, b"').replace(",", ";;").replace("\t", ",")
    text = text.replace(";;", ",").replace("1=4,2=4096,1001=2", '"1=4,2=4096"')
    text = text.replace("1=4,3=18446744073709551614", "1=4")
    head, first, *_ = text.splitlines()
    jobs, report = imported(written(tmp_path, f"{head},user\n{first},ada\n", TABLE))
    assert not report.bad
    assert (jobs["9_0"].submission.user, jobs["9_0"].submission.name) == ("ada", "a, b")


def test_what_is_not_a_job_is_a_bad_row(tmp_path: Path) -> None:
    text = SACCT_JSON.replace('"job_id": 12, "array"', '"job_id": null, "array"')
    jobs, report = imported(written(tmp_path, text))
    assert (len(jobs), report.first_bad[0].reason) == (2, "no job_id")
    broken = JOB_TABLE.replace("1772442060", "soon", 1)
    _, report = imported(written(tmp_path, broken, TABLE))
    assert "column time_start: 'soon' is not a number" in report.first_bad[0].reason


def test_errors_say_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--cluster NAME"):
        imported(written(tmp_path, JOB_TABLE))
    assert (
        imported(written(tmp_path, JOB_TABLE), options=Options(cluster="x"))[0]["14"].id[6] == "x"
    )
    with pytest.raises(SourceError, match="no column 'time_end'"):
        imported(written(tmp_path, "id_job,state,time_submit,time_start\n"), format="slurmdbd")
    with pytest.raises(SourceError, match='no list "jobs"'):
        imported(written(tmp_path, "{}"), format="sacct-json")


def test_the_queue_in_json_is_named(tmp_path: Path) -> None:
    job = '{"account": "a", "allocation_nodes": 1, "job_id": 5, "job_state": ["PENDING"]}'
    text = '{"jobs": [\n' + job + '], "meta": {"plugin": {"data_parser": "v0.0.42"}}}'
    with pytest.raises(SourceError, match="the queue, not accounting: its format is squeue-json"):
        imported(written(tmp_path, text), format="sacct-json")
