"""Rows: packed documents with their keys, what is asked of them, and the order they come in."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from jobsight.documents import JobDocument, State
from jobsight.store.packing import ACTIVE, Keys, read_text, unpack, unzip, user_key

__all__ = ["Order", "Query", "Row"]

Order = tuple[int, bytes]
"""Compares as rows follow each other in a scan: by time and id, or both backwards."""

_LIVING = ACTIVE - {""}
"""Who asks for all of these asks for what has not ended, also where no state is known."""

_BACKWARDS = bytes(range(255, -1, -1))


@dataclass(frozen=True, slots=True)
class Row:
    """A document as it lies in a store.

    Attributes:
        keys: as the store's indexes have them.
        revision: of the last write.
        data: the document, packed; in the archive, where the file is packed, its JSON.
        archived: where it lies.
    """

    keys: Keys
    revision: int
    data: bytes
    archived: bool = False

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
    """What a scan asks for; see `jobsight.store.base.Store.scan`."""

    since: int | None = None
    until: int | None = None
    states: frozenset[str] | None = None
    user: str | None = None
    cluster: str | None = None
    newest_first: bool = False

    @classmethod
    def asking(
        cls,
        since: int | None,
        until: int | None,
        states: Collection[State] | None,
        user: str | None,
        cluster: str | None,
        newest_first: bool,
    ) -> Query:
        """The query of a scan's arguments; its `user` is a `user_key`."""
        asked = None if states is None else frozenset(str(State(state)) for state in states)
        if asked is not None and asked >= _LIVING:
            asked |= ACTIVE
        return cls(
            since,
            until,
            asked,
            None if user is None else user_key(user),
            cluster,
            newest_first,
        )

    def fits(self, keys: Keys) -> bool:
        """Whether a row with these keys is asked for."""
        return (
            (self.since is None or keys.time >= self.since)
            and (self.until is None or keys.time < self.until)
            and (self.states is None or keys.state in self.states)
            and (self.user is None or keys.user == self.user)
            and (self.cluster is None or keys.cluster == self.cluster)
        )

    def order(self, keys: Keys) -> Order:
        """Where a row with these keys stands in the scan."""
        name = keys.id.encode()
        if self.newest_first:
            # The last byte puts "ab" before "a": ids hold no control characters.
            return (-keys.time, name.translate(_BACKWARDS) + b"\xff")
        return (keys.time, name)

    def place(self, order: Order) -> tuple[int, str]:
        """The time and id that stand at this place of the scan."""
        time, name = order
        if self.newest_first:
            return -time, name[:-1].translate(_BACKWARDS).decode()
        return time, name.decode()
