"""What is kept ready to answer at once: the tables of the store, indexed, and opened models.

A `Ready` is of one state of the store; `Follower` makes the next one when the store has changed,
in a thread of its own, so that no request waits for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from jobsight.answering.session import AnswerSession, present
from jobsight.answering.tables import Tables
from jobsight.clock import now_micros
from jobsight.errors import JobsightError, SourceError
from jobsight.questions import QUESTIONS, answerable_named, question_named
from jobsight.service.logs import LastError
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.documents import JobDocument
    from jobsight.history.timelines import History
    from jobsight.settings import Settings
    from jobsight.store import Store

__all__ = ["Follower", "Ready"]

T = TypeVar("T")

_REST, _LONGEST_REST = 2.0, 30.0
"""After work of some seconds, so many times as long passes before the next: requests come first.
At most so many seconds: new holds are waited for."""
_STEP = 10_000_000
"""µs: answers are as of multiples of it, so that those asked for together share their work."""
_MOST_CACHED = 10_000
_SHARE = 0.01
"""Of the time may go into making something anew; within a `Ready` only the clock has moved."""
_OLDER = 3.0
"""For so many times its span what was made is still given while it is made anew."""
_RENEWING = ThreadPoolExecutor(1, "renewing")
_OF_A_JOB = ("job", "similar")
"""Beginnings of the keys of what is made of a job; they end in its id."""
_LASTING = ("quality",)
"""Keys of what is about weeks: a change of the store hardly changes it."""
_UNREAD, _UNPREPARED = "store not read", "not all made ready"


class Ready:
    """The tables of one state of the store, and who answers from them.

    `lock` is held while questions are asked: some answerers serve one thread at a time. What takes
    long and asks none, the quality of weeks, has a lock of its own.
    """

    def __init__(self, tables: Tables, settings: Settings) -> None:
        self.tables = tables
        self.settings = settings
        self.lock, self._slow = threading.RLock(), threading.RLock()
        self.made = now_micros()
        self._sessions: dict[str, AnswerSession[Any]] = {}
        self._cached: dict[Hashable, _Made] = {}

    @cached_property
    def end(self) -> int:
        """µs: the last moment of which anything is recorded of a job."""
        return self.tables.jobs.end()

    def session(self, name: str, step: int = _STEP) -> AnswerSession[Any]:
        """The session that answers a question now, µs rounded to a step; made once.

        Raises:
            SourceError: of held jobs, where the store has no record of an event log.
        """
        answerable = answerable_named(name)
        events = answerable.question.reads == "events"
        read = self.require_history() if events else self.tables.jobs
        with self.lock:
            if name not in self._sessions:
                moment = max(self.end + 1, self.made)
                self._sessions[name] = AnswerSession(answerable, read, moment, self.settings)
            return self._sessions[name].at(*present(answerable, read, step))

    def index_all(self) -> None:
        """Make the answerers of all champions that the clusters of the table have."""
        for name in QUESTIONS:
            if question_named(name).reads == "jobs" and len(self.tables.jobs.table):
                with self.lock:
                    self.session(name).prepare()

    def require_history(self) -> History:
        """The event history; `SourceError`: the store has no record of an event log."""
        if self.tables.history is None:
            raise SourceError(f"no event record in {printable(self.settings.store.url)}")
        return self.tables.history

    def cached(self, key: Hashable, seconds: float, make: Callable[[], T]) -> T:
        """What `make` returns or raises, made anew after some seconds, later where it takes long.

        What is asked for again soon after that is made in the background: until then the last is
        given, so that no caller waits.
        """
        now, found = time.monotonic(), self._cached.get(key)
        if found is None or found.stale <= now:
            with self._lock_of(key):
                found = self._cached.get(key)
                if found is None or found.stale <= time.monotonic():
                    found = self._make(key, seconds, make)
        elif found.until <= now:
            self._cached[key] = found._replace(until=found.stale)

            def renew() -> None:
                with self._lock_of(key):
                    self._make(key, seconds, make)

            _RENEWING.submit(renew)
        if found.error is not None:
            # Another one each time: what is raised refers to all that its callers had at hand.
            raise copy(found.error)
        value: T = found.value
        return value

    def keep(self, before: Ready, changed: Collection[str]) -> None:
        """Go on giving, until it is too old, what was made of weeks and of unchanged jobs."""
        for key, made in list(before._cached.items()):
            of_job = isinstance(key, tuple) and key[0] in _OF_A_JOB and key[-1] not in changed
            if of_job or key in _LASTING:
                self._cached.setdefault(key, made)

    def _lock_of(self, key: Hashable) -> threading.RLock:
        return self._slow if key in _LASTING else self.lock

    def _make(self, key: Hashable, seconds: float, make: Callable[[], object]) -> _Made:
        value, error, begun = None, None, time.monotonic()
        try:
            value = make()
        except JobsightError as failure:
            error = copy(failure)
        if len(self._cached) >= _MOST_CACHED:
            self._cached.clear()
        ended = time.monotonic()
        fresh = max(seconds, (ended - begun) / _SHARE)
        made = self._cached[key] = _Made(ended + fresh, ended + _OLDER * fresh, value, error)
        return made


class _Made(NamedTuple):
    """What was made: fresh until, given until (of the monotonic clock); a value, or an error."""

    until: float
    stale: float
    value: Any
    error: JobsightError | None


class Follower:
    """Keeps a `Ready` of the store as it is now; `errors` has the last error of reading.

    `prepare` is called with each new `Ready` before it serves, in the follower's thread; `changed`
    with the one before (None: there was none), the new one, and the documents that changed.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        prepare: Callable[[Ready], None],
        changed: Callable[[Ready | None, Ready, Sequence[JobDocument]], None],
    ) -> None:
        self._store, self._settings = store, settings
        self._prepare, self._changed = prepare, changed
        self._ready: Ready | None = None
        self._news = threading.Condition()
        self._halt = False
        self._wake = threading.Event()
        self.errors = LastError()
        self._thread = threading.Thread(target=self._run, name="follower", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """End; waits for the thread a little."""
        self._halt = True
        self._wake.set()
        self._thread.join(5.0)

    @property
    def current(self) -> Ready | None:
        """The latest; None: the store is still being read for the first time."""
        return self._ready

    def await_ready(self, seconds: float, revision: int = 0) -> Ready | None:
        """The latest, once there is one of at least this revision of the store.

        Waits no longer than some seconds for that, then it is the latest that there is.
        """
        if self._ready is not None and self._ready.tables.revision < revision:
            self._wake.set()
        with self._news:
            self._news.wait_for(
                lambda: self._ready is not None and self._ready.tables.revision >= revision, seconds
            )
            return self._ready

    def _run(self) -> None:
        while True:
            self._wake.clear()  # what wakes it from now on, while it looks, too
            if self._halt:
                return
            started, first = time.monotonic(), self._ready is None
            try:
                self._look()
            except Exception as error:  # the thread goes on whatever one state of the store does
                self.errors.record(_UNREAD, error)
            else:
                self.errors.resolve(_UNREAD)
            # What was written while all was read for the first time is looked for at once.
            spent = 0.0 if first else time.monotonic() - started
            rest = min(_REST * spent, _LONGEST_REST)
            self._wake.wait(max(self._settings.serve.follow_seconds, rest))

    def _look(self) -> None:
        before = self._ready
        documents: list[JobDocument] = []
        if before is None:
            tables = Tables.read(self._store)
        else:
            tables = before.tables.followed(self._store, documents.append)
            if tables is before.tables:
                return
        ready = Ready(tables, self._settings)
        try:
            self._prepare(ready)
        except Exception as error:  # reported to the caller that needs what is missing
            self.errors.record(_UNPREPARED, error)
        else:
            self.errors.resolve(_UNPREPARED)
        if before is not None:
            ready.keep(before, {one.id for one in documents})
        with self._news:
            self._ready = ready
            self._news.notify_all()
        self._changed(before, ready, documents)
