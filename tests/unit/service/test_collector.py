"""All sources of one process, and the store's housekeeping."""

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.limits import limit
from tests.testbed.namespace import until
from tests.unit.service.linesource import LineSource

from jobsight.errors import SourceError, UsageError
from jobsight.files import read_json
from jobsight.service.collector import Collector, Housekeeper
from jobsight.settings import CollectSettings
from jobsight.store import Put, Store, open_store
from jobsight.store.rows import PruneReport
from jobsight.testing import made_document


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "jobs.db"), create=True) as opened:
        yield opened


def settings(tmp_path: Path, **others: float) -> CollectSettings:
    return CollectSettings.model_validate(
        {
            "status_file": tmp_path / "status.json",
            "status_seconds": 0.05,
            "first_pause": 0.02,
            "longest_pause": 0.1,
            **others,
        }
    )


def some_lines(tmp_path: Path, name: str, count: int) -> LineSource:
    path = tmp_path / name
    path.write_text("x\n" * count)
    return LineSource(path)


class Running:
    """A collector in a thread, stopped for sure; how it ended is `well`."""

    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        self.well: bool | None = None
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        self.well = self.collector.run()

    def __enter__(self) -> Collector:
        self.thread.start()
        return self.collector

    def __exit__(self, *_: object) -> None:
        self.collector.stop()
        self.thread.join(limit(20))
        assert not self.thread.is_alive()


def test_several_sources_beside_each_other_one_of_them_in_trouble(
    tmp_path: Path, store: Store
) -> None:
    good, other = some_lines(tmp_path, "a", 30), some_lines(tmp_path, "b", 40)
    bad = LineSource(tmp_path / "missing")
    bug = some_lines(tmp_path, "d", 5)
    bug.troubles = [KeyError("x")] * 3
    running = Running(Collector(lambda: store, [good, other, bad, bug], settings(tmp_path)))
    with running as collector:
        until(lambda: sum(one["documents"] for one in collector.status()["sources"].values()) == 75)
        told = collector.status()
        until(lambda: collector.status()["sources"][bug.name]["failures"] == 0)
    assert running.well
    assert told["sources"][bad.name]["healthy"] is False
    assert told["sources"][good.name]["healthy"] is True
    assert told["memory_mb"] > 10
    written = read_json(tmp_path / "status.json", dict)
    assert written["stopped"] is not None
    assert written["sources"][bug.name]["crashes"] == 3
    assert {one["state"] for one in written["sources"].values()} == {"stopped"}


def test_once_with_trouble_is_not_well_but_the_others_are_collected(
    tmp_path: Path, store: Store
) -> None:
    sources = [some_lines(tmp_path, "a", 9), LineSource(tmp_path / "missing")]
    assert not Collector(lambda: store, sources, settings(tmp_path), once=True).run()
    assert sum(1 for _ in store.scan()) == 9


def test_once_stopped_before_all_is_collected_is_not_well(tmp_path: Path, store: Store) -> None:
    sources = [some_lines(tmp_path, "a", 9), some_lines(tmp_path, "b", 200)]  # two polls
    sources[1].gate = gate = threading.Event()
    collector = Collector(lambda: store, sources, settings(tmp_path), once=True)
    running = Running(collector)
    with running:
        until(lambda: collector.status()["sources"][sources[0].name]["state"] == "done")
        until(lambda: collector.status()["sources"][sources[1].name]["state"] == "running")
        collector.stop()
        until(collector._halt.is_set)
        gate.set()
    assert not running.well
    assert collector.ended


def test_a_source_that_does_not_end_in_time_is_left_behind(tmp_path: Path, store: Store) -> None:
    source = some_lines(tmp_path, "a", 5)
    source.gate = gate = threading.Event()
    collector = Collector(lambda: store, [source], settings(tmp_path, stop_seconds=0.2))
    running = Running(collector)
    begun = time.monotonic()
    with running:
        until(lambda: collector.status()["sources"][source.name]["state"] == "running")
    assert time.monotonic() - begun < limit(5)
    assert running.well is False
    assert not collector.ended
    gate.set()
    assert collector._workers[0].join(limit(5))


def test_the_watchdog_hears_of_life_only_while_all_are_turning(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    monkeypatch.setenv("WATCHDOG_USEC", "100000")
    source = some_lines(tmp_path, "a", 5)
    gate = threading.Event()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(address)
        heard.settimeout(0.4)
        collector = Collector(lambda: store, [source], settings(tmp_path, stuck_seconds=0.3))
        with Running(collector):
            assert heard.recv(100) == b"READY=1"
            signs = {heard.recv(200)[:8] for _ in range(20)}
            assert {b"WATCHDOG", b"STATUS=1"} <= signs
            source.gate = gate
            until(lambda: not collector._workers[0].turning)
            seen = read_json(tmp_path / "status.json", dict)["written"]
            # A look at the sources that began before has ended when two more were written.
            until(lambda: read_json(tmp_path / "status.json", dict)["written"] > seen)
            then = read_json(tmp_path / "status.json", dict)["written"]
            until(lambda: read_json(tmp_path / "status.json", dict)["written"] > then)
            heard.setblocking(False)
            with pytest.raises(BlockingIOError):
                while True:
                    heard.recv(200)
            heard.setblocking(True)
            heard.settimeout(limit(1))
            assert not any(heard.recv(200).startswith(b"WATCHDOG") for _ in range(5))
            gate.set()


def test_old_jobs_move_to_the_archive(tmp_path: Path, store: Store) -> None:
    collector = Collector(
        lambda: store,
        [some_lines(tmp_path, "a", 9)],
        settings(tmp_path, prune_seconds=0.1),
        keep_seconds=3600,
    )
    with Running(collector):
        until(lambda: collector.status()["store"]["pruned"] == 9)
    assert sum(1 for _ in store.scan()) == 9
    assert not list(store.active())


def test_trouble_of_housekeeping_is_told_and_stops_nobody(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    prune, troubles = store.prune, [True]

    def failing(before: int, **rest: Any) -> PruneReport:
        if troubles:
            raise SourceError("cannot move")
        return prune(before, **rest)

    monkeypatch.setattr(store, "prune", failing)
    collector = Collector(
        lambda: store,
        [some_lines(tmp_path, "a", 9)],
        settings(tmp_path, prune_seconds=0.05),
        keep_seconds=3600,
    )
    running = Running(collector)
    with running:
        until(lambda: collector.status()["store"]["errors"] >= 2)
        assert collector.status()["store"]["last_error"]["over"] is None
        troubles.clear()
        until(lambda: collector.status()["store"]["last_error"]["over"] is not None)
    assert running.well
    error = collector.status()["store"]["last_error"]
    assert error["text"] == "cannot move"
    assert error["over"] >= error["time"]


def test_a_status_that_cannot_be_written_stops_nothing(tmp_path: Path, store: Store) -> None:
    (tmp_path / "file").write_text("")
    unwritable = settings(tmp_path).model_copy(update={"status_file": tmp_path / "file" / "x"})
    assert Collector(lambda: store, [some_lines(tmp_path, "a", 9)], unwritable, once=True).run()


def test_no_source_or_one_twice_is_refused(tmp_path: Path, store: Store) -> None:
    with pytest.raises(UsageError, match="no source"):
        Collector(lambda: store, [], settings(tmp_path))
    twice = [some_lines(tmp_path, "a", 1), some_lines(tmp_path, "a", 1)]
    with pytest.raises(UsageError, match="named twice"):
        Collector(lambda: store, twice, settings(tmp_path))


def test_a_folder_of_profiles_that_cannot_be_read_is_an_error_of_the_status(
    tmp_path: Path, store: Store
) -> None:
    missing = tmp_path / "profiles"
    keeper = Housekeeper(settings(tmp_path), None, threading.Event(), missing)
    keeper.opened(store)
    keeper.pick_up()
    assert keeper.snapshot()["errors"] == 1
    assert str(missing) in str(keeper.snapshot()["last_error"])
    missing.mkdir()
    keeper.pick_up()
    assert keeper.snapshot()["errors"] == 1


HOUR = 3_600_000_000


def test_few_old_jobs_wait_for_more_and_for_a_day_at_most(tmp_path: Path) -> None:
    now = time.time_ns() // 1000
    with open_store(str(tmp_path / "jobs.db"), create=True) as store:
        keeper = Housekeeper(CollectSettings(prune_jobs=3), 3600.0, threading.Event())
        keeper.opened(store)

        def moved_after(number: int, hours: int) -> int:
            store.put([Put(made_document(number, time=now - hours * HOUR))])
            keeper.prune()
            told = keeper.snapshot()
            assert told["errors"] == 0
            return store.status().archived

        assert [moved_after(number, 2) for number in range(6)] == [0, 0, 3, 3, 3, 6]
        assert moved_after(6, 24) == 6
        assert moved_after(7, 26) == 8
        assert keeper.snapshot()["pruned"] == 8
