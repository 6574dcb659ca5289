"""What a store keeps, is given and reports: documents, rows with their keys, queries, counts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import msgspec

from jobsight.documents import JSON, JobDocument, number_of
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

__all__ = ["Change", "CheckReport", "Keys", "Merged", "Move", "Order", "Position",
           "PruneReport", "Put", "Query", "Row", "StoreStatus", "Stored"]  # fmt: skip

Position = dict[str, JSON]
"""How far a source has been read: small, plain JSON, understood by the source alone."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A document as the store has it.

    `revision` is to be passed to the next put; None: it is in the archive, not live.
    """

    document: JobDocument
    revision: int | None


class Put(msgspec.Struct, frozen=True, gc=False):
    """A document to be stored in place of what the store has.

    `based_on` is the revision that it was made from; None: the store does not have the job live.
    """

    document: JobDocument
    based_on: int | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """A source's position to be stored, `new`; the store must have `old` (None: none yet)."""

    source: str
    old: Position | None
    new: Position


class Change(msgspec.Struct, frozen=True, gc=False):
    """A document before (None: it is new) and after a merge."""

    old: JobDocument | None
    new: JobDocument


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge did.

    Attributes:
        changes: documents that were written.
        unchanged: number of jobs of which nothing new was reported.
        refused: id and reason of documents that no store can keep; they were left out.
    """

    changes: tuple[Change, ...] = ()
    unchanged: int = 0
    refused: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PruneReport:
    """What a prune did: documents moved, parts of the archive written, their bytes."""

    documents: int = 0
    parts: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a check found.

    Attributes:
        documents: live documents that were read.
        archived: documents of the archive that were read.
        problems: number of problems.
        first: the first of them, in words.
        wider: files and folders that more users than the setting `group_access` allows may read or
            write, and what to do; not counted among the problems.
    """

    documents: int
    archived: int
    problems: int = 0
    first: tuple[str, ...] = ()
    wider: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """What a store holds, for people and monitoring.

    Attributes:
        url: its address, without secrets.
        backend: ``sqlite`` or ``redis``.
        schema: version of the store's layout.
        states: live documents by state; ``""`` for those of which no state is known.
        active: live documents of jobs that have not ended.
        archived: rows of the archive (a job that came back and was archived again counts twice).
        bytes: of the file, or the memory of the whole server.
        bytes_per_job: of a live document with its indexes; None: there are none, or it is a server.
        archive_bytes: disk used by the archive.
        positions: of each source.
        details: what else the backend reports, such as how durable it is.
    """

    url: str
    backend: str
    schema: int
    states: dict[str, int]
    active: int
    archived: int
    bytes: int
    bytes_per_job: float | None
    archive_bytes: int
    positions: dict[str, Position]
    details: dict[str, JSON] = field(default_factory=dict)


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
        """The document itself; `StoreError`: it is damaged."""
        return read_text(self.text(), self.keys.id)

    def text(self) -> bytes:
        """The document's JSON; `StoreError`: it is damaged."""
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
