"""Raw probabilities made calibrated ones, and how sure these are.

Maps are fitted on a part later than training:

- ``identity``: p itself.
- ``platt``: σ(a · logit p + b) (Platt 1999), drawn by a small penalty to a = 1, b = 0.
- ``beta``: σ(a · ln p − b · ln(1 − p) + c) (Kull, Silva Filho, Flach 2017), drawn to a = b = 1.
- ``isotonic``: the rising step function of least squares, read by straight lines between its knots.

Every map rises (never falls) with p, and none answers 0 or 1: the result stays within
1/(n + 2) of them, n being the batches it was fitted on.

**Intervals** of 90 % hold the rate of success among like decisions. Take later decisions in bins of
like predictions: the interval of a bin (the mean of its rows' bounds) is meant to hold the bin's
observed, batch-weighted rate in at least 90 of 100 bins, for bins of about as many batches as stood
behind the interval. `jobsight.learning.metrics.covered_bins` measures exactly this.

Around each prediction p, calibration rows count by how near their prediction q lies, with the
weight max(0, 1 − |asin √p − asin √q| / h), which is even on the scale where a rate's variance does
not depend on the rate. These n batches with s successes, and one batch at p itself, give the Wilson
interval (Wilson 1927)::

    n' = n / (φ + 1) + 1        r = (s / (φ + 1) + p) / n'
    (r + z²/2n' ± z √(r(1−r)/n' + z²/4n'²)) / (1 + z²/n')

The divisor φ + 1 widens it on purpose: φ ≥ 1 is how much more whole stretches of time miss their
prediction together than independent batches would (outages), and the 1 is the noise of the later
bin's own rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from jobsight.models.base import Floats
from jobsight.models.logistic import fit_logistic, log_odds, sigmoid

__all__ = ["KINDS", "Calibration", "Intervals", "Kind", "choose_calibration",
           "cross_validated", "wilson"]  # fmt: skip

Kind = Literal["identity", "platt", "beta", "isotonic"]
KINDS: tuple[Kind, ...] = ("identity", "platt", "beta", "isotonic")

ENOUGH: dict[Kind, float] = {"identity": 0.0, "platt": 20.0, "beta": 60.0, "isotonic": 200.0}
"""Batches from which a kind is tried; at least 10 of each outcome (or half of these) are needed."""
FOLDS = 5
PENALTY = 1.0
FLATTEST = 0.05
"""Least slope in log-odds, so that a calibrated model keeps ranking."""


@dataclass(frozen=True)
class Calibration:
    """One fitted map.

    Attributes:
        kind: which of the module's maps.
        parameters: (a, b) of platt, (a, b, c) of beta, (knots…, values…) of isotonic.
        bound: answers stay within [bound, 1 − bound].
    """

    kind: Kind = "identity"
    parameters: tuple[float, ...] = ()
    bound: float = 1e-6

    def apply(self, probability: Floats) -> Floats:
        """Calibrated probabilities: float64 (n,) → float64 (n,)."""
        if self.kind == "isotonic":
            half = len(self.parameters) // 2
            mapped = np.interp(probability, self.parameters[:half], self.parameters[half:])
        elif self.kind == "identity":
            mapped = probability
        else:
            mapped = sigmoid(_columns(self.kind, probability) @ np.array(self.parameters))
        return np.clip(mapped, self.bound, 1.0 - self.bound)

    @classmethod
    def fit(
        cls, kind: Kind, probability: Floats, success: NDArray[np.bool_], weight: Floats
    ) -> Self:
        """Fit one kind of map on n rows (float64, bool, float64, each (n,)); n may be 0."""
        bound = min(1.0 / (float(weight.sum()) + 2.0), 0.25)
        if kind == "identity" or not len(probability):
            return cls("identity", (), bound)
        if kind == "isotonic":
            from sklearn.isotonic import IsotonicRegression

            steps = IsotonicRegression(out_of_bounds="clip")
            steps.fit(probability, success.astype(np.float64), sample_weight=weight)
            values = np.maximum.accumulate(steps.y_thresholds_)
            return cls(kind, (*steps.X_thresholds_.tolist(), *values.tolist()), bound)
        columns = _columns(kind, probability)
        target = np.ones(columns.shape[1])
        target[-1] = 0.0
        penalty = np.full(columns.shape[1], PENALTY)
        beta = fit_logistic(columns, success, weight, penalty, target=target)
        low = beta[:-1] < FLATTEST
        if low.any():  # a slope that would fall is set to the flattest allowed
            falling = np.append(low, False)
            penalty[falling], target[falling] = 1e9, FLATTEST
            beta = fit_logistic(columns, success, weight, penalty, target=target)
            beta[:-1] = np.maximum(beta[:-1], FLATTEST)
        return cls(kind, tuple(beta.tolist()), bound)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_json` gave; KeyError, TypeError, ValueError where it is not."""
        kind = data["kind"]
        if kind not in KINDS:
            raise ValueError(f"no calibration is named {kind!r}")
        parameters = tuple(float(value) for value in data["parameters"])
        count = {"identity": 0, "platt": 2, "beta": 3}.get(kind)
        if len(parameters) % 2 if count is None else len(parameters) != count:
            raise ValueError(f"{len(parameters)} parameters do not fit the calibration {kind!r}")
        return cls(kind, parameters, float(data["bound"]))


def choose_calibration(
    probability: Floats, success: NDArray[np.bool_], weight: Floats
) -> Calibration:
    """The map with the least log loss, cross-validated over contiguous folds of time.

    Only kinds that the number of batches can bear are tried (`ENOUGH`); ties go to the simpler.

    The rows are in time order; batches have weight 1.
    """
    total = float(weight.sum())
    rarer = min(float(weight[success].sum()), float(weight[~success].sum()))
    tried = [kind for kind in KINDS if total >= ENOUGH[kind] and rarer >= min(ENOUGH[kind] / 2, 10)]
    losses = []
    for kind in tried:
        mapped = cross_validated(kind, probability, success, weight)
        losses.append(-float(weight @ np.log(np.where(success, mapped, 1.0 - mapped))))
    return Calibration.fit(tried[int(np.argmin(losses))], probability, success, weight)


def cross_validated(
    kind: Kind, probability: Floats, success: NDArray[np.bool_], weight: Floats
) -> Floats:
    """Calibrated by maps of this kind that did not see the rows' own fold of time: float64 (n,).

    What a map says of the rows that it was fitted on flatters it; this is how far it is off later.
    """
    total = max(float(weight.sum()), 1e-12)
    fold = np.minimum((np.cumsum(weight) - weight) / total * FOLDS, FOLDS - 1).astype(np.int64)
    mapped = np.empty(len(probability))
    for number in range(FOLDS):
        inside = fold == number
        outside = ~inside
        fitted = Calibration.fit(kind, probability[outside], success[outside], weight[outside])
        mapped[inside] = fitted.apply(probability[inside])
    return mapped


def _columns(kind: Kind, probability: Floats) -> Floats:
    if kind == "platt":
        return np.stack([log_odds(probability), np.ones(len(probability))], axis=1)
    clipped = np.clip(probability, 1e-6, 1.0 - 1e-6)
    return np.stack([np.log(clipped), -np.log1p(-clipped), np.ones(len(probability))], axis=1)


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

        The probabilities are calibrated by maps that did not see these rows; batches have weight 1.
        """
        grid = _grid()
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
        return {**asdict(self), "low": self.low.tolist(), "high": self.high.tolist()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_json` gave; KeyError, TypeError, ValueError where it is not."""
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
