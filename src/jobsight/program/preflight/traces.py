"""What is there when each command of a script runs, and what may be."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from jobsight.program.preflight.job import Job
from jobsight.program.preflight.uses import BUILDS, HARMLESS, taken_away, uses_of
from jobsight.program.python import PythonText
from jobsight.program.shell.model import Command, Program, Word
from jobsight.program.shell.programs import COMPILERS
from jobsight.program.submission.job import Place
from jobsight.text import closest, wordlist

__all__ = ["Trace", "absent", "made_before", "near", "path_of", "said", "siblings", "text_here",
           "trace_of"]  # fmt: skip


@dataclass
class Trace:
    """What of the file system is known to have been made, command by command."""

    made: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    """Made by mkdir: empty at first."""
    gone: set[str] = field(default_factory=set)
    """Removed, renamed or packed, and surely not made again."""
    built: bool = False
    """Something ran that may have made programs and files of any name."""
    opaque: bool = False
    """A program ran whose text is not known: it may have made data."""
    blurred: bool = False
    """A file was written whose name is not known."""
    unnamed: bool = False
    """A folder was made whose name is not known."""

    def may_be_there(self, path: str, *, program: bool = False) -> bool:
        """Whether something before may have made it."""
        unsure = self.opaque or self.blurred or self.unnamed
        if self.built or (unsure and not program):
            return True
        if path in self.folders:
            return True
        return any(path == one or path.startswith(f"{one}/") for one in self.made)


def path_of(word: Word | str, folder: str | None, job: Job) -> str | None:
    """The absolute path that a word names; None: unknown, or several."""
    word = Word(word, word, Place(1)) if isinstance(word, str) else word
    value = word.value
    if not value or word.is_glob or "\n" in value or value.startswith(("-", "~")) or ":" in value:
        return None
    if not value.startswith("/") and folder is None:
        return None
    path = os.path.normpath(os.path.join(folder or "/", value))  # noqa: PTH118
    return job.machine.resolve(path)


def text_here(word: Word | str, folder: str | None, job: Job) -> str | None:
    """The text of a file that a word names, and that the script does not write; None: unknown."""
    path = path_of(word, folder, job)
    return job.machine.text(path) if path and path not in job.walk.made else None


def trace_of(job: Job) -> Iterator[tuple[Command, Trace]]:
    """Each command with what was made before it."""
    trace = Trace()
    for command in job.commands:
        yield command, trace
        for use in uses_of(command):
            for word in _each(use.word, command) if use.kind in ("write", "make") else ():
                path = path_of(word, command.folder, job) or _prefix(word, command.folder)
                if use.kind == "make" and path is not None and not word.is_glob:
                    parts = path.split("/")
                    trace.folders |= {"/".join(parts[:k]) for k in range(2, len(parts) + 1)}
                    trace.gone -= trace.folders
                elif path is not None:
                    trace.made.add(path)
                    trace.gone.discard(path)
                else:
                    trace.gone.clear()
                    trace.blurred = trace.blurred or use.kind == "write"
                    trace.unnamed = trace.unnamed or use.kind == "make"
        _note_program(command, job.program_of.get(id(command)), trace, job)
        for word in taken_away(command):
            if (path := path_of(word, command.folder, job)) is not None:
                trace.gone.add(path)


def made_before(job: Job) -> dict[int, set[str]]:
    """Paths written before each command that runs a program, by the `id` of the command."""
    return {id(one): set(trace.made) for one, trace in trace_of(job) if id(one) in job.program_of}


def _each(word: Word, command: Command) -> Iterator[Word]:
    """What a word is in each round of a loop over known words; itself elsewhere."""
    values = [word.text.strip("\"'")] if word.value is None else []
    for loop in command.loops:
        for name in loop.names if loop.values else ():
            form = re.compile(rf"\$(?:{name}\b|\{{{name}\}})")
            values = [form.sub(lambda _, v=one: v, text) for text in values for one in loop.values]  # type: ignore[misc]
    if not values or any("$" in one or "`" in one for one in values):
        yield word
    else:
        yield from (word._replace(value=one, text=one) for one in dict.fromkeys(values))


def _prefix(word: Word, folder: str | None) -> str | None:
    """The folder before the first sign of a pattern: what is made is below it."""
    front = re.split(r"[*?\[{$]", (word.value or "").strip('"'))[0].rpartition("/")[0]
    if not word.is_glob or not front or folder is None:
        return None
    return os.path.normpath(os.path.join(folder, front))  # noqa: PTH118


def _note_program(command: Command, program: Program | None, trace: Trace, job: Job) -> None:
    name = command.bare
    if name not in HARMLESS and not COMPILERS.fullmatch(name):
        trace.gone.clear()
    if id(command) in job.walk.expanded:
        return  # its recipes are in the walk
    if name == "make" and {one.text for one in command.arguments} <= {"clean", "distclean", "-s"}:
        trace.built = trace.built or not command.arguments
    elif name in BUILDS:
        trace.built = trace.built or not _plain_copy(name, command)
    elif program is not None and program.language == "bash" and program.source is not None:
        return  # its commands are in the walk
    elif program is not None and program.language == "python" and program.source is not None:
        text = next((t for p, t in job.pythons if p.source is program.source), None)
        text = text or PythonText(program.source.text)
        trace.opaque = trace.opaque or text.may_write
        for one in text.opened:
            if command.folder is not None and set("wax+") & set(one.mode):
                front, unknown, _ = one.path.partition("{")
                name = front.rpartition("/")[0] if unknown else front
                trace.blurred = trace.blurred or not name
                trace.made.add(os.path.normpath(os.path.join(command.folder, name)))  # noqa: PTH118
    elif COMPILERS.fullmatch(name):
        return
    elif name not in HARMLESS and command.words and name not in job.walk.functions:
        trace.opaque = True
    for word in command.arguments:
        path = path_of(word, command.folder, job)
        if path is not None and name not in HARMLESS:
            trace.made.add(path)


def _plain_copy(name: str, command: Command) -> bool:
    """Whether a command makes nothing but what its words name: ``cp``, ``mv``, ``tar -c``."""
    words = command.arguments
    if name == "tar" and words and re.match(r"-?\w*c|--create", words[0].text):
        return True
    sure = all(one.text not in ("-t", "--target-directory") for one in words)
    return name in ("cp", "mv") and sure and bool(words) and words[-1].value is not None


def absent(path: str | None, trace: Trace, job: Job, *, program: bool = False) -> bool:
    """Whether a path surely is not there when the command runs."""
    if path in trace.gone:
        return True
    if path is None or job.machine.exists(path) or trace.may_be_there(path, program=program):
        return False
    own = [one for one in (job.folder, job.source.folder) if job.machine.is_folder(one)]
    if path.startswith(tuple(f"{one}/" for one in own)):
        return True
    return not path.startswith(_OF_NODES) and job.machine.visible(path)


_OF_NODES = wordlist(
    "/dev/ /etc/ /proc/ /sys/ /tmp/ /usr/share/ /var/tmp/ /usr/sbin/ /sbin/ /usr/local/ /usr/lib"
)
"""Folders of which nodes may have more than the machine that jobs are submitted from."""


def near(path: str) -> str | None:
    """A file in the same folder with nearly that name."""
    return closest(os.path.basename(path), siblings(path), 0.75)  # noqa: PTH119


def said(path: str, word: Word) -> tuple[str, str | None]:
    """That a path is not there, and what is meant perhaps."""
    other = near(path)
    return f"{word.value} is not there", None if other is None else f"is it {other}?"


def siblings(path: str) -> list[str]:
    """The names in the folder of a path."""
    try:
        return os.listdir(os.path.dirname(path))[:2000]  # noqa: PTH120, PTH208
    except OSError:
        return []
