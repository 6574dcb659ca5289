"""The saved position in a log that is followed, and the gaps found so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from jobsight.clock import format_micros
from jobsight.documents import JSON
from jobsight.errors import SourceError
from jobsight.history.eventlog.logfiles import Kind
from jobsight.history.following.family import Opened
from jobsight.history.sources import Position
from jobsight.text import counted

__all__ = ["Gap", "Place", "Saved", "follows", "gap_between", "read_position", "skips"]

_VERSION = 1
_NOTES = 5
_MORE_ROTATIONS = (
    "records were rotated away or cut off before they were read; set EVENT_LOG_MAX_ROTATIONS to 5 "
    "or more (1 keeps one rotated file) and EVENT_LOG_MAX_SIZE to what the pool writes in an hour"
)


class Place(msgspec.Struct, forbid_unknown_fields=True):
    """The saved position in one file.

    Attributes:
        name: of the file's generation.
        kind: how its records are written.
        first: bytes up to the end of its first record, which may be written anew.
        segment: the generation in documents: `name`, or another after a cut.
        start: where in the file the segment begins.
        sequence, base: number of the file and bytes before it, by its header.
        offset: bytes read.
        mark: digest of the bytes before `offset`.
        cuts: how often it was truncated.
        times: state of `TimeResolver`; None before the first record.
    """

    name: str
    kind: Kind
    first: int
    segment: str
    start: int = 0
    sequence: int | None = None
    base: int | None = None
    offset: int = 0
    mark: str = ""
    cuts: int = 0
    times: dict[str, Any] | None = None

    @classmethod
    def at_start(cls, file: Opened) -> Place:
        """The beginning of a file whose generation is known."""
        found = file.generation
        assert found is not None
        header = found.header
        return cls(
            name=found.name,
            kind=found.kind,
            first=found.first,
            segment=found.name,
            sequence=header.sequence if header else None,
            base=header.offset if header else None,
        )


class Gap(msgspec.Struct, forbid_unknown_fields=True):
    """Records that were never read.

    Attributes:
        kind: ``rotated``: files were rotated away unread; ``gone``: the file that was being read is
            gone, or was replaced; ``truncated``: it was truncated or written anew.
        noticed: µs since 1970.
        files: whole files that are missing, None where unknown.
        bytes: bytes that are missing, None where unknown.
        before: the generation after the gap.
    """

    kind: Literal["rotated", "gone", "truncated"]
    noticed: int
    files: int | None
    bytes: int | None
    before: str

    def words(self) -> str:
        """What is missing, for people."""
        if self.kind == "truncated":
            return "the file was truncated or written anew: what was cut off unread is missing"
        size = "" if self.bytes is None else f", {self.bytes:,} bytes"
        if self.kind == "gone":
            return f"the file that was being read is gone: what was not read of it is missing{size}"
        return f"{counted(self.files or 0, 'file')} rotated away unread{size}"


class Saved(msgspec.Struct, forbid_unknown_fields=True):
    """The position."""

    version: int = _VERSION
    access_point: str | None = None
    parts: list[Place] = []
    files: int = 0
    events: int = 0
    last_event: int | None = None
    skipped: int = 0
    skipped_bytes: int = 0
    last_skipped: list[tuple[str, int, int, str]] = []
    gaps: int = 0
    gap_bytes: int = 0
    last_gaps: list[Gap] = []

    def note_gap(self, gap: Gap) -> None:
        """Count a gap; the last ones are kept."""
        self.gaps += 1
        self.gap_bytes += gap.bytes or 0
        self.last_gaps = [*self.last_gaps, gap][-_NOTES:]

    def note_skipped(self, name: str, skipped: Sequence[tuple[int, int, str]]) -> None:
        """Count stretches of the generation `name` without a sound record; the last are kept."""
        self.skipped += len(skipped)
        self.skipped_bytes += sum(length for _, length, _ in skipped)
        last = [(name, *one) for one in skipped[-_NOTES:]]
        self.last_skipped = [*self.last_skipped, *last][-_NOTES:]

    def counts(self) -> tuple[int, int]:
        """Gaps and skipped stretches so far."""
        return self.gaps, self.skipped

    def since(self, counts: tuple[int, int]) -> list[str]:
        """What was missed since there were so many gaps and skipped stretches, for people."""
        gaps, skipped = self.gaps - counts[0], self.skipped - counts[1]
        found = [gap.words() for gap in self.last_gaps[-gaps:]] if gaps else []
        if gaps > len(found):
            found.append(f"{counted(gaps - len(found), 'gap')} before these")
        if skipped:
            name, at, size, reason = self.last_skipped[-1]
            stretches = counted(skipped, "damaged stretch", "damaged stretches")
            found.append(
                f"{stretches} skipped; the last has {size:,} bytes at {at} of {name}: {reason}"
            )
        return found

    def status(self) -> dict[str, JSON]:
        """The part of `Source.status` that is saved."""
        last = self.last_event
        return {
            "access_point": self.access_point,
            "files_seen": self.files,
            "events": self.events,
            "last_event": None if last is None else format_micros(last),
            "skipped": self.skipped,
            "skipped_bytes": self.skipped_bytes,
            "last_skipped": [list(one) for one in self.last_skipped],
            "gaps": self.gaps,
            "gap_bytes": self.gap_bytes,
            "last_gaps": [msgspec.to_builtins(gap) for gap in self.last_gaps],
            "advice": _MORE_ROTATIONS if self.gaps else None,
        }


def read_position(name: str, position: Position) -> Saved:
    """What was saved for the source `name`.

    Raises:
        SourceError: it was written by a newer version, or is damaged.
    """
    version = position.get("version")
    if isinstance(version, int) and version > _VERSION:
        raise SourceError(
            f"the position of {name!r} was written by a newer version of Jobsight; upgrade this one"
        )
    try:
        return msgspec.convert(position, Saved)
    except msgspec.ValidationError as error:
        raise SourceError(
            f"the position of {name!r} is damaged ({error}); restore the store, or follow the log "
            "into a new one"
        ) from None


def follows(new: Place, old: Place) -> bool:
    """Whether a file was begun after another, by the moments or numbers in their headers.

    Clocks are set back, and numbers begin anew.
    """
    if new.sequence is None or old.sequence is None:
        return True
    return new.name > old.name or new.sequence > old.sequence


def skips(old: Place, new: Place) -> bool:
    """Whether by their numbers other files are missing between two."""
    if old.sequence is None or new.sequence is None:
        return False
    return new.sequence not in (1, old.sequence, old.sequence + 1)


def gap_between(old: Place, end: int, new: Place, *, noticed: int, gone: bool) -> Gap | None:
    """What is missing between a file and the next one that was found.

    Of the old one, bytes up to `end` were read, or will be; if it is `gone`, it was not found
    again, and what was not read of it is lost. `noticed` in µs since 1970.
    """
    numbers = (old.sequence, new.sequence, old.base, new.base)
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return Gap("gone", noticed, None, None, new.name) if gone else None
    if known[1] <= known[0] or known[3] < known[2]:
        # The log was begun anew, which HTCondor does too where two processes rotate at once.
        if gone or known[1] == 1:
            return Gap("gone", noticed, None, None, new.name) if gone else None
        return Gap("rotated", noticed, known[1] - 1, known[3], new.name)
    files, missing = known[1] - known[0] - 1, max(known[3] - (known[2] + end), 0)
    if not files and not missing:
        return None
    return Gap("rotated" if files else "gone", noticed, files, missing, new.name)
