"""A timeline as stretches in one state."""

from jobsight.documents import Event, JobDocument, State, Submission
from jobsight.documents.spans import Span, last_run, spans, submitted, time_of


def document(*states: tuple[int, State | None], **sections: Submission) -> JobDocument:
    events = tuple(Event(time=at, source="s", state=state) for at, state in states)
    return JobDocument(id="slurm:c:1", updated=99, timeline=events, **sections)  # type: ignore[arg-type]


P, R, H, DONE = State.PENDING, State.RUNNING, State.HELD, State.COMPLETED


def test_each_state_lasts_until_the_next() -> None:
    job = document((1, P), (4, R), (5, None), (6, H), (9, P))
    assert spans(job) == [Span(P, 1, 4), Span(R, 4, 6), Span(H, 6, 9), Span(P, 9, None)]
    assert last_run(job) == Span(R, 4, 6)


def test_an_end_ends_and_a_requeue_goes_on() -> None:
    job = document((1, R), (4, DONE), (6, P), (8, R))
    assert spans(job) == [Span(R, 1, 4), Span(P, 6, 8), Span(R, 8, None)]
    assert spans(document((1, R), (4, DONE))) == [Span(R, 1, 4)]


def test_one_state_told_twice_is_one_stretch() -> None:
    assert spans(document((1, R), (3, R), (5, DONE))) == [Span(R, 1, 5)]


def test_a_clock_that_steps_back_makes_no_stretch_of_less_than_nothing() -> None:
    assert spans(document((5, P), (3, R), (4, DONE))) == [Span(P, 5, 5), Span(R, 5, 5)]


def test_a_submission_that_was_told_begins_the_wait() -> None:
    job = document((5, R), submission=Submission(submitted=2))
    assert spans(job) == [Span(P, 2, 5), Span(R, 5, None)]
    assert submitted(job) == 2
    assert spans(document(submission=Submission(submitted=2))) == [Span(P, 2, None)]


def test_of_a_job_without_a_timeline_little_is_known() -> None:
    assert (spans(document()), last_run(document()), submitted(document())) == ([], None, None)
    assert submitted(document((7, P))) == 7


def test_the_time_of_a_document_is_that_of_its_latest_entry() -> None:
    assert time_of(document((7, P), (3, R))) == 7
    assert time_of(document(submission=Submission(submitted=2))) == 2
    assert time_of(document()) == 99
