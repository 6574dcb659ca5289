"""What a node of the normalized tree is, seen from its syntax: names, effects, values.

A visitor is given a node of the syntax tree, the number of the new node that was added for it and
that of the node around; it says whether what is within is to be visited.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from jobsight.program.shell.loops import is_endless
from jobsight.program.shell.servers import server_of
from jobsight.program.tree.declaring import enter, extent_of, option, repeated
from jobsight.program.tree.effects import Effects
from jobsight.program.tree.expressions import Given, evaluated, number_of
from jobsight.program.tree.grammars import Grammar
from jobsight.program.tree.growing import Growing
from jobsight.program.tree.names import called, imports
from jobsight.program.tree.operators import element, kind_of, manager, operation, parallel, redirect
from jobsight.program.tree.values import Values
from jobsight.program.tree.vocabulary import EFFECT_NUMBERS, KIND_NUMBERS, ROLE_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tree_sitter import Node

    from jobsight.program.shell.model import Command

__all__ = ["Visitor"]

_K, _R, _E = KIND_NUMBERS, ROLE_NUMBERS, EFFECT_NUMBERS
_NAMED = frozenset({_K["function"], _K["class"]})
_CALLEES = ("function", "name", "method", "macro", "subroutine", "constructor", "type")
_ON_DISK = frozenset({_E["database"], _E["commit"]})
_ON_GPU = re.compile(rb"cuda|\bmps\b|xpu|gpu", re.I)
_WORD = re.compile(r"\w+")
_LONG = 400
_DEFINED_BY_CALL = frozenset({"r", "julia"})
_SELF = frozenset({"self", "cls", "this"})
_OPTION = re.compile(r"(?:.*\.)?(?:add_argument|add_option|[oO]ption|Argument|add_arg)")


class Visitor:
    """What is done for a node of each kind when it was added to the tree."""

    def __init__(
        self, tree: Growing, grammar: Grammar, effects: Effects, data: bytes, first: int,
        launched: Callable[[Visitor, int, Node], None],
        commands: Mapping[tuple[int, int], Command], given: Given,
    ) -> None:  # fmt: skip
        """Take hold of a text.

        Args:
            tree: that it becomes a part of.
            grammar: of the text's language.
            effects: of it.
            data: the text.
            first: line of the file before its first.
            launched: is given this, the number of a call and its syntax when all in it was added:
                adds what the call runs. An import is one, too.
            commands: of a shell script, by line and column.
            given: what the text and its command line give names.
        """
        self.tree, self.grammar, self.effects, self.data = tree, grammar, effects, data
        self.first, self.launched, self.commands = first, launched, commands
        self.values = Values(tree, grammar.language, given)
        self.own: set[str] = set()
        self._names_gpu = _ON_GPU.search(data) is not None
        self._in_memory = b":memory:" in data
        self.file = len(tree.files)
        self.positions = 0
        """Of arguments without an option, that were declared so far."""
        self.visitors: dict[int, Callable[[Node, int, int], bool]] = {
            _K[kind]: visitor
            for kind, visitor in (
                ("call", self._call), ("name", self._name), ("member", self._name),
                ("number", self._number), ("constant", self._constant), ("text", self._text),
                ("import", self._import), ("arithmetic", partial(operation, self)),
                ("assign", self._assignment), ("function", self._function),
                ("declare", self._declare), ("class", self._class), ("loop", self._loop),
                ("parallel", partial(parallel, self)), ("redirect", partial(redirect, self)),
                ("break", self._word), ("launch", self._kernel), ("lock", self._lock),
            )
        }  # fmt: skip
        if grammar.language == "python":
            self.visitors[_K["index"]] = partial(element, self)
        elif grammar.language == "rust":
            self.visitors[_K["literal"]] = partial(repeated, self)

    def _drop(self, added: int) -> bool:
        """Take back the node that was added last; nothing in it is visited."""
        self.tree.drop(added)
        return False

    def text(self, node: Node, longest: int = _LONG) -> str:
        """The text of a node, or its beginning."""
        start = node.start_byte
        return self.data[start : min(node.end_byte, start + longest)].decode("utf-8", "replace")

    def end_of(self, node: Node) -> str:
        """The text of a node, or its end."""
        start = max(node.start_byte, node.end_byte - _LONG)
        return self.data[start : node.end_byte].decode("utf-8", "replace")

    # Names and literals.

    def _name(self, node: Node, added: int, owner: int) -> bool:
        """A name, or what has the form ``a.b``."""
        tree = self.tree
        role, around = tree.role[added], tree.kind[owner]
        if role == _R["type"] and around != _K["class"]:
            return self._drop(added)
        if around == _K["call"] and self._is_callee(node.parent, added, owner):
            text = self.text(node)  # kept only where something else is in it, as in f(x).g
            return "(" in text or "[" in text or self._drop(added)
        if around == _K["function"] and self.grammar.brackets_call:
            self.values.arrays.add(self.text(node))
        if around in _NAMED and role == _R["target"]:
            return self._drop(added)
        plain = self.data[node.start_byte : node.end_byte]
        leaf = len(plain) < 80 and plain.isalnum()
        text = plain.decode() if leaf else called(self.end_of(node), self.grammar.language)
        if not text or "(" in text or "?" in text:
            return True
        tree.names[added] = text
        if around == _K["with"] and role == _R["value"]:
            manager(self, added, text)
        if role != _R["target"]:
            self.values.named(added, text.rpartition(".")[2])
        if text in ("true", "TRUE", "True"):
            tree.kind[added] = _K["constant"]
            self.values.give(added, 1.0)
        return False

    def _is_callee(self, around: Node | None, added: int, owner: int) -> bool:
        role = self.tree.role[added]
        if self.tree.calls.get(owner) == "new_array":
            return False
        if around is not None and around.type == "argument_list":
            return False
        if role in (_R["callee"], _R["target"]):
            return True
        return role == 0 and added == owner + 1

    def _number(self, node: Node, added: int, _owner: int) -> bool:
        self.values.give(added, number_of(self.text(node, 60)))
        return False

    def _constant(self, node: Node, added: int, _owner: int) -> bool:
        if self.text(node, 8).strip(".").lower() == "true":
            self.values.give(added, 1.0)
        return False

    def _text(self, node: Node, added: int, owner: int) -> bool:
        """A literal text; those of calls and assignments are kept for what runs programs."""
        self.tree.texts[added] = self.text(node, 2 * _LONG)
        if self.grammar.language == "bash" or self.tree.effect[owner] == _E["arguments"]:
            self.values.give(added, number_of(self.text(node, 40).strip("\"'")))
        return True

    # What has names.

    def _import(self, node: Node, added: int, _owner: int) -> bool:
        language = self.grammar.language
        found = list(imports(language, self.text(node, 5 * _LONG)))
        for full, name in found:
            self.tree.imports.append(full)
            if name:
                plain = "/" in full or full.partition(".")[0] == name
                self.values.aliases[name] = name if plain else full
        if language == "python":
            self.tree.texts[added] = " ".join(full for full, _ in found)
            self.launched(self, added, node)
            self.tree.end[added] = self.tree.count
        return False

    def _function(self, node: Node, added: int, _owner: int) -> bool:
        name = node.child_by_field_name("name")
        declarator = node.child_by_field_name("declarator")
        if name is not None and name.is_named:
            text = self.text(name)
        elif declarator is not None and self.grammar.language != "java":
            text = self.text(declarator).partition("(")[0] if node.type[0] != "l" else ""
        elif self.grammar.language in ("fortran", "julia"):
            head = node.child(1 if self.grammar.language == "julia" else 0)
            text = self.text(head) if head and node.type != "arrow_function_expression" else ""
            text = re.sub(r".*(?:subroutine|function)\s+", "", text, flags=re.I | re.S)
            text = text.partition("(")[0]
        else:
            text = ""
        found = re.search(r"([A-Za-z_]\w*!?)\s*$", text)
        if found:
            self.tree.functions[added] = found[1]
            self.own.add(found[1])
        enter(self, node, found[1] if found else "")
        return True

    def _class(self, node: Node, added: int, _owner: int) -> bool:
        name = node.child_by_field_name("name")
        if name is not None:
            self.tree.classes[added] = self.text(name)
            self.own.add(self.tree.classes[added])
        return True

    def _declare(self, node: Node, added: int, _owner: int) -> bool:
        """A declaration: in C++, that may be a call of a constructor."""
        kind = node.child_by_field_name("type")
        if kind is None:
            return True
        name = called(re.sub(r"<.*", "", self.text(kind, 120), flags=re.S), self.grammar.language)
        self.tree.texts[added] = name
        if self.grammar.bare == "std" and node.type == "declaration" and "." in name:
            effect = self.effects.of(name, self.text(node), self.grammar.bare)
            if effect != _E["unknown"]:
                self.tree.effect[added] = effect
                self.tree.calls[added] = name
            if effect == _E["allocate"]:  # a(n) may have been taken for the head of a function
                self.values.give(added, extent_of(self, self.text(node), name))
        return True

    def _assignment(self, node: Node, added: int, _owner: int) -> bool:
        if node.type == "preproc_def":
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if name is not None and value is not None:
                known = evaluated(self.text(value, 80), self.values.constants)
                if known is not None:
                    self.values.constants[self.text(name)] = known
                    self.tree.size[added] = 1 + round(known).bit_length() if known < 2**60 else 62
            return False
        operator = node.child_by_field_name("operator")
        if (
            operator is not None
            and kind_of(self.text(operator, 8), self.grammar.language) != _K["assign"]
        ):
            self.tree.kind[added] = _K["update"]
        return True

    # Calls.

    def _call(self, node: Node, added: int, owner: int) -> bool:
        if self.grammar.language == "bash":
            return self._command(node, added)
        name = self._called_name(node)
        tree, values = self.tree, self.values
        head, dot, rest = name.partition(".")
        attribute, point, method = rest.partition(".")
        if head in _SELF and point and f"{head}.{attribute}" in values.aliases:
            head, rest = f"{head}.{attribute}", method
        if not name and not node.child_count:
            return self._drop(added)
        if self.grammar.brackets_call and not dot:
            if tree.role[added] == _R["target"]:
                values.arrays.add(name)
            if name in values.arrays:
                tree.kind[added] = _K["index"]
                return True
        if self.grammar.language in _DEFINED_BY_CALL and self._defines(name, node, added, owner):
            return True
        if dot and head not in values.aliases and head in values.given.makers:
            maker, point, last = values.given.makers[head].partition(".")
            values.aliases[head] = f"{values.aliases.get(maker, maker)}{point}{last}()"
        full = values.aliases[head] + dot + rest if head in values.aliases else name
        if self.grammar.language == "fortran":
            full = full.lower()
        text = self.text(node)
        if self.grammar.language == "fortran":
            text = re.sub(r"\s", "", text)
        if self._names_gpu and values.texts:  # the device may be in a variable
            text += " " + " ".join(values.texts.get(one, "") for one in _WORD.findall(text))
        tree.calls[added] = full
        tree.effect[added] = self.effects.of(full, text, self.grammar.bare)
        if dot:
            values.method(added, name.rpartition(".")[0])
        if self._in_memory and tree.effect[added] in _ON_DISK:
            tree.effect[added] = _E["sort"]
        moved = tree.effect[added] == _E["gpu"] and full.endswith(".to")
        if moved and not self._names_gpu:  # the device is the CPU
            tree.effect[added] = _E["cheap"]
        if _OPTION.fullmatch(name):
            option(self, text)
        return True

    def _command(self, node: Node, added: int) -> bool:
        """A command of the shell, without what starts it, such as srun or time."""
        place = (node.start_point[0] + 1, node.start_point[1] + 1)
        command, name = self.commands.get(place), node.child_by_field_name("name")
        plain = self.text(name) if name is not None else ""
        server = None if command is None else server_of(command)
        words = [plain] if command is None else [one.value or one.text for one in command.words]
        plain = words[0].rpartition("/")[2] if words else plain
        last = next((one for one in words[1:] if re.fullmatch(r"[a-z][\w-]*", one)), "")
        text = " ".join(words)[:_LONG] or self.text(node)
        tree, effects = self.tree, self.effects
        if command is not None:
            timed = any(one.name == "timeout" for one in command.launchers)
            tree.aside |= {added} if command.background or timed else set()
            tree.fed |= {added} if command.fed else set()
        effect = effects.of(f"{plain}.{last}", text, "") if last else _E["unknown"]
        tree.effect[added] = effect if effect != _E["unknown"] else effects.of(plain, text, "")
        tree.calls[added] = plain
        if server is not None:
            tree.calls[added], tree.effect[added] = server, _E["serve"]
        elif tree.effect[added] in (_E["serve"], _E["watch"]):
            tree.effect[added] = _E["launch"]  # in the background, or with a time limit
        return True

    def _loop(self, node: Node, added: int, _owner: int) -> bool:
        """A loop of the shell: whether its commands say that it has no end."""
        if self.grammar.language == "bash" and self.text(node, 7) == "select ":
            self.tree.endless[added] = ("select asks its user", True)
        if self.grammar.language == "bash" and is_endless(node):
            line, column = node.start_point[0] + 1, node.start_point[1] + 1
            within = (
                command for command in self.commands.values() for loop in command.loops
                if loop.place == (line, column) and not command.background
            )  # fmt: skip
            if any(not any(one.name == "timeout" for one in c.launchers) for c in within):
                self.tree.endless[added] = ("nothing ends this loop", False)
        return True

    def _defines(self, name: str, node: Node, added: int, owner: int) -> bool:
        """What has the form of a call, and is something else."""
        tree, language = self.tree, self.grammar.language
        if language == "r" and name in ("library", "require", "requireNamespace"):
            form = r"(?s).*?\(\s*[\"']?|[\"',)].*"
            tree.imports.append(re.sub(form, "", self.text(node)))
        elif language == "r" and name == "return":
            tree.kind[added] = _K["return"]
            return True
        elif language == "julia" and added == owner + 1:
            if tree.kind[owner] == _K["assign"]:  # f(x) = x + 1
                tree.kind[owner] = _K["function"]
                tree.functions[owner] = name
                self.own.add(name)
            if tree.kind[owner] == _K["function"]:
                tree.kind[added], tree.role[added] = _K["declare"], _R["parameter"]
                return True
        return False

    def _called_name(self, node: Node) -> str:
        fixed = self.grammar.calls.get(node.type)
        if fixed is not None:
            return fixed
        callee = next((c for one in _CALLEES if (c := node.child_by_field_name(one))), None)
        if callee is None and node.child_count:
            callee = node.child(0)
        if callee is None:
            return self.text(node) if self.tree.role[self.tree.count - 1] in (0, _R["body"]) else ""
        if self.grammar.kinds[callee.kind_id] == _K["function"]:
            return ""
        outer = node.child_by_field_name("object") or node.child_by_field_name("invocant")
        around = node.parent
        if self.grammar.language == "matlab" and around is not None:
            member = around.type == "field_expression" and around.child(0) != node
            outer = around.child(0) if member else outer
        text = self.end_of(callee)
        if outer is not None:
            text = f"{self.end_of(outer)}.{text}"
        return called(text, self.grammar.language)

    # What acts without being called.

    def _word(self, node: Node, added: int, _owner: int) -> bool:
        """A statement whose kind is in its first word, not in its type; a label stays."""
        words = self.grammar.words.get(node.type)
        if words is None and node.named_child_count:
            self.tree.texts[added] = "label"
        if words is not None:
            kind = words.get(re.split(r"\W", self.text(node, 20).lower())[0])
            if kind is None:
                return self._drop(added)
            self.tree.kind[added] = kind
        return True

    def _kernel(self, _node: Node, added: int, owner: int) -> bool:
        self.tree.effect[owner] = _E["gpu"]
        return self._drop(added)

    def _lock(self, _node: Node, added: int, _owner: int) -> bool:
        self.tree.effect[added] = _E["lock"]
        return True
