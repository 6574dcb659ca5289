"""A baseline that answers what one feature says: a rate as of the decision, a last outcome."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from jobsight.errors import ModelError, TrainingError
from jobsight.models.base import Floats, Inputs, Labelled
from jobsight.models.constant import smoothed_rate
from jobsight.models.storage import load_body, save_body

__all__ = ["Column"]

MOST_VALUES = 4
"""A feature with at most so many values is one of kinds, each with its own rate."""


class Column:
    """Answers a feature that is a rate itself, or the rate of training rows with the same value.

    Where the feature is unknown, it answers the rate of the training rows where it was unknown.
    Implements `jobsight.models.base.Model`.
    """

    kind: ClassVar[str] = "column"
    needs_both: ClassVar[bool] = False

    def __init__(self, name: str, column: str) -> None:
        self.name = name
        self._column = column
        self._rates: dict[float, float] = {}
        self._unknown = 0.5

    def fit(self, train: Labelled, select: Labelled, *, seed: int) -> None:
        """Count `train`; `select` and `seed` do not matter.

        Raises:
            TrainingError: `train` has no rows.
        """
        if not len(train):
            raise TrainingError(f"{self.name}: there are no training examples")
        column = self._values(train.inputs)
        missing = np.isnan(column)
        rows = missing if missing.any() else np.ones(len(train), np.bool_)
        self._unknown = _rate(train, rows)
        values = np.unique(column[~missing])
        if len(values) <= MOST_VALUES:
            self._rates = {float(value): _rate(train, column == value) for value in values}

    def predict(self, inputs: Inputs) -> Floats:
        """P(true) of each row: float64 (n,).

        Raises:
            ModelError: the inputs lack the feature.
        """
        column = self._values(inputs)
        if self._rates:
            known = np.full(len(column), self._unknown)
            for value, rate in self._rates.items():
                known[column == value] = rate
            return known
        return np.clip(np.where(np.isnan(column), self._unknown, column), 0.0, 1.0)

    def _values(self, inputs: Inputs) -> Floats:
        if self._column not in inputs.names:
            raise ModelError(f"the inputs lack the feature {self._column!r}; train again")
        return inputs.features[:, inputs.names.index(self._column)].astype(np.float64)

    def save(self, folder: Path) -> None:
        """Write ``model.json``."""
        rates = [[value, rate] for value, rate in self._rates.items()]
        body = {"name": self.name, "column": self._column, "rates": rates}
        save_body(folder, self.kind, {**body, "unknown": self._unknown})

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote.

        Raises:
            ModelError: the file is missing, damaged or of another schema.
        """
        with load_body(folder, cls.kind) as body:
            model = cls(str(body["name"]), str(body["column"]))
            model._rates = {float(value): float(rate) for value, rate in body["rates"]}
            model._unknown = float(body["unknown"])
            return model


def _rate(rows: Labelled, inside: np.typing.NDArray[np.bool_]) -> float:
    weight = rows.weight[inside]
    return smoothed_rate(float(weight[rows.success[inside]].sum()), float(weight.sum()))
