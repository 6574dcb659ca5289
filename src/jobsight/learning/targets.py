"""What a question predicts: yes or no, one of some kinds, a number, or shares of a whole.

A target says how outcomes become values, by which metrics predictions are judged, and how they are
calibrated on decisions later than the training. Every metric takes predictions, values and weights
(..., n), and returns (...): with one row of weights per resample, all resamples are scored at once.

- `Binary`: P(true). Metrics of `jobsight.learning.metrics`; maps of `jobsight.models.calibration`,
  and 90 % intervals for the rate among like decisions (`jobsight.models.intervals`).
- `Kinds`: a probability for each kind; temperature scaling (Guo et al., ICML 2017) and sets of
  kinds that hold the one observed nine times in ten (split conformal prediction).
- `Quantiles`: a number at each level; conformalized quantile regression (Romano, Patterson and
  Candès, NeurIPS 2019) widens or narrows the outer levels until they hold what they promise.
- `Shares`: shares adding up to 1; the distance that holds nine of ten, share by share.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.learning import metrics
from jobsight.learning.bootstrap import Simulation
from jobsight.learning.metrics import HIGHER_IS_BETTER, METRICS, Metric
from jobsight.models.base import BINARY, Floats, Output
from jobsight.models.calibration import Calibration, choose_calibration, cross_validated
from jobsight.models.constant import weighted_quantiles
from jobsight.models.intervals import Intervals

__all__ = [
    "CHANCE",
    "MORE_IS_BETTER",
    "Binary",
    "BinaryCalibrated",
    "Calibrated",
    "Kinds",
    "KindsCalibrated",
    "Quantiles",
    "QuantilesCalibrated",
    "Scores",
    "Shares",
    "SharesCalibrated",
    "Target",
    "errors_by_chance",
]

Values = NDArray[Any]
Scores = dict[str, float | None]

HELD = 0.9
"""What intervals and sets are to hold, but for quantiles, whose levels say it."""
CHANCE = 0.95
"""Of calibration errors by chance: the quantile that is reported."""
LEAST_OF_EACH = 3
"""Batches' worth of each of two outcomes that training needs."""
LEAST_TO_CALIBRATE = 20.0
_TEMPERATURES = np.exp(np.linspace(0.0, np.log(4.0), 41))
"""None below 1: kinds drift, and a part with more of one of them would sharpen all predictions."""
_GROUPS = 5
"""Groups of like predictions by which intervals are judged, for as many batches as taught them."""
_LEAST = 10
"""Batches that a group has where there are more groups."""


class Calibrated(ABC):
    """What makes the raw predictions of one model ones to act on; immutable, plain data on disk."""

    @abstractmethod
    def apply(self, raw: Floats) -> Floats:
        """Calibrated predictions, of the shape of `raw`."""

    @abstractmethod
    def bounds(self, predicted: Floats) -> tuple[Floats, Floats]:
        """Lower and upper bounds of calibrated predictions.

        Of `Kinds` both are 1 for the kinds in the set and 0 for others.
        """

    @abstractmethod
    def covered(
        self, predicted: Floats, low: Floats, high: Floats, values: Values, weight: Floats
    ) -> NDArray[np.bool_]:
        """Whether the bounds hold what was observed, of each row or group of rows."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """As plain data, which `Target.calibrated` reads back."""

    def decided(self, metric: str, predicted: Floats) -> Floats:
        """Predictions as a metric of decisions wants them, at this model's own thresholds."""
        return predicted


class Target(ABC):
    """One thing that a question predicts; immutable.

    Attributes:
        metrics: names of what predictions are judged by.
        higher: those of which more is better.
        loss: the metric that chooses, unless the settings name another.
        headline: the metric that reports show first, with its interval.
        coverage: the share that bounds are to hold.
    """

    metrics: ClassVar[tuple[str, ...]]
    higher: ClassVar[frozenset[str]] = frozenset()
    loss: ClassVar[str]
    headline: ClassVar[str]

    @property
    def coverage(self) -> float:
        """The share that bounds are to hold."""
        return HELD

    @property
    @abstractmethod
    def output(self) -> Output:
        """What models are to predict."""

    @abstractmethod
    def values(self, column: pl.Series) -> Values:
        """Values of known outcomes (n), as `jobsight.models.base.Output` describes them."""

    @abstractmethod
    def metric(self, name: str) -> Metric:
        """The metric of a name in `metrics`.

        Raises:
            UsageError: there is no such metric.
        """

    @abstractmethod
    def calibrate(
        self,
        raw: Floats,
        values: Values,
        weight: Floats,
        select: tuple[Floats, Values, Floats],
        *,
        as_is: bool = False,
    ) -> Calibrated:
        """Learn from raw predictions of later decisions, in time order.

        Args:
            raw: predictions of n rows.
            values: what became of them.
            weight: float64 (n,), batches have weight 1.
            select: the same three of the select part, for what is chosen there.
            as_is: keep the predictions; of `Binary`, learn their intervals and thresholds.
        """

    @abstractmethod
    def calibrated(self, data: Mapping[str, Any]) -> Calibrated:
        """Read what `Calibrated.to_json` gave.

        Raises:
            KeyError, TypeError, ValueError: the data is not of this target.
        """

    def scores(
        self, predicted: Floats, values: Values, weight: Floats, by: Calibrated | None = None
    ) -> Scores:
        """All metrics; None where undefined. `by` sets what a metric needs to be decided by."""
        found = {name: float(self.metric(name)(predicted, values, weight)) for name in self.metrics}
        return {name: value if np.isfinite(value) else None for name, value in found.items()}

    def decided(self, metric: str, predicted: Floats, values: Values, weight: Floats) -> Floats:
        """Predictions as a metric of decisions wants them; most metrics take them as they are."""
        return predicted

    def by_chance(
        self, predicted: Floats, weight: Floats, simulation: Simulation
    ) -> dict[str, float]:
        """What right predictions show by chance, by the name it has among the scores."""
        return {}

    def unlearnable(self, values: Values, weight: Floats) -> str | None:
        """Why nothing can be learned from these values; None where it can."""
        return None

    def mean(self, values: Values, weight: Floats) -> float | None:
        """The base rate of a binary target; None of others."""
        return None

    @abstractmethod
    def views(self, values: Values) -> list[NDArray[np.bool_]]:
        """Yes-or-no views of the values, by which ranking is judged: bool (n,) each."""

    def ranks(self, predicted: Floats) -> list[Floats]:
        """What ranks the rows for each of `views`: float64 (n,) each."""
        return list(predicted.T)

    def events(self, predicted: Floats, values: Values) -> tuple[Floats, Values] | None:
        """A probability of each row and whether it came true, where predictions give one."""
        return None

    def counts(self, values: Values) -> dict[str, int]:
        """How many decisions have each value, by its name; empty where values have no names."""
        return {}

    def rankings(self, predicted: Floats, values: Values, weight: Floats) -> list[float]:
        """ROC AUC in each of `views`; NaN where undefined."""
        pairs = zip(self.ranks(predicted), self.views(values), strict=True)
        return [float(metrics.roc_auc(rank, view, weight)) for rank, view in pairs]

    def ranking(self, predicted: Floats, values: Values, weight: Floats) -> float:
        """The mean of `rankings`; NaN where undefined."""
        known = [auc for auc in self.rankings(predicted, values, weight) if np.isfinite(auc)]
        return float(np.mean(known)) if known else float("nan")


@dataclass(frozen=True)
class BinaryCalibrated(Calibrated):
    """A map of probabilities, intervals, and thresholds.

    Attributes:
        calibration: the map.
        intervals: of the rate among like decisions.
        threshold: of the F-measure of what is true, chosen on the select part.
        threshold_failure: of the F-measure of what is false, likewise.
    """

    calibration: Calibration
    intervals: Intervals
    threshold: float
    threshold_failure: float

    def apply(self, raw: Floats) -> Floats:
        """See `Calibrated.apply`."""
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
        """See `Calibrated.to_json`."""
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
    """

    true: str = "succeeded"
    false: str = "failed"

    metrics: ClassVar[tuple[str, ...]] = METRICS
    higher: ClassVar[frozenset[str]] = HIGHER_IS_BETTER
    loss: ClassVar[str] = "log_loss"
    headline: ClassVar[str] = "roc_auc"

    @property
    def output(self) -> Output:
        """See `Target.output`."""
        return BINARY

    def values(self, column: pl.Series) -> Values:
        """See `Target.values`."""
        return column.cast(pl.Boolean).to_numpy()

    def metric(self, name: str) -> Metric:
        """See `Target.metric`; F-measures at the threshold 0.5."""
        return metrics.metric_named(name)

    def calibrate(
        self,
        raw: Floats,
        values: Values,
        weight: Floats,
        select: tuple[Floats, Values, Floats],
        *,
        as_is: bool = False,
    ) -> BinaryCalibrated:
        """See `Target.calibrate`."""
        if as_is:
            calibration = Calibration.fit("identity", raw, values, weight)
        else:
            calibration = choose_calibration(raw, values, weight)
        # Thresholds are on the calibrated scale, the one that is asked for later.
        chosen = calibration.apply(select[0]), select[1], select[2]
        validated = cross_validated(calibration.kind, raw, values, weight)
        return BinaryCalibrated(
            calibration,
            Intervals.fit(validated, values, weight),
            metrics.best_threshold(*chosen, of="success"),
            metrics.best_threshold(*chosen, of="failure"),
        )

    def calibrated(self, data: Mapping[str, Any]) -> BinaryCalibrated:
        """See `Target.calibrated`."""
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
        found = metrics.score(
            predicted, values, weight, threshold=limits[0], threshold_failure=limits[1]
        )
        return asdict(found)

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
        """Share of what is true, by weight."""
        return float(np.average(values, weights=weight)) if len(values) else None

    def views(self, values: Values) -> list[NDArray[np.bool_]]:
        """The values themselves."""
        return [values]

    def ranks(self, predicted: Floats) -> list[Floats]:
        """The probabilities themselves."""
        return [predicted]

    def events(self, predicted: Floats, values: Values) -> tuple[Floats, Values] | None:
        """The probabilities and the values themselves."""
        return predicted, values


def errors_by_chance(simulation: Simulation, predicted: Floats, weight: Floats) -> Floats:
    """Calibration errors that outcomes drawn from the probabilities show: float64 (draws,)."""
    return simulation.of(lambda drawn: metrics.ece(predicted, drawn, weight), predicted)


def _mean(rows: Floats, weight: Floats) -> Any:
    """Mean of one number per row, for weights (..., n); NaN without weight."""
    return metrics.mean(rows, np.zeros(0, np.bool_), weight)


def _conformal(scores: Floats, weight: Floats, share: float) -> float:
    """The score that `share` of new rows stays below: the quantile for n + 1 rows; inf if few."""
    total = float(weight.sum())
    level = share * (total + 1.0) / max(total, 1e-12)
    return float(weighted_quantiles(scores, weight, (level,))[0]) if level <= 1.0 else float("inf")


@dataclass(frozen=True)
class KindsCalibrated(Calibrated):
    """A temperature, and the least probability of a kind in the set.

    Attributes:
        temperature: log-probabilities are divided by it.
        least: kinds with at least this probability are in the set, the likeliest always.
    """

    temperature: float
    least: float

    def apply(self, raw: Floats) -> Floats:
        """See `Calibrated.apply`."""
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
        """See `Calibrated.to_json`."""
        return asdict(self)


@dataclass(frozen=True)
class Kinds(Target):
    """Which of some kinds; values are int64 (n,), indices of `kinds`.

    Attributes:
        kinds: their names, at least two.
    """

    kinds: tuple[str, ...]

    metrics: ClassVar[tuple[str, ...]] = ("log_loss", "accuracy", "macro_f1", "brier", "ece")
    higher: ClassVar[frozenset[str]] = frozenset({"accuracy", "macro_f1"})
    loss: ClassVar[str] = "log_loss"
    headline: ClassVar[str] = "accuracy"

    @property
    def output(self) -> Output:
        """See `Target.output`."""
        return Output("kinds", self.kinds)

    def values(self, column: pl.Series) -> Values:
        """Indices of the kinds' names.

        Raises:
            InvalidOperationError: of Polars; a name is not one of the kinds.
        """
        return column.cast(pl.Enum(self.kinds)).to_physical().cast(pl.Int64).to_numpy()

    def metric(self, name: str) -> Metric:
        """See `Target.metric`."""
        return _named(name, {"log_loss": _log_loss, "accuracy": _accuracy, "macro_f1": _macro_f1,
                             "brier": _brier, "ece": _top_ece})  # fmt: skip

    def calibrate(
        self,
        raw: Floats,
        values: Values,
        weight: Floats,
        select: tuple[Floats, Values, Floats],
        *,
        as_is: bool = False,
    ) -> KindsCalibrated:
        """See `Target.calibrate`."""
        if weight.sum() < LEAST_TO_CALIBRATE:
            return KindsCalibrated(1.0, 0.0)
        fits = [KindsCalibrated(float(t), 0.0) for t in _TEMPERATURES]
        losses = [float(_log_loss(one.apply(raw), values, weight)) for one in fits]
        best = fits[int(np.argmin(losses))]
        observed = best.apply(raw)[np.arange(len(values)), values]
        limit = _conformal(1.0 - observed, weight, HELD)
        return KindsCalibrated(best.temperature, max(1.0 - limit, 0.0))

    def calibrated(self, data: Mapping[str, Any]) -> KindsCalibrated:
        """See `Target.calibrated`."""
        return KindsCalibrated(float(data["temperature"]), float(data["least"]))

    def unlearnable(self, values: Values, weight: Floats) -> str | None:
        """Too few batches of all kinds but one."""
        counts = np.bincount(values, weight, len(self.kinds))
        if (counts >= LEAST_OF_EACH).sum() >= 2:
            return None
        return f"fewer than two kinds have {LEAST_OF_EACH} batches in the train part"

    def counts(self, values: Values) -> dict[str, int]:
        """See `Target.counts`."""
        return dict(zip(self.kinds, np.bincount(values, minlength=len(self.kinds)).tolist(),
                        strict=True))  # fmt: skip

    def views(self, values: Values) -> list[NDArray[np.bool_]]:
        """Each kind against the rest."""
        return [values == k for k in range(len(self.kinds))]

    def events(self, predicted: Floats, values: Values) -> tuple[Floats, Values] | None:
        """The likeliest kind's probability, and whether it was the one."""
        return predicted.max(axis=1), predicted.argmax(axis=1) == values


def _log_loss(predicted: Floats, values: Values, weight: Floats) -> Any:
    observed = predicted[np.arange(len(values)), values]
    return _mean(-np.log(np.clip(observed, metrics.SMALLEST, 1.0)), weight)


def _accuracy(predicted: Floats, values: Values, weight: Floats) -> Any:
    return _mean((predicted.argmax(axis=1) == values).astype(np.float64), weight)


def _macro_f1(predicted: Floats, values: Values, weight: Floats) -> Any:
    """Mean F-measure of the kinds that are observed or predicted (the likeliest is)."""
    best, kinds = predicted.argmax(axis=1), range(predicted.shape[1])
    each = np.stack([metrics.f_measure(best == k, values == k, weight) for k in kinds])
    known = np.isfinite(each)
    total = np.where(known, each, 0.0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)[()]


def _brier(predicted: Floats, values: Values, weight: Floats) -> Any:
    return _mean(((predicted - np.eye(predicted.shape[1])[values]) ** 2).sum(axis=1), weight)


def _top_ece(predicted: Floats, values: Values, weight: Floats) -> Any:
    """Calibration error of the likeliest kind's probability."""
    return metrics.ece(predicted.max(axis=1), predicted.argmax(axis=1) == values, weight)


@dataclass(frozen=True)
class QuantilesCalibrated(Calibrated):
    """What the outer levels are moved outwards by (negative: inwards), in the target's unit."""

    offset: float

    def apply(self, raw: Floats) -> Floats:
        """See `Calibrated.apply`; levels between stay between."""
        low, high = raw[:, :1] - self.offset, raw[:, -1:] + self.offset
        middle = (low + high) / 2.0
        moved = np.clip(raw, np.minimum(low, middle), np.maximum(high, middle))
        moved[:, :1], moved[:, -1:] = np.minimum(low, middle), np.maximum(high, middle)
        return np.asarray(moved, np.float64)

    def bounds(self, predicted: Floats) -> tuple[Floats, Floats]:
        """The outer levels: two float64 (n,)."""
        return predicted[:, 0], predicted[:, -1]

    def covered(
        self, predicted: Floats, low: Floats, high: Floats, values: Values, weight: Floats
    ) -> NDArray[np.bool_]:
        """Of each row: whether the number observed is between the outer levels."""
        return np.asarray((values >= low) & (values <= high))

    def to_json(self) -> dict[str, Any]:
        """See `Calibrated.to_json`."""
        return asdict(self)


@dataclass(frozen=True)
class Quantiles(Target):
    """A number, such as a span; values are float64 (n,).

    Attributes:
        unit: of the number as it is in the table of decisions, e.g. ``s``.
        levels: that are predicted, rising; 0.5 among them.
        log: learn ln(1 + number), for spans of all lengths; predictions are on that scale.
    """

    unit: str
    levels: tuple[float, ...] = (0.1, 0.5, 0.9)
    log: bool = False

    higher: ClassVar[frozenset[str]] = frozenset({"coverage_80", "within_2", "within_3"})
    loss: ClassVar[str] = "pinball"
    headline: ClassVar[str] = "pinball"

    @property
    def metrics(self) -> tuple[str, ...]:  # type: ignore[override]
        """Of spans too how far the median is off: by orders of magnitude, and within factors."""
        of_spans = ("log10_mse", "within_2", "within_3") if self.log else ()
        return ("pinball", *of_spans, "median_error", self._covers, "width")

    @property
    def coverage(self) -> float:
        """What is promised between the outer levels."""
        return self.levels[-1] - self.levels[0]

    @property
    def _covers(self) -> str:
        return f"coverage_{round(100 * self.coverage)}"

    @property
    def output(self) -> Output:
        """See `Target.output`."""
        return Output("quantiles", tuple(f"{level:.0%}" for level in self.levels), self.levels)

    def values(self, column: pl.Series) -> Values:
        """See `Target.values`."""
        numbers = column.cast(pl.Float64).to_numpy()
        return np.log1p(np.maximum(numbers, 0.0)) if self.log else numbers

    def metric(self, name: str) -> Metric:
        """See `Target.metric`."""
        levels, middle = np.array(self.levels), self.levels.index(0.5)

        def pinball(predicted: Floats, values: Values, weight: Floats) -> Any:
            over = values[:, None] - predicted
            return _mean(np.maximum(levels * over, (levels - 1.0) * over).mean(axis=1), weight)

        def median_error(predicted: Floats, values: Values, weight: Floats) -> Any:
            return _mean(np.abs(values - predicted[:, middle]), weight)

        def coverage(predicted: Floats, values: Values, weight: Floats) -> Any:
            inside = (values >= predicted[:, 0]) & (values <= predicted[:, -1])
            return _mean(inside.astype(np.float64), weight)

        def width(predicted: Floats, _values: Values, weight: Floats) -> Any:
            return _mean(predicted[:, -1] - predicted[:, 0], weight)

        def off(predicted: Floats, values: Values) -> Floats:
            return np.asarray(np.abs(values - predicted[:, middle]) / np.log(10.0))

        def log10_mse(predicted: Floats, values: Values, weight: Floats) -> Any:
            return _mean(off(predicted, values) ** 2, weight)

        def within(factor: float) -> Metric:
            def share(predicted: Floats, values: Values, weight: Floats) -> Any:
                near = off(predicted, values) <= np.log10(factor)
                return _mean(near.astype(np.float64), weight)

            return share

        known: dict[str, Metric] = {
            "pinball": pinball, "log10_mse": log10_mse, "within_2": within(2.0),
            "within_3": within(3.0), "median_error": median_error, self._covers: coverage,
            "width": width,
        }  # fmt: skip
        return _named(name, {one: known[one] for one in self.metrics})

    def calibrate(
        self,
        raw: Floats,
        values: Values,
        weight: Floats,
        select: tuple[Floats, Values, Floats],
        *,
        as_is: bool = False,
    ) -> QuantilesCalibrated:
        """See `Target.calibrate`."""
        if as_is or weight.sum() < LEAST_TO_CALIBRATE:
            return QuantilesCalibrated(0.0)
        outside = np.maximum(raw[:, 0] - values, values - raw[:, -1])
        return QuantilesCalibrated(_conformal(outside, weight, self.coverage))

    def calibrated(self, data: Mapping[str, Any]) -> QuantilesCalibrated:
        """See `Target.calibrated`."""
        return QuantilesCalibrated(float(data["offset"]))

    def views(self, values: Values) -> list[NDArray[np.bool_]]:
        """What is above the median."""
        return [values > np.median(values)] if len(values) else [np.zeros(0, np.bool_)]

    def ranks(self, predicted: Floats) -> list[Floats]:
        """The predicted median."""
        return [predicted[:, self.levels.index(0.5)]]


@dataclass(frozen=True)
class SharesCalibrated(Calibrated):
    """How far each share may be off, nine times in ten: k distances in [0, 1]."""

    radius: tuple[float, ...]

    def apply(self, raw: Floats) -> Floats:
        """See `Calibrated.apply`: shares stay as they are."""
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
        """See `Calibrated.to_json`."""
        return {"radius": list(self.radius)}


@dataclass(frozen=True)
class Shares(Target):
    """Shares of a whole; values are float64 (n, k), made of the decisions' list column.

    Attributes:
        names: of the k shares.
    """

    names: tuple[str, ...]

    metrics: ClassVar[tuple[str, ...]] = ("divergence", "distance")
    loss: ClassVar[str] = "divergence"
    headline: ClassVar[str] = "distance"

    @property
    def output(self) -> Output:
        """See `Target.output`."""
        return Output("shares", self.names)

    def values(self, column: pl.Series) -> Values:
        """Rows of the list column, scaled so that they add up to 1."""
        rows = np.array(column.to_list(), np.float64).reshape(len(column), len(self.names))
        shares: Floats = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-12)
        return shares

    def metric(self, name: str) -> Metric:
        """See `Target.metric`."""
        return _named(name, {"divergence": _divergence, "distance": _distance})

    def calibrate(
        self,
        raw: Floats,
        values: Values,
        weight: Floats,
        select: tuple[Floats, Values, Floats],
        *,
        as_is: bool = False,
    ) -> SharesCalibrated:
        """See `Target.calibrate`."""
        if weight.sum() < LEAST_TO_CALIBRATE:
            return SharesCalibrated((1.0,) * len(self.names))
        off = np.abs(values - raw)
        radius = (_conformal(off[:, k], weight, HELD) for k in range(len(self.names)))
        return SharesCalibrated(tuple(min(one, 1.0) for one in radius))

    def calibrated(self, data: Mapping[str, Any]) -> SharesCalibrated:
        """See `Target.calibrated`."""
        radius = tuple(float(one) for one in data["radius"])
        if len(radius) != len(self.names):
            raise ValueError(f"{len(radius)} distances do not fit {len(self.names)} shares")
        return SharesCalibrated(radius)

    def views(self, values: Values) -> list[NDArray[np.bool_]]:
        """Each share above its median."""
        if not len(values):
            return [np.zeros(0, np.bool_)] * len(self.names)
        return list((values > np.median(values, axis=0)).T)


def _divergence(predicted: Floats, values: Values, weight: Floats) -> Any:
    """Kullback-Leibler divergence of the predicted from the observed shares, in nats."""
    observed, kept = np.clip(values, 1e-12, 1.0), np.clip(predicted, metrics.SMALLEST, 1.0)
    return _mean((values * (np.log(observed) - np.log(kept))).sum(axis=1), weight)


def _distance(predicted: Floats, values: Values, weight: Floats) -> Any:
    """Half the sum of the absolute differences: the part of the whole that is misplaced."""
    return _mean(np.abs(predicted - values).sum(axis=1) / 2.0, weight)


MORE_IS_BETTER = frozenset(
    name for kind in (Binary, Kinds, Quantiles, Shares) for name in kind.higher
)
"""Metrics of which more is better, whatever the target."""


def _named(name: str, known: Mapping[str, Metric]) -> Metric:
    if name not in known:
        raise metrics.unknown_metric(name, known)
    return known[name]
