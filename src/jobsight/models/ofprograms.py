"""Baselines and models of programs without networks: text, a linear machine, a random forest.

The text baseline is logistic regression on the names that a program imports and calls; the support
vector machine has one class against the rest; the forest (Breiman, Machine Learning 45, 2001) is
for kinds and shares, kept as arrays.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jobsight.errors import ModelError, TrainingError
from jobsight.models.base import Floats, Inputs, Labelled
from jobsight.models.softmax import Standard, balanced, fit_softmax, softmax, targets_of
from jobsight.models.storage import Stored, load_arrays, require_names, save_arrays, save_body
from jobsight.models.trees import LEAF, form_trees

__all__ = ["Forest", "Svm", "Words"]

_LEAST_ROWS = 2
"""Training programs that a word must be in."""
_PENALTY = 0.3


class Words(Stored):
    """Softmax regression on TF-IDF weights, (1 + ln tf) · idf of unit length.

    Answers need numpy only.
    """

    name: ClassVar[str] = "text"
    needs_both: ClassVar[bool] = False

    def __init__(self) -> None:
        self._words: dict[str, int] = {}
        self._idf: Floats = np.zeros(0)
        self._beta: Floats = np.zeros((0, 0))

    def fit(self, train: Labelled, *, seed: int) -> None:
        targets = targets_of(train)
        if train.inputs.programs is None:
            raise TrainingError("text: there are no programs to read")
        found = Counter(word for words in train.inputs.programs.words for word in set(words))
        kept = sorted(word for word, rows in found.items() if rows >= _LEAST_ROWS)
        self._words = {word: k for k, word in enumerate(kept)}
        rows = np.array([found[word] for word in kept], np.float64)
        self._idf = np.log((1.0 + len(train)) / (1.0 + rows)) + 1.0
        self._beta = fit_softmax(self._columns(train.inputs), targets, balanced(train), _PENALTY)

    def predict(self, inputs: Inputs) -> Floats:
        if not len(self._beta):
            raise ModelError("the model text is not fitted")
        return softmax(self._columns(inputs) @ self._beta[:-1] + self._beta[-1])

    def _columns(self, inputs: Inputs) -> Floats:
        if inputs.programs is None:
            raise ModelError("text: the programs were not read")
        columns = np.zeros((len(inputs.programs.words), len(self._words)))
        for number, words in enumerate(inputs.programs.words):
            row = columns[number]
            for word, times in Counter(words).items():
                if word in self._words:
                    row[self._words[word]] = 1.0 + np.log(times)
            row *= self._idf
            row /= max(float(np.sqrt((row**2).sum())), 1e-12)
        return columns

    def save(self, folder: Path) -> None:
        save_body(folder, self.name, {"words": list(self._words)})
        arrays = {"idf": self._idf, "beta": self._beta}
        save_arrays(
            folder / "words.safetensors",
            {name: one.astype(np.float32) for name, one in arrays.items()},
        )

    def _read(self, folder: Path, body: dict[str, Any]) -> None:
        arrays = load_arrays(folder / "words.safetensors")
        self._words = {str(word): k for k, word in enumerate(body["words"])}
        self._idf = arrays["idf"].astype(np.float64)
        self._beta = arrays["beta"].astype(np.float64)
        if len(self._idf) != len(self._words) or len(self._beta) != len(self._idf) + 1:
            raise ValueError("there is not one coefficient for each word")


_COST = 0.02
_SHARPNESS = 2.0
"""Of the softmax that makes probabilities of the margins; calibration corrects it."""


class Svm(Stored):
    """Linear SVM (squared hinge loss) with margins made probabilities by a softmax.

    Predicting needs numpy only.
    """

    name: ClassVar[str] = "svm"
    needs_both: ClassVar[bool] = True

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()
        self._scaled: Standard | None = None
        self._beta: Floats = np.zeros((0, 0))

    def fit(self, train: Labelled, *, seed: int) -> None:
        """Learn from `train`; of shares, the largest is the class."""
        from sklearn.svm import LinearSVC

        targets = targets_of(train)
        kinds = targets.argmax(axis=1)
        if len(np.unique(kinds)) < 2:
            raise TrainingError("svm: the training outcomes are all the same")
        self._names = train.inputs.names
        self._scaled = Standard.fit(train.inputs.features)
        columns = self._scaled.columns(train.inputs.features)
        self._beta = np.zeros((columns.shape[1] + 1, targets.shape[1]))
        self._beta[-1] = -1.0  # a class that was never seen
        for kind in np.unique(kinds):
            machine = LinearSVC(C=_COST, class_weight="balanced", random_state=seed)
            machine.fit(columns, kinds == kind, sample_weight=train.weight)
            self._beta[:-1, kind], self._beta[-1, kind] = machine.coef_[0], machine.intercept_[0]

    def predict(self, inputs: Inputs) -> Floats:
        if self._scaled is None:
            raise ModelError("the model svm is not fitted")
        require_names(inputs, self._names)
        columns = self._scaled.columns(inputs.features)
        return softmax(_SHARPNESS * (columns @ self._beta[:-1] + self._beta[-1]))

    def save(self, folder: Path) -> None:
        assert self._scaled is not None
        body = {"names": list(self._names), "scaled": self._scaled.to_json()}
        save_body(folder, self.name, {**body, "beta": self._beta.tolist()})

    def _read(self, folder: Path, body: dict[str, Any]) -> None:
        self._names = tuple(map(str, body["names"]))
        self._scaled = Standard.from_json(body["scaled"])
        self._beta = np.array(body["beta"], np.float64)
        if len(self._beta) != len(self._names) + 1:
            raise ValueError("there is not one coefficient for each feature")


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
