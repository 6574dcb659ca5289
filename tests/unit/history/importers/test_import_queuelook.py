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
from jobsight.history.importers.queuelook import _document
from jobsight.history.jobtable import JobTable

AT = 1_795_223_471
LINE = "{at}|{job}|{state}|u14|main|{reason}|{start}|10000"


def line(at: int, job: str = "3", state: str = "PENDING", **columns: str) -> str:
    shown = {"reason": "Priority", "start": "N/A"} | columns
    return LINE.format(at=AT + at, job=job, state=state, **shown)


def read(folder: Path, *rows: str) -> tuple[JobTable, ImportReport]:
    options = Options(cluster="c", timezone="UTC")
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
        line(0, "9_[1-5]"),
    )
    assert jobs.table["job"].to_list() == ["3", "7"]
    assert jobs.table["state"].to_list() == [State.HELD, State.PENDING]
    assert jobs.table["owner"].to_list() == ["u14"] * 2
    seen = jobs.sightings()
    assert seen["reason"].to_list() == ["JobHeldUser", "Priority"]
    assert seen["Priority"].to_list() == [10000] * 2
    assert seen["StartEstimate"].to_list() == [None, 1_795_223_485]
    assert report.notes == ["1 line of arrays left out: each stands for several tasks"]


@pytest.mark.parametrize("row", ["x|y", line(0, "no id"), line(0).replace("10000", "-1")])
def test_a_bad_line_is_counted(row: str, tmp_path: Path) -> None:
    jobs, report = read(tmp_path, line(0), row)
    assert (len(jobs.table), report.bad) == (1, 1)


@given(st.lists(st.text(alphabet="019|_-[]:TPENDIGN/A.\x00é", max_size=60), max_size=5))
def test_any_text_is_read_or_counted(rows: list[str]) -> None:
    seen: dict[str, tuple[int, int]] = {}
    for row in rows:
        try:
            _document(row, "c", dt.UTC, seen)
        except ValueError:
            continue
