"""Conformance of stores: jobs of a Slurm cluster that have one number."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest

from jobsight.documents import Event, JobDocument, Prediction, State, Submission, Usage
from jobsight.ids import parse_job_name
from jobsight.store import Store
from jobsight.store.finding import find_ids
from jobsight.testing.storedocuments import NOON
from jobsight.testing.storeprocesses import StoreTests

__all__ = ["ReuseTests"]

_SECOND = 1_000_000


def _run(
    job: str,
    submit: int,
    *,
    user: str | None = "ann",
    end: int | None = None,
    state: State | None = State.COMPLETED,
    word: str | None = None,
    requeues: int | None = None,
    sluid: str | None = None,
    source: str = "sacct",
) -> JobDocument:
    """A run as a tool of Slurm reports it; times in seconds after `NOON`."""
    submitted = NOON + submit * _SECOND
    again = "REQUEUED" if requeues else "PENDING"
    events = [Event(time=submitted, source=source, state=State.PENDING, word=again)]
    if end is not None:
        start, over = submitted + _SECOND, NOON + end * _SECOND
        events.append(Event(time=start, source=source, state=State.RUNNING, word="RUNNING"))
        word = word or str(state).upper()
        events.append(Event(time=over, source=source, state=state, word=word))
    return JobDocument(
        id=f"slurm:c:{job}",
        updated=events[-1].time,
        submission=Submission(submitted=submitted, user=user, sluid=sluid),
        timeline=tuple(events),
        usage=Usage(requeues=requeues),
    )


_LOST = {"submit": 0, "user": "ann"}
_ENDED = {"submit": 0, "end": 10}
_ANOTHER: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "another user": (_LOST, {"submit": 60, "user": "bob", "end": 70}),
    "never requeued": (_LOST, {"submit": 60, "requeues": 0}),
    "a final record": (_ENDED, {"submit": 60, "end": 70}),
    "a timeout": ({**_ENDED, "state": State.TIMEOUT}, {"submit": 60}),
}
_SAME: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "the record says so": ({**_ENDED, "state": State.PENDING, "word": "REQUEUED"}, {"submit": 10}),
    "a lost node": ({**_ENDED, "state": State.NODE_FAIL}, {"submit": 11, "end": 90}),
    "a preemption": ({**_ENDED, "state": State.PREEMPTED}, {"submit": 11}),
    "a count": (_ENDED, {"submit": 60, "end": 70, "requeues": 1}),
    "no record yet": (_LOST, {"submit": 60, "end": 70}),
    "a name in capitals": (_LOST, {"submit": 60, "end": 70, "user": "Ann"}),
    "a user's number": (_LOST, {"submit": 60, "end": 70, "user": "1003"}),
    "the same run": ({**_LOST, "sluid": "s0123456789abc"}, {"submit": 5, "end": 9, "requeues": 0,
                                                           "sluid": "s0123456789abc"}),
    "one submission": (_LOST, {"submit": 0, "end": 9, "user": "root"}),
}  # fmt: skip


class ReuseTests(StoreTests):
    """Part of `jobsight.testing.StoreContract`."""

    @pytest.mark.parametrize("number", ["12", "12_3", "12+1"])
    @pytest.mark.parametrize("why", _ANOTHER)
    def test_a_number_used_again_is_another_job(self, why: str, number: str) -> None:
        first, second = (_run(number, **report) for report in _ANOTHER[why])
        stored = []
        for order in ([first, second], [second, first]):
            with self.new_opener()() as store:
                merged = [store.merge([one]) for one in order]
                assert [len(one.changes) for one in merged] == [1, 1 if order[0] is first else 2]
                assert _unchanged(store, [*order, *order[::-1]])
                assert store.merge(order).unchanged == 1
                stored.append(list(store.scan()))
                assert store.check().problems == 0
            with self.new_opener()() as store:
                assert len(store.merge(order).changes) == 2
                stored.append(list(store.scan()))
        assert all(found == stored[0] for found in stored)
        early, late = sorted(stored[0], key=lambda one: one.submission.submitted or 0)
        assert (early.id, late.id) == (first.id, f"{first.id}@2")
        assert early.timeline == first.timeline
        assert late.timeline == second.timeline

    @pytest.mark.parametrize("why", _SAME)
    def test_a_job_submitted_again_is_the_same_job(self, why: str) -> None:
        reports = [_run("12", **report) for report in _SAME[why]]
        for order in itertools.permutations(reports):
            with self.new_opener()() as store:
                for one in order:
                    store.merge([one])
                (whole,) = store.scan()
                assert (whole.id, whole.submission.submitted) == ("slurm:c:12", NOON)

    def test_three_jobs_of_a_number_in_any_order_and_more_of_each(self) -> None:
        reports = [
            _run("7", 0, end=None, requeues=0),
            _run("7", 60, user="bob", requeues=0, source="squeue"),
            _run("7", 60, user="bob", end=70, state=State.PENDING, word="REQUEUED"),
            _run("7", 70, user="bob", end=95, requeues=1),
            _run("7", 200, requeues=0, source="squeue"),
            _run("7", 200, end=230, state=State.FAILED, requeues=0),
        ]
        with self.new_opener()() as store:
            # Each order under a number of its own: the stores differ in nothing else.
            orders = list(itertools.permutations(reports))[::17]
            for at, order in enumerate(orders):
                for one in order:
                    store.merge([msgspec.structs.replace(one, id=f"slurm:c:{1000 + at}")])
            for at in range(len(orders)):
                base = f"slurm:c:{1000 + at}"
                ids = [base, f"{base}@2", f"{base}@3"]
                assert store.numbered(str(1000 + at)) == ids
                found = [store.get(ids)[id_].document for id_ in ids]
                assert [one.submission.user for one in found] == ["ann", "bob", "ann"]
                assert [one.state for one in found] == ["pending", "completed", "failed"]
                assert [len(one.timeline) for one in found] == [1, 5, 3]
            assert store.check().problems == 0

    def test_the_newest_job_of_a_number_is_found(self) -> None:
        with self.new_opener()() as store:
            store.merge([_run("12", 0), _run("12", 60, user="bob"), _run("12_3", 0)])
            assert find_ids(store, parse_job_name("12")) == ["slurm:c:12@2", "slurm:c:12_3"]
            for name, id_ in {"slurm:c:12": "slurm:c:12", "12@2": "slurm:c:12@2"}.items():
                assert find_ids(store, parse_job_name(name)) == [id_]

    def test_a_report_of_an_id_alone_goes_there(self) -> None:
        said = Prediction(question="fail", model="m", time=NOON, inputs="", answer={})
        with self.new_opener()() as store:
            store.merge([_run("12", 0), _run("12", 60, user="bob")])
            ids = ["slurm:c:12", "slurm:c:12@2"]
            store.merge([JobDocument(id=id_, updated=NOON, predictions=(said,)) for id_ in ids])
            found = store.get(ids)
            assert [found[id_].document.predictions for id_ in ids] == [(said,), (said,)]
            assert len(list(store.scan())) == 2

    def test_an_archived_job_keeps_its_number(self) -> None:
        with self.new_opener()() as store:
            store.merge([_run("12", 60, end=70)])
            assert store.prune(NOON + 80 * _SECOND).documents == 1
            store.merge([_run("12", 100, user="bob", end=110)])
            assert [one.submission.user for one in store.scan()] == ["ann", "bob"]
            assert store.prune(NOON + 120 * _SECOND).documents == 1
            store.merge([_run("12", 0, user="eve", end=10)])
            found = {one.id: one.submission.user for one in store.scan()}
            assert found == {"slurm:c:12": "eve", "slurm:c:12@2": "ann", "slurm:c:12@3": "bob"}
            store.prune(NOON + 120 * _SECOND)
            assert {one.id: one.submission.user for one in store.scan()} == found
            assert store.check().problems == 0

    def test_two_writers_that_meet_a_number_used_again(self) -> None:
        opener = self.new_opener()
        with opener() as store, opener() as other:
            store.merge([_run("12", 60)])
            original = store.get
            raced: list[object] = []

            def get(ids):  # type: ignore[no-untyped-def]
                found = original(ids)
                if len(raced) < 2:
                    raced.append(None)
                    other.merge([_run("12", 0, user="eve"), _run("12", 90, user="bob")])
                return found

            store.get = get  # type: ignore[method-assign]
            store.merge([_run("12", 90, user="bob", end=99), _run("12", 120, user="dan")])
            users = [original([id_])[id_].document.submission.user for id_ in store.numbered("12")]
            assert users == ["eve", "ann", "bob", "dan"]


def _unchanged(store: Store, reports: list[JobDocument]) -> bool:
    """Whether reports that the store has had change nothing, one by one."""
    return all(store.merge([one]).unchanged == 1 for one in reports)
