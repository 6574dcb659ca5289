"""What a store tells of itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from jobsight.documents import JSON

__all__ = ["CheckReport", "Position", "PruneReport", "StoreStatus"]

Position = dict[str, JSON]
"""Where a source stands: small, plain JSON, understood by the source alone."""


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
        documents: live documents looked at.
        archived: documents of the archive looked at.
        problems: number of problems.
        first: the first of them, in words.
        wider: files and folders that others than the setting `group_access` says may read or
            write, and what to do; no problem of what they hold.
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
        bytes: of the live documents with their indexes: disk, or the server's memory; None: it
            does not tell.
        bytes_per_job: of a live document; None: there are none, or the server does not tell. Redis:
            estimated from samples.
        archive_bytes: disk used by the archive.
        positions: where each source stands.
        details: what else the backend tells, such as how durable it is.
    """

    url: str
    backend: str
    schema: int
    states: dict[str, int]
    active: int
    archived: int
    bytes: int | None
    bytes_per_job: float | None
    archive_bytes: int
    positions: dict[str, Position]
    details: dict[str, JSON] = field(default_factory=dict)
