"""One source at work in a thread of its own: poll, merge into the store, commit, and again.

Trouble of one source is its own: it waits, longer and longer, and tries again, while the others go
on. After trouble of the store, after a conflict and after a fault of ours the source is resumed
from the position that the store has, so that nothing is lost and nothing counts twice.
"""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Literal

from jobsight.documents import JSON, JobDocument
from jobsight.errors import (
    ConflictError,
    JobsightError,
    SourceError,
    StoreError,
    StoreUnavailableError,
)
from jobsight.history.pauses import Pause
from jobsight.history.sources import Observed, Position, Source
from jobsight.service.logs import log
from jobsight.service.records import WIDTH, LastError, Rate, now_micros
from jobsight.settings import CollectSettings
from jobsight.store.base import Merged, Move, Store
from jobsight.text import printable

__all__ = ["SourceState", "Worker"]

SourceState = Literal[
    "starting", "running", "waiting", "backing off", "conflict", "stopped", "done", "failed"
]
"""``conflict``: another collector moved this source's position, it is resumed after a pause;
``done`` and ``failed``: how a source ended that was polled but once."""

_REFUSALS_LOGGED = 3


class Worker:
    """A source, its thread, and what is counted of it.

    `start` and `join` belong to one thread, the collector's; `snapshot`, `turning` and `finished`
    may be called from any. The worker closes its source when it ends.

    Args:
        source: polled by the worker's thread alone.
        settings: pauses and limits.
        stop: set by the collector to end all workers.
        once: end when nothing more is waiting; any trouble ends it too, as failed.
        clock: monotonic seconds, by which silence is measured.
    """

    def __init__(
        self,
        source: Source,
        settings: CollectSettings,
        stop: threading.Event,
        *,
        once: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = source.name
        self.state: SourceState = "starting"
        self._source = source
        self._settings = settings
        self._stop = stop
        self._once = once
        self._clock = clock
        self._saved: Position | None = None
        self._store: Store
        self._slice: int
        self._pause = Pause(settings.first_pause, settings.longest_pause)
        self._rate = Rate()
        self._counts = dict.fromkeys(
            ("polls", "documents", "changed", "refused", "errors", "conflicts", "crashes"), 0
        )
        self._since = self._last_poll = now_micros()
        self._until: int | None = None
        self._last = LastError()
        self._half: str | None = None
        self._told: dict[str, JSON] = {}
        self._due = clock() + settings.stuck_seconds
        self._thread: threading.Thread | None = None

    # the collector's side

    def start(self, store: Store) -> None:
        """Begin to merge what the source reports into `store`, or again after the thread died."""
        self._store = store
        self._slice = store.most_documents
        self._thread = threading.Thread(target=self._run, name=self.name[:60], daemon=True)
        self._alive_for(0)
        self._thread.start()

    @property
    def finished(self) -> bool:
        """Whether the worker ended as it should: it was stopped, or polled once."""
        return self.state in ("stopped", "done", "failed")

    @property
    def died(self) -> bool:
        """Whether its thread ended as it should not."""
        return self._thread is not None and not self._thread.is_alive() and not self.finished

    @property
    def turning(self) -> bool:
        """Whether it does something, or waits for what it should wait for."""
        return (
            self.finished or self._thread is None or (not self.died and self._clock() < self._due)
        )

    @property
    def healthy(self) -> bool:
        """Whether its source gave no trouble the last time, and has none."""
        well = not self._pause.failures and self._half is None
        return well and self.state != "failed" and self.turning

    def join(self, seconds: float) -> bool:
        """Wait for the thread to end; whether it has."""
        if self._thread is not None:
            self._thread.join(max(seconds, 0.0))
            return not self._thread.is_alive()
        return True

    def snapshot(self) -> dict[str, JSON]:
        """Everything known of the source, as JSON (times µs since 1970)."""
        return {
            "state": self.state,
            "healthy": self.healthy,
            "turning": self.turning,
            "since": self._since,
            "until": self._until,
            "last_poll": self._last_poll,
            "failures": self._pause.failures,
            "trouble": None if self._half is None else printable(self._half, WIDTH),
            "last_error": self._last.snapshot(),
            "documents_per_s": round(self._rate.value(), 3),
            **self._counts,
            "source": self._told,
        }

    # the thread's side

    def _run(self) -> None:
        try:
            self._loop()
        finally:
            self._close()

    def _loop(self) -> None:
        resumed = False
        while not self._stop.is_set():
            try:
                if not resumed:
                    self._resume()
                    resumed = True
                more = self._turn()
            except BaseException as error:  # a fault of one source must not end the others
                resumed = self._troubled(error) and resumed
                if self._once:
                    self._enter("failed")
                    return
                self._wait_after_trouble(error)
                continue
            self._recovered()
            if self._once and not more:
                self._enter("done" if self._half is None else "failed")
                return
            if not more:
                self._enter("waiting", self._source.interval)
                self._stop.wait(self._source.interval)
        self._enter("stopped")

    def _resume(self) -> None:
        self._enter("starting")
        self._saved = self._store.position(self.name)
        self._source.resume(self._saved, self._store.active)
        self._told = self._source.status()
        log("source resumed", source=self.name, from_the_beginning=self._saved is None)

    def _turn(self) -> bool:
        """Poll once and save what was seen; whether more is waiting."""
        self._enter("running")
        observed = self._source.poll()
        self._counts["polls"] += 1
        self._last_poll = now_micros()
        self._told = self._source.status()
        self._tell_half()
        if observed is None:
            return False
        self._save(observed)
        self._source.committed()
        for what in observed.missed:
            log("records missed", logging.WARNING, source=self.name, what=what)
        return observed.more

    def _save(self, observed: Observed) -> None:
        """Merge the documents; the position moves with the last of them.

        More than one put takes are merged slice by slice: if this is cut short, those merged
        already are told again, which changes nothing.
        """
        documents = observed.documents
        if not documents and observed.position == self._saved:
            return
        while len(documents) > self._slice:
            self._merge(documents[: self._slice], [])
            documents = documents[self._slice :]
        self._merge(documents, [Move(self.name, self._saved, observed.position)])
        self._saved = observed.position
        self._slice = min(2 * self._slice, self._store.most_documents)

    def _merge(self, documents: Sequence[JobDocument], moves: list[Move]) -> None:
        self._alive_for(0)
        merged = self._store.merge(documents, moves)
        self._counts["documents"] += len(documents)
        self._counts["changed"] += len(merged.changes)
        self._rate.add(len(documents))
        self._tell_refused(merged)

    def _tell_refused(self, merged: Merged) -> None:
        self._counts["refused"] += len(merged.refused)
        for document, reason in merged.refused[:_REFUSALS_LOGGED]:
            log(
                "document refused", logging.WARNING,
                source=self.name, document=document, reason=reason,
            )  # fmt: skip
        if len(merged.refused) > _REFUSALS_LOGGED:
            more = len(merged.refused) - _REFUSALS_LOGGED
            log("more documents refused", logging.WARNING, source=self.name, count=more)

    # trouble

    def _troubled(self, error: BaseException) -> bool:
        """Count and tell; whether the source may go on as it is, without being resumed."""
        if isinstance(error, SourceError):
            self._tell("source failed", "errors", error)
            return True
        if isinstance(error, ConflictError) and error.sources:
            self._tell("source taken", "conflicts", _another(error))
        elif isinstance(error, StoreError):
            if not isinstance(error, StoreUnavailableError):
                self._slice = max(1, self._slice // 2)  # perhaps it was too much at once
            self._tell("store failed", "errors", error)
        elif isinstance(error, JobsightError):
            self._tell("source failed", "errors", error)
        else:
            self._tell("source crashed", "crashes", error, _place(error))
        return False

    def _tell(
        self, event: str, counter: str, error: BaseException, place: str | None = None
    ) -> None:
        self._counts[counter] += 1
        self._last.record(event, error, source=self.name, place=place)

    def _wait_after_trouble(self, error: BaseException) -> None:
        taken = isinstance(error, ConflictError) and bool(error.sources)
        pause = self._pause.failed(self._clock())
        self._enter("conflict" if taken else "backing off", pause)
        self._stop.wait(pause)

    def _tell_half(self) -> None:
        """Log when a part of the source begins to fail; `_recovered` logs when none does."""
        trouble = self._source.trouble
        if trouble is not None and self._half is None:
            self._tell("source in trouble", "errors", SourceError(trouble))
        self._half = trouble

    def _recovered(self) -> None:
        failures = self._pause.failures
        self._pause.worked()
        if self._half is None and self._last.resolve():
            log("source recovered", source=self.name, failures=failures or None)

    def _close(self) -> None:
        log(
            "source ended", source=self.name, state=self.state,
            documents=self._counts["documents"], polls=self._counts["polls"],
        )  # fmt: skip
        try:
            self._told = self._source.status()
            self._source.close()
        except Exception as error:
            self._tell("source failed to close", "errors", error, _place(error))

    # where it stands

    def _enter(self, state: SourceState, seconds: float = 0.0) -> None:
        self._alive_for(seconds)
        self._until = now_micros() + round(seconds * 1e6) if seconds else None
        if state != self.state:
            self.state = state
            self._since = now_micros()

    def _alive_for(self, seconds: float) -> None:
        """From now on, silence is as it should be for that long, and as long as a step may take."""
        self._due = self._clock() + seconds + self._settings.stuck_seconds


def _another(error: ConflictError) -> Exception:
    return StoreError(
        f"another collector works on this source too ({error}); stop one of them, or name "
        "different sources"
    )


def _place(error: BaseException) -> str | None:
    """``file:line function`` of where a fault of ours was found."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno} {frames[-1].name}" if frames else None
