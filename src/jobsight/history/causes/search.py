"""The cause of a failure in the text of a job's output.

The first error that explains the others is the cause, and not the last line: what follows it (the
shell's, the launcher's and the scheduler's own messages) is only its effect. What a job survived is
no cause either: an error of the script before a normal end is passed over.
"""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_right
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import accumulate

from jobsight.errors import UsageError
from jobsight.history.causes.cause import Cause
from jobsight.history.causes.table import LEVELS, Entry, table
from jobsight.text import printable

__all__ = ["MOST", "Found", "Traceback", "progress", "read_end", "search", "tracebacks"]

MOST = 200_000
"""Bytes of the end of a file that are searched."""
_MOST_COUNTED, _BLOCK = 1 << 30, 1 << 20
_LONGEST = 2000
_NO_ERRORS = frozenset({"claim", "done", "harmless"})
"""Levels of what is no error."""
_CODES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\))")
_PREFIX = re.compile(
    r"^(?:(?:[A-Z][a-z]{2} [A-Z][a-z]{2} [\d ]\d [\d:]{8} \d{4})?"
    r"(?:\[(?:rank|\d+,)?\d+\](?:<std(?:err|out)>)?:\s?|<std(?:err|out)>:)|\s*\d{1,6}: |"
    r"\(\w+ pid=\d+[^)]{0,60}\) "
    r"|slurmstepd: error: pyxis: {4,8}|  (?=[\w./-]{1,80}: ))"
)
"""Who wrote a line: torchrun's rank, mpirun's ``--tag-output`` and ``--timestamp-output``, srun's
``--label``, Ray, the log that pyxis repeats, and the two blanks before a message of a command that
Nextflow repeats."""


@dataclass(frozen=True)
class Found:
    """A cause, and where it stands.

    Attributes:
        cause: that is named.
        level: of `jobsight.history.causes.table.LEVELS`.
        line: number of the decisive line, from 1; of a very large file from its end, negative.
        quoted: that line, as it stands there. Hostile text.
    """

    cause: Cause
    level: str
    line: int
    quoted: str

    @property
    def rank(self) -> int:
        """0 for the surest level."""
        return LEVELS.index(self.level)


def read_end(path: str | os.PathLike[str]) -> tuple[str, int]:
    """The last `MOST` bytes of a file, and the number of the first line that they hold whole.

    The lines of a file of more than 1 GB are numbered from its end, the last one is -1.

    Raises:
        UsageError: it is not a file, or cannot be read.
    """
    shown = printable(os.fspath(path), 300)
    handle = -1
    try:
        # A pipe that a job left as its output would block an open without this.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            raise UsageError(f"{shown} is not a file: give an output file of a job")
        data = os.pread(handle, MOST, max(state.st_size - MOST, 0))
        cut = data.find(b"\n") + 1 if state.st_size > MOST else 0
        text = data[cut:].decode("utf-8", "replace")
        if state.st_size > _MOST_COUNTED:
            return text, -len(text.split("\n"))
        first = 1
        for offset in range(0, state.st_size - len(data) + cut, _BLOCK):
            size = min(_BLOCK, state.st_size - len(data) + cut - offset)
            first += os.pread(handle, size, offset).count(b"\n")
        return text, first
    except OSError as error:
        raise UsageError(f"{shown}: {error.strerror}") from None
    finally:
        if handle >= 0:
            os.close(handle)


def search(text: str, first: int = 1, *, failed: bool = False) -> Found | None:
    """The cause that a text names; None where nothing failed, or no error is found.

    Args:
        text: of an output file, or of its end.
        first: number of its first line.
        failed: the job is known to have failed: no error is taken for one that it survived.
    """
    written = [line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n")]
    rows = [_PREFIX.sub("", _CODES.sub("", line[:_LONGEST]), count=1) for line in written]
    done: list[tuple[int, str]] = []
    for row, entry, match in list(_matches(rows, _NO_ERRORS)):
        if entry.level == "harmless":
            last = row + match[0].rstrip("\n").count("\n")
            rows[row : last + 1] = [""] * (last + 1 - row)
        else:
            done.append((row, entry.level))
    candidates = _matches(rows, {*LEVELS} - _NO_ERRORS)
    blocks = tracebacks(rows)
    found = [
        (LEVELS.index(entry.level), row, _in_own_file(entry, match, row, blocks))
        for row, entry, match in candidates
    ]
    error = LEVELS.index("error")
    named = {row for level, row, _ in found if level <= error}
    found += [
        (error, block.last, block.cause)
        for block in blocks
        if named.isdisjoint(range(block.last, block.last + _MESSAGE))
        and not any(row == block.last for _, row, _ in found)
    ]
    if not failed:
        last = max((row for _, row, _ in found), default=0)
        went_on = last if _goes_on(rows[last + 1 :]) else -1
        over = max([went_on, *(row for row, level in done if level == "done")])
        claims = [row for row, _ in done if row > over]
        ended = _ended(rows, blocks, found, claims) if claims else set()
        claimed = max(claims, default=over)
        found = [
            of for of in found if of[0] == 0 or of[1] > claimed or (of[1] > over and of[1] in ended)
        ]
    if not found:
        return None
    level, row, cause = min(found, key=lambda of: of[:2])
    return Found(cause, LEVELS[level], first + row, written[row])


_NUMBERS = re.compile(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_NO_PROGRESS = re.compile(
    r"(?i)^\s|^(?:#|at |---|===|\[\d+\] )|err|fail|abort|kill|warn|exit|0x|trace"
)
_GOES_ON = 3


def _goes_on(rows: Sequence[str]) -> bool:
    """Whether lines count on: some of one form, with other numbers each.

    Epilogues of scripts, backtraces and what other ranks say of an error are not such lines.
    """
    forms: dict[str, set[str]] = {}
    for row in rows:
        if (form := _NUMBERS.sub("0", row)) != row and not _NO_PROGRESS.search(row):
            forms.setdefault(form, set()).add(row)
    return any(len(lines) >= _GOES_ON for lines in forms.values())


_CAUGHT = re.compile(
    r"\b(?:WARN(?:ING)?|ERROR|CRITICAL|EXCEPTION|[Ww]arning|[Rr]etry\w*)\b|^Exception ig"
)
_CHAINED = re.compile(r"^(?:During handling of the above|The above exception was the direct) ")


def _ended(
    rows: Sequence[str],
    blocks: Sequence[Traceback],
    found: Sequence[tuple[int, int, Cause]],
    claims: Sequence[int],
) -> set[int]:
    """The rows of errors of which a program ended, whatever its script claims later.

    They are those of exceptions that nothing caught (the log line before a traceback says that one
    was), of crashes, and what stands before a line that says that a program ended.
    """
    ended = {row for _, row, cause in found if cause.kind == "crash"}
    caught = False
    for block in blocks:
        before = next((row for row in reversed(rows[: block.head]) if row.strip()), "")
        if not _CHAINED.search(before):
            caught = _CAUGHT.search(before) is not None
        if not caught:
            ended.update(range(block.head, block.last + _MESSAGE))
    effect = LEVELS.index("effect")
    for level, row, cause in found:
        if level == effect and cause.kind not in ("killed", "workflow"):
            ended.update(range(max((at for at in claims if at < row), default=-1) + 1, row + 1))
    return ended


def _matches(rows: Sequence[str], levels: Set[str]) -> Iterator[tuple[int, Entry, re.Match[str]]]:
    """The row of each match of the table's entries of some levels, with the entry."""
    joined = "\n".join(rows)
    lowered = joined.lower()
    if len(lowered) != len(joined):
        lowered = "".join(of.lower() if len(of.lower()) == 1 else of for of in joined)
    starts = [0, *accumulate(len(row) + 1 for row in rows)]
    for entry in table("output"):
        if entry.level in levels:
            for begin, end in _windows(lowered, entry.literals, starts):
                for match in entry.pattern.finditer(joined, begin, end):
                    yield bisect_right(starts, match.start()) - 1, entry, match


_AROUND = 30
"""Rows before and after a literal text that a match around it may cover."""


def _windows(
    lowered: str, literals: Sequence[str], starts: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """The parts of a text in which a match may be: whole rows around any of its literals."""
    if not literals:
        yield 0, len(lowered)
        return
    rows = {
        bisect_right(starts, at) - 1 for literal in literals for at in _positions(lowered, literal)
    }
    begin = end = -1
    for row in sorted(rows):
        first, last = max(row - _AROUND, 0), min(row + _AROUND + 1, len(starts) - 1)
        if first > end:
            if end >= 0:
                yield starts[begin], starts[end] - 1
            begin = first
        end = last
    if end >= 0:
        yield starts[begin], starts[end] - 1


def _positions(text: str, literal: str) -> Iterator[int]:
    """Where a literal text begins."""
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + len(literal))


_MESSAGE = 8
"""Lines of an exception's message in which its cause may stand."""
_HEAD = re.compile(r"^(\s*)Traceback \(most recent call last\):\s*$")
_FRAME = re.compile(r'^\s*File "([^"\n]{1,500})", line (\d{1,9})(?:, in (.{1,100}))?')
_RAISED = re.compile(r"([A-Za-z_][\w.]{0,100})(?:: (.*))?$")
_OF_LIBRARIES = re.compile(
    r"(?:site|dist)-packages/|/lib(?:64)?/(?:pythons?|python)[\d.]*/|^<|/lib/python|\.pyx$|"
    r"/bin/[\w-]+$"
)


@dataclass(frozen=True)
class Traceback:
    """A traceback of Python: rows from its head to its exception, and where it points.

    Attributes:
        head: row of its first line.
        last: row of the exception.
        place: the last frame in the user's own file, in words; empty where there is none.
        cause: that an exception unknown to the table has.
    """

    head: int
    last: int
    place: str
    cause: Cause


def tracebacks(rows: Sequence[str]) -> list[Traceback]:
    """The tracebacks of Python in lines of text, with the last frame in the user's own file."""
    blocks: list[Traceback] = []
    row = 0
    while row < len(rows):
        head = _HEAD.match(rows[row])
        if head is None:
            row += 1
            continue
        start, lead, frames = row, len(head[1]), []
        row += 1
        while row < len(rows) and (not rows[row].strip() or rows[row][lead : lead + 1] == " "):
            if frame := _FRAME.match(rows[row]):
                frames.append(frame)
            row += 1
        raised = _RAISED.match(rows[row].strip()) if row < len(rows) else None
        if raised is None:
            continue
        own = [frame for frame in frames if not _OF_LIBRARIES.search(frame[1])]
        place = f"line {own[-1][2]} of {printable(own[-1][1], 200)}" if own else ""
        message = f": {printable(raised[2], 200)}" if raised[2] else ""
        blocks.append(
            Traceback(start, row, place, Cause(
                "python-exception", "program",
                f"the program raised {raised[1]}{message}{place and f', at {place}'}",
                f"read {place or 'the traceback'} and what it was given: run it there by hand on a "
                "small input",
                sure=False,
            ))
        )  # fmt: skip
    return blocks


def _in_own_file(
    entry: Entry, match: re.Match[str], row: int, blocks: Sequence[Traceback]
) -> Cause:
    """The cause, with the user's own line that led to it where it stands in a traceback."""
    cause = entry.cause(match)
    for block in blocks if entry.level in ("final", "error") else ():
        if block.place and block.head <= row < block.last + _MESSAGE:
            return replace(cause, text=f"{cause.text}, at {block.place}")
    return cause


_PART = re.compile(
    r"(?<![\d./:-])(?P<part>\d{1,12}) ?(?:/|of|out of) ?(?P<all>\d{1,12})(?![\d./:-])|"
    r"(?<![\d.])(?P<percent>\d{1,3}(?:\.\d{1,3})?) ?%"
)
_LAST_LINES = 200


def progress(text: str) -> str | None:
    """How far the work was by the last line that counts it (``160/600``); None: no line does.

    It counts where the same form stands in an earlier line too, with a smaller part.
    """
    rows = [row for line in text.split("\n")[-_LAST_LINES:] for row in line.split("\r")][::-1]
    forms: dict[str, tuple[float, str]] = {}
    for row in rows[: 5 * _LAST_LINES]:
        for match in _PART.finditer(row[:_LONGEST]):
            part = float(match["part"] or match["percent"])
            whole = float(match["all"] or 100)
            form = re.sub(r"[\d.]+", "0", row[: match.start()]) + f" {whole}"
            if form not in forms:
                if 0 < part < whole:
                    forms[form] = part, f"{match[0].strip()}"
            elif part < forms[form][0]:
                last, shown = forms[form]
                share = "" if match["percent"] else f" ({100 * last / whole:.0f} %)"
                return f"{shown}{share}"
    return None
