"""The model that knows nothing but what became of the training part as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from jobsight.errors import TrainingError
from jobsight.models.base import Floats, Inputs, Labelled
from jobsight.models.storage import Stored, save_body

__all__ = ["Constant", "smoothed_rate", "weighted_quantiles"]


def smoothed_rate(success: float, weight: float) -> float:
    """Rate of `success` in `weight` with half a success and half a failure added (Jeffreys)."""
    return (success + 0.5) / (weight + 1.0)


def weighted_quantiles(values: Floats, weight: Floats, levels: tuple[float, ...]) -> Floats:
    """The least values at or below which these shares of the weight are: float64 (levels,)."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order]) / weight.sum()
    at = np.minimum(np.searchsorted(reached, np.array(levels) - 1e-12), len(order) - 1)
    return np.asarray(values[order][at], np.float64)


class Constant(Stored):
    """Predicts the same for every row: a rate, the rates of kinds, quantiles or mean shares.

    Rates are weighted and smoothed.
    """

    name: ClassVar[str] = "constant"
    needs_both: ClassVar[bool] = False

    def __init__(self, rate: float | Floats = 0.5) -> None:
        self.rate = rate

    def fit(self, train: Labelled, *, seed: int) -> None:
        if not len(train):
            raise TrainingError("constant: there are no training examples; give a longer history")
        values, weight, output = train.values, train.weight, train.output
        total = float(weight.sum())
        if output.kind == "binary":
            self.rate = smoothed_rate(float(weight[train.success].sum()), total)
        elif output.kind == "kinds":
            k = len(output.columns)
            counts = np.bincount(values, weight, k)
            self.rate = np.asarray((counts + 0.5) / (total + 0.5 * k), np.float64)
        elif output.kind == "quantiles":
            self.rate = weighted_quantiles(values, weight, output.levels)
        else:
            self.rate = np.asarray(weight @ values, np.float64) / total

    def predict(self, inputs: Inputs) -> Floats:
        rate = np.asarray(self.rate, np.float64)
        return np.broadcast_to(rate, (len(inputs), *rate.shape)).copy()

    def save(self, folder: Path) -> None:
        save_body(folder, self.name, {"rate": np.asarray(self.rate).tolist()})

    def _read(self, folder: Path, body: dict[str, Any]) -> None:
        rate = np.asarray(body["rate"], np.float64)
        self.rate = rate if rate.ndim else float(rate)
