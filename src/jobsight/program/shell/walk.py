"""A shell script walked in the order in which it runs; what it sources and runs is followed.

Bounds: `_MOST_SOURCES` texts, `_MOST_COMMANDS` commands.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from jobsight.program.known import KNOWN
from jobsight.program.languages import syntax_tree
from jobsight.program.machine import Machine
from jobsight.program.shell.loops import is_endless, loop_names, loop_times, loop_values
from jobsight.program.shell.model import Environment, Loop, Source, Word
from jobsight.program.shell.runner import Cycle, Runner, State, Walk, positional
from jobsight.program.shell.words import Value, evaluate, names_in, text_of, word_of, words_of
from jobsight.program.submission.job import Place
from jobsight.text import wordset

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["Cycle", "Walk", "walk_script"]

_MOST_SOURCES, _MOST_COMMANDS, _DEEPEST_TREE = 64, 5000, 150
_GOES_ON = wordset(KNOWN["walk"]["goes_on"])
"""Commands that succeed, so that what follows ``&&`` runs."""


_DECLARES = wordset("variable_assignment variable_name word declare local export readonly typeset")
"""Parts of a declaration that name the variables they set."""
_SETS = re.compile(
    r"\b([A-Za-z_]\w*)\+?=|\b(?:for|select|read(?: -\w+)*|local|declare|mapfile(?: -\w+)*) (\w+)"
    r"|\+\+([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\}[<>]|\(\(\s*([A-Za-z_]\w*)\s*[-+*/%]?=(?!=)"
)


def walk_script(
    source: Source, machine: Machine, folder: str, path: str | None = None,
    arguments: Iterable[Word] = (),
) -> Walk:  # fmt: skip
    """Walk a script.

    Args:
        source: it.
        machine: where files and programs are looked up.
        folder: in which it starts.
        path: of its file, to notice that it runs itself.
        arguments: what it is given, as far as known.
    """
    walk = Walk(machine)
    given = {"PWD": folder, "SLURM_SUBMIT_DIR": folder, "PATH": machine.path}
    variables = {name: Value(value) for name, value in given.items()}
    positional(variables, arguments)
    state = State(variables, folder, Environment(machine.path))
    first = source.text.partition("\n")[0]
    if re.match(r"#!\S*sh\b.* -\w*e", first):
        state.options["errexit"] = True
    _Walker(walk, source, state, (path or source.file,)).run()
    return walk


_TORN = re.compile(r"\$\{?\w+\}?[^\s\"'$]*\$\w+[^\s\w]")
_NAME = re.compile(rb"[A-Za-z_]\w*|\d")
_MOST_TEARS = 8
"""Expansions in one word that are kept in it."""


def _shell_tree(text: str) -> Node:
    """The syntax tree of a script.

    Of ``/scratch/$USER/$ID/run`` the grammar makes two words, the second ``ID/run``: there, braces
    are put around the name. That moves what follows on the line by two columns.
    """
    data = text.encode("utf-8", "replace")
    root = syntax_tree("bash", data)
    for _ in range(_MOST_TEARS if _TORN.search(text) else 0):
        torn, waiting = set[int](), [root]
        while waiting:
            node = waiting.pop()
            children = [] if node.type == "simple_expansion" else node.children
            waiting += children
            ends = {one.end_byte for one in children}
            torn |= {one.start_byte for one in children} & ends
        names = [_NAME.match(data, at) for at in sorted(torn) if data[at - 1 : at] == b"$"]
        if not any(names):
            break
        for one in filter(None, reversed(names)):
            data = data[: one.start()] + b"{" + one[0] + b"}" + data[one.end() :]
        root = syntax_tree("bash", data)
    return root


class _Walker(Runner):
    def run(self) -> None:
        if len(self.walk.sources) >= _MOST_SOURCES:
            self.walk.complete = False
            return
        self.walk.sources.append(self.source)
        self.walk.assigned |= {one[one.lastindex or 0] for one in _SETS.finditer(self.source.text)}
        self.statements(_shell_tree(self.source.text).children)

    def statements(self, nodes: list[Node]) -> None:
        for at, node in enumerate(nodes):
            if self.ended:
                ignored = node.type in ("comment", "function_definition") or not node.is_named
                if self.left_by and not ignored:
                    self.walk.unreached.append((self.source, self.place(node), self.left_by))
                    self.left_by = ""
                return
            if not _is_statement(node):
                continue
            following = nodes[at + 1].type if at + 1 < len(nodes) else ""
            with self.within(background=following == "&"):
                self.visit(node)

    def visit(self, node: Node) -> None:
        if self.depth > _DEEPEST_TREE or len(self.walk.commands) >= _MOST_COMMANDS:
            self.walk.complete = False
            return
        if not _is_statement(node):
            return
        self.depth += 1
        handler = getattr(self, f"on_{node.type}", None)
        if handler is not None:
            handler(node)
        else:
            self.statements(node.children)
        self.depth -= 1

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
                depends = (one.depends for one in (old, new) if one)
                state.variables[name] = Value(None, because.union(*depends))
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
        words = tuple(w for one in values for w in words_of(one, self.state.variables))
        times = loop_times(node, words)
        if any(word.is_glob for word in words):
            self.record((Word("for", "for", self.place(node)), *words), [], self.place(node))
        known = [evaluate(one, self.state.variables) for one in values]
        depends = frozenset().union(*(one.depends for one in known))
        names = loop_names(node)
        for one in names:
            self.assign(one, Value(None, depends))
        if name is not None and len(words) == 1 and times == 1:
            self.assign(text_of(name), evaluate(values[0], self.state.variables))
        loop = Loop(self.place(node), times, is_endless(node), names, loop_values(words))
        self.loop(node, loop, sure=bool(times))

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
        self.state, self.ended, self.left_by = before, False, ""

    def on_list(self, node: Node) -> None:
        left, operator, right = node.children[0], node.children[1], node.children[-1]
        redirects, self.pending = self.pending, []
        with self.within(checked=operator.type == "||"):
            self.visit(left)
        self.pending = redirects
        if operator.type == "&&" and _goes_on(left):
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
        self.ended, self.left_by = False, ""

    def names(self, node: Node | None) -> frozenset[str]:
        """Unknown variables that a condition looks at."""
        return frozenset() if node is None else names_in(node, self.state.variables)

    # Simple commands.

    def on_redirected_statement(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        redirects = node.children_by_field_name("redirect")
        self.redirected(body, redirects, self.place(node))
        for one in redirects:  # `cat <<EOF | sort` hangs what follows on the redirection
            more = [c for c in one.named_children if c.type in ("pipeline", "command", "list")]
            otherwise = any(c.type == "||" for c in one.children)
            with self.perhaps() if otherwise else nullcontext():
                self.statements(more)

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
        if value is not None and not self.state.environment.opaque:
            nounset = self.state.options.get("nounset", False)
            self.walk.read.append((word_of(value, self.state.variables), self.source, nounset))
        known = Value("") if value is None else evaluate(value, self.state.variables)
        text = text_of(name).partition("[")[0]
        if "+=" in text_of(node)[: len(text_of(name)) + 2] or "[" in text_of(name):
            known = Value(None, known.depends | self.state.variables.get(text, Value("")).depends)
        self.assign(text, known)

    def on_declaration_command(self, node: Node) -> None:
        if any(child.type not in _DECLARES or text_of(child) == "-n" for child in node.children):
            self.unnamed_variable()
        for child in node.named_children:
            self.visit(child)
            assigns = child.type == "variable_assignment"
            name = child.child_by_field_name("name") if assigns else child
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
        waiting = deque(node.children)
        while waiting:
            one = waiting.popleft()
            if one.type in ("command_substitution", "process_substitution"):
                if one.children[0].type == "`" and "\\" in text_of(one):
                    continue  # what is escaped there is parsed as if between $( and )
                before = self.state
                self.state = before.copy()
                with self.within(piped=True, substituted=True):
                    self.statements(one.children)
                self.state, self.ended, self.left_by = before, False, ""
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
                words += words_of(child, self.state.variables)
                self.substitutions(child if child.type != "command_substitution" else node)
        for one in redirects:  # the grammar hangs words behind a redirection on it
            for more in (*one.children_by_field_name("destination")[1:],
                         *one.children_by_field_name("argument")):  # fmt: skip
                words += words_of(more, self.state.variables)
        if words:
            self.record(tuple(words), redirects, self.place(node), assigned)


def _is_statement(node: Node) -> bool:
    return node.is_named and node.type != "comment" and not node.is_error


def _goes_on(node: Node) -> bool:
    """Whether all of the left side of ``&&`` succeeds where the job does."""
    while node.type in ("redirected_statement", "pipeline") and node.children:
        node = node.children[0]
    if node.type == "list":
        left, operator, right = node.children[0], node.children[1], node.children[-1]
        return _goes_on(right) and (operator.type == "||" or _goes_on(left))
    return (text_of(node).split(None, 1) or [""])[0] in _GOES_ON
