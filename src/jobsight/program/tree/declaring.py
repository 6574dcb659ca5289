"""What declarations say of sizes: vectors, parameters of functions, options, repeated values."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from jobsight.program.tree.expressions import evaluated
from jobsight.program.tree.vocabulary import EFFECT_NUMBERS, KIND_NUMBERS

if TYPE_CHECKING:
    from tree_sitter import Node

    from jobsight.program.tree.growing import Growing
    from jobsight.program.tree.visiting import Visitor

__all__ = ["block_length", "enter", "extent_of", "option", "repeated", "repeats"]

_K, _E = KIND_NUMBERS, EFFECT_NUMBERS
_EXTENTS = re.compile(r"[\w>]\s*\(\s*((?:\(\w+\)\s*)?[^(),]+)")
_SEQUENCES = frozenset({"bytearray", "array.array"})
_ARRAY_OF = re.compile(r",\s*([^,<>]+)>")
_OPTION_NAME = re.compile(r"(?<=\()\s*[\"'](\w+)[\"']|[\"'](--?[A-Za-z][\w-]*)[\"']")
_DEFAULT = re.compile(r"default(?:_value)?\s*=\s*[\"']?([^,()\"']+)")


def extent_of(visitor: Visitor, text: str, name: str) -> float | None:
    """How many elements the vectors of a declaration in C++ have, all of those in each other."""
    form = _ARRAY_OF if name == "std.array" else _EXTENTS
    known = (evaluated(one, visitor.values.constants) for one in form.findall(text))
    found = [one for one in known if one]
    nested = name == "std.array" or text.count("vector<") > 1
    return (math.prod if nested else max)(found) if found else None


def enter(visitor: Visitor, node: Node, name: str) -> None:
    """A function begins: its parameters have the values that calls give them."""
    head, outer = visitor.text(node), node.parent
    start = max(head.find(f"{name}("), 0)
    first = outer.child(0) if outer is not None else None
    if not name and first is not None:  # name <- function(n)
        name = visitor.text(first, 80)
    elif name == "__init__" and outer is not None and outer.parent is not None:
        of_class = outer.parent.child_by_field_name("name")
        name = visitor.text(of_class) if of_class is not None else name
    visitor.values.enter(visitor.values.given.parameters(name, head[start:]))


def option(visitor: Visitor, text: str) -> None:
    """An option of the command line: its default, unless that gives it a number."""
    values, default = visitor.values, _DEFAULT.search(text)
    names = [first or last for first, last in _OPTION_NAME.findall(text)]
    if names and not names[0].startswith("-"):
        value = values.given.positional(visitor.positions)
        visitor.positions += 1
    else:
        value = values.given.option(names)
    if value is None and default:
        value = evaluated(default[1], values.constants)
    if value is not None:
        values.constants |= {one.lstrip("-").replace("-", "_"): value for one in names}


def repeated(visitor: Visitor, node: Node, added: int, _owner: int) -> bool:
    """``[value; length]`` of Rust allocates."""
    sign = node.child(2)
    if sign is not None and visitor.text(sign) == ";":
        tree = visitor.tree
        tree.kind[added], tree.effect[added] = _K["call"], _E["allocate"]
        tree.calls[added] = "vec"
    return True


def repeats(tree: Growing, product: int) -> bool:
    """Whether a product repeats the elements of a list, as in ``bytearray([1]) * n``."""
    first = product + 1
    return tree.kind[first] == _K["literal"] or tree.calls.get(first, "") in _SEQUENCES


def block_length(tree: Growing, part: int) -> int:
    """The node that says how many elements ``i : i + 64`` has; -1: there is none."""
    start, last = part + 1, tree.end[part] - 1
    end = tree.end[start]
    plain = last == end + 2 and tree.kind[end] == _K["arithmetic"] and tree.end[end] == last + 1
    same = plain and tree.names.get(end + 1, "") == tree.names.get(start)
    return last if same and tree.kind[part] == _K["slice"] else -1
