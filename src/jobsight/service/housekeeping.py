"""What the store needs meanwhile: old jobs move to the archive, and its status is read."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections.abc import Iterator

from jobsight.documents import JSON
from jobsight.errors import StoreError
from jobsight.service.logs import LastError, log, now_micros
from jobsight.settings import CollectSettings
from jobsight.store import Store

__all__ = ["Housekeeper"]

_STATUS_EVERY_S = 60.0
_LONGEST_WAIT_S = 86400.0


class Housekeeper:
    """A thread next to the sources' own; its errors are counted and logged, and stop no source."""

    def __init__(
        self, settings: CollectSettings, keep_seconds: float | None, stop: threading.Event
    ) -> None:
        self._store: Store | None = None
        self._settings = settings
        self._keep = keep_seconds
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
