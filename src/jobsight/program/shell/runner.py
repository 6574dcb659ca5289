"""What a shell script does, command by command, and what each changes for those that follow.

Bounds: `_DEEPEST` texts within each other, `_MOST_CALLS` calls of one function.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from jobsight.program.machine import Machine
from jobsight.program.shell.launchers import strip_launchers
from jobsight.program.shell.makefiles import make_call, read_makefile
from jobsight.program.shell.model import Command, Environment, Loop, Program, Redirect, Source, Word
from jobsight.program.shell.programs import compiled_by, program_of
from jobsight.program.shell.words import Value, here_text, word_of
from jobsight.program.submission.job import Place
from jobsight.text import wordlist

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["Cycle", "Runner", "State", "Walk", "positional"]

_DEEPEST = 8
_MODULES = frozenset({"module", "ml"})
_MOST_CALLS = 4
"""Calls of one function that are walked."""


@dataclass(frozen=True, eq=False)
class Cycle:
    """Scripts that run each other without end: their names, and the command that closes it."""

    files: tuple[str, ...]
    command: Command


@dataclass
class State:
    """What variables, folder, environment and options are at a command."""

    variables: dict[str, Value]
    folder: str | None
    environment: Environment
    exported: dict[str, str | None] = field(default_factory=dict)
    functions: dict[str, tuple[Node, Source]] = field(default_factory=dict)
    options: dict[str, bool] = field(default_factory=dict)

    def copy(self) -> State:
        """Another that can change apart from it."""
        return replace(
            self, variables=dict(self.variables), exported=dict(self.exported),
            functions=dict(self.functions), options=dict(self.options),
        )  # fmt: skip


def positional(variables: dict[str, Value], words: Iterable[Word] = ()) -> dict[str, Value]:
    """Put words in the place of ``$1``, ``$2`` …; returns those that were known before."""
    before = {name: variables.pop(name) for name in [*variables] if name.isdecimal()}
    variables.update({str(at): Value(w.value, w.depends) for at, w in enumerate(words, 1)})
    return before


@dataclass
class Walk:
    """What a script does, in order.

    Attributes:
        machine: where files are looked up.
        commands: simple commands.
        programs: texts in any language that they run, shell scripts too.
        cycles: of scripts that run each other.
        sources: shell texts that were walked.
        made: texts that the script writes itself, by path.
        assigned: names that are given a value anywhere.
    """

    machine: Machine
    commands: list[Command] = field(default_factory=list)
    programs: list[Program] = field(default_factory=list)
    cycles: list[Cycle] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    made: dict[str, Source] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    called: dict[str, int] = field(default_factory=dict)
    read: list[tuple[Word, Source, bool]] = field(default_factory=list)
    """Words that are assigned, and whether ``set -u`` is in force."""
    unreached: list[tuple[Source, Place, str]] = field(default_factory=list)
    """What comes after an ``exec`` that replaces the shell."""
    venvs: set[str] = field(default_factory=set)
    """Python environments that it makes, with none but their own packages."""
    expanded: set[int] = field(default_factory=set)
    """Calls of make, by their `id`, whose recipes are among the commands."""
    complete: bool = True
    """Nothing was left out because of a bound."""


class Runner:
    """Keeps commands, follows what they run, and applies what they change.

    `run` and `visit`, which read the syntax tree, are those of the class that is made of it.
    """

    def __init__(self, walk: Walk, source: Source, state: State, chain: tuple[str, ...]) -> None:
        self.walk = walk
        self.source = source
        self.state = state
        self.chain = chain
        self.context: dict[str, bool] = {}
        self.loops: tuple[Loop, ...] = ()
        self.ended = False
        self.depth = 0
        self.calling: tuple[str, ...] = ()
        self.pending: list[Node] = []
        self.left_by = ""

    @contextmanager
    def within(self, **context: bool) -> Iterator[None]:
        """A part of the script; a flag that is set stays set below."""
        before = self.context
        self.context = {**before, **{name: True for name, value in context.items() if value}}
        try:
            yield
        finally:
            self.context = before

    def assign(self, name: str, value: Value) -> None:
        """A variable gets a value."""
        self.state.variables[name] = value
        self.walk.assigned.add(name)
        if name in self.state.exported:
            self.state.exported[name] = value.text
        if name == "PATH":
            self.state.environment = replace(self.state.environment, path=value.text)
        if name == "LD_LIBRARY_PATH" or name == "PYTHONPATH":
            self.state.environment = replace(self.state.environment, opaque=True)

    def unnamed_variable(self) -> None:
        """A variable is set whose name is not known here: from now on any may be."""
        self.state.environment = replace(self.state.environment, opaque=True)

    def place(self, node: Node) -> Place:
        """Where a node begins."""
        return Place(node.start_point.row + 1, node.start_point.column + 1)

    def record(
        self, words: tuple[Word, ...], redirects: list[Node], place: Place,
        assigned: dict[str, str | None] | None = None,
    ) -> None:  # fmt: skip
        """Add a command, follow what it runs, and apply what it changes."""
        # `cat <<EOF > file` hangs the second redirection on the first.
        inner = [one for redirect in redirects for one in redirect.children]
        redirects = [*redirects, *(one for one in inner if one.type == "file_redirect")]
        state = self.state
        stripped = strip_launchers(words)
        here = self.here(redirects)
        leads = self.leads(redirects)
        context = {name: self.context.get(name, False) for name in
                   ("conditional", "checked", "background", "piped", "substituted")}  # fmt: skip
        names = ("errexit", "pipefail", "nounset")
        options = {name: state.options.get(name, False) for name in names}
        fed = self.context.get("fed", False) or here is not None or any(
            one.operator in ("<", "<<<") for one in leads
        ) or any(one.type.startswith("here") for one in redirects)  # fmt: skip
        command = Command(
            self.source, stripped.words, leads, place, state.environment, state.folder,
            stripped.launchers, {**state.exported, **(assigned or {}), **stripped.assigned},
            self.loops, fed=fed,
            contained=stripped.contained or self.context.get("contained", False),
            here=here, timed=self.context.get("timed", False) or any(
                one.name == "timeout" for one in stripped.launchers),
            **context, **options,
        )  # fmt: skip
        self.walk.commands.append(command)
        self.keep_here(command)
        self.follow(command)
        self.effects(command)

    def leads(self, redirects: list[Node]) -> tuple[Redirect, ...]:
        """Where redirections lead."""
        return tuple(
            Redirect(next((c.type for c in one.children if not c.is_named), ">"),
                     word_of(target, self.state.variables))
            for one in redirects
            if one.type == "file_redirect"
            and (target := one.child_by_field_name("destination")) is not None
        )  # fmt: skip

    def here(self, redirects: list[Node]) -> Source | None:
        """The text of a here-document."""
        for one in redirects:
            if one.type == "heredoc_redirect":
                found = here_text(one, self.state.variables)
                if found is not None:
                    text, first, exact = found
                    return Source(self.source.file, text, self.source.first + first,
                                  self.source.folder, exact)  # fmt: skip
        return None

    def keep_here(self, command: Command) -> None:
        """``cat > file <<EOF`` writes a text that may be run later."""
        for one in command.redirects:
            path = self.path_of(one.target)
            if path and one.operator in (">", ">|") and command.here and command.name == "cat":
                self.walk.made[path] = command.here

    def path_of(self, word: Word) -> str | None:
        """The absolute path that a word names; None: it depends on something unknown.

        A word of unknown parts stands for itself, so that ``$OUT/x`` written is ``$OUT/x`` read.
        """
        if word.value is None:
            bare = re.sub(r"\$\{(\w+)\}", r"$\1", word.text.strip('"'))
            return f"\0{bare}" if "$(" not in word.text else None
        if not word.value or self.state.folder is None:
            return word.value if word.value.startswith("/") else None
        path = os.path.normpath(os.path.join(self.state.folder, word.value))  # noqa: PTH118
        return self.walk.machine.resolve(path)

    def follow(self, command: Command) -> None:
        """Walk the function, the sourced file or the script that a command runs."""
        name = command.name
        if name in self.state.functions and name not in self.calling and not command.launchers:
            body, source = self.state.functions[name or ""]
            self.walk.called[name or ""] = self.walk.called.get(name or "", 0) + 1
            if self.walk.called[name or ""] > _MOST_CALLS:
                return
            before = (self.calling, self.source, self.context, self.loops)
            outer = positional(self.state.variables, command.arguments)
            self.calling, self.source = (*self.calling, name or ""), source
            self.visit(body)
            self.calling, self.source, self.context, self.loops = before
            positional(self.state.variables)
            self.state.variables.update(outer)
            return
        if name in ("source", ".") and command.arguments:
            self.follow_source(command)
            return
        if name in ("make", "gmake") and not command.contained:
            self.follow_make(command)
            return
        self.walk.programs += compiled_by(command, self.walk.made, self.walk.machine, self.path_of)
        program = program_of(command, self.walk.made, self.walk.machine, self.path_of)
        if program is None:
            return
        self.walk.programs.append(program)
        if program.language == "bash" and program.source is not None and not command.contained:
            with self.within(timed=command.timed):
                inner = self.state.copy()
                named = any(re.fullmatch(r"-\w*c", one.text) for one in command.arguments[:2])
                each = {"xargs", "parallel"} & {one.name for one in command.launchers}
                positional(inner.variables, () if each else program.arguments[named:])
                self.child(program.source, program.path, command, inner)

    def follow_source(self, command: Command) -> None:
        """Walk a sourced file, or enter a Python environment."""
        path = self.path_of(command.arguments[0])
        text = self.walk.machine.text(path) if path else None
        known = self.walk.made.get(path or "")
        environment = self.state.environment
        venv = str(PurePosixPath(path or "").parent.parent)
        fresh = venv in self.walk.venvs
        if path and PurePosixPath(path).match("bin/activate") and (fresh or text is not None):
            paths = None if environment.path is None else f"{venv}/bin:{environment.path}"
            self.state.environment = replace(environment, venv=venv, path=paths, fresh=fresh)
        elif path and (known or (text is not None and not path.startswith("/etc"))):
            shown = os.path.relpath(self.walk.machine.real(path)) if known is None else ""
            source = known or Source(shown, text or "", folder=str(PurePosixPath(path).parent))
            self.child(source, path, command, self.state)
        else:
            self.state.environment = replace(environment, opaque=True, path=None)

    def follow_make(self, command: Command) -> None:
        """Walk the recipes of a call of make, if it is known which they are."""
        call, machine = make_call(command), self.walk.machine
        folder = self.path_of(call.folder) if call.folder else self.state.folder
        path, source = call.found(folder or "\0", self.walk.made, machine)
        words = [one.value for one in call.targets]
        if source is None or folder is None or None in words:
            return
        makefile = read_makefile(source.text, call.values)

        def exists(name: str) -> bool:
            return machine.exists(f"{folder}/{name}") or f"{folder}/{name}" in self.walk.made

        recipes = makefile.recipes((one for one in words or makefile.default if one), exists)
        for target, text in recipes or ():
            one = replace(source, text=text, exact=False)
            state = self.state.copy()
            state.folder, state.functions, state.options = folder, {}, {"errexit": True}
            with self.within(conditional=exists(target)):
                self.child(one, f"{path}:{target}", command, state)
        if recipes is not None:
            self.walk.expanded.add(id(command))

    def child(self, source: Source, path: str | None, command: Command, state: State) -> None:
        """Walk another text, unless it is being walked already."""
        if path is not None and path in self.chain:
            names = (*self.chain[self.chain.index(path) :], path)
            self.walk.cycles.append(Cycle(tuple(PurePosixPath(one).name for one in names), command))
            return
        if len(self.chain) >= _DEEPEST:
            self.walk.complete = False
            return
        walker = type(self)(self.walk, source, state, (*self.chain, path or ""))
        walker.context = {name: value for name, value in self.context.items() if value}
        walker.loops = self.loops
        walker.run()

    def effects(self, command: Command) -> None:
        """What a builtin changes for the commands that follow."""
        state, name, words = self.state, command.name, command.arguments
        opens = re.match(r"\{\w+(?:\[.*\])?\}$", command.words[0].text if command.words else "")
        replaced = not opens and any(one.name == "exec" for one in command.launchers)
        if replaced and not self.context.get("conditional"):
            inner = self.context.get("background") or self.calling
            self.ended, self.left_by = True, "" if inner else "exec"
        texts = [one.text for one in words]
        bare = texts[:2] == ["-m", "venv"] and "--system-site-packages" not in texts
        bare = bare and not self.context.get("conditional")  # else it may be there, with packages
        if bare and (name or "").startswith("python") and (made := self.path_of(words[-1])):
            self.walk.venvs.add(made)
        if name in ("cd", "pushd"):
            target = words[0] if words else None
            if target is not None and target.value and not target.value.startswith("-"):
                state.folder = self.path_of(target)
            else:
                state.folder = None
            state.variables["PWD"] = Value(state.folder)
        elif name == "popd":
            state.folder = None
        elif name == "set":
            _set_options(state.options, [word.text for word in words])
            if "--" in texts or (texts and texts[0][:1] not in ("-", "+")):
                positional(state.variables)
        elif name == "shift":
            positional(state.variables)
        elif name == "exit" and not self.context.get("conditional") and not self.calling:
            self.ended, self.left_by = True, "exit"
        elif name in _MODULES:
            self.modules(words)
        elif name in ("read", "mapfile", "readarray", "getopts", "printf"):
            for word in words:
                if re.fullmatch(r"\w+", word.text):
                    self.assign(word.text, Value(None, frozenset({"read"})))
            if name == "printf" and words and words[0].text == "-v" and words[1].value is None:
                self.unnamed_variable()
        elif name in wordlist("eval spack conda mamba micromamba pyenv easybuild"):
            state.environment = replace(state.environment, opaque=True, path=None)

    def modules(self, words: tuple[Word, ...]) -> None:
        """What ``module`` loads."""
        environment = self.state.environment
        plain = [word for word in words if not word.text.startswith("-")]
        verb = plain[0].text if plain else ""
        if verb in ("load", "add", "restore", "try-load"):
            loaded = tuple(plain[1:])
        elif verb in ("purge", "list", "avail", "unload", "rm", "show", "use", "swap", "spider"):
            loaded = ()
        else:
            loaded = tuple(plain)  # ml gcc
        opaque = environment.opaque or verb in ("restore", "swap")
        kept = () if verb == "purge" else environment.modules
        self.state.environment = replace(environment, modules=(*kept, *loaded), opaque=opaque)

    def run(self) -> None:
        """Walk the source."""
        raise NotImplementedError

    def visit(self, node: Node) -> None:
        """Walk a part of it."""
        raise NotImplementedError


def _set_options(options: dict[str, bool], words: list[str]) -> None:
    """``set -euo pipefail``, ``set +e``."""
    short = {"e": "errexit", "u": "nounset"}
    for at, word in enumerate(words):
        if re.fullmatch(r"[-+][a-zA-Z]+", word):
            for letter in word[1:]:
                if letter in short:
                    options[short[letter]] = word[0] == "-"
            if word.endswith("o") and at + 1 < len(words):
                options[words[at + 1]] = word[0] == "-"
