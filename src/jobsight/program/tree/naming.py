"""Handlers of names and literals, and of statements known by their first word."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jobsight.program.tree.context import LONG, Context
from jobsight.program.tree.expressions import number_of
from jobsight.program.tree.names import called
from jobsight.program.tree.operators import manager
from jobsight.program.tree.vocabulary import EFFECT_NUMBERS, KIND_NUMBERS, ROLE_NUMBERS

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["on_constant", "on_name", "on_number", "on_text", "on_word"]

_K, _R, _E = KIND_NUMBERS, ROLE_NUMBERS, EFFECT_NUMBERS
_DEFINES = frozenset({_K["function"], _K["class"]})


def on_name(context: Context, node: Node, added: int, owner: int) -> bool:
    """A name, or what has the form ``a.b``."""
    tree = context.tree
    role, around = tree.role[added], tree.kind[owner]
    if role == _R["type"] and around != _K["class"]:
        return context.drop(added)
    if around == _K["call"] and _is_callee(context, node.parent, added, owner):
        text = context.text(node)  # kept only where something else is in it, as in f(x).g
        return "(" in text or "[" in text or context.drop(added)
    if around == _K["function"] and context.grammar.brackets_call:
        context.values.arrays.add(context.text(node))
    if around in _DEFINES and role == _R["target"]:
        return context.drop(added)
    plain = context.data[node.start_byte : node.end_byte]
    leaf = len(plain) < 80 and plain.isalnum()
    text = plain.decode() if leaf else called(context.end_of(node), context.grammar.language)
    if not text or "(" in text or "?" in text:
        return True
    tree.names[added] = text
    if around == _K["with"] and role == _R["value"]:
        manager(context, added, text)
    if role != _R["target"]:
        context.values.named(added, text.rpartition(".")[2])
    if text in ("true", "TRUE", "True"):
        tree.kind[added] = _K["constant"]
        context.values.give(added, 1.0)
    return False


def _is_callee(context: Context, around: Node | None, added: int, owner: int) -> bool:
    role = context.tree.role[added]
    if context.tree.calls.get(owner) == "new_array":
        return False
    if around is not None and around.type == "argument_list":
        return False
    if role in (_R["callee"], _R["target"]):
        return True
    return role == 0 and added == owner + 1


def on_number(context: Context, node: Node, added: int, _owner: int) -> bool:
    """A number has its value."""
    context.values.give(added, number_of(context.text(node, 60)))
    return False


def on_constant(context: Context, node: Node, added: int, _owner: int) -> bool:
    """True is worth 1."""
    if context.text(node, 8).strip(".").lower() == "true":
        context.values.give(added, 1.0)
    return False


def on_text(context: Context, node: Node, added: int, owner: int) -> bool:
    """A literal text; those of calls and assignments are kept for what runs programs."""
    context.tree.texts[added] = context.text(node, 2 * LONG)
    if context.grammar.language == "bash" or context.tree.effect[owner] == _E["arguments"]:
        context.values.give(added, number_of(context.text(node, 40).strip("\"'")))
    return True


def on_word(context: Context, node: Node, added: int, _owner: int) -> bool:
    """A statement whose kind is in its first word, not in its type; a label stays."""
    words = context.grammar.words.get(node.type)
    if words is None and node.named_child_count:
        context.tree.texts[added] = "label"
    if words is not None:
        kind = words.get(re.split(r"\W", context.text(node, 20).lower())[0])
        if kind is None:
            return context.drop(added)
        context.tree.kind[added] = kind
    return True
