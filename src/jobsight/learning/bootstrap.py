"""Intervals by resampling whole batches, never single rows of one.

The rows of a batch share their fate; counting them as independent would make every interval too
narrow (Efron, Tibshirani, An Introduction to the Bootstrap, chapter 8). Percentile intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jobsight.learning.metrics import Metric
from jobsight.models.base import Floats

__all__ = ["Bootstrap", "Interval"]

CELLS_AT_ONCE = 2_000_000
LEAST_DEFINED = 0.5

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Interval:
    """A value with its bounds; None where undefined, or undefined in most resamples."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Bootstrap:
    """The same resamples for every model and metric, so that differences are paired.

    Attributes:
        success: bool (n,).
        weight: float64 (n,).
        batch: int64 (n,), equal for rows of one batch.
        resamples: how many.
        seed: of the draws.
        level: share of resamples between the bounds.
    """

    success: Bools
    weight: Floats
    batch: NDArray[np.int64]
    resamples: int = 1000
    seed: int = 0
    level: float = 0.95

    def interval(self, metric: Metric, probability: Floats) -> Interval:
        """A metric of one model's predictions, float64 (n,), with its interval."""
        value = metric(probability, self.success, self.weight)
        return self._bounds(value, self._draws(metric, {"": probability})[""])

    def intervals(self, metric: Metric, predictions: Mapping[str, Floats]) -> dict[str, Interval]:
        """A metric of each model's predictions, float64 (n,) each, with its interval."""
        draws = self._draws(metric, predictions)
        return {
            name: self._bounds(metric(column, self.success, self.weight), draws[name])
            for name, column in predictions.items()
        }

    def differences(
        self, metric: Metric, predictions: Mapping[str, Floats], reference: str
    ) -> dict[str, Interval]:
        """Metric of each model less that of `reference` on the same resamples.

        Args:
            metric: of `jobsight.learning.metrics`.
            predictions: float64 (n,) by model, `reference` among them.
            reference: name of the model to compare with.
        """
        draws = self._draws(metric, predictions)
        base = metric(predictions[reference], self.success, self.weight)
        return {
            name: self._bounds(
                metric(column, self.success, self.weight) - base, draws[name] - draws[reference]
            )
            for name, column in predictions.items()
            if name != reference
        }

    def _draws(self, metric: Metric, predictions: Mapping[str, Floats]) -> dict[str, Floats]:
        """The metric in each resample: float64 (resamples,) by model."""
        found: dict[str, list[Floats]] = {name: [] for name in predictions}
        for weights in self._weights():
            for name, column in predictions.items():
                found[name].append(np.asarray(metric(column, self.success, weights)))
        return {
            name: np.concatenate(parts) if parts else np.zeros(0) for name, parts in found.items()
        }

    def _weights(self) -> Iterator[Floats]:
        """Weights of the rows in some resamples at a time: float64 (some, n)."""
        _, number = np.unique(self.batch, return_inverse=True)
        batches = int(number.max()) + 1 if len(number) else 0
        if not batches:
            return
        random = np.random.default_rng(self.seed)
        at_once = max(1, CELLS_AT_ONCE // len(number))
        for first in range(0, self.resamples, at_once):
            some = min(at_once, self.resamples - first)
            times = random.multinomial(batches, np.full(batches, 1.0 / batches), size=some)
            yield times[:, number] * self.weight

    def _bounds(self, value: Any, draws: Floats) -> Interval:
        value = float(value)
        defined = draws[np.isfinite(draws)]
        if not np.isfinite(value):
            return Interval(None, None, None)
        if len(defined) < max(1.0, LEAST_DEFINED * len(draws)):
            return Interval(value, None, None)
        tail = (1.0 - self.level) / 2.0
        low, high = np.quantile(defined, (tail, 1.0 - tail))
        return Interval(value, float(low), float(high))
