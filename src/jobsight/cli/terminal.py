"""Text for terminals: their width, colours where they are wanted, prose in lines that fit."""

from __future__ import annotations

import sys
from contextvars import ContextVar
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from jobsight.cli import quick

__all__ = [
    "STATE_COLOURS",
    "TERMINAL",
    "Terminal",
    "blocks",
    "field",
    "has_colours",
    "paint",
    "width",
    "wrap",
]

STATE_COLOURS = {
    "pending": "33", "held": "35", "running": "36", "suspended": "35", "completed": "32",
    "failed": "31", "cancelled": "2", "timeout": "31", "deadline": "31",
    "out_of_memory": "31", "node_fail": "31", "preempted": "33", "unknown_end": "2",
}  # fmt: skip


class Terminal(NamedTuple):
    """Where the output goes of a command that runs in the service: its cells, its colours."""

    columns: int | None
    colours: bool


TERMINAL: ContextVar[Terminal | None] = ContextVar("terminal", default=None)
"""None: standard output is this process's own."""


def width() -> int | None:
    """Cells in a line of where the output goes; None: no terminal, no limit."""
    elsewhere = TERMINAL.get()
    return quick.columns() if elsewhere is None else elsewhere.columns


def has_colours() -> bool:
    """Whether the output goes to a terminal that wants colours."""
    elsewhere = TERMINAL.get()
    return quick.has_colours() if elsewhere is None else elsewhere.colours


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
    """The text in lines that the terminal has room for after so many blanks.

    Lines are broken between words, and within a word that alone is too long.

    Args:
        text: one line without control characters.
        indent: cells that are taken; the lines come without them.
        least: cells that are used even where there is less room.
    """
    most = width()
    if most is None:
        return [text]
    size = max(most - indent, least)
    lines = [""]
    for word in text.split(" "):
        line = f"{lines[-1]} {word}" if lines[-1] and word else lines[-1] + word
        if cell_len(line) <= size:
            lines[-1] = line
        else:
            lines[len(lines) if lines[-1] else -1 :] = chop_cells(word, max(size, 2))
    return lines


def field(label: str, text: str, indent: int, *, before: str = "  ") -> str:
    """A label, and next to it a text in lines that fit, each `indent` cells from the left."""
    lines = wrap(text, indent, least=10)
    head = f"{before}{label}".ljust(indent)
    return "\n".join([head + lines[0], *(" " * indent + line for line in lines[1:])])
