"""Why a job failed: its record, and the files of its output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jobsight.documents import Event, JobDocument, State, Submission, condor_id, slurm_id
from jobsight.documents.merging import merge
from jobsight.history.causes.endings import ending_of
from jobsight.history.causes.job import explained, output_files

OOM = "slurmstepd: error: Detected 1 oom_kill event in StepId=7.batch.\n"
TRACE = (
    "Traceback (most recent call last):\n"
    '  File "/home/a/fit.py", line 9, in <module>\n'
    "KeyError: 3\n"
)


def ended(state: State, *, id_: str = slurm_id("c", "7"), code: int | None = 1,
          **submission: Any) -> JobDocument:  # fmt: skip
    """A job that ended so."""
    events = (
        Event(time=10**15, source="sacct", state=State.RUNNING),
        Event(time=10**15 + 6 * 10**7, source="sacct", state=state, return_value=code),
    )
    part = JobDocument(id=id_, updated=10**15, timeline=events, submission=Submission(**submission))
    return merge(None, part)


@pytest.mark.parametrize(
    ("number", "submission", "expected"),
    [
        ("7", {}, ["slurm-7.out"]),
        ("7_3", {"raw_id": "9"}, ["slurm-7_3.out"]),
        ("7", {"stdout": "/x/%x-%j.log", "name": "fit"}, ["/x/fit-7.log"]),
        ("7_3", {"stdout": "o/%A.%4a", "stderr": "/e/%u", "user": "amy"}, ["/e/amy", "o/7.0003"]),
        ("7", {"script": "#!/bin/sh\n#SBATCH -o run.txt -e run.err\n"}, ["run.err", "run.txt"]),
        ("7", {"script": "#SBATCH -o a\n", "line": "sbatch --output=b x.sh"}, ["b"]),
        ("7", {"stdout": "/x/N%%\\%j"}, ["/x/N%%%j"]),
        ("7", {"stdout": "/dev/null"}, []),
        ("7", {"line": "sbatch 'never closed"}, ["slurm-7.out"]),
    ],
)
def test_files_of_output_follow_slurms_patterns(
    number: str, submission: dict[str, Any], expected: list[str]
) -> None:
    document = ended(
        State.FAILED, id_=slurm_id("c", number), directory="/home/amy/run", **submission
    )
    home = "/home/amy/run/"
    assert output_files(document) == [p if p.startswith("/") else home + p for p in expected]


def test_files_of_output_of_condor_are_in_its_directory() -> None:
    document = ended(
        State.FAILED, id_=condor_id("ap", 1, 0), directory="/home/a", stdout="out.0", stderr="err.0"
    )
    assert output_files(document) == ["/home/a/err.0", "/home/a/out.0"]
    assert output_files(ended(State.FAILED, id_=condor_id("ap", 1, 0), stdout="out.0")) == []


def test_output_names_the_cause_of_a_bare_exit_code(tmp_path: Path) -> None:
    (tmp_path / "slurm-7.out").write_text("start\n" + TRACE)
    document = ended(State.FAILED, directory=str(tmp_path))
    answer = explained(document, output_files(document))
    assert answer.cause is not None and answer.found is not None
    assert "KeyError" in answer.cause.text and "line 9 of /home/a/fit.py" in answer.cause.text
    assert (answer.found.line, answer.file) == (4, str(tmp_path / "slurm-7.out"))


def test_a_kill_for_memory_that_only_the_output_shows_is_the_cause(tmp_path: Path) -> None:
    (tmp_path / "slurm-7.out").write_text(TRACE + OOM)
    document = ended(State.FAILED, code=137, directory=str(tmp_path))
    answer = explained(document, output_files(document))
    assert answer.cause is not None and answer.cause.kind == "memory"


def test_what_the_record_names_surely_stays_the_cause(tmp_path: Path) -> None:
    (tmp_path / "slurm-7.out").write_text(TRACE + "10/400 tiles\n30/400 tiles\n")
    document = ended(State.TIMEOUT, directory=str(tmp_path))
    answer = explained(document, output_files(document))
    assert answer.cause is not None and answer.cause.kind == "time"
    assert answer.reached == "30/400 (8 %)"


def test_files_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    document = ended(State.FAILED, directory=str(tmp_path))
    answer = explained(document, [*output_files(document), str(tmp_path)])
    assert answer.cause == ending_of(document)
    assert not answer.read


def test_a_job_that_completed_has_no_cause(tmp_path: Path) -> None:
    (tmp_path / "slurm-7.out").write_text(TRACE)
    document = ended(State.COMPLETED, code=0, directory=str(tmp_path))
    assert explained(document, output_files(document)).cause is None
