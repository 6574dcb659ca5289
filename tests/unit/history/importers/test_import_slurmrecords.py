"""Slurm's accounting in JSON."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.importing import SACCT_JSON, imported, states, written

from jobsight.errors import SourceError


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
    assert (task.usage.cpu_s, task.usage.memory_mb, task.usage.read_mb) == (7.25, 3, 1.0)
    assert (task.submission.user, task.submission.raw_id) == ("ada", "11")
    assert jobs["13+0"].timeline[-1].word == "REQUEUED"


def test_what_is_not_a_job_is_a_bad_row(tmp_path: Path) -> None:
    text = SACCT_JSON.replace('"job_id": 12, "array"', '"job_id": null, "array"')
    jobs, report = imported(written(tmp_path, text))
    assert (len(jobs), report.first_bad[0].reason) == (2, "no job_id")


def test_errors_say_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match='no list "jobs"'):
        imported(written(tmp_path, "{}"), format="sacct-json")
