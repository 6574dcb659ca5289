"""The conformance suite of stores: what `jobsight.store.Store` promises."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec
import pytest

from jobsight.documents import Event, JobDocument, State, Submission, merge
from jobsight.errors import ConflictError, DocumentError, StoreError
from jobsight.store import Move, Put, Store
from jobsight.testing.storearchives import ArchiveTests
from jobsight.testing.storedocuments import HOSTILE, NOON, event, made_document, made_partial
from jobsight.testing.storereuse import ReuseTests
from jobsight.testing.storewriters import WriterTests

__all__ = ["StoreContract"]


class StoreContract(ArchiveTests, ReuseTests, WriterTests):
    """What `jobsight.store.Store` promises. Subclasses give `new_opener`.

    Attributes:
        sequences: how many sequences of operations are tried against the model.
    """

    sequences = 12

    def test_a_new_store_is_empty(self) -> None:
        with self.new_opener()() as store:
            assert store.get(["htcondor:ap:1.0"]) == {}
            assert store.get([]) == {}
            assert list(store.scan()) == []
            assert list(store.active()) == []
            assert store.position("log") is None
            assert store.positions() == {}
            assert store.numbered("1") == []
            status = store.status()
            assert (status.states, status.active, status.archived) == ({}, 0, 0)
            assert status.bytes_per_job is None
            assert store.check().problems == 0

    def test_what_was_put_is_there_for_all(self) -> None:
        opener = self.new_opener()
        documents = {one.id: one for one in map(made_document, range(5))}
        with opener() as store, opener() as other:
            store.put([Put(one) for one in documents.values()])
            for reader in (store, other):
                found = reader.get([*documents, "htcondor:ap:99.0"])
                assert {id_: one.document for id_, one in found.items()} == documents
        with opener() as later:
            assert {one.id: one for one in later.scan()} == documents

    def test_every_write_has_another_revision(self) -> None:
        with self.new_opener()() as store:
            document = made_document(1)
            seen = set()
            revision: int | None = None
            for _ in range(3):
                store.put([Put(document, revision)])
                revision = store.get([document.id])[document.id].revision
                assert revision is not None
                seen.add(revision)
            assert len(seen) == 3

    def test_a_put_based_on_something_else_is_refused_whole(self) -> None:
        with self.new_opener()() as store:
            first, second, third = (made_document(number) for number in (1, 2, 3))
            store.put([Put(first)])
            revision = store.get([first.id])[first.id].revision
            assert revision is not None
            for bad in ([Put(first)], [Put(first, revision + 1)], [Put(second, revision)]):
                move = Move("log", None, {"at": 1})
                found = _conflict(store, [*bad, Put(third)], [move])
                assert found.ids == (bad[0].document.id,)
                assert found.sources == ()
            both = [Put(first), Put(second, 77), Put(third)]
            assert set(_conflict(store, both, []).ids) == {first.id, second.id}
            assert [one.id for one in store.scan()] == [first.id]
            assert store.position("log") is None

    def test_positions_are_compared_and_set(self) -> None:
        with self.new_opener()() as store:
            one, two = {"at": 1, "files": ["a", None, 0.5]}, {"at": 2}
            for source in ("eventlog:/var/log/ö", *HOSTILE[:-1]):
                store.put([], [Move(source, None, one)])
                assert store.position(source) == one
                assert _conflict(store, [], [Move(source, None, two)]).sources == (source,)
                assert _conflict(store, [], [Move(source, two, one)]).sources == (source,)
                store.put([], [Move(source, one, two)])
                assert store.position(source) == two
            assert len(store.positions()) == len(HOSTILE)
            assert all(position == two for position in store.positions().values())

    def test_a_lost_position_takes_its_documents_with_it(self) -> None:
        with self.new_opener()() as store:
            store.put([], [Move("log", None, {"at": 1})])
            found = _conflict(store, [Put(made_document(1))], [Move("log", None, {"at": 2})])
            assert found.sources == ("log",)
            assert list(store.scan()) == []

    def test_too_much_is_refused_whole(self) -> None:
        with self.new_opener()() as store:
            store.most_documents = 3
            move = Move("log", None, {"at": 1})
            many = [Put(made_document(number)) for number in range(4)]
            for bad in (many, [many[0], many[0]]):
                with pytest.raises(StoreError, match="put"):
                    store.put(bad, [move])
            assert list(store.scan()) == []
            assert store.position("log") is None
            store.put(many[:3], [move])

    def test_a_merge_without_positions_may_be_of_any_size(self) -> None:
        with self.new_opener()() as store:
            store.most_documents = 3
            documents = [made_document(number) for number in range(10)]
            bad = made_document(99, script="lone surrogate \ud800")
            store.put([Put(documents[4])])
            merged = store.merge([*documents, bad])
            assert {one.new.id for one in merged.changes} == {
                one.id for one in documents if one is not documents[4]
            }
            assert (merged.unchanged, [id_ for id_, _ in merged.refused]) == (1, [bad.id])
            assert {one.id: one for one in store.scan()} == {one.id: one for one in documents}
            late = [made_partial(at, event(NOON + 9, None, position=9999)) for at in range(10)]
            with pytest.raises(StoreError):
                store.merge(late, [Move("log", None, {"at": 1})])
            assert {one.id: one for one in store.scan()} == {one.id: one for one in documents}

    def test_what_cannot_be_written_is_named(self) -> None:
        with self.new_opener()() as store:
            good = made_document(1)
            bad = made_document(2, script="lone surrogate \ud800")
            no_id = msgspec.structs.replace(good, id="what is this")
            with pytest.raises(DocumentError, match=re.escape(bad.id)):
                store.put([Put(good), Put(bad)])
            merged = store.merge([good, bad, no_id], [Move("log", None, {"at": 1})])
            assert [change.new for change in merged.changes] == [good]
            assert {id_ for id_, _ in merged.refused} == {bad.id, no_id.id}
            assert [one.id for one in store.scan()] == [good.id]
            assert store.position("log") == {"at": 1}

    def test_merging_joins_and_says_what_changed(self) -> None:
        with self.new_opener()() as store:
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
            other = "htcondor:elsewhere:1.0"
            parts = [msgspec.structs.replace(part, id=other) for part in (begin, end)]
            assert store.merge(parts).changes[0].new.timeline == whole.timeline

    def test_a_merge_survives_other_writers(self) -> None:
        opener = self.new_opener()
        with opener() as store, opener() as other:
            first, second, third = (
                made_partial(1, event(NOON + at, State.RUNNING, position=at)) for at in (1, 2, 3)
            )
            store.merge([first])
            original = store.get
            raced: list[object] = []

            def get(ids):  # type: ignore[no-untyped-def]
                found = original(ids)
                if not raced:
                    raced.append(other.merge([second]))
                return found

            store.get = get  # type: ignore[method-assign]
            store.merge([third])
            assert [one.position for one in original([first.id])[first.id].document.timeline] == [
                1, 2, 3,
            ]  # fmt: skip

    def test_hostile_texts_come_back_as_they_were(self) -> None:
        with self.new_opener()() as store:
            documents = [
                made_document(number, user=text, script=text, access_point=text or "ap")
                for number, text in enumerate(HOSTILE)
                if len(text) < 300
            ]
            documents.append(made_document(99, user=HOSTILE[5], script=HOSTILE[5]))
            store.put([Put(one) for one in documents])
            for one in documents:
                assert store.get([one.id])[one.id].document == one
                assert list(store.scan(user=one.submission.user)) == [one]
                assert list(store.active(one.id.rpartition(":")[0])) == []
                cluster = one.id.rpartition(":")[0]
                assert [job.id for job in store.scan(cluster=cluster)] == [one.id]
            assert list(store.scan(user="nobody")) == []
            assert list(store.scan(cluster="htcondor:%")) == []
            assert store.check().problems == 0

    def test_large_documents(self) -> None:
        with self.new_opener()() as store:
            events = tuple(
                Event(time=NOON + at, source="log", position=at, reason=f"{at:032x}" * 20, code=12)
                for at in range(1000)
            )
            noise = "".join(f"{at * 2654435761 % 2**32:08x}" for at in range(150_000))
            documents = [
                merge(
                    None,
                    JobDocument(
                        id=f"slurm:big:{number}",
                        updated=NOON,
                        submission=Submission(script=noise),
                        timeline=events,
                    ),
                )
                for number in range(12)
            ]
            store.put([Put(one) for one in documents])
            assert {one.id: one for one in store.scan()} == {one.id: one for one in documents}

    def test_a_scan_keeps_order_over_many_pages(self) -> None:
        with self.new_opener()() as store:
            documents = [
                made_document(number, time=NOON + (number % 3) * 1_000_000)
                for number in range(2500)
            ]
            store.put([Put(one) for one in documents])
            wanted = sorted(documents, key=lambda one: (one.timeline[-1].time, one.id.encode()))
            assert list(store.scan()) == wanted
            assert list(store.scan(newest_first=True)) == wanted[::-1]
            assert list(store.scan(limit=7)) == wanted[:7]
            assert list(store.scan(limit=0)) == []
            assert len(list(store.scan(since=NOON + 1, until=NOON + 2_000_000))) == 833
            assert store.numbered("7") == [documents[7].id]

    def test_numbers_name_jobs_arrays_and_clusters(self) -> None:
        with self.new_opener()() as store:
            named = ["slurm:a:12", "slurm:a:12_3", "slurm:b:12+1", "htcondor:ap:12.0"]
            others = ["slurm:a:120", "slurm:a:1", "slurm:b:2", "htcondor:ap:112.0"]
            jobs = [JobDocument(id=id_, updated=NOON) for id_ in named + others]
            store.put([Put(job) for job in jobs])
            assert store.numbered("12") == sorted(named)
            assert store.numbered("99") == []

    def test_raw_numbers_name_tasks_and_components(self) -> None:

        def task(id_: str, raw: str | None, user: str = "ada") -> JobDocument:
            submissions = Submission(raw_id=raw, user=user)
            return JobDocument(id=f"slurm:{id_}", updated=NOON, submission=submissions)

        with self.new_opener()() as store:
            jobs = [task("c:1234_5", "1237"), task("c:1234_6", "12370"), task("d:99+1", "1237")]
            plain = [task("c:1237", "1237"), task("c:1234_9", "1234"), task("c:123", None)]
            odd = [task("c:1234_10", '1237"'), task("c:1234_11", "01237"), task("c:1234_12", "")]
            store.put([Put(one) for one in jobs + plain + odd])
            assert store.numbered("1237") == ["slurm:c:1234_5", "slurm:c:1237", "slurm:d:99+1"]
            assert store.numbered("123") == ["slurm:c:123"]
            assert not any(map(store.numbered, ("01237", '1237"', "", "*", "1237:", "x")))
            changed = store.get(["slurm:d:99+1"])["slurm:d:99+1"]
            store.put([Put(task("d:99+1", "4711", user="eve"), changed.revision)])
            assert store.numbered("1237") == ["slurm:c:1234_5", "slurm:c:1237"]
            assert store.numbered("4711") == ["slurm:d:99+1"]
            many = [task(f"e:7_{at}", "8") for at in range(1200)]
            store.put([Put(one) for one in many])
            assert store.numbered("8") == sorted(one.id for one in many)
            assert store.check().problems == 0

    def test_raw_numbers_name_archived_tasks(self) -> None:
        end = Event(time=NOON, source="sacct", state=State.COMPLETED)
        submissions = [Submission(raw_id=raw) for raw in ("1237", "1238", None)]
        jobs = [
            JobDocument(id=f"slurm:c:1234_{at}", updated=NOON, submission=one, timeline=(end,))
            for at, one in enumerate(submissions)
        ]
        with self.new_opener()() as store:
            store.merge(jobs)
            assert store.prune(NOON + 1).documents == 3
            assert store.numbered("1237") == ["slurm:c:1234_0"]
            assert store.numbered("1234") == [one.id for one in jobs]
            assert store.numbered("9999") == []
            again = JobDocument(
                id=jobs[0].id, updated=NOON + 5, submission=Submission(raw_id="1300")
            )
            store.merge([again])
            assert store.numbered("1237") == []
            assert store.numbered("1300") == [jobs[0].id]
            assert store.numbered("1238") == [jobs[1].id]
            assert store.check().problems == 0

    def test_active_jobs(self) -> None:
        with self.new_opener()() as store:
            states = [*State, None]
            here = [made_document(at, state) for at, state in enumerate(states)]
            there = [made_document(at, state, access_point="b") for at, state in enumerate(states)]
            store.put([Put(one) for one in here + there])
            living = [one for one in here + there if one.state is None or not one.state.ended]
            assert _by_id(store.active()) == _by_id(living)
            there = [one for one in living if ":b:" in one.id]
            assert _by_id(store.active("htcondor:b")) == _by_id(there)
            assert list(store.active("htcondor:")) == []
            ended = [merge(one, _end(one)) for one in living]
            store.merge(ended)
            assert list(store.active()) == []
            assert store.status().active == 0

    def test_status_counts(self) -> None:
        with self.new_opener()() as store:
            store.put([Put(made_document(at, State.RUNNING)) for at in range(4)])
            store.merge([_end(made_document(1, State.RUNNING))], [Move("log", None, {"at": 1})])
            status = store.status()
            assert status.states == {"running": 3, "completed": 1}
            assert (status.active, status.positions) == (3, {"log": {"at": 1}})
            assert status.bytes_per_job is None or 50 < status.bytes_per_job < 100_000
            assert status.url == store.url

    def test_a_closed_store_says_so(self) -> None:
        store = self.new_opener()()
        store.put([Put(made_document(1))])
        store.close()
        store.close()
        for call in (
            store.generation,
            store.positions,
            store.status,
            lambda: store.get(["x"]),
            lambda: list(store.scan()),
            lambda: store.put([Put(made_document(2))]),
        ):
            with pytest.raises(StoreError):
                call()

    def test_behaves_as_a_simple_model(self) -> None:
        from jobsight.testing.storemachine import run_machine

        run_machine(self.new_opener, self.sequences)


def _end(document: JobDocument) -> JobDocument:
    """What the log says of the job's end."""
    last = document.timeline[-1]
    end = event(last.time + 9, State.COMPLETED, position=(last.position or 0) + 9)
    return JobDocument(id=document.id, updated=end.time, timeline=(end,))


def _by_id(documents: Iterable[JobDocument]) -> list[JobDocument]:
    return sorted(documents, key=lambda one: one.id)


def _conflict(store: Store, puts: list[Put], moves: list[Move]) -> ConflictError:
    with pytest.raises(ConflictError) as conflict:
        store.put(puts, moves)
    return conflict.value
