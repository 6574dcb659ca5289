"""Conformance of stores: several writers at once, and writers that are killed."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from jobsight.documents import JobDocument, State, merge
from jobsight.errors import ConflictError
from jobsight.store import Move, Put, Store
from jobsight.testing.storedocuments import NOON, event, made_document, made_partial
from jobsight.testing.storeprocesses import (
    Opener,
    StoreTests,
    collect,
    merge_same,
    recorded_of,
    start,
)

__all__ = ["WriterTests"]


class WriterTests(StoreTests):
    """Part of `jobsight.testing.StoreContract`."""

    def test_threads_share_a_store(self) -> None:
        with self.new_opener()() as store:

            def write(source: str) -> None:
                for at in range(15):
                    time_ = NOON + at * 1_000_000
                    seen = event(time_, State.RUNNING, position=at, source=source)
                    store.merge([made_partial(number, seen) for number in range(5)])

            with ThreadPoolExecutor(4) as pool:
                list(pool.map(write, "abcd"))
            # Four sources that record the same seconds alike: what one recorded counts for all.
            events = [event(NOON + at * 1_000_000, State.RUNNING, position=at) for at in range(15)]
            wanted = [one.time for one in merge(None, made_partial(0, *events)).timeline]
            for document in store.scan():
                assert [one.time for one in document.timeline] == wanted
            assert store.check().problems == 0

    def test_processes_share_a_store(self) -> None:
        opener = self.new_opener()
        with opener() as store:
            writers = [start(merge_same, opener, name, 12) for name in ("a", "b", "c")]
            for writer in writers:
                writer.join()
            assert [writer.exitcode for writer in writers] == [0, 0, 0]
            documents = list(store.scan())
            assert len(documents) == 10
            assert {len(one.timeline) for one in documents} == {12}
            assert store.check().problems == 0

    def test_of_two_collectors_of_one_source_one_stops(self) -> None:
        opener = self.new_opener()
        with opener() as one, opener() as other:
            one.merge(recorded_of(0), [Move("log", None, {"step": 1})])
            with pytest.raises(ConflictError) as conflict:
                other.merge(recorded_of(0), [Move("log", None, {"step": 1})])
            assert conflict.value.sources == ("log",)
            assert other.merge(recorded_of(0), []).changes == ()

    def test_killed_in_the_middle_of_a_batch(self) -> None:
        opener = self.new_opener()
        for number in range(self.kills):
            if number % 5 == 0:
                opener = self.new_opener()
            with opener() as store:
                before = _step(store)
                collector = start(collect, opener)
                deadline = time.monotonic() + 60
                while _step(store) <= before:
                    assert collector.is_alive()
                    assert time.monotonic() < deadline
                    time.sleep(0.001)
                time.sleep(0.0031 * number % 0.1)
                collector.kill()
                collector.join()
            self._require_whole(opener)

    def _require_whole(self, opener: Opener) -> None:
        with opener() as store:
            position = store.position("log")
            assert position is not None
            wanted: dict[str, JobDocument] = {}
            for step in range(position["step"]):
                for part in recorded_of(step):
                    wanted[part.id] = merge(wanted.get(part.id), part)
            assert {one.id: one for one in store.scan()} == wanted
            assert store.check().problems == 0

    def test_a_scan_while_others_write(self) -> None:
        opener = self.new_opener()
        with opener() as store, opener() as other:
            documents = [made_document(at, State.RUNNING, time=NOON + at) for at in range(1600)]
            store.put([Put(one) for one in documents])
            seen = []
            for number, document in enumerate(store.scan()):
                seen.append(document.id)
                if number % 200 == 0:
                    late = event(NOON + 9_000_000 + number, State.COMPLETED, position=10**9)
                    changed = [documents[number], documents[1599 - number]]
                    parts = [
                        made_partial(int(one.id.split(":")[2].partition(".")[0]), late)
                        for one in changed
                    ]
                    other.merge(parts)
            assert sorted(seen) == sorted(one.id for one in documents)


def _step(store: Store) -> int:
    position = store.position("log")
    return int(position["step"]) if position else 0
