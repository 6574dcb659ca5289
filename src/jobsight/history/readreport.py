"""The report of a reading of events."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

__all__ = ["ReadReport", "Skipped"]


@dataclass(frozen=True)
class Skipped:
    """A stretch of a log without a sound record: where, how many bytes, and why.

    Where the bytes of a file break off the length is 0.
    """

    file: str
    offset: int
    length: int
    reason: str


@dataclass
class ReadReport:
    """What was read.

    Attributes:
        files: number of files; `logs`: of logs (rotated files of one log are one).
        bytes: uncompressed bytes read.
        events: number of records, the 008 too.
        jobs: number of jobs, ids ≥ 0.
        first, last: earliest and latest time, µs since 1970; None without events.
        by_code: number of records by event number.
        skipped: every stretch skipped, in file order.
        passed_over: files of a named folder or archive that are not event logs, with the reason.
        unreadable: files that could not be read, or have no event record, with an error message.
        seconds: wall time of the reading.
    """

    files: int = 0
    logs: int = 0
    bytes: int = 0
    events: int = 0
    jobs: int = 0
    first: int | None = None
    last: int | None = None
    by_code: Counter[int] = field(default_factory=Counter)
    skipped: list[Skipped] = field(default_factory=list)
    passed_over: list[tuple[str, str]] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    seconds: float = 0.0
