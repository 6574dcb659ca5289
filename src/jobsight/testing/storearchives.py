"""Conformance of stores: moving old jobs to the archive, and reading both as one."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobsight.documents import JobDocument, State, merge
from jobsight.errors import ConflictError, StoreError
from jobsight.store import Put, Store
from jobsight.store.parts import name_of
from jobsight.testing.storedocuments import NOON, event, made_document, made_partial
from jobsight.testing.storeprocesses import StoreTests, prune_until, start

__all__ = ["ArchiveTests"]

HOUR = 3_600_000_000


def _documents(many: int = 30) -> list[JobDocument]:
    """Jobs, one an hour; every third still runs."""
    return [
        made_document(
            number,
            State.RUNNING if number % 3 == 0 else State.COMPLETED,
            time=NOON + number * HOUR,
            user=f"user{number % 4}",
        )
        for number in range(many)
    ]


def _filled(store: Store) -> list[JobDocument]:
    """The documents, which are in the store now."""
    documents = _documents()
    store.put([Put(one) for one in documents])
    return documents


def _before_retiring(store: Store, act: Callable[[], object]) -> None:
    """Let something happen after the store has written a part, and before it registers it."""
    original = store._retire

    def retire(*arguments: Any) -> int:
        act()
        return original(*arguments)

    store._retire = retire  # type: ignore[method-assign,assignment]


def _stopped(store: Store) -> str:
    """What a prune says that cannot go on."""
    with pytest.raises(StoreError) as error:
        store.prune(NOON + 10 * HOUR)
    return str(error.value)


class _SlowPrune:
    """A prune in another thread that stands still before it clears the archive's folder.

    Args:
        store: the thread's own.
        clearing: which clearing: 1 is the first, 2 the last.
    """

    def __init__(self, store: Store, clearing: int) -> None:
        archive = store._archive()
        original = archive.clear
        calls = [0]
        self._stands, self._go = threading.Event(), threading.Event()

        def clear(*arguments: Any) -> None:
            calls[0] += 1
            if calls[0] == clearing:
                self._stands.set()
                assert self._go.wait(60)
            original(*arguments)

        def prune() -> None:
            try:
                store.prune(NOON + 5 * HOUR)
            except StoreError as error:
                self.error = str(error)

        archive.clear = clear  # type: ignore[method-assign,assignment]
        self.error = ""
        self._thread = threading.Thread(target=prune)
        self._thread.start()
        assert self._stands.wait(60)

    def go_on(self) -> None:
        """Let it go on to its end."""
        self._go.set()
        self._thread.join()


class ArchiveTests(StoreTests):
    """Part of `jobsight.testing.StoreContract`."""

    def test_old_jobs_move_and_are_still_there(self) -> None:
        opener = self.new_opener()
        documents = _documents()
        with opener() as store, opener() as other:
            store.put([Put(one) for one in documents])
            generation = store.generation()
            report = store.prune(NOON + 15 * HOUR)
            assert (report.documents, report.parts) == (10, 1)
            assert report.bytes > 0
            assert store.generation() != generation
            assert store.prune(NOON + 15 * HOUR).documents == 0
            assert store.prune(NOON + 20 * HOUR).documents == 3
            for reader in (store, other):
                found = reader.get([one.id for one in documents])
                assert [found[one.id].document for one in documents] == documents
                assert sum(one.revision is None for one in found.values()) == 13
                assert list(reader.scan()) == documents
                assert list(reader.scan(newest_first=True)) == documents[::-1]
                assert list(reader.scan(limit=12)) == documents[:12]
                middle = reader.scan(since=NOON + 10 * HOUR, until=NOON + 17 * HOUR, user="user1")
                assert list(middle) == [documents[13]]
                assert len(list(reader.scan(states=[State.COMPLETED]))) == 20
                assert reader.numbered("1") == [documents[1].id]
                status = reader.status()
                assert (status.archived, status.states) == (13, {"running": 10, "completed": 7})
                assert status.archive_bytes > 0
                check = reader.check()
                assert (check.documents, check.archived, check.problems) == (17, 13, 0)

    def test_a_few_jobs_wait_until_it_is_worth_a_file(self) -> None:
        with self.new_opener()() as store:
            documents = _filled(store)
            due = NOON + 15 * HOUR
            assert store.prune(due, least=11).documents == 0
            assert store.prune(due, least=11, overdue=NOON + HOUR).documents == 0
            assert store.status().archived == 0
            assert store.prune(due, least=10).documents == 10
            assert store.prune(due + 6 * HOUR, least=5, overdue=NOON + 16 * HOUR).documents == 0
            overdue = NOON + 16 * HOUR + 1
            assert store.prune(due + 6 * HOUR, least=5, overdue=overdue).documents == 4
            assert list(store.scan()) == documents
            assert store.status().archived == 14

    def test_a_late_event_brings_a_job_back(self) -> None:
        with self.new_opener()() as store:
            old = made_document(1)
            store.put([Put(old), Put(made_document(2, time=NOON + HOUR))])
            store.prune(NOON + 1)
            assert store.merge([old]).unchanged == 1
            assert store.get([old.id])[old.id].revision is None
            late = made_partial(1, event(NOON + 2 * HOUR, State.FAILED, position=9999))
            whole = merge(old, late)
            for _ in range(3):
                store.merge([late])
                assert store.get([old.id])[old.id].document == whole
                assert [one.id for one in store.scan()] == [made_document(2).id, old.id]
                assert list(store.scan(until=NOON + 1)) == []
                store.prune(NOON + 3 * HOUR)
                later = event(NOON + 2 * HOUR + 1, State.FAILED, position=10_000)
                late = made_partial(1, later)
                whole = merge(whole, late)
            assert store.check().problems == 0

    def test_a_prune_between_reading_and_writing_is_a_conflict(self) -> None:
        with self.new_opener()() as store:
            generation = store.generation()
            document = made_document(1)
            store.put([Put(document)], generation=generation)
            store.prune(NOON + 1)
            for based_on in (made_document(1), made_document(2)):
                with pytest.raises(ConflictError) as conflict:
                    store.put([Put(based_on)], generation=generation)
                assert conflict.value.ids == (based_on.id,)
            store.put([Put(made_document(2))], generation=store.generation())

    def test_a_job_that_changes_while_it_is_archived_stays(self) -> None:
        opener = self.new_opener()
        with opener() as store, opener() as other:
            documents = [made_document(number) for number in range(4)]
            store.put([Put(one) for one in documents])
            late = made_partial(2, event(NOON + 2 * HOUR, State.FAILED, position=99_999))
            _before_retiring(store, lambda: other.merge([late]))
            assert store.prune(NOON + HOUR).documents == 3
            found = store.get([documents[2].id])[documents[2].id]
            assert (found.document, found.revision is None) == (merge(documents[2], late), False)
            assert {one.id for one in store.scan()} == {one.id for one in documents}
            assert len(list(store.scan())) == 4

    def test_a_scan_goes_on_while_jobs_are_archived(self) -> None:
        opener = self.new_opener()
        with opener() as store, opener() as other:
            documents = [made_document(at, time=NOON + at) for at in range(1700)]
            for start_ in range(0, 1700, 850):
                store.put([Put(one) for one in documents[start_ : start_ + 850]])
            seen = []
            for number, document in enumerate(store.scan()):
                seen.append(document)
                if number in (3, 700):
                    other.prune(NOON + 2 * number + 200)
                if number == 900:
                    other.merge([made_partial(10, event(NOON + 5000, None, position=10**9))])
            assert seen[:1700] == documents
            assert len(seen) == 1700

    def test_of_two_prunes_the_first_stops(self) -> None:
        opener = self.new_opener()
        with opener() as store, opener() as other:
            documents = _filled(store)
            _before_retiring(store, lambda: other.prune(NOON + 2 * HOUR))
            assert "another prune" in _stopped(store)
            assert list(other.scan()) == documents
            assert other.check().problems == 0

    def test_a_prune_whose_file_a_later_one_clears_away_says_why_it_stops(self) -> None:
        opener = self.new_opener()
        with opener() as store, opener() as other:
            documents = _filled(store)
            archive = store._archive()
            original = archive.require

            def require(part: Any) -> None:
                other.prune(NOON + 2 * HOUR)
                original(part)

            archive.require = require  # type: ignore[method-assign]
            assert "another prune" in _stopped(store)
            assert list(other.scan()) == documents
            assert other.check().problems == 0

    def test_a_folder_into_which_a_copy_was_pruned_is_refused(self) -> None:
        with self.new_opener()() as store:
            documents = _filled(store)
            store.prune(NOON + 5 * HOUR)
            known, folder = store._parts()[-1].name, store._archive().folder
            other = name_of(store._number("fence") + 1, 0)
            copied = folder / other
            copied.write_bytes((folder / known).read_bytes())
            for _ in range(3):
                assert f"{other}, which this store does not know" in _stopped(store)
                assert store.prune(NOON).documents == 0
            assert copied.exists()
            assert list(store.scan()) == documents
            copied.unlink()
            assert store.prune(NOON + 10 * HOUR).documents == 3

    def test_nothing_is_written_to_a_folder_that_lacks_what_was(self) -> None:
        with self.new_opener()() as store:
            _filled(store)
            store.prune(NOON + 5 * HOUR)
            archive = store._archive()
            away = archive.folder.rename(f"{archive.folder}.away")
            store.put([Put(made_document(99, access_point="other"))])
            assert "is missing" in _stopped(store)
            assert not archive.folder.exists()
            away.rename(archive.folder)
            assert store.prune(NOON + 10 * HOUR).documents == 4
            assert len(list(store.scan())) == 31

    def test_a_prune_leaves_the_files_of_a_later_one(self) -> None:
        for clearing in (1, 2):
            opener = self.new_opener()
            with opener() as store, opener() as other:
                documents = _filled(store)
                earlier = _SlowPrune(other, clearing)
                _before_retiring(store, earlier.go_on)
                moved = store.prune(NOON + 15 * HOUR).documents
                # What the earlier one had moved before it stood still is not moved again.
                assert moved == (10 if clearing == 1 else 7)
                assert ("another prune" in earlier.error) == (clearing == 1)
                assert list(store.scan()) == documents
                assert store.check().problems == 0

    def test_a_part_that_is_gone_is_not_registered(self) -> None:
        with self.new_opener()() as store:
            documents = _filled(store)
            archive = store._archive()
            original = archive.write

            def write(*arguments: Any) -> Any:
                part = original(*arguments)
                (archive.folder / part.name).unlink()
                return part

            archive.write = write  # type: ignore[method-assign,assignment]
            assert "is missing" in _stopped(store)
            assert list(store.scan()) == documents
            assert store.status().archived == 0

    def test_killed_at_any_point_of_a_prune(self) -> None:
        opener = self.new_opener()
        shares = [0.1 + 0.9 * number / self.kills for number in range(1, self.kills + 1)]
        documents = _documents(3 * self.kills + 6)
        with tempfile.TemporaryDirectory() as folder:
            counts = Path(folder) / "counts"
            with opener() as store:
                store.put([Put(one) for one in documents])
            counting = start(prune_until, opener, NOON + 3 * HOUR, None, str(counts))
            counting.join()
            assert counting.exitcode == 0
            moved = 3
            codes: set[int | None] = set()
            for share in shares:
                moved += 3
                before = NOON + moved * HOUR
                last = max(1, round(int(counts.read_text()) * share))
                killed = start(prune_until, opener, before, last, f"{counts}.none")
                killed.join()
                codes.add(killed.exitcode)
                with opener() as store:
                    assert list(store.scan()) == documents
                    assert list(store.scan(newest_first=True)) == documents[::-1]
                    found = store.get([one.id for one in documents])
                    assert [found[one.id].document for one in documents] == documents
                    assert store.check().problems == 0
            # The last may be a step too late, as what is counted varies a little.
            assert -9 in codes
            assert codes <= {0, -9}
            with opener() as store:
                store.prune(NOON + moved * HOUR)
                assert list(store.scan()) == documents
                assert store.status().archived == moved - (moved + 2) // 3
