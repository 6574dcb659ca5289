"""The contract of an importer, and what all share: files of one format in, job documents out.

An importer knows one format. It says how sure it is that a file is of that format, what its
source never records, and reads files in bounded memory: what it cannot read of them is counted in
the report, the first rows of it are kept to be shown, and all the rest is imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from jobsight.documents import Event, JobDocument, State
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.text import counted, printable

__all__ = [
    "BATCH",
    "LONGEST_LINE",
    "SHOWN",
    "BadRow",
    "ImportReport",
    "Importer",
    "Line",
    "Meter",
    "Options",
    "Unknowable",
    "blocks",
    "lines",
    "timeline_of",
]

BATCH = 2000
"""Documents that an importer gives at a time, at most, but for tasks of one row."""

SHOWN = 10
"""Bad rows that a report keeps."""

LONGEST_LINE = 4 << 20
"""Bytes of the longest line that is read; a longer one is counted as bad."""

_BLOCK = 1 << 20
_MARK = b"\xef\xbb\xbf"
_RUNNING = State.RUNNING  # an enumeration takes longer to find it than an event to be made


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

    def as_json(self) -> dict[str, Any]:
        """It for machines."""
        return {
            "file": self.file, self.unit: self.place, "reason": self.reason, "value": self.value,
        }  # fmt: skip


@dataclass
class ImportReport:
    """What was read.

    Attributes:
        files: files read, and the format of each.
        bytes: uncompressed bytes read.
        rows: rows read: jobs, steps, events or ads; bad ones too.
        bad: rows that could not be imported; `first_bad`: the first of them.
        doubts: values that could not be read, of jobs that were imported without them;
            `first_doubts`: the rows of the first of them.
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
    doubts: int = 0
    first_doubts: list[BadRow] = field(default_factory=list)
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

    def doubt(self, file: str, place: int, value: str, error: ValueError) -> None:
        """Count a value that cannot be read, of a row that begins like this and is imported."""
        self.doubts += 1
        if len(self.first_doubts) < SHOWN:
            self.first_doubts.append(BadRow(file, place, str(error), value[:200]))

    def note(self, text: str) -> None:
        """Say something once."""
        if text not in self.notes:
            self.notes.append(text)

    def note_tasks(self, cut: int, beyond: int) -> None:
        """Say that so many lists of array tasks are cut short, and so many tasks were left out."""
        if cut:
            self.note(
                f"{counted(cut, 'list')} of array tasks cut short by Slurm: the tasks that are not "
                "listed were left out; with SLURM_BITSTR_LEN=0 in its environment Slurm lists all"
            )
        if beyond:
            self.note(f"{beyond} pending array tasks beyond the most for one array")

    def said(self, most: int = SHOWN) -> Iterator[str]:
        """What a user should know of the reading, safe to show: lines, with so many bad rows."""
        yield from map(printable, self.notes)
        for name, reason in self.breaks:
            yield f"{printable(name)} breaks off: {printable(reason)}; the rest is imported"
        bad = f"{counted(self.bad, 'bad row')} left out; all others were imported:"
        doubts = f"{counted(self.doubts, 'bad value')} left out; the rest of the row was imported:"
        for number, text, rows in (
            (self.doubts, doubts, self.first_doubts), (self.bad, bad, self.first_bad),
        ):  # fmt: skip
            if number:
                yield text
            for row in rows[:most]:
                place = f":{row.place}" if row.unit == "line" else f" at byte {row.place}"
                value = f": {printable(row.value, 60)}" if row.value else ""
                yield f"  {printable(row.file)}{place}: {printable(row.reason)}{value}"
            if number > len(rows[:most]):
                yield f"  and {number - len(rows[:most]):,} more"


class Importer(ABC):
    """One format. Importers hold no state.

    Attributes:
        name: how ``--format`` names it; also the source of timeline entries, where the format has
            no name of its own for that.
        title: what it reads, in a few words.
        unknowable: what no file of this format records.
        names_cluster: whether its files say which cluster they are of.
        may_be_empty: whether a file without a record is of this format, as a list of no ads is.
    """

    name: str
    title: str
    names_cluster = True
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


class Line(NamedTuple):
    """A line without its end; bytes that are not UTF-8 become replacement characters."""

    number: int
    text: str


class Meter:
    """Counts bytes over several files, for the report and a progress bar."""

    def __init__(
        self, files: Sequence[LogFile], report: ImportReport, progress: Callable[[int, int], None]
    ) -> None:
        known = all(file.compression is None for file in files)
        self._total = sum(file.size for file in files) if known else 0
        self._report = report
        self._progress = progress

    def add(self, count: int) -> None:
        """So many more bytes were read."""
        self._report.bytes += count
        self._progress(self._report.bytes, self._total)


def blocks(file: LogFile, report: ImportReport, meter: Meter) -> Iterator[bytes]:
    """The file's bytes, a MiB at a time; a break is reported at the end.

    Raises:
        SourceError: the file is gone.
    """
    view = memoryview(bytearray(_BLOCK))
    with file.open() as stream:
        while count := stream.readinto(view):
            meter.add(count)
            yield bytes(view[:count])
        if stream.problem is not None:
            report.breaks.append((file.name, stream.problem))


def lines(file: LogFile, report: ImportReport, meter: Meter) -> Iterator[Line]:
    """All lines of a file in order, without the mark of byte order.

    Raises:
        SourceError: the file is gone.
    """
    number, rest, skipping = 0, b"", False
    for block in blocks(file, report, meter):
        parts = (rest + block if number or rest else block.removeprefix(_MARK)).split(b"\n")
        rest = parts.pop()
        if skipping and parts:
            number, skipping = number + 1, False
            del parts[0]
        for text in b"\n".join(parts).decode("utf-8", "replace").split("\n") if parts else ():
            number += 1
            yield Line(number, text.removesuffix("\r"))
        if len(rest) > LONGEST_LINE or skipping:
            if not skipping:
                shown = rest[:200].decode("utf-8", "replace")
                report.rows += 1
                report.refuse(file.name, number + 1, f"longer than {LONGEST_LINE} bytes", shown)
            rest, skipping = b"", True
    last = Line(number + 1, rest.decode("utf-8", "replace").removesuffix("\r"))
    if rest and report.breaks[-1:] and report.breaks[-1][0] == file.name:
        report.rows += 1
        report.refuse(file.name, last.number, "the file breaks off in it", last.text)
    elif rest:
        yield last


def timeline_of(
    source: str,
    submit: int,
    eligible: int | None = None,
    waiting: int | None = None,
    start: int | None = None,
    end: int | None = None,
    *,
    state: State | None = None,
    word: str | None = None,
    host: str | None = None,
    reason: str | None = None,
    exit_code: int | None = None,
    signal: int | None = None,
    queue: str | None = None,
) -> tuple[Event, ...]:
    """The timeline of a job of which only a few moments are known, as in traces; µs since 1970.

    None: unknown, or the job never came to that. It could have started since `eligible`, was seen
    in the queue at `waiting` (numbers of the `queue` around it as JSON), and started last at
    `start`. `state` is how it ended, or its state now, `word` the source's own for that; reason,
    exit code and signal are of its end.

    Raises:
        ValueError: the moments are in no possible order.
    """
    first = submit if start is None else start
    if first < submit:
        raise ValueError("it starts before it is submitted")
    if end is not None and end < first:
        raise ValueError("it ends before it starts")
    events = [_waits(source, submit)]
    if eligible is not None:
        events.append(Event(time=eligible, source=source, word="ELIGIBLE"))
    if waiting is not None and (waiting != submit or queue):
        events.append(replace(_waits(source, waiting), attributes=queue))
    events.sort(key=lambda event: event.time)  # it may have been seen before it was eligible
    if start is not None:
        if start < (eligible or 0) or start < (waiting or 0):
            raise ValueError("it waits still when it has started")
        events.append(Event(time=start, source=source, state=_RUNNING, host=host))
    if state is not None and state.ended:
        events.append(
            Event(
                time=events[-1].time if end is None else end,
                source=source,
                state=state,
                word=word,
                undated=end is None,
                reason=reason,
                return_value=exit_code,
                signal=signal,
            )
        )
    return tuple(events)


@lru_cache(4096)
def _waits(source: str, time: int) -> Event:
    # Many jobs are submitted at once.
    return Event(time=time, source=source, state=State.PENDING)
