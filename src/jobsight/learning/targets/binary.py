"""Yes or no: P(true), calibrated by a map of probabilities, with intervals of rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.learning import metrics
from jobsight.learning.bootstrap import Simulation
from jobsight.learning.metrics import HIGHER_IS_BETTER, METRICS, Metric
from jobsight.learning.targets.base import LEAST_OF_EACH, Calibrated, Scores, Target, Values
from jobsight.models.base import BINARY, Floats, Ints, Output
from jobsight.models.calibration import Calibration, Intervals, choose_calibration, cross_validated

__all__ = ["CHANCE", "Binary", "BinaryCalibrated", "errors_by_chance"]

CHANCE = 0.95
"""Of calibration errors by chance: the quantile that is reported."""
_GROUPS = 5
"""Groups of like predictions by which intervals are judged, for as many batches as taught them."""
_LEAST = 10
"""Batches that a group has where there are more groups."""


@dataclass(frozen=True)
class BinaryCalibrated(Calibrated):
    """A map of probabilities, intervals, and thresholds.

    Attributes:
        calibration: the map.
        intervals: of the rate among like decisions.
        threshold: of the F-measure of what is true, chosen on the backtest.
        threshold_failure: of the F-measure of what is false, likewise.
    """

    calibration: Calibration
    intervals: Intervals
    threshold: float
    threshold_failure: float

    def apply(self, raw: Floats) -> Floats:
        return self.calibration.apply(raw)

    def bounds(self, predicted: Floats) -> tuple[Floats, Floats]:
        """See `Calibrated.bounds`: two float64 (n,)."""
        return self.intervals.of(predicted)

    def covered(
        self, predicted: Floats, low: Floats, high: Floats, values: Values, weight: Floats
    ) -> NDArray[np.bool_]:
        """Of each group of like predictions, with about as many batches as are behind a bound."""
        batches, behind = float(weight.sum()), max(self.intervals.batches, 1.0)
        groups = max(_GROUPS, min(int(_GROUPS * batches / behind), int(batches / _LEAST)))
        return metrics.covered_bins(predicted, low, high, values, weight, bins=groups)

    def decided(self, metric: str, predicted: Floats) -> Floats:
        """For F-measures, decisions at the threshold, as probabilities of 0 and 1."""
        limits = {"f1": self.threshold, "f1_failure": self.threshold_failure}
        if metric not in limits:
            return predicted
        return (predicted >= limits[metric]).astype(np.float64)

    def to_json(self) -> dict[str, Any]:
        return {
            "calibration": self.calibration.to_json(),
            "intervals": self.intervals.to_json(),
            "threshold": self.threshold,
            "threshold_failure": self.threshold_failure,
        }


@dataclass(frozen=True)
class Binary(Target):
    """Whether something becomes true; values are bool (n,).

    Attributes:
        true, false: what became of decisions of either kind, for messages.
        found: names of several decisions of either kind.
    """

    true: str = "succeeded"
    false: str = "failed"
    found: tuple[str, str] = ("successes", "failures")

    metrics: ClassVar[tuple[str, ...]] = METRICS
    higher: ClassVar[frozenset[str]] = HIGHER_IS_BETTER
    loss: ClassVar[str] = "log_loss"
    headline: ClassVar[str] = "roc_auc"

    @property
    def output(self) -> Output:
        return BINARY

    def values(self, column: pl.Series) -> Values:
        return column.cast(pl.Boolean).to_numpy()

    def metric(self, name: str) -> Metric:
        return metrics.metric_named(name)

    def calibrate(
        self, raw: Floats, values: Values, weight: Floats, batch: Ints, *, as_is: bool = False
    ) -> BinaryCalibrated:
        if as_is:
            calibration = Calibration.fit("identity", raw, values, weight)
        else:
            calibration = choose_calibration(raw, values, weight)
        # Thresholds are on the calibrated scale, the one that is asked for later.
        chosen = calibration.apply(raw), values, weight
        validated = cross_validated(calibration.kind, raw, values, weight)
        return BinaryCalibrated(
            calibration,
            Intervals.fit(validated, values, weight),
            metrics.best_threshold(*chosen, of="success"),
            metrics.best_threshold(*chosen, of="failure"),
        )

    def calibrated(self, data: Mapping[str, Any]) -> BinaryCalibrated:
        return BinaryCalibrated(
            Calibration.from_json(data["calibration"]),
            Intervals.from_json(data["intervals"]),
            float(data["threshold"]),
            float(data["threshold_failure"]),
        )

    def scores(
        self, predicted: Floats, values: Values, weight: Floats, by: Calibrated | None = None
    ) -> Scores:
        """All metrics; the F-measures at the thresholds of `by`, or the best on these rows."""
        if isinstance(by, BinaryCalibrated):
            limits = (by.threshold, by.threshold_failure)
        else:
            true = metrics.best_threshold(predicted, values, weight, of="success")
            limits = true, metrics.best_threshold(predicted, values, weight, of="failure")
        thresholds = dict(zip(("f1", "f1_failure"), limits, strict=True))
        scores: Scores = {}
        for name in METRICS:
            metric = metrics.metric_named(name, threshold=thresholds.get(name, 0.5))
            value = float(metric(predicted, values, weight))
            scores[name] = value if np.isfinite(value) else None
        return scores

    def decided(self, metric: str, predicted: Floats, values: Values, weight: Floats) -> Floats:
        """For F-measures, decisions at the best threshold, as probabilities of 0 and 1."""
        if metric not in ("f1", "f1_failure"):
            return predicted
        of: Any = "failure" if metric == "f1_failure" else "success"
        limit = metrics.best_threshold(predicted, values, weight, of=of)
        return (predicted >= limit).astype(np.float64)

    def by_chance(
        self, predicted: Floats, weight: Floats, simulation: Simulation
    ) -> dict[str, float]:
        """The calibration error that right probabilities exceed once in 20 times."""
        errors = errors_by_chance(simulation, predicted, weight)
        return {"ece_by_chance": float(np.quantile(errors, CHANCE))}

    def unlearnable(self, values: Values, weight: Floats) -> str | None:
        """Too few batches of one of the two outcomes."""
        true = float(weight[values].sum())
        false = float(weight.sum()) - true
        if min(true, false) >= LEAST_OF_EACH:
            return None
        return (
            f"the train part has {true:.0f} batches that {self.true} and {false:.0f} that "
            f"{self.false}; "
            f"at least {LEAST_OF_EACH} of each are needed to distinguish them"
        )

    def mean(self, values: Values, weight: Floats) -> float | None:
        return float(np.average(values, weights=weight)) if len(values) else None

    def views(self, values: Values) -> list[NDArray[np.bool_]]:
        return [values]

    def ranks(self, predicted: Floats) -> list[Floats]:
        return [predicted]

    def events(self, predicted: Floats, values: Values) -> tuple[Floats, Values] | None:
        return predicted, values


def errors_by_chance(simulation: Simulation, predicted: Floats, weight: Floats) -> Floats:
    """Calibration errors that outcomes drawn from the probabilities show: float64 (draws,)."""
    return simulation.of(lambda drawn: metrics.ece(predicted, drawn, weight), predicted)
