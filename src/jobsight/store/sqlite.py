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
import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from jobsight.documents import JSON
from jobsight.errors import ConflictError, StoreError
from jobsight.settings import StoreSettings
from jobsight.store.archive import Archive
from jobsight.store.base import Move, Put, Store
from jobsight.store.filesystems import filesystem_of
from jobsight.store.merging import prepare
from jobsight.store.packing import Keys
from jobsight.store.parts import Part
from jobsight.store.pruning import OVERTAKEN
from jobsight.store.rows import Order, Query, Row
from jobsight.store.sqlitefile import SqliteFile
from jobsight.store.sqlitequeries import changed_rows, live_rows, read_rows, revisions, selection
from jobsight.store.views import View

__all__ = ["SqliteStore"]

_INSERT = """
    INSERT INTO jobs (id, state, user, time, raw, revision, document) VALUES {}
    ON CONFLICT (id) DO UPDATE SET state = excluded.state, user = excluded.user,
        time = excluded.time, raw = excluded.raw, revision = excluded.revision,
        document = excluded.document
"""
_ROW = "(?, ?, ?, ?, nullif(?, ''), ?, ?)"
_ROWS = 200
"""Rows of one statement: one by one they take twice as long."""


class SqliteStore(Store):
    """A store in one file.

    Args:
        path: of the file, or a link to it. Its archive is next to the file itself, in
            ``<path>.archive``, unless the settings name a folder.
        settings: of the store.
        create: make the file where there is none.
        filesystem: returns the kind of file system that a path is on.

    Raises:
        StoreUnavailableError, StoreError: as by `jobsight.store.open_store`.
    """

    backend = "sqlite"

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
        self.path = path
        self.url = str(path)
        folder = settings.archive or f"{os.path.realpath(path)}.archive"
        self.archive = Archive(Path(folder).expanduser())

    def put(
        self, puts: Sequence[Put], moves: Sequence[Move] = (), *, generation: int | None = None
    ) -> None:
        """Store documents and positions in one transaction; see `Store.put`."""
        packed, texts = prepare(self, puts, moves)
        with self._file.writing() as db:
            _require_unmoved(db, texts)
            _require_unchanged(db, puts, generation)
            revision = _next(db, "revision")
            for start in range(0, len(packed), _ROWS):
                rows = [_values(*one, revision) for one in packed[start : start + _ROWS]]
                places = ", ".join([_ROW] * len(rows))
                db.execute(_INSERT.format(places), [*itertools.chain.from_iterable(rows)])
            db.executemany(
                "INSERT INTO positions (source, position) VALUES (?, ?) "
                "ON CONFLICT (source) DO UPDATE SET position = excluded.position",
                [(source, new) for source, _, new in texts],
            )

    def changed(self, since: int) -> Iterator[Row]:
        """Live rows with a later revision, by an index; see `Store.changed`."""
        with self._file.explained(), self._file.snapshot() as db:
            yield from changed_rows(db, since)

    def _files(self) -> Iterator[Path]:
        file = os.path.realpath(self.path)
        yield from (Path(f"{file}{end}") for end in ("", "-wal", "-shm"))
        yield from super()._files()

    def _position_texts(self, source: str | None = None) -> Mapping[str, str]:
        with self._file.reading() as db:
            return dict(
                db.execute(
                    "SELECT source, position FROM positions WHERE ?1 IS NULL OR source = ?1",
                    (source,),
                )
            )

    def _states(self) -> dict[str, int]:
        with self._file.reading() as db:
            return dict(db.execute("SELECT state, count(*) FROM jobs GROUP BY state"))

    def _size(self, documents: int) -> tuple[int, float | None]:
        return self._file.size(), self._file.used() / documents if documents else None

    def _details(self) -> dict[str, JSON]:
        return {
            "durability": "what was put survives a loss of power",
            "sqlite": sqlite3.sqlite_version,
            "read_only": self._file.read_only,
        }

    def close(self) -> None:
        """Close all connections; see `Store.close`."""
        self._file.close()

    def _live(self, ids: Collection[str]) -> dict[str, Row]:
        with self._file.reading() as db:
            return live_rows(db, ids)

    @contextmanager
    def _view(self) -> Iterator[View]:
        with self._file.snapshot() as db:
            with self._file.explained():
                parts = self._parts_in(db)
            yield _Snapshot(db, self._file.explained, parts)

    def _parts(self) -> Sequence[Part]:
        with self._file.reading() as db:
            return self._parts_in(db)

    def _parts_in(self, db: sqlite3.Connection) -> Sequence[Part]:
        return self._parts_at(
            _number(db, "generation"),
            lambda: (text for (text,) in db.execute("SELECT part FROM parts ORDER BY name")),
        )

    def _ids(self, first: str, end: str | None, count: int) -> list[str]:
        with self._file.reading() as db:
            rows = db.execute(
                "SELECT id FROM jobs WHERE id >= ? AND id < ? ORDER BY id LIMIT ?",
                (first, "\U0010ffff" if end is None else end, count),
            )
            return [id_ for (id_,) in rows]

    def _live_raw(self, number: str) -> Collection[str]:
        with self._file.reading() as db:
            return [id_ for (id_,) in db.execute("SELECT id FROM jobs WHERE raw = ?", (number,))]

    def _number(self, name: str) -> int:
        with self._file.reading() as db:
            return _number(db, name)

    def _next_fence(self) -> int:
        with self._file.writing() as db:
            return _next(db, "fence")

    def _retire(self, part: Part, rows: Sequence[tuple[Keys, int]], fence: int) -> int:
        with self._file.writing() as db:
            if _number(db, "fence") != fence:
                raise StoreError(OVERTAKEN)
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

    def _index_problems(self) -> Iterator[str]:
        with self._file.explained(), self._file.snapshot() as db:
            for (problem,) in db.execute("PRAGMA integrity_check(20)"):
                if problem != "ok":
                    yield f"SQLite: {problem}"


class _Snapshot(View):
    """One read transaction."""

    settled = True

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
        with self._explained():
            return read_rows(self._db.execute(text, (*values, count)))

    def live(self, ids: Collection[str]) -> dict[str, Row]:
        with self._explained():
            return live_rows(self._db, ids)


def _require_unmoved(db: sqlite3.Connection, moves: Sequence[tuple[str, str | None, str]]) -> None:
    moved = []
    for source, old, _ in moves:
        row = db.execute("SELECT position FROM positions WHERE source = ?", (source,)).fetchone()
        if (row and row[0]) != old:
            moved.append(source)
    if moved:
        raise ConflictError(sources=tuple(moved))


def _require_unchanged(db: sqlite3.Connection, puts: Sequence[Put], generation: int | None) -> None:
    ids = [put.document.id for put in puts]
    before = revisions(db, ids)
    grown = generation is not None and generation != _number(db, "generation")
    changed = tuple(
        id_
        for id_, put in zip(ids, puts, strict=True)
        if before.get(id_) != put.based_on or (grown and put.based_on is None)
    )
    if changed:
        raise ConflictError(changed)


def _values(keys: Keys, data: bytes, revision: int) -> tuple[object, ...]:
    """What `_INSERT` stores.

    Of types that sqlite3 binds as they are: for each other value, None among them, it looks for an
    adapter, which takes longer than to bind it.
    """
    return keys.id, keys.state, keys.user, keys.time, keys.raw or "", revision, bytearray(data)


def _number(db: sqlite3.Connection, name: str) -> int:
    row = db.execute("SELECT value FROM numbers WHERE name = ?", (name,)).fetchone()
    if row is None or type(row[0]) is not int:
        raise StoreError(f"the store is damaged: it has lost its {name}; restore a backup")
    return row[0]


def _next(db: sqlite3.Connection, name: str) -> int:
    db.execute("UPDATE numbers SET value = value + 1 WHERE name = ?", (name,))
    return _number(db, name)
