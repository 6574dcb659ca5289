"""Joining what several sources know."""

from typing import Any

import pytest

from jobsight.documents import (
    Event,
    JobDocument,
    Outcome,
    Prediction,
    Request,
    State,
    Submission,
    Usage,
    merge,
)
from jobsight.documents.merging import FIRST_EVENTS, MOST_EVENTS, MOST_PREDICTIONS
from jobsight.documents.spans import spans

SECOND = 1_000_000


def told(at: float, state: State | None = None, source: str = "sacct", **columns: Any) -> Event:
    return Event(time=int(at * SECOND), source=source, state=state, **columns)


def record(at: float, code: int, position: int, source: str = "log", **columns: Any) -> Event:
    return told(at, columns.pop("state", None), source, code=code, position=position, **columns)


def part(*events: Event, updated: int = 1, **sections: Any) -> JobDocument:
    return JobDocument(id="slurm:c:1", updated=updated, timeline=events, **sections)


def joined(*parts: JobDocument) -> JobDocument:
    document = None
    for one in parts:
        document = merge(document, one)
    assert document is not None
    return document


def states(document: JobDocument) -> list[State | None]:
    return [event.state for event in document.timeline]


def test_the_state_and_the_outcome_follow_from_the_timeline() -> None:
    running = joined(part(told(1, State.PENDING), told(5, State.RUNNING)))
    assert (running.state, running.outcome) == (State.RUNNING, None)
    ended = merge(
        running, part(told(9, State.FAILED, return_value=3, signal=0, reason="x"), told(9.5))
    )
    assert ended.state is State.FAILED
    assert ended.outcome == Outcome(
        state=State.FAILED, ended=9 * SECOND, exit_code=3, signal=0, reason="x"
    )


def test_a_failure_becomes_one_of_memory_once_the_use_is_known() -> None:
    killed = part(told(1, State.RUNNING), told(9, State.FAILED, return_value=137, word="FAILED"))
    used = part(request=Request(memory_mb=8192, nodes=2), usage=Usage(memory_mb=4090), updated=2)
    first, second = joined(killed), joined(killed, used)
    assert (first.state, second.state) == (State.FAILED, State.OUT_OF_MEMORY)
    assert second.outcome == Outcome(State.OUT_OF_MEMORY, 9 * SECOND, exit_code=137)
    assert second.timeline == first.timeline and merge(second, killed) is second
    assert merge(merge(None, used), killed) == second


def test_an_abort_behind_a_termination_only_takes_the_job_out_of_the_queue() -> None:
    ended = record(5, 5, 10, state=State.COMPLETED, return_value=0)
    removed = record(9, 9, 20, state=State.CANCELLED, reason="via condor_rm")
    again = told(11, State.CANCELLED, "condor_history", code=9)
    outcome = Outcome(state=State.COMPLETED, ended=5 * SECOND, exit_code=0)
    for rest in ([removed], [removed, again]):
        document = joined(part(ended), part(*rest))
        assert (document.state, document.outcome) == (State.COMPLETED, outcome)
        assert len(document.timeline) == 1 + len(rest)
    requeued = record(7, 1, 15, state=State.RUNNING)
    assert joined(part(ended, requeued, removed)).state is State.CANCELLED


def test_a_submission_that_is_written_late_follows_nothing() -> None:
    held = told(5, State.HELD, source="condor_q", code=12)
    late = record(6, 0, 0, state=State.PENDING)
    both = joined(part(held), part(late))
    assert both.state is State.HELD
    assert [span.state for span in spans(both)] == [State.HELD]
    assert joined(part(late)).state is State.PENDING


def test_what_a_source_says_of_state_and_outcome_is_not_looked_at() -> None:
    odd = part(state=State.FAILED, outcome=Outcome(state=State.FAILED, ended=1))
    assert (joined(odd).state, joined(odd).outcome) == (None, None)


def test_what_tells_nothing_new_gives_the_very_same_document() -> None:
    first = joined(part(record(1, 0, 0), request=Request(cpus=1)))
    assert merge(first, part(record(1, 0, 0), request=Request(cpus=1), updated=99)) is first
    assert merge(first, part()) is first


def test_older_records_of_a_log_stay_older_behind_what_others_tell() -> None:
    """Read again, they change nothing, though the last event by then is of no log."""
    first = part(record(0, 1, 1), usage=Usage(requeues=1))
    second = part(record(0, 1, 0), told(5, State.RUNNING), usage=Usage(requeues=0))
    for later in (second, part(*reversed(second.timeline), usage=Usage(requeues=0))):
        one = joined(first, later)
        assert merge(one, later) is one


def test_the_newer_source_wins_and_the_older_fills_its_gaps() -> None:
    first = part(request=Request(cpus=1, qos="old"), updated=1)
    second = part(request=Request(cpus=2, nodes=4), updated=2)
    expected = Request(cpus=2, nodes=4, qos="old")
    assert joined(first, second).request == joined(second, first).request == expected


@pytest.mark.parametrize("turned", [False, True])
def test_a_job_was_submitted_when_it_was_first(turned: bool) -> None:
    parts = [part(updated=1, submission=Submission(submitted=5, user="a"))]
    parts.append(part(updated=2, submission=Submission(submitted=9, user="b")))
    document = joined(*(reversed(parts) if turned else parts))
    assert (document.submission.submitted, document.submission.user) == (5, "b")


def test_the_largest_memory_stays() -> None:
    parts = [part(usage=Usage(memory_mb=n), updated=n) for n in (5, 9, 7)]
    assert joined(*parts).usage.memory_mb == 9


def test_documents_of_two_jobs_are_not_joined() -> None:
    with pytest.raises(ValueError, match="cannot be merged"):
        merge(JobDocument(id="slurm:c:1", updated=1), JobDocument(id="slurm:c:2", updated=1))


def test_a_record_read_again_with_its_ad_is_filled_in() -> None:
    document = joined(part(record(1, 12, 7)), part(record(1, 12, 7, attributes="{}")))
    assert [event.attributes for event in document.timeline] == ["{}"]


@pytest.mark.parametrize("turned", [False, True])
def test_an_event_that_two_sources_tell_of_counts_once(turned: bool) -> None:
    first = part(told(1.25, State.RUNNING, "scontrol", reason="None", slot="s"))
    second = part(told(1, State.RUNNING, "sacct", host="n1"))
    document = joined(*([second, first] if turned else [first, second]))
    assert merge(document, first) is merge(document, second) is document
    (event,) = document.timeline
    assert (event.source, event.host, event.slot, event.reason) == ("sacct", "n1", "s", None)


@pytest.mark.parametrize("turned", [False, True])
def test_a_log_is_trusted_first_and_its_record_stays_as_it_was(turned: bool) -> None:
    log = part(record(4, 12, 70, state=State.HELD, reason="r"))
    asked = part(told(4.9, State.HELD, "condor_q", hold_code=3, reason="other", host="h"))
    document = joined(*([asked, log] if turned else [log, asked]))
    assert document.timeline == log.timeline
    assert merge(document, asked) is document


@pytest.mark.parametrize("turned", [False, True])
def test_one_source_alone_tells_how_a_job_exited(turned: bool) -> None:
    account = part(told(9, State.CANCELLED, word="CANCELLED", return_value=0))
    shown = part(told(9, State.CANCELLED, "scontrol", word="CANCELLED", signal=15, host="n1"))
    (event,) = joined(*((shown, account) if turned else (account, shown))).timeline
    assert (event.return_value, event.signal, event.host) == (0, None, "n1")


@pytest.mark.parametrize("turned", [False, True])
def test_accounting_is_trusted_before_messages_of_ends(turned: bool) -> None:
    poor = part(told(5, State.CANCELLED, "jobcomp", word="CANCELLED", return_value=0))
    rich = part(told(5, State.CANCELLED, word="CANCELLED by 2001", reason="cancelled by 2001"))
    document = joined(*((rich, poor) if turned else (poor, rich)))
    (event,) = document.timeline
    assert (event.source, event.word, event.reason) == (
        "sacct", "CANCELLED by 2001", "cancelled by 2001",
    )  # fmt: skip
    assert merge(merge(document, poor), rich) is document


@pytest.mark.parametrize("turned", [False, True])
def test_what_the_scheduler_reports_wins_over_messages(turned: bool) -> None:
    shown = part(
        told(5, State.PENDING, "squeue", word="PENDING"), updated=6,
        submission=Submission(user="ann", script="true\n"),
    )  # fmt: skip
    said = part(
        told(9, State.COMPLETED, "jobcomp", word="COMPLETED"), updated=99,
        submission=Submission(user="root", script="evil\n", host="login1"),
    )  # fmt: skip
    document = joined(*((said, shown) if turned else (shown, said)))
    assert document.submission == Submission(user="ann", script="true\n", host="login1")
    account = part(told(8, State.FAILED, word="FAILED", return_value=3), updated=10)
    parts = (said, shown, account) if turned else (account, shown, said)
    document = joined(*parts)
    assert (document.state, document.submission.user) == (State.FAILED, "ann")
    assert [event.source for event in document.timeline] == ["squeue", "sacct"]
    assert merge(document, said) is document


def test_accounting_corrects_itself() -> None:
    early = part(told(9, State.CANCELLED, word="CANCELLED", signal=15, host="n1"), updated=9)
    late = told(9, State.CANCELLED, word="CANCELLED by 7", reason="cancelled by 7", return_value=0)
    document = joined(early, part(late, updated=12))
    (event,) = document.timeline
    assert (event.word, event.reason, event.host) == ("CANCELLED by 7", "cancelled by 7", "n1")
    assert (event.return_value, event.signal) == (0, None)
    assert merge(document, part(late, updated=12)) is document
    both = joined(part(early.timeline[0], late))
    assert len(both.timeline) == 1


def test_a_job_that_was_cancelled_when_it_was_requeued_has_ended() -> None:
    requeued = told(9, State.PENDING, word="REQUEUED")
    cancelled = told(9, State.CANCELLED, word="CANCELLED by 7")
    assert joined(part(cancelled, requeued)).state is State.CANCELLED
    again = joined(part(cancelled, requeued), part(told(20, State.RUNNING, word="RUNNING")))
    assert again.state is State.RUNNING
    failed = told(9, State.FAILED, word="FAILED")
    assert joined(part(requeued, failed)).state is State.PENDING


@pytest.mark.parametrize("turned", [False, True])
def test_a_suspended_job_ends_behind_its_suspension(turned: bool) -> None:
    # Slurm dates the end of a job that was suspended back to when it was.
    seen = part(told(4, State.RUNNING, "squeue"), told(9, State.SUSPENDED, "squeue"))
    account = part(told(4, State.RUNNING), told(8, State.CANCELLED, word="CANCELLED by 7"))
    document = joined(*((account, seen) if turned else (seen, account)))
    assert states(document) == [State.RUNNING, State.SUSPENDED, State.CANCELLED]
    assert merge(document, seen) is document
    again = joined(document, part(told(9, State.RUNNING)), seen)
    assert again.state is State.SUSPENDED


def test_no_job_starts_after_its_end_unless_it_is_submitted_again() -> None:
    # The controller dates a start a little later than the accounts, and a requeued job's by guess.
    ended = part(told(3, State.PENDING), told(4, State.RUNNING), told(5, State.CANCELLED))
    seen = part(told(3, State.PENDING, "squeue"), told(6, State.RUNNING, "squeue"))
    for document in (merge(merge(None, ended), seen), merge(merge(None, seen), ended)):
        assert document.state is State.CANCELLED
        assert document.timeline[-1].state is State.CANCELLED
    again = merge(document, part(told(6, State.PENDING, "squeue")))
    assert again.state is State.RUNNING


def test_what_the_queue_still_showed_is_not_behind_the_end() -> None:
    # Slurm dates a start to the beginning of a cycle of its scheduler, which may last.
    seen = told(9, State.PENDING, "squeue", word="PENDING", reason="Priority")
    account = (told(4, State.PENDING), told(8, State.RUNNING), told(8, State.COMPLETED))
    document = joined(part(seen), part(*account))
    assert document.state is State.COMPLETED
    requeued = told(8.5, State.PENDING, "squeue", word="REQUEUED")
    assert joined(document, part(requeued)).state is State.PENDING


def test_a_guess_stands_though_an_earlier_run_had_ended() -> None:
    first = (told(1, State.RUNNING), told(5, State.COMPLETED))
    second = (told(6, State.PENDING, word="REQUEUED"), told(17, State.RUNNING, "squeue"))
    guess = told(30, State.UNKNOWN_END, "squeue", word="GONE")
    document = joined(part(*first, *second), part(guess))
    assert document.state is State.UNKNOWN_END
    assert joined(document, part(told(20, State.FAILED))).state is State.FAILED


def test_two_holds_of_one_second_in_one_log_are_two() -> None:
    holds = [record(1, 12, at, hold_code=3, state=State.HELD) for at in (10, 20)]
    copy = [record(1, 12, at, "zz", hold_code=3, state=State.HELD) for at in (0, 5)]
    assert joined(part(*copy), part(*holds)).timeline == tuple(holds)
    assert joined(part(*holds), part(*copy)).timeline == tuple(holds)


def test_within_a_log_its_order_counts_even_where_its_clock_steps_back() -> None:
    back = [record(9, 0, 0), record(3, 1, 50), record(10, 5, 90)]
    document = joined(part(back[2]), part(back[0]), part(back[1], told(9.5, source="squeue")))
    assert [event.position for event in document.timeline] == [0, 50, None, 90]


def test_a_requeued_job_is_pending_again() -> None:
    failed = told(5, State.NODE_FAIL, word="NODE_FAIL")
    again = told(5, State.PENDING, word="REQUEUED")
    for parts in ([failed, again], [again, failed]):
        document = joined(*(part(one) for one in parts))
        assert states(document) == [State.NODE_FAIL, State.PENDING]
        assert document.state is State.PENDING


def test_of_things_told_for_one_moment_the_later_in_life_comes_last() -> None:
    document = joined(
        part(told(1, State.COMPLETED), told(1, State.RUNNING), told(1, State.PENDING))
    )
    assert states(document) == [State.PENDING, State.RUNNING, State.COMPLETED]


def test_a_guessed_end_goes_once_the_end_is_told() -> None:
    guess = part(told(9, State.RUNNING), told(20, State.UNKNOWN_END, "squeue"))
    assert joined(guess).state is State.UNKNOWN_END
    end = part(told(15, State.FAILED))
    for parts in ((guess, end), (end, guess), (guess, end, guess)):
        assert joined(*parts).state is State.FAILED
        assert State.UNKNOWN_END not in states(joined(*parts))


def test_a_guessed_end_goes_once_the_job_is_seen_again() -> None:
    guess = part(told(20, State.UNKNOWN_END, "squeue"))
    assert states(joined(guess, part(told(30, State.RUNNING)))) == [State.RUNNING]
    assert joined(guess, part(told(10, State.RUNNING))).state is State.UNKNOWN_END


def test_of_two_guesses_the_one_that_still_stands_is_kept() -> None:
    seen = part(told(10, State.RUNNING))
    early, late = (part(told(at, State.UNKNOWN_END, "squeue")) for at in (5, 20))
    for parts in ((early, seen, late), (late, early, seen), (seen, late, early)):
        assert states(joined(*parts)) == [State.RUNNING, State.UNKNOWN_END]


def loop(count: int, source: str = "log") -> list[Event]:
    return [record(at, 12, 10 * at, source, state=State.HELD) for at in range(count)]


def test_of_a_long_timeline_the_middle_is_dropped_and_counted() -> None:
    events = loop(MOST_EVENTS + 250)
    document = joined(part(*events))
    assert document.dropped == 250
    assert document.timeline == (*events[:FIRST_EVENTS], *events[FIRST_EVENTS + 250 :])
    assert merge(document, part(*events)) is document


def test_what_one_store_dropped_another_knows_to_be_missing() -> None:
    document = joined(part(*loop(MOST_EVENTS + 7)))
    assert joined(document) == document
    assert merge(joined(part(*loop(5))), document).dropped == 7
    asked = joined(part(told(1, State.RUNNING), dropped=3))
    assert asked.dropped == 3


def test_what_was_dropped_does_not_come_back_from_another_source() -> None:
    events = loop(MOST_EVENTS + 50)
    asked = [told(at, State.RUNNING, "squeue") for at in (50, 120, 500)]
    document = joined(part(*events), part(*asked))
    assert merge(document, part(*asked)) is document
    assert merge(document, part(*events)) is document
    assert document.dropped == 52
    assert len(document.timeline) == MOST_EVENTS


def test_the_newest_predictions_are_kept_once_each() -> None:
    def said(at: int) -> Prediction:
        return Prediction(question="hold", model="m", time=at, inputs="", answer={"at": at})

    document = joined(*(part(predictions=(said(at),)) for at in range(MOST_PREDICTIONS + 5)))
    assert [one.time for one in document.predictions] == list(range(5, MOST_PREDICTIONS + 5))
    assert merge(document, part(predictions=(said(50), said(1)))) is document


def test_predictions_of_one_moment_have_one_order() -> None:
    one, two = (
        Prediction(question="hold", model=name, time=1, inputs="", answer={}) for name in "ab"
    )
    document = joined(part(predictions=(two,)), part(predictions=(one,)))
    assert document.predictions == (one, two)
    assert merge(document, part(predictions=(two,))) is document
