"""Commands of shell scripts, with the words, folder and environment they have when they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple

from jobsight.program.submission.job import Place

__all__ = ["Command", "Environment", "Launcher", "Loop", "Program", "Redirect", "Source", "Word"]


@dataclass(frozen=True, eq=False)
class Source:
    """A text that is checked: a file, or a here-document in one.

    Attributes:
        file: what findings name.
        text: its own.
        first: line of the file before its first.
        folder: that of the file.
        exact: whether nothing in it is filled in when the job runs.
    """

    file: str
    text: str
    first: int = 0
    folder: str = "."
    exact: bool = True


class Word(NamedTuple):
    """A word of a command.

    Attributes:
        text: as written.
        value: what it becomes; None: that is not known.
        place: where it is in its source.
        depends: variables that it is made of and that are unknown; ``$(`` for a command's output.
        quoted: whether it has quotes.
    """

    text: str
    value: str | None
    place: Place
    depends: frozenset[str] = frozenset()
    quoted: bool = False

    @property
    def is_glob(self) -> bool:
        """Whether the shell looks for files that match it."""
        return not self.quoted and any(character in self.text for character in "*?[{")


class Redirect(NamedTuple):
    """``> file``: the operator without its descriptor, and where it leads."""

    operator: str
    target: Word


class Loop(NamedTuple):
    """A loop around a command.

    Attributes:
        place: of its first word.
        times: how often it runs, None: unknown.
        endless: its condition is always true, and nothing in it leaves it.
        names: variables that it sets.
        values: words that its one variable gets in turn; empty: not known.
    """

    place: Place
    times: int | None
    endless: bool
    names: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


class Launcher(NamedTuple):
    """What starts a command: its name and its options with their values."""

    name: str
    options: Mapping[str, str]
    place: Place


@dataclass(frozen=True)
class Environment:
    """What the script made of its environment until a command.

    Attributes:
        path: folders of programs; None: unknown.
        modules: loaded ones.
        venv: folder of the Python environment in use.
        fresh: this environment was made by the script, with no packages in it.
        opaque: something was sourced, loaded or activated whose effects are not known.
    """

    path: str | None
    modules: tuple[Word, ...] = ()
    venv: str | None = None
    fresh: bool = False
    opaque: bool = False


@dataclass(frozen=True, eq=False)
class Command:
    """A simple command; `words` begin with the program that does the work."""

    source: Source
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]
    place: Place
    environment: Environment
    folder: str | None
    """The current folder; None: unknown."""
    launchers: tuple[Launcher, ...] = ()
    assigned: Mapping[str, str | None] = field(default_factory=dict)
    """Exported variables that are known, and those set for it alone."""
    loops: tuple[Loop, ...] = ()
    conditional: bool = False
    """It may not run."""
    checked: bool = False
    """Its exit status is looked at: a condition, ``!``, the left side of ``||``."""
    background: bool = False
    piped: bool = False
    """Its output goes to another command."""
    substituted: bool = False
    """It is in ``$(…)``."""
    fed: bool = False
    """Its input comes from another command or a here-document."""
    contained: bool = False
    """It runs in a container, or on another machine."""
    timed: bool = False
    """``timeout`` ends it."""
    errexit: bool = False
    pipefail: bool = False
    nounset: bool = False
    here: Source | None = None
    """The here-document on its standard input."""

    @property
    def name(self) -> str | None:
        """The program; None: unknown."""
        return self.words[0].value if self.words else None

    @property
    def bare(self) -> str:
        """The program without its folder, "" where it is not known."""
        return PurePosixPath(self.name or "").name

    @property
    def arguments(self) -> tuple[Word, ...]:
        """What follows the program."""
        return self.words[1:]


@dataclass(frozen=True, eq=False)
class Program:
    """A text in some language that a command runs.

    Attributes:
        source: its text; None: it is not here.
        language: None: unknown.
        command: that runs it.
        arguments: of the program.
        path: None: it is on standard input or in the command.
        word: that names it.
        imported: it is a module of the program.
    """

    source: Source | None
    language: str | None
    command: Command
    arguments: tuple[Word, ...] = ()
    path: str | None = None
    word: Word | None = None
    interpreter: str | None = None
    imported: bool = False
