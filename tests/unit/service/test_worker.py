import logging
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.limits import limit
from tests.testbed.namespace import until
from tests.unit.service.linesource import LineSource, document

from jobsight.documents import JobDocument, condor_id
from jobsight.errors import SourceError, StoreUnavailableError
from jobsight.history.sources import Observed
from jobsight.service.worker import Worker
from jobsight.settings import CollectSettings
from jobsight.store import Merged, Move, Store, open_store

QUICK = CollectSettings(first_pause=0.02, longest_pause=0.05, stuck_seconds=30)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "jobs.db"), create=True) as opened:
        yield opened


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "lines"
    path.write_text("".join(f"job {number}\n" for number in range(250)))
    return path


def run_once(source: LineSource, store: Store, settings: CollectSettings = QUICK) -> Worker:
    worker = Worker(source, settings, threading.Event(), once=True)
    worker.start(store)
    assert worker.join(limit(20))
    return worker


class Running:
    """A worker that is stopped for sure."""

    def __init__(self, source: LineSource, store: Store) -> None:
        self.stop = threading.Event()
        self.store = store
        self.worker = Worker(source, QUICK, self.stop)

    def __enter__(self) -> Worker:
        self.worker.start(self.store)
        return self.worker

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        assert self.worker.join(limit(10))


def test_once_takes_everything_and_goes_on_where_it_stopped(lines: Path, store: Store) -> None:
    source = LineSource(lines)
    worker = run_once(source, store)
    assert worker.state == "done"
    assert sum(1 for _ in store.scan()) == 250
    assert store.position(source.name) == {"at": lines.stat().st_size, "line": 250}
    told = worker.snapshot()
    assert (told["documents"], told["changed"], told["polls"]) == (250, 250, 3)
    assert told["healthy"] and told["source"]["line"] == 250
    assert (source.commits, source.closes) == (3, 1)
    with lines.open("a") as file:
        file.write("one more\n")
    again = LineSource(lines)
    again.half = "squeue: timed out"
    worker = run_once(again, store)
    assert (worker.state, worker.snapshot()["documents"]) == ("failed", 1)
    assert sum(1 for _ in store.scan()) == 251


def test_once_ends_with_the_first_trouble_and_says_so(tmp_path: Path, store: Store) -> None:
    worker = run_once(LineSource(tmp_path / "missing"), store)
    assert worker.state == "failed"
    assert "is not there" in worker.snapshot()["last_error"]["text"]
    assert worker.snapshot()["last_error"]["over"] is None
    assert not worker.healthy


def test_a_source_in_trouble_is_asked_again_without_being_resumed(
    lines: Path, store: Store
) -> None:
    source = LineSource(lines)
    source.troubles = [SourceError("down \x1b[31m"), SourceError("still down")]
    with Running(source, store) as worker:
        until(lambda: worker.snapshot()["documents"] == 250)
    told = worker.snapshot()
    assert source.resumed == 1
    assert told["errors"] == 2
    assert told["failures"] == 0
    assert told["last_error"]["text"] == "still down"
    assert told["last_error"]["over"] >= told["last_error"]["time"]
    assert told["state"] == "stopped"


def test_a_source_half_in_trouble_is_not_well_and_is_told_once(
    lines: Path, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    source = LineSource(lines)
    source.half = "squeue: timed out"
    with caplog.at_level(logging.INFO, "jobsight.service"), Running(source, store) as worker:
        until(lambda: worker.snapshot()["polls"] > 5)
        told = worker.snapshot()
        assert (told["healthy"], told["problem"], told["errors"]) == (False, "squeue: timed out", 1)
        assert told["last_error"]["over"] is None
        assert told["documents"] == 250  # what the rest gives is not lost
        source.half = None
        until(lambda: worker.healthy)
        assert worker.snapshot()["problem"] is None
        until(lambda: worker.snapshot()["last_error"]["over"] is not None)
        until(lambda: "source recovered" in [one.message for one in caplog.records])
    events = [one.message for one in caplog.records]
    assert events.count("source with errors") == events.count("source recovered") == 1


def test_a_source_has_recovered_only_when_all_of_it_works_again(
    lines: Path, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    source = LineSource(lines)
    source.troubles = [SourceError("no topic")]
    source.half = "no topic"

    def recovered() -> int:
        return [one.message for one in caplog.records].count("source recovered")

    with caplog.at_level(logging.INFO, "jobsight.service"), Running(source, store) as worker:
        until(lambda: worker.snapshot()["polls"] > 5)
        assert (worker.healthy, recovered()) == (False, 0)
        assert worker.snapshot()["last_error"]["over"] is None
        source.half = None
        until(lambda: worker.healthy and recovered() > 0)
    assert recovered() == 1


def test_a_crash_is_counted_with_its_place_and_the_source_resumed(
    lines: Path, store: Store
) -> None:
    source = LineSource(lines)
    source.troubles = [None, ZeroDivisionError("a bug"), SystemExit(3)]
    with Running(source, store) as worker:
        until(lambda: worker.snapshot()["documents"] >= 250)
    told = worker.snapshot()
    assert told["crashes"] == 2
    assert source.resumed == 3
    assert told["last_error"]["text"] == "SystemExit: 3"
    assert sum(1 for _ in store.scan()) == 250


def test_documents_of_a_failed_put_are_not_lost(lines: Path, store: Store) -> None:
    troubles = [StoreUnavailableError("locked"), StoreUnavailableError("full")]
    merge = store.merge

    def failing(documents: list[JobDocument], moves: Sequence[Move] = ()) -> Merged:
        if troubles:
            raise troubles.pop(0)
        return merge(documents, moves)

    store.merge = failing  # type: ignore[method-assign, assignment]
    source = LineSource(lines)
    with Running(source, store) as worker:
        until(lambda: sum(1 for _ in store.scan()) == 250)
    assert source.resumed == 3
    assert worker.snapshot()["errors"] == 2


@pytest.mark.parametrize(("limited", "most"), [("most_documents", 64), ("most_bytes", 5000)])
def test_too_much_at_once_is_put_in_slices_before_the_position(
    limited: str, most: int, lines: Path, store: Store
) -> None:
    setattr(store, limited, most)
    source = LineSource(lines, most=1000)
    assert run_once(source, store).state == "done"
    assert sum(1 for _ in store.scan()) == 250
    assert source.commits == 1
    assert store.position(source.name) == {"at": lines.stat().st_size, "line": 250}


def test_a_document_that_no_store_can_keep_stops_nothing(lines: Path, store: Store) -> None:
    lines.write_bytes(b"fine\n\xf0\x9f\x92\xa9\nfine too\n")
    source = LineSource(lines)
    poll = source.poll

    def spoiled() -> Observed | None:
        found = poll()
        if found is not None:
            bad = document(99, "\ud800")
            found = Observed([*found.documents, bad], found.position, found.more)
        return found

    source.poll = spoiled  # type: ignore[method-assign]
    worker = run_once(source, store)
    assert worker.state == "done"
    assert worker.snapshot()["refused"] == 1
    assert sum(1 for _ in store.scan()) == 3


def test_what_a_source_missed_is_logged_once_it_is_saved(
    lines: Path, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    source = LineSource(lines)
    poll = source.poll

    def missing() -> Observed | None:
        found = poll()
        return found and replace(found, missed=["2 files rotated away unread"])

    source.poll = missing  # type: ignore[method-assign]
    with caplog.at_level(logging.WARNING):
        worker = run_once(source, store)
    assert worker.state == "done"
    told = [one for one in caplog.records if "records missed" in one.getMessage()]
    assert len(told) == worker.snapshot()["polls"] > 0
    assert "2 files rotated away unread" in str(vars(told[0]))


def test_another_collector_on_the_same_source_is_told_and_nothing_doubled(
    lines: Path, store: Store
) -> None:
    source = LineSource(lines, interval=0.01)
    with Running(source, store) as worker:
        until(lambda: worker.snapshot()["documents"] == 250)
        was = store.position(source.name)
        store.put([], [Move(source.name, was, {"at": 0, "line": 0})])
        with lines.open("a") as file:
            file.write("one more\n")
        until(lambda: worker.snapshot()["conflicts"] == 1)
        until(lambda: sum(1 for _ in store.scan()) == 251)
    assert "another collector works on this source" in worker.snapshot()["last_error"]["text"]
    assert store.get([condor_id("lines", 251, 0)])


def test_a_source_that_hangs_is_seen_to_be_stuck(lines: Path, store: Store) -> None:
    source = LineSource(lines)
    source.gate = gate = threading.Event()
    stop = threading.Event()
    worker = Worker(source, CollectSettings(stuck_seconds=0.1), stop)
    worker.start(store)
    assert worker.turning
    until(lambda: not worker.turning)
    assert not worker.healthy
    assert worker.snapshot()["turning"] is False
    stop.set()
    gate.set()
    assert worker.join(limit(10))
    assert worker.turning and worker.finished


def test_a_long_pause_is_no_silence(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = CollectSettings(first_pause=50, longest_pause=50, stuck_seconds=5)
    stop, now = threading.Event(), [100.0]
    source = LineSource(tmp_path / "missing")
    monkeypatch.setattr("jobsight.service.worker.monotonic", lambda: now[0])
    worker = Worker(source, settings, stop)
    worker.start(store)
    until(lambda: worker.state == "backing off")
    now[0] += 20
    then = (worker.turning, worker.healthy)
    now[0] += 40
    assert (*then, worker.turning) == (True, False, False)
    assert worker.snapshot()["until"] > time.time_ns() // 1000
    stop.set()
    assert worker.join(limit(2)), "a stop ends a pause"


def test_trouble_while_closing_is_told_and_no_more(lines: Path, store: Store) -> None:
    source = LineSource(lines)

    def stubborn() -> None:
        raise RuntimeError("cannot")

    source.close = stubborn  # type: ignore[method-assign]
    worker = run_once(source, store)
    assert worker.state == "done"
    assert worker.snapshot()["last_error"]["event"] == "source failed to close"
