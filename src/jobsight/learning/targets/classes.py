"""One of some kinds: a probability for each, and a set that holds the one observed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.learning import metrics
from jobsight.learning.metrics import Metric, mean_of
from jobsight.learning.targets.base import (
    HELD,
    LEAST_OF_EACH,
    LEAST_TO_CALIBRATE,
    Calibrated,
    Target,
    Values,
    conformal,
)
from jobsight.models.base import Floats, Ints, Output

__all__ = ["Classes", "ClassesCalibrated"]

_TEMPERATURES = np.exp(np.linspace(0.0, np.log(4.0), 41))
"""None below 1: kinds drift, and a part with more of one of them would sharpen all predictions."""


def _log_loss(predicted: Floats, values: Values, weight: Floats) -> Any:
    observed = predicted[np.arange(len(values)), values]
    return mean_of(-np.log(np.clip(observed, metrics.SMALLEST, 1.0)), weight)


def _accuracy(predicted: Floats, values: Values, weight: Floats) -> Any:
    return mean_of((predicted.argmax(axis=1) == values).astype(np.float64), weight)


def _macro_f1(predicted: Floats, values: Values, weight: Floats) -> Any:
    """Mean F-measure of the kinds that are observed or predicted (the likeliest is)."""
    best, kinds = predicted.argmax(axis=1), range(predicted.shape[1])
    each = np.stack([metrics.f_measure(best == k, values == k, weight) for k in kinds])
    known = np.isfinite(each)
    total = np.where(known, each, 0.0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)[()]


def _brier(predicted: Floats, values: Values, weight: Floats) -> Any:
    return mean_of(((predicted - np.eye(predicted.shape[1])[values]) ** 2).sum(axis=1), weight)


def _top_ece(predicted: Floats, values: Values, weight: Floats) -> Any:
    """Calibration error of the likeliest kind's probability."""
    return metrics.ece(predicted.max(axis=1), predicted.argmax(axis=1) == values, weight)


_METRICS: dict[str, Metric] = {
    "log_loss": _log_loss, "accuracy": _accuracy, "macro_f1": _macro_f1, "brier": _brier,
    "ece": _top_ece,
}  # fmt: skip


@dataclass(frozen=True)
class ClassesCalibrated(Calibrated):
    """A temperature, and the least probability of a kind in the set.

    Attributes:
        temperature: log-probabilities are divided by it.
        least: kinds with at least this probability are in the set, the likeliest always.
    """

    temperature: float
    least: float

    def apply(self, raw: Floats) -> Floats:
        scaled = np.clip(raw, metrics.SMALLEST, 1.0) ** (1.0 / self.temperature)
        return np.asarray(scaled / scaled.sum(axis=1, keepdims=True), np.float64)

    def bounds(self, predicted: Floats) -> tuple[Floats, Floats]:
        """The set of kinds: twice float64 (n, k) of 0 and 1."""
        best = predicted.max(axis=1, keepdims=True)
        inside = ((predicted >= self.least) | (predicted == best)).astype(np.float64)
        return inside, inside

    def covered(
        self, predicted: Floats, low: Floats, high: Floats, values: Values, weight: Floats
    ) -> NDArray[np.bool_]:
        """Of each row: whether the kind observed is in the set."""
        return np.asarray(high[np.arange(len(values)), values] > 0)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Classes(Target):
    """Which of some kinds; values are int64 (n,), indices of `kinds`.

    Attributes:
        kinds: their names, at least two.
    """

    kinds: tuple[str, ...]

    metrics: ClassVar[tuple[str, ...]] = tuple(_METRICS)
    higher: ClassVar[frozenset[str]] = frozenset({"accuracy", "macro_f1"})
    loss: ClassVar[str] = "log_loss"
    headline: ClassVar[str] = "accuracy"

    @property
    def output(self) -> Output:
        return Output("kinds", self.kinds)

    def values(self, column: pl.Series) -> Values:
        return column.cast(pl.Enum(self.kinds)).to_physical().cast(pl.Int64).to_numpy()

    def metric(self, name: str) -> Metric:
        return metrics.named(name, _METRICS)

    def calibrate(
        self, raw: Floats, values: Values, weight: Floats, batch: Ints, *, as_is: bool = False
    ) -> ClassesCalibrated:
        if weight.sum() < LEAST_TO_CALIBRATE:
            return ClassesCalibrated(1.0, 0.0)
        fits = [ClassesCalibrated(float(t), 0.0) for t in _TEMPERATURES]
        losses = [float(_log_loss(one.apply(raw), values, weight)) for one in fits]
        best = fits[int(np.argmin(losses))]
        observed = best.apply(raw)[np.arange(len(values)), values]
        limit = conformal(1.0 - observed, weight, batch, HELD)
        return ClassesCalibrated(best.temperature, 1.0 - limit)

    def calibrated(self, data: Mapping[str, Any]) -> ClassesCalibrated:
        return ClassesCalibrated(float(data["temperature"]), float(data["least"]))

    def unlearnable(self, values: Values, weight: Floats) -> str | None:
        """Too few batches of all kinds but one."""
        counts = np.bincount(values, weight, len(self.kinds))
        if (counts >= LEAST_OF_EACH).sum() >= 2:
            return None
        return f"fewer than two kinds have {LEAST_OF_EACH} batches in the train part"

    def counts(self, values: Values) -> dict[str, int]:
        return dict(zip(self.kinds, np.bincount(values, minlength=len(self.kinds)).tolist(),
                        strict=True))  # fmt: skip

    def views(self, values: Values) -> list[NDArray[np.bool_]]:
        """Each kind against the rest."""
        return [values == k for k in range(len(self.kinds))]

    def events(self, predicted: Floats, values: Values) -> tuple[Floats, Values] | None:
        """The likeliest kind's probability, and whether it was the one."""
        return predicted.max(axis=1), predicted.argmax(axis=1) == values
