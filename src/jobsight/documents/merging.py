"""Joining what several sources know of one job; state and outcome follow from the timeline.

The rules. *Sections*: field by field, what the newer document knows, else what the older one knows;
largest memory is the larger of both, and a job was submitted when it was first. *Timeline*: the
union. A record of a log is known by its place in the log, anything else by what it says; an event
that two sources tell of counts once: a record of a log before the word of a scheduler, and what it
left out is filled in, but a record of a log stays as the log has it, and nobody's words become
another's. Within one source the order is that of its positions; between sources it is that of time.
The files of one rotated log, named ``<log>#<file>``, are one source. *State*: of the last event
that has one.

So a document merged twice changes nothing, the parts of a log may come in pieces of any size, and
the timeline is the same in whatever order two sources are heard.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from jobsight.documents.document import (
    Event,
    JobDocument,
    Outcome,
    Prediction,
    Submission,
    Usage,
)
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
        timeline = _in_order(new.timeline)
        if timeline is not None:
            return _alone(new, timeline)
        old = JobDocument(id=new.id, updated=new.updated)
    elif old.id != new.id:
        raise ValueError(f"{new.id!r} cannot be merged into {old.id!r}")
    first, second = (new, old) if _is_later(new, old) else (old, new)
    timeline, dropped = _union(old, new.timeline)
    state, outcome = _derive(timeline)
    merged = JobDocument(
        id=old.id,
        updated=old.updated,
        state=state,
        request=_fill(first.request, second.request),
        submission=_submission(first.submission, second.submission),
        program=_fill(first.program, second.program),
        timeline=timeline,
        dropped=max(dropped, new.dropped),
        usage=_usage(first.usage, second.usage),
        outcome=outcome,
        predictions=_predictions(old.predictions, new.predictions),
        unknown=_unknown(first.unknown, second.unknown),
    )
    if merged == old:
        return old
    return msgspec.structs.replace(merged, updated=max(old.updated, new.updated))


def _in_order(timeline: tuple[Event, ...]) -> tuple[Event, ...] | None:
    """A timeline in order, if there is nothing to be joined in it; None: there may be.

    That is so where one source tells of each thing once, without positions: what is imported. It
    is found out many times as fast as by joining.
    """
    if len(timeline) > MOST_EVENTS:
        return None
    for event in timeline:
        if event.position is not None or event.state is State.UNKNOWN_END:
            return None
        if event.source != timeline[0].source:
            return None
    if all(one.time < other.time for one, other in itertools.pairwise(timeline)):
        return timeline
    keyed = sorted(((_within_source(event), event) for event in timeline), key=lambda pair: pair[0])
    if any(one[0] == other[0] for one, other in itertools.pairwise(keyed)):
        return None
    return tuple(event for _, event in keyed)


def _alone(new: JobDocument, timeline: tuple[Event, ...]) -> JobDocument:
    """The document of a job that nothing is known of but `new`, whose timeline is in order."""
    state, outcome = _derive(timeline)
    return msgspec.structs.replace(
        new,
        state=state,
        outcome=outcome,
        timeline=timeline,
        predictions=_predictions((), new.predictions),
    )


def _is_later(new: JobDocument, old: JobDocument) -> bool:
    """Whether what `new` says of the job goes before what `old` says.

    Of one log the later records do, whenever they are read and whatever its clock shows.
    """
    if new.timeline and old.timeline:
        this, that = new.timeline[-1], old.timeline[-1]
        both = this.position is not None and that.position is not None
        places = [(one.source, one.position or 0) for one in (this, that)]
        # What is told again decides nothing by its place: it may have been the older before.
        if both and _teller(this) == _teller(that) and places[0] != places[1]:
            return places[0] > places[1]
    return new.updated >= old.updated


def _fill(first: _Section, second: _Section) -> _Section:
    """`first`, its unknown fields (None) taken from `second`."""
    if first == second:
        return second
    gaps = {
        name: value
        for name in first.__struct_fields__
        if getattr(first, name) is None and (value := getattr(second, name)) is not None
    }
    kept = _unknown(getattr(first, "unknown", None), getattr(second, "unknown", None))
    if kept != getattr(first, "unknown", None):
        gaps["unknown"] = kept
    return msgspec.structs.replace(first, **gaps) if gaps else first


def _submission(first: Submission, second: Submission) -> Submission:
    filled = _fill(first, second)
    known = [one.submitted for one in (first, second) if one.submitted is not None]
    if known and min(known) != filled.submitted:
        return msgspec.structs.replace(filled, submitted=min(known))
    return filled


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
    ordered = sorted(known.values(), key=lambda one: (one.time, one.question, one.model))
    return tuple(ordered[-MOST_PREDICTIONS:])


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
    known = {
        _identity(event): _Told(event, _part(old, at)) for at, event in enumerate(old.timeline)
    }
    changed = False
    for event in new:
        told = known.setdefault(_identity(event), _Told(event))
        filled = _fill(told.event, event)
        changed = changed or told.event is event or filled != told.event
        told.event = filled
    if not changed:
        return old.timeline, old.dropped
    folded = _without_guesses(_folded(list(known.values())))
    timeline, dropped = _bounded(_without_dropped(_ordered(folded)), old.dropped)
    if dropped:
        # With less between them, a clock that had stepped forth may order the rest anew.
        timeline = tuple(told.event for told in _ordered([_Told(event) for event in timeline]))
    return timeline, dropped


@dataclass(slots=True)
class _Told:
    """An event on its way into a timeline."""

    event: Event
    part: int = 0
    """-1: it stood before the entries that were dropped, 1: behind them, 0: it is new."""


def _part(old: JobDocument, at: int) -> int:
    return (-1 if at < FIRST_EVENTS else 1) if old.dropped else 0


def _continues(old: tuple[Event, ...], new: tuple[Event, ...]) -> bool:
    """Whether `new` is simply what the one source of `old` wrote next: by far the usual case."""
    source, teller, before = new[0].source, _teller(new[0]), ("", -1)
    if old:
        for event in old:
            known = event.source == source or _teller(event) == teller
            if not known or event.position is None:
                return False
        before = old[-1].source, old[-1].position or 0
    for event in new:
        known = event.source == source or _teller(event) == teller
        if not known or event.position is None or (event.source, event.position) <= before:
            return False
        before = event.source, event.position
    return True


def _teller(event: Event) -> str:
    """Who told of an event; the files of one rotated log, ``<log>#<file>``, are one."""
    return event.source.partition("#")[0]


def _identity(event: Event) -> tuple[object, ...]:
    if event.position is not None:
        return (event.source, event.position, event.code)
    return (event.source, event.time, event.code, event.state, event.word, event.reason)


def _folded(all_told: list[_Told]) -> list[_Told]:
    """What several sources tell of counts once, as the most trusted of them tells it.

    A record of a log is trusted before what a scheduler was asked; among equals the name decides,
    so that the order in which they were heard does not.
    """
    groups: dict[tuple[object, ...], list[_Told]] = {}
    for told in sorted(all_told, key=lambda one: _trust(one.event)):
        groups.setdefault(_content(told.event), []).append(told)
    kept: list[_Told] = []
    for group in groups.values():
        kept += _fold(group, _teller(group[0].event))
    return _without_sightings(kept)


def _fold(group: list[_Told], teller: str) -> list[_Told]:
    """The events of `teller`, the others of the group filled into the first of them."""
    mine = [told for told in group if _teller(told.event) == teller]
    for told in group:
        if _teller(told.event) != teller:
            _absorb(mine[0], told)
    return mine


def _absorb(told: _Told, twin: _Told) -> None:
    if told.event.position is None:
        # Word and reason are what the event is known by when its source tells it again.
        same: dict[str, Any] = {"word": told.event.word, "reason": told.event.reason}
        if told.event.return_value is not None or told.event.signal is not None:
            # The one being unknown says something of the other.
            same |= {"return_value": told.event.return_value, "signal": told.event.signal}
        told.event = _fill(told.event, msgspec.structs.replace(twin.event, **same))
    elif twin.event.position is not None:
        told.event = _fill(told.event, twin.event)
    told.part = told.part or twin.part


def _without_sightings(all_told: list[_Told]) -> list[_Told]:
    """Without bare states that a record with an event number, of another source, tells of."""
    records: dict[tuple[int, State], list[_Told]] = {}
    for told in all_told:
        if told.event.code is not None and told.event.state is not None:
            records.setdefault((told.event.time // _MICROS, told.event.state), []).append(told)
    kept = []
    for told in all_told:
        event = told.event
        of_others: Iterator[_Told] = iter(())
        if event.code is None and event.state is not None:
            like = records.get((event.time // _MICROS, event.state), [])
            of_others = (one for one in like if _teller(one.event) != _teller(event))
        record = next(of_others, None)
        if record is None:
            kept.append(told)
        else:
            _absorb(record, told)
    return kept


def _trust(event: Event) -> tuple[Any, ...]:
    return (event.position is None, _teller(event), *_within_source(event))


def _content(event: Event) -> tuple[object, ...]:
    """What an event says, so that another source's word of it is recognised."""
    second = event.time // _MICROS
    if event.code is None:
        told = event.word if event.state is None else None
        return (second, event.state, told)
    held = (event.hold_code, event.hold_subcode)
    return (second, event.code, event.state, event.subproc, event.detail, *held)


def _without_guesses(all_told: list[_Told]) -> list[_Told]:
    """Without an end that nobody told, once somebody tells how the job ended or goes on."""
    sure = [told.event for told in all_told if told.event.state and not _is_guess(told.event)]
    ended = any(event.state is not None and event.state.ended for event in sure)
    last = max((event.time for event in sure), default=_NEVER)
    return [
        told
        for told in all_told
        if not _is_guess(told.event) or not (ended or last > told.event.time)
    ]


def _is_guess(event: Event) -> bool:
    return event.state is State.UNKNOWN_END and event.position is None


def _without_dropped(ordered: list[_Told]) -> list[Event]:
    """Without new events that lie where entries were dropped before."""
    first = max((at for at, told in enumerate(ordered) if told.part < 0), default=len(ordered))
    last = min((at for at, told in enumerate(ordered) if told.part > 0), default=0)
    return [told.event for at, told in enumerate(ordered) if told.part or not first < at < last]


def _ordered(all_told: list[_Told]) -> list[_Told]:
    """By time between sources, by position within one, even where its clock stepped back."""
    sources: dict[tuple[str, bool], list[_Told]] = {}
    for told in all_told:
        key = (_teller(told.event), told.event.position is None)
        sources.setdefault(key, []).append(told)
    sequences = [_in_sequence(sources[name]) for name in sorted(sources)]
    return [key[2] for key in heapq.merge(*sequences, key=lambda key: key[:2])]


def _in_sequence(all_told: list[_Told]) -> list[tuple[int, int, _Told]]:
    """One source's events in order, each with its time, which never steps back, and its rank."""
    keyed: list[tuple[int, int, _Told]] = []
    clock = _NEVER
    for told in sorted(all_told, key=_place):
        clock = max(clock, told.event.time)
        keyed.append((clock, _rank(told.event), told))
    return keyed


def _place(told: _Told) -> tuple[Any, ...]:
    return _within_source(told.event)


def _within_source(event: Event) -> tuple[Any, ...]:
    place = -1 if event.position is None else event.position
    code = -1 if event.code is None else event.code
    words = (event.state or "", event.word or "", event.reason or "")
    return (event.source, place, event.time, _rank(event), code, *words)


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
