"""Embedded stores that another version wrote, and the way from schema to schema."""

import sqlite3
from pathlib import Path

import pytest

from jobsight.documents import JobDocument, Submission
from jobsight.errors import StoreError
from jobsight.settings import StoreSettings
from jobsight.store import Move, Put
from jobsight.store.sqlite import SqliteStore
from jobsight.store.sqlitefile import STEPS
from jobsight.testing import made_document
from jobsight.testing.storedocuments import NOON

QUICK = StoreSettings(busy_timeout_s=0.1)


def test_schemas(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SqliteStore(path, QUICK, create=True) as store:
        store.put([Put(made_document(1))])

    def become(schema: int) -> None:
        with sqlite3.connect(path) as db:
            db.execute(f"PRAGMA user_version = {schema}")
        db.close()

    become(3)
    with pytest.raises(StoreError, match=r"schema 3, and this version knows 2.*newer"):
        SqliteStore(path, QUICK, older=True)
    become(0)
    with pytest.raises(StoreError, match="jobsight store migrate"):
        SqliteStore(path, QUICK)
    with SqliteStore(path, QUICK, older=True) as store:
        with pytest.raises(StoreError, match="no released version"):
            store.migrate()

        def fail(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM jobs")
            raise sqlite3.DatabaseError("a step that fails")

        monkeypatch.setitem(STEPS, 0, fail)
        with pytest.raises(StoreError, match="a step that fails"):
            store.migrate()
        assert len(list(store.scan())) == 1
        monkeypatch.setitem(STEPS, 0, lambda db: None)
        assert store.migrate() == (0, 2)
    with SqliteStore(path, QUICK) as store:
        assert store.migrate() == (2, 2)
        assert len(list(store.scan())) == 1


def test_who_opened_a_file_before_it_was_migrated_writes_no_more(path: Path) -> None:
    with SqliteStore(path, QUICK, create=True) as store:
        store.put([Put(made_document(1))])
        with sqlite3.connect(path) as db:
            db.execute("PRAGMA user_version = 3")
        db.close()
        with pytest.raises(StoreError, match=r"schema 3, and this version knows 2.*newer"):
            store.put([Put(made_document(2))], [Move("log", None, {"at": 1})])
        assert len(list(store.scan())) == 1
        assert store.positions() == {}


def test_raw_numbers_come_into_a_file_of_schema_1(path: Path) -> None:
    tasks = [
        JobDocument(id=f"slurm:c:7_{at}", updated=NOON, submission=Submission(raw_id=str(8 + at)))
        for at in range(1100)
    ]
    with SqliteStore(path, QUICK, create=True) as store:
        store.put([Put(one) for one in (*tasks, made_document(1))])
    with sqlite3.connect(path) as db:
        db.executescript(
            "DROP INDEX jobs_by_raw; ALTER TABLE jobs DROP COLUMN raw; PRAGMA user_version = 1;"
            "UPDATE jobs SET document = x'00' WHERE id = 'slurm:c:7_3'"
        )
    db.close()
    with pytest.raises(StoreError, match="jobsight store migrate"):
        SqliteStore(path, QUICK)
    with SqliteStore(path, QUICK, older=True) as store:
        assert store.migrate() == (1, 2)
    with SqliteStore(path, QUICK) as store:
        assert store.raw("1107") == ["slurm:c:7_1099"]
        assert store.raw("11") == []  # that of the document that was damaged
        assert store.check().problems == 1
        store.put([Put(tasks[0], store.get([tasks[0].id])[tasks[0].id].revision)])
    with sqlite3.connect(path) as db:
        db.execute("UPDATE jobs SET raw = '5' WHERE id = 'slurm:c:7_9'")
    db.close()
    with SqliteStore(path, QUICK) as store:
        assert any("raw number 5" in one for one in store.check().first)
        assert store.raw("5") == []


def test_raw_numbers_are_looked_up_in_their_index(path: Path) -> None:
    with SqliteStore(path, QUICK, create=True) as store, sqlite3.connect(path) as db:
        asked = "EXPLAIN QUERY PLAN SELECT id FROM jobs WHERE raw = '7' ORDER BY id"
        (plan,) = (row[3] for row in db.execute(asked))
        assert plan == "SEARCH jobs USING COVERING INDEX jobs_by_raw (raw=?)"
        store.close()
    db.close()
