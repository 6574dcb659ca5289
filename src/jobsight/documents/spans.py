"""A timeline as a job's life: in which state it was from when to when."""

from __future__ import annotations

from typing import NamedTuple

from jobsight.documents.document import JobDocument
from jobsight.documents.states import State

__all__ = ["Run", "Span", "life", "ran", "runs", "spans", "submitted", "time_of"]


_ONE_RUN = {State.RUNNING, State.SUSPENDED}


class Span(NamedTuple):
    """A stretch in one state."""

    state: State
    start: int
    """µs since 1970."""
    end: int | None
    """None: it lasts, as far as is known."""


def spans(document: JobDocument) -> list[Span]:
    """The states of a job in order, each from where the one before ended.

    Times never step back: an entry dated before the one in front of it counts as of that one. An
    end (`State.ended`) is no span; a job that was requeued after it goes on with the next.
    """
    found: list[Span] = []
    state: State | None = None
    since = document.submission.submitted
    if since is not None and (not document.timeline or since < document.timeline[0].time):
        state = State.PENDING
    clock = since if state is not None and since is not None else -(2**63)
    start = clock
    for event in document.timeline:
        clock = max(clock, event.time)
        if event.state is None or event.state is state:
            continue
        if state is not None and not state.ended:
            found.append(Span(state, start, clock))
        state, start = event.state, clock
    if state is not None and not state.ended:
        found.append(Span(state, start, None))
    return found


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
    seconds: float
    """Without what it was suspended for."""
    lasts: bool
    """Whether it has not ended, as far as is known."""


def runs(document: JobDocument, now: int) -> list[Run]:
    """The runs of a job in order, a present one until `now`; none: it never ran, for all we know.

    Args:
        document: of the job.
        now: µs since 1970.
    """
    found: list[Run] = []
    before: Span | None = None
    for span in spans(document):
        end = max(now, span.start) if span.end is None else span.end
        seconds = (end - span.start) / 1e6 if span.state is State.RUNNING else 0.0
        if found and before is not None and _goes_on(before, span):
            found[-1] = Run(found[-1].start, found[-1].seconds + seconds, span.end is None)
        elif span.state is State.RUNNING:
            found.append(Run(span.start, seconds, span.end is None))
        before = span
    return found


def _goes_on(before: Span, span: Span) -> bool:
    """Whether a run that was suspended, or is now, is the same one."""
    return before.end == span.start and {before.state, span.state} == _ONE_RUN


def ran(document: JobDocument, now: int) -> float | None:
    """Seconds that a job ran, all its runs together; None: nobody tells.

    The timeline tells it, whatever source filled it. Only where it has no start, or where some of
    it was not kept, it is what a source said (`Usage.wall_s`), which may be of the last run alone.

    Args:
        document: of the job.
        now: µs since 1970, until when a present run counts.
    """
    told = document.usage.wall_s
    if document.dropped and told is not None:
        return told
    found = runs(document, now)
    return sum(run.seconds for run in found) if found else told


def submitted(document: JobDocument) -> int | None:
    """When the job came to be, as told, else as of its first entry; µs, None: not known."""
    if document.submission.submitted is not None:
        return document.submission.submitted
    return document.timeline[0].time if document.timeline else None


def time_of(document: JobDocument) -> int:
    """When the last thing happened to the job, µs: by this stores put documents in order.

    Its latest timeline entry, else its submission, else when a source looked.
    """
    if document.timeline:
        return max([event.time for event in document.timeline])
    if document.submission.submitted is not None:
        return document.submission.submitted
    return document.updated
