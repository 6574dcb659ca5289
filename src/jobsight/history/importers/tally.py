"""What became of jobs in a store while they were imported: ten bytes a job, however many."""

from __future__ import annotations

import enum
import itertools
from array import array
from collections import Counter
from collections.abc import Iterable

import numpy as np

from jobsight.documents import JobDocument, State

__all__ = ["JobTally", "Mark"]

_STATES: list[State | None] = [None, *State]
_PLACES = {state: place for place, state in enumerate(_STATES)}
_MOST_LOOSE = 1_000_000


class Mark(enum.IntEnum):
    """What an import did to a job; of several, the greatest counts."""

    UNCHANGED = 0
    CHANGED = 1
    NEW = 2


class JobTally:
    """Jobs new, changed and unchanged, and the states they are in at last.

    A job may be added many times: it is new if it was so once, changed if any time changed it. Jobs
    are identified by 64 bits of a hash of their ids: of ten million jobs, one pair in
    four hundred thousand runs would count as one.

    Attributes:
        first, last: earliest and latest moment of all timelines, µs since 1970.
    """

    def __init__(self) -> None:
        self.first: int | None = None
        self.last: int | None = None
        self._ids = array("q")
        self._marks = bytearray()
        self._states = bytearray()

    def add(self, documents: Iterable[JobDocument], mark: Mark) -> None:
        """Count documents as the store has them, after a merge that did this to them."""
        found = list(documents)
        self._ids.extend([hash(document.id) for document in found])
        self._marks.extend(itertools.repeat(mark, len(found)))
        self._states.extend([_PLACES[document.state] for document in found])
        if len(self._ids) > 2 * _MOST_LOOSE:
            self._join()

    def span(self, documents: Iterable[JobDocument]) -> None:
        """Take the documents' moments into `first` and `last`."""
        timelines = [document.timeline for document in documents if document.timeline]
        times = [timeline[0].time for timeline in timelines] + [
            timeline[-1].time for timeline in timelines
        ]
        if times:
            self.first = min(times) if self.first is None else min(self.first, *times)
            self.last = max(times) if self.last is None else max(self.last, *times)

    def by_mark(self) -> dict[str, int]:
        """Number of jobs that are ``new``, ``changed`` and ``unchanged``."""
        self._join()
        return {mark.name.lower(): self._marks.count(mark) for mark in reversed(Mark)}

    def by_state(self) -> Counter[str]:
        """Number of jobs by state, ``unknown`` where no state is known."""
        self._join()
        counts = np.bincount(np.frombuffer(self._states, np.uint8), minlength=len(_STATES))
        names = ["unknown" if state is None else str(state) for state in _STATES]
        return Counter({name: int(n) for name, n in zip(names, counts, strict=True) if n})

    def _join(self) -> None:
        """Each job once: its highest mark, and its last state."""
        ids = np.frombuffer(self._ids, np.int64)
        if not len(ids):
            return
        order = np.argsort(ids, kind="stable")
        ordered = ids[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        ends = np.append(starts[1:], len(ids)) - 1
        marks = np.maximum.reduceat(np.frombuffer(self._marks, np.uint8)[order], starts)
        states = np.frombuffer(self._states, np.uint8)[order][ends]
        self._ids = array("q", ordered[starts].tobytes())
        self._marks, self._states = bytearray(marks), bytearray(states)
