"""Submit files of HTCondor.

Source: the HTCondor manual, "Submitting a Job", condor_submit(1): macros, ``include``, ``if``,
``queue … in/from/matching``, quoting of ``arguments``. What cannot be decided here (``if
version``, files that are not read) is left open: both branches count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from jobsight.program.known import KNOWN
from jobsight.program.submission.job import Place, Problem, Queue, Setting, Submission
from jobsight.text import wordset

__all__ = [
    "ATTRIBUTES",
    "COMMANDS",
    "expanded",
    "fields_of",
    "looks_like_submit",
    "read_condor",
    "split_arguments",
    "surely_submit",
]

COMMANDS = wordset(KNOWN["submit"]["commands"])
"""Commands of a submit file, in lower case."""

ATTRIBUTES = wordset(KNOWN["submit"]["attributes"])
"""Names of attributes that condor_submit takes for the commands that set them, in lower case."""
_COMMAND_OF = {one.replace("_", ""): one for one in COMMANDS if one.replace("_", "") in ATTRIBUTES}

_ASSIGN = re.compile(r"([+\w][\w.$()]*)\s*=(?!=)\s*(.*)$", re.ASCII)
_MACRO = re.compile(r"\$\(([\w.]+)(?::([^()]*))?\)")
# Nothing is tried in two ways: the text is hostile, and its lines are of any length.
_QUEUE = re.compile(
    r"queue\b\s*+(?P<count>\d++|\$\([^)]*\))?\s*+"
    r"(?:(?P<names>[A-Za-z_][\w.]*+(?:(?:\s*+,\s*+|\s++)[A-Za-z_][\w.]*+)*?)??"
    r"\s*+\b(?P<how>in|from|matching)\b\s*+(?P<rest>.*))?$",
    re.IGNORECASE | re.DOTALL,
)
_MOST_LINES, _DEEPEST = 20_000, 10


def surely_submit(text: str) -> bool:
    """Whether a text of any name is a submit file: no shell takes ``executable = X``."""
    head = text[:20_000]
    names = re.findall(r"^[ \t]*(?:executable|universe)[ \t]+=[ \t]", head, re.M | re.I)
    return bool(names and re.search(r"^[ \t]*queue\b(?!\s*[=(.])", head, re.M | re.I))


def looks_like_submit(text: str) -> bool:
    """Whether a text is a submit file: it assigns what only such files have, or queues jobs."""
    head = text[:20_000]
    if head.startswith("#!"):
        return False
    assigns = re.search(r"^[ \t]*(?:executable|universe|transfer_input_files|request_memory"
                        r"|arguments|should_transfer_files)\s*=", head, re.M | re.I)  # fmt: skip
    queues = re.search(r"^[ \t]*queue\b(?!\s*[=(.])", head, re.M | re.I)
    if queues:
        return bool(assigns or re.search(r"^[ \t]*\w+\s*=\s*\S", head, re.M))
    return bool(assigns and re.search(r"^[ \t]*executable\s*=\s", head, re.M | re.I))


@dataclass
class _Reading:
    read: Callable[[str], str | None]
    commands: dict[str, Setting] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    queues: list[Queue] = field(default_factory=list)
    branches: list[tuple[Place, bool | None, bool]] = field(default_factory=list)
    """Of each open ``if``: its place, whether the branch counts, whether one was sure before."""

    def problem(
        self, place: Place, message: str, fix: str | None = None, kind: str = "syntax"
    ) -> None:
        """Note what cannot be taken."""
        self.problems.append(Problem(place, kind, message, fix))


def read_condor(text: str, read: Callable[[str], str | None]) -> Submission:
    """What a submit file asks for.

    Args:
        text: its.
        read: gives the text of a file that it names, None: it is not there.
    """
    reading = _Reading(read)
    _read(reading, text, 0)
    for place, _, _ in reading.branches:
        reading.problem(place, "if without endif", "endif")
    problems, queues = tuple(reading.problems), tuple(reading.queues)
    return Submission("htcondor", reading.commands, problems=problems, queues=queues)


def _read(reading: _Reading, text: str, depth: int) -> None:
    lines = _logical_lines(text)
    for number, line in lines:
        place = Place(number, len(line) - len(line.lstrip()) + 1)
        word = line.split(None, 1)[0].lower().rstrip(":") if line.split() else ""
        if not word or word.startswith("#"):
            continue
        if word in ("if", "elif", "else", "endif"):
            condition = line.strip()[len(word) :].strip()
            stack = reading.branches
            if word == "if":
                taken = _truth(reading, condition)
                stack.append((place, taken, taken is True))
            elif not stack:
                reading.problem(place, f"{word} without if")
            elif word == "endif":
                stack.pop()
            else:
                first, _, sure = stack.pop()
                taken = False if sure else (_truth(reading, condition) if word == "elif" else None)
                stack.append((first, taken, sure or taken is True))
        elif any(taken is False for _, taken, _ in reading.branches):
            continue
        elif word == "queue":
            _queue(reading, line.strip(), place, lines)
        elif word == "include":
            _include(reading, line, place, depth)
        elif word in ("use", "error", "warning") and "=" not in line.split(":")[0]:
            continue
        else:
            _assign(reading, line, place, lines)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; one that ends with a backslash goes on in the next."""
    kept, first = "", 0
    for number, line in enumerate(text.split("\n")[:_MOST_LINES], 1):
        first = first if kept else number
        if kept and line.lstrip().startswith("#"):
            continue
        if line.rstrip().endswith("\\") and not line.lstrip().startswith("#"):
            kept += line.rstrip()[:-1] + " "
            continue
        yield first, kept + line.rstrip("\r")
        kept = ""
    if kept:
        yield first, kept


def _truth(reading: _Reading, condition: str) -> bool | None:
    """Whether a condition holds; None: unknown."""
    text = expanded(condition, reading.commands).strip()
    negated = text.startswith("!")
    text = text.lstrip("! ")
    found: bool | None = None
    if re.match(r"defined\b", text, re.I):
        found = text.split()[-1].lower() in reading.commands if "(" not in text else None
    elif text.lower() in ("true", "yes", "1"):
        found = True
    elif text.lower() in ("false", "no", "0"):
        found = False
    return None if found is None else found != negated


def _include(reading: _Reading, line: str, place: Place, depth: int) -> None:
    found = re.match(r"\s*include\s*(?P<command>command)?[^:]*:\s*(?P<file>.+)$", line, re.I)
    if found is None or found["command"] or found["file"].rstrip().endswith("|"):
        return
    name = expanded(found["file"].strip(), reading.commands)
    if "$" in name:
        return
    text = reading.read(name)
    if text is None:
        if not re.match(r"\s*include\s+ifexist", line, re.I):
            reading.problem(place, f"the included file {name[:80]} is not there", kind="missing")
    elif depth >= _DEEPEST:
        reading.problem(place, f"{name[:80]} includes itself")
    else:
        inner = _Reading(reading.read, dict(reading.commands))
        _read(inner, text, depth + 1)
        moved = {n: s._replace(place=place) for n, s in inner.commands.items()
                 if reading.commands.get(n) is not s}  # fmt: skip
        reading.commands.update(moved)


def _assign(reading: _Reading, line: str, place: Place, lines: Iterator[tuple[int, str]]) -> None:
    many = re.match(r"\s*([+\w.]+)\s*@=\s*(\w+)\s*$", line)
    if many:
        body = []
        for _, following in lines:
            if following.strip() == f"@{many[2]}":
                break
            body.append(following)
        reading.commands[many[1].lower()] = Setting(many[1], "\n".join(body), place)
        return
    found = _ASSIGN.match(line.strip())
    if found is None:
        reading.problem(place, f"{line.strip()[:60]!r} is not NAME = VALUE")
        return
    name, value = found[1], found[2].strip()
    own = re.compile(rf"\$\({re.escape(name)}\)", re.I)
    before = reading.commands.get(name.lower())
    if own.search(value):
        value = own.sub(lambda _: before.value if before else "", value)
    setting = Setting(name, value[:20_000], place)
    reading.commands[name.lower()] = setting
    command = _COMMAND_OF.get(name.lower())
    if command and reading.commands.get(command, setting).name.lower() == name.lower():
        reading.commands[command] = setting


def _queue(reading: _Reading, line: str, place: Place, lines: Iterator[tuple[int, str]]) -> None:
    found = _QUEUE.match(line)
    if found is None:
        reading.problem(place, f"{line[:60]!r} is not a queue statement")
        return
    counted = expanded(found["count"] or "1", reading.commands)
    names = re.findall(r"[\w.]+", found["names"] or "")
    word = not counted.isdecimal() and "$" not in counted
    if found["how"] is not None and word:
        names, counted = [counted, *names], "1"
    elif word:
        reading.problem(place, f"{line[:60]!r}: {counted[:20]} is not a number")
    count = int(counted) if counted.isdecimal() and len(counted) < 9 else None
    how, rest = (found["how"] or "").lower(), (found["rest"] or "").strip()
    items, file = _items(reading, how, rest, place, lines)
    own = tuple(names) or (("Item",) if how else ())
    reading.queues.append(Queue(count, own, place, dict(reading.commands), items, file))


def _items(
    reading: _Reading, how: str, rest: str, place: Place, lines: Iterator[tuple[int, str]]
) -> tuple[tuple[tuple[Place, str], ...] | None, str | None]:
    """The list of a queue statement, and the file that it is in or that it is made of."""
    cut = re.match(r"\[(-?\d*):?(-?\d*)(?::(\d*))?\]\s*", rest)
    if cut is not None:
        items, file = _items(reading, how, rest[cut.end() :], place, lines)
        first, last, step = (int(one) if one else None for one in cut.groups())
        return None if items is None else items[slice(first, last, step or None)], file
    if not how:
        return None, None
    if how == "in":
        rest = expanded(rest, reading.commands)
    if how == "matching":
        return None, rest or "*"
    if rest.startswith("("):
        rows = [(place, rest[1:])]
        while ")" not in rows[-1][1]:
            number, text = next(lines, (0, ")"))
            if not number:
                reading.problem(place, "the list of queue is never closed", ")")
            rows.append((Place(number or place.line), text))
        rows[-1] = (rows[-1][0], rows[-1][1].rpartition(")")[0])
        if how == "in":
            words = [(at, word) for at, text in rows for word in re.split(r"[,\s]+", text) if word]
            return tuple(words), None
        return tuple((at, text.strip()) for at, text in rows if text.strip()), None
    if how == "in":
        return tuple((place, word) for word in re.split(r"[,\s]+", rest) if word), None
    name = expanded(rest, reading.commands)
    if rest.endswith("|") or "$" in name:
        return None, rest
    listed = reading.read(name)
    if listed is None:
        reading.problem(place, f"{name[:80]}, the list of queue, is not there", kind="missing")
        return None, name
    kept = [(Place(k), line.strip()) for k, line in enumerate(listed.split("\n")[:_MOST_LINES], 1)
            if line.strip() and not line.strip().startswith("#")]  # fmt: skip
    return tuple(kept), name


def fields_of(line: str, most: int) -> list[str]:
    """The fields of an item, at commas and blanks alike; the last of `most` has the rest."""
    found: list[str] = []
    rest = line.strip()
    while len(found) < most - 1 and (parts := re.match(r"([^,\s]*)[,\s]\s*(.*)", rest, re.S)):
        found.append(parts[1])
        rest = parts[2]
    return [*found, rest]


def expanded(
    text: str, commands: Mapping[str, Setting], own: Mapping[str, str] | None = None
) -> str:
    """A value with the macros that are known filled in; ``$(Process)`` and its like stay.

    Args:
        text: the value.
        commands: of the submit file.
        own: variables of one job, which go first.
    """
    given = {name.lower(): value for name, value in (own or {}).items()}

    def value(found: re.Match[str]) -> str:
        name = found[1].lower()
        if name in given:
            return given[name]
        if name in commands:
            return commands[name].value
        return found[0] if found[2] is None else found[2]

    for _ in range(_DEEPEST):
        after = _MACRO.sub(value, text)[:50_000]
        if after == text:
            break
        text = after
    return text


def split_arguments(text: str) -> tuple[list[str], str | None]:
    """The words of ``arguments``, and what is wrong with their quotes.

    The new form is in double quotes, with single quotes around words that have blanks; the old one
    has none.
    """
    text = text.strip()
    if not text.startswith('"'):
        if '"' in text.replace('\\"', ""):
            return text.split(), 'a double quote within arguments must be \\" in the old form'
        return text.split(), None
    inner = text[1:-1].replace('""', "\0")
    if len(text) < 2 or not text.endswith('"'):
        return text[1:].split(), "the double quote is not closed"
    if '"' in inner:
        return inner.split(), 'a double quote within must be doubled: ""'
    if inner.replace("''", "").count("'") % 2:
        return inner.split(), "a single quote is not closed"
    words = re.findall(r"(?:[^\s']|'(?:[^']|'')*')+", inner)
    plain = (one.replace("''", "\1").replace("'", "").replace("\1", "'") for one in words)
    return [one.replace("\0", '"') for one in plain], None
