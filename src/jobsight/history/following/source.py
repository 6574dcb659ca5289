"""Following an event log: growing, rotated, replaced, truncated, or not there yet.

Everything is found by polling (stat, pread), so network file systems do. The position
(`following.position`) lists files by their generation (`eventlog.generations`), not by name: after
a restart a file is found again under its rotated name. Files are read oldest first, each to its
end. A rotated file is polled for a while longer, since HTCondor may still write into it. Numbers
and bytes in the headers show what was rotated away unread: a gap, counted and reported.

The documents are those of the finished log read at once, whenever it is polled, with two
exceptions: the year of a log that has neither years nor headers is that of its last change when it
is first polled; and where a late record, in a file already rotated, has another value for an
attribute than an older one, the section keeps the older value.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from jobsight.clock import zone_named
from jobsight.documents import JSON, JobDocument
from jobsight.errors import SourceError
from jobsight.history.eventlog.chunks import chunks
from jobsight.history.eventlog.columns import Origin
from jobsight.history.eventlog.headers import submit_host
from jobsight.history.events import year_of_first
from jobsight.history.following.family import Opened, explain, look, oldest_first, opened_family
from jobsight.history.following.position import (
    Gap,
    Place,
    Saved,
    follows,
    gap_between,
    read_position,
    skips,
)
from jobsight.history.following.tail import Part, Piece, ShrunkError
from jobsight.history.jobdocuments import documents_of_batch, unnamed_access_point
from jobsight.history.sources import Observed, Position, Source
from jobsight.settings import EventLogSettings

__all__ = ["EventLogSource"]

_HEAD = 1 << 20  # in which `segments` searches the access point
_ABSENCE_SECONDS = 10.0
"""While files are renamed there is no file of the log's name for a moment."""

_TRIES = 20
_PAUSE_SECONDS = 0.02
"""Rotation renames file after file; a search in the middle of it is repeated."""


class EventLogSource(Source):
    """One event log of HTCondor, with its rotated files, followed. Not thread-safe.

    Args:
        path: the log, in the folder of its rotated files. It need not exist yet.
        settings: limits and spans.
        access_point: name of the access point; None: as in the log.
        timezone: IANA name of the zone of times written without one; None: the machine's.
        clock: the time, seconds since 1970.

    Raises:
        UsageError: the time zone is unknown.
    """

    def __init__(
        self,
        path: str | Path,
        settings: EventLogSettings | None = None,
        *,
        access_point: str | None = None,
        timezone: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = Path(path).absolute()
        self.name = f"eventlog:{self.path}"
        self._settings = settings or EventLogSettings()
        self.interval = self._settings.interval
        self._access_point = access_point
        self._zone = zone_named(timezone)
        self._clock = clock
        self._saved = Saved()
        self._reported = self._saved.counts()
        self._parts: list[Part] = []
        self._pending: dict[str, Gap] = {}  # before files of which nothing was read yet
        self._nameless_since: float | None = None
        self._absent_since: float | None = None

    def resume(
        self, position: Position | None, active: Callable[[str | None], Iterator[JobDocument]]
    ) -> None:
        """See `Source.resume`."""
        self.close()
        self._nameless_since = self._absent_since = None
        self._pending = {}
        self._saved = Saved() if position is None else read_position(self.name, position)
        self._reported = self._saved.counts()
        self._parts = [Part(place) for place in self._saved.parts]

    def poll(self) -> Observed | None:
        """See `Source.poll`."""
        now = self._clock()
        try:
            failure = self._look(now)
            found = self._advance(now) if self._named(now) else None
        except OSError as error:
            self.close()
            raise explain(self.path, error) from error
        if failure is None:
            return found
        if found is None:
            raise failure
        return replace(found, more=True)

    def status(self) -> dict[str, JSON]:
        """See `Source.status`."""
        behind = 0
        with contextlib.suppress(OSError):
            behind = sum(max(part.size() - part.place.offset, 0) for part in self._parts)
        return {
            "path": str(self.path),
            "identity": self._parts[-1].place.name if self._parts else None,
            "bytes_behind": behind,
            "files_open": sum(part.open for part in self._parts),
            **self._saved.status(),
        }

    def close(self) -> None:
        """See `Source.close`."""
        for part in self._parts:
            part.close()

    # Which files there are.

    def _look(self, now: float) -> SourceError | None:
        """Find new files; the error that prevents that, if it lasts."""
        try:
            status = look(self.path)
            newest = self._parts[-1] if self._parts else None
            inode = (status.st_dev, status.st_ino)
            known = newest is not None and newest.inode == inode
            all_open = all(part.open for part in self._parts)
            if not all_open or not known:
                self._find(now)
        except SourceError as error:
            if not isinstance(error.__cause__, FileNotFoundError) or not self._parts:
                return error
            if self._absent_since is None:
                self._absent_since = now
            return error if now - self._absent_since >= _ABSENCE_SECONDS else None
        self._absent_since = None
        return None

    def _find(self, now: float) -> None:
        """Take up new files, and find again those that were being read."""
        for left in reversed(range(_TRIES)):
            with contextlib.ExitStack() as opened:  # closes what is not taken up
                files = [
                    opened.enter_context(contextlib.closing(file))
                    for file in opened_family(self.path)
                ]
                strange, any_known = self._compare(files, now)
                # While files are renamed, a folder's list may lack one.
                places = [self._parts[-1].place] if self._parts else []
                places += [Place.at_start(file) for file in strange]
                missing = any(skips(*pair) for pair in itertools.pairwise(places))
                missing = missing or bool(self._parts and not any_known)
                if not missing or not left:
                    # Without either, no file has a whole record yet.
                    if strange or any_known:
                        lost = self._drop_lost(now)
                        for file in strange:
                            self._take_up(file, now, lost)
                            lost = None
                        if lost is not None:
                            self._saved.note_gap(Gap("gone", _micros(now), None, None, ""))
                    return
            time.sleep(_PAUSE_SECONDS)

    def _compare(self, files: Sequence[Opened], now: float) -> tuple[list[Opened], bool]:
        """Of files, newest first: those newer than all known ones, oldest first; is any known?"""
        strange: list[Opened] = []
        any_known = False
        newest = self._parts[-1].place if self._parts else None
        for file in files:
            if self._is_known(file, now):
                any_known = True
            # Older files are left over where EVENT_LOG_MAX_ROTATIONS is changed: one rotated file
            # is called ``.old``, several are numbered.
            elif (
                not any_known
                and file.generation is not None
                and (
                    file.path == self.path
                    or newest is None
                    or follows(Place.at_start(file), newest)
                )
            ):
                strange.append(file)
        return oldest_first(strange), any_known

    def _is_known(self, file: Opened, now: float) -> bool:
        """Whether `file` is being read; a part that had lost its file gets it back."""
        if any(part.open and part.inode == file.inode for part in self._parts):
            return True
        if file.generation is None:
            return False
        for part in self._parts:
            if part.place.name == file.generation.name:
                if not part.open and not part.fits(file):
                    part.cut_short(file)
                    gap = Gap("truncated", _micros(now), None, None, part.place.segment)
                    self._saved.note_gap(gap)
                # The log itself may be a copy that is replaced whenever the original has grown.
                if not part.open or (file.path == self.path and file.size >= part.size()):
                    part.attach(file)
                return True
        return False

    def _drop_lost(self, now: float) -> Part | None:
        """Forget the parts whose files are gone; the newest of all, if it is one of them."""
        for part, newer in itertools.pairwise(self._parts):
            place, end = part.place, part.place.offset
            gap = gap_between(place, end, newer.place, noticed=_micros(now), gone=True)
            # By the header of the next one; other gaps were noted when that was found.
            if not part.open and gap is not None and gap.bytes and not gap.files:
                self._saved.note_gap(gap)
        lost = self._parts[-1] if self._parts and not self._parts[-1].open else None
        self._parts = [part for part in self._parts if part.open]
        return lost

    def _take_up(self, file: Opened, now: float, lost: Part | None) -> None:
        place = Place.at_start(file)
        before = lost or (self._parts[-1] if self._parts else None)
        if before is not None:
            gone = lost is not None
            end = before.place.offset if gone else before.size()
            gap = gap_between(before.place, end, place, noticed=_micros(now), gone=gone)
            if gap is not None:
                self._pending[place.name] = gap
            if lost is not None:
                place.times = lost.place.times
        part = Part(place)
        part.attach(file)
        self._parts.append(part)

    # Whose log it is.

    def _named(self, now: float) -> bool:
        """Whether the access point is known: ids contain it, so it never changes again."""
        saved = self._saved
        if saved.access_point is not None or not self._parts:
            return saved.access_point is not None
        creators = (part.header.creator for part in self._parts if part.header)
        found = self._access_point or next(filter(None, creators), None)
        hosts = (submit_host(part.head(_HEAD)) for part in self._parts)
        saved.access_point = found or next(filter(None, hosts), None)
        if self._nameless_since is None:
            self._nameless_since = now
        waited = now - self._nameless_since >= self._settings.name_seconds
        if saved.access_point is None and waited:
            saved.access_point = unnamed_access_point(self._parts[0].place.name)
        return saved.access_point is not None

    # Reading.

    def _advance(self, now: float) -> Observed | None:
        """The next records of the oldest file that has any."""
        before: Part | None = None
        for part in list(self._parts):
            if part.place.times is None and before is not None:
                part.place.times = before.place.times
            before = part
            begun = part.begun
            try:
                piece = self._read(part, now, final=False)
            except ShrunkError:
                part.close()
                self._find(now)
                return None
            if piece is not None:
                part.ended = None
            elif part is not self._parts[-1]:
                piece = self._last_piece(part, now)
            if piece is not None:
                if not begun:
                    self._saved.files += 1
                    if gap := self._pending.pop(part.place.name, None):
                        self._saved.note_gap(gap)
                return self._observed(part, piece)
        return None

    def _last_piece(self, part: Part, now: float) -> Piece | None:
        """What is left of a rotated file that has no more records; after a while it is closed."""
        if not part.open:
            return None  # it has not been found again yet
        if part.ended is None:
            part.ended = now
        if now - part.ended < self._settings.settle_seconds:
            return None
        piece = self._read(part, now, final=True)
        if piece is None:
            part.close()
            self._parts.remove(part)
        return piece

    def _read(self, part: Part, now: float, *, final: bool) -> Piece | None:
        if not part.open:
            return None

        def first_year() -> int:
            # As the reader finds it, from what is there now.
            log = itertools.chain.from_iterable(chunks(other.stream()) for other in self._parts)
            modified = max(other.modified() for other in self._parts)
            return year_of_first(log, modified, self._zone)

        return part.read(
            room=self._settings.bytes_per_poll,
            most=self._settings.events_per_poll,
            final=final,
            now=now,
            origin=Origin(part.place.name, 0, self._saved.access_point),
            zone=self._zone,
            first_year=first_year,
        )

    def _observed(self, part: Part, piece: Piece) -> Observed:
        saved = self._saved
        assert saved.access_point is not None
        documents = documents_of_batch(piece.batch.table(piece.time), saved.access_point)
        saved.events += len(piece.time)
        if len(piece.time):
            saved.last_event = max(int(piece.time.max()), saved.last_event or -(2**63))
        saved.note_skipped(part.place.name, piece.batch.skipped)
        # Files of which nothing was read will be found again.
        saved.parts = [other.place for other in self._parts if other.begun]
        more = part is not self._parts[-1] or piece.more
        missed = saved.since(self._reported)
        self._reported = saved.counts()
        return Observed(documents, msgspec.to_builtins(saved), more, missed)


def _micros(seconds: float) -> int:
    return int(seconds * 1_000_000)
