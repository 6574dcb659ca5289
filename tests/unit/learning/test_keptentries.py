"""The entries of a store between calls: what changed is read, and nothing that is out of date."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

from jobsight.documents import Event, JobDocument, State, condor_id
from jobsight.history.eventtables import event_table
from jobsight.learning import keptentries
from jobsight.learning.keptentries import KeptEntries
from jobsight.store import open_store
from jobsight.store.base import Store

LOG = "eventlog#1790000000.000001.00c0ffee"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterable[Store]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(keptentries, "_FEW", 3)
    with open_store(str(tmp_path / "jobs.db"), create=True) as opened:
        opened.merge([job(number, 0, State.PENDING) for number in range(3)])
        yield opened


def job(number: int, code: int, state: State) -> JobDocument:
    time, place = (1_000 * number + code) * 1_000_000, 1_000 * number + code + 1
    event = Event(time=time, source=LOG, position=place, state=state, code=code)
    return JobDocument(id=condor_id("ap", number, 0), updated=time, timeline=(event,))


def entries(store: Store) -> list[str]:
    """Which documents are read; the event table is that of all documents."""
    read: list[str] = []

    def shown(documents: Iterable[JobDocument]) -> Iterable[JobDocument]:
        for one in documents:
            read.append(one.id)
            yield one

    assert_frame_equal(KeptEntries.of(store, shown).table, event_table(store.scan()))
    return sorted(read)


def test_only_documents_that_changed_are_read_again(store: Store) -> None:
    every = [condor_id("ap", number, 0) for number in range(3)]
    assert entries(store) == every
    assert entries(store) == []
    store.merge([job(1, 1, State.RUNNING)])
    assert entries(store) == [every[1]]
    assert entries(store) == [every[1]]  # too few to be written again
    store.merge([job(2, 1, State.RUNNING)])
    assert entries(store) == every[1:]
    assert entries(store) == []


def test_all_is_read_where_jobs_have_moved_to_the_archive(store: Store) -> None:
    entries(store)
    store.merge([job(0, 5, State.COMPLETED)])
    store.prune(2**60)
    assert store.status().archived == 1
    assert len(entries(store)) == 3


@pytest.mark.parametrize("damage", [b"", b"PAR1 and no more"])
def test_what_is_damaged_is_made_anew(store: Store, tmp_path: Path, damage: bytes) -> None:
    entries(store)
    (kept,) = tmp_path.glob("cache/jobsight/entries/*.parquet")
    kept.write_bytes(damage)
    assert len(entries(store)) == 3
    assert entries(store) == []


def test_a_store_that_was_put_back_is_read_anew(store: Store, tmp_path: Path) -> None:
    files = (tmp_path / "jobs.db", tmp_path / "copy.db")
    with closing(sqlite3.connect(files[0])) as now, closing(sqlite3.connect(files[1])) as copy:
        now.backup(copy)
    store.merge([job(number, 5, State.COMPLETED) for number in range(3)])
    entries(store)
    with open_store(str(tmp_path / "copy.db")) as earlier:
        assert len(entries(earlier)) == 3


def test_a_store_that_was_put_back_and_went_on_is_read_anew(store: Store, tmp_path: Path) -> None:
    with (
        closing(sqlite3.connect(tmp_path / "jobs.db")) as now,
        closing(sqlite3.connect(tmp_path / "copy.db")) as copy,
    ):
        now.backup(copy)
    store.merge([job(number, 5, State.COMPLETED) for number in range(3)])
    entries(store)
    with open_store(str(tmp_path / "copy.db")) as earlier:
        for number in range(2, 6):  # beyond the revision that was kept
            earlier.merge([job(number, 1, State.RUNNING)])
        assert earlier.revision() > store.revision()
        assert len(entries(earlier)) == 6
        assert entries(earlier) == []
