"""The tables of a store between calls: what changed is read, and nothing that is out of date."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

from jobsight.answering.kept import kept_events, kept_jobs
from jobsight.documents import Event, JobDocument, State, condor_id
from jobsight.history.eventtables import event_table
from jobsight.history.jobtable import JobTable
from jobsight.store import Store, open_store

Kept = Callable[[Store], list[str]]
LOG = "eventlog#1790000000.000001.00c0ffee"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterable[Store]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("jobsight.answering.kept._FEW", 3)
    with open_store(str(tmp_path / "jobs.db"), create=True) as opened:
        opened.merge([job(number, 0, State.PENDING) for number in range(3)])
        yield opened


def job(number: int, code: int, state: State) -> JobDocument:
    time, place = (1_000 * number + code) * 1_000_000, 1_000 * number + code + 1
    event = Event(time=time, source=LOG, position=place, state=state, code=code)
    return JobDocument(id=condor_id("ap", number, 0), updated=time, timeline=(event,))


@pytest.fixture(params=["entries", "jobs"])
def kept(request: pytest.FixtureRequest) -> Kept:
    """Which documents are read for a table, which is that of all documents."""

    def read_for(store: Store) -> list[str]:
        read: list[str] = []

        def shown(documents: Iterable[JobDocument]) -> Iterable[JobDocument]:
            for one in documents:
                read.append(one.id)
                yield one

        if request.param == "entries":
            assert_frame_equal(kept_events(store, shown).table, event_table(store.scan()))
        else:
            found, whole = kept_jobs(store, shown), JobTable.read(store.scan())
            for name in ("table", "starts", "ends", "changes"):
                assert_frame_equal(getattr(found, name), getattr(whole, name))
        return sorted(read)

    return read_for


def test_only_documents_that_changed_are_read_again(store: Store, kept: Kept) -> None:
    every = [condor_id("ap", number, 0) for number in range(3)]
    assert kept(store) == every
    assert kept(store) == []
    store.merge([job(1, 1, State.RUNNING)])
    assert kept(store) == [every[1]]
    assert kept(store) == [every[1]]  # too few to be written again
    store.merge([job(number, 1, State.RUNNING) for number in (0, 2)])
    assert kept(store) == every
    assert kept(store) == []


def test_all_is_read_where_jobs_have_moved_to_the_archive(store: Store, kept: Kept) -> None:
    kept(store)
    store.merge([job(0, 5, State.COMPLETED)])
    store.prune(2**60)
    assert store.status().archived == 1
    assert len(kept(store)) == 3


@pytest.mark.parametrize("damage", [b"", b"PAR1 and no more"])
def test_what_is_damaged_is_made_anew(
    store: Store, kept: Kept, tmp_path: Path, damage: bytes
) -> None:
    kept(store)
    (file,) = tmp_path.glob("cache/jobsight/*/*.parquet")
    file.write_bytes(damage)
    assert len(kept(store)) == 3
    assert kept(store) == []


def test_a_store_that_was_put_back_is_read_anew(store: Store, kept: Kept, tmp_path: Path) -> None:
    files = (tmp_path / "jobs.db", tmp_path / "copy.db")
    with closing(sqlite3.connect(files[0])) as now, closing(sqlite3.connect(files[1])) as copy:
        now.backup(copy)
    store.merge([job(number, 5, State.COMPLETED) for number in range(3)])
    kept(store)
    with open_store(str(tmp_path / "copy.db")) as earlier:
        assert len(kept(earlier)) == 3


def test_a_store_that_was_put_back_and_went_on_is_read_anew(
    store: Store, kept: Kept, tmp_path: Path
) -> None:
    with (
        closing(sqlite3.connect(tmp_path / "jobs.db")) as now,
        closing(sqlite3.connect(tmp_path / "copy.db")) as copy,
    ):
        now.backup(copy)
    store.merge([job(number, 5, State.COMPLETED) for number in range(3)])
    kept(store)
    with open_store(str(tmp_path / "copy.db")) as earlier:
        for number in range(2, 6):  # beyond the revision that was kept
            earlier.merge([job(number, 1, State.RUNNING)])
        assert earlier.revision() > store.revision()
        assert len(kept(earlier)) == 6
        assert kept(earlier) == []
