"""``jobsight why``: files, jobs, and what is neither."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.storedjobs import HOSTILE, filled, job, told
from typer.testing import CliRunner, Result

from jobsight.cli.main import app
from jobsight.documents import State, Submission, slurm_id
from jobsight.errors import JobsightError

OOM = "slurmstepd: error: Detected 1 oom_kill event in StepId=7.batch.\n"


def call(*words: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["why", *map(str, words)], input=stdin)


@pytest.fixture
def url(tmp_path: Path) -> str:
    (tmp_path / "slurm-7.out").write_text("start\n" + OOM)
    submission = Submission(user="ann", name="fit", directory=str(tmp_path))
    return filled(
        tmp_path / "jobs.db",
        [
            job(slurm_id("c", "7"), told(0, State.PENDING), told(9, State.FAILED, return_value=1),
                submission=submission),
            job(slurm_id("c", "8"), told(0, State.PENDING), told(9, State.COMPLETED)),
            job(slurm_id("c", "9_1"), told(0, State.PENDING), told(9, State.COMPLETED)),
            job(slurm_id("c", "9_2"), told(0, State.PENDING), told(9, State.TIMEOUT)),
        ],
    )  # fmt: skip


def test_a_file_and_standard_input(tmp_path: Path) -> None:
    (tmp_path / "a.out").write_text(OOM)
    (tmp_path / "b.out").write_text("0 errors\ndone\n")
    result = call(tmp_path / "a.out", tmp_path / "b.out", "-", stdin=OOM)
    assert result.exit_code == 0
    first, second, third = result.stdout.split("\n\n")
    assert first.startswith(f"{tmp_path}/a.out: out of memory\n  why ")
    assert second == f"{tmp_path}/b.out: no failure found"
    assert third.startswith("-: out of memory")


def test_a_job_is_explained_by_its_output(url: str) -> None:
    text = call("7", "--store", url).stdout
    assert text.startswith("slurm:c:7, failed: out of memory\n")
    assert f"line    slurm-7.out:2: {OOM}" in text


def test_an_error_before_the_time_limit_is_said_too(url: str, tmp_path: Path) -> None:
    (tmp_path / "late.txt").write_text("ModuleNotFoundError: No module named 'yaml'\n")
    text = call("9_2", "--store", url, "--output", tmp_path / "late.txt").stdout
    assert "why     it reached its time limit" in text
    assert "also    late.txt:1: " in text


def test_of_an_array_the_tasks_that_failed_come_first(url: str) -> None:
    answers = json.loads(call("9", "--store", url, "--json").stdout)
    assert [answer["of"] for answer in answers] == [
        "slurm:c:9_2, timeout",
        "slurm:c:9_1, completed",
    ]
    assert answers[0]["cause"]["kind"] == "time"
    assert answers[1]["cause"] is None


def test_output_that_is_named_is_read_in_place_of_the_records(url: str, tmp_path: Path) -> None:
    text = "./fit: error while loading shared libraries: libx.so.1: cannot open shared object file"
    (tmp_path / "other.txt").write_text(f"{text}: No such file or directory\n")
    (answer,) = json.loads(
        call("7", "--store", url, "--output", tmp_path / "other.txt", "--json").stdout
    )
    assert answer["cause"]["kind"] == "software"
    assert answer["output"].endswith("other.txt")


@pytest.mark.parametrize("name", ["none.out", "/nope/x.out", "./x", "77"])
def test_what_is_neither_a_file_nor_a_job_is_refused(name: str, url: str) -> None:
    result = call(name, "--store", url)
    assert result.exit_code != 0
    assert isinstance(result.exception, JobsightError)


def test_hostile_text_is_shown_plain(tmp_path: Path) -> None:
    (tmp_path / "a.out").write_text(HOSTILE + OOM)
    assert "\x1b" not in call(tmp_path / "a.out").stdout
