"""Boosted trees as plain arrays: taken from LightGBM once, evaluated without it.

The walk follows LightGBM's own rule for numeric splits (``Tree::NumericalDecision`` in its
``include/LightGBM/tree.h``): a NaN is read as 0 where the split saw none in training; a missing
value goes the split's default way; else ``value <= threshold`` goes left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jobsight.errors import ModelError
from jobsight.jit import kernel, numba_is_here
from jobsight.models.base import Floats
from jobsight.models.storage import load_arrays, save_arrays

__all__ = ["LEAF", "Trees", "form_trees"]

_FORMS = {"roots": "i4", "feature": "i4", "threshold": "f8", "missing": "i1",
          "default_left": "b1", "left": "i4", "right": "i4", "value": "f8"}  # fmt: skip
MISSING = {"None": 0, "Zero": 1, "NaN": 2}
LEAF = -1
_ZERO = 1e-35
_FEW, _VERY_FEW = 200_000, 10_000
"""Rows times trees up to which a kernel costs more: with Numba's import, and without."""

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Trees:
    """All nodes of all trees, one after another, each tree from its root down.

    Attributes:
        roots: int32 (trees,), index of each tree's first node.
        feature: int32 (nodes,), column that the node splits on; −1 in a leaf.
        threshold: float64 (nodes,).
        missing: int8 (nodes,): 0 a NaN is read as 0; 1 zeros and NaN are missing; 2 NaN is missing.
        default_left: bool (nodes,), where missing values go.
        left, right: int32 (nodes,), indices of the children.
        value: float64 (nodes,): a leaf's addition to the margin; an inner node's mean of them.
    """

    roots: Ints
    feature: Ints
    threshold: Floats
    missing: NDArray[np.int8]
    default_left: NDArray[np.bool_]
    left: Ints
    right: Ints
    value: Floats

    @classmethod
    def from_dump(cls, dump: Mapping[str, Any]) -> Self:
        """Take the trees out of ``lightgbm.Booster.dump_model()``."""
        nodes: list[_Node] = []
        roots = []
        for tree in dump["tree_info"]:
            roots.append(len(nodes))
            _append(tree["tree_structure"], nodes)
        columns = {
            name: [getattr(node, name) for node in nodes] for name in _FORMS if name != "roots"
        }
        columns |= {"roots": roots}
        return cls(**{name: np.array(columns[name], form) for name, form in _FORMS.items()})

    def margin(self, columns: Floats) -> Floats:
        """Sum of the leaves reached, the log-odds of a binary model: float64 (n,)."""
        if len(columns) * len(self.roots) <= (_VERY_FEW if numba_is_here() else _FEW):
            return self._margin_of_few(columns)
        out = np.zeros(len(columns))
        _walk(columns, out, *(getattr(self, name) for name in _FORMS))
        return out

    def _margin_of_few(self, columns: Floats) -> Floats:
        """As `_walk` adds them up, all trees a level at a time, without a kernel."""
        rows, node = np.arange(len(columns))[:, None], np.tile(self.roots, (len(columns), 1))
        for _ in range(len(self.feature)):
            feature = self.feature[node]
            if (feature == LEAF).all():
                break
            x, missing = columns[rows, feature], self.missing[node]
            x = np.where(np.isnan(x) & (missing != MISSING["NaN"]), 0.0, x)
            absent = ((missing == MISSING["Zero"]) & (np.abs(x) <= _ZERO)) | np.isnan(x)
            goes_left = np.where(absent, self.default_left[node], x <= self.threshold[node])
            child = np.where(goes_left, self.left[node], self.right[node])
            node = np.where(feature == LEAF, node, child)
        # One after the other, as in the kernel: sums in another order are others.
        margin: Floats = np.cumsum(np.pad(self.value[node], ((0, 0), (1, 0))), axis=1)[:, -1]
        return margin

    def save(self, path: Path) -> None:
        save_arrays(path, {name: getattr(self, name) for name in _FORMS})

    @classmethod
    def load(cls, path: Path, columns: int) -> Self:
        """Read what `save` wrote, for rows of so many columns."""
        arrays = load_arrays(path)
        try:
            trees = cls(**{name: arrays[name] for name in _FORMS})
        except KeyError as error:
            raise ModelError(f"{path} is damaged (it lacks {error})") from None
        forms = all(arrays[n].dtype == form and arrays[n].ndim == 1 for n, form in _FORMS.items())
        if not forms or not form_trees({name: arrays[name] for name in _FORMS}, columns):
            raise ModelError(f"{path} is damaged (its nodes do not form trees)")
        return trees


def form_trees(arrays: Mapping[str, NDArray[Any]], columns: int) -> bool:
    """Whether children are behind their parent and inside, so that each walk ends."""
    count = len(arrays["feature"])
    if any(one.shape[:1] != (count,) for name, one in arrays.items() if name != "roots"):
        return False
    inner = np.flatnonzero(arrays["feature"] != LEAF)
    children = np.concatenate([arrays["left"][inner], arrays["right"][inner]])
    return bool(
        np.all((arrays["feature"] >= LEAF) & (arrays["feature"] < columns))
        and np.all((children > np.tile(inner, 2)) & (children < count))
        and np.all((arrays["roots"] >= 0) & (arrays["roots"] < count))
    )


@dataclass
class _Node:
    feature: int = LEAF
    threshold: float = 0.0
    missing: int = 0
    default_left: bool = False
    left: int = 0
    right: int = 0
    value: float = 0.0
    weight: float = 0.0


def _append(structure: Mapping[str, Any], nodes: list[_Node]) -> _Node:
    """Append a node and all below it; an inner node's value is the mean of its children's."""
    node = _Node()
    nodes.append(node)
    if "split_feature" not in structure:
        node.value = float(structure["leaf_value"])
        node.weight = float(structure.get("leaf_count", 1) or 1)
        return node
    if structure["decision_type"] != "<=":
        raise ValueError("only numeric splits are known here")
    node.feature = int(structure["split_feature"])
    node.threshold = float(structure["threshold"])
    node.missing = MISSING[structure["missing_type"]]
    node.default_left = bool(structure["default_left"])
    node.left = len(nodes)
    left = _append(structure["left_child"], nodes)
    node.right = len(nodes)
    right = _append(structure["right_child"], nodes)
    node.weight = left.weight + right.weight
    node.value = (left.value * left.weight + right.value * right.weight) / node.weight
    return node


@kernel
def _walk(
    columns: Any, out: Any,
    roots: Any, feature: Any, threshold: Any, missing: Any, default_left: Any,
    left: Any, right: Any, value: Any,
) -> None:  # fmt: skip
    """Add each row's leaves to `out` (n,)."""
    for row in range(columns.shape[0]):
        for root in roots:
            node = root
            while feature[node] >= 0:
                x = columns[row, feature[node]]
                if np.isnan(x) and missing[node] != 2:
                    x = 0.0
                zero = missing[node] == 1 and abs(x) <= _ZERO
                if zero or (missing[node] == 2 and np.isnan(x)):
                    node = left[node] if default_left[node] else right[node]
                elif x <= threshold[node]:
                    node = left[node]
                else:
                    node = right[node]
            out[row] += value[node]
