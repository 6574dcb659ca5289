"""The collector: all sources of one process, a thread each, until it is stopped.

Nothing is lost and nothing counts twice however it ends: positions and documents are stored
together, so a collector that was killed resumes at the position in the store. Memory is bounded by
one `Observed` per source; a slow store slows the polling.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from jobsight import __version__
from jobsight.clock import now_micros
from jobsight.commands import end_commands
from jobsight.documents import JSON
from jobsight.errors import OutputError, StoreError, StoreUnavailableError, UsageError
from jobsight.files import write_json
from jobsight.history.sources import Pause, Source
from jobsight.service import status as status_file
from jobsight.service.logs import LastError, log
from jobsight.service.profiles import pick_up
from jobsight.service.systemd import Notifier
from jobsight.service.worker import Worker
from jobsight.settings import CollectSettings
from jobsight.store import Store

__all__ = ["Collector", "Housekeeper", "stopping_on_signals"]

_TICK_S = 0.5
_SAME_S = 0.5
"""Signals that follow each other so soon are one."""

_ENDED_S = 1.0
"""Given to sources whose tools were ended."""


class Collector:
    """Runs sources into a store.

    `run` belongs to one thread; `stop` may be called from any, and from a signal handler. The
    collector closes its sources; the store is the caller's.

    `opened` opens the store that the sources' documents are merged into, and is called again, after
    pauses, while the store cannot be reached. Jobs that ended longer than `keep_seconds` ago move
    to the archive, and what Slurm's prologs left in the folder `profiles` moves into the store.
    With `once` each source is polled until nothing more is waiting.

    Attributes:
        path: where the status is written.
        ended: after `run`, whether nothing uses the store any more.

    Raises:
        UsageError: no source, or two of one name.
    """

    def __init__(
        self,
        opened: Callable[[], Store],
        sources: Sequence[Source],
        settings: CollectSettings,
        *,
        keep_seconds: float | None = None,
        profiles: Path | None = None,
        once: bool = False,
    ) -> None:
        names = [source.name for source in sources]
        twice = next((name for name in names if names.count(name) > 1), None)
        if not names:
            raise UsageError("there is no source to collect from")
        if twice is not None:
            raise UsageError(f"the source {twice!r} is named twice")
        self._settings = settings
        self._once = once
        self._asked = threading.Event()
        self._halt = threading.Event()
        self.path = status_file.status_path(settings)
        self._notifier = Notifier()
        self._workers = [Worker(source, settings, self._halt, once=once) for source in sources]
        self._housekeeper = Housekeeper(settings, keep_seconds, self._halt, profiles)
        self._opened = opened
        self._started = self._written = 0.0
        self._write_error: str | None = None
        self._stopped: int | None = None
        self.ended = False

    def stop(self) -> None:
        """Ask for a graceful end: each source finishes what it is at."""
        self._asked.set()

    def run(self) -> bool:
        """Collect until `stop` is called or, once, until nothing more is waiting.

        Returns:
            Whether every source ended in time and, with `once`, without an error.

        Raises:
            StoreError: the store cannot be opened; if only now, it is waited for, but not once.
        """
        self._started = time.time()
        fields = {"pid": os.getpid(), "once": self._once, "sources": len(self._workers)}
        log("collector started", version=__version__, **fields, status=self.path)
        store = self._await_store()
        if store is not None:
            self._housekeeper.opened(store)
            for worker in self._workers:
                worker.start(store)
            if not self._once:
                self._housekeeper.start()
        self._notifier.ready()
        while not self._asked.wait(self._tick()):
            self._look_after()
            if self._once and all(worker.finished for worker in self._workers):
                break
        self._asked.set()
        self._halt.set()
        self._notifier.stopping()
        log("collector stopping")
        deadline = time.monotonic() + self._settings.stop_seconds
        late = [one for one in self._workers if not one.join(deadline - time.monotonic())]
        # Tools of the schedulers that hang must not outlive us.
        last = time.monotonic() + _ENDED_S
        while late and time.monotonic() < last:
            end_commands()  # again: a source may have begun another
            late = [worker for worker in late if not worker.join(_ENDED_S / 20)]
        for worker in late:
            log("source did not finish in time", logging.WARNING, source=worker.name)
        rested = self._housekeeper.join(deadline - time.monotonic())
        self.ended = rested and not late
        if self._once and not late:
            self._housekeeper.pick_up()
            self._housekeeper.prune()
            self._housekeeper.ask()
        self._stopped = now_micros()
        self._write()
        self._notifier.close()
        log("collector stopped", uptime_s=round(time.time() - self._started, 1))
        done = all(worker.state == "done" for worker in self._workers)
        return self.ended and (done or not self._once)

    def _await_store(self) -> Store | None:
        """The store, once it can be reached; None: asked to stop before that."""
        pause = Pause(self._settings.first_pause, self._settings.longest_pause)
        while True:
            try:
                return self._opened()
            except StoreUnavailableError as error:
                if self._once:
                    raise
                self._housekeeper.away(error)
            self._notifier.ready()
            until = time.monotonic() + pause.failed(time.monotonic())
            while time.monotonic() < until:
                if self._asked.wait(self._tick()):
                    return None
                self._look_after()

    def status(self) -> dict[str, JSON]:
        """What the status file says."""
        now = time.time()
        return {
            "schema": status_file.SCHEMA,
            "version": __version__,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "started": round(self._started * 1e6),
            "written": round(now * 1e6),
            "stopped": self._stopped,
            "stopping": self._asked.is_set(),
            "once": self._once,
            "every_s": self._settings.status_seconds,
            "uptime_s": round(now - self._started, 1),
            "memory_mb": status_file.memory_mb(),
            "threads": threading.active_count(),
            "store": self._housekeeper.snapshot(),
            "sources": {worker.name: worker.snapshot() for worker in self._workers},
        }

    def _tick(self) -> float:
        every = self._notifier.interval
        tick = min(_TICK_S, self._settings.status_seconds)
        return tick if every is None else min(tick, every)

    def _look_after(self) -> None:
        """Notify systemd, write the status when it is time."""
        if all(worker.turning for worker in self._workers):
            self._notifier.alive()
        if time.monotonic() - self._written >= self._settings.status_seconds:
            self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        well = sum(worker.healthy for worker in self._workers)
        rate = sum(worker.snapshot()["documents_per_s"] for worker in self._workers)
        self._notifier.status(
            f"{well} of {len(self._workers)} sources well, {rate:.1f} documents/s"
        )
        try:
            write_json(self.path, self.status())
        except OutputError as error:
            if str(error) != self._write_error:
                log("status not written", logging.ERROR, error=error)
            self._write_error = str(error)
        else:
            self._write_error = None


class _Stoppable(Protocol):
    """A collector, or another loop."""

    def stop(self) -> None:
        """Ask it to end; from any thread, or a signal handler."""


@contextlib.contextmanager
def stopping_on_signals(status: int) -> Iterator[Callable[[_Stoppable], None]]:
    """SIGTERM and SIGINT ask the collector to stop; another one later ends the process at once.

    One right behind the first counts as the same: timeout(1) sends each twice. For the main thread.
    Yields the function to register the collector with; before that, a signal ends the process by
    `SystemExit` with `status`, so that no tool called meanwhile is left running.
    """
    collectors: list[_Stoppable] = []
    asked: list[float] = []

    def handle(number: int, frame: FrameType | None) -> None:
        del frame
        if not collectors:
            raise SystemExit(status)
        asked.append(time.monotonic())
        if asked[-1] - asked[0] > _SAME_S:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        for collector in collectors:
            collector.stop()

    before: dict[signal.Signals, Any] = {}
    try:
        for one in (signal.SIGTERM, signal.SIGINT):
            before[one] = signal.signal(one, handle)
        yield collectors.append
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


_STATUS_EVERY_S = 60.0
_LONGEST_WAIT_S = 86400.0


class Housekeeper:
    """A thread next to the sources' own; its errors are counted and logged, and stop no source."""

    def __init__(
        self, settings: CollectSettings, keep_seconds: float | None, stop: threading.Event,
        profiles: Path | None = None,
    ) -> None:  # fmt: skip
        self._store: Store | None = None
        self._settings = settings
        self._keep = keep_seconds
        self._profiles = profiles
        self._stop = stop
        self._status: dict[str, JSON] = {"url": None}
        self._counts: dict[str, JSON] = {"prunes": 0, "pruned": 0, "last_prune": None, "errors": 0}
        self._last = LastError()
        self._thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)

    def away(self, error: StoreError) -> None:
        """The store cannot be reached yet."""
        self._record("store failed", error)

    def opened(self, store: Store) -> None:
        """The store, shared with the workers, is open; called before all that follows."""
        self._store = store
        self._status = {"url": store.url}
        if self._last.resolve():
            log("store opened", url=store.url)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def join(self, seconds: float) -> bool:
        """Wait for the thread to end; whether it has."""
        if self._thread.ident is not None:
            self._thread.join(max(seconds, 0.0))
        return not self._thread.is_alive()

    def snapshot(self) -> dict[str, JSON]:
        """The store's last status, and what was pruned."""
        return {**self._status, **self._counts, "last_error": self._last.snapshot()}

    def ask(self) -> None:
        """Ask the store for its status now."""
        with self._guarded("store status failed") as store:
            status = dataclasses.asdict(store.status())
            del status["positions"]  # the sources' own status has them
            self._status = status

    def pick_up(self) -> None:
        """Take the profiles that Slurm's prologs left, if settings name their folder."""
        if self._profiles is None:
            return
        with self._guarded("profiles failed") as store:
            done = pick_up(store, self._profiles)
            if set(done) - {"waiting"}:
                log("profiles", **{word.replace(" ", "_"): count for word, count in done.items()})

    def prune(self) -> None:
        """Move old jobs to the archive now, if settings say so and it is worth a file."""
        if self._keep is None:
            return
        with self._guarded("prune failed") as store:
            before = time.time() - self._keep
            report = store.prune(
                round(before * 1e6),
                least=self._settings.prune_jobs,
                overdue=round((before - _LONGEST_WAIT_S) * 1e6),
            )
            self._counts["prunes"] += 1
            self._counts["pruned"] += report.documents
            self._counts["last_prune"] = now_micros()
            if report.documents:
                log("pruned", documents=report.documents, parts=report.parts, bytes=report.bytes)

    def _run(self) -> None:
        prune_at = time.monotonic()
        while not self._stop.is_set():
            self.ask()
            self.pick_up()
            if time.monotonic() >= prune_at:
                self.prune()
                prune_at = time.monotonic() + self._settings.prune_seconds
            self._stop.wait(min(_STATUS_EVERY_S, self._settings.prune_seconds))

    @contextlib.contextmanager
    def _guarded(self, event: str) -> Iterator[Store]:
        """The store, for work whose error is recorded under the name `event`, until it is over."""
        assert self._store is not None
        try:
            yield self._store
        except Exception as error:
            self._record(event, error, store=self._status["url"])
        else:
            self._last.resolve(event)

    def _record(self, event: str, error: Exception, **fields: JSON) -> None:
        self._counts["errors"] += 1
        self._last.record(event, error, **fields)
