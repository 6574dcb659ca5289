"""Handlers of what gives names: imports, functions, classes, declarations and assignments."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from jobsight.program.tree.context import LONG, Context
from jobsight.program.tree.expressions import evaluated
from jobsight.program.tree.names import called, imports
from jobsight.program.tree.operators import kind_of
from jobsight.program.tree.vocabulary import EFFECT_NUMBERS, KIND_NUMBERS

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["on_assignment", "on_class", "on_declare", "on_function", "on_import", "on_repeated"]

_K, _E = KIND_NUMBERS, EFFECT_NUMBERS
_EXTENTS = re.compile(r"[\w>]\s*\(\s*((?:\(\w+\)\s*)?[^(),]+)")
_ARRAY_OF = re.compile(r",\s*([^,<>]+)>")


def on_import(context: Context, node: Node, added: int, _owner: int) -> bool:
    """The names that an import brings, and in Python the modules next to the program."""
    language = context.grammar.language
    found = list(imports(language, context.text(node, 5 * LONG)))
    for full, name in found:
        context.tree.imports.append(full)
        if name:
            plain = "/" in full or full.partition(".")[0] == name
            context.values.aliases[name] = name if plain else full
    if language == "python":
        context.tree.texts[added] = " ".join(full for full, _ in found)
        context.launched(context, added, node)
        context.tree.end[added] = context.tree.count
    return False


def on_function(context: Context, node: Node, added: int, _owner: int) -> bool:
    """A function: its name, and what its parameters are given."""
    name = node.child_by_field_name("name")
    declarator = node.child_by_field_name("declarator")
    if name is not None and name.is_named:
        text = context.text(name)
    elif declarator is not None and context.grammar.language != "java":
        text = context.text(declarator).partition("(")[0] if node.type[0] != "l" else ""
    elif context.grammar.language in ("fortran", "julia"):
        head = node.child(1 if context.grammar.language == "julia" else 0)
        text = context.text(head) if head and node.type != "arrow_function_expression" else ""
        text = re.sub(r".*(?:subroutine|function)\s+", "", text, flags=re.I | re.S)
        text = text.partition("(")[0]
    else:
        text = ""
    found = re.search(r"([A-Za-z_]\w*!?)\s*$", text)
    if found:
        context.tree.functions[added] = found[1]
        context.own.add(found[1])
    _enter(context, node, found[1] if found else "")
    return True


def on_class(context: Context, node: Node, added: int, _owner: int) -> bool:
    """A class: its name."""
    name = node.child_by_field_name("name")
    if name is not None:
        context.tree.classes[added] = context.text(name)
        context.own.add(context.tree.classes[added])
    return True


def on_declare(context: Context, node: Node, added: int, _owner: int) -> bool:
    """A declaration: in C++, that may be a call of a constructor."""
    kind = node.child_by_field_name("type")
    if kind is None:
        return True
    name = called(re.sub(r"<.*", "", context.text(kind, 120), flags=re.S), context.grammar.language)
    context.tree.texts[added] = name
    if context.grammar.bare == "std" and node.type == "declaration" and "." in name:
        effect = context.effects.of(name, context.text(node), context.grammar.bare)
        if effect != _E["unknown"]:
            context.tree.effect[added] = effect
            context.tree.calls[added] = name
        if effect == _E["allocate"]:  # a(n) may have been taken for the head of a function
            context.values.give(added, _extent_of(context, context.text(node), name))
    return True


def on_assignment(context: Context, node: Node, added: int, _owner: int) -> bool:
    """An assignment; ``x += 1`` updates, and a macro of C is a constant."""
    if node.type == "preproc_def":
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and value is not None:
            known = evaluated(context.text(value, 80), context.values.constants)
            if known is not None:
                context.values.constants[context.text(name)] = known
                context.tree.size[added] = 1 + round(known).bit_length() if known < 2**60 else 62
        return False
    operator = node.child_by_field_name("operator")
    if (
        operator is not None
        and kind_of(context.text(operator, 8), context.grammar.language) != _K["assign"]
    ):
        context.tree.kind[added] = _K["update"]
    return True


def _enter(context: Context, node: Node, name: str) -> None:
    """A function begins: its parameters have the values that calls give them."""
    head, outer = context.text(node), node.parent
    start = max(head.find(f"{name}("), 0)
    first = outer.child(0) if outer is not None else None
    if not name and first is not None:  # name <- function(n)
        name = context.text(first, 80)
    elif name == "__init__" and outer is not None and outer.parent is not None:
        of_class = outer.parent.child_by_field_name("name")
        name = context.text(of_class) if of_class is not None else name
    context.values.enter(context.values.known.parameters(name, head[start:]))


def _extent_of(context: Context, text: str, name: str) -> float | None:
    """How many elements the vectors of a declaration in C++ have, all of those in each other."""
    form = _ARRAY_OF if name == "std.array" else _EXTENTS
    known = (evaluated(one, context.values.constants) for one in form.findall(text))
    found = [one for one in known if one]
    nested = name == "std.array" or text.count("vector<") > 1
    return (math.prod if nested else max)(found) if found else None


def on_repeated(context: Context, node: Node, added: int, _owner: int) -> bool:
    """``[value; length]`` of Rust allocates."""
    sign = node.child(2)
    if sign is not None and context.text(sign) == ";":
        tree = context.tree
        tree.kind[added], tree.effect[added] = _K["call"], _E["allocate"]
        tree.calls[added] = "vec"
    return True
