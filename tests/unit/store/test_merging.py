"""Merging what sources report into a store, next to other writers."""

import re
from collections.abc import Callable, Collection
from pathlib import Path

import msgspec
import pytest
from tests.unit.store.sqlite_stores import sqlite_store

from jobsight.documents import Event, JobDocument, Prediction, State, Submission, merge
from jobsight.errors import DocumentError, TooMuchError
from jobsight.ids import parse_job_name
from jobsight.store import Move, Put, Store
from jobsight.store.store import find_ids
from jobsight.testing.madejobs import NOON, event, made_document, made_partial

SECOND = 1_000_000


def _before_writing(
    monkeypatch: pytest.MonkeyPatch, store: Store, act: Callable[[], object], times: int = 1
) -> None:
    """Let something happen after the store was read the first `times`, before it is written."""
    read, raced = store.backend.read, list[object]()

    def racing(ids: Collection[str]) -> object:
        rows = read(ids)
        if len(raced) < times:
            raced.append(None)
            act()
        return rows

    monkeypatch.setattr(store.backend, "read", racing)


def test_joins_and_says_what_changed(store: Store) -> None:
    begin = made_partial(1, event(NOON, State.PENDING, position=1), user="ada")
    end = made_partial(1, event(NOON + 5, State.COMPLETED, position=2))
    whole = merge(merge(None, begin), end)
    assert store.merge([begin]).changes[0].old is None
    change = store.merge([end]).changes[0]
    assert (change.old, change.new) == (merge(None, begin), whole)
    before = store.get([whole.id])
    again = store.merge([end, begin])
    assert (again.changes, again.unchanged) == ((), 1)
    assert store.get([whole.id]) == before


def test_of_any_size_without_positions(store: Store) -> None:
    store.most_documents = 3
    documents = [made_document(number) for number in range(10)]
    bad = made_document(99, script="lone surrogate \ud800")
    store.put([Put(documents[4])])
    merged = store.merge([*documents, bad])
    assert [change.new.id for change in merged.changes] == [
        document.id for document in documents if document is not documents[4]
    ]
    assert (merged.unchanged, [id_ for id_, _ in merged.refused]) == (1, [bad.id])
    late = [made_partial(at, event(NOON + 9, None, position=9999)) for at in range(10)]
    with pytest.raises(TooMuchError):
        store.merge(late, [Move("log", None, {"at": 1})])
    assert sorted(store.scan(), key=lambda job: job.id) == documents


def test_what_cannot_be_written_is_named(store: Store) -> None:
    good = made_document(1)
    bad = made_document(2, script="lone surrogate \ud800")
    no_id = msgspec.structs.replace(good, id="what is this")
    with pytest.raises(DocumentError, match=re.escape(bad.id)):
        store.put([Put(good), Put(bad)])
    merged = store.merge([good, bad, no_id], [Move("log", None, {"at": 1})])
    assert [change.new for change in merged.changes] == [good]
    assert {id_ for id_, _ in merged.refused} == {bad.id, no_id.id}
    assert list(store.scan()) == [good]
    assert store.position("log") == {"at": 1}


def test_survives_other_writers(store: Store, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = (
        made_partial(1, event(NOON + at, State.RUNNING, position=at)) for at in (1, 2, 3)
    )
    store.merge([first])
    with sqlite_store(path) as other:
        _before_writing(monkeypatch, store, lambda: other.merge([second]))
        store.merge([third])
    timeline = store.get([first.id])[first.id].document.timeline
    assert [entry.position for entry in timeline] == [1, 2, 3]


def test_a_late_event_brings_a_job_back_from_the_archive(store: Store) -> None:
    old = made_document(1)
    store.put([Put(old), Put(made_document(2, time=NOON + 3600 * SECOND))])
    store.prune(NOON + 1)
    assert store.merge([old]).unchanged == 1
    whole = old
    for at in range(3):
        late = made_partial(1, event(NOON + 7200 * SECOND + at, State.FAILED, position=9999 + at))
        whole = merge(whole, late)
        assert store.merge([late]).changes[0].new == whole
        assert list(store.scan()) == [made_document(2, time=NOON + 3600 * SECOND), whole]
        assert list(store.scan(until=NOON + 1)) == []
        store.prune(NOON + 10_000 * SECOND)
    assert store.check().problems == 0


def _run(job: str, submit: int, user: str, end: int | None = None) -> JobDocument:
    """A run of a job as sacct reports it; times in seconds after `NOON`."""
    submitted = NOON + submit * SECOND
    timeline = [Event(time=submitted, source="sacct", state=State.PENDING, word="PENDING")]
    if end is not None:
        timeline += [
            Event(time=submitted + SECOND, source="sacct", state=State.RUNNING),
            Event(time=NOON + end * SECOND, source="sacct", state=State.COMPLETED),
        ]
    return JobDocument(
        id=f"slurm:c:{job}",
        updated=timeline[-1].time,
        submission=Submission(submitted=submitted, user=user),
        timeline=tuple(timeline),
    )


def test_a_number_used_again_is_another_job(store: Store) -> None:
    runs = [_run("12", 0, "ann"), _run("12", 60, "bob", 70)]
    assert [len(store.merge([run]).changes) for run in reversed(runs)] == [1, 2]
    assert all(store.merge([run]).unchanged == 1 for run in runs)
    assert store.merge(runs).unchanged == 1
    ids = ["slurm:c:12", "slurm:c:12@2"]
    assert [store.get(ids)[id_].document.submission.user for id_ in ids] == ["ann", "bob"]
    # A report of an id alone is of that very job.
    said = Prediction(question="fail", model="m", time=NOON, inputs="", answer={})
    store.merge([JobDocument(id=id_, updated=NOON, predictions=(said,)) for id_ in ids])
    stored = store.get(ids)
    assert [stored[id_].document.predictions for id_ in ids] == [(said,), (said,)]
    store.merge([_run("12_3", 0, "ann")])
    assert find_ids(store, parse_job_name("12")) == ["slurm:c:12@2", "slurm:c:12_3"]
    for name, id_ in {"slurm:c:12": ids[0], "12@2": ids[1]}.items():
        assert find_ids(store, parse_job_name(name)) == [id_]


def test_an_archived_job_keeps_its_number(store: Store) -> None:
    store.merge([_run("12", 60, "ann", 70)])
    assert store.prune(NOON + 80 * SECOND).documents == 1
    store.merge([_run("12", 100, "bob", 110)])
    assert [document.submission.user for document in store.scan()] == ["ann", "bob"]
    assert store.prune(NOON + 120 * SECOND).documents == 1
    store.merge([_run("12", 0, "eve", 10)])
    users = {document.id: document.submission.user for document in store.scan()}
    assert users == {"slurm:c:12": "eve", "slurm:c:12@2": "ann", "slurm:c:12@3": "bob"}
    store.prune(NOON + 120 * SECOND)
    assert {document.id: document.submission.user for document in store.scan()} == users
    assert store.check().problems == 0


def test_two_writers_that_meet_a_number_used_again(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.merge([_run("12", 60, "ann")])
    with sqlite_store(path) as other:
        reports = [_run("12", 0, "eve"), _run("12", 90, "bob")]
        _before_writing(monkeypatch, store, lambda: other.merge(reports), times=2)
        store.merge([_run("12", 90, "bob", 99), _run("12", 120, "dan")])
    stored = store.get(store.numbered("12"))
    users = [stored[id_].document.submission.user for id_ in sorted(stored)]
    assert users == ["eve", "ann", "bob", "dan"]
