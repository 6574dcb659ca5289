"""Text for terminals: colours only where they are wanted, tables that fit."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells, set_cell_size

__all__ = [
    "STATE_COLOURS",
    "Column",
    "blocks",
    "grid",
    "lined",
    "paint",
    "shorten",
    "width",
    "wrap",
]

STATE_COLOURS = {
    "pending": "33", "held": "35", "running": "36", "suspended": "35", "completed": "32",
    "failed": "31", "cancelled": "2", "timeout": "31", "out_of_memory": "31", "node_fail": "31",
    "preempted": "33", "unknown_end": "2",
}  # fmt: skip

_LEAST_LAST = 8
"""Letters that the last column keeps before other columns are left out."""
_LEAST_WRAPPED = 30
"""The same, where it goes on in further lines."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        heading: stands above it.
        right: numbers are set to the right.
        spare: in a narrow terminal the columns of the largest number are left out first; 0: never.
    """

    heading: str
    right: bool = False
    spare: int = 0


def width() -> int | None:
    """Letters in a line: as COLUMNS says, else the terminal; None: no terminal, no limit."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and 0 < len(told) < 6 and int(told) > 0:
        return int(told)
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def paint(text: str, colour: str) -> str:
    """The text in a colour (digits of an SGR sequence), where standard output is to have any."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    if plain or sys.stdout is None or not sys.stdout.isatty():
        return text
    return f"\x1b[{colour}m{text}\x1b[0m"


def blocks() -> tuple[str, str, str]:
    """Letters for a bar: full, half and empty; plain ones where standard output knows no others."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        "█▌·".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ("#", "+", ".")
    return ("█", "▌", "·")


def wrap(text: str, size: int) -> list[str]:
    """The text in lines of at most `size` cells, broken between words, else within one."""
    lines = [""]
    for word in text.split(" "):
        line = f"{lines[-1]} {word}" if lines[-1] and word else lines[-1] + word
        if cell_len(line) <= size:
            lines[-1] = line
        else:
            pieces = chop_cells(word, max(size, 2))
            lines[len(lines) if lines[-1] else -1 :] = pieces
    return lines


def shorten(text: str, size: int) -> str:
    """A text such as ``eventlog:/var/log/condor/EventLog`` in at most `size` cells.

    What stands before the first colon and the end stay: ``eventlog:…/condor/EventLog``.
    """
    if cell_len(text) <= size:
        return text
    kind, colon, rest = text.partition(":")
    head = kind + colon if cell_len(kind) + 8 <= size else ""
    room = max(size - cell_len(head) - 1, 0)
    tail = rest if head else text
    while cell_len(tail) > room:
        tail = tail[1:]
    # Whole names of folders rather than the end of one.
    name = tail.find("/")
    tail = tail[name:] if 0 <= name < len(tail) - 1 else tail
    return set_cell_size(f"{head}…{tail}", size).rstrip()


def grid(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    *,
    most: int | None,
    colours: dict[tuple[int, int], str] | None = None,
) -> list[str]:
    """The lines of a table with headings, one a row (see `lined`)."""
    return [line for (line,) in lined(columns, rows, most=most, colours=colours)]


def lined(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    *,
    most: int | None,
    colours: dict[tuple[int, int], str] | None = None,
    whole: bool = False,
) -> list[list[str]]:
    """The lines of a table with headings, no longer than `most`; its last column gives way.

    Args:
        columns: of the table.
        rows: cells without control characters, a row each.
        most: letters in a line; None: any number.
        colours: of the cell in a row and column, for `paint`.
        whole: what the last column has no room for goes on in further lines; else it is cut.

    Returns:
        The lines of the headings, then those of each row: one each, unless `whole`.
    """
    cells = [[column.heading for column in columns], *rows]
    widths = [max(cell_len(row[k]) for row in cells) for k in range(len(columns))]
    shown = _fitting(columns, widths, most, _LEAST_WRAPPED if whole else _LEAST_LAST)
    last = shown[-1]
    before = sum(widths[k] + 2 for k in shown[:-1])
    if most is not None:
        widths[last] = min(widths[last], max(most - before, 1))
    lines, hues = [], colours or {}
    for number, row in enumerate(cells, -1):
        rest = wrap(row[last], widths[last]) if whole else [row[last]]
        parts = [
            _padded(columns[k], rest[0] if k == last else row[k], widths[k], hues.get((number, k)))
            for k in shown
        ]
        more = [" " * before + _cut(text, widths[last]) for text in rest[1:]]
        lines.append(["  ".join(parts).rstrip(), *more])
    return lines


def _padded(column: Column, text: str, size: int, colour: str | None) -> str:
    """A cell of that size: cut, or filled with blanks, and painted."""
    text = _cut(text, size)
    blank = " " * (size - cell_len(text))
    text = paint(text, colour) if colour else text
    return blank + text if column.right else text + blank


def _cut(text: str, size: int) -> str:
    if cell_len(text) <= size:
        return text
    return set_cell_size(text, size - 1).rstrip() + "…" if size > 1 else text[:1]


def _fitting(
    columns: Sequence[Column], widths: Sequence[int], most: int | None, least: int
) -> list[int]:
    """The numbers of the columns that there is room for, the last one with `least` letters."""
    shown = list(range(len(columns)))
    while most is not None:
        last = min(widths[shown[-1]], least)
        if sum(widths[k] + 2 for k in shown[:-1]) + last <= most:
            break
        spare = max(shown, key=lambda k: columns[k].spare)
        if not columns[spare].spare:
            break
        shown.remove(spare)
    return shown
