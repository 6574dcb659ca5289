"""What handlers of nodes may read and change, and what they may call: one text as it is visited."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from jobsight.program.shell.model import Command
from jobsight.program.tree.effects import Effects
from jobsight.program.tree.expressions import KnownValues
from jobsight.program.tree.grammars import Grammar
from jobsight.program.tree.normalized import Growing
from jobsight.program.tree.values import Values

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["LONG", "Context", "Handler"]

LONG = 400
"""Bytes of a node that are read, where no other number is given."""
_ON_GPU = re.compile(rb"cuda|\bmps\b|xpu|gpu", re.I)


class Context:
    """One text while its nodes are added to the tree.

    Attributes:
        tree: that it becomes a part of.
        grammar: of the text's language.
        effects: of it.
        data: the text.
        first: line of the file before its first.
        launched: is given this, the number of a call and its syntax when all in it was added: adds
            what the call runs. An import is one, too.
        commands: of a shell script, by line and column.
        values: of the text's nodes and names.
        own: functions and classes that the text defines.
        names_gpu: whether the text names a GPU.
        in_memory: whether its database is in memory.
        file: number of the text in the tree.
        positions: arguments without an option that were declared so far.
    """

    def __init__(
        self, tree: Growing, grammar: Grammar, effects: Effects, data: bytes, first: int,
        launched: Callable[[Context, int, Node], None],
        commands: Mapping[tuple[int, int], Command], known: KnownValues,
    ) -> None:  # fmt: skip
        """Begin a text; `known`: values that it and its command line give names."""
        self.tree, self.grammar, self.effects, self.data = tree, grammar, effects, data
        self.first, self.launched, self.commands = first, launched, commands
        self.values = Values(tree, grammar.language, known)
        self.own: set[str] = set()
        self.names_gpu = _ON_GPU.search(data) is not None
        self.in_memory = b":memory:" in data
        self.file = len(tree.files)
        self.positions = 0

    def drop(self, added: int) -> bool:
        """Take back the node that was added last; nothing in it is visited."""
        self.tree.drop(added)
        return False

    def text(self, node: Node, longest: int = LONG) -> str:
        """The text of a node, or its beginning."""
        start = node.start_byte
        return self.data[start : min(node.end_byte, start + longest)].decode("utf-8", "replace")

    def end_of(self, node: Node) -> str:
        """The text of a node, or its end."""
        start = max(node.start_byte, node.end_byte - LONG)
        return self.data[start : node.end_byte].decode("utf-8", "replace")


Handler: TypeAlias = "Callable[[Context, Node, int, int], bool]"
"""Is given a text, a node of its syntax tree, the number of the new node that was added for it and
that of the node around; says whether what is within is to be visited."""
