"""Stored predictions of classes against what was observed."""

from __future__ import annotations

from jobsight.documents import JobDocument, Prediction
from jobsight.learning.review import confusion
from jobsight.program.examples import Example
from jobsight.questions.bound.decisions import table_of
from jobsight.questions.bound.question import BOUND_QUESTION


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
