"""Intervals and p-values by drawing whole batches, never single rows of one.

The rows of a batch share their fate; counting them as independent would make every interval too
narrow (Efron, Tibshirani, An Introduction to the Bootstrap, chapter 8). Percentile intervals.
What predictions that are right would show by chance is simulated: consistency resampling (Bröcker
and Smith, Weather and Forecasting 22, 2007).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jobsight.learning.metrics import Metric
from jobsight.models.base import Floats

__all__ = ["POWER", "Bootstrap", "Interval", "Simulation", "p_value"]

CELLS_AT_ONCE = 2_000_000
LEAST_DEFINED = 0.5
POWER = 0.8
"""The probability with which a fault of a stated size is found."""
BISECTIONS = 8

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
        values: what became of n rows, see `jobsight.models.base.Output`.
        weight: float64 (n,).
        batch: int64 (n,), equal for rows of one batch.
        resamples: how many.
        seed: of the draws.
        level: share of resamples between the bounds.
    """

    values: NDArray[Any]
    weight: Floats
    batch: NDArray[np.int64]
    resamples: int = 1000
    seed: int = 0
    level: float = 0.95

    def interval(self, metric: Metric, probability: Floats) -> Interval:
        """A metric of one model's predictions, float64 (n,), with its interval."""
        return self.intervals(metric, {"": probability})[""]

    def intervals(self, metric: Metric, predictions: Mapping[str, Floats]) -> dict[str, Interval]:
        """A metric of each model's predictions, float64 (n,) each, with its interval."""
        draws = self._draws(metric, predictions)
        return {
            name: self._bounds(metric(column, self.values, self.weight), draws[name])
            for name, column in predictions.items()
        }

    def differences(
        self, metric: Metric, predictions: Mapping[str, Floats], reference: str
    ) -> dict[str, Interval]:
        """Metric of each model less that of `reference` on the same resamples."""
        draws = self._draws(metric, predictions)
        base = metric(predictions[reference], self.values, self.weight)
        return {
            name: self._bounds(
                metric(column, self.values, self.weight) - base, draws[name] - draws[reference]
            )
            for name, column in predictions.items()
            if name != reference
        }

    def _draws(self, metric: Metric, predictions: Mapping[str, Floats]) -> dict[str, Floats]:
        """The metric in each resample: float64 (resamples,) by model."""
        drawn: dict[str, list[Floats]] = {name: [np.zeros(0)] for name in predictions}
        _, number = np.unique(self.batch, return_inverse=True)
        batches = int(number.max()) + 1 if len(number) else 0
        random = np.random.default_rng(self.seed)
        for some in _portions(self.resamples, len(number)) if batches else ():
            times = random.multinomial(batches, np.full(batches, 1.0 / batches), size=some)
            weights = times[:, number] * self.weight  # (some, n)
            for name, column in predictions.items():
                drawn[name].append(np.asarray(metric(column, self.values, weights)))
        return {name: np.concatenate(parts) for name, parts in drawn.items()}

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


def _portions(draws: int, rows: int) -> Iterator[int]:
    """How many draws to make at a time, so that memory stays bounded."""
    at_once = max(1, CELLS_AT_ONCE // max(rows, 1))
    for first in range(0, draws, at_once):
        yield min(at_once, draws - first)


@dataclass(frozen=True)
class Simulation:
    """Outcomes drawn from probabilities: all rows of a batch by one random number.

    Rows of a batch are then as alike as their probabilities allow, so what is found is found
    however much they depend on each other.

    Attributes:
        batch: int64 (n,), equal for rows of one batch.
        draws: how many.
        seed: of the draws.
    """

    batch: NDArray[np.int64]
    draws: int = 1000
    seed: int = 0

    def of(self, statistic: Callable[[Bools], Any], probability: Floats) -> Floats:
        """A statistic of each simulated outcome: float64 (draws, ...).

        `statistic` is given outcomes, bool (some, n), and returns float64 (some, ...).
        """
        _, number = np.unique(self.batch, return_inverse=True)
        random = np.random.default_rng(self.seed)
        batches = int(number.max()) + 1
        return np.concatenate(
            [
                statistic(random.random((some, batches))[:, number] < probability)
                for some in _portions(self.draws, len(number))
            ]
        )

    def detectable(
        self,
        statistic: Callable[[Bools], Any],
        probability: Floats,
        toward: Floats,
        limit: Floats,
        part: NDArray[np.int64],
    ) -> Floats:
        """The smallest gap between true and predicted rate that is found with probability `POWER`.

        Args:
            statistic: of outcomes, float64 (some, k): one column for each part.
            probability: float64 (n,), as predicted.
            toward: float64 (n,), 1 where the true rate is higher by the gap, −1 where lower.
            limit: float64 (k,); a column above it is a finding.
            part: int64 (n,), which of the k parts a row is in.

        Returns:
            float64 (k,), by bisection; NaN where no gap up to 1 is found.
        """
        low, high = np.zeros(len(limit)), np.ones(len(limit))
        for turn in range(BISECTIONS):
            gap = high if not turn else (low + high) / 2.0
            true = np.clip(probability + toward * gap[part], 0.0, 1.0)
            found = (self.of(statistic, true) > limit).mean(axis=0) >= POWER
            if not turn:
                never = ~found
            else:
                low, high = np.where(found, low, gap), np.where(found, gap, high)
        return np.where(never, np.nan, high)


def p_value(draws: Floats, observed: Any) -> Any:
    """Probability of a statistic at least as large by chance: (1 + draws as large) / (1 + draws).

    It never is 0 (Phipson and Smyth, Statistical Applications in Genetics and Molecular Biology 9,
    2010). `draws` is float64 (draws, ...), `observed` float64 (...).
    """
    return (1.0 + (draws >= observed - 1e-12).sum(axis=0)) / (1.0 + len(draws))
