"""Questions to the table of jobs, as SQL; and its answers, as rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import suppress

from jobsight.errors import StoreError
from jobsight.store.packing import ACTIVE, Keys, cluster_of, raw_in, unzip
from jobsight.store.rows import Order, Query, Row

__all__ = [
    "COLUMNS",
    "live_rows",
    "read_rows",
    "revisions",
    "selection",
    "within_cluster",
    "wrong_raws",
]

COLUMNS = "id, state, user, time, revision, document"

_PAGE_BYTES = 16 << 20
_PAGE = 500


def selection(query: Query, after: Order | None) -> tuple[str, list[object]]:
    """The statement of a page, its count yet to be given, and its values.

    The index is named: SQLite has no statistics of a table that grows all the time, and a page must
    never sort what lies behind it.
    """
    conditions, values = [], list[object]()
    index = "jobs_by_time"
    if query.states is not None:
        conditions.append("state IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(sorted(query.states)))
        if query.states <= ACTIVE:
            conditions.append("active")
            index = "jobs_active_by_time"
        if len(query.states) == 1:
            conditions[0], values[0] = "state = ?", next(iter(query.states))
            index = "jobs_by_state"
    if query.user is not None:
        conditions.append("user = ?")
        values.append(query.user)
        index = "jobs_by_user"
    if query.cluster is not None:
        within, bounds = within_cluster(query.cluster)
        conditions.append(within.removeprefix("AND "))
        values += bounds
    for condition, value in (("time >= ?", query.since), ("time < ?", query.until)):
        if value is not None:
            conditions.append(condition)
            values.append(min(max(value, -(2**63)), 2**63 - 1))
    if after is not None:
        conditions.append(f"(time, id) {'<' if query.newest_first else '>'} (?, ?)")
        values += query.place(after)
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    way = "DESC" if query.newest_first else "ASC"
    return (
        f"SELECT {COLUMNS} FROM jobs INDEXED BY {index} {where} "  # noqa: S608
        f"ORDER BY time {way}, id {way} LIMIT ?",
        values,
    )


def within_cluster(cluster: str | None) -> tuple[str, tuple[str, ...]]:
    """A condition that picks one cluster's ids (None: any), and its values."""
    # A semicolon follows the colon that ends the cluster's part of an id.
    return (
        ("", ()) if cluster is None else ("AND id > ? AND id < ?", (f"{cluster}:", f"{cluster};"))
    )


def read_rows(cursor: sqlite3.Cursor) -> list[Row]:
    """The rows of a cursor of `COLUMNS`, until they have 16 MB."""
    found = []
    held = 0
    for id_, state, user, time, revision, data in cursor:
        found.append(_row(id_, state, user, time, revision, data))
        held += len(data)
        if held >= _PAGE_BYTES:
            break
    cursor.close()
    return found


def live_rows(db: sqlite3.Connection, ids: Collection[str]) -> dict[str, Row]:
    """The live rows among these jobs."""
    if not ids:
        return {}
    cursor = db.execute(
        f"SELECT {COLUMNS} FROM jobs WHERE id IN (SELECT value FROM json_each(?))",  # noqa: S608
        (json.dumps(list(ids)),),
    )
    return {columns[0]: _row(*columns) for columns in cursor}


def _row(id_: str, state: str, user: str | None, time: int, revision: int, data: bytes) -> Row:
    """A row of its columns, which SQLite hands out as they lie in a damaged page, of any type."""
    texts = type(id_) is type(state) is str and (user is None or type(user) is str)
    if not (texts and type(time) is type(revision) is int and type(data) is bytes):
        raise StoreError(
            "a page of the store is damaged; keep a copy, and bring back a backup (all that is "
            "wrong: jobsight store check)"
        )
    return Row(Keys(id_, cluster_of(id_), state, user, time), revision, data)


def revisions(db: sqlite3.Connection, ids: Collection[str]) -> dict[str, tuple[int, str]]:
    """Revision and state of the live jobs among these."""
    rows = db.execute(
        "SELECT id, revision, state FROM jobs WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ids)),),
    )
    return {id_: (revision, state) for id_, revision, state in rows}


def wrong_raws(db: sqlite3.Connection) -> Iterator[str]:
    """What is wrong with the column of raw numbers; damaged documents are passed over."""
    after = -1
    while rows := db.execute(
        "SELECT number, id, raw, document FROM jobs WHERE number > ? "
        "AND id > 'slurm:' AND id < 'slurm;' ORDER BY number LIMIT ?",
        (after, _PAGE),
    ).fetchall():
        after = rows[-1][0]
        for _, id_, kept, data in rows:
            with suppress(StoreError):
                raw = raw_in(unzip(data, id_), id_)
                if kept != raw:
                    yield (
                        f"the index has {id_!r} under the raw number {kept}, but the document says "
                        f"{raw}"
                    )
