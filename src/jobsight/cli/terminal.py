"""Text for terminals: colours only where they are wanted, tables that fit."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["STATE_COLOURS", "Column", "blocks", "grid", "paint", "width"]

STATE_COLOURS = {
    "pending": "33", "held": "35", "running": "36", "suspended": "35", "completed": "32",
    "failed": "31", "cancelled": "2", "timeout": "31", "out_of_memory": "31", "node_fail": "31",
    "preempted": "33", "unknown_end": "2",
}  # fmt: skip

_LEAST_LAST = 8
"""Letters that the last column keeps before other columns are left out."""


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
    if sys.stdout is None or not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
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


def grid(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    *,
    most: int | None,
    colours: dict[tuple[int, int], str] | None = None,
) -> list[str]:
    """The lines of a table with headings, no longer than `most`; its last column gives way.

    Args:
        columns: of the table.
        rows: cells without control characters, a row each.
        most: letters in a line; None: any number.
        colours: of the cell in a row and column, for `paint`.
    """
    from rich.cells import cell_len, set_cell_size

    cells = [[column.heading for column in columns], *rows]
    widths = [max(cell_len(row[k]) for row in cells) for k in range(len(columns))]
    shown = _fitting(columns, widths, most)
    last = shown[-1]
    if most is not None:
        before = sum(widths[k] + 2 for k in shown[:-1])
        widths[last] = min(widths[last], max(most - before, 1))
    lines = []
    for number, row in enumerate(cells):
        parts = []
        for k in shown:
            text, size = row[k], widths[k]
            if cell_len(text) > size:
                text = set_cell_size(text, size - 1).rstrip() + "…" if size > 1 else text[:1]
            blank = " " * (size - cell_len(text))
            colour = (colours or {}).get((number - 1, k))
            text = paint(text, colour) if colour else text
            parts.append(blank + text if columns[k].right else text + blank)
        lines.append("  ".join(parts).rstrip())
    return lines


def _fitting(columns: Sequence[Column], widths: Sequence[int], most: int | None) -> list[int]:
    """The numbers of the columns that there is room for."""
    shown = list(range(len(columns)))
    while most is not None:
        last = min(widths[shown[-1]], _LEAST_LAST)
        if sum(widths[k] + 2 for k in shown[:-1]) + last <= most:
            break
        spare = max(shown, key=lambda k: columns[k].spare)
        if not columns[spare].spare:
            break
        shown.remove(spare)
    return shown
