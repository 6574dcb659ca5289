"""Which resource a call's effect speaks for, and the rule over imports and calls."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jobsight.program.tree import EFFECTS, GROUPS, KINDS, Tree, on_others, reuses
from jobsight.questions.bound.decisions import BOUND

__all__ = ["CLASS_OF", "rule_of", "strength"]

CLASS_OF = {effect: kind for kind in BOUND for effect in GROUPS[kind]}
"""By effect, the class that calls with it speak for."""
_COLUMN = np.array([BOUND.index(CLASS_OF[o]) if o in CLASS_OF else len(BOUND) for o in EFFECTS])
_ARRAY = np.isin(EFFECTS, ("allocate", "random", "table", "copy", "stream"))
_EXTENT = KINDS.index("extent")
_LARGE = 22
"""Size of an array (1 + log2 of its elements) from which on it fits in no cache."""


def strength(tree: Tree) -> NDArray[np.float64]:
    """By class: how often its calls run, each counting 4 times for each loop around it."""
    calls = np.flatnonzero((tree.effect > 0) & tree.reached & ~on_others(tree))
    weight = 4.0 ** np.minimum(tree.depth[calls].astype(int), 4)
    found = np.bincount(_COLUMN[tree.effect[calls]], weight, len(BOUND) + 1)
    return np.asarray(found[: len(BOUND)])


def rule_of(tree: Tree) -> int:
    """The class that a rule gives, its position in `BOUND`."""
    by = dict(zip(BOUND, strength(tree), strict=True))
    again = 4.0 ** np.minimum(tree.depth[reuses(tree) & tree.reached].astype(int), 4)
    if by["network"] >= 1:
        return BOUND.index("network")
    if by["waiting"] >= 4:
        return BOUND.index("waiting")
    if by["io"] >= 16 and by["io"] > by["cpu"]:
        return BOUND.index("io")
    arrays = tree.reached & (_ARRAY[tree.effect] | (tree.kind == _EXTENT))
    streams = by["memory"] >= 1 and by["memory"] > again.sum()
    if streams and int(tree.size[arrays].max(initial=0)) >= _LARGE:
        return BOUND.index("memory")
    return BOUND.index("cpu")
