"""What stores have in common that keep living documents themselves and old ones in the archive.

A backend gives a few small operations on its live documents; reading both as one, and moving
documents from one to the other, is done here.

*Moving.* A prune takes a number, its *fence*, writes a part, and asks the backend to register it
and to delete its documents, those that are still of the revision that was written, in one
transaction, which fails unless the fence is still the latest. So a prune that was overtaken can
neither register a file that was cleared away nor delete what the other has in its hands; and as the
fence is in the file's name, it clears away nothing that a later one wrote.
"""

from __future__ import annotations

import heapq
from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from jobsight.documents import JobDocument
from jobsight.errors import OutputError, StoreError
from jobsight.modes import wider_modes
from jobsight.store.archive import Archive
from jobsight.store.base import Store, Stored
from jobsight.store.packing import ENDED, Keys, cluster_of, numbered_ranges, raw_of
from jobsight.store.parts import Part, name_of
from jobsight.store.reports import CheckReport, PruneReport
from jobsight.store.rows import Order, Query, Row
from jobsight.store.seen import Seen

__all__ = ["OVERTAKEN", "ArchiveGrewError", "TieredStore", "View"]

OVERTAKEN = "another prune began meanwhile and goes on; this one stopped"
"""What a prune says whose fence is no longer the latest."""

_PAGE = 500
_PART_ROWS = 10_000
_PART_BYTES = 64 << 20
_MOST_SHOWN = 20


class ArchiveGrewError(Exception):
    """Documents moved to the archive while a view was read; `TieredStore` begins a new view."""


class View:
    """Live documents as a scan sees them, and the parts of the archive that belong to them.

    Attributes:
        settled: the view does not change while it is read.
        revision: of the latest write when it began.
        parts: registered when it began.
    """

    settled: bool
    revision: int
    parts: Sequence[Part]

    def page(self, query: Query, after: Order | None, count: int) -> list[Row]:
        """At most `count` live rows that `query` asks for, in its order, behind `after`.

        Less where they are large, so that a page has not much more than 16 MB; an empty page is
        the end.

        Raises:
            ArchiveGrewError: the archive is not what it was when the view began.
        """
        raise NotImplementedError

    def live(self, ids: Collection[str]) -> dict[str, Row]:
        """The live rows among these jobs."""
        raise NotImplementedError


class TieredStore(Store):
    """A store whose old documents lie in an `Archive`.

    Attributes:
        archive: where they lie; None: nobody said where.
    """

    archive: Archive | None = None

    @abstractmethod
    def _view(self) -> AbstractContextManager[View]:
        """Begin a view of the live documents."""

    @abstractmethod
    def _live(self, ids: Collection[str]) -> dict[str, Row]:
        """The live rows among these jobs."""

    @abstractmethod
    def _parts(self) -> Sequence[Part]:
        """The registered parts of the archive."""

    @abstractmethod
    def _active_page(self, cluster: str | None, after: str, count: int) -> list[Row]:
        """At most `count` rows of jobs that have not ended, by id, behind the id `after`."""

    @abstractmethod
    def _ids(self, first: str, end: str | None, count: int) -> list[str]:
        """At most `count` ids of live documents, in order, from `first` up to before `end`."""

    @abstractmethod
    def _live_raw(self, number: str) -> Iterator[str]:
        """Ids of live documents whose `raw_of` is that number, perhaps of others too."""

    @abstractmethod
    def _identity(self) -> str:
        """A name that no other store has, 16 hexadecimal digits, given when it is first asked."""

    @abstractmethod
    def _fence(self) -> int:
        """Take the next fence; earlier ones are no longer the latest."""

    @abstractmethod
    def _latest_fence(self) -> int:
        """The fence that was taken last."""

    @abstractmethod
    def _retire(self, part: Part, rows: Sequence[tuple[Keys, int]], fence: int) -> int:
        """Register a part and delete those of its rows that still have their revision.

        Returns:
            How many were deleted. If none, the part is not registered.

        Raises:
            StoreError: the fence is not the latest.
        """

    @abstractmethod
    def _index_problems(self) -> Iterator[str]:
        """What is wrong with the live documents' indexes."""

    def get(self, ids: Collection[str]) -> dict[str, Stored]:
        """The documents of these jobs; see `Store.get`."""
        # Live first: a document that moves in between is then found in the archive.
        live = self._live(ids)
        found = {id_: Stored(row.document(), row.revision) for id_, row in live.items()}
        missing = [id_ for id_ in ids if id_ not in found]
        if missing and (parts := self._parts()):
            old = self._archive().find(parts, missing)
            found.update((id_, Stored(row.document(), None)) for id_, row in old.items())
        return found

    def active(self, cluster: str | None = None) -> Iterator[JobDocument]:
        """Jobs that have not ended; see `Store.active`."""
        after = ""
        while page := self._active_page(cluster, after, _PAGE):
            after = page[-1].keys.id
            yield from (row.document() for row in page)

    def numbered(self, number: str) -> list[str]:
        """Ids of all jobs of one number; see `Store.numbered`."""
        found = set(self._live_numbered(number))
        if parts := self._parts():
            found |= self._archive().numbered(parts, number)
        return sorted(found)

    def raw(self, number: str) -> list[str]:
        """Ids of jobs that Slurm itself has under this number; see `Store.raw`."""
        found = set(self._live_raw(number))
        if parts := self._parts():
            found |= self._archive().raw(parts, number)
        # Where a job has come back from the archive, what is live counts.
        return sorted(id_ for id_, one in self.get(found).items() if raw_of(one.document) == number)

    def _live_numbered(self, number: str) -> Iterator[str]:
        # Each cluster's ids begin alike, so the clusters are found by leaps over the ids.
        first = ""
        while found := self._ids(first, None, 1):
            cluster = cluster_of(found[0])
            for low, high in numbered_ranges(cluster, number):
                while page := self._ids(low, high, _PAGE):
                    yield from page
                    low = page[-1] + " "  # noqa: PLW2901  # no id holds a blank
            first = f"{cluster};"

    def rows(self, query: Query) -> Iterator[Row]:
        """Live and archived rows; see `Store.rows`."""
        after: Order | None = None
        seen: Seen | None = None
        while True:
            with self._view() as view:
                if seen is None and not view.settled:
                    seen = Seen(view.revision)
                try:
                    for order, row in self._both(view, query, after):
                        after = order
                        if seen is None or seen.is_first(row):
                            yield row
                except ArchiveGrewError:
                    continue
                return

    def _both(self, view: View, query: Query, after: Order | None) -> Iterator[tuple[Order, Row]]:
        """Live and archived rows in one order."""
        live = _paged(view, query, after)
        if not view.parts:
            yield from live
            return
        archive = self._archive()

        def stale(part: Part, rows: list[Row]) -> list[Row]:
            ids = [row.keys.id for row in rows]
            now = view.live(ids)
            newer = archive.newer(view.parts, part, ids)
            kept = [row for row in rows if row.keys.id not in now and row.keys.id not in newer]
            if not view.settled:
                # It may have come back to life behind the live rows that were read already.
                since = (row for row in now.values() if row.revision > view.revision)
                kept += [row for row in since if query.fits(row.keys)]
            return kept

        yield from heapq.merge(
            live, archive.scan(view.parts, query, after, stale), key=lambda pair: pair[0]
        )

    def prune(self, before: int, *, least: int = 1, overdue: int | None = None) -> PruneReport:
        """Move old jobs to the archive; see `Store.prune`."""
        archive = self._archive()
        if not self._worth_a_file(before, least, overdue):
            return PruneReport(0, 0, 0)
        if known := self._parts():
            # Where its latest file is not, the folder is another, or its disk is away: what would
            # be written there now is hidden once it is back.
            archive.require(known[-1])
        archive.claim(self._identity())
        fence = self._fence_in(archive)
        archive.clear(self._parts(), fence)
        documents = parts = size = 0
        after: Order | None = None
        while rows := self._oldest(before, after):
            after = Query().order(rows[-1].keys)
            part = self._written(archive, name_of(fence, parts), rows, fence)
            moved = self._retire(part, [(row.keys, row.revision) for row in rows], fence)
            documents += moved
            parts += 1 if moved else 0
            size += part.size if moved else 0
        archive.clear(self._parts(), fence)
        return PruneReport(documents, parts, size)

    def _fence_in(self, archive: Archive) -> int:
        """The next fence; not taken in a folder where another than this store prunes as well.

        So nothing of the other's is ever behind a fence of this one, and cleared away.
        """
        latest = self._latest_fence()
        later = archive.later(self._parts(), latest)
        if later is None:
            return self._fence()
        if self._latest_fence() != latest:
            raise StoreError(OVERTAKEN)
        raise StoreError(
            f"{archive.folder} has {later}, which this store does not know: a copy of it was "
            "pruned into the same folder, or it was brought back from a backup, or lost its last "
            "seconds with the power; give each copy a folder of its own (store.archive), or move "
            "that file away"
        )

    def _written(self, archive: Archive, name: str, rows: Sequence[Row], fence: int) -> Part:
        """A new part, safely on disk."""
        try:
            part = archive.write(name, rows, self._parts())
            archive.require(part)
        except (OutputError, StoreError):
            if self._latest_fence() != fence:  # the later one cleared it away
                raise StoreError(OVERTAKEN) from None
            raise
        return part

    def _worth_a_file(self, before: int, least: int, overdue: int | None) -> bool:
        with self._view() as view:
            due = _paged_fully(view, Query(until=before, states=ENDED), None)
            for number, (_, row) in enumerate(due, start=1):
                if number >= least or (overdue is not None and row.keys.time < overdue):
                    return True
        return False

    def _oldest(self, before: int, after: Order | None) -> list[Row]:
        """Rows for the next part: of ended jobs with a time less than `before`, behind `after`."""
        rows: list[Row] = []
        held = 0
        query = Query(until=before, states=ENDED)
        with self._view() as view:
            for _, row in _paged_fully(view, query, after):
                rows.append(row)
                held += len(row.data)
                if len(rows) == _PART_ROWS or held >= _PART_BYTES:
                    break
        return rows

    def check(self) -> CheckReport:
        """Read everything; see `Store.check`."""
        problems = _Problems()
        live = archived = 0
        with self._view() as view:
            for _, row in _paged_fully(view, Query(), None):
                live += 1
                problems.note(_problem_of(row))
        for problem in self._index_problems():
            problems.note(problem)
        for part in self._parts():
            try:
                for row in self._archive().rows(part):
                    archived += 1
                    problems.note(_problem_of(row))
            except StoreError as error:
                problems.note(str(error))
        wider = tuple(wider_modes(self._files()))
        return CheckReport(live, archived, problems.number, tuple(problems.first), wider)

    def _files(self) -> Iterator[Path]:
        """All files and folders that hold the store's documents here."""
        if self.archive is not None:
            yield from (self.archive.folder, *self.archive.folder.rglob("*"))

    def _archive(self) -> Archive:
        if self.archive is None:
            raise StoreError(
                f"{self.url} has no folder for its archive; name one in the setting store.archive "
                "(JOBSIGHT_STORE__ARCHIVE), on a disk that all who use the store can read"
            )
        return self.archive


def _paged(view: View, query: Query, after: Order | None) -> Iterator[tuple[Order, Row]]:
    while page := view.page(query, after, _PAGE):
        for row in page:
            after = query.order(row.keys)
            yield after, row


def _paged_fully(view: View, query: Query, after: Order | None) -> Iterator[tuple[Order, Row]]:
    """Live rows, whatever moves to the archive meanwhile."""
    while True:
        try:
            for place, row in _paged(view, query, after):
                after = place
                yield place, row
            return
        except ArchiveGrewError:
            continue


def _problem_of(row: Row) -> str | None:
    """What is wrong with a row: its document, or keys that are not the document's."""
    try:
        keys = Keys.of(row.document())
    except StoreError as error:
        return str(error)
    if keys != row.keys:
        return f"the index has {row.keys}, but the document says {keys}"
    return None


class _Problems:
    def __init__(self) -> None:
        self.number = 0
        self.first: list[str] = []

    def note(self, problem: str | None) -> None:
        if problem is not None:
            self.number += 1
            if len(self.first) < _MOST_SHOWN:
                self.first.append(problem)
