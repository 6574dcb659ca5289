"""How loops move over arrays: straight, with strides, by other arrays' values, along pointers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jobsight.program.tree.normalized import Tree
from jobsight.program.tree.vocabulary import KIND_NUMBERS, ROLE_NUMBERS

__all__ = ["IndexCounts", "index_counts", "one_of", "reused"]

_K, _R = KIND_NUMBERS, ROLE_NUMBERS
_MOST_LOOPS, _MOST_NODES = 2000, 2000
_HEADS = frozenset({_R["header"], _R["condition"], _R["value"]})
_FIRST_FASTEST = frozenset({"fortran", "julia", "matlab", "r"})


def one_of(values: NDArray[np.uint8], numbers: Sequence[int]) -> NDArray[np.bool_]:
    """Which values (n,) are among numbers, as `np.isin`, whose cost is not worth it for bytes."""
    table = np.zeros(256, np.bool_)
    table[list(numbers)] = True
    return np.asarray(table[values])


class IndexCounts(NamedTuple):
    """Nodes of each way to index."""

    indirect: NDArray[np.intp]
    strided: NDArray[np.intp]
    straight: NDArray[np.intp]
    chased: NDArray[np.intp]


def index_counts(tree: Tree, inner: NDArray[np.intp]) -> IndexCounts:
    """Look at all indexing.

    Args:
        tree: the program.
        inner: its innermost loops.
    """
    strided: list[int] = []
    straight: list[int] = []
    chased: list[int] = []
    for loop in inner[:_MOST_LOOPS].tolist():
        end = min(int(tree.end[loop]), loop + _MOST_NODES)
        variables = _variables(tree, loop)
        within = np.arange(loop + 1, end)
        for node in within[one_of(tree.kind[loop + 1 : end], (_K["index"], _K["assign"]))].tolist():
            if tree.kind[node] == _K["assign"]:
                if _chases(tree, node):
                    chased.append(node)
            elif tree.kind[tree.parent[node]] != _K["index"] or tree.role[node] != _R["object"]:
                moves = _moves(tree, node, variables)
                if moves is not None:
                    (straight if moves else strided).append(node)
    return IndexCounts(
        _indirect(tree), np.array(strided, np.intp), np.array(straight, np.intp),
        np.array(chased, np.intp),
    )  # fmt: skip


def reused(tree: Tree, loops: NDArray[np.intp]) -> list[int]:
    """Indexing that a loop over a block repeats, as in products of matrices by blocks.

    Such a loop starts and ends by the counter of an outer one, as
    ``for (i = ii; i < min(ii + 64, n); i++)``; bounds that an array gives (``start[i]`` to
    ``start[i + 1]``) do not count.

    Args:
        tree: the program.
        loops: in the order of the tree.
    """
    found: set[int] = set()
    around: list[tuple[int, set[str]]] = []
    for loop in loops[:_MOST_LOOPS].tolist():
        while around and around[-1][0] <= loop:
            around.pop()
        outer = {name for _, names in around for name in names}
        counter = _variables(tree, loop)
        around.append((int(tree.end[loop]), counter))
        bounds = _bounds(tree, loop) if outer else []
        if len(bounds) == 2 and bounds[0] & bounds[1] & outer:
            inside = np.arange(loop + 1, min(int(tree.end[loop]), loop + _MOST_NODES))
            for node in inside[tree.kind[inside] == _K["index"]].tolist():
                if counter.isdisjoint(_named(tree, node)):
                    found.add(node)
    return sorted(found)


def _named(tree: Tree, node: int) -> set[str]:
    """Names in the beginning of a node."""
    inside = range(node, min(int(tree.end[node]), node + 40))
    return {tree.names[one] for one in inside if one in tree.names}


def _bounds(tree: Tree, loop: int) -> list[set[str]]:
    """Names in where a loop starts and in where it ends."""
    heads = [
        child for child in _children(tree, loop)
        if tree.role[child] in _HEADS and tree.kind[child] != _K["update"]
    ]  # fmt: skip
    if tree.files[tree.file[loop]].language == "fortran":  # its counter comes first
        heads = heads[1:]
    if len(heads) == 1 and tree.kind[heads[0]] in (_K["call"], _K["slice"]):  # range(a, b), a:b
        heads = _children(tree, heads[0])
    return [
        {
            tree.names[node]
            for node in range(head, min(int(tree.end[head]), head + 40))
            if node in tree.names and tree.role[node] != _R["target"]
            and tree.kind[tree.parent[node]] not in (_K["index"], _K["extent"])
        }
        for head in heads[:2]
    ]  # fmt: skip


def _children(tree: Tree, node: int) -> list[int]:
    found: list[int] = []
    at = node + 1
    while at < tree.end[node] and len(found) < 8:
        found.append(at)
        at = int(tree.end[at])
    return found


def _indirect(tree: Tree) -> NDArray[np.intp]:
    """Indexing within an index of another, at most three nodes deep."""
    nodes = np.flatnonzero(tree.kind == _K["index"])
    found = np.zeros(len(nodes), bool)
    at = nodes
    for _ in range(3):
        above = np.maximum(tree.parent[at], 0)
        found |= (tree.kind[above] == _K["index"]) & (tree.role[at] == _R["index"])
        at = above
    return nodes[found]


def _variables(tree: Tree, loop: int) -> set[str]:
    """What a loop counts with."""
    for node in range(loop + 1, min(loop + 8, int(tree.end[loop]))):
        if node in tree.names and tree.role[node] in (_R["target"], _R["header"]):
            return {tree.names[node]}
    return set()


def _dimensions(tree: Tree, node: int) -> list[tuple[int, int]]:
    """The ranges of nodes of each index, the first one first; ``a[i][j]`` has two."""
    found: list[tuple[int, int]] = []
    for _ in range(4):
        own: list[tuple[int, int]] = []
        inner, child = -1, node + 1
        while child < tree.end[node] and len(own) < 8:
            if tree.role[child] == _R["object"]:
                inner = child if tree.kind[child] == _K["index"] else -1
            elif tree.kind[child] == _K["literal"]:
                inside = child + 1
                while inside < tree.end[child] and len(own) < 8:
                    own.append((inside, int(tree.end[inside])))
                    inside = int(tree.end[inside])
            else:
                own.append((child, int(tree.end[child])))
            child = int(tree.end[child])
        found = own + found
        if inner < 0:
            return found
        node = inner
    return found


def _moves(tree: Tree, node: int, variables: set[str]) -> bool | None:
    """Whether a loop's step goes to the next element; None: the loop does not move it."""
    dimensions = _dimensions(tree, node)
    if not dimensions or not variables:
        return None
    language = tree.files[tree.file[node]].language
    fastest = 0 if language in _FIRST_FASTEST else len(dimensions) - 1
    moving = [
        at
        for at, (start, end) in enumerate(dimensions)
        if any(tree.names.get(one) in variables for one in range(start, min(end, start + 40)))
    ]
    if not moving:
        return None
    if fastest not in moving:
        return False
    start, end = dimensions[fastest]
    return not any(
        tree.names.get(one) in variables and tree.kind[tree.parent[one]] == _K["multiply"]
        for one in range(start, min(end, start + 40))
    )


def _chases(tree: Tree, node: int) -> bool:
    """``p = p.next``, ``p = next[p]``: the next step needs what this one loads."""
    target = tree.names.get(node + 1)
    if target is None or tree.role[node + 1] != _R["target"]:
        return False
    for one in range(node + 2, min(int(tree.end[node]), node + 12)):
        name = tree.names.get(one)
        if name is None:
            continue
        if tree.kind[one] == _K["member"] and name.startswith(f"{target}."):
            return True
        if name == target and tree.role[one] == _R["index"]:
            return True
    return False
