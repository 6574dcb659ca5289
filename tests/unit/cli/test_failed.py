"""``jobsight jobs --failed``, its filters, and CSV."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.storedjobs import filled, job, told
from typer.testing import CliRunner

from jobsight.cli.main import app
from jobsight.documents import JobDocument, Request, State, Submission, Usage, slurm_id
from jobsight.errors import UsageError


def ended(number: int, state: State, code: int | None = None, **of: Any) -> JobDocument:
    """A job of an hour that ended so."""
    return job(
        slurm_id("c", str(number)),
        told(0, State.PENDING), told(1, State.RUNNING),
        told(3601 + number, state, return_value=code),
        submission=Submission(user=of.get("user", "ann"), name=of.get("name", "fit"),
                              directory=of.get("directory")),
        request=Request(partition=of.get("partition", "main"), cpus=2),
        usage=Usage(wall_s=3600.0, cpus=2),
    )  # fmt: skip


@pytest.fixture
def url(tmp_path: Path) -> str:
    out = tmp_path / "work"
    out.mkdir()
    (out / "slurm-5.out").write_text("slurmstepd: error: Detected 1 oom_kill event in StepId=5.0\n")
    return filled(
        tmp_path / "jobs.db",
        [
            ended(1, State.COMPLETED, 0),
            ended(2, State.FAILED, 3, user="bob"),
            ended(3, State.FAILED, 4),
            ended(4, State.OUT_OF_MEMORY, name="=cmd()"),
            ended(5, State.FAILED, 137, directory=str(out)),
            ended(6, State.CANCELLED),
            ended(7, State.TIMEOUT, partition="long"),
        ],
    )


def call(url: str, *options: str) -> str:
    result = CliRunner().invoke(app, ["jobs", "--store", url, *options])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_failures_are_grouped_by_cause(url: str) -> None:
    groups = json.loads(call(url, "--failed", "--json"))
    kinds = sorted(group["kind"] for group in groups)
    assert kinds == ["memory", "memory", "program", "program", "time"]
    assert sum(group["core_hours"] for group in groups) == pytest.approx(10, rel=0.1)
    assert {id_ for group in groups for id_ in group["ids"]} == {
        f"slurm:c:{number}" for number in (2, 3, 4, 5, 7)
    }


def test_output_that_can_be_read_names_the_cause_of_a_kill(url: str) -> None:
    (group,) = [
        of for of in json.loads(call(url, "--failed", "--json")) if "slurm:c:5" in of["ids"]
    ]
    assert group["cause"] == "oom-kill"


def test_the_text_says_whose_it_is_and_what_to_do(url: str) -> None:
    text = call(url, "--failed")
    assert "1 job, 2.0 core-hours: time limit reached" in text
    assert "users: bob 1; names: fit 1" in text
    assert text.count("  to do: ") == 5


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--partition", "long"], ["7"]),
        (["--name", "=*"], ["4"]),
        (["--user", "bob", "--name", "f?t"], ["2"]),
        (["--name", "fit", "--limit", "2"], ["7", "6"]),
        (["--name", "none"], []),
    ],
)
def test_jobs_are_chosen_by_name_and_partition(
    url: str, options: list[str], expected: list[str]
) -> None:
    rows = list(csv.DictReader(io.StringIO(call(url, "--csv", *options))))
    assert [row["id"].rpartition(":")[2] for row in rows] == expected


def test_csv_has_no_formulas_and_plain_numbers(url: str) -> None:
    rows = {row["id"]: row for row in csv.DictReader(io.StringIO(call(url, "--csv")))}
    assert rows["slurm:c:4"]["name"] == "'=cmd()"
    assert rows["slurm:c:5"]["exit_code"] == "137"
    assert float(rows["slurm:c:7"]["ran_s"]) > 0


def test_causes_are_no_rows_of_csv(url: str) -> None:
    result = CliRunner().invoke(app, ["jobs", "--store", url, "--failed", "--csv"])
    assert isinstance(result.exception, UsageError)


def test_where_no_job_failed_that_is_said(url: str) -> None:
    assert "no job in the store matches" in call(url, "--failed", "--user", "zoe")
