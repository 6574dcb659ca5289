"""A shell script walked in the order in which it runs; what it sources and runs is followed.

Bounds: `_MOST_SOURCES` texts, `_DEEPEST` of them within each other, `_MOST_COMMANDS` commands.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from jobsight.program.languages import syntax_tree
from jobsight.program.machine import Machine
from jobsight.program.shell.launchers import strip_launchers
from jobsight.program.shell.loops import is_endless, loop_names, loop_times
from jobsight.program.shell.model import Command, Environment, Loop, Program, Redirect, Source, Word
from jobsight.program.shell.programs import compiled_by, program_of
from jobsight.program.shell.words import Value, evaluate, here_text, names_in, text_of, word_of
from jobsight.program.submission.job import Place

if TYPE_CHECKING:
    from tree_sitter import Node

from jobsight.text import wordlist

__all__ = ["Cycle", "Walk", "walk_script"]

_MOST_SOURCES, _DEEPEST, _MOST_COMMANDS, _DEEPEST_TREE = 64, 8, 5000, 150
_MODULES = frozenset({"module", "ml"})
_MOST_CALLS = 4
"""Calls of one function that are walked."""
_GOES_ON = frozenset(wordlist("mkdir cd module source . export rm touch echo ml"))
"""Commands that succeed, so that what follows ``&&`` runs."""


_SETS = re.compile(
    r"\b([A-Za-z_]\w*)\+?=|\b(?:for|read(?: -\w+)*|local|declare|mapfile(?: -\w+)*) (\w+)"
)


@dataclass(frozen=True, eq=False)
class Cycle:
    """Scripts that run each other without end: their names, and the command that closes it."""

    files: tuple[str, ...]
    command: Command


@dataclass
class _State:
    variables: dict[str, Value]
    folder: str | None
    environment: Environment
    exported: dict[str, str | None] = field(default_factory=dict)
    functions: dict[str, tuple[Node, Source]] = field(default_factory=dict)
    options: dict[str, bool] = field(default_factory=dict)

    def copy(self) -> _State:
        return replace(
            self, variables=dict(self.variables), exported=dict(self.exported),
            functions=dict(self.functions), options=dict(self.options),
        )  # fmt: skip


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
    unreached: list[tuple[Source, Place]] = field(default_factory=list)
    """What comes after an ``exec`` that replaces the shell."""
    complete: bool = True
    """Nothing was left out because of a bound."""


def walk_script(source: Source, machine: Machine, folder: str, path: str | None = None) -> Walk:
    """Walk a script.

    Args:
        source: it.
        machine: where files and programs are looked up.
        folder: in which it starts.
        path: of its file, to notice that it runs itself.
    """
    walk = Walk(machine)
    given = {"PWD": folder, "SLURM_SUBMIT_DIR": folder, "PATH": machine.path}
    variables = {name: Value(value) for name, value in given.items()}
    state = _State(variables, folder, Environment(machine.path))
    first = source.text.partition("\n")[0]
    if re.match(r"#!\S*sh\b.* -\w*e", first):
        state.options["errexit"] = True
    _Walker(walk, source, state, (path or source.file,)).run()
    return walk


class _Walker:
    def __init__(self, walk: Walk, source: Source, state: _State, chain: tuple[str, ...]) -> None:
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
        self.replaced = False

    def run(self) -> None:
        if len(self.walk.sources) >= _MOST_SOURCES:
            self.walk.complete = False
            return
        self.walk.sources.append(self.source)
        self.walk.assigned |= {one[1] or one[2] for one in _SETS.finditer(self.source.text)}
        root = syntax_tree("bash", self.source.text.encode("utf-8", "replace"))
        self.statements(root.children)

    def statements(self, nodes: list[Node]) -> None:
        for at, node in enumerate(nodes):
            if self.ended:
                if self.replaced and node.is_named and node.type != "comment":
                    self.walk.unreached.append((self.source, self.place(node)))
                    self.replaced = False
                return
            following = nodes[at + 1].type if at + 1 < len(nodes) else ""
            with self.within(background=following == "&"):
                self.visit(node)

    def visit(self, node: Node) -> None:
        if self.depth > _DEEPEST_TREE or len(self.walk.commands) >= _MOST_COMMANDS:
            self.walk.complete = False
            return
        if not node.is_named or node.type == "comment" or node.is_error:
            return
        self.depth += 1
        handler = getattr(self, f"on_{node.type}", None)
        if handler is not None:
            handler(node)
        else:
            self.statements(node.children)
        self.depth -= 1

    @contextmanager
    def within(self, **context: bool) -> Iterator[None]:
        """A part of the script; a flag that is set stays set below."""
        before = self.context
        self.context = {**before, **{name: True for name, value in context.items() if value}}
        try:
            yield
        finally:
            self.context = before

    @contextmanager
    def perhaps(self, because: frozenset[str] = frozenset()) -> Iterator[None]:
        """What may not run: what it changes is unknown afterwards, and depends on the condition."""
        before, ended = self.state.copy(), self.ended
        with self.within(conditional=True):
            yield
        self.ended = ended
        state = self.state
        for name in state.variables.keys() | before.variables.keys():
            old, new = before.variables.get(name), state.variables.get(name)
            if old != new:
                depends = (old.depends if old else frozenset()) | (
                    new.depends if new else frozenset()
                )
                state.variables[name] = Value(None, depends | because)
        if state.folder != before.folder:
            state.folder = None
        if state.environment != before.environment:
            state.environment = replace(state.environment, opaque=True, path=None)

    # Structure.

    def on_if_statement(self, node: Node) -> None:
        because: frozenset[str] = frozenset()
        for at, child in enumerate(node.children):
            if node.field_name_for_child(at) == "condition":
                because |= self.names(child)
                with self.within(checked=True):
                    self.visit(child)
            elif child.is_named:
                with self.perhaps(because):
                    self.visit(child)

    def on_case_statement(self, node: Node) -> None:
        because = self.names(node.child_by_field_name("value"))
        for child in node.named_children:
            if child.type == "case_item":
                with self.perhaps(because):
                    self.statements(child.named_children[1:])

    def on_while_statement(self, node: Node) -> None:
        condition = node.child_by_field_name("condition")
        endless = is_endless(node)
        loop = Loop(self.place(node), None, endless)
        if condition is not None:
            before, self.loops = self.loops, (*self.loops, loop)
            with self.within(checked=True):
                self.visit(condition)
            self.loops = before
        self.loop(node, loop, sure=endless)

    on_until_statement = on_while_statement

    def on_for_statement(self, node: Node) -> None:
        name = node.child_by_field_name("variable")
        values = node.children_by_field_name("value")
        times = loop_times(node, [word_of(one, self.state.variables) for one in values])
        words = tuple(word_of(one, self.state.variables) for one in values)
        if any(word.is_glob for word in words):
            self.record((Word("for", "for", self.place(node)), *words), [], self.place(node))
        depends = frozenset().union(
            *(evaluate(one, self.state.variables).depends for one in values)
        )
        names = loop_names(node)
        for one in names:
            self.assign(one, Value(None, depends))
        if name is not None and len(values) == 1 and times == 1:
            self.assign(text_of(name), evaluate(values[0], self.state.variables))
        self.loop(node, Loop(self.place(node), times, is_endless(node), names), sure=bool(times))

    on_c_style_for_statement = on_for_statement

    def loop(self, node: Node, loop: Loop, *, sure: bool) -> None:
        body = node.child_by_field_name("body")
        if body is None:
            return
        before, self.loops = self.loops, (*self.loops, loop)
        flags = dict(self.context)
        with self.perhaps():
            if sure:
                self.context = flags
            self.statements(body.children)
        self.loops = before
        self.ended = self.ended or (loop.endless and not self.context.get("background", False))

    def on_function_definition(self, node: Node) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self.state.functions[text_of(name)] = (body, self.source)
            self.walk.functions.add(text_of(name))

    def on_subshell(self, node: Node) -> None:
        before = self.state
        self.state = before.copy()
        self.statements(node.children)
        self.state, self.ended, self.replaced = before, False, False

    def on_list(self, node: Node) -> None:
        left, operator, right = node.children[0], node.children[1], node.children[-1]
        redirects, self.pending = self.pending, []
        with self.within(checked=operator.type == "||"):
            self.visit(left)
        self.pending = redirects
        if operator.type == "&&" and _first_word(left) in _GOES_ON:
            self.last(right)
            return
        with self.perhaps(self.names(left)):
            self.last(right)

    def on_negated_command(self, node: Node) -> None:
        with self.within(checked=True):
            self.statements(node.children)

    def on_pipeline(self, node: Node) -> None:
        parts = [child for child in node.children if child.is_named]
        redirects, self.pending = self.pending, []
        for at, part in enumerate(parts):
            before = self.state
            self.state = before.copy()
            with self.within(piped=at + 1 < len(parts), fed=at > 0):
                if at + 1 == len(parts):
                    self.pending = redirects
                    self.last(part)
                else:
                    self.visit(part)
            self.state = before
        self.ended = False

    def names(self, node: Node | None) -> frozenset[str]:
        """Unknown variables that a condition looks at."""
        return frozenset() if node is None else names_in(node, self.state.variables)

    # Simple commands.

    def on_redirected_statement(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        redirects = node.children_by_field_name("redirect")
        self.redirected(body, redirects, self.place(node))
        for one in redirects:  # `cat <<EOF | sort` hangs what follows on the redirection
            self.statements(
                [c for c in one.named_children if c.type in ("pipeline", "command", "list")]
            )

    def redirected(self, body: Node | None, redirects: list[Node], place: Place) -> None:
        """A statement with redirections, which the grammar hangs on all of a list or a pipeline."""
        if body is None:
            self.record((), redirects, place)
        elif body.type in ("command", "declaration_command"):
            self.command(body, redirects)
        elif body.type in ("list", "pipeline"):
            self.pending, before = redirects, self.pending
            self.visit(body)
            self.pending = before
        else:
            self.record((), redirects, place)
            with self.within(fed=any(text_of(one).startswith("<") for one in redirects)):
                self.visit(body)

    def last(self, node: Node) -> None:
        """Visit the last part of a list or a pipeline, which has its redirections."""
        redirects, self.pending = self.pending, []
        if redirects and node.type in ("list", "pipeline"):
            self.pending = redirects
            self.visit(node)
        elif redirects:
            self.redirected(node, redirects, self.place(node))
        else:
            self.visit(node)

    def on_command(self, node: Node) -> None:
        self.command(node, [])

    def on_variable_assignment(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        self.substitutions(node)
        known = Value("") if value is None else evaluate(value, self.state.variables)
        text = text_of(name).partition("[")[0]
        if "+=" in text_of(node)[: len(text_of(name)) + 2] or "[" in text_of(name):
            known = Value(None, known.depends | self.state.variables.get(text, Value("")).depends)
        self.assign(text, known)

    def assign(self, name: str, value: Value) -> None:
        self.state.variables[name] = value
        self.walk.assigned.add(name)
        if name in self.state.exported:
            self.state.exported[name] = value.text
        if name == "PATH":
            self.state.environment = replace(self.state.environment, path=value.text)
        if name == "LD_LIBRARY_PATH" or name == "PYTHONPATH":
            self.state.environment = replace(self.state.environment, opaque=True)

    def on_declaration_command(self, node: Node) -> None:
        for child in node.named_children:
            self.visit(child)
            name = (
                child.child_by_field_name("name") if child.type == "variable_assignment" else child
            )
            if text_of(node).startswith(("export", "declare -x")) and name is not None:
                text = text_of(name)
                self.state.exported[text] = self.state.variables.get(text, Value(None)).text
        # `export X=$(f)`: the command is recorded for its redirections alone.

    def on_unset_command(self, node: Node) -> None:
        for child in node.named_children:
            self.state.variables.pop(text_of(child), None)
            self.state.exported.pop(text_of(child), None)

    def substitutions(self, node: Node) -> None:
        """Walk the commands in ``$(…)`` anywhere in a word."""
        waiting = list(node.children)
        while waiting:
            one = waiting.pop(0)
            if one.type in ("command_substitution", "process_substitution"):
                before = self.state
                self.state = before.copy()
                with self.within(piped=True, substituted=True):
                    self.statements(one.children)
                self.state, self.ended = before, False
            else:
                waiting += one.children

    def command(self, node: Node, redirects: list[Node]) -> None:
        words: list[Word] = []
        assigned: dict[str, str | None] = {}
        for child in node.children:
            if child.type == "variable_assignment":
                name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
                known = Value("") if value is None else evaluate(value, self.state.variables)
                assigned[text_of(name) if name else ""] = known.text
                self.walk.assigned.add(text_of(name) if name else "")
            elif child.type.endswith("_redirect"):
                redirects = [*redirects, child]
            elif child.is_named:
                words.append(word_of(child, self.state.variables))
                self.substitutions(child if child.type != "command_substitution" else node)
        if words:
            self.record(tuple(words), redirects, self.place(node), assigned)

    def place(self, node: Node) -> Place:
        return Place(node.start_point.row + 1, node.start_point.column + 1)

    def record(
        self, words: tuple[Word, ...], redirects: list[Node], place: Place,
        assigned: dict[str, str | None] | None = None,
    ) -> None:  # fmt: skip
        """Add a command, follow what it runs, and apply what it changes."""
        # `cat <<EOF > file` hangs the second redirection on the first.
        redirects = [
            *redirects,
            *(c for one in redirects for c in one.children if c.type == "file_redirect"),
        ]
        state = self.state
        stripped = strip_launchers(words)
        here = self.here(redirects)
        leads = tuple(
            Redirect(next((c.type for c in one.children if not c.is_named), ">"),
                     word_of(target, state.variables))
            for one in redirects
            if one.type == "file_redirect"
            and (target := one.child_by_field_name("destination")) is not None
        )  # fmt: skip
        context = {name: self.context.get(name, False) for name in
                   ("conditional", "checked", "background", "piped", "substituted")}  # fmt: skip
        options = {
            name: state.options.get(name, False) for name in ("errexit", "pipefail", "nounset")
        }
        fed = self.context.get("fed", False) or here is not None or any(
            one.operator in ("<", "<<<") for one in leads
        ) or any(one.type.startswith("here") for one in redirects)  # fmt: skip
        command = Command(
            self.source, stripped.words, leads, place, state.environment, state.folder,
            stripped.launchers, {**state.exported, **(assigned or {}), **stripped.assigned},
            self.loops, fed=fed,
            contained=stripped.contained or self.context.get("contained", False),
            here=here, **context, **options,
        )  # fmt: skip
        self.walk.commands.append(command)
        self.keep_here(command)
        self.follow(command)
        self.effects(command)

    def here(self, redirects: list[Node]) -> Source | None:
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
            return f"\0{word.text.strip(chr(34))}" if "$(" not in word.text else None
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
            for at, word in enumerate(command.arguments, 1):
                self.state.variables[str(at)] = Value(word.value, word.depends)
            self.calling, self.source = (*self.calling, name or ""), source
            self.context = {**self.context, "function": True}
            self.visit(body)
            self.calling, self.source, self.context, self.loops = before
            return
        if name in ("source", ".") and command.arguments:
            self.follow_source(command)
            return
        self.walk.programs += compiled_by(command, self.walk.made, self.walk.machine, self.path_of)
        program = program_of(command, self.walk.made, self.walk.machine, self.path_of)
        if program is None:
            return
        self.walk.programs.append(program)
        if program.language == "bash" and program.source is not None and not command.contained:
            self.child(program.source, program.path, command, self.state.copy())

    def follow_source(self, command: Command) -> None:
        path = self.path_of(command.arguments[0])
        text = self.walk.machine.text(path) if path else None
        known = self.walk.made.get(path or "")
        environment = self.state.environment
        if path and PurePosixPath(path).match("bin/activate") and text is not None:
            venv = str(PurePosixPath(path).parent.parent)
            paths = None if environment.path is None else f"{venv}/bin:{environment.path}"
            self.state.environment = replace(environment, venv=venv, path=paths)
        elif path and (known or (text is not None and not path.startswith("/etc"))):
            shown = os.path.relpath(path) if known is None else ""
            source = known or Source(shown, text or "", folder=str(PurePosixPath(path).parent))
            self.child(source, path, command, self.state)
        else:
            self.state.environment = replace(environment, opaque=True, path=None)

    def child(self, source: Source, path: str | None, command: Command, state: _State) -> None:
        if path is not None and path in self.chain:
            names = (*self.chain[self.chain.index(path) :], path)
            self.walk.cycles.append(Cycle(tuple(PurePosixPath(one).name for one in names), command))
            return
        if len(self.chain) >= _DEEPEST:
            self.walk.complete = False
            return
        walker = _Walker(self.walk, source, state, (*self.chain, path or ""))
        walker.context = {name: value for name, value in self.context.items() if value}
        walker.loops = self.loops
        walker.run()

    def effects(self, command: Command) -> None:
        """What a builtin changes for the commands that follow."""
        state, name, words = self.state, command.name, command.arguments
        if any(one.name == "exec" for one in command.launchers) and not self.context.get(
            "conditional"
        ):
            self.ended, self.replaced = True, not (self.context.get("background") or self.calling)
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
        elif name == "exit" and not self.context.get("conditional") and not self.calling:
            self.ended = True
        elif name in _MODULES:
            self.modules(words)
        elif name in ("read", "mapfile", "readarray", "getopts", "printf"):
            for word in words:
                if re.fullmatch(r"\w+", word.text):
                    self.assign(word.text, Value(None, frozenset({"read"})))
        elif name in wordlist("eval spack conda mamba micromamba pyenv trap shopt easybuild"):
            if name != "trap" and name != "shopt":
                state.environment = replace(state.environment, opaque=True, path=None)
            elif any(word.text in ("ERR", "EXIT") for word in words):
                state.options["trapped"] = True

    def modules(self, words: tuple[Word, ...]) -> None:
        environment = self.state.environment
        plain = [word for word in words if not word.text.startswith("-")]
        verb = plain[0].text if plain else ""
        if verb in ("load", "add", "restore", "use", "try-load") and verb != "use":
            loaded = tuple(plain[1:])
        elif verb in ("purge", "list", "avail", "unload", "rm", "show", "use", "swap", "spider"):
            loaded = ()
        else:
            loaded = tuple(plain)  # ml gcc
        opaque = environment.opaque or verb in ("restore", "swap")
        self.state.environment = replace(
            environment, modules=(*environment.modules, *loaded), opaque=opaque
        )


def _first_word(node: Node) -> str:
    while node.type in ("list", "redirected_statement", "pipeline") and node.children:
        node = node.children[-1 if node.type == "list" else 0]
    return text_of(node).split(None, 1)[0] if text_of(node).strip() else ""


def _set_options(options: dict[str, bool], words: list[str]) -> None:
    """``set -euo pipefail``, ``set +e``."""
    letters = {"e": "errexit", "u": "nounset"}
    for at, word in enumerate(words):
        if re.fullmatch(r"[-+][a-zA-Z]+", word):
            for letter in word[1:]:
                if letter in letters:
                    options[letters[letter]] = word[0] == "-"
            if word.endswith("o") and at + 1 < len(words):
                options[words[at + 1]] = word[0] == "-"
