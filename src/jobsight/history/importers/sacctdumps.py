"""sacct's output as people keep it: ``sacct -P`` or ``-p``, columns in any order, any delimiter.

sacct quotes nothing: names of jobs, submit lines and comments are in it with whatever delimiters
and line ends they hold (seen with 24.11). Such a row has too many fields, or goes on in the next
line; it is put together again where its columns then hold what they should. Format: sacct(1).

Steps are folded into their job, runs of a requeued job into one job, and a row that stands for the
pending tasks of an array becomes a job a task. Rows are read by `jobsight.history.slurm`, as those
of a living cluster are, so both make the same documents.
"""

from __future__ import annotations

import csv
import datetime as dt
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from jobsight.clock import zone_named
from jobsight.documents import JobDocument
from jobsight.documents.states import slurm_state
from jobsight.errors import SourceError, UsageError
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.importers.base import (
    BATCH,
    Importer,
    ImportReport,
    Line,
    Meter,
    Options,
    Unknowable,
    lines,
)
from jobsight.history.slurm.documents import group_runs, of_runs
from jobsight.history.slurm.ids import parse_id
from jobsight.history.slurm.sacct import Run, join_runs, read_row
from jobsight.program.submission.sizes import parse_number
from jobsight.program.submission.times import NOTHING
from jobsight.text import printable

__all__ = ["RowError", "Rows", "RowsRead", "Sacct", "fits", "header_of", "table_rows"]

_LONGEST = 1 << 20
"""Characters of the longest row."""

_FREE = ("jobname", "submitline", "comment", "admincomment", "systemcomment", "extra", "workdir")
"""Columns of free text, those first that hold delimiters most often."""

_MOST_MIXED = 8
"""Surplus fields that are tried in several columns; more are all in one."""

_MOST_LINES = 50

_NAME = re.compile(r"[A-Za-z]+(?:%-?\d+)?")
_HEADLESS = re.compile(
    rb"(?:\d{1,10}(?:_(?:\d{1,10}|\[[^\]]*\])|\+\d+)?|s[0-9A-Za-z]{13})(?:\.\w+)?\|"
)
_XDMOD = (
    "jobid", "jobidraw", "cluster", "partition", "qos", "account", "group", "gid", "user", "uid",
    "submit", "eligible", "start", "end", "elapsed", "exitcode", "state", "nnodes", "ncpus",
    "reqcpus", "reqmem", "reqtres", "alloctres", "timelimit", "nodelist", "jobname",
)  # fmt: skip
"""What Open XDMoD's shredder asks sacct for, with ``--parsable2 --noheader``."""

_IDS = {"jobid", "jobidraw"}
_TRIED = 10
_MOMENTS = ("submit", "start", "end", "eligible")
_TABLE = re.compile(r"[- ]*-{4,} -{4,}[- ]*")
_NO_LINE = Line(0, "")
_Header = tuple[tuple[str, ...], str]
RowsRead = Iterable[Mapping[str, str] | ValueError]


class RowError(ValueError):
    """A text that is not a row of its table.

    Attributes:
        unfinished: the next line may go on with it.
    """

    def __init__(self, reason: str, *, unfinished: bool = False) -> None:
        super().__init__(reason)
        self.unfinished = unfinished


_Row = dict[str, str] | RowError
_Held = list[tuple[int, str, _Row]]


def table_rows(
    lines: Iterable[tuple[int, str]],
    columns: Sequence[str],
    delimiter: str = "|",
    *,
    headed: bool = True,
    given: Callable[[int, str], None] = lambda _number, _text: None,
) -> Iterator[_Row]:
    """Rows by the names of their columns; a bad line is given as the error it is.

    The lines are without line ends and header; empty ones do not count. The last name of a column
    is empty where each row ends with the delimiter; if the columns are not those of a header, how
    rows end is unknown. `given` is called with the number of the (first) line and the text before
    each row.
    """
    table = _Table(columns, delimiter, headed=headed)
    held: _Held = []
    for number, text in lines:
        if not text:
            continue
        row = table.row(text)
        whole = _joined(table, held, row, text) if held else None
        if isinstance(whole, RowError):
            held.append((number, text, row))
        elif whole is not None:
            given(held[0][0], "\n".join([*(line[1] for line in held), text]))
            held = []
            yield whole
        else:
            yield from _let_go(held, given)
            held = [(number, text, row)]
    yield from _let_go(held, given)


def fits(text: str, columns: Sequence[str], delimiter: str = "|") -> bool:
    """Whether a line without a header above it is a row of these columns, by all its values."""
    row = _Table(columns, delimiter, headed=False).row(text)
    return not isinstance(row, RowError) and _sound(row)


def _let_go(held: _Held, given: Callable[[int, str], None]) -> Iterator[_Row]:
    for number, text, row in held:
        given(number, text)
        yield row


def _joined(table: _Table, held: _Held, row: _Row, text: str) -> _Row | None:
    """The row that was begun, with the next line; None: the line is not part of it.

    What was begun may have as many fields as a row by accident, where names hold the delimiter.
    """
    begun = held[0][2]
    if isinstance(begun, RowError):
        apart = not begun.unfinished or (not isinstance(row, RowError) and _sound(row))
    else:
        apart = not isinstance(row, RowError) or _sound(begun)
    if apart or len(held) >= _MOST_LINES:
        return None
    whole = table.row("\n".join([*(line[1] for line in held), text]))
    if isinstance(whole, RowError):
        return whole if whole.unfinished and isinstance(row, RowError) else None
    return whole if _sound(whole) else None


class _Table:
    """The columns of a table, and how its rows are cut."""

    def __init__(self, columns: Sequence[str], delimiter: str, *, headed: bool) -> None:
        self._headed = headed
        self._closed = not columns[-1]
        self._names = list(columns[:-1] if self._closed else columns)
        lowered = [name.lower() for name in self._names]
        self._free = [lowered.index(name) for name in _FREE if name in lowered]
        self._id = lowered.index("jobid" if "jobid" in lowered else "jobidraw")
        self._delimiter = delimiter

    def row(self, text: str) -> _Row:
        """The row that a text holds."""
        if len(text) > _LONGEST:
            return RowError(f"longer than {_LONGEST} characters")
        fields, most = _cut(text, self._delimiter), len(self._names)
        if self._closed:
            if fields[-1]:
                reason = f"it does not end with {self._delimiter!r}, as the header does"
                return RowError(reason, unfinished=self._begins(fields))
            del fields[-1]
        elif not self._headed and len(fields) > most and not fields[-1]:
            row = self._fitted(fields[:-1])
            if row is not None and _sound(row):
                return row
        row = self._fitted(fields)
        if row is not None:
            return row
        reason = f"{len(fields)} fields for {most} columns"
        return RowError(reason, unfinished=self._begins(fields))

    def _begins(self, fields: Sequence[str]) -> bool:
        """Whether a row may begin so: by the id of a job, before any free text."""
        if self._id >= min([*self._free, len(fields)]):
            return False
        try:
            parse_id(fields[self._id])
        except ValueError:
            return False
        return True

    def _fitted(self, fields: Sequence[str]) -> dict[str, str] | None:
        """The row; surplus fields are in columns of free text, in the first way that is sound.

        None: there are too few fields, or there is no such way.
        """
        if len(fields) == len(self._names):
            return dict(zip(self._names, fields, strict=True))
        surplus = len(fields) - len(self._names)
        if surplus < 0:
            return None
        several = itertools.combinations_with_replacement(self._free, surplus)
        ways = itertools.chain(
            ((at,) * surplus for at in self._free), several if surplus <= _MOST_MIXED else ()
        )
        for extra in ways:
            rest = iter(fields)
            row = {
                name: self._delimiter.join(itertools.islice(rest, 1 + extra.count(at)))
                for at, name in enumerate(self._names)
            }
            if _sound(row):
                return row
        return None


def _sound(row: Mapping[str, str]) -> bool:
    """Whether all columns hold what they should."""
    cells = {name.lower(): text.strip() for name, text in row.items()}
    try:
        read_row(row, dt.UTC)
        parse_number(cells.get("maxrss", ""))  # of jobs it is empty, and so not looked at
    except ValueError:
        return False
    known = slurm_state(cells.get("state", "")) is not None
    return known and cells.get("workdir", "")[:1] in ("", "/")


def _cut(row: str, delimiter: str) -> list[str]:
    """Fields of a line; quoted ones only between commas, where people's exports quote."""
    if delimiter == "," and '"' in row:
        try:
            return next(csv.reader([row]))
        except (csv.Error, StopIteration):
            return row.split(delimiter)
    return row.split(delimiter)


class Sacct(Importer):
    """Accounting of Slurm."""

    name = "sacct"
    title = "output of Slurm's sacct (-P or -p, any columns that include JobID and State)"
    unknowable = (
        Unknowable("columns that were not asked for", "nothing replaces them"),
        Unknowable("submission.script", "sacct prints it only with --batch-script, a job a call"),
        Unknowable("why and how long it was held or suspended", "only sums and the last reason"),
        Unknowable("earlier runs of a requeued job", "only with sacct --duplicates"),
        Unknowable("usage.memory_mb, read_mb, written_mb", "they stand in the rows of steps"),
        Unknowable("predicted start times, priorities as they grew", "accounting has no history"),
    )

    def sniff(self, file: LogFile) -> float:
        """By the names of the columns, or by ids of jobs before a bar."""
        head = file.head.removeprefix(b"\xef\xbb\xbf")
        first = head.partition(b"\n")[0].decode("utf-8", "replace")
        if header_of(first) is not None:
            return 1.0
        if "JobID" in first.split():
            return 0.6
        return 0.6 if _HEADLESS.match(head) and first.count("|") > 2 else 0.0

    def read(
        self, files: Sequence[LogFile], options: Options, report: ImportReport
    ) -> Iterator[list[JobDocument]]:
        """Documents of all rows, file after file."""
        meter = Meter(files, report, options.progress)
        for file in files:
            rows = Rows(file, options, report)
            yield from rows.batches(rows.tables(lines(file, report, meter)))


def header_of(line: str) -> tuple[tuple[str, ...], str] | None:
    """The columns of a header and what separates them; None where the line is no header.

    A header names JobID or JobIDRaw and at least two other columns, with the same delimiter between
    all, of one or more characters that are not in names. A last, empty name means that rows end
    with the delimiter, as the header does.
    """
    text = line.strip("\r\n")
    names = list(_NAME.finditer(text))
    columns = [name[0].partition("%")[0] for name in names]
    if len(names) < 3 or names[0].start() or not _IDS & set(map(str.lower, columns)):
        return None
    delimiters = {text[before.end() : after.start()] for before, after in itertools.pairwise(names)}
    delimiter = delimiters.pop()
    if delimiters or text[names[-1].end() :] not in ("", delimiter) or not delimiter.strip(" "):
        return None
    closed = ("",) if names[-1].end() < len(text) else ()
    return (*columns, *closed), delimiter


@lru_cache(4096)
def _is_state(word: str) -> bool:
    return slurm_state(word) is not None


class Rows:
    """The rows of one file: its columns, and how far it is read."""

    def __init__(self, file: LogFile, options: Options, report: ImportReport) -> None:
        self._file, self._options, self._report = file, options, report
        self._zone = zone_named(options.timezone or options.slurm_timezone or options.site_timezone)
        self._named = options.cluster or options.unnamed
        self._line = _NO_LINE
        self._other: _Header | None = None
        self._rows = self._runs = self._steps = self._refused = self._beyond = 0

    def batches(self, rows: RowsRead) -> Iterator[list[JobDocument]]:
        """Documents; all runs of a job that follow each other are in one batch."""
        runs = join_runs(rows, self._zone, self._refuse, self._doubt)
        waiting: list[Run] = []
        for run in runs:
            if len(waiting) >= BATCH and run.id.name != waiting[-1].id.name:
                yield self._documents(waiting)
                waiting = []
            waiting.append(run)
            self._runs += 1
            self._steps += len(run.steps)
        if waiting:
            yield self._documents(waiting)
        report, name = self._report, printable(self._file.name)
        report.rows += self._rows
        if self._rows and not self._runs:
            first = report.first_bad[0].reason if report.first_bad else "only steps"
            raise SourceError(f"{name} holds no row of a job ({first})")
        alone = self._rows - self._runs - self._steps - self._refused
        if alone:
            report.note(f"{name}: {alone} rows of steps do not follow their job, and were left out")
        if self._beyond:
            report.note(f"{name}: {self._beyond} pending array tasks beyond the most for one array")

    def tables(self, source: Iterator[Line]) -> RowsRead:
        """Rows of the dumps that were put together in the file, each under a header of its own."""
        columns, delimiter, first = self._header(source)
        while True:
            names = {name.lower(): name for name in columns if name}
            if "state" not in names:
                raise SourceError(
                    f"{self._file.name} has no column State, which says what became of a job; ask "
                    "sacct for it: sacct -P -o JobID,State,Submit,Start,End,..."
                )
            own = self._watched(itertools.chain(first, source), (columns, delimiter))
            rows = table_rows(own, columns, delimiter, headed=not first, given=self.given)
            yield from self.checked(rows, names)
            if self._other is None:
                return
            (columns, delimiter), first, self._other = self._other, [], None

    def _header(self, source: Iterator[Line]) -> tuple[tuple[str, ...], str, list[Line]]:
        """Columns, delimiter, and lines that were read already but are rows."""
        first = next((line for line in source if line.text.strip()), _NO_LINE)
        found = header_of(first.text)
        given = self._options.delimiter
        if found is not None and (given is None or given == found[1]):
            closed = () if found[0][-1] else ("",)
            named = self._options.columns
            return (*named, *closed) if named else found[0], found[1], []
        if given is not None and "JobID" in first.text.split(given):
            return tuple(name.strip() for name in first.text.split(given)), given, []
        if self._options.columns:
            return self._options.columns, given or "|", [first]
        begun = [first, *itertools.islice(source, _TRIED)]
        if any(fits(line.text, _XDMOD) for line in begun):
            return _XDMOD, "|", begun
        if len(begun) > 1 and _TABLE.fullmatch(begun[1].text.rstrip()):
            raise SourceError(
                f"{self._file.name} is sacct's table for people, which cuts long values; "
                "write it with sacct --parsable2 (-P)"
            )
        raise SourceError(
            f"{self._file.name} has no header that names JobID and other columns: it begins with "
            f"{printable(first.text, 50)!r}; name the columns of sacct's --format with "
            "--columns jobid,state,submit,..."
        )

    def _watched(self, lines: Iterable[Line], header: _Header) -> Iterator[Line]:
        """The lines up to a header of other columns."""
        for line in lines:
            if "jobid" in line.text.lower() and (found := header_of(line.text)) is not None:
                if found != header and self._options.columns is None:
                    self._other = found
                    return
                continue
            yield line

    def checked(self, rows: RowsRead, names: Mapping[str, str]) -> RowsRead:
        """Rows with a state and a moment; others are errors."""
        moments = [names[name] for name in _MOMENTS if name in names]
        cluster = names.get("cluster") if self._named is None else None
        state, job = names["state"], names.get("jobid") or names["jobidraw"]
        for row in rows:
            self._rows += 1
            if not isinstance(row, ValueError) and "." not in row[job]:
                if not _is_state(row[state][:100]):
                    yield ValueError(
                        f"column {state}: {row[state][:40]!r} is not a state of Slurm's"
                    )
                    continue
                if all(row[name].strip().lower() in NOTHING for name in moments):
                    yield ValueError("it has no time")
                    continue
                if cluster is not None and not row[cluster].strip():
                    yield ValueError(f"column {cluster} is empty; give --cluster NAME")
                    continue
            yield row

    def _refuse(self, error: ValueError) -> None:
        self._refused += 1
        self._report.refuse(self._file.name, self._line.number, str(error), self._line.text)

    def _doubt(self, error: ValueError) -> None:
        self._report.doubt(self._file.name, self._line.number, self._line.text, error)

    def given(self, number: int, text: str) -> None:
        """The next row is of this line, and begins like this."""
        self._line = Line(number, text)

    def _documents(self, runs: list[Run]) -> list[JobDocument]:
        most = self._options.most_tasks
        clusters: dict[str, list[Run]] = {}
        for run in runs:
            if not (cluster := run.cluster or self._named):
                raise UsageError(
                    f"{self._file.name} has no column Cluster that says which cluster it is of; "
                    "give --cluster NAME"
                )
            clusters.setdefault(cluster, []).append(run)
            if run.id.tasks is not None:
                self._beyond += max(0, run.id.tasks.count() - most)
        return [
            # As of the newest recorded moment of the runs; predicted ones do not count.
            of_runs(
                *(cluster, job, found),
                max(run.end or run.start or run.submit or run.eligible or 0 for run in found),
            )
            for cluster, group in clusters.items()
            for job, found in group_runs(group, most)
        ]
