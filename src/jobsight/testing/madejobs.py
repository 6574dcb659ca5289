"""Made-up job documents, for tests of stores."""

from __future__ import annotations

from jobsight.documents import Event, JobDocument, State, Submission, condor_id, merge

__all__ = ["HOSTILE", "NOON", "event", "made_document", "made_partial"]

NOON = 1_700_000_000_000_000
"""A moment, µs since 1970."""

HOSTILE = (
    "'; DROP TABLE jobs; --",
    "nul\0, bell\a, escape\x1b[31m, newline\n",
    "*?[a-z]{x}\\ %s %00 $(rm -rf /)",
    "\u202e\u2066 backwards, \U0001f525, \ufffe\uffff",
    "sha256:0000",
    "x" * 5000,
    "",
)
"""Texts that some store, shell, terminal or pattern would trip over."""


def event(time: int, state: State | None, *, position: int, source: str = "log") -> Event:
    """One entry of a timeline, as a log records it."""
    return Event(time=time, source=source, position=position, state=state, code=1)


def made_partial(
    number: int,
    *events: Event,
    user: str | None = None,
    script: str | None = None,
    access_point: str = "ap.example.org",
) -> JobDocument:
    """What a source knows of job ``<number>.0``."""
    return JobDocument(
        id=condor_id(access_point, number, 0),
        updated=max((entry.time for entry in events), default=NOON),
        submission=Submission(user=user, script=script),
        timeline=events,
    )


def made_document(
    number: int,
    state: State | None = State.COMPLETED,
    *,
    time: int = NOON,
    user: str | None = "ada",
    script: str | None = None,
    access_point: str = "ap.example.org",
) -> JobDocument:
    """A whole document of job ``<number>.0``, to which something last happened at `time`."""
    first = event(time - 1_000_000, State.PENDING, position=number * 1000)
    last = event(time, state, position=number * 1000 + 1)
    events = (first,) if state is State.PENDING else (first, last)
    return merge(
        None,
        made_partial(number, *events, user=user, script=script, access_point=access_point),
    )
