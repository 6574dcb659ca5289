"""One text's syntax tree made a part of the normalized tree, in one pass of a cursor.

A node is added, then the handler of its kind looks at it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jobsight.program.languages import syntax_tree
from jobsight.program.tree.calling import on_call, on_kernel, on_lock, on_loop
from jobsight.program.tree.context import Context, Handler
from jobsight.program.tree.declaring import (
    on_assignment,
    on_class,
    on_declare,
    on_function,
    on_import,
    on_repeated,
)
from jobsight.program.tree.grammars import SKIP, THROUGH
from jobsight.program.tree.naming import on_constant, on_name, on_number, on_text, on_word
from jobsight.program.tree.normalized import File
from jobsight.program.tree.operators import on_element, on_operation, on_parallel, on_redirect
from jobsight.program.tree.vocabulary import EFFECT_NUMBERS, KIND_NUMBERS, ROLE_NUMBERS
from jobsight.text import wordlist

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["MOST_NODES", "add_text"]

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
_HANDLERS: dict[str, Handler] = {
    "call": on_call, "name": on_name, "member": on_name, "number": on_number,
    "constant": on_constant, "text": on_text, "import": on_import, "arithmetic": on_operation,
    "assign": on_assignment, "function": on_function, "declare": on_declare, "class": on_class,
    "loop": on_loop, "parallel": on_parallel, "redirect": on_redirect, "break": on_word,
    "launch": on_kernel, "lock": on_lock,
}  # fmt: skip
"""What is done for a node of each kind when it was added to the tree."""
_OF_LANGUAGES: dict[str, dict[str, Handler]] = {
    "python": {"index": on_element}, "rust": {"literal": on_repeated},
}  # fmt: skip
_ERROR_ID = 65535
_ASKS_GPU = re.compile(
    rb"^#(?:SBATCH|PBS)\s(?:.*[ \t])?"
    rb"(?:--gres=\S*gpu|--gpus\b|--gpus-per|-G[ \t=]?\d|-l.*\bngpus=[1-9])",
    re.M,
)
"""A batch script that asks for GPUs; what it runs is judged instead where that is here."""


def add_text(context: Context, name: str, parent: int, lexical: int) -> None:
    """Add a text to a tree.

    Args:
        context: the text.
        name: of its file.
        parent: node that it is in, -1: none.
        lexical: loops around it.
    """
    tree, language = context.tree, context.grammar.language
    root = syntax_tree(language, context.data, with_text=False)
    tree.reserve(min(root.descendant_count, MOST_NODES) + 1)
    role = _R["body"] if parent >= 0 else 0
    top = tree.add(_K["file"], role, parent, context.first + 1, context.file, lexical)
    lines = context.data.count(b"\n") + 1
    tree.files.append(File(name, language, top, 0, lines))
    broken = _walk(context, root, top)
    tree.files[context.file] = File(name, language, top, broken, lines)
    tree.end[top] = tree.count
    _own_calls(context, top)
    alone = len(tree.files) == context.file + 1
    if language == "bash" and alone and _ASKS_GPU.search(context.data):
        tree.effect[top], tree.calls[top] = _E["gpu"], "its request"


def _walk(context: Context, root: Node, top: int) -> int:
    """Visit all nodes; how many of them are errors."""
    tree, error, condition = context.tree, _K["error"], _R["condition"]
    kinds, roles, typed = context.grammar.kinds, context.grammar.roles, context.grammar.typed
    named = _HANDLERS | _OF_LANGUAGES.get(context.grammar.language, {})
    handlers = {_K[kind]: handler for kind, handler in named.items()}
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
            role, level = _place(context, owner, role, depth)
            line = node.start_point[0] + 1 + context.first
            added = tree.add(kind, role, owner, line, context.file, level)
            broken += kind == error
            handler = handlers.get(kind)
            if (handler is None or handler(context, node, added, owner)) and first():
                above.append((owner, inherited, depth, added, node))
                owner, inherited, depth = added, 0, _level(context, added, level)
                continue
            tree.full = tree.full or added >= MOST_NODES
        while tree.full or not following():
            if not above:
                return broken
            up()
            owner, inherited, depth, added, outer = above.pop()
            if outer is not None:
                _close(context, added, outer)


def _place(context: Context, owner: int, role: int, depth: int) -> tuple[int, int]:
    """The role in its owner, and the loops around it, of the node that is added next."""
    around, first = context.tree.kind[owner], context.tree.count == owner + 1
    if role == 0 and around == _K["assign"]:
        role = _R["target"] if first else _R["value"]
    level = depth - (around == _K["loop"] and role in _ONCE)
    if around in _OPERATIONS:
        role = _R["operand"]
    elif around == _K["index"]:
        role = _R["object"] if first else _R["index"]
    return role, level


def _level(context: Context, added: int, level: int) -> int:
    """Loops around what is in a node."""
    kind = context.tree.kind[added]
    if kind in _LOOPS or context.tree.effect[added] == _E["each"]:
        return min(level + 1, 250)
    return 0 if kind == _K["function"] and added in context.tree.functions else level


def _own_calls(context: Context, top: int) -> None:
    """Calls of functions that the text defines."""
    tree, unknown = context.tree, _E["unknown"]
    own = context.own | {tree.functions[n] for n in tree.functions if n >= top}
    for node in [n for n in tree.calls if n >= top]:
        name = tree.calls[node]
        last = name.rpartition(".")[2]
        if last in own and (last == name or tree.effect[node] == unknown):
            tree.effect[node] = _E["own"]


def _close(context: Context, added: int, node: Node) -> None:
    tree = context.tree
    tree.end[added] = tree.count
    kind = tree.kind[added]
    if kind in _CLOSED:
        context.values.close(added)
    if kind == _K["call"]:
        context.launched(context, added, node)
        tree.end[added] = tree.count
