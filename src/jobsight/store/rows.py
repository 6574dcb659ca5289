"""Rows: packed documents with their keys; queries, and the order of rows."""

from __future__ import annotations

from dataclasses import dataclass

from jobsight.documents import JobDocument
from jobsight.store.packing import Keys, read_text, unpack, unzip

__all__ = ["Order", "Query", "Row"]

Order = tuple[int, str]
"""Time and id: the place of a row in a scan."""


@dataclass(frozen=True, slots=True)
class Row:
    """A document as a store has it.

    Attributes:
        keys: as the store's indexes have them.
        revision: of the last write.
        data: the document, packed; in the archive, where the file is compressed, its JSON.
        archived: whether it comes from the archive.
    """

    keys: Keys
    revision: int
    data: bytes
    archived: bool = False

    @property
    def order(self) -> Order:
        """Its place in a scan."""
        return self.keys.time, self.keys.id

    def document(self) -> JobDocument:
        """The document itself.

        Raises:
            StoreError: it is damaged.
        """
        return (read_text if self.archived else unpack)(self.data, self.keys.id)

    def text(self) -> bytes:
        """The document's JSON.

        Raises:
            StoreError: it is damaged.
        """
        return self.data if self.archived else unzip(self.data, self.keys.id)


@dataclass(frozen=True, slots=True)
class Query:
    """What a scan asks for, as `Store.scan` has it; `user` is a `user_key`, `states` as in keys."""

    since: int | None = None
    until: int | None = None
    states: frozenset[str] | None = None
    user: str | None = None
    cluster: str | None = None
    newest_first: bool = False

    def fits(self, keys: Keys) -> bool:
        """Whether a row with these keys is asked for."""
        return (
            self.overlaps(keys.time, keys.time)
            and (self.states is None or keys.state in self.states)
            and (self.user is None or keys.user == self.user)
            and (self.cluster is None or keys.cluster == self.cluster)
        )

    def overlaps(self, first: int, last: int) -> bool:
        """Whether rows of these times may be asked for."""
        return (self.since is None or last >= self.since) and (
            self.until is None or first < self.until
        )

    def is_behind(self, order: Order, after: Order | None) -> bool:
        """Whether the scan comes to the place `order` later than to `after` (None: the start)."""
        return after is None or (order < after if self.newest_first else order > after)
