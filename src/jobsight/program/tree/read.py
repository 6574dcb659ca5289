"""A program and the programs that it runs, read into one tree; nothing is run."""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from jobsight.errors import SourceError
from jobsight.program.languages import language_of
from jobsight.program.machine import Machine, read_source
from jobsight.program.shell.model import Source
from jobsight.program.tree.effects import Names
from jobsight.program.tree.ending import endless_parts
from jobsight.program.tree.grammars import LANGUAGES
from jobsight.program.tree.normalized import Tree
from jobsight.program.tree.reach import reach
from jobsight.program.tree.reader import Reader
from jobsight.text import printable

__all__ = ["read_program", "read_text"]

T = TypeVar("T", bound=np.generic)


def read_program(path: Path | str, site: Names | None = None) -> Tree:
    """The tree of a program's file, and of the programs that it runs.

    Args:
        path: of the file.
        site: effects of names that a site adds: language, effect, names parted by blanks.

    Raises:
        SourceError: it cannot be read, is not text, or in no language that has trees.
        SettingsError: `site` names a language or an effect that there is not.
    """
    path = Path(path)
    text = read_source(path).decode("utf-8", "replace")
    return read_text(text, os.path.relpath(path), folder=str(path.absolute().parent), site=site)


def read_text(
    text: str, name: str, *, language: str | None = None, folder: str = ".",
    site: Names | None = None, machine: Machine | None = None, arguments: Sequence[str] = (),
) -> Tree:  # fmt: skip
    """The tree of a program's text, as of `read_program`.

    Args:
        text: the program.
        name: of its file.
        language: None: as its name or its text says.
        folder: in which programs that it runs are looked for, next to the current one.
        site: as of `read_program`.
        machine: where these programs are; None: this one.
        arguments: of its command line, where they are known.

    Raises:
        SourceError: it is in no language that has trees.
        SettingsError: `site` names a language or an effect that there is not.
    """
    text = text.replace("\r\n", "\n").removeprefix("\ufeff")
    language = language or language_of(name, text)
    if language not in LANGUAGES:
        shown = f"{printable(name, 120)} is in {language}" if language else printable(name, 120)
        raise SourceError(f"{shown}: no language that is read; these are {', '.join(LANGUAGES)}")
    here = os.getcwd()  # noqa: PTH109
    machine = machine or Machine(None, (here, os.path.abspath(folder)))  # noqa: PTH100
    reader = Reader(machine, here, site)
    absolute = os.path.join(folder, os.path.basename(name))  # noqa: PTH118, PTH119
    reader.add(Source(name, text, folder=folder), language, absolute, arguments=arguments)
    tree = reader.grown()
    depth, runs, reached = reach(tree)
    endless = endless_parts(tree)

    def taken(numbers: bytearray | array[int], kind: type[T]) -> NDArray[T]:
        return np.frombuffer(numbers, kind)[: tree.count].copy()

    return Tree(
        taken(tree.kind, np.uint8), taken(tree.role, np.uint8), taken(tree.effect, np.uint8),
        taken(tree.parent, np.int32), taken(tree.end, np.int32), depth,
        taken(tree.lexical, np.uint8), taken(tree.size, np.uint8), runs, reached,
        taken(tree.line, np.int32), taken(tree.file, np.uint16), tuple(tree.files),
        tuple(tree.imports), tree.calls, tree.functions, tree.names, endless,
        tuple(tree.problems),
    )  # fmt: skip
