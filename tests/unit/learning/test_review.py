"""Stored predictions and what became of the jobs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.support.failingjobs import ran, table
from tests.support.storedjobs import SECOND, START

from jobsight.documents import JobDocument, Prediction, State, merge
from jobsight.learning.question import Question
from jobsight.learning.review import Week, confusion, predictions_of, promised_by, review
from jobsight.program.examples import Example
from jobsight.questions.bound.programs import table_of
from jobsight.questions.bound.question import BOUND_QUESTION
from jobsight.questions.fail.question import FAIL, FailSettings
from jobsight.questions.hold.question import HOLD
from jobsight.questions.start.question import START as START_QUESTION
from jobsight.questions.start.question import StartSettings

DAY = 86_400


def answered(
    document: JobDocument, at: float, probability: float | None, **more: Any
) -> JobDocument:
    """The job with an answer so many seconds after the start."""
    answer = {"probability": probability, **more}
    time = START + int(at * SECOND)
    model = more.pop("model", "boosted@1a2b")
    one = Prediction(question="fail", model=model, time=time, inputs="x", answer=answer)
    return merge(document, JobDocument(id=document.id, updated=time, predictions=(one,)))


def reviewed(documents: list[JobDocument], promised: float | None = None) -> list[Week]:
    decisions = FAIL.decisions(table(documents), FailSettings()).table
    kept = predictions_of(documents, FAIL)
    told = dict.fromkeys(kept.select("model", "moment").rows(), promised)
    return review(FAIL, decisions, kept, told, draws=100, seed=0)


def test_counts_and_scores_by_week_and_by_model() -> None:
    jobs = [
        answered(ran(1, 0, State.FAILED), 30, 0.8),
        answered(ran(2, 100), 130, 0.4),
        answered(ran(3, 200, None), 230, 0.9),
        answered(ran(4, 7 * DAY), 7 * DAY + 10, 0.2),
        answered(ran(5, 0, State.FAILED), 30, 0.5, model="rates"),
        answered(ran(6, 0), 30, None),
    ]
    every, first, second, rates, _ = reviewed(jobs)
    assert (every.week, every.model, every.predictions, every.known) == (None, "boosted@1a2b", 4, 3)
    # 2026-11-21 is a Saturday.
    assert (first.week, second.week) == ("2026-11-16", "2026-11-23")
    assert (first.predictions, first.known) == (3, 2)
    assert first.predicted == pytest.approx(0.6) and first.observed == 0.5
    assert first.log_loss == pytest.approx(-(np.log(0.8) + np.log(0.6)) / 2)
    assert first.brier == pytest.approx((0.2**2 + 0.4**2) / 2) and first.roc_auc == 1.0
    assert second.roc_auc is None and second.worse is None and second.promised is None
    assert (rates.model, rates.known) == ("rates", 1)


def test_the_first_answer_counts_and_those_after_the_end_do_not() -> None:
    job = answered(answered(ran(1, 0, State.FAILED), 30, 0.8), 90, 0.3)
    every, _ = reviewed([answered(job, 5000, 0.99)])
    assert (every.predictions, every.known, every.predicted) == (2, 1, 0.8)


def test_cancelled_jobs_have_no_outcome() -> None:
    every, _ = reviewed([answered(ran(1, 0, State.CANCELLED), 30, 0.8)])
    assert (every.predictions, every.known, every.log_loss) == (1, 0, None)


@pytest.mark.parametrize(("count", "promised", "worse"), [
    (40, 0.2, True), (40, 2.0, False), (10, 0.2, None), (40, None, None),
])  # fmt: skip
def test_a_week_is_worse_where_its_interval_is_above_what_was_promised(
    count: int, promised: float | None, worse: bool | None
) -> None:
    jobs = [
        answered(ran(n, n * DAY / 50, user=f"u{n}"), n * DAY / 50 + 1, 0.7) for n in range(count)
    ]
    every, *_ = reviewed(jobs, promised)
    assert every.worse is worse and every.promised == promised


def test_a_report_promises_for_the_moment_of_the_answer() -> None:
    report = {
        "chosen": "a",
        "models": {"a": {"log_loss": 0.5}},
        "by_moment": {"start": {"chosen": "b", "models": {"b": {"log_loss": 0.4}}}},
    }
    assert promised_by(report, "start") == 0.4
    assert promised_by(report, "submission") == promised_by(report, None) == 0.5
    assert promised_by({}, None) is None


def test_a_question_without_jobs_knows_no_outcome() -> None:
    class Jobless(type(FAIL)):  # type: ignore[misc]
        job = Question.job

    documents = [answered(ran(1, 0, State.FAILED), 30, 0.8)]
    decisions = FAIL.decisions(table(documents), FailSettings()).table
    kept = predictions_of(documents, FAIL)
    found = review(Jobless(), decisions, kept, {}, draws=100, seed=0)
    assert [one.known for one in found] == [0, 0]
    assert predictions_of(documents, HOLD).is_empty()


def test_of_quantiles_the_share_within_the_interval_counts() -> None:
    jobs = []
    for number, bounds in enumerate([(10, 40), (45, 90), (0, 25), None]):
        document = ran(number, 1000.0 * number, user=f"u{number}")  # starts after 60 s
        time = START + (1000 * number + 30) * SECOND  # 30 s are left
        answer = {"wait_s": bounds and [bounds[0], 20.0, bounds[1]], "moment": "pending"}
        one = Prediction(question="start", model="boosted", time=time, inputs="x", answer=answer)
        jobs.append(merge(document, JobDocument(id=document.id, updated=time, predictions=(one,))))
    decisions = START_QUESTION.decisions(table(jobs), StartSettings()).table
    kept = predictions_of(jobs, START_QUESTION)
    every, _ = review(START_QUESTION, decisions, kept, {}, draws=100, seed=0)
    assert (every.predictions, every.known) == (3, 3)
    assert every.predicted == pytest.approx(0.8) and every.observed == pytest.approx(1 / 3)
    assert every.log_loss is None and every.worse is None


def said(job: int, *kinds: str) -> JobDocument:
    predictions = tuple(
        Prediction("bound", "stack@1", time, "", {"class": kind}) for time, kind in enumerate(kinds)
    )
    return JobDocument(f"slurm:c:{job}", 1, predictions=predictions)


def observed(job: int, *classes: str) -> Example:
    return Example(f"slurm:c:{job}", "a.sh", "", "bash", "a", {}, classes, job=f"c {job}")


def test_the_first_answer_of_a_model_counts_and_any_possible_class_is_right() -> None:
    source = [observed(1, "io"), observed(2, "cpu", "memory"), observed(3, "io")]
    table = table_of(source, 0, lambda _one: None)
    documents = [said(1, "io", "cpu"), said(2, "memory"), said(3, "cpu"), said(4, "unsure")]
    found = confusion(BOUND_QUESTION, documents, table)
    assert {(one.predicted, one.observed, one.right) for one in found} == {
        ("io", ("io",), True),
        ("memory", ("cpu", "memory"), True),
        ("cpu", ("io",), False),
        ("unsure", (), None),
    }
    assert sum(one.jobs for one in found) == 4
