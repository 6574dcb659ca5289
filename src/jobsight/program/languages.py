"""The language of a program, by its name, its first line and its content; its syntax tree."""

from __future__ import annotations

import os
import re
import threading
import time
from bisect import bisect_left
from collections import defaultdict
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from jobsight.errors import SourceError
from jobsight.program.known import KNOWN
from jobsight.program.limited import uninterrupted

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

__all__ = ["INTERPRETERS", "language_of", "shebang", "syntax_tree", "tree_errors"]

_ENDINGS: dict[str, str] = KNOWN["languages"]["endings"]
_BY_ENDING = {ending: name for name, text in _ENDINGS.items() for ending in text.split()}

INTERPRETERS: dict[str, str] = KNOWN["languages"]["interpreters"]
"""Languages by the name of an interpreter without its version."""

_CONTENT = {
    "python": re.compile(r"^(?:import \w+|from [\w.]+ import|def \w+\(.*\):|class \w+.*:)", re.M),
    "perl": re.compile(r"^(?:use strict|use warnings|my [$@%]\w+)", re.M),
    "julia": re.compile(r"^(?:using \w+|function \w+\(.*\)\s*$)", re.M),
    "r": re.compile(r"^(?:library\(|\w+ <- )", re.M),
    "c": re.compile(r"^#include [<\"]", re.M),
    "fortran": re.compile(r"^[ \t]*program \w+\s*$", re.M | re.I),
    "bash": re.compile(r"^#(?:SBATCH|PBS|\$) |^(?:set -[eux]|export \w+=|module load|srun )", re.M),
}
_DEEPEST = 400
_MOST_SECONDS, _QUICK, _CHUNK = 4.0, 4096, 1 << 20
_MOST_PIPED = 3000
"""The memory that a pipe without an end takes to parse grows with its square: here 150 MB."""
_MOST_PAGES = 65_536
"""Of memory: errors in a text can make the parser keep as many versions of it as it has words."""


def shebang(text: str) -> list[str] | None:
    """The words of the first line behind ``#!``; None: it has no such line."""
    if not text.startswith("#!"):
        return None
    return text.partition("\n")[0][2:].split()


def language_of(name: str, text: str) -> str | None:
    """The language of a file, None: unknown; ``zsh`` and ``csh`` are not ``bash``."""
    words = shebang(text)
    if words:
        program = [word for word in words if not (word.startswith("-") or "=" in word)]
        last = PurePosixPath(program[0]).name if program else ""
        if last == "env":
            last = PurePosixPath(program[1]).name if len(program) > 1 else ""
        return INTERPRETERS.get(re.sub(r"[\d.]+$", "", last))
    ending = PurePosixPath(name).suffix[1:]
    if ending in _BY_ENDING:
        return _BY_ENDING[ending]
    return next((language for language, form in _CONTENT.items() if form.search(text)), None)


@lru_cache(256)
def _parser(language: str, _thread: int) -> Parser:
    """A parser of one thread: two must not use it at once."""
    import tree_sitter_language_pack

    known: Any = tree_sitter_language_pack.get_parser
    return known(language)  # type: ignore[no-any-return]


def _longest_pipe(text: bytes) -> int:
    """The most signs of a pipe in a line, or in lines that go on behind one."""
    if text.count(b"|") <= _MOST_PIPED:
        return 0
    return max(line.count(b"|") for line in re.sub(rb"\|\s*\n", b"|", text).split(b"\n"))


def _resident() -> int:
    """Pages of memory that this process has now."""
    # A file object that a limit interrupts before its block would warn that it was left open.
    descriptor = os.open("/proc/self/statm", os.O_RDONLY)
    try:
        return int(os.read(descriptor, 64).split()[1])
    finally:
        os.close(descriptor)


def syntax_tree(language: str, text: bytes, *, with_text: bool = True) -> Node:
    """The root of the syntax tree of a program in one of the languages with a file ending.

    Args:
        language: of the program.
        text: of it.
        with_text: the nodes know their texts; else a large program is parsed once, not twice.

    Raises:
        SourceError: parsing takes more than `_MOST_SECONDS` or `_MOST_PAGES`, as of some deeply
            nested texts.
    """
    parser = _parser(language, threading.get_ident())
    if language == "bash" and _longest_pipe(text) > _MOST_PIPED:
        raise SourceError(f"the bash program has more than {_MOST_PIPED} commands in a pipe")
    text = _single_heres(text) if language == "bash" and text.count(b"<<") > 1 else text
    if len(text) > _QUICK:
        begun, most = time.thread_time(), _resident() + _MOST_PAGES

        def read(offset: int, _point: object) -> bytes:
            return text[offset : offset + _CHUNK]

        def too_long(*_: object) -> bool:
            return time.thread_time() - begun > _MOST_SECONDS or _resident() > most

        uninterrupted.update((read.__code__, too_long.__code__))
        try:
            tree = parser.parse(read, progress_callback=too_long)
        except ValueError:
            parser.reset()
            raise SourceError(f"the {language} program takes too much to be parsed") from None
        if not with_text:
            return tree.root_node
    return parser.parse(text).root_node


_HERE = re.compile(rb"(?<![<(])\d*<<(?!<)(-?)[ \t]*([\"']?)\\?([A-Za-z_]\w*)\2")


def _single_heres(text: bytes) -> bytes:
    """A shell script of the same length that has at most one here-document per line.

    The grammar knows no second one: it would take its lines for commands. It becomes blanks.
    """
    lines = text.split(b"\n")
    places, unindented = defaultdict[bytes, list[int]](list), defaultdict[bytes, list[int]](list)
    for number, line in enumerate(lines):
        places[line].append(number)
        unindented[line.lstrip(b"\t")].append(number)
    at = 0
    while at < len(lines):
        marks = [] if lines[at].lstrip()[:1] == b"#" else list(_HERE.finditer(lines[at]))
        ends, following = [], at + 1
        for mark in marks:
            known = (unindented if mark[1] else places).get(mark[3], [])
            end = bisect_left(known, following)
            if end == len(known):
                break
            following = known[end] + 1
            ends.append(following)
        if len(ends) > 1 and len(ends) == len(marks):
            for mark in marks[1:]:
                before, rest = lines[at][: mark.start()], lines[at][mark.end() :]
                lines[at] = before + b" " * (mark.end() - mark.start()) + rest
            lines[ends[0] : ends[-1]] = [b" " * len(one) for one in lines[ends[0] : ends[-1]]]
        at = ends[-1] if ends else at + 1
    return b"\n".join(lines)


def tree_errors(root: Node) -> list[tuple[int, int, str]]:
    """Line and column (from 1) of what the grammar could not take, and what is missing there."""
    found: list[tuple[int, int, str]] = []
    waiting = [(root, 0)]
    while waiting and len(found) < 20:
        node, depth = waiting.pop()
        if node.is_missing:
            found.append((node.start_point.row + 1, node.start_point.column + 1, node.type))
        elif node.is_error:
            found.append((node.start_point.row + 1, node.start_point.column + 1, ""))
        elif node.has_error and depth < _DEEPEST:
            waiting += [(child, depth + 1) for child in reversed(node.children)]
    return sorted(found)
