"""A baseline that answers what one feature says: a rate as of the decision, a last outcome."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from jobsight.errors import ModelError, TrainingError
from jobsight.models.base import BINARY, Floats, Inputs, Labelled
from jobsight.models.constant import Constant, smoothed_rate, weighted_quantiles
from jobsight.models.storage import load_body, save_body

__all__ = ["Column"]

MOST_VALUES = 4
"""A feature with at most so many values is one of kinds, each with its own rate."""
MOST_KINDS = 200
"""The same of a feature of whole numbers, where quantiles are predicted."""


class Column:
    """Answers a feature that is a rate or a number itself, or what training rows like it say.

    Rows are alike that have the same of few values: their rate, or their quantiles. A number is
    made quantiles by those of the differences between outcomes and it. Where the feature is
    unknown, the training rows answer where it was unknown.
    """

    kind: ClassVar[str] = "column"
    needs_both: ClassVar[bool] = False

    def __init__(self, name: str, column: str) -> None:
        self.name = name
        self._column = column
        self._known: dict[float, Floats] = {}
        self._unknown: Floats = np.array(0.5)
        self._offsets: Floats | None = None

    def fit(self, train: Labelled, *, seed: int) -> None:
        if not len(train):
            raise TrainingError(f"{self.name}: there are no training examples")
        if self._column not in train.inputs.names:
            raise TrainingError(f"{self.name}: {self._column!r} is not known here")
        column, binary = self._values(train.inputs), train.output == BINARY
        missing = np.isnan(column)
        if missing.all() and not binary:
            raise TrainingError(f"{self.name}: {self._column!r} is not known of any job")
        rows = missing if missing.any() else np.ones(len(train), np.bool_)
        self._known, self._offsets = {}, None
        self._unknown = _outcome(train, rows)
        values = np.unique(column[~missing])
        whole = not binary and len(values) <= MOST_KINDS and (values == np.rint(values)).all()
        if len(values) <= MOST_VALUES or whole:
            self._known = {float(value): _outcome(train, column == value) for value in values}
        elif train.output.columns and not train.output.levels:
            raise TrainingError(f"{self.name}: {self._column!r} has too many values")
        elif not binary:
            known, weight = train.values[~missing] - column[~missing], train.weight[~missing]
            self._offsets = weighted_quantiles(known, weight, train.output.levels)

    def predict(self, inputs: Inputs) -> Floats:
        column = self._values(inputs)
        missing = np.isnan(column)
        if self._offsets is not None:
            moved = column[:, None] + self._offsets
            return np.where(missing[:, None], self._unknown, moved)
        if not self._known:
            return np.clip(np.where(missing, self._unknown, column), 0.0, 1.0)
        found = np.broadcast_to(self._unknown, (len(column), *self._unknown.shape)).copy()
        for value, known in self._known.items():
            found[column == value] = known
        return found

    def _values(self, inputs: Inputs) -> Floats:
        if self._column not in inputs.names:
            raise ModelError(f"the inputs lack the feature {self._column!r}; train again")
        return inputs.features[:, inputs.names.index(self._column)].astype(np.float64)

    def save(self, folder: Path) -> None:
        rates = [[value, known.tolist()] for value, known in self._known.items()]
        body = {"name": self.name, "column": self._column, "rates": rates}
        offsets = None if self._offsets is None else self._offsets.tolist()
        save_body(
            folder, self.kind, {**body, "unknown": self._unknown.tolist(), "offsets": offsets}
        )

    @classmethod
    def load(cls, folder: Path) -> Self:
        with load_body(folder, cls.kind) as body:
            model = cls(str(body["name"]), str(body["column"]))
            model._unknown = np.array(body["unknown"], np.float64)
            for value, known in body["rates"]:
                model._known[float(value)] = np.array(known, np.float64)
            if body.get("offsets") is not None:
                model._offsets = np.array(body["offsets"], np.float64)
            return model


def _outcome(rows: Labelled, inside: np.typing.NDArray[np.bool_]) -> Floats:
    """The rate of some rows, rates of kinds, mean shares or quantiles: float64 () or (k,)."""
    weight, output = rows.weight[inside], rows.output
    if output.kind == "quantiles":
        return weighted_quantiles(rows.values[inside], weight, output.levels)
    if output.columns:
        model = Constant()
        model.fit(rows.take(inside), seed=0)
        return np.asarray(model.rate)
    return np.array(smoothed_rate(float(weight[rows.success[inside]].sum()), float(weight.sum())))
