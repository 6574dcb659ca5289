"""A timeline as a job's life: in which state it was from when to when."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import NamedTuple

from jobsight.codes import EventCode
from jobsight.documents.document import JobDocument
from jobsight.documents.states import State

__all__ = ["Run", "Span", "life", "ran", "runs", "spans", "submitted", "time_of", "total", "why"]


_TIME = attrgetter("time")
_ONE_RUN = {State.RUNNING, State.SUSPENDED}


class Span(NamedTuple):
    """A stretch in one state."""

    state: State
    start: int
    """µs since 1970."""
    end: int | None
    """None: it lasts, as far as is known."""
    dated: bool = True
    """False: when it began or ended is unknown; `start` and `end` are the last moments known."""

    @property
    def seconds(self) -> float | None:
        """How long it was, of one that does not last; None: unknown."""
        return (self.end - self.start) / 1e6 if self.dated and self.end is not None else None


def total(stretches: Iterable[Span | Run]) -> float | None:
    """Seconds of spans or runs together; None: unknown of one of them, or there are none."""
    each = [stretch.seconds for stretch in stretches]
    known = [seconds for seconds in each if seconds is not None]
    return sum(known) if known and len(known) == len(each) else None


def spans(document: JobDocument) -> list[Span]:
    """The states of a job in order, each from where the one before ended.

    Times never step back: an entry dated before the one in front of it counts as of that one. An
    end (`State.ended`) is not a span; a job that was requeued after it goes on with the next.
    """
    stretches: list[Span] = []
    state: State | None = None
    since = document.submission.submitted
    if since is not None and (not document.timeline or since < document.timeline[0].time):
        state = State.PENDING
    clock = since if state is not None and since is not None else -(2**63)
    start, dated = clock, True
    for event in document.timeline:
        clock = max(clock, event.time)
        if event.state is None or event.state is state:
            continue
        if state is not None and not state.ended and event.code == EventCode.SUBMIT:
            continue  # written late, see `jobsight.documents.merging.last_with_state`
        if state is not None and not state.ended:
            stretches.append(Span(state, start, clock, dated and not event.undated))
        state, start, dated = event.state, clock, not event.undated
    if state is not None and not state.ended:
        stretches.append(Span(state, start, None, dated))
    return stretches


def life(document: JobDocument, now: int) -> list[Span]:
    """The states of a job as by `spans`, the present one until `now`: none lasts any more.

    Args:
        document: of the job.
        now: µs since 1970; where it is before the present state began, that lasts no time.
    """
    return [
        span if span.end is not None else span._replace(end=max(now, span.start))
        for span in spans(document)
    ]


class Run(NamedTuple):
    """One run of a job: from its start until it ended, was held or went back to the queue."""

    start: int
    """µs since 1970."""
    seconds: float | None
    """Without what it was suspended for; None: unknown."""
    lasts: bool
    """Whether it has not ended, as far as is known."""


def runs(document: JobDocument, now: int) -> list[Run]:
    """The runs of a job in order, a present one until `now`; none: it never ran, for all we know.

    Args:
        document: of the job.
        now: µs since 1970.
    """
    runs_: list[Run] = []
    before: Span | None = None
    for span in spans(document):
        lasting = span._replace(end=max(now, span.start)) if span.end is None else span
        seconds = lasting.seconds if span.state is State.RUNNING else 0.0
        # A run that was suspended, or is now, is the same one.
        if (
            runs_
            and before is not None
            and before.end == span.start
            and {before.state, span.state} == _ONE_RUN
        ):
            so_far = runs_[-1].seconds
            both = None if so_far is None or seconds is None else so_far + seconds
            runs_[-1] = Run(runs_[-1].start, both, span.end is None)
        elif span.state is State.RUNNING:
            runs_.append(Run(span.start, seconds, span.end is None))
        before = span
    return runs_


def ran(document: JobDocument, now: int) -> float | None:
    """Seconds that a job ran, all its runs together; None: unknown.

    From the timeline; only where it has no start, no date of an end, or lacks events that were
    dropped, from `Usage.wall_s`, which may be of the last run alone.

    Args:
        document: of the job.
        now: µs since 1970, until when a present run counts.
    """
    reported = document.usage.wall_s
    if document.dropped and reported is not None:
        return reported
    found = total(runs(document, now))
    return reported if found is None else found


def submitted(document: JobDocument) -> int | None:
    """When the job was submitted, as reported, else as of its first entry; µs, None: not known."""
    if document.submission.submitted is not None:
        return document.submission.submitted
    return document.timeline[0].time if document.timeline else None


def time_of(document: JobDocument) -> int:
    """When the last thing happened to the job, µs: by this stores put documents in order.

    Its latest timeline entry, else its submission, else when a source looked.
    """
    if document.timeline:
        latest: int = max(map(_TIME, document.timeline))
        return latest
    if document.submission.submitted is not None:
        return document.submission.submitted
    return document.updated


def why(document: JobDocument) -> str:
    """The reason of a job's state, as last reported: hostile text, empty where it is unknown."""
    if document.outcome is not None:
        reason, code = document.outcome.reason, document.outcome.exit_code
        if reason is None and document.outcome.signal:
            return f"signal {document.outcome.signal}"
        return f"exit code {code}" if reason is None and code else reason or ""
    for event in reversed(document.timeline):
        if event.state is not None and event.state is not document.state:
            break
        if event.reason is not None:
            return event.reason
    return ""
