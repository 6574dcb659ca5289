"""The contract of a backend: what SQLite and Redis each provide, and `Store` is made of.

A backend keeps rows (packed documents with their keys), one position per source, the list of the
archive's parts and a few numbers. It packs, merges and archives nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, NamedTuple

from jobsight.documents import JSON
from jobsight.errors import StoreError
from jobsight.store.archive import Part
from jobsight.store.rows import Keys, Order, Query, Row

__all__ = [
    "ArchiveGrewError",
    "Backend",
    "OvertakenError",
    "PositionWrite",
    "RowWrite",
    "View",
    "live_rows",
]

_FIRST, _PAGE = 100, 500
"""Rows that are read at a time: at first no more than most lists show."""


class RowWrite(NamedTuple):
    """A document to be written; the backend must have `based_on` as its revision (None: no row)."""

    keys: Keys
    data: bytes
    based_on: int | None


class PositionWrite(NamedTuple):
    """A position to be written, as text; the backend must have `old` (None: none yet)."""

    source: str
    old: str | None
    new: str


class ArchiveGrewError(Exception):
    """Documents moved to the archive while a view was read; begin a new view."""


class OvertakenError(StoreError):
    """The fence of a prune is no longer the latest."""

    def __init__(self) -> None:
        super().__init__("another prune began meanwhile and goes on; this one stopped")


class View(ABC):
    """Live rows as a scan sees them, and the parts of the archive that belong to them.

    Attributes:
        is_snapshot: the view does not change while it is read.
        revision: of the latest write when it began; not used of a snapshot.
        parts: registered when it began.
    """

    is_snapshot: bool
    revision: int
    parts: Sequence[Part]

    @abstractmethod
    def page(self, query: Query, after: Order | None, count: int) -> list[Row]:
        """At most `count` live rows that `query` asks for, in its order, behind `after`.

        Fewer where they are large, so that a page has not much more than 16 MB; an empty page is
        the end.

        Raises:
            ArchiveGrewError: the archive is not what it was when the view began, or at the last
                such error.
        """

    @abstractmethod
    def read(self, ids: Collection[str]) -> dict[str, Row]:
        """The live rows among these jobs."""

    def rows(self, query: Query, after: Order | None = None) -> Iterator[tuple[Order, Row]]:
        """All live rows with their places, read by pages; errors as of `page`."""
        count = _FIRST
        while page := self.page(query, after, count):
            after, count = page[-1].order, _PAGE
            yield from ((row.order, row) for row in page)


def live_rows(view: View, query: Query, after: Order | None = None) -> Iterator[Row]:
    """Live rows in order, whatever moves to the archive meanwhile."""
    while True:
        try:
            for order, row in view.rows(query, after):
                after = order
                yield row
            return
        except ArchiveGrewError:
            continue


class Backend(ABC):
    """Where a store keeps its rows.

    *Threads and processes.* Every method may be called from any thread, and several processes may
    use one backend at once. A view and an iterator belong to the thread that reads them.

    *Ownership.* The backend owns its connections; `close` closes them, also those that other
    threads opened. Rows are frozen.

    *Durability.* What `write` and `retire` stored survives a kill of every process involved once
    they return. They store all or nothing.

    *Errors.* `StoreUnavailableError` where trying again may help (server away, locked, disk full),
    other `StoreError` where it does not (damaged, closed, read-only, another schema).

    Attributes:
        name: of this kind of backend, e.g. ``sqlite``.
        url: its address, without secrets.
        archive: the folder of the archive; None: none is set.
    """

    name: str
    url: str
    archive: Path | None

    @abstractmethod
    def write(
        self,
        rows: Sequence[RowWrite],
        positions: Sequence[PositionWrite] = (),
        generation: int | None = None,
    ) -> None:
        """Write rows, all of one new revision, and positions, in one transaction.

        Args:
            rows: no job twice.
            positions: no source twice.
            generation: if the generation is another one by now, a row based on None conflicts: the
                job may be in the archive. None: this is not checked.

        Raises:
            ConflictError: names all positions that are not as expected, else all such rows.
        """

    @abstractmethod
    def read(self, ids: Collection[str]) -> dict[str, Row]:
        """The live rows among these jobs."""

    @abstractmethod
    def view(self) -> AbstractContextManager[View]:
        """Begin a view of the live rows."""

    def changed(self, since: int) -> Iterator[Row]:
        """Live rows with a later revision than `since`, in any order, some twice.

        Without an index by revision, as here, this looks at every live row.
        """
        with self.view() as view:
            yield from (row for row in live_rows(view, Query()) if row.revision > since)

    @abstractmethod
    def ids(self, first: str, end: str | None, count: int) -> list[str]:
        """At most `count` ids of live rows, in order, from `first` up to before `end`."""

    @abstractmethod
    def ids_by_raw(self, number: str) -> Collection[str]:
        """Ids of live rows with that raw number."""

    @abstractmethod
    def positions(self, source: str | None = None) -> Mapping[str, str | bytes]:
        """The positions of all sources, or of one, as texts."""

    @abstractmethod
    def number(self, name: Literal["revision", "generation", "fence", "identity"]) -> int:
        """A number of this backend.

        ``revision`` is that of the latest write, ``generation`` changes whenever rows move to the
        archive, ``fence`` is the latest prune's, ``identity`` is one that no other backend has.
        """

    @abstractmethod
    def next_fence(self) -> int:
        """Take the next fence; earlier ones are no longer the latest."""

    @abstractmethod
    def parts(self) -> Sequence[Part]:
        """The registered parts of the archive, by name."""

    @abstractmethod
    def retire(self, part: Part, rows: Sequence[tuple[Keys, int]], fence: int) -> int:
        """Register a part and delete those of its rows that still have their revision.

        Returns:
            How many were deleted. If none, the part is not registered.

        Raises:
            OvertakenError: the fence is not the latest; nothing was changed.
        """

    @abstractmethod
    def states(self) -> dict[str, int]:
        """Numbers of live rows by state."""

    @abstractmethod
    def size(self, rows: int) -> tuple[int, float | None]:
        """Bytes of the live rows, of that number, and of one; see `StoreStatus`."""

    @abstractmethod
    def details(self) -> dict[str, JSON]:
        """What else is to be reported: under ``durability``, what a loss of power may take back."""

    @abstractmethod
    def problems(self) -> Iterator[str]:
        """What is wrong with the indexes."""

    def files(self) -> Iterator[Path]:
        """Files of this machine that hold documents, without the archive's."""
        return iter(())

    @abstractmethod
    def close(self) -> None:
        """Close everything; may be called twice. Other methods then raise `StoreError`."""
