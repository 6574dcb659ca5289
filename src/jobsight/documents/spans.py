"""A timeline as a job's life: in which state it was from when to when."""

from __future__ import annotations

from typing import NamedTuple

from jobsight.documents.document import JobDocument
from jobsight.documents.states import State

__all__ = ["Span", "last_run", "spans", "submitted", "time_of"]


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


def last_run(document: JobDocument) -> Span | None:
    """The job's last, or present, stretch of running; None: it never ran, as far as is known."""
    runs = [span for span in spans(document) if span.state is State.RUNNING]
    return runs[-1] if runs else None


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
        return max(event.time for event in document.timeline)
    if document.submission.submitted is not None:
        return document.submission.submitted
    return document.updated
