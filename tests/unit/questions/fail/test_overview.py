from dataclasses import replace

import polars as pl
import pytest
from tests.support import failing

from jobsight.history.jobtable import JobTable
from jobsight.history.readreport import ReadReport
from jobsight.learning.evaluation import evaluate_all
from jobsight.questions.fail.overview import overview
from jobsight.questions.fail.question import FailSettings, outcomes_of
from jobsight.reports.report import report_html
from jobsight.reports.shown import Shown


def without_users() -> JobTable:
    jobs = failing.table()
    return replace(jobs, table=jobs.table.with_columns(owner=pl.lit(None, pl.String)))


def page(jobs: JobTable) -> str:
    model = failing.trained().model
    read = ReadReport(jobs=len(jobs.table), first=jobs.table["seen"].to_physical()[0])
    read.last = jobs.end()
    shown = Shown(model, evaluate_all(model, jobs), jobs, read, overview(jobs, FailSettings()))
    return report_html(shown)


def test_it_counts_what_happened_and_what_it_cost() -> None:
    found = overview(failing.table(), FailSettings())
    outcomes = outcomes_of(failing.table(), FailSettings()).drop_nulls("fails")
    failed = outcomes.filter("fails")
    ways, users = found.tables["What fails most"], found.tables["Which users fail most"]
    assert sum(way["failed jobs"] for way in ways) == len(failed)
    assert sum(way["core-hours lost"] for way in ways) == pytest.approx(failed["core_hours"].sum())
    assert {way["what happened"] for way in ways} == {
        "ended with an error", "ran out of memory", "reached the time limit",
    }  # fmt: skip
    last = failed.filter(pl.col("owner") == users[0]["user"], pl.col("job").is_not_null())
    assert users[0]["what to do"].rpartition(" ")[2] in last["job"].to_list()
    assert (
        f"Of {len(outcomes):,} jobs with a known outcome {len(failed):,} failed" in found.points[0]
    )
    assert found.points[1].startswith("These used ")
    assert found.points[2].startswith(f"User {users[0]['user']} lost most in one way: ")


def test_accounts_stand_in_for_unknown_users_and_no_failure_is_said() -> None:
    html = page(without_users())
    assert "Which accounts fail most" in html
    assert "By user" not in html and "Which users" not in html
    jobs = failing.table()
    none = replace(jobs, table=jobs.table.with_columns(state=pl.lit("completed").cast(
        jobs.table.schema["state"])))  # fmt: skip
    found = overview(none, FailSettings())
    assert found.points[0].endswith(" 0 failed (0 %).")
    assert not any(found.tables.values())


def test_the_report_begins_with_the_failures_then_judges_the_model() -> None:
    html = page(failing.table())
    places = [html.index(words) for words in (
        "were read, 2026-03-02 00:10:00Z to 2026-03-05", "with a known outcome", "lost most",
        "Are the models any good?", "in its weakest quarter, from 2026-03-0", "What fails most.",
        "How well the models predict whether it fails", "<dl>")]  # fmt: skip
    assert places == sorted(places)
    for words in ("failures found", "successes taken for failures", "F1 of failures", "By user"):
        assert words in html
    assert "successes found" not in html
    assert "The same table by job" not in html  # every job is a batch of its own
    assert "By account" not in html  # there is one
