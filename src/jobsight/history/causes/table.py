r"""Tables of texts and the causes that they name: data, a folder of TOML files for each family.

``output`` is for what jobs print, ``holds`` for the reasons of held jobs.

A file holds a list ``cause``. An entry has these keys:

``name``
    of the cause, unique among all tables.
``kind``
    of `jobsight.history.causes.cause.KINDS`.
``level``
    what a match says; by default ``error``. See `LEVELS`.
``pattern``
    a regular expression, searched with ``re.MULTILINE``: ``^`` and ``$`` are the ends of lines, and
    a message over several lines names its ``\n``. Groups that the sentences show have names, and
    match few characters: a text is hostile. One that takes no part in a match shows nothing.
``text``, ``fix``
    the cause and what to do: sentences without a period, that may show groups as ``{group}``, but
    never in a command, which a person may paste.
``whose``, ``sure``
    as those of `Cause`; by default user and true.
``examples``
    texts in which this is the cause: each is a test.
``passes``
    texts in which it is not: each is a test.
``source``
    where the text was seen, or the program that writes it.

Those of ``holds`` have these too, see `jobsight.history.causes.holds`:

``codes``
    hold codes that the entry is for; by default all. With an empty pattern every text matches.
``first``
    true: a release without the fix only meets the cause again.
``ask``
    ``more`` or ``less``: the request of the resource that ``kind`` names is to be changed so.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

from jobsight.history.causes.cause import Cause
from jobsight.history.causes.literals import literals
from jobsight.text import printable

__all__ = ["LEVELS", "Entry", "table"]

LEVELS = ("final", "error", "general", "effect", "claim", "done", "harmless")
"""What a match says of a job.

* ``final``: the job ended by it. It is the cause even where the job seems to have ended well.
* ``error``: what went wrong. A job may survive it, where the script goes on and what follows shows
  that it ended well, or counts on.
* ``general``: an error that names no cause by itself, such as that of a program unknown here.
* ``effect``: it follows from something else: it is the cause only where nothing else is found.
* ``claim``: as ``done``, in words that a script says at its end even where a program failed: an
  error of which a program ended is not got over by it.
* ``done``: the job ended well, or got over what stands before it.
* ``harmless``: to be passed over, whatever other words its lines have.
"""
_SHOWN = 100
_BLANK = re.compile(r" +(?=[ ,:;]|$)")
"""What a group that shows nothing leaves."""


@dataclass(frozen=True)
class Entry:
    """One entry of a table."""

    name: str
    kind: str
    level: str
    expression: str
    literals: Sequence[str]
    text: str
    fix: str
    whose: str
    sure: bool
    examples: Sequence[str]
    passes: Sequence[str]
    source: str
    codes: Sequence[int]
    first: bool
    ask: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled where it is needed: few of all are in the output of one job."""
        return re.compile(self.expression, re.MULTILINE)

    def cause(self, match: re.Match[str], most: int = _SHOWN) -> Cause:
        """The cause, with what the match shows: at most so many characters of each group."""
        shown = {group: printable(text or "", most) for group, text in match.groupdict().items()}
        text, fix = (_BLANK.sub("", of.format(**shown)) for of in (self.text, self.fix))
        return Cause(self.name, self.kind, text, fix, self.whose, self.sure)


@cache
def table(family: str) -> tuple[Entry, ...]:
    """The entries of all files of a family, such as ``output``, in order of file names."""
    return tuple(_entries(family))


def _entries(family: str) -> Iterator[Entry]:
    folder = files("jobsight.history.causes").joinpath(family)
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if not file.name.endswith(".toml"):
            continue
        for of in tomllib.loads(file.read_text("utf-8"))["cause"]:
            yield Entry(
                of["name"],
                of.get("kind", ""),
                of.get("level", "error"),
                of["pattern"],
                literals(of["pattern"]),
                of.get("text", ""),
                of.get("fix", ""),
                of.get("whose", "user"),
                of.get("sure", True),
                of.get("examples", ()),
                of.get("passes", ()),
                of.get("source", ""),
                of.get("codes", ()),
                of.get("first", False),
                of.get("ask", ""),
            )
