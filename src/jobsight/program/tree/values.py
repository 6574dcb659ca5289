"""What names and expressions of a program stand for, as far as its text says.

Numbers: constants, and what is computed of them; of alternatives (``argv[1] or 1000``) the largest.
Names: what a call returned, so that ``s = socket.socket()`` makes ``s.recv`` a method of a socket.
"""

from __future__ import annotations

import math
import re

from jobsight.program.tree.expressions import KnownValues, computed
from jobsight.program.tree.normalized import Growing
from jobsight.program.tree.vocabulary import EFFECT_NUMBERS, KIND_NUMBERS, ROLE_NUMBERS
from jobsight.text import wordlist, wordset

__all__ = ["Values"]

_K, _R, _E = KIND_NUMBERS, ROLE_NUMBERS, EFFECT_NUMBERS
_PRODUCTS = frozenset({_E["allocate"], _E["random"], _E["table"]})
_PASSED_ON = frozenset(
    _E[one] for one in wordlist("convert cheap arguments math unknown stream copy gather sort fft")
)
_COUNTS = wordset("len length numel size nrow ncol Len nnodes")
"""Calls that make a number of an array."""
_SHAPES: dict[str, tuple[int, int | None]] = {
    **dict.fromkeys(wordlist("full vector runif rnorm rexp rbinom rgamma rpois sample"), (0, 1)),
    **dict.fromkeys(wordlist("linspace logspace geomspace"), (2, 3)),
    **dict.fromkeys(wordlist("rand randn random random_sample standard_normal"), (0, None)),
    **dict.fromkeys(wordlist("uniform normal randint integers lognormal binomial"), (2, None)),
    **dict.fromkeys(wordlist("fill exponential poisson choice randi"), (1, None)),
    "permutation": (0, None), "randperm": (0, None), "matrix": (1, 3),
}  # fmt: skip
"""Which arguments say how many elements an array has; of others that allocate, all."""
_NAMED = wordset("size shape")
_DRAWS = frozenset({"python", "r", "julia", "matlab"})
"""Languages whose random numbers come in arrays."""
_SQUARE = wordset("zeros ones rand randn nan inf cell")
"""Calls that make a square of one number in MATLAB."""
_ARGV = wordset("argv args ARGV ARGS Args arg")
_LARGEST = frozenset(_K[one] for one in wordlist("logic branch case comprehension declare text"))
_BOUNDING = frozenset({_R["condition"], _R["header"], _R["value"]})
_PASSING = _LARGEST | {_K["call"]}
_TEXTS = frozenset(_K[one] for one in ("text", "divide", "branch"))
_SMALL, _FEW = 8, 16
_ARITHMETIC = frozenset(_K[one] for one in ("arithmetic", "multiply", "divide", "bits"))
_ON_ARRAYS = wordset("python r julia matlab fortran")
"""Languages in which an operator may take whole arrays."""
_FIXED = frozenset({_K["constant"], _K["number"]})
_PRODUCTS_OF_MATRICES = wordset("julia matlab")
_MATRIX = re.compile(
    r"(?:Eigen\.)?Matrix\w+(?:\.\w+)?\(\)|(?:arma\.)(?:f?mat|cx_mat)\(\)|cv\.Mat\(\)"
)
_SEQUENCES = frozenset({"bytearray", "array.array"})
_TYPELESS = frozenset({"auto", "var", "const", "let", "int", "double", "float", "long", "char"})


def _bucket(value: float) -> int:
    return min(1 + math.ceil(math.log2(max(abs(value), 1.0))), 200)


class Values:
    """The values of one text's nodes, while its part of the tree grows."""

    def __init__(self, tree: Growing, language: str, known: KnownValues) -> None:
        self.tree, self.language, self.known = tree, language, known
        self.aliases: dict[str, str] = {}
        self.constants: dict[str, float] = {}
        self.operators: dict[int, str] = {}
        self.arrays: set[str] = set()
        self.texts: dict[str, str] = {}
        """Names whose value is a text, or a path; alternatives and parts are parted by ``/``."""
        self.parameters: dict[str, float] = {}
        """Of the function that was entered last."""
        self._sized: set[str] = set()
        """Names whose value is the number of an array's elements."""
        self._extents: set[int] = set()
        """Nodes of such a value."""
        self._sure: set[int] = set()
        """Nodes whose value the command line gives."""
        self._values: dict[int, float] = {}
        self._pending: list[int] = []

    def give(self, node: int, value: float | None) -> None:
        """Say what a node is worth; None: unknown."""
        if value is None or not math.isfinite(value):
            return
        self._values[node] = value
        self._pending.append(node)
        self.tree.size[node] = _bucket(value)

    def named(self, node: int, name: str) -> None:
        """A node is a name: it is worth what that was given."""
        known = self.constants.get(name)
        if known is None:
            elsewhere = self.known.passed if name in self.arrays else self.known.constants
            known = elsewhere.get(name)
        self.give(node, known)
        if name in self._sized:
            self._extents.add(node)

    def enter(self, parameters: dict[str, float]) -> None:
        """A function begins, whose parameters calls or defaults give values."""
        self.parameters = parameters
        self.constants |= parameters
        self._sized.difference_update(parameters)

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
            # `x += 1`: a number is not known any more, an array keeps its size
            name = self.tree.names.get(node + 1, "")
            if name.rpartition(".")[2] not in self._sized:
                self.constants.pop(name, None)
            elif self.language in _ON_ARRAYS:
                self.tree.effect[node] = _E["stream"]
                self.tree.size[node] = self.tree.size[node + 1]
        elif kind == _K["declare"]:
            self._declared(node)
        elif kind == _K["loop"]:
            within = [c for c in self._children(node) if self._bounds(c)]
            known = self._listed(within) or self._known(within)
            while_ = all(self.tree.role[one] in (_R["condition"], 0) for one in within)
            if known is not None and known <= _SMALL and while_:
                known = None
            self.tree.size[node] = _bucket(known) if known is not None else 0
        elif kind == _K["multiply"] and self._matrices(node):
            self.tree.kind[node], self.tree.effect[node] = _K["call"], _E["dense"]
            self.tree.calls[node] = self.operators[node]
            self.give(node, self._value(node, kind, children))
        elif kind == _K["extent"]:
            first, names = self._children(node)[:1], self.tree.names
            self.arrays |= {names[one] for one in first if one in names}
            self.give(node, self._value(node, kind, children) if children else None)
        elif children or kind == _K["call"]:
            self.give(node, self._value(node, kind, children))

    def _matrices(self, node: int) -> bool:
        """Whether a product is one of two arrays, in a language where that is of matrices."""
        tree, factors = self.tree, self._children(node)
        if len(factors) != 2 or self.operators.get(node) != "*":
            return False
        if self.language in _PRODUCTS_OF_MATRICES:
            return self._extents.issuperset(factors)
        names = [self.aliases.get(tree.names.get(one, ""), "") for one in factors]
        return self.language == "cpp" and all(_MATRIX.match(one) for one in names)

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

    def _known(self, nodes: list[int]) -> float | None:
        """The largest value of nodes; None: unknown, or so small that the others may count."""
        values = [self._values[one] for one in nodes if one in self._values]
        if not values or (len(values) < len(nodes) and max(values) <= _SMALL):
            return None
        return max(values)

    def _value(self, node: int, kind: int, children: list[int]) -> float | None:
        values = [self._values[child] for child in children]
        sure = [self._values[child] for child in children if child in self._sure]
        sizes = [self._values[child] for child in children if child in self._extents]
        if sure and kind in _PASSING:
            self._sure.add(node)
            return max(sure)
        if kind == _K["call"]:
            effect = self.tree.effect[node]
            if effect in _PRODUCTS:
                return self._elements(node)
            if effect not in _PASSED_ON:
                return None
            if node in self._extents and node in self._values:  # a method of an array
                return max([self._values[node], *sizes])
            if sizes and self.tree.calls.get(node, "").rpartition(".")[2] not in _COUNTS:
                self._extents.add(node)
                return max(sizes)
            return self._known(self._children(node))
        if kind == _K["index"]:
            tree, inside = self.tree, self._children(node)
            if inside and inside[0] in self._extents and self.language in _ON_ARRAYS:
                return self._part(node, inside)
            if len(inside) != 2:
                return None
            text = tree.texts.get(inside[1], "")
            if text:
                return self.known.entries.get(text.strip("\"'"))
            if tree.names.get(inside[0], "").rpartition(".")[2] in _ARGV and inside[1] in children:
                first = 0 if self.language in ("java", "perl") else 1
                found = self.known.argument(int(self._values[inside[1]]) - first)
                if found is not None:
                    self._sure.add(node)
                return found
            return None
        if kind == _K["multiply"] and self.language == "python" and _repeats(self.tree, node):
            self.tree.effect[node] = _E["allocate"]
            self._extents.add(node)
            return math.prod(max(one, 1.0) for one in values) if values else None
        if sizes and kind != _K["compare"]:
            self._extents.add(node)
            if not self.tree.effect[node] and kind in _ARITHMETIC and self.language in _ON_ARRAYS:
                self.tree.effect[node] = _E["stream"]
            return max(sizes)
        if kind in _ARITHMETIC:
            known = len(self._children(node)) == len(values)
            return computed(self.operators.get(node, ""), values) if known else None
        if kind == _K["extent"] or (kind == _K["literal"] and len(values) <= 4):
            return math.prod(max(abs(one), 1.0) for one in values)
        if kind in (_K["compare"], _K["slice"]):
            return self._known(self._children(node))
        return max(values) if kind in _LARGEST else None

    def _elements(self, node: int) -> float | None:
        """How many elements a call allocates: the product of the numbers that are its shape."""
        tree, name = self.tree, self.tree.calls.get(node, "").rpartition(".")[2]
        drawn = tree.effect[node] == _E["random"]
        if drawn and (self.language not in _DRAWS or name not in _SHAPES):
            return None
        within = self._children(node)
        if self.language == "fortran":  # allocate (a(n, n), b(n)): the larger one
            products = [self._product(self._children(one)[1:]) for one in within]
            return max((one for one in products if one), default=None)
        named = [one for one in within if tree.names.get(one + 1) in _NAMED]
        shape = [one for parent in named for one in self._children(parent)[1:]]
        skipped = {_K["assign"], _K["text"]} | ({_K["slice"]} if drawn else set())
        plain = [one for one in within if tree.kind[one] not in skipped]
        shape = shape or plain[slice(*_SHAPES.get(name, (0, None)))]
        sizes = [self._values[one] for one in within if one in self._extents]
        values = [
            max(abs(self._values[one]), 1.0)
            for one in shape
            if one in self._values and one not in self._extents
        ]
        if not values and not sizes:
            return None
        self._extents.add(node)
        product = math.prod(values[:4])
        if len(values) == len(plain) == 1 and (
            name in ("eye", "identity") or (self.language == "matlab" and name in _SQUARE)
        ):
            product **= 1 if tree.kind[plain[0]] == _K["literal"] else 2
        inner = max(sizes, default=1.0)
        return product * inner if self.language in ("cpp", "rust") else max(product, inner)

    def _product(self, nodes: list[int]) -> float | None:
        """Of the sizes among the values of nodes."""
        sizes = [abs(self._values[one]) for one in nodes if one in self._values]
        return math.prod(max(one, 1.0) for one in sizes) if sizes else None

    def _part(self, node: int, inside: list[int]) -> float | None:
        """How many elements a part of an array has, at most; None: it is a single one."""
        tree, indexes = self.tree, inside[1:]
        chosen = [self._values[n] for n in indexes if n in self._extents and n in self._values]
        if not chosen and not any(tree.kind[one] == _K["slice"] for one in indexes):
            return None
        self._extents.add(node)
        if chosen:
            tree.effect[node] = _E["gather"]
        block = self._values.get(_block_length(tree, indexes[0])) if len(indexes) == 1 else None
        return max(chosen, default=block or self._values.get(inside[0]))

    def method(self, node: int, name: str) -> None:
        """A call is a method of a name: if that is an array, the call goes over its elements."""
        short = name.rpartition(".")[2]
        if short in self._sized and short in self.constants:
            if self.tree.effect[node] in _PASSED_ON:
                self._extents.add(node)
                self.give(node, self.constants[short])
            else:
                self.tree.size[node] = _bucket(self.constants[short])

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
        worth = [c for c in children if tree.role[c] != _R["target"]]
        paired = len(names) == len(given) > 1
        for at, name in enumerate(names):
            short = name.rpartition(".")[2]
            own = [c for c in worth if not paired or c == given[at]]
            values = [self._values[c] for c in own]
            if short in self.known.passed:
                values = [self.known.passed[short]]
            self.arrays.add(name)
            header = _R["header"] in (tree.role[node], tree.role[tree.parent[node]])
            if tree.role[node] == _R["parameter"] and short in self.parameters:
                continue
            self._sized.discard(short)
            if header and values and max(values) > _SMALL:
                self.give(node, max(values))
            elif values and not header:
                self.constants[short] = max(values)
                if any(child in self._extents for child in own):
                    self._sized.add(short)
            elif tree.kind[max(tree.parent[node], 0)] != _K["branch"]:
                self.constants.pop(short, None)
        if len(names) == 1 or (names and len(given) == 1):
            self._stands_for(names[0], given[0] if given else -1)
        if paired:
            for name, child in zip(names, given, strict=True):
                self._stands_for(name, child)

    def _stands_for(self, name: str, value: int) -> None:
        """A name gets the value of a node."""
        tree = self.tree
        while value >= 0 and tree.kind[value] in (_K["await"], _K["raise"], _K["logic"]):
            value = value + 1 if value + 1 < tree.count else -1
        kind = tree.kind[value] if value >= 0 else -1
        if kind in _TEXTS or tree.effect[value] == _E["cheap"]:
            inside = range(value, min(tree.end[value], value + _FEW))
            texts = [tree.texts[one].strip("fr\"'") for one in inside if one in tree.texts]
            self.texts[name] = "/".join(texts)
        if kind == _K["function"]:
            tree.functions.setdefault(value, name)
            self.arrays.discard(name)
        by_key = kind == _K["index"] and self._children(value)[1:][-1:]
        whole = kind == _K["call"] or (by_key and tree.kind[by_key[0]] == _K["text"])
        called = tree.calls.get(value, "") if whole else ""
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
            if tree.effect[node] == _E["allocate"] and not tree.size[node]:
                self.give(node, self._product(self._children(child)[1:2]))
            for name in names:
                self.arrays.add(name)
                if kind and kind not in _TYPELESS:
                    self.aliases[name] = f"{kind}()"


def _repeats(tree: Growing, product: int) -> bool:
    """Whether a product repeats the elements of a list, as in ``bytearray([1]) * n``."""
    first = product + 1
    return tree.kind[first] == _K["literal"] or tree.calls.get(first, "") in _SEQUENCES


def _block_length(tree: Growing, part: int) -> int:
    """The node that says how many elements ``i : i + 64`` has; -1: there is none."""
    start, last = part + 1, tree.end[part] - 1
    end = tree.end[start]
    plain = last == end + 2 and tree.kind[end] == _K["arithmetic"] and tree.end[end] == last + 1
    same = plain and tree.names.get(end + 1, "") == tree.names.get(start)
    return last if same and tree.kind[part] == _K["slice"] else -1
