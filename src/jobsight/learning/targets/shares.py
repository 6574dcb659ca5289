"""Shares of a whole, each with the distance that holds nine of ten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.learning import metrics
from jobsight.learning.metrics import Metric, mean_of
from jobsight.learning.targets.base import (
    HELD,
    LEAST_TO_CALIBRATE,
    Calibrated,
    Target,
    Values,
    conformal,
)
from jobsight.models.base import Floats, Ints, Output

__all__ = ["Shares", "SharesCalibrated"]


def _divergence(predicted: Floats, values: Values, weight: Floats) -> Any:
    """Kullback-Leibler divergence of the predicted from the observed shares, in nats."""
    observed, kept = np.clip(values, 1e-12, 1.0), np.clip(predicted, metrics.SMALLEST, 1.0)
    return mean_of((values * (np.log(observed) - np.log(kept))).sum(axis=1), weight)


def _distance(predicted: Floats, values: Values, weight: Floats) -> Any:
    """Half the sum of the absolute differences: the part of the whole that is misplaced."""
    return mean_of(np.abs(predicted - values).sum(axis=1) / 2.0, weight)


_METRICS: dict[str, Metric] = {"divergence": _divergence, "distance": _distance}


@dataclass(frozen=True)
class SharesCalibrated(Calibrated):
    """How far each share may be off, nine times in ten: k distances in [0, 1]."""

    radius: tuple[float, ...]

    def apply(self, raw: Floats) -> Floats:
        return raw

    def bounds(self, predicted: Floats) -> tuple[Floats, Floats]:
        """Two float64 (n, k) within [0, 1]."""
        radius = np.array(self.radius)
        return np.maximum(predicted - radius, 0.0), np.minimum(predicted + radius, 1.0)

    def covered(
        self, predicted: Floats, low: Floats, high: Floats, values: Values, weight: Floats
    ) -> NDArray[np.bool_]:
        """Of each share of each row: bool (n · k,)."""
        return np.asarray((values >= low - 1e-9) & (values <= high + 1e-9)).ravel()

    def to_json(self) -> dict[str, Any]:
        return {"radius": list(self.radius)}


@dataclass(frozen=True)
class Shares(Target):
    """Shares of a whole; values are float64 (n, k), made of the decisions' list column.

    Attributes:
        names: of the k shares.
    """

    names: tuple[str, ...]

    metrics: ClassVar[tuple[str, ...]] = tuple(_METRICS)
    loss: ClassVar[str] = "divergence"
    headline: ClassVar[str] = "distance"

    @property
    def output(self) -> Output:
        return Output("shares", self.names)

    def values(self, column: pl.Series) -> Values:
        rows = np.array(column.to_list(), np.float64).reshape(len(column), len(self.names))
        shares: Floats = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-12)
        return shares

    def metric(self, name: str) -> Metric:
        return metrics.named(name, _METRICS)

    def calibrate(
        self, raw: Floats, values: Values, weight: Floats, batch: Ints, *, as_is: bool = False
    ) -> SharesCalibrated:
        if weight.sum() < LEAST_TO_CALIBRATE:
            return SharesCalibrated((1.0,) * len(self.names))
        off = np.abs(values - raw)
        radius = (conformal(off[:, k], weight, batch, HELD) for k in range(len(self.names)))
        return SharesCalibrated(tuple(min(one, 1.0) for one in radius))

    def calibrated(self, data: Mapping[str, Any]) -> SharesCalibrated:
        radius = tuple(float(one) for one in data["radius"])
        if len(radius) != len(self.names):
            raise ValueError(f"{len(radius)} distances do not fit {len(self.names)} shares")
        return SharesCalibrated(radius)

    def views(self, values: Values) -> list[NDArray[np.bool_]]:
        """Each share above its median."""
        if not len(values):
            return [np.zeros(0, np.bool_)] * len(self.names)
        return list((values > np.median(values, axis=0)).T)
