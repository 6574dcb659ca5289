"""The source `condor`: the jobs of one user, or of all, at one access point, without any rights.

A poll is at most one ``condor_q`` and one ``condor_history``, which reads what ended since the last
poll; then the logs that the ads name (`jobsight.history.condor.userlogs`) are read, those of held
jobs first. An ad has the present status of its job, and counts what was before: of a job without a
log that can be read, holds, releases and evictions between two polls are only counted.
"""

from __future__ import annotations

import getpass
import re
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from jobsight.documents import JSON, Event, JobDocument, State, condor_id, parse_key
from jobsight.documents.timelines import GONE
from jobsight.errors import DocumentError, SourceError
from jobsight.history.condor.client import Ad, CondorClient
from jobsight.history.condor.userlogs import UserLog, UserLogs
from jobsight.history.jobads import POLLED, USER_LOGS, document_from_ad
from jobsight.history.sources import Observed, Position, Source, resumed
from jobsight.settings import CondorSettings
from jobsight.text import counted

__all__ = ["CondorSource"]

_VERSION = 1
_QUEUE, _HISTORY = "condor_q", "condor_history"
_NAME = re.compile(r"[\w.@$][\w.@$-]{0,254}", re.ASCII)
_MICROS = 1_000_000
_NEVER = "ClusterId < 0"
_LATE = 3600
"""Seconds that a job may take to get into the history: its schedd may wait for its machine."""
_FEW = 1000
"""Of so many jobs in the queue all are reported at each poll, also where they are as they were."""
_SKEW = 300
"""Seconds that clocks may differ."""
_DAY = 86_400
_WAITS = (State.PENDING, State.HELD)
_FIRST = {5: 0, 2: 1, 3: 2, 4: 2}
"""Whose logs are read first, by JobStatus: held, running, over; then all others."""


class CondorSource(Source):
    """One access point.

    Args:
        client: runs the tools; this source's alone.
        access_point: the name in the ids of its jobs.
        settings: whose jobs, limits and spans.
        clock: seconds since 1970; tests give their own.
    """

    def __init__(
        self,
        client: CondorClient,
        access_point: str,
        settings: CondorSettings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.name = f"condor:{access_point}"
        self.interval = settings.interval
        self._prefix = condor_id(access_point, 0, 0).rpartition(":")[0]
        self._client, self._access_point = client, access_point
        self._settings, self._clock = settings, clock
        self._logs = UserLogs(
            access_point,
            most=settings.logs_most,
            room=settings.log_bytes,
            known_only=settings.user == "*",
            elsewhere=client.schedd is not None,
        )
        self._active: dict[str, str | None] = {}
        self._saved: Position = {}
        self._newest: tuple[int, int] | None = None
        self._asked = self._seen = 0
        self._history_after = 0
        self._failures: dict[str, str] = {}
        self._refused = self._ended = self._left_out = self._polls = 0

    # --- the contract ---

    def resume(
        self, position: Position | None, active: Callable[[str | None], Iterator[JobDocument]]
    ) -> None:
        """Go on from `position`; the store's living jobs are those that may have left the queue.

        Raises:
            SourceError: the position was written by a newer version, or is damaged.
        """
        with resumed(self.name, position, _VERSION) as saved:
            self._logs.restore(saved.get("logs", {}))
            newest = saved.get("newest")
            self._newest = None if newest is None else (int(newest[0]), int(newest[1]))
            self._asked, self._seen = int(saved.get("asked", 0)), int(saved.get("seen", 0))
            self._history_after = int(saved.get("history_after", 0))
        # While it is not asked again, what it said holds.
        self._failures = {_HISTORY: str(saved["failure"])} if saved.get("failure") else {}
        self._saved = saved
        self._active = {one.id: one.submission.user for one in active(self._prefix)}

    def poll(self) -> Observed | None:
        """Ask the tools once, or read on in user logs where the last poll left some.

        Raises:
            SourceError: neither the queue nor the history gave an answer.
        """
        missed: list[str] = []
        documents = self._logs.read() if self._logs.more else self._ask(missed)
        position: Position = {
            "version": _VERSION, "newest": self._newest and list(self._newest),
            "asked": self._asked, "seen": self._seen, "history_after": self._history_after,
            "failure": self._failures.get(_HISTORY), "logs": self._logs.position(),
        }  # fmt: skip
        if not documents and position == self._saved:
            return None
        self._saved = position
        return Observed(documents, dict(position), more=self._logs.more, missed=missed)

    @property
    def problem(self) -> str | None:
        """See `Source.problem`: the queue or the history gave no answer."""
        return next(iter(self._failures.values()), None)

    def status(self) -> dict[str, JSON]:
        """Calls by command, jobs, logs, failures."""
        return {
            "calls": dict(sorted(self._client.calls.items())),
            "polls": self._polls,
            "jobs_living": len(self._active),
            "jobs_ended": self._ended,
            "ads_refused": self._refused,
            "logs": len(self._logs),
            "logs_unread": self._logs.unread,
            "logs_left_out": self._left_out,
            "failures": dict(self._failures),
            "history_paused_until": self._history_after or None,
        }

    def close(self) -> None:
        """Nothing is held open between polls."""

    # --- one poll ---

    def _ask(self, missed: list[str]) -> list[JobDocument]:
        """What the tools and the logs report; what limits left out is added to `missed`."""
        self._polls += 1
        now, first = int(self._clock()), not self._asked
        owner = self._owner()
        queue = self._tried(_QUEUE, lambda: self._queue(owner))
        ended = None
        # A schedd elsewhere that gives no answer is not asked twice.
        if now >= self._history_after and (queue is not None or self._client.schedd is None):
            ended = self._tried(_HISTORY, lambda: self._history(owner, now))
            self._history_after = (
                0 if ended is not None else now + int(self._settings.history_pause)
            )
        if queue is None and ended is None:
            raise SourceError(self._failures[_QUEUE])
        queued = self._documents(queue or [], _QUEUE, now)
        over = self._documents(ended or [], _HISTORY, now)
        self._ended += len(over)
        documents = [*over.values(), *self._changed(queued)]
        self._seen = now if queue is not None else self._seen
        if queue is not None and len(queue) < self._settings.queue_most:
            documents += self._gone(queued.keys() | over.keys(), owner, now)
            self._active.clear()
        self._active |= {id_: one.submission.user for id_, one in queued.items()}
        ads = [*(queue or []), *(ended or [])]
        self._begin_logs(ads, [*queued.values(), *over.values()])
        missed += self._missed(len(queue or []), len(ended or []), first=first)
        return documents + self._logs.read()

    def _owner(self) -> str | None:
        """Whose jobs are asked about; None: those of all."""
        named = self._settings.user
        if named is not None:
            return None if named == "*" else named
        with suppress(KeyError, OSError):
            if _NAME.fullmatch(caller := getpass.getuser()):
                return caller
        raise SourceError(
            "this user has no plain name on this machine; set condor.user to the owner of the jobs"
        )

    def _tried(self, tool: str, ask: Callable[[], list[Ad]]) -> list[Ad] | None:
        """What a tool answers; None where it fails, which `problem` then says."""
        try:
            ads = ask()
        except SourceError as error:
            self._failures[tool] = str(error)
            return None
        self._failures.pop(tool, None)
        return ads

    def _queue(self, owner: str | None) -> list[Ad]:
        return self._client.queue_of(owner, POLLED, self._settings.queue_most)

    def _history(self, owner: str | None, now: int) -> list[Ad]:
        """The jobs that ended since the newest one that is known, newest first."""
        # All of it may have been too much for one call.
        stop = _NEVER if self._history_after else None
        if self._asked:
            # Jobs that stay in the queue when they have ended come into the history at any time.
            since = self._asked - _LATE
            stop = f"(LeaveJobInQueue =?= false && EnteredCurrentStatus < {since})"
        if self._asked and self._newest is not None:
            stop = f"{stop} || (ClusterId == {self._newest[0]} && ProcId == {self._newest[1]})"
        ads = self._client.history_of(owner, POLLED, self._settings.history_most, stop)
        for ad in ads[:1]:
            cluster, proc = ad.get("ClusterId"), ad.get("ProcId")
            if type(cluster) is int and type(proc) is int:
                self._newest = cluster, proc
        self._asked = now
        return ads

    def _documents(self, ads: Sequence[Ad], source: str, now: int) -> dict[str, JobDocument]:
        documents, latest = {}, (now + _DAY) * _MICROS
        for ad in ads:
            try:
                document = document_from_ad(ad, self._access_point, source=source, with_ad=True)
            except DocumentError:
                self._refused += 1
                continue
            if document.updated <= latest:
                documents[document.id] = document
            else:  # its owner may have edited it, and answers are as of the last date
                self._refused += 1
        return documents

    def _changed(self, queued: dict[str, JobDocument]) -> list[JobDocument]:
        """Of many jobs in the queue those that may be other than at the last poll."""
        before = (self._seen - _SKEW) * _MICROS
        if len(queued) <= _FEW:
            return list(queued.values())

        def waits_still(document: JobDocument) -> bool:
            last = document.timeline[-1] if document.timeline else None
            same = last is not None and last.state in _WAITS and last.time < before
            return same and document.id in self._active

        return [one for one in queued.values() if not waits_still(one)]

    def _gone(self, known: Container[str], owner: str | None, now: int) -> Iterator[JobDocument]:
        """Jobs that the queue has no more and that the history does not have.

        Should it report them later, that counts (`jobsight.documents.merging`).
        """
        for id_, user in self._active.items():
            if id_ not in known and owner in (None, user):
                time_ = now * _MICROS
                end = Event(time=time_, source=_QUEUE, state=State.UNKNOWN_END, word=GONE)
                yield JobDocument(id=id_, updated=time_, timeline=(end,))

    def _begin_logs(self, ads: Sequence[Ad], documents: Iterable[JobDocument]) -> None:
        """Begin to read the logs that ads name, in the order of `_FIRST`, the newest jobs first."""

        def order(ad: Ad) -> tuple[int, int]:
            status, cluster = (ad.get(name) for name in ("JobStatus", "ClusterId"))
            rank = _FIRST.get(status, 3) if type(status) is int else 3
            return rank, -cluster if type(cluster) is int else 0

        logs = []
        for ad in sorted(ads, key=order):
            owner, folder = ad.get("Owner"), ad.get("Iwd")
            for path in map(ad.get, USER_LOGS):
                if isinstance(path, str) and path and isinstance(owner, str):
                    inside = Path(folder, path) if isinstance(folder, str) else Path(path)
                    logs.append(UserLog(str(inside), owner))
        owners = {parse_key(one.id).job: one.submission.user or "" for one in documents}
        self._left_out = self._logs.begin(logs, owners)

    def _missed(self, queue: int, ended: int, *, first: bool) -> list[str]:
        """What the limits left out of a poll in which so many ads came, in words."""
        limits = self._settings
        missed = []
        if queue >= limits.queue_most:
            jobs = counted(limits.queue_most, "job")
            missed.append(f"of the queue only {jobs} were asked about (condor.queue_most)")
        if ended >= limits.history_most and not first:
            jobs = counted(limits.history_most, "job")
            missed.append(f"more than {jobs} ended since the last poll (condor.history_most)")
        return missed
