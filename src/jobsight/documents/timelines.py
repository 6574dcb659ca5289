"""Joining timelines: the union of what all sources tell, each thing once, in order.

The rules stand in `jobsight.documents.merging`.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from jobsight.documents.document import Event, JobDocument
from jobsight.documents.sections import fill
from jobsight.documents.states import State

__all__ = ["FIRST_EVENTS", "GONE", "MESSAGES", "MOST_EVENTS", "in_order", "teller_of", "union"]

MOST_EVENTS = 1000
"""Entries kept of a timeline; beyond, the middle is dropped and counted (a job that is held and
released in a loop writes thousands of events a day)."""

FIRST_EVENTS = 100
"""Of these, entries kept from the beginning."""

_TRUSTED = ("sacct", "condor_history", "scontrol", "squeue", "condor_q")
"""Of those that have no log, who knows best: accounting tells who cancelled a job, and that it was
requeued; a message of its end tells neither."""

MESSAGES = "jobcomp"
"""The source of messages: whoever can send them is not the scheduler, whose own tools are believed
before them."""

_RANK = {state: rank for rank, state in enumerate(State)}
_MICROS = 1_000_000
_NEVER = -(2**63)

GONE = "GONE"
"""Word of an end that follows from a job's absence from the queue alone."""


def in_order(timeline: tuple[Event, ...]) -> tuple[Event, ...] | None:
    """A timeline in order, if there is nothing to be joined in it; None: there may be.

    That is so where one source tells of each thing once, without positions: what is imported. It
    is found out many times as fast as by joining.
    """
    if len(timeline) > MOST_EVENTS:
        return None
    source = timeline[0].source if timeline else ""
    clock, ended, ordered, settled = _NEVER, False, True, True
    for event in timeline:
        state, time = event.state, event.time
        if event.position is not None or event.source != source:
            return None
        if state is State.UNKNOWN_END or event.word == GONE:
            return None
        if time <= clock:
            ordered = False
        if ended:
            settled = False
        clock, ended = time, state is not None and state.ended
    if ordered:
        return timeline if settled else tuple(_with_ends_last(timeline))
    keyed = sorted(((_within_source(event), event) for event in timeline), key=lambda pair: pair[0])
    if len({_identity(event) for event in timeline}) < len(timeline):
        return None
    return tuple(_with_ends_last([event for _, event in keyed]))


def union(old: JobDocument, new: tuple[Event, ...]) -> tuple[tuple[Event, ...], int]:
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
        told = known.get(_identity(event))
        if told is None:
            known[_identity(event)] = _Told(event)
            changed = True
        elif (again := _told_again(told.event, event)) != told.event:
            told.event = again
            changed = True
    if not changed:
        return old.timeline, old.dropped
    folded = _without_guesses(_folded(list(known.values())))
    ordered = _with_ends_last(_without_dropped(_ordered(folded)))
    timeline, dropped = _bounded(ordered, old.dropped)
    if dropped:
        # With less between them, a clock that had stepped forth may order the rest anew.
        anew = _ordered([_Told(event) for event in timeline])
        timeline = tuple(_with_ends_last([told.event for told in anew]))
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
    source, teller, before = new[0].source, teller_of(new[0]), ("", -1)
    if old:
        for event in old:
            known = event.source == source or teller_of(event) == teller
            if not known or event.position is None:
                return False
        before = old[-1].source, old[-1].position or 0
    for event in new:
        known = event.source == source or teller_of(event) == teller
        if not known or event.position is None or (event.source, event.position) <= before:
            return False
        before = event.source, event.position
    return True


def teller_of(event: Event) -> str:
    """Who told of an event; the files of one rotated log, ``<log>#<file>``, are one."""
    return event.source.partition("#")[0]


def _identity(event: Event) -> tuple[object, ...]:
    if event.position is not None:
        return (event.source, event.position, event.code)
    if event.code is None and event.state is not None and event.state.ended:
        return (event.source, event.time, event.state)  # whatever words it finds for it later
    return (event.source, event.time, event.code, event.state, event.word, event.reason)


def _told_again(old: Event, new: Event) -> Event:
    """What a source tells of an event that it told of before.

    A record of a log stays as it was; a scheduler that is asked again knows better than before.
    """
    if new.position is not None:
        return fill(old, new)
    if new.return_value is not None or new.signal is not None:
        old = msgspec.structs.replace(old, return_value=None, signal=None)
    return fill(new, old)


def _folded(all_told: list[_Told]) -> list[_Told]:
    """What several sources tell of counts once, as the most trusted of them tells it.

    A record of a log is trusted before what a scheduler was asked, and accounting before the rest
    (`_TRUSTED`); among equals the name decides, so that the order in which they were heard does
    not.
    """
    groups: dict[tuple[object, ...], list[_Told]] = {}
    for told in sorted(all_told, key=lambda one: _trust(one.event)):
        groups.setdefault(_content(told.event), []).append(told)
    kept: list[_Told] = []
    for group in groups.values():
        kept += _fold(group, teller_of(group[0].event))
    return _without_sightings(kept)


def _fold(group: list[_Told], teller: str) -> list[_Told]:
    """The events of `teller`, the others of the group filled into the first of them."""
    mine = [told for told in group if teller_of(told.event) == teller]
    for told in group:
        if teller_of(told.event) != teller:
            _absorb(mine[0], told)
    return mine


def _absorb(told: _Told, twin: _Told) -> None:
    if told.event.position is None:
        # Word and reason are what the event is known by when its source tells it again, and that
        # it has no place in a log.
        same: dict[str, Any] = {
            "word": told.event.word, "reason": told.event.reason, "position": None,
        }  # fmt: skip
        if told.event.return_value is not None or told.event.signal is not None:
            # The one being unknown says something of the other.
            same |= {"return_value": told.event.return_value, "signal": told.event.signal}
        told.event = fill(told.event, msgspec.structs.replace(twin.event, **same))
    elif twin.event.position is not None:
        told.event = fill(told.event, twin.event)
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
            of_others = (one for one in like if teller_of(one.event) != teller_of(event))
        record = next(of_others, None)
        if record is None:
            kept.append(told)
        else:
            _absorb(record, told)
    return kept


def _trust(event: Event) -> tuple[Any, ...]:
    teller = teller_of(event)
    trust = _TRUSTED.index(teller) if teller in _TRUSTED else len(_TRUSTED)
    return (event.position is None, trust, teller, *_within_source(event))


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
    sure = [told for told in all_told if told.event.state and not _is_guess(told.event)]
    if not any(_is_guess(told.event) for told in all_told):
        return all_told
    ordered = _with_ends_last([told.event for told in _ordered(sure)])
    ended = any(event.state is not None and event.state.ended for event in ordered[-1:])
    last = max((event.time for event in ordered), default=_NEVER)
    return [
        told
        for told in all_told
        if not _is_guess(told.event) or not (ended or last > told.event.time)
    ]


def _is_guess(event: Event) -> bool:
    return event.position is None and (event.state is State.UNKNOWN_END or event.word == GONE)


def _without_dropped(ordered: list[_Told]) -> list[Event]:
    """Without new events that lie where entries were dropped before."""
    first = max((at for at, told in enumerate(ordered) if told.part < 0), default=len(ordered))
    last = min((at for at, told in enumerate(ordered) if told.part > 0), default=0)
    return [told.event for at, told in enumerate(ordered) if told.part or not first < at < last]


def _with_ends_last(ordered: Sequence[Event]) -> list[Event]:
    """With no sighting behind an end, unless something was told that made the job live again.

    What the queue shows has the time of a look. Slurm dates an end back: of a suspended job to its
    suspension, of one that a long cycle of its scheduler started to the cycle's beginning. Nor does
    a job start after its end unless it is submitted again; the controller dates a start a little
    later than the accounts do.
    """
    moved: list[Event] = []
    end: int | None = None
    submitted = _NEVER
    for event in ordered:
        if end is not None and _is_sighting(event, again=submitted == moved[end].time // _MICROS):
            moved.insert(end, event)
            end += 1
            continue
        if end is not None and _is_denied(event, moved[end]):
            continue
        if event.state is not None:
            end = len(moved) if event.state.ended else None
        if _is_requeue(event):
            submitted = event.time // _MICROS
        moved.append(event)
    return moved


def _is_denied(event: Event, end: Event) -> bool:
    """Whether a message reports another end, later than the one that the scheduler reports."""
    ended = event.state is not None and event.state.ended
    return ended and event.source == MESSAGES and end.source in _TRUSTED


def _is_sighting(event: Event, *, again: bool) -> bool:
    """Whether it tells not of a submission but of how a job stood after one.

    Args:
        event: behind an end.
        again: the job was submitted again in the second of that end, so that it may have started.
    """
    if event.position is not None or _is_requeue(event):
        return False
    if event.state is State.RUNNING:
        # Accounts tell no start without its submission.
        told_late = teller_of(event) != _TRUSTED[0] and not again
        return told_late or event.word == "COMPLETING"
    waits = event.state in (State.PENDING, State.HELD) and event.reason is not None
    return waits or event.state is State.SUSPENDED


def _is_requeue(event: Event) -> bool:
    return event.word is not None and event.word.startswith("REQUEUE")


def _ordered(all_told: list[_Told]) -> list[_Told]:
    """By time between sources, by position within one, even where its clock stepped back."""
    sources: dict[tuple[str, bool], list[_Told]] = {}
    for told in all_told:
        key = (teller_of(told.event), told.event.position is None)
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
    if event.state is State.CANCELLED:
        # Cancelled when it was requeued; had it been requeued after that, it would go on.
        return len(_RANK) + 1
    if _is_requeue(event):
        return len(_RANK)
    return -1 if event.state is None else _RANK[event.state]


def _bounded(events: Iterable[Event], dropped: int) -> tuple[tuple[Event, ...], int]:
    timeline = tuple(events)
    surplus = len(timeline) - MOST_EVENTS
    if surplus <= 0:
        return timeline, dropped
    middle = FIRST_EVENTS + surplus
    return timeline[:FIRST_EVENTS] + timeline[middle:], dropped + surplus
