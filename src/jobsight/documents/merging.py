"""Joining what several sources know of one job; state and outcome follow from the timeline.

The rules. *Sections*: field by field, what the newer document knows, else what the older one knows;
largest memory is the larger of both, and a job was submitted when it was first. *Timeline*: the
union. A record of a log is identified by its place in the log, anything else by its content; an
event that two sources report counts once: a record of a log before the report of a scheduler, which
fills in what the other left out; but a record of a log stays as the log has it, and words of one
source never become another's. What messages report (``jobcomp``) only fills in what a scheduler's
own tools report, scripts included, and an end in them that comes after the end which the tools
report is left out. Within one source the order is that of its positions; between sources it is that
of time. The files of one rotated log, named ``<log>#<file>``, are one source. *State*: of the last
event that has one; an HTCondor job that is removed after it terminated (``leave_in_queue``) ended
as it terminated, and a failure that was a kill for memory is one out of memory (`states.end_of`).

So a document merged twice changes nothing, the parts of a log may come in pieces of any size, and
the timeline is the same in whatever order two sources are heard. With one exception: an inferred
end that was dropped for a reported end stays dropped, though it be reported later that the job had
gone on. Then the job counts as active, and is looked up when collecting begins anew.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from jobsight.codes import EventCode
from jobsight.documents.document import (
    Event,
    JobDocument,
    Outcome,
    Prediction,
    Request,
    Submission,
    Usage,
    fill,
)
from jobsight.documents.states import State, end_of
from jobsight.documents.timelines import (
    FIRST_EVENTS,
    MESSAGES,
    MOST_EVENTS,
    in_order,
    origin_of,
    union,
)

__all__ = [
    "FIRST_EVENTS", "MOST_EVENTS", "MOST_PREDICTIONS", "last_with_state", "merge", "state_after",
]  # fmt: skip

MOST_PREDICTIONS = 100
"""Predictions kept of a job, the newest."""

# For speed.
_ABORTED, _SUBMITTED, _TERMINATED = EventCode.ABORTED, EventCode.SUBMIT, EventCode.TERMINATED


def merge(old: JobDocument | None, new: JobDocument) -> JobDocument:
    """What `old` and `new` know together; `old` itself where `new` adds nothing.

    Args:
        old: the document so far, itself a result of `merge`; None: there is none.
        new: what a source knows; its `state` and `outcome` are not read.

    Raises:
        ValueError: the two are of different jobs.
    """
    if old is None:
        timeline = in_order(new.timeline)
        if timeline is not None:
            return _alone(new, timeline)
        old = JobDocument(id=new.id, updated=new.updated)
    elif old.id != new.id:
        raise ValueError(f"{new.id!r} cannot be merged into {old.id!r}")
    first, second = (new, old) if _is_later(new, old) else (old, new)
    timeline, dropped = union(old, new.timeline)
    request = fill(first.request, second.request)
    usage = _join_usages(first.usage, second.usage)
    state, outcome = _derive(timeline, request, usage)
    merged = JobDocument(
        id=old.id,
        updated=old.updated,
        state=state,
        request=request,
        submission=_join_submissions(first.submission, second.submission),
        program=fill(first.program, second.program),
        timeline=timeline,
        dropped=max(dropped, new.dropped),
        usage=usage,
        outcome=outcome,
        predictions=_join_predictions(old.predictions, new.predictions),
    )
    if merged == old:
        return old
    return msgspec.structs.replace(merged, updated=max(old.updated, new.updated))


def _alone(new: JobDocument, timeline: tuple[Event, ...]) -> JobDocument:
    """The document of a job that nothing is known of but `new`, whose timeline is in order."""
    state, outcome = _derive(timeline, new.request, new.usage)
    return msgspec.structs.replace(
        new,
        state=state,
        outcome=outcome,
        timeline=timeline,
        predictions=_join_predictions((), new.predictions),
    )


def _join_submissions(first: Submission, second: Submission) -> Submission:
    """`first` with its gaps filled; of a job that was submitted twice, when it was first."""
    filled = fill(first, second)
    known = [one.submitted for one in (first, second) if one.submitted is not None]
    if known and min(known) != filled.submitted:
        return msgspec.structs.replace(filled, submitted=min(known))
    return filled


def _join_usages(first: Usage, second: Usage) -> Usage:
    """`first` with its gaps filled, and the larger memory of both."""
    filled = fill(first, second)
    most = max(first.memory_mb or 0, second.memory_mb or 0)
    if most and most != filled.memory_mb:
        return msgspec.structs.replace(filled, memory_mb=most)
    return filled


def _join_predictions(
    old: tuple[Prediction, ...], new: tuple[Prediction, ...]
) -> tuple[Prediction, ...]:
    """Each once, by time, the newest `MOST_PREDICTIONS` of them."""
    if not new:
        return old
    known = {(said.question, said.model, said.time): said for said in (*new, *old)}
    ordered = sorted(known.values(), key=lambda said: (said.time, said.question, said.model))
    return tuple(ordered[-MOST_PREDICTIONS:])


def _is_later(new: JobDocument, old: JobDocument) -> bool:
    """Whether what `new` says of the job goes before what `old` says.

    Of one log the later records do, whenever they are read and whatever its clock shows. A message
    never does before a scheduler's own tools.
    """
    messages = [
        bool(one.timeline) and all(event.source == MESSAGES for event in one.timeline)
        for one in (new, old)
    ]
    if messages[0] != messages[1]:
        return messages[1]
    this = _last_record(new.timeline)
    that = this and _last_record(old.timeline, origin_of(this))
    if this and that:
        places = [(one.source, one.position or 0) for one in (this, that)]
        # What is reported again decides nothing by its place: it may have been the older before.
        if places[0] != places[1]:
            return places[0] > places[1]
    return new.updated >= old.updated


def _last_record(timeline: Sequence[Event], origin: str | None = None) -> Event | None:
    """The last event that has a place in a log, or in the log of an origin."""
    for event in reversed(timeline):
        if event.position is not None and origin in (None, origin_of(event)):
            return event
    return None


def _derive(
    timeline: Sequence[Event], request: Request, usage: Usage
) -> tuple[State | None, Outcome | None]:
    """The state and the outcome that a timeline leads to."""
    last = last_with_state(timeline)
    if last is None or last.state is None:
        return None, None
    if not last.state.ended:
        return last.state, None
    state = state_after(last, request, usage)
    return state, Outcome(
        state=state,
        ended=None if last.undated else last.time,
        exit_code=last.return_value,
        signal=last.signal,
        reason=last.reason,
    )


def state_after(event: Event, request: Request, usage: Usage) -> State:
    """The state after the last event of a job that has one, see `end_of`."""
    assert event.state is not None
    if event.state is not State.FAILED:
        return event.state
    nodes = max(usage.nodes or request.nodes or 1, 1)
    limit = None if request.memory_mb is None else request.memory_mb / nodes
    return end_of(
        event.state, event.return_value, event.signal, event.reason,
        used_mb=usage.memory_mb, limit_mb=limit,
    )  # fmt: skip


def last_with_state(timeline: Sequence[Event]) -> Event | None:
    """The event that the state follows from.

    A submission follows no state but an end: a schedd may write it (000) a second after the hold
    or the start that the ad dates.
    """
    last = submitted = None
    for event in reversed(timeline):
        if event.state is None:
            continue
        if event.code == _SUBMITTED:
            submitted = submitted or event
        elif submitted is not None and last is None and event.state.ended:
            return submitted
        elif event.code != _ABORTED:
            return event if last is None or event.code == _TERMINATED else last
        else:
            last = last or event
    return last or submitted
