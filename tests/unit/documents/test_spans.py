"""A timeline as stretches in one state."""

from typing import Any

from jobsight.documents import Event, JobDocument, State, Submission, Usage
from jobsight.documents.spans import Run, Span, life, ran, runs, spans, submitted, time_of


def document(*states: tuple[int, State | None], **sections: Any) -> JobDocument:
    events = tuple(Event(time=at, source="s", state=state) for at, state in states)
    return JobDocument(id="slurm:c:1", updated=99, timeline=events, **sections)


P, R, H, DONE = State.PENDING, State.RUNNING, State.HELD, State.COMPLETED
S = State.SUSPENDED
SECOND = 1_000_000


def test_each_state_lasts_until_the_next() -> None:
    job = document((1, P), (4, R), (5, None), (6, H), (9, P))
    assert spans(job) == [Span(P, 1, 4), Span(R, 4, 6), Span(H, 6, 9), Span(P, 9, None)]


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
    assert (spans(document()), runs(document(), 9), submitted(document())) == ([], [], None)
    assert (life(document(), 9), ran(document(), 9)) == ([], None)
    assert submitted(document((7, P))) == 7


def test_the_time_of_a_document_is_that_of_its_latest_entry() -> None:
    assert time_of(document((7, P), (3, R))) == 7
    assert time_of(document(submission=Submission(submitted=2))) == 2
    assert time_of(document()) == 99


def at(*states: tuple[int, State | None], **sections: Any) -> JobDocument:
    return document(*((second * SECOND, state) for second, state in states), **sections)


def test_the_present_state_lasts_until_now() -> None:
    assert life(document((1, P), (4, R)), 9) == [Span(P, 1, 4), Span(R, 4, 9)]
    assert life(document((1, P), (4, DONE)), 9) == [Span(P, 1, 4)]
    # A clock that is behind the source's.
    assert life(document((8, P)), 3) == [Span(P, 8, 8)]


def test_each_start_begins_a_run_and_a_pause_ends_none() -> None:
    job = at((1, P), (4, R), (6, S), (7, R), (9, H), (20, P), (21, R))
    assert runs(job, 30 * SECOND) == [
        Run(4 * SECOND, 4.0, lasts=False),
        Run(21 * SECOND, 9.0, lasts=True),
    ]
    (paused,) = runs(at((4, R), (6, S)), 30 * SECOND)
    assert paused == Run(4 * SECOND, 2.0, lasts=True)
    assert len(runs(at((4, R), (6, DONE), (6, P), (6, R)), 9)) == 2


def test_what_a_job_ran_is_all_its_runs_whoever_tells_it() -> None:
    life = ((1, R), (4, H), (8, P), (9, R), (19, DONE))
    assert ran(at(*life), 0) == 13.0
    assert ran(at(*life, usage=Usage(wall_s=10.0)), 0) == 13.0
    assert ran(at((1, P), (9, R), usage=Usage(wall_s=1.0)), 12 * SECOND) == 3.0
    # No start is told, or some may have been left out.
    assert ran(at((9, DONE), usage=Usage(wall_s=10.0)), 0) == 10.0
    assert ran(at(*life, usage=Usage(wall_s=700.0), dropped=3), 0) == 700.0
    assert ran(at(*life, dropped=3), 0) == 13.0
