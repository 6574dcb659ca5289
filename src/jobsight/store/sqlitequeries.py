"""Questions to the table of jobs, as SQL; and its answers, as rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator

from jobsight.errors import StoreError
from jobsight.store.packing import ACTIVE, Keys, cluster_of
from jobsight.store.rows import Order, Query, Row

__all__ = ["changed_rows", "live_rows", "read_rows", "revisions", "selection"]

_COLUMNS = "jobs.id, state, user, time, revision, document, raw"
_ASKED = "FROM json_each(?) AS asked CROSS JOIN jobs ON jobs.id = asked.value"
_PAGE_BYTES = 16 << 20


def selection(query: Query, after: Order | None) -> tuple[str, list[object]]:
    """The statement of a page, its count yet to be given, and its values.

    The index is named: SQLite has no statistics of a table that grows all the time, and a page must
    never sort what is behind it.
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
        # A semicolon follows the colon that ends the cluster's part of an id.
        conditions.append("id > ? AND id < ?")
        values += (f"{query.cluster}:", f"{query.cluster};")
    for condition, value in (("time >= ?", query.since), ("time < ?", query.until)):
        if value is not None:
            conditions.append(condition)
            values.append(min(max(value, -(2**63)), 2**63 - 1))
    if after is not None:
        conditions.append(f"(time, id) {'<' if query.newest_first else '>'} (?, ?)")
        values += after
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    way = "DESC" if query.newest_first else "ASC"
    return (
        f"SELECT {_COLUMNS} FROM jobs INDEXED BY {index} {where} "  # noqa: S608
        f"ORDER BY time {way}, id {way} LIMIT ?",
        values,
    )


def changed_rows(db: sqlite3.Connection, since: int) -> Iterator[Row]:
    """Rows with a later revision than `since`."""
    for columns in db.execute(f"SELECT {_COLUMNS} FROM jobs WHERE revision > ?", (since,)):  # noqa: S608
        yield _row(*columns)


def read_rows(cursor: sqlite3.Cursor) -> list[Row]:
    """The rows of a cursor of `_COLUMNS`, until they have 16 MB."""
    found = []
    held = 0
    for columns in cursor:
        found.append(_row(*columns))
        held += len(found[-1].data)
        if held >= _PAGE_BYTES:
            break
    cursor.close()
    return found


def live_rows(db: sqlite3.Connection, ids: Collection[str]) -> dict[str, Row]:
    """The live rows among these jobs."""
    if not ids:
        return {}
    cursor = db.execute(f"SELECT {_COLUMNS} {_ASKED}", (json.dumps(list(ids)),))
    return {columns[0]: _row(*columns) for columns in cursor}


def _row(
    id_: str, state: str, user: str | None, time: int, revision: int, data: bytes, raw: str | None
) -> Row:
    """A row of its columns, which SQLite returns as they are in a damaged page, of any type."""
    texts = type(id_) is type(state) is str and all(
        one is None or type(one) is str for one in (user, raw)
    )
    if not (texts and type(time) is type(revision) is int and type(data) is bytes):
        raise StoreError(
            "a page of the store is damaged; keep a copy, and restore a backup (all that is "
            "wrong: jobsight store check)"
        )
    return Row(Keys(id_, cluster_of(id_), state, user, time, raw), revision, data)


def revisions(db: sqlite3.Connection, ids: Collection[str]) -> dict[str, int]:
    """Revisions of the live jobs among these."""
    return dict(db.execute(f"SELECT jobs.id, revision {_ASKED}", (json.dumps(list(ids)),)))
