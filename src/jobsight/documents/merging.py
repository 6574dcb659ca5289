"""Joining what several sources know of one job; state and outcome follow from the timeline.

The rules. *Sections*: field by field, what the newer document knows, else what the older one knows;
largest memory is the larger of both. *Timeline*: the union. A record of a log is known by its
place in the log, anything else by what it says; an event that two sources tell of counts once, from
the source that told it first, and what that source left out is filled in. Within one source the
order is that of its positions; between sources it is that of time. *State*: of the last event that
has one.

So a document merged twice changes nothing, and the parts of a log may come in pieces of any size.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from jobsight.documents.document import Event, JobDocument, Outcome, Prediction, Usage
from jobsight.documents.states import State

__all__ = ["FIRST_EVENTS", "MOST_EVENTS", "MOST_PREDICTIONS", "merge"]

MOST_EVENTS = 1000
"""Entries kept of a timeline; beyond, the middle is dropped and counted (a job that is held and
released in a loop writes thousands of events a day)."""

FIRST_EVENTS = 100
"""Of these, entries kept from the beginning."""

MOST_PREDICTIONS = 100
"""Predictions kept of a job, the newest."""

_Section = TypeVar("_Section", bound=msgspec.Struct)

_RANK = {state: rank for rank, state in enumerate(State)}
_MICROS = 1_000_000
_NEVER = -(2**63)


def merge(old: JobDocument | None, new: JobDocument) -> JobDocument:
    """What `old` and `new` know together; `old` itself where `new` tells nothing new.

    Args:
        old: the document so far, itself a result of `merge`; None: there is none.
        new: what a source knows; its `state` and `outcome` are not looked at.

    Raises:
        ValueError: the two are of different jobs.
    """
    if old is None:
        old = JobDocument(id=new.id, updated=new.updated)
    elif old.id != new.id:
        raise ValueError(f"{new.id!r} cannot be merged into {old.id!r}")
    first, second = (new, old) if new.updated >= old.updated else (old, new)
    timeline, dropped = _union(old, new.timeline)
    state, outcome = _derive(timeline)
    merged = JobDocument(
        id=old.id,
        updated=old.updated,
        state=state,
        request=_fill(first.request, second.request),
        submission=_fill(first.submission, second.submission),
        program=_fill(first.program, second.program),
        timeline=timeline,
        dropped=dropped,
        usage=_usage(first.usage, second.usage),
        outcome=outcome,
        predictions=_predictions(old.predictions, new.predictions),
        unknown=_unknown(first.unknown, second.unknown),
    )
    if merged == old:
        return old
    return msgspec.structs.replace(merged, updated=first.updated)


def _fill(first: _Section, second: _Section) -> _Section:
    """`first`, its unknown fields (None) taken from `second`."""
    if first == second:
        return second
    gaps = {
        name: value
        for name in first.__struct_fields__
        if getattr(first, name) is None and (value := getattr(second, name)) is not None
    }
    return msgspec.structs.replace(first, **gaps) if gaps else first


def _usage(first: Usage, second: Usage) -> Usage:
    filled = _fill(first, second)
    most = max(first.memory_mb or 0, second.memory_mb or 0)
    if most and most != filled.memory_mb:
        return msgspec.structs.replace(filled, memory_mb=most)
    return filled


def _unknown(
    first: dict[str, object] | None, second: dict[str, object] | None
) -> dict[str, object] | None:
    return {**second, **first} if first and second else first or second


def _predictions(
    old: tuple[Prediction, ...], new: tuple[Prediction, ...]
) -> tuple[Prediction, ...]:
    if not new:
        return old
    known = {(one.question, one.model, one.time): one for one in (*new, *old)}
    return tuple(sorted(known.values(), key=lambda one: one.time)[-MOST_PREDICTIONS:])


def _derive(timeline: Sequence[Event]) -> tuple[State | None, Outcome | None]:
    last = next((event for event in reversed(timeline) if event.state is not None), None)
    if last is None or last.state is None:
        return None, None
    if not last.state.ended:
        return last.state, None
    outcome = Outcome(
        state=last.state,
        ended=last.time,
        exit_code=last.return_value,
        signal=last.signal,
        reason=last.reason,
    )
    return last.state, outcome


def _union(old: JobDocument, new: tuple[Event, ...]) -> tuple[tuple[Event, ...], int]:
    """The timeline of `old` with `new` in it, and how many entries it lacks."""
    if not new:
        return old.timeline, old.dropped
    if _continues(old.timeline, new):
        return _bounded((*old.timeline, *new), old.dropped)
    kept = list(old.timeline)
    places = {_identity(event): at for at, event in enumerate(kept)}
    contents: dict[tuple[object, ...], int] = {}
    for at, event in enumerate(kept):
        contents.setdefault(_content(event), at)
    for event in new:
        place = places.get(_identity(event))
        twin = contents.get(_content(event))
        if place is None and twin is not None and kept[twin].source != event.source:
            place = twin
        if place is not None:
            kept[place] = _fill(kept[place], event)
        elif not _was_dropped(old, event):
            places[_identity(event)] = len(kept)
            contents.setdefault(_content(event), len(kept))
            kept.append(event)
    return _bounded(_ordered(_without_guesses(kept)), old.dropped)


def _continues(old: tuple[Event, ...], new: tuple[Event, ...]) -> bool:
    """Whether `new` is simply what the one source of `old` wrote next: by far the usual case."""
    source, before = new[0].source, -1
    if old:
        if old[-1].position is None or any(event.source != source for event in old):
            return False
        before = old[-1].position
    for event in new:
        if event.source != source or event.position is None or event.position <= before:
            return False
        before = event.position
    return True


def _identity(event: Event) -> tuple[object, ...]:
    if event.position is not None:
        return (event.source, event.position, event.code)
    return (event.source, event.time, event.code, event.state, event.word, event.reason)


def _content(event: Event) -> tuple[object, ...]:
    """What an event says, so that another source's word of it is recognised."""
    second = event.time // _MICROS
    if event.code is None:
        told = event.word if event.state is None else None
        return (second, event.state, told)
    return (second, event.code, event.subproc, event.detail, event.hold_code, event.hold_subcode)


def _was_dropped(old: JobDocument, event: Event) -> bool:
    """Whether the event lies where entries of `old` were dropped."""
    if not old.dropped:
        return False
    before, after = old.timeline[FIRST_EVENTS - 1], old.timeline[FIRST_EVENTS]
    if event.position is not None and event.source == before.source == after.source:
        return (before.position or 0) < event.position < (after.position or 0)
    return before.time <= event.time < after.time


def _without_guesses(events: list[Event]) -> list[Event]:
    """Without an end that nobody told, once somebody tells how the job ended or goes on."""
    guesses = [event for event in events if event.state is State.UNKNOWN_END]
    if not guesses:
        return events
    told = any(
        event.state is not None
        and event.state is not State.UNKNOWN_END
        and (event.state.ended or event.time > guesses[0].time)
        for event in events
    )
    return [event for event in events if event.state is not State.UNKNOWN_END] if told else events


def _ordered(events: list[Event]) -> tuple[Event, ...]:
    """By time between sources, by position within one, even where its clock stepped back."""
    sources: dict[str, list[Event]] = {}
    for event in events:
        sources.setdefault(event.source, []).append(event)
    sequences = [_in_sequence(sources[name]) for name in sorted(sources)]
    return tuple(key[2] for key in heapq.merge(*sequences, key=lambda key: key[:2]))


def _in_sequence(events: list[Event]) -> list[tuple[int, int, Event]]:
    """One source's events in order, each with its time, which never steps back, and its rank."""
    keyed: list[tuple[int, int, Event]] = []
    clock = _NEVER
    for event in sorted(events, key=_within_source):
        clock = max(clock, event.time)
        keyed.append((clock, _rank(event), event))
    return keyed


def _within_source(event: Event) -> tuple[int, int, int]:
    place = -1 if event.position is None else event.position
    return (place, event.time, _rank(event))


def _rank(event: Event) -> int:
    """Order of things told for one moment: a job is pending before it runs before it ends."""
    if event.word is not None and event.word.startswith("REQUEUE"):
        return len(_RANK)
    return -1 if event.state is None else _RANK[event.state]


def _bounded(events: Iterable[Event], dropped: int) -> tuple[tuple[Event, ...], int]:
    timeline = tuple(events)
    surplus = len(timeline) - MOST_EVENTS
    if surplus <= 0:
        return timeline, dropped
    middle = FIRST_EVENTS + surplus
    return timeline[:FIRST_EVENTS] + timeline[middle:], dropped + surplus
