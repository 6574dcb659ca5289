"""Rows of sacct's text as people keep it: ``--parsable`` or ``--parsable2``, a delimiter, a header.

sacct quotes nothing: names of jobs, submit lines and comments are in it with whatever delimiters
and line ends they hold (seen with 24.11). Such a row has too many fields, or goes on in the next
line; it is put together again where its columns then hold what they should. Format: sacct(1).
"""

from __future__ import annotations

import csv
import datetime as dt
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from jobsight.documents.states import slurm_state
from jobsight.history.slurm.ids import parse_id
from jobsight.history.slurm.sacct import read_row
from jobsight.program.submission.sizes import parse_number

__all__ = ["RowError", "fits", "table_rows"]

_LONGEST = 1 << 20
"""Characters of the longest row."""

_FREE = ("jobname", "submitline", "comment", "admincomment", "systemcomment", "extra", "workdir")
"""Columns of free text, those first that hold delimiters most often."""

_MOST_MIXED = 8
"""Surplus fields that are tried in several columns; more are all in one."""

_MOST_LINES = 50


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

    Args:
        lines: numbers and texts of lines, without line ends and header; empty ones do not count.
        columns: their names; the last is empty where each row ends with the delimiter.
        delimiter: between fields.
        headed: the columns are those of a header; else how rows end is unknown.
        given: is called with the number of the (first) line and the text before each row.
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
            given(held[0][0], "\n".join([*(one[1] for one in held), text]))
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
    whole = table.row("\n".join([*(one[1] for one in held), text]))
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
