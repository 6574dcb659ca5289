"""Joining timelines: the union of what all sources report, each event once, in order.

The rules are in `jobsight.documents.merging`.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from jobsight.documents.document import Event, JobDocument, fill
from jobsight.documents.states import State

__all__ = [
    "FIRST_EVENTS",
    "GONE",
    "MESSAGES",
    "MOST_EVENTS",
    "in_order",
    "is_wait",
    "origin_of",
    "union",
]

MOST_EVENTS = 1000
"""Entries kept of a timeline; beyond, the middle is dropped and counted (a job that is held and
released in a loop writes thousands of events a day)."""

FIRST_EVENTS = 100
"""Of these, entries kept from the beginning."""

_TRUSTED = ("sacct", "condor_history", "scontrol", "squeue", "condor_q")
"""Sources without a log, the best informed first: accounting reports who cancelled a job, and that
it was requeued; a message of its end reports neither."""

MESSAGES = "jobcomp"
"""The source of messages; the scheduler's own tools are believed before them."""

_RANK = {state: rank for rank, state in enumerate(State)}
_MICROS = 1_000_000
_UNKNOWN_END = State.UNKNOWN_END  # asked for each event of each document
_NEVER = -(2**63)

GONE = "GONE"
"""Word of an end that is inferred from a job's absence from the queue alone."""


def in_order(timeline: tuple[Event, ...]) -> tuple[Event, ...] | None:
    """A timeline in order, if there is nothing to be joined in it; None: there may be.

    That is so where one source reports each event once, without positions: what is imported. This
    is many times as fast as joining.
    """
    if len(timeline) > MOST_EVENTS:
        return None
    source = timeline[0].source if timeline else ""
    clock, ended, ordered, ends_last = _NEVER, False, True, True
    for event in timeline:
        state, time = event.state, event.time
        if event.position is not None or event.source != source:
            return None
        if state is _UNKNOWN_END or event.word == GONE:
            return None
        if time <= clock:
            ordered = False
        if ended:
            ends_last = False
        clock, ended = time, state is not None and state.ended
    if ordered:
        return timeline if ends_last else tuple(_with_ends_last(timeline))
    if len({_identity(event) for event in timeline}) < len(timeline):
        return None
    return tuple(_with_ends_last(sorted(timeline, key=_within_source)))


def union(old: JobDocument, new: tuple[Event, ...]) -> tuple[tuple[Event, ...], int]:
    """The timeline of `old` with `new` in it, and how many entries it lacks."""
    if not new:
        return old.timeline, old.dropped
    if _continues(old.timeline, new):
        return _bounded((*old.timeline, *new), old.dropped)
    before, behind = (-1, 1) if old.dropped else (0, 0)
    known = {
        _identity(event): _Entry(event, before if at < FIRST_EVENTS else behind)
        for at, event in enumerate(old.timeline)
    }
    changed = False
    for event in new:
        entry = known.get(_identity(event))
        if entry is None:
            known[_identity(event)] = _Entry(event)
            changed = True
        elif (again := _reported_again(entry.event, event)) != entry.event:
            entry.event = again
            changed = True
    if not changed:
        return old.timeline, old.dropped
    kept = _without_guesses(_folded(list(known.values())))
    ordered = _with_ends_last(_without_dropped(_ordered(kept)))
    timeline, dropped = _bounded(tuple(ordered), old.dropped)
    if dropped:
        # With less between them, a clock that had stepped forth may order the rest anew.
        anew = _ordered([_Entry(event) for event in timeline])
        timeline = tuple(_with_ends_last([entry.event for entry in anew]))
    return timeline, dropped


@dataclass(slots=True)
class _Entry:
    """An event on its way into a timeline."""

    event: Event
    part: int = 0
    """-1: it was before the entries that were dropped, 1: behind them, 0: it is new."""

    @property
    def origin(self) -> str:
        return origin_of(self.event)


def _continues(old: tuple[Event, ...], new: tuple[Event, ...]) -> bool:
    """Whether `new` is simply what the one source of `old` wrote next: by far the usual case."""
    source, origin, before = new[0].source, origin_of(new[0]), ("", -1)
    if old:
        for event in old:
            known = event.source == source or origin_of(event) == origin
            if not known or event.position is None:
                return False
        before = old[-1].source, old[-1].position or 0
    for event in new:
        known = event.source == source or origin_of(event) == origin
        if not known or event.position is None or (event.source, event.position) <= before:
            return False
        before = event.source, event.position
    return True


def origin_of(event: Event) -> str:
    """The source of an event; the files of one rotated log, ``<log>#<file>``, are one."""
    return event.source.partition("#")[0]


def _identity(event: Event) -> tuple[object, ...]:
    if event.position is not None:
        return (event.source, event.position, event.code)
    if event.code is None and event.state is not None and event.state.ended:
        return (event.source, event.time, event.state)  # whatever words it finds for it later
    return (event.source, event.time, event.code, event.state, event.word, event.reason)


def _reported_again(old: Event, new: Event) -> Event:
    """An event that its source reports once more.

    A record of a log stays as it was; a scheduler that is asked again knows better than before.
    """
    if new.position is not None:
        return fill(old, new)
    if new.return_value is not None or new.signal is not None:
        old = msgspec.structs.replace(old, return_value=None, signal=None)
    return fill(new, old)


def _folded(entries: list[_Entry]) -> list[_Entry]:
    """What several sources report counts once, as the most trusted of them reports it.

    A record of a log is trusted before what a scheduler was asked, and accounting before the rest
    (`_TRUSTED`); among equals the name decides, so that the order in which they were heard does
    not.
    """
    groups: dict[tuple[object, ...], list[_Entry]] = {}
    for entry in sorted(entries, key=lambda one: _trust(one.event)):
        groups.setdefault(_content(entry.event), []).append(entry)
    kept: list[_Entry] = []
    for first, *others in groups.values():
        kept.append(first)
        for entry in others:
            if entry.origin == first.origin:
                kept.append(entry)
            else:
                _absorb(first, entry)
    return _without_sightings(kept)


def _absorb(entry: _Entry, duplicate: _Entry) -> None:
    """Fill what another source reports of the same event into an entry."""
    event, other = entry.event, duplicate.event
    if event.position is None:
        # By its word and reason it is recognised when its source reports it again, and it has no
        # position in a log.
        same: dict[str, Any] = {"word": event.word, "reason": event.reason, "position": None}
        if event.return_value is not None or event.signal is not None:
            # The one being unknown says something of the other.
            same |= {"return_value": event.return_value, "signal": event.signal}
        entry.event = fill(event, msgspec.structs.replace(other, **same))
    elif other.position is not None:
        entry.event = fill(event, other)
    entry.part = entry.part or duplicate.part


def _without_sightings(entries: list[_Entry]) -> list[_Entry]:
    """Without bare states that a record with an event number, of another source, reports."""
    records: dict[tuple[int, State | None], list[_Entry]] = {}
    for entry in entries:
        if entry.event.code is not None and entry.event.state is not None:
            key = (entry.event.time // _MICROS, entry.event.state)
            records.setdefault(key, []).append(entry)
    kept = []
    for entry in entries:
        like: list[_Entry] = []
        if entry.event.code is None:
            like = records.get((entry.event.time // _MICROS, entry.event.state), [])
        record = next((one for one in like if one.origin != entry.origin), None)
        if record is None:
            kept.append(entry)
        else:
            _absorb(record, entry)
    return kept


def _trust(event: Event) -> tuple[Any, ...]:
    origin = origin_of(event)
    trust = _TRUSTED.index(origin) if origin in _TRUSTED else len(_TRUSTED)
    return (event.position is None, trust, origin, *_within_source(event))


def _content(event: Event) -> tuple[object, ...]:
    """What an event says, so that another source's report of it is recognised."""
    second = event.time // _MICROS
    if event.code is None:
        # A submission and what the queue shows in its second are two: the latter has the reason.
        return (second, event.state, event.word if event.state is None else None, is_wait(event))
    held = (event.hold_code, event.hold_subcode)
    return (second, event.code, event.state, event.subproc, event.detail, *held)


def _without_guesses(entries: list[_Entry]) -> list[_Entry]:
    """Without an inferred end, once a source reports how the job ended or goes on."""
    if not any(_is_guess(entry.event) for entry in entries):
        return entries
    sure = [entry for entry in entries if entry.event.state and not _is_guess(entry.event)]
    ordered = _with_ends_last([entry.event for entry in _ordered(sure)])
    ended = any(event.state is not None and event.state.ended for event in ordered[-1:])
    last = max((event.time for event in ordered), default=_NEVER)
    return [
        entry
        for entry in entries
        if not _is_guess(entry.event) or not (ended or last > entry.event.time)
    ]


def _is_guess(event: Event) -> bool:
    return event.position is None and (event.state is State.UNKNOWN_END or event.word == GONE)


def _without_dropped(ordered: list[_Entry]) -> list[Event]:
    """Without new events where entries were dropped before."""
    first = max((at for at, entry in enumerate(ordered) if entry.part < 0), default=len(ordered))
    last = min((at for at, entry in enumerate(ordered) if entry.part > 0), default=0)
    return [entry.event for at, entry in enumerate(ordered) if entry.part or not first < at < last]


def _with_ends_last(ordered: Sequence[Event]) -> list[Event]:
    """With no sighting behind an end, unless a report in between made the job live again.

    What the queue shows has the time of the poll. Slurm dates an end back: of a suspended job to
    its suspension, of one that a long cycle of its scheduler started to the cycle's beginning. Nor
    does a job start after its end unless it is submitted again; the controller dates a start a
    little later than the accounts do.
    """
    moved: list[Event] = []
    end: int | None = None
    submitted = _NEVER
    for event in ordered:
        if end is not None and _is_sighting(event, again=submitted == moved[end].time // _MICROS):
            moved.insert(end, event)
            end += 1
            continue
        ended = event.state is not None and event.state.ended
        if end is not None and ended and event.source == MESSAGES and moved[end].source in _TRUSTED:
            continue  # a message reports another end, later than the one of the scheduler itself
        if event.state is not None:
            end = len(moved) if ended else None
        if _is_requeue(event):
            submitted = event.time // _MICROS
        moved.append(event)
    return moved


def _is_sighting(event: Event, *, again: bool) -> bool:
    """Whether it reports not a submission but the state of a job after one.

    Args:
        event: behind an end.
        again: the job was submitted again in the second of that end, so that it may have started.
    """
    if event.position is not None or _is_requeue(event):
        return False
    if event.state is State.RUNNING:
        # Accounts report no start without its submission.
        late = origin_of(event) != _TRUSTED[0] and not again
        return late or event.word == "COMPLETING"
    return is_wait(event) or event.state is State.SUSPENDED


def is_wait(event: Event) -> bool:
    """Whether it is not a submission but what the queue showed of a waiting job at a look.

    Such an entry has a reason, or else the job's priority.
    """
    waits = event.state in (State.PENDING, State.HELD)
    looked = event.source == "squeue" and event.attributes is not None
    return waits and (event.reason is not None or looked)


def _is_requeue(event: Event) -> bool:
    return event.word is not None and event.word.startswith("REQUEUE")


def _ordered(entries: list[_Entry]) -> list[_Entry]:
    """By time between sources, by position within one, even where its clock stepped back."""
    sources: dict[tuple[str, bool], list[_Entry]] = {}
    for entry in entries:
        key = (entry.origin, entry.event.position is None)
        sources.setdefault(key, []).append(entry)
    sequences: list[list[tuple[int, int, _Entry]]] = []
    for name in sorted(sources):
        clock = _NEVER
        sequences.append([])
        for entry in sorted(sources[name], key=lambda entry: _within_source(entry.event)):
            clock = max(clock, entry.event.time)
            sequences[-1].append((clock, _rank(entry.event), entry))
    return [key[2] for key in heapq.merge(*sequences, key=lambda key: key[:2])]


def _within_source(event: Event) -> tuple[Any, ...]:
    place = -1 if event.position is None else event.position
    code = -1 if event.code is None else event.code
    words = (event.state or "", event.word or "", event.reason or "")
    return (event.source, place, event.time, _rank(event), code, *words)


def _rank(event: Event) -> int:
    """Order of events of one moment: a job is pending before it runs before it ends."""
    if event.state is State.CANCELLED:
        # Cancelled when it was requeued; had it been requeued after that, it would go on.
        return len(_RANK) + 1
    if _is_requeue(event):
        return len(_RANK)
    return -1 if event.state is None else _RANK[event.state]


def _bounded(timeline: tuple[Event, ...], dropped: int) -> tuple[tuple[Event, ...], int]:
    surplus = len(timeline) - MOST_EVENTS
    if surplus <= 0:
        return timeline, dropped
    middle = FIRST_EVENTS + surplus
    return timeline[:FIRST_EVENTS] + timeline[middle:], dropped + surplus
