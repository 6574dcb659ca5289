"""A random forest (Breiman, Machine Learning 45, 2001) for kinds and shares, kept as arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jobsight.errors import ModelError
from jobsight.models.base import Floats, Inputs, Labelled
from jobsight.models.softmax import balanced, targets_of
from jobsight.models.storage import Stored, load_arrays, require_names, save_arrays, save_body
from jobsight.models.trees import LEAF, form_trees

__all__ = ["Forest"]

_TREES, _LEAVES, _OF_A_LEAF = 80, 32, 2
_FORMS = {"roots": "i4", "feature": "i2", "threshold": "f4", "left": "i4", "right": "i4",
          "value": "f2"}  # fmt: skip


class Forest(Stored):
    """Trees grown by scikit-learn on resampled rows; answers need numpy only.

    An unknown feature counts as 0.
    """

    name: ClassVar[str] = "forest"
    needs_both: ClassVar[bool] = False

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()
        self._arrays: dict[str, NDArray[Any]] = {}

    def fit(self, train: Labelled, *, seed: int) -> None:
        """Learn from `train`."""
        from sklearn.ensemble import RandomForestRegressor

        # Regression on rows of ones and zeros splits by the same impurity as classes do (Gini).
        targets, self._names = targets_of(train), train.inputs.names
        forest = RandomForestRegressor(
            _TREES, max_leaf_nodes=_LEAVES, min_samples_leaf=_OF_A_LEAF, max_features=0.2,
            random_state=seed, n_jobs=1,
        )  # fmt: skip
        forest.fit(_columns(train.inputs), targets, sample_weight=balanced(train))
        trees = [one.tree_ for one in forest.estimators_]
        first = np.cumsum([0, *(one.node_count for one in trees)])

        def joined(name: str, shift: bool = False) -> NDArray[Any]:
            own = [getattr(one, name) for one in trees]
            return np.concatenate([a + b * shift for a, b in zip(own, first[:-1], strict=True)])

        found = {
            "roots": first[:-1],
            "feature": np.maximum(joined("feature"), LEAF),
            "threshold": joined("threshold"),
            "left": joined("children_left", shift=True),
            "right": joined("children_right", shift=True),
            "value": np.concatenate([one.value[:, :, 0] for one in trees]),
        }
        self._arrays = {name: one.astype(_FORMS[name]) for name, one in found.items()}

    def predict(self, inputs: Inputs) -> Floats:
        if not self._arrays:
            raise ModelError("the model forest is not fitted")
        require_names(inputs, self._names)
        roots, feature, threshold, left, right, value = (self._arrays[name] for name in _FORMS)
        columns = _columns(inputs)
        node = np.broadcast_to(roots, (len(columns), len(roots))).copy()  # (n, trees)
        rows = np.arange(len(columns))[:, None]
        while (inner := feature[node] != LEAF).any():
            smaller = columns[rows, feature[node]] <= threshold[node]
            node = np.where(inner, np.where(smaller, left[node], right[node]), node)
        said = value[node].astype(np.float64).mean(axis=1)
        return np.asarray(said / np.maximum(said.sum(axis=1, keepdims=True), 1e-12))

    def save(self, folder: Path) -> None:
        save_body(folder, self.name, {"names": list(self._names)})
        save_arrays(folder / "trees.safetensors", self._arrays)

    def _read(self, folder: Path, body: dict[str, Any]) -> None:
        self._names = tuple(map(str, body["names"]))
        arrays = load_arrays(folder / "trees.safetensors")
        self._arrays = {name: arrays[name].astype(form) for name, form in _FORMS.items()}
        if not form_trees(self._arrays, len(self._names)):
            raise ValueError("its nodes do not form trees")


def _columns(inputs: Inputs) -> NDArray[np.float32]:
    return np.nan_to_num(inputs.features, nan=0.0, posinf=3e38, neginf=-3e38)
