"""The model that knows nothing but the training part's rate of success."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from jobsight.errors import TrainingError
from jobsight.models.base import Floats, Inputs, Labelled
from jobsight.models.storage import load_body, save_body

__all__ = ["Constant", "smoothed_rate"]


def smoothed_rate(success: float, weight: float) -> float:
    """Rate of `success` in `weight` with half a success and half a failure added (Jeffreys)."""
    return (success + 0.5) / (weight + 1.0)


class Constant:
    """Answers the weighted (and smoothed) rate of success of the training part, whatever is asked.

    Implements `jobsight.models.base.Model`.
    """

    name: ClassVar[str] = "constant"
    needs_both: ClassVar[bool] = False

    def __init__(self, rate: float = 0.5) -> None:
        self.rate = rate

    def fit(self, train: Labelled, select: Labelled, *, seed: int) -> None:
        """Take the rate of `train`; `select` and `seed` do not matter.

        Raises:
            TrainingError: `train` has no rows.
        """
        if not len(train):
            raise TrainingError("constant: there are no training examples; give a longer history")
        self.rate = smoothed_rate(
            float(train.weight[train.success].sum()), float(train.weight.sum())
        )

    def predict(self, inputs: Inputs) -> Floats:
        """The rate, once for each row: float64 (n,)."""
        return np.full(len(inputs), self.rate)

    def save(self, folder: Path) -> None:
        """Write ``model.json``."""
        save_body(folder, self.name, {"rate": self.rate})

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote.

        Raises:
            ModelError: the file is missing, damaged or of another schema.
        """
        with load_body(folder, cls.name) as body:
            return cls(float(body["rate"]))
