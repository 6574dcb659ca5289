"""Batch scripts as scontrol and sacct print them, and the options that they give themselves.

Format: sbatch(1): ``#SBATCH`` lines count until the first line that is neither empty nor a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["LONGEST_SCRIPT", "Directive", "directive_lines", "directives", "from_sacct"]

LONGEST_SCRIPT = 256 << 10
"""Characters kept of a script; Slurm's own limit is 4 MB."""

_MOST_DIRECTIVES = 500
_LONGEST_DIRECTIVE = 2000
_HEADING = re.compile(r"^Batch Script for ([\w+]{1,40})\n-{3,}\n", re.ASCII | re.MULTILINE)


def from_sacct(text: str) -> str | None:
    """The script in what ``sacct --batch-script -j ID`` printed for one job; None: it kept none.

    Of an array, 22.05 prints the script once for each task. Where the parts differ, the headings
    between them are part of the script.
    """
    before, *found = _HEADING.split(text.lstrip("\n"))
    if not found or before:
        return None
    same = len({part.rstrip("\n") for part in found[1::2]}) == 1
    script = found[1] if same else _HEADING.split(text.lstrip("\n"), maxsplit=1)[2]
    return None if script.strip() in ("", "NONE") else script


class Directive(NamedTuple):
    """A ``#SBATCH`` line: its number from 1, what follows the word, and whether Slurm reads it."""

    line: int
    text: str
    counts: bool


def directive_lines(script: str) -> Iterator[Directive]:
    """The ``#SBATCH`` lines of a script, those behind the first command too."""
    counts, found = True, 0
    for number, line in enumerate(script.split("\n"), 1):
        if line.startswith("#SBATCH") and line[7:8].isspace():
            found += 1
            if found > _MOST_DIRECTIVES:
                return
            yield Directive(number, line[7 : 8 + _LONGEST_DIRECTIVE].rstrip(), counts)
        elif line.strip() and not line.lstrip().startswith("#"):
            counts = False


def directives(script: str) -> tuple[str, ...]:
    """The options in a script's ``#SBATCH`` lines, in order, comments behind them cut off."""
    texts = (one.text for one in directive_lines(script) if one.counts)
    lines = (re.split(r"\s#", one, maxsplit=1)[0] for one in texts)
    return tuple(line.strip() for line in lines if line.strip())
