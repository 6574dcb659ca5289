"""One text's syntax tree made a part of the normalized tree, in one pass of a cursor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jobsight.program.languages import syntax_tree
from jobsight.program.tree.grammars import SKIP, THROUGH
from jobsight.program.tree.normalized import File
from jobsight.program.tree.visiting import Visitor
from jobsight.program.tree.vocabulary import EFFECT_NUMBERS, KIND_NUMBERS, ROLE_NUMBERS
from jobsight.text import wordlist

if TYPE_CHECKING:
    from tree_sitter import Node


__all__ = ["MOST_NODES", "TextBuilder"]

MOST_NODES = 400_000
"""Nodes of a tree; what is behind them is left out."""

_K, _R, _E = KIND_NUMBERS, ROLE_NUMBERS, EFFECT_NUMBERS
_LOOPS = frozenset({_K["loop"], _K["comprehension"]})
_OPERATIONS = frozenset(
    _K[one] for one in wordlist("arithmetic multiply divide bits compare logic update")
)
_ONCE = frozenset({_R["value"], _R["header"], _R["target"]})
_CLOSED = frozenset(
    _K[one]
    for one in wordlist(
        "call assign update declare arithmetic multiply divide bits compare logic branch case "
        "slice literal extent loop comprehension text index"
    )
)
_ERROR_ID = 65535
_ASKS_GPU = re.compile(
    rb"^#(?:SBATCH|PBS)\s(?:.*[ \t])?"
    rb"(?:--gres=\S*gpu|--gpus\b|--gpus-per|-G[ \t=]?\d|-l.*\bngpus=[1-9])",
    re.M,
)
"""A batch script that asks for GPUs; what it runs is judged instead where that is here."""


class TextBuilder(Visitor):
    """Adds one text to a tree."""

    def build(self, name: str, parent: int, lexical: int) -> None:
        """Add the text.

        Args:
            name: of its file.
            parent: node that it is in, -1: none.
            lexical: loops around it.
        """
        tree, language = self.tree, self.grammar.language
        root = syntax_tree(language, self.data, with_text=False)
        tree.reserve(min(root.descendant_count, MOST_NODES) + 1)
        role = _R["body"] if parent >= 0 else 0
        top = tree.add(_K["file"], role, parent, self.first + 1, self.file, lexical)
        lines = self.data.count(b"\n") + 1
        tree.files.append(File(name, language, top, 0, lines))
        broken = self._walk(root, top)
        tree.files[self.file] = File(name, language, top, broken, lines)
        tree.end[top] = tree.count
        self._own_calls(top)
        if language == "bash" and len(tree.files) == self.file + 1 and _ASKS_GPU.search(self.data):
            tree.effect[top], tree.calls[top] = _E["gpu"], "its request"

    def _walk(self, root: Node, top: int) -> int:
        """Visit all nodes; how many of them are errors."""
        tree, visitors, error, condition = self.tree, self.visitors, _K["error"], _R["condition"]
        kinds, roles, typed = self.grammar.kinds, self.grammar.roles, self.grammar.typed
        cursor = root.walk()
        first, following, up = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
        owner, inherited, depth, broken = top, 0, tree.lexical[top], 0
        above: list[tuple[int, int, int, int, Node | None]] = []
        if not first():
            return 0
        while True:
            node = cursor.node
            assert node is not None
            number = node.kind_id
            kind = kinds[number] if number != _ERROR_ID else error
            role = inherited
            if kind != SKIP and inherited != condition:
                role = roles[cursor.field_id or 0] or typed.get(number) or inherited
            if kind == THROUGH:
                if first():
                    above.append((owner, inherited, depth, -1, None))
                    inherited = role
                    continue
            elif kind != SKIP:
                role, level = self._place(owner, role, depth)
                line = node.start_point[0] + 1 + self.first
                added = tree.add(kind, role, owner, line, self.file, level)
                broken += kind == error
                visitor = visitors.get(kind)
                if (visitor is None or visitor(node, added, owner)) and first():
                    above.append((owner, inherited, depth, added, node))
                    owner, inherited, depth = added, 0, self._level(added, level)
                    continue
                tree.full = tree.full or added >= MOST_NODES
            while tree.full or not following():
                if not above:
                    return broken
                up()
                owner, inherited, depth, added, outer = above.pop()
                if outer is not None:
                    self._close(added, outer)

    def _place(self, owner: int, role: int, depth: int) -> tuple[int, int]:
        """The role in its owner, and the loops around it, of the node that is added next."""
        around, first = self.tree.kind[owner], self.tree.count == owner + 1
        if role == 0 and around == _K["assign"]:
            role = _R["target"] if first else _R["value"]
        level = depth - (around == _K["loop"] and role in _ONCE)
        if around in _OPERATIONS:
            role = _R["operand"]
        elif around == _K["index"]:
            role = _R["object"] if first else _R["index"]
        return role, level

    def _level(self, added: int, level: int) -> int:
        """Loops around what is in a node."""
        kind = self.tree.kind[added]
        if kind in _LOOPS or self.tree.effect[added] == _E["each"]:
            return min(level + 1, 250)
        return 0 if kind == _K["function"] and added in self.tree.functions else level

    def _own_calls(self, top: int) -> None:
        """Calls of functions that the text defines."""
        tree, unknown = self.tree, _E["unknown"]
        own = self.own | {tree.functions[n] for n in tree.functions if n >= top}
        for node in [n for n in tree.calls if n >= top]:
            name = tree.calls[node]
            last = name.rpartition(".")[2]
            if last in own and (last == name or tree.effect[node] == unknown):
                tree.effect[node] = _E["own"]

    def _close(self, added: int, node: Node) -> None:
        tree = self.tree
        tree.end[added] = tree.count
        kind = tree.kind[added]
        if kind in _CLOSED:
            self.values.close(added)
        if kind == _K["call"]:
            self.launched(self, added, node)
            tree.end[added] = tree.count
