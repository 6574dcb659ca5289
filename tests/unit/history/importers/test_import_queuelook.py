"""Snapshots of squeue: which looks are kept, and what they say."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.importing import imported, written

from jobsight.documents import State
from jobsight.history.importers import ImportReport, Options
from jobsight.history.importers.queuelook import _look
from jobsight.history.jobtable import JobTable

AT = 1_795_223_471
LINE = "{at}|{job}|{state}|u14|main|{reason}|{start}|10000"


def line(at: int, job: str = "3", state: str = "PENDING", **columns: str) -> str:
    shown = {"reason": "Priority", "start": "N/A"} | columns
    return LINE.format(at=AT + at, job=job, state=state, **shown)


def read(folder: Path, *rows: str, most_tasks: int = 100) -> tuple[JobTable, ImportReport]:
    options = Options(cluster="c", timezone="UTC", most_tasks=most_tasks)
    found, report = imported(written(folder, "\n".join(rows) + "\n"), options=options)
    return JobTable.read(found.values()), report


def test_looks_are_kept_as_a_job_gets_older(tmp_path: Path) -> None:
    jobs, report = read(tmp_path, *(line(at) for at in range(0, 200, 10)))
    assert [(at // 10**6) - AT for at in jobs.sightings()["known"]] == [0, 10, 20, 40, 80, 160]
    assert (report.rows, report.bad) == (20, 0)


def test_a_look_has_reason_priority_and_the_expected_start(tmp_path: Path) -> None:
    jobs, report = read(
        tmp_path,
        line(0, reason="JobHeldUser"),
        line(0, "7", start="2026-11-21T01:11:25"),
        line(0, "8", "RUNNING"),
    )
    assert jobs.table["job"].to_list() == ["3", "7"]
    assert jobs.table["state"].to_list() == [State.HELD, State.PENDING]
    assert jobs.table["owner"].to_list() == ["u14"] * 2
    seen = jobs.sightings()
    assert seen["reason"].to_list() == ["JobHeldUser", "Priority"]
    assert seen["Priority"].to_list() == [10000] * 2
    assert seen["StartEstimate"].to_list() == [None, 1_795_223_485]
    assert report.notes == ["1 line of jobs that had started left out"]


def test_a_line_of_an_array_is_a_look_at_each_of_its_tasks(tmp_path: Path) -> None:
    rows = [line(at, "9_[1-5:2,8%2]", reason="JobArrayTaskLimit") for at in range(0, 200, 10)]
    jobs, report = read(tmp_path, *rows, line(0, "9_4", "RUNNING"), line(5, "9_6"))
    assert jobs.table["job"].to_list() == ["9_1", "9_3", "9_5", "9_8", "9_6"]
    looks = jobs.sightings().filter(row=0)
    assert [(at // 10**6) - AT for at in looks["known"]] == [0, 10, 20, 40, 80, 160]
    assert looks["reason"].to_list() == ["JobArrayTaskLimit"] * 6
    assert report.notes == ["1 line of jobs that had started left out"]


@pytest.mark.parametrize(("shown", "tasks"), [
    ("3_[7,9,11-13,", [7, 9, 11, 12, 13]), ("3_[7,9,11-1", [7, 9]), ("3_[7,9,...]", [7, 9]),
])  # fmt: skip
def test_lists_that_squeue_cuts_give_the_tasks_that_are_whole(
    shown: str, tasks: list[int], tmp_path: Path
) -> None:
    jobs, report = read(tmp_path, line(0, shown))
    assert jobs.table["job"].to_list() == [f"3_{task}" for task in tasks]
    assert report.notes[0].startswith("1 list of array tasks cut short")


def test_a_list_of_many_thousand_tasks_is_known_by_its_beginning(tmp_path: Path) -> None:
    shown = f"3_[{','.join(map(str, range(1, 6000, 2)))}%3]"
    jobs, report = read(tmp_path, line(0, shown), most_tasks=9999)
    assert (len(jobs.table), report.files[0][1], report.notes) == (3000, "squeue", [])


def test_tasks_that_a_line_does_not_list_are_said(tmp_path: Path) -> None:
    rows = [line(at, "9_[1,3,...]") for at in (0, 100)]
    jobs, report = read(tmp_path, *rows, line(0, "7_[1-9]"), most_tasks=4)
    assert jobs.table["job"].to_list() == ["7_1", "7_2", "7_3", "7_4", "9_1", "9_3"]
    cut, beyond = report.notes
    assert cut.startswith("1 list of array tasks cut short by Slurm") and "SLURM_BITSTR_LEN" in cut
    assert beyond == "5 pending array tasks beyond the most for one array"


@pytest.mark.parametrize("row", ["x|y", line(0, "no id"), line(0).replace("10000", "-1")])
def test_a_bad_line_is_counted(row: str, tmp_path: Path) -> None:
    jobs, report = read(tmp_path, line(0), row)
    assert (len(jobs.table), report.bad) == (1, 1)


@given(st.lists(st.text(alphabet="019|_-[]:TPENDIGN/A.\x00é", max_size=60), max_size=5))
def test_any_text_is_read_or_counted(rows: list[str]) -> None:
    for row in rows:
        try:
            _look(row, "c", dt.UTC)
        except ValueError:
            continue
