"""Which jobs were noticed, and what is to be asked about them, and when.

A job is watched from its notice until its scheduler says how it ended. Jobs that were found go on
being watched after a restart because the store has them as living; those not found yet stand in
the source's position.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from jobsight.documents import JSON, Event, JobDocument, JobKey, merge, parse_key
from jobsight.errors import SourceError, UsageError
from jobsight.service.lookups import Lookup
from jobsight.text import printable

__all__ = ["MOST_WAITING", "Watched"]

MOST_WAITING = 5000
"""Jobs not found yet beyond which no more notices are to be taken: a position holds them all."""

_TELLERS = ("notice", "jobcomp")


@dataclass(slots=True)
class _Entry:
    """A watched job; times in seconds of the watch's clock."""

    since: float
    """When it was last heard of, by a notice or by its scheduler."""
    event: Event | None
    found: bool = False
    looked: float | None = None


class Watched:
    """The jobs of some schedulers. One thread at a time.

    Attributes:
        foreign: notices of jobs that no lookup is for.
        given_up: jobs that their scheduler never knew, or forgot without telling an end.
        overflow: notices of jobs that were one too many.
    """

    def __init__(
        self,
        lookups: Sequence[Lookup],
        *,
        most: int,
        per_look: int,
        every: float,
        unknown_after: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._lookups = {(one.scheduler, one.cluster): one for one in lookups}
        self._most = most
        self._per_look = per_look
        self._every = every
        self._unknown_after = unknown_after
        self._clock = clock
        self._jobs: dict[JobKey, _Entry] = {}
        self._troubles: dict[str, str] = {}
        self._looks = 0
        self.foreign = self.given_up = self.overflow = 0

    def __len__(self) -> int:
        return len(self._jobs)

    def restore(self, waiting: JSON, documents: Iterable[JobDocument]) -> None:
        """Begin with what a position holds, and with the noticed jobs that the store has living.

        Raises:
            ValueError: the position is damaged.
        """
        self._jobs.clear()
        for key, since, told, word in _read_waiting(waiting):
            event = None if told is None else Event(time=told, source="notice", word=word)
            self._jobs[key] = _Entry(since, event)
        self.adopt(documents)

    def adopt(self, documents: Iterable[JobDocument]) -> None:
        """Watch the jobs of these documents that were noticed, by whichever collector."""
        now = self._clock()
        for document in documents:
            try:
                key = parse_key(document.id)
            except UsageError:
                continue
            told = any(event.source in _TELLERS for event in document.timeline)
            if told and key[:2] in self._lookups and len(self._jobs) < self._most:
                self._jobs.setdefault(key, _Entry(now, None, found=True))

    def add(self, key: JobKey, event: Event | None) -> None:
        """Watch a job that was noticed now."""
        if key[:2] not in self._lookups:
            self.foreign += 1
            return
        entry = self._jobs.get(key)
        if entry is not None:
            # Something happened to it: it is looked at with the new ones.
            entry.event, entry.looked, entry.since = event or entry.event, None, self._clock()
        elif len(self._jobs) < self._most:
            self._jobs[key] = _Entry(self._clock(), event)
        else:
            self.overflow += 1

    @property
    def fresh(self) -> bool:
        """Whether a job has not been looked at since its last notice."""
        return any(entry.looked is None for entry in self._jobs.values())

    @property
    def full(self) -> bool:
        """Whether so many jobs were not found yet that no position could hold one more."""
        return sum(not entry.found for entry in self._jobs.values()) >= MOST_WAITING

    @property
    def due(self) -> bool:
        """Whether a job was last looked at long enough ago."""
        limit = self._clock() - self._every
        return any(entry.looked is None or entry.looked <= limit for entry in self._jobs.values())

    def waiting(self) -> list[JSON]:
        """For the position: jobs not found yet."""
        missing = [(key, entry) for key, entry in self._jobs.items() if not entry.found]
        return [
            [
                *key,
                round(entry.since, 3),
                None if entry.event is None else entry.event.time,
                None if entry.event is None else entry.event.word,
            ]
            for key, entry in missing
        ]

    def look(self) -> list[JobDocument]:
        """Ask each scheduler about the jobs that are due, at most `per_look` of them.

        Raises:
            SourceError: a scheduler gave no answer, and no other told anything.
        """
        self._looks += 1
        documents: list[JobDocument] = []
        trouble: SourceError | None = None
        for key, lookup in self._lookups.items():
            chosen = self._chosen(key)
            if not chosen:
                continue
            try:
                found = lookup.collect([job.job for job in chosen])
            except SourceError as error:
                trouble = error
                self._troubles[":".join(key)] = printable(error, 200)
                continue
            self._troubles.pop(":".join(key), None)
            documents += self._settle(chosen, found)
        if trouble is not None and not documents:
            raise trouble
        return documents

    def status(self) -> dict[str, JSON]:
        """Counters, calls and trouble by scheduler."""
        return {
            "watched": len(self._jobs),
            "not_found_yet": sum(not entry.found for entry in self._jobs.values()),
            "foreign": self.foreign,
            "given_up": self.given_up,
            "overflow": self.overflow,
            "looks": self._looks,
            "calls": {":".join(key): one.calls() for key, one in self._lookups.items()},
            "lookup_troubles": dict(self._troubles),
        }

    def _chosen(self, cluster: tuple[str, str]) -> list[JobKey]:
        limit = self._clock() - self._every
        due = [
            (entry.looked or 0.0, key)
            for key, entry in self._jobs.items()
            if key[:2] == cluster and (entry.looked is None or entry.looked <= limit)
        ]
        return [key for _, key in sorted(due)[: self._per_look]]

    def _settle(self, chosen: list[JobKey], found: list[JobDocument]) -> list[JobDocument]:
        """Go on watching what lives, end watching what ended; documents with their notices."""
        for key in chosen:
            self._jobs[key].looked = self._clock()
        parts: dict[JobKey, list[JobDocument]] = {key: [] for key in chosen}
        for document in found:
            for key in _meant(parse_key(document.id)):
                if key in parts:
                    parts[key].append(document)
        told: dict[str, JobDocument] = {document.id: document for document in found}
        for key, documents in parts.items():
            entry = self._jobs[key]
            if not documents:
                self._missing(key, entry)
                continue
            entry.found, entry.since = True, self._clock()
            for document in documents if entry.event is not None else ():
                event = (*told[document.id].timeline, entry.event)
                told[document.id] = msgspec.structs.replace(document, timeline=event)
            if all(_ended(document) for document in documents):
                del self._jobs[key]
        return list(told.values())

    def _missing(self, key: JobKey, entry: _Entry) -> None:
        if self._clock() - entry.since > self._unknown_after:
            self.given_up += 1
            del self._jobs[key]


def _meant(key: JobKey) -> tuple[JobKey, ...]:
    """The job itself, and the array or heterogeneous job that it is a part of."""
    base = key.job.partition("_")[0].partition("+")[0]
    return (key,) if base == key.job else (key, key._replace(job=base))


def _ended(document: JobDocument) -> bool:
    state = merge(None, document).state
    return state is not None and state.ended


def _read_waiting(
    waiting: JSON,
) -> Iterable[tuple[JobKey, float, int | None, str | None]]:
    if not isinstance(waiting, list):
        raise ValueError("no list of jobs")
    for one in waiting:
        scheduler, cluster, job, since, told, word = one
        yield JobKey(str(scheduler), str(cluster), str(job)), float(since), told, word
