"""Text for terminals: their width, colours where they are wanted, prose in lines that fit."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Sequence
from contextvars import ContextVar
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from jobsight import runtime

__all__ = [
    "STATE_COLOURS",
    "TERMINAL",
    "Terminal",
    "blocks",
    "field",
    "fold",
    "has_colours",
    "paint",
    "table",
    "width",
    "without_colours",
    "wrap",
]

STATE_COLOURS = {
    "pending": "33", "held": "35", "running": "36", "suspended": "35", "completed": "32",
    "failed": "31", "cancelled": "2", "timeout": "31", "deadline": "31",
    "out_of_memory": "31", "node_fail": "31", "preempted": "33", "unknown_end": "2",
}  # fmt: skip


_PAINT = re.compile(r"\x1b\[[\d;]*m")


class Terminal(NamedTuple):
    """Where the output goes of a command that runs in the service: its cells, its colours."""

    columns: int | None
    colours: bool


TERMINAL: ContextVar[Terminal | None] = ContextVar("terminal", default=None)
"""None: standard output is this process's own."""


def width() -> int | None:
    """Cells in a line of where the output goes; None: no terminal, no limit."""
    elsewhere = TERMINAL.get()
    return runtime.columns() if elsewhere is None else elsewhere.columns


def has_colours() -> bool:
    """Whether the output goes to a terminal that wants colours."""
    elsewhere = TERMINAL.get()
    return runtime.has_colours() if elsewhere is None else elsewhere.colours


def without_colours() -> None:
    """Print none from now on: in the command that asks for it, and what it starts."""
    elsewhere = TERMINAL.get()
    if elsewhere is None:
        os.environ["NO_COLOR"] = "1"
    else:
        TERMINAL.set(elsewhere._replace(colours=False))


def paint(text: str, colour: str) -> str:
    """The text in a colour (digits of an SGR sequence), where standard output has colours."""
    return f"\x1b[{colour}m{text}\x1b[0m" if has_colours() else text


def blocks() -> tuple[str, str, str]:
    """Characters for a bar: full, half and empty; ASCII where standard output has no others."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        "█▌·".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ("#", "+", ".")
    return ("█", "▌", "·")


def wrap(text: str, indent: int = 0, *, least: int = 20) -> list[str]:
    """The text in lines that the terminal has room for after `indent` cells, but `least` at least.

    Lines are broken between words, and within a word that alone is too long.
    """
    most = width()
    if most is None or _cells(text) <= most - indent:
        return [text]
    size = max(most - indent, least)
    lines = [""]
    for word in text.split(" "):
        line = f"{lines[-1]} {word}" if lines[-1] and word else lines[-1] + word
        if _cells(line) <= size:
            lines[-1] = line
        else:
            lines[len(lines) if lines[-1] else -1 :] = chop_cells(word, max(size, 2))
    return lines


def _cells(text: str) -> int:
    """How wide a text is that may be painted."""
    return cell_len(_PAINT.sub("", text))


def fold(text: str, indent: int = 2) -> str:
    """A text in lines that fit, all but the first `indent` cells from the left."""
    return f"\n{'':{indent}}".join(wrap(text, indent))


def field(label: str, text: str, indent: int, *, before: str = "  ") -> str:
    """A label, and next to it a text in lines that fit, each `indent` cells from the left."""
    lines = wrap(text, indent, least=10)
    head = f"{before}{label}".ljust(indent)
    return "\n".join([head + lines[0], *(" " * indent + line for line in lines[1:])])


_LEAST = {True: 30, False: 8}
"""Cells that the last column keeps before other columns are left out: if it is folded, if cut."""


def table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    spare: Sequence[str] = (),
    *,
    left: Sequence[str] = (),
    indent: int = 0,
    fold: bool = True,
) -> str:
    """A table of plain text, without a limit where standard output is not a terminal.

    Cells have no control characters; they may be painted (`paint`). A narrow terminal does without
    the columns `spare`, the first of them first. Columns `left` and the first one are text, others
    numbers. Where the last column has no room, it continues in further lines (`fold`) or is cut.
    """
    from rich.console import Console  # most answers do without
    from rich.table import Table
    from rich.text import Text

    cells = [[Text.from_ansi(cell) if "\x1b" in cell else Text(cell) for cell in row]
             for row in rows]  # fmt: skip
    widths = [
        max([cell_len(heading), *(row[k].cell_len for row in cells)])
        for k, heading in enumerate(headings)
    ]
    most = width()
    room = None if most is None else max(most - indent, 1)
    shown = list(range(len(headings)))
    for name in spare:
        last = min(widths[shown[-1]], _LEAST[fold])
        if room is None or sum(widths[k] + 2 for k in shown[:-1]) + last <= room:
            break
        shown = [k for k in shown if headings[k] != name]
    before, last = sum(widths[k] + 2 for k in shown[:-1]), shown[-1]
    if room is not None:
        widths[last] = min(widths[last], max(room - before, 1))
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for k in shown:
        made.add_column(
            Text(headings[k]),
            justify="right" if k and headings[k] not in left else "left",
            width=widths[k],
            no_wrap=k != last or not fold,
            overflow="fold" if fold else "ellipsis",
        )
    for row in cells:
        made.add_row(*(row[k] for k in shown))
    console = Console(
        file=io.StringIO(),
        width=before + widths[last],
        color_system="standard" if has_colours() else None,
        force_terminal=has_colours(),
    )
    with console.capture() as captured:
        console.print(made)
    lines = captured.get().splitlines()
    return "\n".join(f"{'':{indent}}{line.rstrip()}" for line in lines)
