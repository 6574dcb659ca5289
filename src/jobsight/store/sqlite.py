"""Job documents in one SQLite file: the embedded default.

*Durability.* The write-ahead log lets many read while one writes, and `synchronous=FULL` syncs it
at each commit, since what follows a commit may be published (a Kafka offset): so what was
put survives a loss of power too. A commit has thousands of documents, and one sync does not slow
them. A killed process leaves a log from which SQLite restores what was committed, and no more.

*Writers.* Any number of processes; a transaction takes the write lock when it begins
(``BEGIN IMMEDIATE``), so it cannot fail half-way for a lock, and waits for it as long as
`store.busy_timeout_s` says. Each thread has a connection of its own.

*Versions.* ``application_id`` is 0x4A6F6273 ("Jobs"), ``user_version`` the schema.
"""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from jobsight.documents import JSON
from jobsight.errors import ConflictError, StoreError
from jobsight.settings import StoreSettings
from jobsight.store.archive import Part, PartList
from jobsight.store.base import Backend, OvertakenError, PositionWrite, RowWrite, View
from jobsight.store.packing import ACTIVE, cluster_of
from jobsight.store.rows import Keys, Order, Query, Row
from jobsight.store.sqlitefile import SqliteFile, filesystem_of

__all__ = ["SqliteBackend", "selection"]

_COLUMNS = "jobs.id, state, user, time, revision, document, raw"
_ASKED = "FROM json_each(?) AS asked CROSS JOIN jobs ON jobs.id = asked.value"
_PAGE_BYTES = 16 << 20
_INSERT = """
    INSERT INTO jobs (id, state, user, time, raw, revision, document) VALUES {}
    ON CONFLICT (id) DO UPDATE SET state = excluded.state, user = excluded.user,
        time = excluded.time, raw = excluded.raw, revision = excluded.revision,
        document = excluded.document
"""
_ROW = "(?, ?, ?, ?, nullif(?, ''), ?, ?)"
_ROWS = 200
"""Rows of one statement: one by one they take twice as long."""


class SqliteBackend(Backend):
    """The rows of a store in one file.

    The archive is next to the file itself, not to a link to it, in ``<path>.archive``, unless the
    settings name a folder. With `create` the file is made where there is none.

    Raises:
        StoreUnavailableError, StoreError: as by `jobsight.store.open_store`.
    """

    name = "sqlite"

    def __init__(
        self,
        path: Path,
        settings: StoreSettings | None = None,
        *,
        create: bool = False,
        filesystem: Callable[[Path], str | None] = filesystem_of,
    ) -> None:
        settings = settings or StoreSettings()
        self._file = SqliteFile(path, settings.busy_timeout_s, filesystem)
        self._file.open(create=create)
        self._path = os.path.realpath(path)
        self._parts = PartList()
        self.url = str(path)
        self.archive = Path(settings.archive or f"{self._path}.archive").expanduser()

    def write(
        self,
        rows: Sequence[RowWrite],
        positions: Sequence[PositionWrite] = (),
        generation: int | None = None,
    ) -> None:
        with self._file.writing() as db:
            known = "SELECT position FROM positions WHERE source = ?"
            moved = [
                source
                for source, old, _ in positions
                if old != next((text for (text,) in db.execute(known, (source,))), None)
            ]
            if moved:
                raise ConflictError(sources=tuple(moved))
            ids = json.dumps([row.keys.id for row in rows])
            before = dict(db.execute(f"SELECT jobs.id, revision {_ASKED}", (ids,)))
            grown = generation is not None and generation != _number(db, "generation")
            changed = [
                keys.id
                for keys, _, based_on in rows
                if before.get(keys.id) != based_on or (grown and based_on is None)
            ]
            if changed:
                raise ConflictError(tuple(changed))
            revision = _next(db, "revision")
            for start in range(0, len(rows), _ROWS):
                # Of types that sqlite3 binds as they are: for each other value, None among them,
                # it looks for an adapter, which takes longer than to bind it.
                values = [
                    (keys.id, keys.state, keys.user, keys.time, keys.raw or "", revision,
                     bytearray(data))
                    for keys, data, _ in rows[start : start + _ROWS]
                ]  # fmt: skip
                places = ", ".join([_ROW] * len(values))
                db.execute(_INSERT.format(places), [*itertools.chain.from_iterable(values)])
            db.executemany(
                "INSERT INTO positions (source, position) VALUES (?, ?) "
                "ON CONFLICT (source) DO UPDATE SET position = excluded.position",
                [(source, new) for source, _, new in positions],
            )

    def read(self, ids: Collection[str]) -> dict[str, Row]:
        with self._file.reading() as db:
            return _read(db, ids)

    @contextmanager
    def view(self) -> Iterator[View]:
        with self._file.snapshot() as db:
            with self._file.explained():
                parts = self._parts_in(db)
            yield _Snapshot(db, self._file.explained, parts)

    def changed(self, since: int) -> Iterator[Row]:
        with self._file.explained(), self._file.snapshot() as db:
            later = f"SELECT {_COLUMNS} FROM jobs WHERE revision > ?"  # noqa: S608
            yield from (_row(*columns) for columns in db.execute(later, (since,)))

    def ids(self, first: str, end: str | None, count: int) -> list[str]:
        with self._file.reading() as db:
            rows = db.execute(
                "SELECT id FROM jobs WHERE id >= ? AND id < ? ORDER BY id LIMIT ?",
                (first, "\U0010ffff" if end is None else end, count),
            )
            return [id_ for (id_,) in rows]

    def ids_by_raw(self, number: str) -> Collection[str]:
        with self._file.reading() as db:
            return [id_ for (id_,) in db.execute("SELECT id FROM jobs WHERE raw = ?", (number,))]

    def positions(self, source: str | None = None) -> Mapping[str, str]:
        asked = "SELECT source, position FROM positions WHERE ?1 IS NULL OR source = ?1"
        with self._file.reading() as db:
            return dict(db.execute(asked, (source,)))

    def number(self, name: str) -> int:
        with self._file.reading() as db:
            return _number(db, name)

    def next_fence(self) -> int:
        with self._file.writing() as db:
            return _next(db, "fence")

    def parts(self) -> Sequence[Part]:
        with self._file.reading() as db:
            return self._parts_in(db)

    def _parts_in(self, db: sqlite3.Connection) -> Sequence[Part]:
        return self._parts.at(
            _number(db, "generation"),
            lambda: (text for (text,) in db.execute("SELECT part FROM parts ORDER BY name")),
        )

    def retire(self, part: Part, rows: Sequence[tuple[Keys, int]], fence: int) -> int:
        with self._file.writing() as db:
            if _number(db, "fence") != fence:
                raise OvertakenError
            gone = db.executemany(
                "DELETE FROM jobs WHERE id = ? AND revision = ?",
                [(keys.id, revision) for keys, revision in rows],
            ).rowcount
            if not gone:
                return 0
            db.execute("INSERT INTO parts (name, part) VALUES (?, ?)", (part.name, part.to_text()))
            _next(db, "generation")
        self._file.shrink()
        return gone

    def states(self) -> dict[str, int]:
        with self._file.reading() as db:
            return dict(db.execute("SELECT state, count(*) FROM jobs GROUP BY state"))

    def size(self, rows: int) -> tuple[int, float | None]:
        return self._file.size(), self._file.used() / rows if rows else None

    def details(self) -> dict[str, JSON]:
        return {
            "durability": "what was put survives a loss of power",
            "sqlite": sqlite3.sqlite_version,
            "read_only": self._file.read_only,
        }

    def problems(self) -> Iterator[str]:
        with self._file.explained(), self._file.snapshot() as db:
            for (problem,) in db.execute("PRAGMA integrity_check(20)"):
                if problem != "ok":
                    yield f"SQLite: {problem}"

    def files(self) -> Iterator[Path]:
        yield from (Path(f"{self._path}{end}") for end in ("", "-wal", "-shm"))

    def close(self) -> None:
        self._file.close()


class _Snapshot(View):
    """One read transaction."""

    is_snapshot = True

    def __init__(
        self,
        db: sqlite3.Connection,
        explained: Callable[[], AbstractContextManager[None]],
        parts: Sequence[Part],
    ) -> None:
        self._db = db
        self._explained = explained
        self.parts = parts
        self.revision = 0

    def page(self, query: Query, after: Order | None, count: int) -> list[Row]:
        text, values = selection(query, after)
        rows: list[Row] = []
        size = 0
        with self._explained():
            cursor = self._db.execute(text, (*values, count))
            for columns in cursor:
                rows.append(_row(*columns))
                size += len(rows[-1].data)
                if size >= _PAGE_BYTES:
                    break
            cursor.close()
        return rows

    def read(self, ids: Collection[str]) -> dict[str, Row]:
        with self._explained():
            return _read(self._db, ids)


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


def _read(db: sqlite3.Connection, ids: Collection[str]) -> dict[str, Row]:
    if not ids:
        return {}
    cursor = db.execute(f"SELECT {_COLUMNS} {_ASKED}", (json.dumps(list(ids)),))
    return {columns[0]: _row(*columns) for columns in cursor}


def _row(
    id_: str, state: str, user: str | None, time: int, revision: int, data: bytes, raw: str | None
) -> Row:
    """A row of its columns, which SQLite returns as they are in a damaged page, of any type."""
    texts = all(text is None or type(text) is str for text in (user, raw))
    if not (
        texts
        and type(id_) is type(state) is str
        and type(time) is type(revision) is int
        and type(data) is bytes
    ):
        raise StoreError(
            "a page of the store is damaged; keep a copy, and restore a backup (all that is "
            "wrong: jobsight store check)"
        )
    return Row(Keys(id_, cluster_of(id_), state, user, time, raw), revision, data)


def _number(db: sqlite3.Connection, name: str) -> int:
    row = db.execute("SELECT value FROM numbers WHERE name = ?", (name,)).fetchone()
    if row is None or type(row[0]) is not int:
        raise StoreError(f"the store is damaged: it has lost its {name}; restore a backup")
    return row[0]


def _next(db: sqlite3.Connection, name: str) -> int:
    db.execute("UPDATE numbers SET value = value + 1 WHERE name = ?", (name,))
    return _number(db, name)
