"""Findings, the rules that make them, and the comments that silence them.

A rule is a function that yields a `Hit` for each place where it applies. It is registered with its
code, title and severity; ``examples.toml`` has a job that it finds fault with and one that it does
not; tests run both. Codes: JS0xx syntax, JS1xx what is not there, JS2xx requests, JS3xx logic,
JS4xx HTCondor; JS5xx, from history, are in `jobsight.questions.fail.checks`.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple, Protocol

from jobsight.program.shell.model import Source
from jobsight.program.submission.job import Place, Problem

__all__ = [
    "RULES",
    "Edit",
    "Finding",
    "Hit",
    "Kind",
    "Placed",
    "Rule",
    "Severity",
    "hit",
    "hits_of",
    "reported",
    "rule",
    "silenced",
]

Severity = Literal["error", "warning"]
Kind = Literal["script", "condor", "dag", "history", "limit"]


class Edit(NamedTuple):
    """A safe change: a line's text (None: the whole file's) replaced, or a folder made."""

    line: int | None
    old: str
    new: str
    folder: str | None = None


class Placed(Protocol):
    """What has a place in a text: a word, a setting, a command."""

    @property
    def place(self) -> Place:
        """Where it is."""


class Hit(NamedTuple):
    """What a rule found, see `hit`."""

    source: Source | None
    place: Place
    message: str
    fix: str | None = None
    severity: Severity | None = None
    edit: Edit | None = None


def hit(
    at: Placed | Place | int | re.Match[str] | ast.stmt | ast.expr, message: str,
    fix: str | None = None, *, severity: Severity | None = None,
    edit: Edit | None = None, source: Source | None = None,
) -> Hit:  # fmt: skip
    """What a rule found.

    Args:
        at: where: what has a place, a line, a match in the text, or a node of a Python program.
        message: what happens.
        fix: what to write instead.
        severity: where it is not the rule's.
        edit: what ``--fix`` does.
        source: the text it is in; None: that of the command, else that of the file.
    """
    if isinstance(at, int):
        place = Place(at)
    elif isinstance(at, re.Match):
        place = Place(at.string.count("\n", 0, at.start()) + 1)
    elif isinstance(at, ast.AST):
        place = Place(at.lineno, at.col_offset + 1)
    else:
        place = at if isinstance(at, Place) else at.place
    return Hit(source or getattr(at, "source", None), place, message, fix, severity, edit)


def reported(
    problems: Iterable[Problem], *kinds: str, severity: Severity | None = None
) -> Iterator[Hit]:
    """What a parser could not take, of some kinds."""
    chosen = (one for one in problems if one.kind in kinds)
    return (hit(one, one.message, one.fix, severity=severity) for one in chosen)


class Finding(NamedTuple):
    """A hit of a rule, as it is printed; lines and columns count from 1."""

    file: str
    line: int
    column: int
    severity: Severity
    code: str
    message: str
    fix: str | None = None
    edit: Edit | None = None

    def to_json(self) -> dict[str, Any]:
        """The finding for machines."""
        return {name: getattr(self, name) for name in self._fields if name != "edit"}


@cache
def _examples() -> dict[str, dict[str, str]]:
    text = files("jobsight.program.preflight").joinpath("examples.toml").read_text("utf-8")
    return tomllib.loads(text)


class Rule(NamedTuple):
    """A rule with its documentation.

    Attributes:
        examples: of a fault and without it, where ``examples.toml`` has none: a file, or several,
            each behind a line ``=== name``.
    """

    code: str
    severity: Severity
    title: str
    kind: Kind
    check: Callable[[Any], Iterable[Hit]]
    examples: tuple[str, str] | None = None

    @property
    def fails(self) -> str:
        """An example with the fault."""
        return self.examples[0] if self.examples else _examples()[self.code]["fails"]

    @property
    def passes(self) -> str:
        """An example without it."""
        return self.examples[1] if self.examples else _examples()[self.code]["passes"]


RULES: dict[str, Rule] = {}
"""All rules by their codes."""

_Check = Callable[[Any], Iterable[Hit]]


def rule(
    name: str, *, fails: str = "", passes: str = "", severity: Severity = "error",
    kind: Kind = "script",
) -> Callable[[_Check], _Check]:  # fmt: skip
    """Register a function as a rule; its name: code and title."""
    code, _, title = name.partition(" ")

    def registered(check: _Check) -> _Check:
        assert code not in RULES, code
        own = (fails, passes) if fails else None
        RULES[code] = Rule(code, severity, title, kind, check, own)
        return check

    return registered


def hits_of(kind: Kind, subject: Any, file: str, code: str = "") -> Iterator[Finding]:
    """The findings of all rules of a kind, or of those whose code begins with `code`."""
    for one in RULES.values():
        if one.kind != kind or not one.code.startswith(code):
            continue
        for found in one.check(subject):
            source, first = (found.source.file, found.source.first) if found.source else (file, 0)
            yield Finding(
                source, found.place.line + first, found.place.column,
                found.severity or one.severity, one.code, found.message, found.fix, found.edit,
            )  # fmt: skip


_SILENT = re.compile(r"#\s*jobsight:\s*ignore(?:\[([\w,\s]+)\])?")


def silenced(text: str) -> dict[int, frozenset[str] | None]:
    """By line: the codes that a comment silences there (None: all).

    A comment that has a line to itself is for the next line too.
    """
    found: dict[int, frozenset[str] | None] = {}
    for number, line in enumerate(text.split("\n"), 1):
        comment = _SILENT.search(line)
        if comment is not None:
            codes = None if comment[1] is None else frozenset(re.findall(r"\w+", comment[1]))
            found[number] = codes
            if line.lstrip().startswith("#"):
                found[number + 1] = codes
    return found
