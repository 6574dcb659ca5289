"""The logs that users name for their jobs (``log =`` of a submit file), and DAGMan's of its nodes.

There may be one for each job, so they are read, a bounded number of bytes at a time, into the one
log `GATHERED`, whose order is that of time: to a history of thousands of logs each job would be
the only one of its log.
"""

from __future__ import annotations

import stat
import time
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from jobsight.clock import zone_named
from jobsight.documents import JSON, Event, JobDocument, parse_key
from jobsight.errors import SourceError
from jobsight.history.eventlog.headers import submit_host
from jobsight.history.eventlog.terms import GATHERED

if TYPE_CHECKING:
    from jobsight.history.following.tail import Part

__all__ = ["UserLog", "UserLogs"]

_SECOND = 1_000_000
_EVENTS = 20_000
_HEAD = 1 << 16
_LONGEST_PATH = 4096
_UNREADABLE = (OSError, SourceError, msgspec.ValidationError)


class UserLog(NamedTuple):
    """A log that a job's ad names, and the owner of the job."""

    path: str
    owner: str


class _Kept(NamedTuple):
    """Whose log it is, and the `Place` in it as JSON, from which nothing is made until it grows."""

    owner: str
    place: dict[str, JSON]


class UserLogs:
    """Follows logs of users at one access point. Not thread-safe.

    Args:
        access_point: whose jobs are in them.
        most: logs whose places are kept.
        room: bytes that are read at once.
        known_only: whether a log says nothing of jobs that are not in the queue or its history.
        elsewhere: whether the schedd is that of another machine, whose paths may name other files
            here: only logs that name the access point are read then.

    Attributes:
        unread: logs that could not be read in the last round: missing, not permitted, or no logs.
    """

    def __init__(
        self, access_point: str, *, most: int, room: int, known_only: bool, elsewhere: bool
    ) -> None:
        self._access_point = access_point
        self._most, self._room = most, room
        self._known_only, self._elsewhere = known_only, elsewhere
        self._kept: dict[str, _Kept] = {}
        self._due: deque[UserLog] = deque()
        self._owners: Mapping[str, str] = {}
        self.unread = 0

    def restore(self, saved: JSON) -> None:
        """Go on from what `position` gave.

        Raises:
            ValueError: it is damaged.
        """
        self._kept = msgspec.convert(saved, dict[str, _Kept])
        self._due.clear()

    def position(self) -> JSON:
        """The place in each log, the most important first."""
        return {path: list(kept) for path, kept in self._kept.items()}

    @property
    def more(self) -> bool:
        """Whether a log waits to be read."""
        return bool(self._due)

    def __len__(self) -> int:
        return len(self._kept)

    def begin(self, logs: Iterable[UserLog], owners: Mapping[str, str]) -> int:
        """Begin a round: of these logs, the most important first, and of those read before.

        `owners` are of the jobs that are known, by their ids in the queue: a log says nothing of
        another owner's. Gives how many logs are left out.
        """
        due: dict[str, UserLog] = {}
        for log in logs:
            if _is_sound(log.path):
                due.setdefault(log.path, log)
        named = len(due)
        for path, kept in self._kept.items():
            due.setdefault(path, UserLog(path, kept.owner))
        self._due = deque(islice(due.values(), self._most))
        # Those that were never read too: what ended is named but once.
        self._kept = {log.path: self._kept.get(log.path, _Kept(log.owner, {})) for log in self._due}
        self._owners, self.unread = owners, 0
        return max(named - self._most, 0)

    def read(self) -> list[JobDocument]:
        """What is new in the logs that are due, as far as there is room."""
        documents: list[JobDocument] = []
        room = self._room
        while self._due and room > 0:
            try:
                found, size = self._read(self._due[0], room)
            except _UNREADABLE:
                found, size = [], 0
                self.unread += 1
            documents += found
            room -= size
            if room > 0:
                self._due.popleft()
        return documents

    def _read(self, log: UserLog, room: int) -> tuple[list[JobDocument], int]:
        """What is new in a log, and how many bytes that was."""
        path, kept = Path(log.path), self._kept[log.path]
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # /dev/null is a usual one
            return [], 0
        if status.st_size == kept.place.get("offset", 0):
            return [], 0
        # Where no log has grown, nothing waits for Numba.
        from jobsight.history.following.family import opened
        from jobsight.history.following.position import Place
        from jobsight.history.following.tail import Part

        with closing(opened(path)) as file:
            if file.generation is None:
                return [], 0  # its first record is still being written
            place = msgspec.convert(kept.place, Place) if kept.place else None
            if place is None or place.name != file.generation.name:
                place = Place.at_start(file)
            part = Part(place)
            if not part.fits(file):
                part.cut_short(file)
            part.attach(file)
        with closing(part):
            if self._elsewhere and not self._is_ours(part.head(_HEAD)):
                return [], 0
            found, size = self._pieces(part, room)
        self._kept[log.path] = _Kept(log.owner, msgspec.to_builtins(part.place))
        return [self._gathered(one, log) for one in found if self._is_of(one, log)], size

    def _pieces(self, part: Part, room: int) -> tuple[list[JobDocument], int]:
        from jobsight.history.eventlog.chunks import chunks
        from jobsight.history.eventlog.columns import Origin
        from jobsight.history.events import year_of_first
        from jobsight.history.following.tail import ShrunkError
        from jobsight.history.jobdocuments import documents_of_batch

        documents: list[JobDocument] = []
        place, begun, zone = part.place, part.place.offset, zone_named(None)
        with suppress(ShrunkError):  # what is there now is read in the next round
            while (left := begun + room - place.offset) > 0:
                piece = part.read(
                    room=left, most=_EVENTS, final=False, now=time.time(), zone=zone,
                    origin=Origin(place.name, 0, self._access_point),
                    first_year=lambda: year_of_first(chunks(part.stream()), part.modified(), zone),
                )  # fmt: skip
                if piece is None:
                    break
                table = piece.batch.table(piece.time)
                documents += documents_of_batch(table, self._access_point)
        return documents, place.offset - begun

    def _is_ours(self, head: bytes) -> bool:
        """Whether the first submission in a log was at this access point."""
        host, _, domain = (submit_host(head) or "").lower().partition(".")
        here, _, rest = self._access_point.rpartition("@")[2].lower().partition(".")
        return host == here != "" and ("" in (domain, rest) or domain == rest)

    def _is_of(self, document: JobDocument, log: UserLog) -> bool:
        unknown = "" if self._known_only else log.owner
        return self._owners.get(parse_key(document.id).job, unknown) == log.owner

    def _gathered(self, document: JobDocument, log: UserLog) -> JobDocument:
        """The document with its records in the log `GATHERED`, at offsets that never change."""

        def moved(event: Event) -> Event:
            # Most logs have whole seconds: within one, records are in the order of their log.
            within = 0 if event.time % _SECOND else (event.position or 0) % _SECOND
            owner = event.owner or log.owner
            return replace(event, source=GATHERED, position=event.time + within, owner=owner)

        user = document.submission.user or log.owner
        return replace(
            document,
            submission=replace(document.submission, user=user),
            timeline=tuple(map(moved, document.timeline)),
        )


def _is_sound(path: str) -> bool:
    return path.startswith("/") and "\0" not in path and len(path) <= _LONGEST_PATH
