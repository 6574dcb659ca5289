"""What goes into a store and comes out of it, and what a store reports of itself."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from jobsight.documents import JSON, JobDocument

__all__ = [
    "Change",
    "CheckReport",
    "Merged",
    "Move",
    "Position",
    "PruneReport",
    "Put",
    "StoreStatus",
    "Stored",
]

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
