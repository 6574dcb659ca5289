"""The contract of an importer: files of one format in, job documents and a report out.

An importer knows one format. It says how sure it is that a file is of that format, what its
source never records, and reads files in bounded memory: what it cannot read of them is counted in
the report, the first rows of it are kept to be shown, and all the rest is imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from jobsight.documents import JobDocument
from jobsight.history.eventlog.logfiles import LogFile

__all__ = ["BATCH", "SHOWN", "BadRow", "ImportReport", "Importer", "Options", "Unknowable"]

BATCH = 2000
"""Documents that an importer gives at a time, at most, but for tasks of one row."""

SHOWN = 10
"""Bad rows that a report keeps."""


class Unknowable(NamedTuple):
    """Something of a job that a source does not record."""

    what: str
    """Fields of the document, such as ``request.memory_mb``, or a word for several."""
    why: str


@dataclass(frozen=True)
class Options:
    """What a user says of the files.

    Attributes:
        cluster: name of the Slurm cluster (or of the trace); None: as in the files.
        unnamed: the cluster of files that need a name and say none; None: they are refused.
        access_point: name of the HTCondor access point; None: as in the files.
        timezone: IANA name of the zone of times without one; None: the format's own, as of the
            traces of one machine, else the site's.
        slurm_timezone: the site's, of what Slurm's tools print; None: `site_timezone`.
        site_timezone: the site's, of formats that have none of their own; None: the machine's.
        columns: names of the columns, for sacct's output without a header.
        delimiter: between the fields of sacct's output; None: as its header shows.
        most_tasks: pending tasks of an array that one row may stand for; those beyond are counted.
        progress: is called with the bytes that are read, of how many (0: unknown).
    """

    cluster: str | None = None
    unnamed: str | None = None
    access_point: str | None = None
    timezone: str | None = None
    slurm_timezone: str | None = None
    site_timezone: str | None = None
    columns: tuple[str, ...] | None = None
    delimiter: str | None = None
    most_tasks: int = 100_000
    progress: Callable[[int, int], None] = lambda _done, _total: None


@dataclass(frozen=True)
class BadRow:
    """A row that could not be imported.

    Attributes:
        file: its name as the user gave it.
        place: number of its line or row, from 1, or of the byte at which it begins, from 0.
        unit: what `place` counts.
        reason: why, with the column.
        value: the row's beginning, as it is: hostile text.
    """

    file: str
    place: int
    reason: str
    value: str
    unit: Literal["line", "byte"] = "line"


@dataclass
class ImportReport:
    """What was read.

    Attributes:
        files: files read, and the format of each.
        bytes: uncompressed bytes read.
        rows: rows read: jobs, steps, events or ads; bad ones too.
        bad: rows that could not be imported; `first_bad`: the first of them.
        unreadable: files of folders and archives that could not be read, each with a line that says
            so.
        breaks: files that end before their end (truncated or damaged), and why.
        notes: what else the user should know: once each.
    """

    files: list[tuple[str, str]] = field(default_factory=list)
    bytes: int = 0
    rows: int = 0
    bad: int = 0
    first_bad: list[BadRow] = field(default_factory=list)
    breaks: list[tuple[str, str]] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def refuse(
        self,
        file: str,
        place: int,
        reason: str,
        value: str = "",
        unit: Literal["line", "byte"] = "line",
    ) -> None:
        """Count a bad row."""
        self.bad += 1
        if len(self.first_bad) < SHOWN:
            self.first_bad.append(BadRow(file, place, reason, value[:200], unit))

    def note(self, text: str) -> None:
        """Say something once."""
        if text not in self.notes:
            self.notes.append(text)


class Importer(ABC):
    """One format. Importers hold no state.

    Attributes:
        name: how ``--format`` names it; also the source of timeline entries, where the format has
            no name of its own for that.
        title: what it reads, in a few words.
        unknowable: what no file of this format records.
        may_be_empty: whether a file without a record is of this format, as a list of no ads is.
    """

    name: str
    title: str
    may_be_empty = False
    unknowable: tuple[Unknowable, ...]

    @abstractmethod
    def sniff(self, file: LogFile) -> float:
        """How sure it is that the file is of this format, by its first bytes: 0 … 1."""

    @abstractmethod
    def read(
        self, files: Sequence[LogFile], options: Options, report: ImportReport
    ) -> Iterator[list[JobDocument]]:
        """Documents of all jobs of the files, in bounded batches and bounded memory.

        A job may come several times, each time with what was read of it since; merged in order they
        are what the files know. The report is whole when the iterator has ended.

        Raises:
            SourceError: a file holds nothing of this format, or cannot be read.
            UsageError: an option is missing or makes no sense for these files.
        """
