"""Rows: packed documents with their keys; queries, and the order of rows."""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec

from jobsight.documents import JobDocument, number_of
from jobsight.documents.spans import time_of
from jobsight.errors import StoreError
from jobsight.store.packing import (
    ACTIVE,
    LEAST_TIME,
    MOST_TIME,
    cluster_of,
    read_text,
    unzip,
    user_key,
)

__all__ = ["Keys", "Order", "Query", "Row"]

_RAW = re.compile(r"[1-9]\d{0,17}", re.ASCII)

Order = tuple[int, str]
"""Time and id: the place of a row in a scan."""


class Keys(msgspec.Struct, frozen=True, gc=False):
    """What a store's indexes know of a document.

    Attributes:
        id: of the job.
        cluster: the id up to its last colon.
        state: ``""`` where none is known.
        user: see `user_key`; None where none is known.
        time: of the last thing that happened (`time_of`), µs since 1970, within ± 2^62.
        raw: Slurm's own number of the job, where it is not that of its id.
    """

    id: str
    cluster: str
    state: str
    user: str | None
    time: int
    raw: str | None = None

    @classmethod
    def of(cls, document: JobDocument) -> Keys:
        """The keys of a document."""
        user, raw = document.submission.user, document.submission.raw_id
        if raw is not None and (_RAW.fullmatch(raw) is None or raw == number_of(document.id)):
            raw = None
        return cls(
            document.id,
            cluster_of(document.id),
            "" if document.state is None else str(document.state),
            None if user is None else user_key(user),
            min(max(time_of(document), LEAST_TIME), MOST_TIME),
            raw,
        )

    @property
    def active(self) -> bool:
        """Whether the job has not ended, as far as is known."""
        return self.state in ACTIVE


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
        return read_text(self.text(), self.keys.id)

    def text(self) -> bytes:
        """The document's JSON.

        Raises:
            StoreError: it is damaged.
        """
        return self.data if self.archived else unzip(self.data, self.keys.id)

    def problem(self) -> str | None:
        """What is wrong with it: its document, or keys that are not the document's."""
        try:
            keys = Keys.of(self.document())
        except StoreError as error:
            return str(error)
        if keys == self.keys:
            return None
        return f"the index has {self.keys}, but the document says {keys}"


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
