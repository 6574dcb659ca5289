"""What became of jobs in a store while they were imported: ten bytes a job, however many."""

from __future__ import annotations

import itertools
from array import array
from collections import Counter
from collections.abc import Iterable

import numpy as np

from jobsight.documents import JobDocument, State

__all__ = ["Tally"]

_STATES: list[State | None] = [None, *State]
_PLACES = {state: place for place, state in enumerate(_STATES)}
_UNCHANGED, _CHANGED, _NEW = range(3)
_MOST_LOOSE = 1_000_000


class Tally:
    """Jobs new, changed and unchanged, and the states they are in at last.

    A job may be told of many times: it is new if it was so at first, changed if any time changed
    it. Jobs are told apart by 64 bits of a hash of their ids: of ten million jobs, one pair in
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

    def add_new(self, documents: Iterable[JobDocument]) -> None:
        """Documents that the store did not have before."""
        self._add(documents, _NEW)

    def add_changed(self, documents: Iterable[JobDocument]) -> None:
        """Documents of which the store knows more now."""
        self._add(documents, _CHANGED)

    def add_unchanged(self, documents: Iterable[JobDocument]) -> None:
        """Documents of which nothing new was told, as the store has them."""
        self._add(documents, _UNCHANGED)

    def _add(self, documents: Iterable[JobDocument], mark: int) -> None:
        found = list(documents)
        self._ids.extend([hash(document.id) for document in found])
        self._marks.extend(itertools.repeat(mark, len(found)))
        self._states.extend([_PLACES[document.state] for document in found])
        if len(self._ids) > 2 * _MOST_LOOSE:
            self._settle()

    def span(self, documents: Iterable[JobDocument]) -> None:
        """Take the documents' moments into `first` and `last`."""
        timelines = [document.timeline for document in documents if document.timeline]
        times = [one[0].time for one in timelines] + [one[-1].time for one in timelines]
        if times:
            self.first = min(times) if self.first is None else min(self.first, *times)
            self.last = max(times) if self.last is None else max(self.last, *times)

    @property
    def new(self) -> int:
        """Jobs that the store did not have before."""
        return self._count(_NEW)

    @property
    def changed(self) -> int:
        """Jobs that the store had, and now knows more of."""
        return self._count(_CHANGED)

    @property
    def unchanged(self) -> int:
        """Jobs of which nothing new was told."""
        return self._count(_UNCHANGED)

    def by_state(self) -> Counter[str]:
        """Number of jobs by state, ``unknown`` where no state is known."""
        self._settle()
        counts = np.bincount(np.frombuffer(self._states, np.uint8), minlength=len(_STATES))
        names = ["unknown" if state is None else str(state) for state in _STATES]
        return Counter({name: int(n) for name, n in zip(names, counts, strict=True) if n})

    def _count(self, mark: int) -> int:
        self._settle()
        return self._marks.count(mark)

    def _settle(self) -> None:
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
