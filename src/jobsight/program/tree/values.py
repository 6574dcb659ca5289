"""What names and expressions of a program stand for, as far as its text says.

Numbers: constants, and what is computed of them; of alternatives (``argv[1] or 1000``) the largest.
Names: what a call returned, so that ``s = socket.socket()`` makes ``s.recv`` a method of a socket.
"""

from __future__ import annotations

import math
import re

from jobsight.program.tree.growing import Growing
from jobsight.program.tree.vocabulary import EFFECT_NUMBERS, KIND_NUMBERS, ROLE_NUMBERS
from jobsight.text import wordlist

__all__ = ["Values", "macro_number", "number_of"]

_K, _R, _E = KIND_NUMBERS, ROLE_NUMBERS, EFFECT_NUMBERS
_NUMBER_FORM = re.compile(
    r"0[xX][\da-fA-F_]+|0[bB][01_]+|(?:\d[\d_']*\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?"
)
_PRODUCTS = frozenset({_E["allocate"], _E["random"], _E["table"]})
_PASSED_ON = frozenset({_E["convert"], _E["cheap"], _E["arguments"], _E["math"], _E["unknown"]})
_LARGEST = frozenset(_K[one] for one in wordlist("logic branch case comprehension declare text"))
_BOUNDING = frozenset({_R["condition"], _R["header"], _R["value"]})
_SMALL = 8
_ARITHMETIC = frozenset(_K[one] for one in ("arithmetic", "multiply", "divide", "bits"))
_FIXED = frozenset({_K["constant"], _K["number"]})
_TYPELESS = frozenset({"auto", "var", "const", "let", "int", "double", "float", "long", "char"})


def number_of(text: str) -> float | None:
    """The value of a literal number, whatever the language; None: not one."""
    found = _NUMBER_FORM.match(text)
    if found is None:
        return None
    plain = re.sub(r"[_']", "", found[0])
    try:
        if plain[:2].lower() in ("0x", "0b"):
            return float(int(plain, 0))
        return float(re.sub(r"[dD]", "e", plain))
    except (ValueError, OverflowError):
        return None


def macro_number(text: str) -> float | None:
    """The value of a macro that is a number, a product or a power of two."""
    plain = re.sub(r"[()\s]|\b[uUlL]+\b", "", text)
    parts = re.split(r"<<|\*", plain)
    known = [one for part in parts if (one := number_of(part)) is not None]
    if len(known) < len(parts) or len(parts) > 4:
        return None
    if "<<" in plain:
        return known[0] * 2.0 ** min(known[1], 60) if len(known) == 2 else None
    return math.prod(known)


def _bucket(value: float) -> int:
    return min(1 + math.ceil(math.log2(max(abs(value), 1.0))), 200)


class Values:
    """The values of one text's nodes, while its part of the tree grows."""

    def __init__(self, tree: Growing) -> None:
        self.tree = tree
        self.aliases: dict[str, str] = {}
        self.constants: dict[str, float] = {}
        self.operators: dict[int, str] = {}
        self.arrays: set[str] = set()
        self._values: dict[int, float] = {}
        self._pending: list[int] = []

    def give(self, node: int, value: float | None) -> None:
        """Say what a node is worth; None: unknown."""
        if value is None or not math.isfinite(value):
            return
        self._values[node] = value
        self._pending.append(node)
        self.tree.size[node] = _bucket(value)

    def product(self, text: str) -> float | None:
        """The value of a product of names and numbers; None: unknown."""
        value = 1.0
        for part in map(str.strip, text.split("*")):
            known = self.constants.get(part, number_of(part))
            if known is None:
                return None
            value *= known
        return value

    def close(self, node: int) -> None:
        """All within a node was added: its value, and the names that it gives one."""
        children: list[int] = []
        parent, pending = self.tree.parent, self._pending
        while pending and pending[-1] > node:
            child = pending.pop()
            if parent[child] == node:
                children.append(child)
        children.reverse()
        kind = self.tree.kind[node]
        if kind == _K["assign"]:
            self._assigned(node, children)
        elif kind == _K["update"]:
            self.constants.pop(self.tree.names.get(node + 1, ""), None)
        elif kind == _K["declare"]:
            self._declared(node)
        elif kind == _K["loop"]:
            within = [c for c in self._children(node) if self._bounds(c)]
            known = self._listed(within) or self._known(within)
            if known is not None and known <= _SMALL and self._while(within):
                known = None
            self.tree.size[node] = _bucket(known) if known is not None else 0
        elif kind == _K["extent"]:
            self.arrays |= {
                self.tree.names[c] for c in self._children(node)[:1] if c in self.tree.names
            }
            self.give(node, self._value(node, kind, children) if children else None)
        elif children:
            self.give(node, self._value(node, kind, children))

    def _bounds(self, child: int) -> bool:
        """Whether a child of a loop says how often it runs."""
        role, kind = self.tree.role[child], self.tree.kind[child]
        if role in (_R["condition"], 0) and kind in _FIXED:
            return False
        if kind == _K["assign"]:
            return child in self._values
        return role in _BOUNDING and not (role == _R["header"] and kind == _K["update"])

    def _listed(self, within: list[int]) -> float | None:
        """How many things a loop goes over, where it names them all."""
        tree = self.tree
        listed = [one for one in within if tree.role[one] == _R["value"]]
        if len(listed) > 1:
            return float(len(listed))
        if listed and tree.kind[listed[0]] == _K["literal"]:
            return float(len(self._children(listed[0])))
        return None

    def _while(self, within: list[int]) -> bool:
        return all(self.tree.role[one] in (_R["condition"], 0) for one in within)

    def _known(self, nodes: list[int]) -> float | None:
        """The largest value of nodes; None: unknown, or so small that the others may count."""
        values = [self._values[one] for one in nodes if one in self._values]
        if not values or (len(values) < len(nodes) and max(values) <= _SMALL):
            return None
        return max(values)

    def _value(self, node: int, kind: int, children: list[int]) -> float | None:
        values = [self._values[child] for child in children]
        if kind in _ARITHMETIC:
            known = len(self._children(node)) == len(values)
            return _computed(self.operators.get(node, ""), values) if known else None
        if kind == _K["call"]:
            effect = self.tree.effect[node]
            if effect in _PRODUCTS:
                return math.prod(max(abs(one), 1.0) for one in values[:4])
            return self._known(self._children(node)) if effect in _PASSED_ON else None
        if kind == _K["extent"] or (kind == _K["literal"] and len(values) <= 4):
            return math.prod(max(abs(one), 1.0) for one in values)
        if kind in (_K["compare"], _K["slice"]):
            return self._known(self._children(node))
        return max(values) if kind in _LARGEST else None

    def _children(self, node: int) -> list[int]:
        tree, at = self.tree, node + 1
        found: list[int] = []
        while at < tree.end[node] and len(found) < 64:
            found.append(at)
            at = tree.end[at]
        return found

    def targets(self, node: int) -> list[str]:
        """Names that an assignment or a declaration gives a value."""
        tree = self.tree
        return [
            tree.names[child]
            for child in self._children(node)
            if tree.role[child] == _R["target"] and child in tree.names
        ]

    def _assigned(self, node: int, children: list[int]) -> None:
        tree = self.tree
        names = self.targets(node)
        within = self._children(node)
        given = [c for c in within if tree.role[c] != _R["target"]]
        given = given or [c for c in within if tree.kind[c] == _K["call"]]  # open(name) as file
        values = [self._values[c] for c in children if tree.role[c] != _R["target"]]
        for name in names:
            short = name.rpartition(".")[2]
            self.arrays.add(name)
            header = _R["header"] in (tree.role[node], tree.role[tree.parent[node]])
            if header and values and max(values) > _SMALL:
                self.give(node, max(values))
            elif values and not header:
                self.constants[short] = max(values)
            else:
                self.constants.pop(short, None)
        if len(names) == 1 or (names and len(given) == 1):
            self._stands_for(names[0], given[0] if given else -1)
        if len(names) == len(given) > 1:
            for name, child in zip(names, given, strict=True):
                self._stands_for(name, child)

    def _stands_for(self, name: str, value: int) -> None:
        """A name gets the value of a node."""
        tree = self.tree
        while value >= 0 and tree.kind[value] in (_K["await"], _K["raise"], _K["logic"]):
            value = value + 1 if value + 1 < tree.count else -1
        kind = tree.kind[value] if value >= 0 else -1
        if kind == _K["function"]:
            tree.functions.setdefault(value, name)
            self.arrays.discard(name)
        called = tree.calls.get(value, "") if kind in (_K["call"], _K["index"]) else ""
        plain = tree.names.get(value, "") if kind in (_K["name"], _K["member"]) else ""
        text = tree.texts.get(value + 1, "") if called == "require" else ""
        if text:
            self.aliases[name] = text.strip("\"'")
        elif called and tree.effect[value] != _E["convert"]:
            self.aliases[name] = f"{called.removesuffix('()')}()"
        elif plain and plain.partition(".")[0] in self.aliases and plain != name:
            head, dot, rest = plain.partition(".")
            self.aliases[name] = self.aliases[head] + dot + rest
        else:
            self.aliases.pop(name, None)

    def _declared(self, node: int) -> None:
        tree, kind = self.tree, self.tree.texts.get(node, "")
        for child in self._children(node):
            names = self.targets(child) if tree.kind[child] == _K["assign"] else (
                [tree.names[child]] if child in tree.names else [])  # fmt: skip
            for name in names:
                self.arrays.add(name)
                if kind and kind not in _TYPELESS:
                    self.aliases[name] = f"{kind}()"


def _computed(operator: str, values: list[float]) -> float | None:
    """The value of an operation."""
    if len(values) == 1:
        return values[0]
    if len(values) != 2:
        return None
    left, right = values
    try:
        match operator:
            case "*" | ".*":
                return left * right
            case "+":
                return left + right
            case "-":
                return left - right
            case "/" | "//" | "./" | "div":
                return left / right if right else None
            case "<<":
                return left * math.pow(2.0, min(right, 64))
            case "**" | "^" | ".^":
                return float(math.pow(left, right)) if abs(right) < 64 and left >= 0 else None
    except (OverflowError, ZeroDivisionError):
        return None
    return max(left, right)
