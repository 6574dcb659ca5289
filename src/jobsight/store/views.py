"""Reading live documents and the archive as one."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager

from jobsight.store.archive import Archive
from jobsight.store.packing import ACTIVE
from jobsight.store.parts import Part
from jobsight.store.rows import Order, Query, Row

__all__ = ["ArchiveGrewError", "View", "all_rows", "live_rows"]

_FIRST, _PAGE = 100, 500
"""Rows that are read at a time: at first no more than most lists show."""


class ArchiveGrewError(Exception):
    """Documents moved to the archive while a view was read; begin a new view."""


class View(ABC):
    """Live documents as a scan sees them, and the parts of the archive that belong to them.

    Attributes:
        settled: the view does not change while it is read.
        revision: of the latest write when it began.
        parts: registered when it began.
    """

    settled: bool
    revision: int
    parts: Sequence[Part]

    @abstractmethod
    def page(self, query: Query, after: Order | None, count: int) -> list[Row]:
        """At most `count` live rows that `query` asks for, in its order, behind `after`.

        Fewer where they are large, so that a page has not much more than 16 MB; an empty page is
        the end.

        Raises:
            ArchiveGrewError: the archive is not what it was when the view began.
        """

    @abstractmethod
    def live(self, ids: Collection[str]) -> dict[str, Row]:
        """The live rows among these jobs."""


def live_rows(view: View, query: Query, after: Order | None = None) -> Iterator[tuple[Order, Row]]:
    """Live rows with their places, whatever moves to the archive meanwhile."""
    while True:
        try:
            for order, row in _paged(view, query, after):
                after = order
                yield order, row
            return
        except ArchiveGrewError:
            continue


def all_rows(
    open_view: Callable[[], AbstractContextManager[View]],
    archive: Callable[[], Archive],
    query: Query,
    after: Order | None = None,
) -> Iterator[Row]:
    """Live and archived rows in the order of a scan, each job once.

    Args:
        open_view: begins a view.
        archive: called where there are archived rows.
        query: what is asked for.
        after: a place in the order; what is behind it is read.
    """
    revision: int | None = None
    seen: set[int] = set()
    while True:
        with open_view() as view:
            revision = view.revision if revision is None else revision
            try:
                for order, row in _both(view, archive, query, after):
                    after = order
                    if not view.settled:
                        # What was not written since the scan began has one place in its order.
                        key = hash(row.keys.id)
                        if row.revision > revision and key in seen:
                            continue
                        seen.add(key)
                    yield row
            except ArchiveGrewError:
                continue
            return


def _paged(view: View, query: Query, after: Order | None) -> Iterator[tuple[Order, Row]]:
    count = _FIRST
    while page := view.page(query, after, count):
        after, count = page[-1].order, _PAGE
        yield from ((row.order, row) for row in page)


def _both(
    view: View, archive: Callable[[], Archive], query: Query, after: Order | None
) -> Iterator[tuple[Order, Row]]:
    live = _paged(view, query, after)
    if not view.parts or (query.states is not None and query.states <= ACTIVE):
        yield from live
        return
    kept = archive()

    def stale(part: Part, rows: list[Row]) -> list[Row]:
        ids = [row.keys.id for row in rows]
        now = view.live(ids)
        newer = kept.newer(view.parts, part, ids)
        found = [row for row in rows if row.keys.id not in now and row.keys.id not in newer]
        if not view.settled:
            # It may have come back to life behind the live rows that were read already.
            since = (row for row in now.values() if row.revision > view.revision)
            found += [row for row in since if query.fits(row.keys)]
        return found

    old = kept.scan(view.parts, query, after, stale)
    yield from heapq.merge(live, old, key=lambda pair: pair[0], reverse=query.newest_first)
