"""Where a program gets to, and how many loops are around that, across its functions.

How often something runs is a log2: a loop repeats as often as its bounds say, else 32 times.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from jobsight.program.tree.normalized import Growing
from jobsight.program.tree.vocabulary import EFFECT_NUMBERS, KIND_NUMBERS, ROLE_NUMBERS

__all__ = ["Reached", "reach", "within"]

N = TypeVar("N", bound=np.number[Any])
_MOST_DEPTH, _MOST_ROUNDS = 8, 12
_REPEATS, _MOST_RUNS = 5.0, 60.0
"""Log2 of the times that a loop repeats where its bounds do not say, and the most of all loops."""
_LOOPS = (KIND_NUMBERS["loop"], KIND_NUMBERS["comprehension"])
_FEW = 3
"""A loop whose bounds have at most this size (4 times) does not count."""
_LIBRARIES = frozenset({"c", "cpp", "cuda", "go", "rust", "java"})
"""Languages in which nothing is run outside of functions."""
_KEPT = frozenset({"main", "MAIN__", "run"})


class Reached(NamedTuple):
    """Of each node, those around the calls of its function counted too.

    Attributes:
        depth: loops around it.
        runs: log2 of how often it runs.
        reached: whether the program gets there.
    """

    depth: NDArray[np.uint8]
    runs: NDArray[np.float32]
    reached: NDArray[np.bool_]


def reach(tree: Growing) -> Reached:
    """Where a program gets to.

    A function is reached by its name wherever reached code has it: called, or handed on.
    """
    kind = np.array(tree.kind[: tree.count], np.uint8)
    depth = np.array(tree.lexical[: tree.count], np.int16)
    size = np.array(tree.size[: tree.count])
    ends = np.array(tree.end[: tree.count], np.intp)
    few = np.flatnonzero((kind == KIND_NUMBERS["loop"]) & (size > 0) & (size <= _FEW))
    depth = np.maximum(depth - within(len(kind), few, ends[few], np.ones(len(few), int)), 0)
    # Log2 of how often each node runs in one call of its function
    each = np.frombuffer(tree.effect, np.uint8)[: len(kind)] == EFFECT_NUMBERS["each"]
    loops = np.flatnonzero((kind == _LOOPS[0]) | (kind == _LOOPS[1]) | each)
    sizes = size[loops].astype(np.float32)
    steps = np.where(sizes > 0, sizes - 1, np.float32(_REPEATS))
    around = np.zeros(len(kind), np.float32)
    around[loops] = steps
    above = np.maximum(np.frombuffer(tree.parent, np.int32)[: len(kind)], 0)
    once = np.frombuffer(tree.role, np.uint8)[: len(kind)] == ROLE_NUMBERS["value"]
    once = np.flatnonzero(once & (kind[above] == KIND_NUMBERS["loop"]))
    outside = within(len(kind), once - 1, ends[once], around[above[once]])
    runs = within(len(kind), loops, ends[loops], steps) - outside
    reached = np.ones(len(kind), bool)
    by_name: dict[str, list[int]] = {}
    for node, name in tree.functions.items():
        reached[node + 1 : tree.end[node]] = False
        by_name.setdefault(name, []).append(node)
    for node, name in tree.classes.items():
        implied = (n for n in tree.functions if node < n < tree.end[node])
        by_name.setdefault(name, []).extend(n for n in implied if _is_implied(tree.functions[n]))
    named = ((node, name.rpartition(".")[2]) for names in (tree.calls, tree.names)
             for node, name in names.items())  # fmt: skip
    users = sorted(one for one in named if one[1] in by_name)
    base = dict.fromkeys(tree.functions, -1)
    started = [node for node, name in tree.functions.items()
               if name in _KEPT and tree.files[tree.file[node]].language in _LIBRARIES]  # fmt: skip
    for file in tree.files:
        own = [n for n in tree.functions if tree.files[tree.file[n]] is file]
        whole = file.language in _LIBRARIES and not any(n in started for n in own)
        only = file.language not in _LIBRARIES and _is_library(tree, file.node)
        started += own if whole or only else []
    for node in started:
        base[node] = 0
        reached[node + 1 : tree.end[node]] = True
    return _spread(tree, Reached(depth, runs, reached), by_name, users, base)


def _is_implied(method: str) -> bool:
    """Whether using a class runs a method that is not named where it is used."""
    return method == "run" or (method.startswith("__") and method.endswith("__"))


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
    tree: Growing, own: Reached, by_name: dict[str, list[int]], users: list[tuple[int, str]],
    base: dict[int, int],
) -> Reached:  # fmt: skip
    """Carry loops from calls to functions until nothing changes; marks what is reached.

    Args:
        tree: the program.
        own: of each node in its function alone; `reached` where it starts.
        by_name: functions by their names.
        users: nodes with names of functions.
        base: loops around the calls of each function; -1: it is not called.
    """
    depth, runs, reached = own
    added, longer = np.zeros(len(depth), np.int16), np.zeros(len(depth), np.float32)
    often = dict.fromkeys(base, 0.0)
    for _ in range(_MOST_ROUNDS):
        changed = False
        for node, name in users:
            if not reached[node]:
                continue
            level = min(int(depth[node] + added[node]), _MOST_DEPTH)
            times = min(float(runs[node] + longer[node]), _MOST_RUNS)
            for function in by_name[name]:
                inside = function < node < tree.end[function]
                if inside and base[function] >= 0:
                    continue
                if level > base[function] or times > often[function]:
                    base[function] = max(level, base[function])
                    often[function] = max(times, often[function])
                    body = slice(function + 1, tree.end[function])
                    added[body], longer[body] = base[function], often[function]
                    reached[body] = changed = True
        if not changed:
            break
    deep = np.minimum(depth + added, _MOST_DEPTH).astype(np.uint8)
    return Reached(deep, np.clip(runs + longer, 0, _MOST_RUNS, dtype=np.float32), reached)
