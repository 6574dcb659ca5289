"""One source in a thread of its own: poll, merge into the store, commit, and again.

A source that fails waits, longer and longer, and tries again, while the others go on. After a
failure of the store, after a conflict and after a bug the source is resumed from the position that
the store has, so that nothing is lost and nothing counts twice.
"""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Sequence
from time import monotonic
from typing import Literal

from jobsight.clock import now_micros
from jobsight.documents import JSON, JobDocument
from jobsight.errors import ConflictError, JobsightError, SourceError, StoreError, TooMuchError
from jobsight.history.sources import Pause, Position, Source
from jobsight.service.logs import WIDTH, LastError, Rate, log
from jobsight.settings import CollectSettings
from jobsight.store import Move, Store
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
    may be called from any. The worker alone polls its source, and closes it when it ends: when the
    collector sets `stop`; with `once`, when nothing more is waiting, or, as failed, on any error.
    """

    def __init__(
        self,
        source: Source,
        settings: CollectSettings,
        stop: threading.Event,
        *,
        once: bool = False,
    ) -> None:
        self.name = source.name
        self.state: SourceState = "starting"
        self._source = source
        self._settings = settings
        self._stop = stop
        self._once = once
        self._saved: Position | None = None
        self._store: Store
        self._pause = Pause(settings.first_pause, settings.longest_pause)
        self._rate = Rate()
        self._counts = dict.fromkeys(
            ("polls", "documents", "changed", "refused", "errors", "conflicts", "crashes"), 0
        )
        self._since = self._last_poll = now_micros()
        self._until: int | None = None
        self._last = LastError()
        self._problem: str | None = None
        self._report: dict[str, JSON] = {}
        self._due = monotonic() + settings.stuck_seconds
        self._thread: threading.Thread | None = None

    def start(self, store: Store) -> None:
        """Begin to merge what the source reports into `store`."""
        self._store = store
        self._thread = threading.Thread(target=self._run, name=self.name[:60], daemon=True)
        self._alive_for(0)
        self._thread.start()

    @property
    def finished(self) -> bool:
        """Whether the worker ended as it should: it was stopped, or polled once."""
        return self.state in ("stopped", "done", "failed")

    @property
    def turning(self) -> bool:
        """Whether it does something, or waits for what it should wait for."""
        return self.finished or self._thread is None or monotonic() < self._due

    @property
    def healthy(self) -> bool:
        """Whether its source did not fail the last time, and no part of it fails now."""
        well = not self._pause.failures and self._problem is None
        return well and self.state != "failed" and self.turning

    def join(self, seconds: float) -> bool:
        """Wait for the thread to end; whether it has."""
        if self._thread is None:
            return True
        self._thread.join(max(seconds, 0.0))
        return not self._thread.is_alive()

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
            "problem": None if self._problem is None else printable(self._problem, WIDTH),
            "last_error": self._last.snapshot(),
            "documents_per_s": round(self._rate.value(), 3),
            **self._counts,
            "source": self._report,
        }

    # The rest belongs to the thread.

    def _run(self) -> None:
        try:
            self._loop()
        finally:
            counts = {name: self._counts[name] for name in ("documents", "polls")}
            log("source ended", source=self.name, state=self.state, **counts)
            try:
                self._report = self._source.status()
                self._source.close()
            except Exception as error:
                self._record("source failed to close", "errors", error)

    def _loop(self) -> None:
        resumed = False
        while not self._stop.is_set():
            try:
                if not resumed:
                    self._enter("starting")
                    self._saved = self._store.position(self.name)
                    self._source.resume(self._saved, self._store.active)
                    self._report = self._source.status()
                    log("source resumed", source=self.name, from_the_beginning=self._saved is None)
                    resumed = True
                more = self._turn()
            except BaseException as error:  # a fault of one source must not end the others
                resumed = self._failed(error) and resumed
                if self._once:
                    self._enter("failed")
                    return
                taken = isinstance(error, ConflictError) and bool(error.sources)
                pause = self._pause.failed(monotonic())
                self._enter("conflict" if taken else "backing off", pause)
                self._stop.wait(pause)
                continue
            failures = self._pause.failures
            self._pause.worked()
            if self._problem is None and self._last.resolve():
                log("source recovered", source=self.name, failures=failures or None)
            if self._once and not more:
                self._enter("done" if self._problem is None else "failed")
                return
            if not more:
                self._enter("waiting", self._source.interval)
                self._stop.wait(self._source.interval)
        self._enter("stopped")

    def _turn(self) -> bool:
        """Poll once and merge what was seen; whether more is waiting.

        The position moves with the last of the documents. More than one put takes are merged before
        that: if this is cut short, the source reports them again, which changes nothing.
        """
        self._enter("running")
        observed = self._source.poll()
        self._counts["polls"] += 1
        self._last_poll = now_micros()
        self._report = self._source.status()
        problem = self._source.problem  # of a part of it: logged when it begins
        if problem is not None and self._problem is None:
            self._record("source with errors", "errors", SourceError(problem))
        self._problem = problem
        if observed is None:
            return False
        documents = observed.documents
        if documents or observed.position != self._saved:
            most = self._store.most_documents
            while len(documents) > most:
                self._merge(documents[:most], [])
                documents = documents[most:]
            moves = [Move(self.name, self._saved, observed.position)]
            try:
                self._merge(documents, moves)
            except TooMuchError:
                self._merge(documents, [])
                self._merge([], moves)
            self._saved = observed.position
        self._source.committed()
        for what in observed.missed:
            log("records missed", logging.WARNING, source=self.name, what=what)
        return observed.more

    def _merge(self, documents: Sequence[JobDocument], moves: list[Move]) -> None:
        self._alive_for(0)
        merged = self._store.merge(documents, moves)
        self._counts["documents"] += len(documents)
        self._counts["changed"] += len(merged.changes)
        self._counts["refused"] += len(merged.refused)
        self._rate.add(len(documents))
        for id_, reason in merged.refused[:_REFUSALS_LOGGED]:
            fields = {"source": self.name, "document": id_, "reason": reason}
            log("document refused", logging.WARNING, **fields)
        if (more := len(merged.refused) - _REFUSALS_LOGGED) > 0:
            log("more documents refused", logging.WARNING, source=self.name, count=more)

    def _failed(self, error: BaseException) -> bool:
        """Count and log; whether the source may go on as it is, without being resumed."""
        if isinstance(error, ConflictError) and error.sources:
            another = StoreError(
                f"another collector works on this source too ({error}); stop one of them, or name "
                "different sources"
            )
            self._record("source taken", "conflicts", another)
        elif isinstance(error, StoreError):
            self._record("store failed", "errors", error)
        elif isinstance(error, JobsightError):
            self._record("source failed", "errors", error)
        else:
            self._record("source crashed", "crashes", error)
        return isinstance(error, SourceError)

    def _record(self, event: str, counter: str, error: BaseException) -> None:
        self._counts[counter] += 1
        place = None
        frames = traceback.extract_tb(error.__traceback__)
        if frames and not isinstance(error, JobsightError):  # a bug: where it showed
            place = f"{frames[-1].filename}:{frames[-1].lineno} {frames[-1].name}"
        self._last.record(event, error, source=self.name, place=place)

    def _enter(self, state: SourceState, seconds: float = 0.0) -> None:
        self._alive_for(seconds)
        self._until = now_micros() + round(seconds * 1e6) if seconds else None
        if state != self.state:
            self.state = state
            self._since = now_micros()

    def _alive_for(self, seconds: float) -> None:
        """From now on, silence is as it should be for that long, and as long as a step may take."""
        self._due = monotonic() + seconds + self._settings.stuck_seconds
