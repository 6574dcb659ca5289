"""The conformance suite of stores: what `jobsight.store.Store` promises, on any `Backend`."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from jobsight.documents import Event, JobDocument, State, Submission, merge
from jobsight.errors import ConflictError, StoreError
from jobsight.store import Move, Put, Store
from jobsight.store.archive import name_of
from jobsight.testing.madejobs import HOSTILE, NOON, event, made_document, made_partial

__all__ = ["StoreContract", "polled"]

_HOUR = 3_600_000_000
_BATCH = 50

Opener = Callable[[], Store]


def polled(step: int) -> list[JobDocument]:
    """What a source reports in its poll `step`: an event of each of 50 jobs, ten polls a job."""
    age = step % 10
    state = State.PENDING if age == 0 else State.COMPLETED if age == 9 else State.RUNNING
    return [
        made_partial(
            step // 10 * _BATCH + number,
            event(NOON + step * 1_000_000 + number, state, position=step * _BATCH + number),
        )
        for number in range(_BATCH)
    ]


class StoreContract:
    """What `jobsight.store.Store` promises. Subclasses give `new_opener`.

    Attributes:
        sequences: how many sequences of operations are tried against dicts in memory.
        kills: how often a writer, and a prune, are killed.
    """

    sequences = 12
    kills = 5

    def new_opener(self) -> Opener:
        """What opens a store that has a folder for its archive and is empty as yet.

        Each call opens the same store again, as another process would. It is pickled and called
        in other processes too: use `functools.partial`, no lambda.
        """
        raise NotImplementedError

    def test_behaves_as_a_simple_model(self) -> None:
        from jobsight.testing.storemachine import run_machine  # needs hypothesis

        run_machine(self.new_opener, self.sequences)

    def test_a_new_store_is_empty(self) -> None:
        with self.new_opener()() as store:
            assert not (store.get(["htcondor:ap:1.0"]) or store.get([]) or store.positions())
            assert not (list(store.scan()) or list(store.active()) or store.numbered("1"))
            assert store.position("log") is None
            status = store.status()
            assert (status.states, status.active, status.archived) == ({}, 0, 0)
            assert status.bytes_per_job is None
            assert store.check().problems == 0

    def test_a_put_is_stored_whole_or_refused_whole(self) -> None:
        with self.new_opener()() as store:
            first, second, third = (made_document(number) for number in (1, 2, 3))
            store.put([Put(first)], [Move("log", None, {"at": 1})])
            revision = store.get([first.id])[first.id].revision
            assert revision == store.revision()
            new = Move("other", None, {"at": 1})
            for bad in (Put(first), Put(first, revision + 1), Put(second, revision)):
                assert _conflict(store, [bad, Put(third)], [new]).ids == (bad.document.id,)
            both = [Put(first), Put(second, 77), Put(third)]
            assert set(_conflict(store, both, []).ids) == {first.id, second.id}
            for lost in (Move("log", None, {"at": 2}), Move("log", {"at": 9}, {"at": 2})):
                assert _conflict(store, [Put(third)], [lost, new]).sources == ("log",)
            with pytest.raises(StoreError, match="same job twice"):
                store.put([Put(third), Put(third)], [new])
            assert [document.id for document in store.scan()] == [first.id]
            assert store.positions() == {"log": {"at": 1}}
            store.put([Put(first, revision)], [Move("log", {"at": 1}, {"at": 2}), new])
            assert store.get([first.id])[first.id].revision == store.revision() > revision
            assert store.positions() == {"log": {"at": 2}, "other": {"at": 1}}

    def test_a_put_conflicts_if_the_archive_grew_meanwhile(self) -> None:
        with self.new_opener()() as store:
            generation = store.generation()
            first, second = made_document(1), made_document(2)
            store.put([Put(first)], generation=generation)
            store.prune(NOON + 1)
            for document in (first, second):
                with pytest.raises(ConflictError) as conflict:
                    store.put([Put(document)], generation=generation)
                assert conflict.value.ids == (document.id,)
            store.put([Put(second)], generation=store.generation())

    def test_hostile_texts_come_back_as_they_were(self) -> None:
        with self.new_opener()() as store:
            documents = [
                made_document(number, user=text, script=text, access_point=text[:200] or "ap")
                for number, text in enumerate(HOSTILE)
            ]
            moves = [Move(text, None, {"at": [text, None, 0.5]}) for text in HOSTILE[:-1]]
            store.put([Put(document) for document in documents], moves)
            for document in documents:
                cluster = document.id.rpartition(":")[0]
                assert store.get([document.id])[document.id].document == document
                assert list(store.scan(user=document.submission.user)) == [document]
                assert list(store.scan(cluster=cluster)) == [document]
                assert list(store.active(cluster)) == []
            assert list(store.scan(user="eve")) == list(store.scan(cluster="htcondor:%")) == []
            for move in moves:
                assert store.position(move.source) == store.positions()[move.source] == move.new
            assert store.check().problems == 0

    def test_large_documents(self) -> None:
        with self.new_opener()() as store:
            noise = "".join(f"{at * 2654435761 % 2**32:08x}" for at in range(150_000))
            documents = [made_document(number, script=noise) for number in range(12)]
            store.put([Put(document) for document in documents])
            assert _by_id(store.scan()) == _by_id(documents)

    def test_a_scan_keeps_order_over_many_pages(self) -> None:
        with self.new_opener()() as store:
            documents = [
                made_document(number, time=NOON + (number % 3) * 1_000_000)
                for number in range(2500)
            ]
            store.put([Put(document) for document in documents])
            wanted = sorted(documents, key=lambda job: (job.timeline[-1].time, job.id.encode()))
            assert list(store.scan()) == wanted
            assert list(store.scan(newest_first=True)) == wanted[::-1]
            assert list(store.scan(limit=7)) == wanted[:7]
            assert len(list(store.scan(since=NOON + 1, until=NOON + 2_000_000))) == 833
            changed = documents[7]
            revision = store.revision()
            store.put([Put(changed, revision)])
            assert {row.keys.id for row in store.changed(revision)} == {changed.id}

    def test_numbers_name_jobs_arrays_and_clusters(self) -> None:

        def task(id_: str, raw: str | None = None) -> JobDocument:
            end = Event(time=NOON, source="sacct", state=State.COMPLETED)
            submission = Submission(raw_id=raw)
            return JobDocument(id=id_, updated=NOON, submission=submission, timeline=(end,))

        with self.new_opener()() as store:
            named = ["htcondor:ap:12.0", "slurm:a:12", "slurm:a:12_3", "slurm:b:12+1"]
            others = ["slurm:a:120", "slurm:a:1", "slurm:b:2", "htcondor:ap:112.0"]
            raw = [task("slurm:c:34_5", "37"), task("slurm:d:9+1", "37"), task("slurm:c:37", "37")]
            odd = [
                task(f"slurm:c:34_{at}", raw) for at, raw in enumerate(("370", '37"', "037", ""))
            ]
            many = [task(f"slurm:e:7_{at}", "8") for at in range(1200)]
            store.merge([*map(task, named + others), *raw, *odd, *many])
            for pruned in (False, True):
                if pruned:
                    store.prune(NOON + 1)
                assert store.numbered("12") == named
                assert store.numbered("37") == ["slurm:c:34_5", "slurm:c:37", "slurm:d:9+1"]
                assert store.numbered("8") == sorted(document.id for document in many)
                assert not any(map(store.numbered, ("99", "037", '37"', "", "*", "37:", "x")))
            store.merge([task("slurm:d:9+1", "4711")])
            assert store.numbered("37") == ["slurm:c:34_5", "slurm:c:37"]
            assert store.numbered("4711") == ["slurm:d:9+1"]
            assert store.check().problems == 0

    def test_old_jobs_move_and_are_still_there(self) -> None:
        opener = self.new_opener()
        with opener() as store, opener() as other:
            documents = _hourly(30)
            store.put([Put(document) for document in documents])
            generation = store.generation()
            report = store.prune(NOON + 15 * _HOUR)
            assert (report.documents, report.parts, report.bytes > 0) == (10, 1, True)
            assert store.generation() != generation
            assert store.prune(NOON + 15 * _HOUR).documents == 0
            assert store.prune(NOON + 20 * _HOUR).documents == 3
            for reader in (store, other):
                _require(reader, documents)
                stored = reader.get([document.id for document in documents])
                assert sum(job.revision is None for job in stored.values()) == 13
                status, check = reader.status(), reader.check()
                assert (status.archived, status.states) == (13, {"running": 10, "completed": 7})
                assert status.archive_bytes > 0
                assert (check.documents, check.archived) == (17, 13)

    def test_a_part_is_registered_as_its_documents_are_deleted(self) -> None:
        with self.new_opener()() as store:
            backend, archive = store.backend, store.require_archive()
            documents = [made_document(number) for number in range(4)]
            ids = [document.id for document in documents]
            store.put([Put(document) for document in documents])
            rows = list(backend.read(ids).values())
            fences = backend.next_fence(), backend.next_fence()
            assert fences[0] < fences[1] == backend.number("fence")
            part = archive.write(name_of(fences[1], 0), rows, [])
            retired = [(row.keys, row.revision) for row in rows]
            with pytest.raises(StoreError, match="another prune"):
                backend.retire(part, retired, fences[0])
            assert (list(backend.parts()), len(backend.read(ids))) == ([], 4)
            late = made_partial(2, event(NOON + _HOUR, State.FAILED, position=99_999))
            store.merge([late])
            assert backend.retire(part, retired, fences[1]) == 3
            assert (list(backend.parts()), list(backend.read(ids))) == ([part], [ids[2]])
            assert backend.retire(part, retired, fences[1]) == 0
            assert list(backend.parts()) == [part]
            documents[2] = merge(documents[2], late)
            _require(store, [*documents[:2], documents[3], documents[2]])

    def test_a_scan_while_others_write_and_prune(self) -> None:
        opener = self.new_opener()
        with opener() as store, opener() as other:
            documents = [
                made_document(at, State.COMPLETED if at % 2 else State.RUNNING, time=NOON + at)
                for at in range(1700)
            ]
            store.put([Put(document) for document in documents])
            seen = []
            for number, document in enumerate(store.scan()):
                seen.append(document.id)
                if number % 200 == 3:
                    late = event(NOON + 9_000_000 + number, State.COMPLETED, position=10**9)
                    other.merge([made_partial(at, late) for at in (number, 1699 - number)])
                    other.prune(NOON + 2 * number)
            assert sorted(seen) == sorted(document.id for document in documents)

    def test_of_two_collectors_of_one_source_one_stops(self) -> None:
        opener = self.new_opener()
        with opener() as store, opener() as other:
            store.merge(polled(0), [Move("log", None, {"step": 1})])
            with pytest.raises(ConflictError) as conflict:
                other.merge(polled(0), [Move("log", None, {"step": 1})])
            assert conflict.value.sources == ("log",)
            assert other.merge(polled(0)).changes == ()

    def test_threads_and_processes_share_a_store(self) -> None:
        opener = self.new_opener()
        with opener() as store:
            writers = [_start(_merge_same, opener, name) for name in ("a", "b")]
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(lambda name: _merge_into(store, name), ("c", "d", "e", "f")))
            for writer in writers:
                writer.join()
            assert [writer.exitcode for writer in writers] == [0, 0]
            # Six sources that record the same seconds alike: what one recorded counts for all.
            assert [len(document.timeline) for document in store.scan()] == [12] * 10
            assert store.check().problems == 0

    def test_killed_in_the_middle_of_a_batch(self) -> None:
        opener = self.new_opener()
        for number in range(self.kills):
            if number % 5 == 0:
                opener = self.new_opener()
            with opener() as store:
                before = store.position("log")
                collector = _start(_collect, opener)
                deadline = time.monotonic() + 60
                while store.position("log") == before:
                    assert collector.is_alive()
                    assert time.monotonic() < deadline
                    time.sleep(0.001)
                time.sleep(0.0031 * number % 0.1)
                collector.kill()
                collector.join()
            with opener() as store:
                position = store.position("log")
                assert position is not None
                wanted: dict[str, JobDocument] = {}
                for step in range(position["step"]):
                    for part in polled(step):
                        wanted[part.id] = merge(wanted.get(part.id), part)
                assert _by_id(store.scan()) == _by_id(wanted.values())
                assert store.check().problems == 0

    def test_killed_at_any_point_of_a_prune(self) -> None:
        opener = self.new_opener()
        shares = [0.1 + 0.9 * number / self.kills for number in range(1, self.kills + 1)]
        documents = _hourly(3 * self.kills + 6)
        with tempfile.TemporaryDirectory() as folder:
            counts = Path(folder) / "counts"
            with opener() as store:
                store.put([Put(document) for document in documents])
            counting = _start(_prune_until, opener, NOON + 3 * _HOUR, None, str(counts))
            counting.join()
            assert counting.exitcode == 0
            moved = 3
            codes: set[int | None] = set()
            for share in shares:
                moved += 3
                last = max(1, round(int(counts.read_text()) * share))
                killed = _start(_prune_until, opener, NOON + moved * _HOUR, last, f"{counts}.none")
                killed.join()
                codes.add(killed.exitcode)
                with opener() as store:
                    _require(store, documents)
            # The last may be a step too late, as what is counted varies a little.
            assert -signal.SIGKILL in codes
            assert codes <= {0, -signal.SIGKILL}
            with opener() as store:
                store.prune(NOON + moved * _HOUR)
                _require(store, documents)
                assert store.status().archived == moved - (moved + 2) // 3

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


def _hourly(many: int) -> list[JobDocument]:
    """Jobs, one an hour; every third still runs."""
    return [
        made_document(
            number,
            State.COMPLETED if number % 3 else State.RUNNING,
            time=NOON + number * _HOUR,
            user=f"user{number % 4}",
        )
        for number in range(many)
    ]


def _require(store: Store, documents: list[JobDocument]) -> None:
    """Fail unless the store has these documents, in this order, and nothing is wrong with it."""
    assert list(store.scan()) == documents
    assert list(store.scan(newest_first=True)) == documents[::-1]
    ids = [document.id for document in documents]
    stored = store.get(ids)
    assert [stored[id_].document for id_ in ids] == documents
    assert store.check().problems == 0


def _by_id(documents: Iterable[JobDocument]) -> list[JobDocument]:
    return sorted(documents, key=lambda document: document.id)


def _conflict(store: Store, puts: list[Put], moves: list[Move]) -> ConflictError:
    with pytest.raises(ConflictError) as conflict:
        store.put(puts, moves)
    return conflict.value


def _start(target: Callable[..., None], *arguments: object) -> BaseProcess:
    """A new process, of a server that has the imports alone: it inherits no connection."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", __name__, "pyarrow.parquet"])
    process = context.Process(target=target, args=arguments)
    process.start()
    return process


def _collect(opener: Opener) -> None:
    """Collect from a source without end, from its position in the store."""
    with opener() as store:
        while True:
            position = store.position("log")
            step = position["step"] if position else 0
            store.merge(polled(step), [Move("log", position, {"step": step + 1})])


def _merge_same(opener: Opener, source: str) -> None:
    with opener() as store:
        _merge_into(store, source)


def _merge_into(store: Store, source: str) -> None:
    """Report on the same ten jobs as other writers at the same time, one event at a time."""
    for at in range(12):
        seen = event(NOON + at * 1_000_000, State.RUNNING, position=at, source=source)
        store.merge([made_partial(number, seen) for number in range(10)])


def _prune_until(opener: Opener, before: int, last: int | None, counts: str) -> None:
    """Prune, and be killed at the interpreter's audit event number `last`; None: count them.

    Audit events (PEP 578) come with every file that is opened, renamed or removed, so that counting
    them finds every step of a prune. Their number is written to the file `counts`.
    """
    import pyarrow.parquet  # noqa: F401  # its own files are none of the prune's steps

    with opener() as store:
        store.generation()
        seen = [0]

        def audit(name: str, _: tuple[object, ...]) -> None:
            if name.startswith(("open", "os.", "socket.", "sqlite3.", "shutil.")):
                seen[0] += 1
                if seen[0] == last:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(audit)
        store.prune(before)
        count = seen[0]
    Path(counts).write_text(str(count), encoding="ascii")
