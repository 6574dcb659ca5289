"""A program and the programs that it runs, added to one growing tree; nothing is run.

Bounds: `_MOST_FILES` texts, `_DEEPEST` texts within each other, `visiting.MOST_NODES` nodes. What
they leave out, and cycles, are named in the tree's `problems`.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from jobsight.errors import SourceError
from jobsight.program.machine import Machine
from jobsight.program.shell.model import Command, Program, Source, Word
from jobsight.program.shell.walk import Walk, walk_script
from jobsight.program.tree.context import Context
from jobsight.program.tree.effects import Names, effects_of
from jobsight.program.tree.ending import endless_parts
from jobsight.program.tree.expressions import KnownValues
from jobsight.program.tree.grammars import LANGUAGES, grammar_of
from jobsight.program.tree.normalized import Endless, Growing
from jobsight.program.tree.visiting import MOST_NODES, add_text
from jobsight.program.tree.vocabulary import EFFECT_NUMBERS, KIND_NUMBERS
from jobsight.text import printable

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["Reader", "endless_in"]

_MOST_FILES, _DEEPEST = 64, 8
_LITERAL = re.compile(r"[a-zA-Z]{0,2}(\"\"\"|'''|\"|'|`|\[\[)?(.*?)(?:\1|\]\])?", re.DOTALL)


def endless_in(
    source: Source, language: str, walk: Walk, folder: str, path: str
) -> tuple[Endless, ...]:
    """Where a program whose commands are known already does not end by itself.

    Args:
        source: its text.
        language: of it.
        walk: of a shell script, its commands; of others, where files are looked up.
        folder: in which it starts.
        path: of its file.
    """
    reader = Reader(walk.machine, folder, None)
    reader.note(walk)
    reader.add(source, language, path)
    return endless_parts(reader.grown())


def _later(program: Program, commands: Mapping[tuple[int, int], Command]) -> tuple[Word, ...]:
    """The arguments of what a compiler makes of a program: ``cc -o a a.c``, then ``./a 10``."""
    words = [one.value or "" for one in program.command.words] if program.command else []
    made = words[words.index("-o") + 1 :] if "-o" in words else ["a.out"]
    name = os.path.basename(made[0]) if made else ""  # noqa: PTH119
    for one in commands.values():
        if name and one.words and os.path.basename(one.words[0].value or "") == name:  # noqa: PTH119
            return one.words[1:]
    return ()


class Reader:
    """Adds texts to one tree, each where it is run."""

    def __init__(self, machine: Machine, here: str, site: Names | None) -> None:
        self.tree = Growing()
        self.site, self.here, self.machine = site, here, machine
        self.chain: tuple[str, ...] = ()
        self.walks: dict[int, dict[tuple[int, int], Command]] = {}
        self.programs: dict[int, list[Program]] = {}
        self.kept: list[Walk] = []

    def add(
        self, source: Source, language: str, path: str | None, parent: int = -1, lexical: int = 0,
        arguments: Sequence[str | None] = (),
    ) -> None:  # fmt: skip
        """Add a text, unless it is being added already or a bound is reached."""
        if path is not None and path in self.chain:
            around = self.chain[self.chain.index(path) :]
            names = [PurePosixPath(one).name for one in (*around, path) if one]
            self._problem(" runs ".join(names))
            return
        tree = self.tree
        if len(self.chain) >= _DEEPEST or len(tree.files) >= _MOST_FILES or tree.full:
            place = f"{source.file}, line {source.first + 1}"
            self._problem(f"{place}: too many programs in each other")
            return
        if language == "bash" and id(source) not in self.walks:
            try:
                walk = walk_script(source, self.machine, self.here, path)
            except RecursionError:
                self._problem(f"{source.file} is nested too deep: what it runs is not followed")
                walk = Walk(self.machine)
            self.note(walk)
        before, self.chain = self.chain, (*self.chain, path or "")
        grammar, effects = grammar_of(language), effects_of(language, self.site)
        data = source.text.encode("utf-8", "replace")
        commands = self.walks.get(id(source), {})

        def launched(context: Context, call: int, node: Node) -> None:
            for program in self._run_by(context, call, node, source, commands):
                if program.source is not None and program.language in LANGUAGES:
                    words = [one.value for one in program.arguments or _later(program, commands)]
                    self.add(program.source, program.language, program.path, call,
                             tree.lexical[call], words)  # fmt: skip

        known = KnownValues(source.text, language, arguments)
        context = Context(tree, grammar, effects, data, source.first, launched, commands, known)
        try:
            add_text(context, source.file, parent, lexical)
        except SourceError as error:
            if parent < 0:
                raise
            self._problem(f"{source.file}: {error}")
        self.chain = before

    def _problem(self, text: str) -> None:
        if text not in self.tree.problems and len(self.tree.problems) < _MOST_FILES:
            self.tree.problems.append(printable(text, 300))

    def note(self, walk: Walk) -> None:
        """Remember the commands of shell scripts by their texts and places."""
        for command in walk.commands:
            place = (command.place.line, command.place.column)
            self.walks.setdefault(id(command.source), {}).setdefault(place, command)
        for program in walk.programs:
            self.programs.setdefault(id(program.command), []).append(program)
        for cycle in walk.cycles:
            self._problem(" runs ".join(cycle.files))
        self.kept.append(walk)  # what is known by its id must live

    def _run_by(
        self, context: Context, call: int, node: Node, source: Source,
        commands: dict[tuple[int, int], Command],
    ) -> Iterator[Program]:  # fmt: skip
        """The programs that a call runs."""
        if context.grammar.language == "bash":
            command = commands.get((node.start_point[0] + 1, node.start_point[1] + 1))
            yield from self.programs.get(id(command), ()) if command is not None else ()
        elif self.tree.kind[call] == KIND_NUMBERS["import"]:
            names = self.tree.texts.get(call, "").split()
            # Python modules next to the program; relative ones too
            for name in names:
                parts = name.lstrip(".").split(".")
                place = os.path.join(source.folder, *parts)  # noqa: PTH118
                outer = [f"{place.rpartition('/')[0]}.py"] if len(parts) > 1 else []
                for path in (f"{place}.py", f"{place}/__init__.py", *outer):
                    if (text := self.machine.text(path)) is not None:
                        shown = Source(os.path.relpath(path), text, folder=os.path.dirname(path))  # noqa: PTH120
                        yield Program(shown, "python", None, (), path)  # type: ignore[arg-type]
                        break
        elif self.tree.effect[call] == EFFECT_NUMBERS["launch"]:
            words = self._words(call, context.values.texts)
            if words:
                line = self.tree.line[call] - 1
                inner = Source(source.file, words, line, source.folder)
                self.add(inner, "bash", None, call, self.tree.lexical[call])

    def _words(self, call: int, texts: Mapping[str, str]) -> str:
        """The command that a call runs, as a shell would be given it.

        Args:
            call: its node.
            texts: what names stand for.
        """
        tree, words = self.tree, []
        apart = (tree.kind[call], KIND_NUMBERS["literal"])
        for node in range(call + 1, tree.end[call]):
            inner, name = tree.parent[node], tree.names.get(node, "")
            whole = tree.kind[inner] in apart
            if tree.kind[node] == KIND_NUMBERS["text"] and node in tree.texts:
                if tree.kind[inner] not in (KIND_NUMBERS["assign"], KIND_NUMBERS["text"]):
                    found = _LITERAL.fullmatch(tree.texts[node].strip())
                    words.append((found[2] if found else "", whole))
            elif name.endswith("sys.executable"):
                words.append(("python3", whole))
            elif whole and texts.get(name):
                words.append((texts[name], whole))
        if len(words) == 1:
            return words[0][0]
        return " ".join(shlex.quote(word) if whole else word for word, whole in words)

    def grown(self) -> Growing:
        """The tree, with a bound that was reached among its problems."""
        if self.tree.full:
            self._problem(f"more than {MOST_NODES} nodes: the rest is left out")
        return self.tree
