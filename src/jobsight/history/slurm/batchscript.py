"""Batch scripts as scontrol and sacct print them, and the options that they give themselves.

Format: sbatch(1): ``#SBATCH`` lines count until the first line that is neither empty nor a comment.
"""

from __future__ import annotations

import re

__all__ = ["LONGEST_SCRIPT", "directives", "from_sacct"]

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


def directives(script: str) -> tuple[str, ...]:
    """The options in a script's ``#SBATCH`` lines, in order, comments behind them cut off."""
    found: list[str] = []
    for line in script.splitlines():
        if line.startswith("#SBATCH") and line[7:8].isspace():
            option = re.split(r"\s#", line[8:], maxsplit=1)[0].strip()
            if option and len(found) < _MOST_DIRECTIVES:
                found.append(option[:_LONGEST_DIRECTIVE])
        elif line.strip() and not line.startswith("#"):
            break
    return tuple(found)
