"""How sure a probability is: a 90 % interval for the rate of success among like decisions.

**What it covers.** Take decisions later than the calibration part, in bins of like predictions. The
interval of a bin (the mean of its rows' bounds) is meant to hold the bin's observed, batch-weighted
rate in at least 90 of 100 bins, for bins of about as many batches as stood behind the interval.
`jobsight.learning.metrics.covered_bins` measures exactly this.

**How it is made.** Around each prediction p, calibration rows count by how near their prediction q
lies, with the weight max(0, 1 − |asin √p − asin √q| / h), which is even on the scale where a rate's
variance does not depend on the rate. These n batches with s successes, and one batch at p itself,
give the Wilson interval (Wilson 1927)::

    n' = n / (φ + 1) + 1        r = (s / (φ + 1) + p) / n'
    (r + z²/2n' ± z √(r(1−r)/n' + z²/4n'²)) / (1 + z²/n')

The divisor φ + 1 widens it on purpose: φ ≥ 1 is how much more whole stretches of time miss their
prediction together than independent batches would (outages), and the 1 is the noise of the later
bin's own rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jobsight.models.base import Floats

__all__ = ["Intervals", "wilson"]

Z = 1.6448536269514722
"""Standard normal quantile of 95 %: two sides leave 90 % between."""
BANDWIDTH = 0.15
BLOCKS = 10
GRID = 201


@dataclass(frozen=True)
class Intervals:
    """Bounds on a grid of predictions, read by straight lines between.

    Attributes:
        low, high: float64 (201,), bounds at p = sin²(π/2 · k/200).
        spread: φ of the module's formula.
        batches: calibration batches behind it.
    """

    low: Floats
    high: Floats
    spread: float
    batches: float

    @classmethod
    def fit(cls, probability: Floats, success: NDArray[np.bool_], weight: Floats) -> Self:
        """Learn from n calibration rows in time order; n may be 0, then all intervals are wide.

        Args:
            probability: float64 (n,), calibrated by maps that did not see these rows.
            success: bool (n,).
            weight: float64 (n,), batches have weight 1.
        """
        grid = _grid()
        counted = np.zeros(GRID)
        won = np.zeros(GRID)
        # Angles are put in 201 bins first, so that memory does not grow with n · 201.
        bins = np.rint(_angle(probability) / (np.pi / 2) * (GRID - 1)).astype(np.int64)
        mass = np.bincount(bins, weight, GRID)
        wins = np.bincount(bins, weight * success, GRID)
        angles = _angle(grid)
        near = np.maximum(0.0, 1.0 - np.abs(angles[:, None] - angles[None, :]) / BANDWIDTH)
        counted, won = near @ mass, near @ wins
        spread = _time_spread(probability, success, weight)
        count = counted / (spread + 1.0) + 1.0
        rate = (won / (spread + 1.0) + grid) / count
        low, high = wilson(rate, count)
        return cls(low, high, spread, float(weight.sum()))

    def of(self, probability: Floats) -> tuple[Floats, Floats]:
        """Lower and upper bound of each row: two float64 (n,) with low ≤ p ≤ high."""
        low = np.interp(probability, _grid(), self.low)
        high = np.interp(probability, _grid(), self.high)
        return np.minimum(low, probability), np.maximum(high, probability)

    def to_json(self) -> dict[str, Any]:
        """The intervals as plain data, read back by `from_json`."""
        return {
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "spread": self.spread,
            "batches": self.batches,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Intervals from plain data.

        Raises:
            KeyError, TypeError, ValueError: the data holds no intervals.
        """
        low = np.array(data["low"], dtype=np.float64)
        high = np.array(data["high"], dtype=np.float64)
        if low.shape != (GRID,) or high.shape != (GRID,):
            raise ValueError(f"intervals have {GRID} points")
        return cls(low, high, float(data["spread"]), float(data["batches"]))


def _grid() -> Floats:
    return np.asarray(np.sin(np.linspace(0.0, np.pi / 2, GRID)) ** 2, dtype=np.float64)


def _angle(probability: Floats) -> Floats:
    angle: Floats = np.arcsin(np.sqrt(np.clip(probability, 0.0, 1.0)))
    return angle


def wilson(rate: Floats, count: Floats) -> tuple[Floats, Floats]:
    """The 90 % Wilson interval of rates seen in so many trials: two float64 (n,)."""
    middle = rate + Z**2 / (2.0 * count)
    half = Z * np.sqrt(rate * (1.0 - rate) / count + Z**2 / (4.0 * count**2))
    scale = 1.0 + Z**2 / count
    return np.maximum((middle - half) / scale, 0.0), np.minimum((middle + half) / scale, 1.0)


def _time_spread(probability: Floats, success: NDArray[np.bool_], weight: Floats) -> float:
    """Mean over stretches of time of (Σ w(y − p))² / Σ w² p(1 − p), at least 1."""
    total = float(weight.sum())
    blocks = int(min(BLOCKS, total // 5))
    if blocks < 2:
        return 1.0
    block = np.minimum((np.cumsum(weight) - weight) / total * blocks, blocks - 1).astype(np.int64)
    missed = np.bincount(block, weight * (success - probability), blocks)
    # A row's share of its batch is below 1, yet its fellows share its fate: w, not w², is their
    # variance when all of a batch end alike.
    expected = np.bincount(block, weight * probability * (1.0 - probability), blocks)
    return max(1.0, float((missed**2).sum() / max(float(expected.sum()), 1e-9)))
