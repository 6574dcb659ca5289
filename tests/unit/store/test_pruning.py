"""Prunes that meet each other, or an archive that is not as they left it."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.unit.store.sqlite_stores import sqlite_store

from jobsight.documents import JobDocument, State, merge
from jobsight.errors import StoreError
from jobsight.store import Put, Store
from jobsight.store.archive import name_of
from jobsight.testing.madejobs import NOON, event, made_document, made_partial

HOUR = 3_600_000_000


@dataclass
class Case:
    """Jobs, one an hour, of which every third still runs, in a store that is opened twice."""

    store: Store
    other: Store
    documents: list[JobDocument]
    patch: pytest.MonkeyPatch

    def before(self, thing: object, method: str, act: Callable[[], object]) -> None:
        """Let something happen before a method does what it does."""
        original = getattr(thing, method)

        def acting(*arguments: Any) -> Any:
            act()
            return original(*arguments)

        self.patch.setattr(thing, method, acting)

    def stopped(self) -> str:
        """What a prune says that cannot go on."""
        with pytest.raises(StoreError) as error:
            self.store.prune(NOON + 10 * HOUR)
        return str(error.value)


@pytest.fixture
def case(store: Store, path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Case]:
    documents = [
        made_document(at, State.COMPLETED if at % 3 else State.RUNNING, time=NOON + at * HOUR)
        for at in range(30)
    ]
    store.put([Put(document) for document in documents])
    with sqlite_store(path) as other:
        yield Case(store, other, documents, monkeypatch)


def test_a_few_jobs_wait_until_it_is_worth_a_file(case: Case) -> None:
    due = NOON + 15 * HOUR
    assert case.store.prune(due, least=11).documents == 0
    assert case.store.prune(due, least=11, overdue=NOON + HOUR).documents == 0
    assert case.store.status().archived == 0
    assert case.store.prune(due, least=10).documents == 10
    assert case.store.prune(due + 6 * HOUR, least=5, overdue=NOON + 16 * HOUR).documents == 0
    overdue = NOON + 16 * HOUR + 1
    assert case.store.prune(due + 6 * HOUR, least=5, overdue=overdue).documents == 4
    assert list(case.store.scan()) == case.documents
    assert case.store.status().archived == 14


def test_a_job_that_changes_while_it_is_archived_stays(case: Case) -> None:
    late = made_partial(2, event(NOON + 2 * HOUR + 1, State.FAILED, position=99_999))
    case.before(case.store.backend, "retire", lambda: case.other.merge([late]))
    assert case.store.prune(NOON + 5 * HOUR).documents == 2
    stored = case.store.get([case.documents[2].id])[case.documents[2].id]
    assert (stored.document, stored.revision is None) == (merge(case.documents[2], late), False)
    assert len(list(case.store.scan())) == 30


# The method before which another prune runs: its file is not registered, or is cleared away.
@pytest.mark.parametrize("method", ["retire", "require"])
def test_of_two_prunes_the_first_stops(method: str, case: Case) -> None:
    thing = case.store.backend if method == "retire" else case.store.require_archive()
    case.before(thing, method, lambda: case.other.prune(NOON + 2 * HOUR))
    assert "another prune" in case.stopped()
    assert list(case.other.scan()) == case.documents
    assert case.other.check().problems == 0


@pytest.mark.parametrize("clearing", [1, 2])
def test_a_prune_leaves_the_files_of_a_later_one(clearing: int, case: Case) -> None:
    """The earlier one stands still before it clears the folder: at its begin, or at its end."""
    stands, go = threading.Event(), threading.Event()
    clearings, errors = list[None](), list[str]()

    def stand() -> None:
        clearings.append(None)
        if len(clearings) == clearing:
            stands.set()
            assert go.wait(60)

    def earlier() -> None:
        try:
            case.other.prune(NOON + 5 * HOUR)
        except StoreError as error:
            errors.append(str(error))

    def go_on() -> None:
        go.set()
        thread.join()

    case.before(case.other.require_archive(), "clear", stand)
    case.before(case.store.backend, "retire", go_on)
    thread = threading.Thread(target=earlier)
    thread.start()
    assert stands.wait(60)
    # What the earlier one had moved before it stood still is not moved again.
    assert case.store.prune(NOON + 15 * HOUR).documents == (10 if clearing == 1 else 7)
    assert ["another prune" in error for error in errors] == ([True] if clearing == 1 else [])
    assert list(case.store.scan()) == case.documents
    assert case.store.check().problems == 0


def test_a_folder_into_which_a_copy_was_pruned_is_refused(case: Case) -> None:
    case.store.prune(NOON + 5 * HOUR)
    folder = case.store.require_archive().folder
    copied = folder / name_of(case.store.backend.number("fence") + 1, 0)
    copied.write_bytes((folder / case.store.backend.parts()[-1].name).read_bytes())
    for _ in range(3):
        assert f"{copied.name}, which this store does not know" in case.stopped()
        assert case.store.prune(NOON).documents == 0
    assert copied.exists()
    assert list(case.store.scan()) == case.documents
    copied.unlink()
    assert case.store.prune(NOON + 10 * HOUR).documents == 3


def test_nothing_is_written_to_a_folder_that_lacks_what_was(case: Case) -> None:
    case.store.prune(NOON + 5 * HOUR)
    folder = case.store.require_archive().folder
    away = folder.rename(f"{folder}.away")
    case.store.put([Put(made_document(99, access_point="other"))])
    assert "is missing" in case.stopped()
    assert not folder.exists()
    away.rename(folder)
    assert case.store.prune(NOON + 10 * HOUR).documents == 4
    assert len(list(case.store.scan())) == len(case.documents) + 1


def test_a_part_that_is_gone_is_not_registered(case: Case) -> None:
    archive = case.store.require_archive()

    def lose() -> None:
        (part,) = archive.folder.glob("part-*")
        part.unlink()

    case.before(archive, "require", lose)
    assert "is missing" in case.stopped()
    assert list(case.store.scan()) == case.documents
    assert case.store.status().archived == 0
