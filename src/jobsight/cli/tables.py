"""Tables for terminals: narrow ones get fewer columns, and a last column that is folded."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jobsight.cli.terminal import has_colours, width

__all__ = ["table"]

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

    Args:
        headings: of the columns.
        rows: cells without control characters; they may be painted (`terminal.paint`).
        spare: headings of columns that a narrow terminal does without, the first of them first.
        left: headings of columns of text; the first column is one, the others are numbers.
        indent: blanks before each line.
        fold: continue the last column in further lines where it has no room; else cut it.
    """
    cells = [[Text.from_ansi(cell) if "\x1b" in cell else Text(cell) for cell in row]
             for row in rows]  # fmt: skip
    widths = [
        max([cell_len(heading), *(row[k].cell_len for row in cells)])
        for k, heading in enumerate(headings)
    ]
    most = width()
    room = None if most is None else max(most - indent, 1)
    shown = _fitting(headings, widths, room, spare, _LEAST[fold])
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


def _fitting(
    headings: Sequence[str],
    widths: Sequence[int],
    room: int | None,
    spare: Sequence[str],
    least: int,
) -> list[int]:
    """The numbers of the columns that there is room for."""
    shown = list(range(len(headings)))
    for name in spare:
        last = min(widths[shown[-1]], least)
        if room is None or sum(widths[k] + 2 for k in shown[:-1]) + last <= room:
            break
        shown = [k for k in shown if headings[k] != name]
    return shown
