"""Where a program gets to, and how many loops are around that, across its functions."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from jobsight.program.tree.growing import Growing
from jobsight.program.tree.vocabulary import KIND_NUMBERS

__all__ = ["reach", "within"]

N = TypeVar("N", bound=np.number[Any])
_MOST_DEPTH, _MOST_ROUNDS = 8, 12
_FEW = 3
"""A loop whose bounds have at most this size (4 times) does not count."""
_LIBRARIES = frozenset({"c", "cpp", "cuda", "go", "rust", "java"})
"""Languages in which nothing is run outside of functions."""
_KEPT = frozenset({"main", "MAIN__", "run"})


def reach(tree: Growing) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Loops around each node, those around calls of its function too, and whether it is reached.

    A function is reached by its name wherever reached code has it: called, or handed on.
    """
    kind = np.array(tree.kind[: tree.count], np.uint8)
    depth = np.array(tree.lexical[: tree.count], np.int16)
    size = np.array(tree.size[: tree.count])
    ends = np.array(tree.end[: tree.count], np.intp)
    few = np.flatnonzero((kind == KIND_NUMBERS["loop"]) & (size > 0) & (size <= _FEW))
    depth = np.maximum(depth - within(len(kind), few, ends[few], np.ones(len(few), int)), 0)
    reached = np.ones(len(kind), bool)
    by_name: dict[str, list[int]] = {}
    for node, name in tree.functions.items():
        reached[node + 1 : tree.end[node]] = False
        by_name.setdefault(name, []).append(node)
    users = [
        (node, name.rpartition(".")[2])
        for names in (tree.calls, tree.names)
        for node, name in names.items()
        if name.rpartition(".")[2] in by_name
    ]
    users.sort()
    base = dict.fromkeys(tree.functions, -1)
    started = [
        node
        for node in tree.functions
        if tree.files[tree.file[node]].language in _LIBRARIES and tree.functions[node] in _KEPT
    ]
    for file in tree.files:
        own = [n for n in tree.functions if tree.files[tree.file[n]] is file]
        whole = file.language in _LIBRARIES and not any(n in started for n in own)
        only = file.language not in _LIBRARIES and _is_library(tree, file.node)
        started += own if whole or only else []
    for node in started:
        base[node] = 0
        reached[node + 1 : tree.end[node]] = True
    return _spread(tree, depth, reached, by_name, users, base), reached


def within(
    length: int, starts: NDArray[np.intp], ends: NDArray[np.intp], weights: NDArray[N]
) -> NDArray[N]:
    """Of each of `length` nodes, the sum of the weights of the given nodes that it is in."""
    steps = np.zeros(length + 1, weights.dtype)
    np.add.at(steps, starts + 1, weights)
    np.subtract.at(steps, ends, weights)
    return np.cumsum(steps)[:length].astype(weights.dtype)


def _is_library(tree: Growing, top: int) -> bool:
    """Whether a text defines functions, and does nothing else."""
    at, defines = top + 1, False
    quiet = {KIND_NUMBERS[one] for one in ("import", "assign", "class", "text", "declare")}
    while at < tree.end[top]:
        if tree.kind[at] == KIND_NUMBERS["function"]:
            defines = True
        elif tree.kind[at] not in quiet:
            return False
        at = tree.end[at]
    return defines


def _spread(
    tree: Growing, depth: NDArray[np.int16], reached: NDArray[np.bool_],
    by_name: dict[str, list[int]], users: list[tuple[int, str]], base: dict[int, int],
) -> NDArray[np.uint8]:  # fmt: skip
    """Carry depths from calls to functions until nothing changes; marks what is reached."""
    added = np.zeros(len(depth), np.int16)
    for _ in range(_MOST_ROUNDS):
        changed = False
        for node, name in users:
            if not reached[node]:
                continue
            level = min(int(depth[node] + added[node]), _MOST_DEPTH)
            for function in by_name[name]:
                inside = function < node < tree.end[function]
                if level > base[function] and not (inside and base[function] >= 0):
                    base[function] = level
                    added[function + 1 : tree.end[function]] = level
                    reached[function + 1 : tree.end[function]] = True
                    changed = True
        if not changed:
            break
    deep: NDArray[np.uint8] = np.minimum(depth + added, _MOST_DEPTH).astype(np.uint8)
    return deep
