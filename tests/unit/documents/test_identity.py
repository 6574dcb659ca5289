"""Which reports under one number are of one job."""

import itertools
from typing import Any

import pytest

from jobsight.documents import Event, JobDocument, State, Submission, Usage
from jobsight.documents.identity import sort_out

NOON = 1_700_000_000_000_000
SECOND = 1_000_000


def _run(
    submit: int,
    *,
    job: str = "12",
    user: str | None = "ann",
    end: int | None = None,
    state: State | None = State.COMPLETED,
    word: str | None = None,
    requeues: int | None = None,
    sluid: str | None = None,
    source: str = "sacct",
) -> JobDocument:
    """A run as a tool of Slurm reports it; times in seconds after `NOON`."""
    submitted = NOON + submit * SECOND
    again = "REQUEUED" if requeues else "PENDING"
    events = [Event(time=submitted, source=source, state=State.PENDING, word=again)]
    if end is not None:
        start, over = submitted + SECOND, NOON + end * SECOND
        events.append(Event(time=start, source=source, state=State.RUNNING, word="RUNNING"))
        word = word or str(state).upper()
        events.append(Event(time=over, source=source, state=state, word=word))
    return JobDocument(
        id=f"slurm:c:{job}",
        updated=events[-1].time,
        submission=Submission(submitted=submitted, user=user, sluid=sluid),
        timeline=tuple(events),
        usage=Usage(requeues=requeues),
    )


def _sorted_out(reports: list[JobDocument]) -> list[JobDocument]:
    """The documents after one report after another."""
    documents: list[JobDocument] = []
    for report in reports:
        documents = [document for _, document in sort_out(documents, [report])]
    return documents


LOST = {"submit": 0}
ENDED = {"submit": 0, "end": 10}
SLUID = "s0123456789abc"


@pytest.mark.parametrize("job", ["12", "12_3", "12+1"])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(LOST, {"submit": 60, "user": "bob", "end": 70}, id="another user"),
        pytest.param(LOST, {"submit": 60, "requeues": 0}, id="never requeued"),
        pytest.param(ENDED, {"submit": 60, "end": 70}, id="a final record"),
        pytest.param({**ENDED, "state": State.TIMEOUT}, {"submit": 60}, id="a timeout"),
    ],
)
def test_a_number_used_again_is_another_job(
    first: dict[str, Any], second: dict[str, Any], job: str
) -> None:
    reports = [_run(**first, job=job), _run(**second, job=job)]
    early, late = _sorted_out(reports)
    assert (early.id, late.id) == (f"slurm:c:{job}", f"slurm:c:{job}@2")
    assert [early.timeline, late.timeline] == [report.timeline for report in reports]
    for order in (reports, reports[::-1], [*reports, *reports], [*reports[::-1], *reports]):
        assert _sorted_out(order) == [early, late]
        assert [document for _, document in sort_out((), order)] == [early, late]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(
            {**ENDED, "state": State.PENDING, "word": "REQUEUED"}, {"submit": 10}, id="says so"
        ),
        pytest.param(
            {**ENDED, "state": State.NODE_FAIL}, {"submit": 11, "end": 90}, id="a lost node"
        ),
        pytest.param({**ENDED, "state": State.PREEMPTED}, {"submit": 11}, id="a preemption"),
        pytest.param(ENDED, {"submit": 60, "end": 70, "requeues": 1}, id="a count"),
        pytest.param(LOST, {"submit": 60, "end": 70}, id="no record yet"),
        pytest.param(LOST, {"submit": 60, "end": 70, "user": "Ann"}, id="a name in capitals"),
        pytest.param(LOST, {"submit": 60, "end": 70, "user": "1003"}, id="a user's number"),
        pytest.param(
            {**LOST, "sluid": SLUID},
            {"submit": 5, "end": 9, "requeues": 0, "sluid": SLUID},
            id="the same run",
        ),
        pytest.param(LOST, {"submit": 0, "end": 9, "user": "root"}, id="one submission"),
    ],
)
def test_a_job_submitted_again_is_the_same_job(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    reports = [_run(**first), _run(**second)]
    for order in (reports, reports[::-1]):
        (whole,) = _sorted_out(order)
        assert (whole.id, whole.submission.submitted) == ("slurm:c:12", NOON)


def test_three_jobs_of_a_number_in_any_order_and_more_of_each() -> None:
    reports = [
        _run(0, requeues=0),
        _run(60, user="bob", requeues=0, source="squeue"),
        _run(60, user="bob", end=70, state=State.PENDING, word="REQUEUED"),
        _run(70, user="bob", end=95, requeues=1),
        _run(200, requeues=0, source="squeue"),
        _run(200, end=230, state=State.FAILED, requeues=0),
    ]
    for order in itertools.permutations(reports):
        documents = _sorted_out(list(order))
        assert [job.id for job in documents] == ["slurm:c:12", "slurm:c:12@2", "slurm:c:12@3"]
        assert [job.submission.user for job in documents] == ["ann", "bob", "ann"]
        assert [job.state for job in documents] == ["pending", "completed", "failed"]
        assert [len(job.timeline) for job in documents] == [1, 5, 3]
