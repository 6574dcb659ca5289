"""The raw numbers of jobs in an SQLite file: found, checked, and added to a file of schema 1."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress

from jobsight.errors import StoreError
from jobsight.store.packing import raw_in, unzip

__all__ = ["add_raws", "raw_ids", "wrong_raws"]

_PAGE = 500


def raw_ids(db: sqlite3.Connection, number: str) -> list[str]:
    """Ids of the jobs that have this raw number (`packing.raw_of`), in order."""
    rows = db.execute("SELECT id FROM jobs WHERE raw = ? ORDER BY id", (number,))
    return [id_ for (id_,) in rows]


def add_raws(db: sqlite3.Connection) -> None:
    """From schema 1 to 2: a column for raw numbers, filled from the documents, and its index."""
    if not any(name == "raw" for _, name, *_ in db.execute("PRAGMA table_info(jobs)")):
        db.execute("ALTER TABLE jobs ADD COLUMN raw TEXT")
    for number, _, _, raw in _told(db):
        if raw is not None:
            db.execute("UPDATE jobs SET raw = ? WHERE number = ?", (raw, number))
    db.execute("CREATE INDEX IF NOT EXISTS jobs_by_raw ON jobs (raw, id) WHERE raw IS NOT NULL")


def wrong_raws(db: sqlite3.Connection) -> Iterator[str]:
    """What is wrong with the column of raw numbers."""
    for _, id_, kept, raw in _told(db):
        if kept != raw:
            yield f"the index has {id_!r} under the raw number {kept}, but the document says {raw}"


def _told(db: sqlite3.Connection) -> Iterator[tuple[int, str, str | None, str | None]]:
    """Number, id, raw number as kept and as in the document, of jobs of Slurm.

    Damaged documents are passed over: `check` tells of them.
    """
    after = -1
    while rows := db.execute(
        "SELECT number, id, raw, document FROM jobs WHERE number > ? "
        "AND id > 'slurm:' AND id < 'slurm;' ORDER BY number LIMIT ?",
        (after, _PAGE),
    ).fetchall():
        after = rows[-1][0]
        for number, id_, raw, data in rows:
            with suppress(StoreError):
                yield number, id_, raw, raw_in(unzip(data, id_), id_)
