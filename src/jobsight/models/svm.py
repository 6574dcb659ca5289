"""A linear support vector machine on scaled features, one class against the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from jobsight.errors import ModelError, TrainingError
from jobsight.models.base import Floats, Inputs, Labelled
from jobsight.models.softmax import Standard, softmax, targets_of
from jobsight.models.storage import Stored, require_names, save_body

__all__ = ["Svm"]

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
