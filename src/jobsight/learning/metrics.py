"""How good probabilities are, each row counting with its weight (batches have weight 1).

Every metric takes ``probability`` float64 (n,), ``success`` bool (n,) and ``weight`` float64
(..., n), and returns float64 (...): with one row of weights a resample, thousands of resamples are
scored at once. NaN stands for "undefined", e.g. an area under the curve of one class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jobsight.errors import UsageError
from jobsight.models.base import Floats
from jobsight.models.calibration import wilson

__all__ = [
    "HIGHER_IS_BETTER",
    "METRICS",
    "Curve",
    "Metric",
    "Reliability",
    "average_precision",
    "best_threshold",
    "brier",
    "covered_bins",
    "ece",
    "f_measure",
    "log_loss",
    "mean",
    "mean_of",
    "metric_named",
    "named",
    "precision_recall_curve",
    "ratio",
    "reliability",
    "roc_auc",
    "roc_curve",
]

Bools = NDArray[np.bool_]
Metric = Callable[[Floats, NDArray[Any], Floats], Any]

METRICS = ("roc_auc", "average_precision", "f1", "f1_failure", "brier", "ece", "log_loss")
HIGHER_IS_BETTER = frozenset({"roc_auc", "average_precision", "f1", "f1_failure"})
BINS = 10
SMALLEST = 1e-6


def ratio(above: Any, below: Any) -> Any:
    """Quotient of two arrays, NaN where below is 0: float64 of their shape."""
    above, below = np.broadcast_arrays(np.asarray(above, np.float64), np.asarray(below, np.float64))
    out = np.full(below.shape, np.nan)
    np.divide(above, below, out=out, where=below > 0)
    return out[()]


def _counts(probability: Floats, success: Bools, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Distinct predictions falling (k,), successes and failures at or above each (..., k)."""
    order = np.argsort(-probability, kind="stable")
    falling, won = probability[order], success[order]
    ends = np.flatnonzero(np.append(falling[1:] != falling[:-1], len(falling) > 0))
    sorted_weight = weight[..., order]
    hits = np.cumsum(sorted_weight * won, axis=-1)[..., ends]
    misses = np.cumsum(sorted_weight * ~won, axis=-1)[..., ends]
    return falling[ends], hits, misses


def mean_of(values: Floats, weight: Floats) -> Any:
    """Mean of one number per row, for weights (..., n); NaN without weight."""
    return ratio(weight @ values, weight.sum(axis=-1))


def mean(values: Floats, _success: Bools, weight: Floats) -> Any:
    """Mean of a value of each row, e.g. of what its decision costs."""
    return mean_of(values, weight)


def roc_auc(probability: Floats, success: Bools, weight: Floats) -> Any:
    """Chance that a success is ranked above a failure, ties counting half: the Mann-Whitney U."""
    _, hits, misses = _counts(probability, success, weight)
    if not hits.shape[-1]:
        return np.full(hits.shape[:-1], np.nan)[()]
    steps = np.diff(misses, axis=-1, prepend=0.0)
    before = np.concatenate([np.zeros_like(hits[..., :1]), hits[..., :-1]], axis=-1)
    area = (steps * (hits + before) / 2.0).sum(axis=-1)
    return ratio(area, hits[..., -1] * misses[..., -1])


def average_precision(probability: Floats, success: Bools, weight: Floats) -> Any:
    """Σ (recall gained) · precision over falling thresholds, without interpolation."""
    _, hits, misses = _counts(probability, success, weight)
    if not hits.shape[-1]:
        return np.full(hits.shape[:-1], np.nan)[()]
    precision = np.nan_to_num(ratio(hits, hits + misses))
    gained = np.diff(hits, axis=-1, prepend=0.0)
    return ratio((gained * precision).sum(axis=-1), hits[..., -1])


def f_measure(predicted: Bools, happened: Bools, weight: Floats) -> Any:
    """F-measure of what is predicted against what happened; NaN where neither ever is."""
    hit = weight @ (predicted & happened).astype(np.float64)
    wrong = weight @ (predicted != happened).astype(np.float64)
    return ratio(2.0 * hit, 2.0 * hit + wrong)


def brier(probability: Floats, success: Bools, weight: Floats) -> Any:
    """Mean of (p − y)² (Brier 1950)."""
    return ratio(weight @ (probability - success) ** 2, weight.sum(axis=-1))


def log_loss(probability: Floats, success: Bools, weight: Floats) -> Any:
    """Mean of −ln of the probability given to what happened, p kept within [1e−6, 1 − 1e−6]."""
    right = np.where(success, probability, 1.0 - probability)
    return ratio(weight @ -np.log(np.clip(right, SMALLEST, 1.0 - SMALLEST)), weight.sum(axis=-1))


def _bins(probability: Floats, weight: Floats, bins: int) -> NDArray[np.int64]:
    """Bin of each row: equal shares of the weight, by rank; equal predictions share a bin."""
    order = np.argsort(probability, kind="stable")
    middle = np.cumsum(weight[order]) - weight[order] / 2.0
    values, number = np.unique(probability[order], return_inverse=True)
    total = np.bincount(number, weight[order], len(values))
    place = ratio(np.bincount(number, weight[order] * middle, len(values)), total)
    share = np.nan_to_num(place / max(float(weight.sum()), 1e-12))
    bin_of_value = np.minimum((share * bins).astype(np.int64), bins - 1)
    out = np.empty(len(probability), dtype=np.int64)
    out[order] = bin_of_value[number]
    return out


def ece(probability: Floats, success: Bools, weight: Floats, *, bins: int = BINS) -> Any:
    """Expected calibration error: mean over equal-count bins of |rate − mean p|, by their weight.

    The bins are those of the mean weight, so that all resamples of a call share them. Outcomes may
    be many too: bool (..., n).
    """
    base = np.atleast_2d(weight).mean(axis=0)
    member = np.eye(bins)[_bins(probability, base, bins)]  # (n, bins)
    missed = np.abs((weight * (success - probability)) @ member).sum(axis=-1)
    return ratio(missed, weight.sum(axis=-1))


def metric_named(name: str, *, threshold: float = 0.5) -> Metric:
    """The metric of a name in `METRICS`.

    The F-measures are of success, predicted from `threshold` on, and of failure, below it.

    Raises:
        UsageError: there is no such metric.
    """
    return named(name, {
        "roc_auc": roc_auc, "average_precision": average_precision,
        "f1": lambda p, success, weight: f_measure(p >= threshold, success, weight),
        "f1_failure": lambda p, success, weight: f_measure(p < threshold, ~success, weight),
        "brier": brier, "ece": ece, "log_loss": log_loss,
    })  # fmt: skip


def named(name: str, known: Mapping[str, Metric]) -> Metric:
    """One of several metrics; `UsageError`: there is no such metric."""
    if name not in known:
        raise UsageError(f"no metric is named {name!r}; known are {', '.join(known)}")
    return known[name]


def best_threshold(
    probability: Floats,
    success: Bools,
    weight: Floats,
    *,
    of: Literal["success", "failure"] = "success",
) -> float:
    """The threshold of the greatest F-measure, half-way between two predictions; ties: the least.

    0.5 where the F-measure is undefined or there are no rows.
    """
    values, hits, misses = _counts(probability, success, weight)
    if not len(values):
        return 0.5
    # Row k: threshold between the k-th and the next lower prediction, k = 0 above them all.
    hits, misses = np.append(0.0, hits), np.append(0.0, misses)
    if of == "success":
        hit, wrong = hits, misses + hits[-1] - hits
    else:
        hit, wrong = misses[-1] - misses, misses + hits[-1] - hits
    measure = np.nan_to_num(ratio(2.0 * hit, 2.0 * hit + wrong), nan=-1.0)
    if measure.max() <= 0.0:
        return 0.5
    edges = np.concatenate([[1.0 + SMALLEST], values, [0.0]])
    best = len(measure) - 1 - int(np.argmax(measure[::-1]))
    return float((edges[best] + edges[best + 1]) / 2.0)


@dataclass(frozen=True)
class Curve:
    """Points of a curve to draw: x, y and the threshold at each, float64 (k,)."""

    x: Floats
    y: Floats
    threshold: Floats


def roc_curve(probability: Floats, success: Bools, weight: Floats) -> Curve:
    """x: rate of failures taken for successes, y: rate of successes found; from (0, 0) to (1, 1).

    Empty where only one class is there.
    """
    values, hits, misses = _counts(probability, success, weight)
    if not len(values) or hits[-1] == 0 or misses[-1] == 0:
        return Curve(np.zeros(0), np.zeros(0), np.zeros(0))
    x, y = np.append(0.0, misses / misses[-1]), np.append(0.0, hits / hits[-1])
    return Curve(x, y, np.append(np.inf, values))


def precision_recall_curve(probability: Floats, success: Bools, weight: Floats) -> Curve:
    """x: recall, y: precision of success, by falling threshold; empty without a success."""
    values, hits, misses = _counts(probability, success, weight)
    if not len(values) or hits[-1] == 0:
        return Curve(np.zeros(0), np.zeros(0), np.zeros(0))
    return Curve(hits / hits[-1], np.nan_to_num(ratio(hits, hits + misses)), values)


@dataclass(frozen=True)
class Reliability:
    """Points of a reliability plot, one a bin, float64 (k,).

    Attributes:
        predicted: mean probability.
        observed: rate of success.
        weight: batches in the bin.
        low, high: 90 % Wilson interval of `observed`.
    """

    predicted: Floats
    observed: Floats
    weight: Floats
    low: Floats
    high: Floats


def reliability(
    probability: Floats, success: Bools, weight: Floats, *, bins: int = BINS
) -> Reliability:
    """Points of the reliability plot over equal-count bins; bins without rows are left out."""
    member = _bins(probability, weight, bins)
    total: Floats = np.bincount(member, weight, bins).astype(np.float64)
    there = total > 0
    mass = total[there]
    predicted = np.bincount(member, weight * probability, bins)[there] / mass
    observed = np.clip(np.bincount(member, weight * success, bins)[there] / mass, 0.0, 1.0)
    return Reliability(predicted, observed, mass, *wilson(observed, mass))


def covered_bins(
    probability: Floats,
    low: Floats,
    high: Floats,
    success: Bools,
    weight: Floats,
    *,
    bins: int = BINS,
) -> Bools:
    """Whether the observed rate of bins of like predictions is between their mean bounds.

    Bins have equal shares of the batches; those without rows are left out: bool (k,), k ≤ bins.

    Give about as many batches to each bin as stood behind the intervals.
    """
    member = _bins(probability, weight, bins)
    total = np.bincount(member, weight, bins)
    there = total > 0
    observed, lower, upper = (
        np.bincount(member, weight * column, bins)[there] / total[there]
        for column in (success, low, high)
    )
    inside: Bools = (observed >= lower - 1e-9) & (observed <= upper + 1e-9)
    return inside
