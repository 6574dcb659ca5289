"""Targets of several columns: kinds, quantiles, and shares of a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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

__all__ = ["Classes", "ClassesCalibrated", "Quantiles", "QuantilesCalibrated", "Shares",
           "SharesCalibrated"]  # fmt: skip

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


_OF_CLASSES: dict[str, Metric] = {
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

    metrics: ClassVar[tuple[str, ...]] = tuple(_OF_CLASSES)
    higher: ClassVar[frozenset[str]] = frozenset({"accuracy", "macro_f1"})
    loss: ClassVar[str] = "log_loss"
    headline: ClassVar[str] = "accuracy"

    @property
    def output(self) -> Output:
        return Output("kinds", self.kinds)

    def values(self, column: pl.Series) -> Values:
        return column.cast(pl.Enum(self.kinds)).to_physical().cast(pl.Int64).to_numpy()

    def metric(self, name: str) -> Metric:
        return metrics.named(name, _OF_CLASSES)

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


@dataclass(frozen=True)
class QuantilesCalibrated(Calibrated):
    """What the outer levels are moved outwards by (negative: inwards), in the target's unit."""

    offset: float

    def apply(self, raw: Floats) -> Floats:
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
        return self.levels[-1] - self.levels[0]

    @property
    def _covers(self) -> str:
        return f"coverage_{round(100 * self.coverage)}"

    @property
    def output(self) -> Output:
        return Output("quantiles", tuple(f"{level:.0%}" for level in self.levels), self.levels)

    def values(self, column: pl.Series) -> Values:
        numbers = column.cast(pl.Float64).to_numpy()
        return np.log1p(np.maximum(numbers, 0.0)) if self.log else numbers

    def metric(self, name: str) -> Metric:
        levels, middle = np.array(self.levels), self.levels.index(0.5)

        def pinball(predicted: Floats, values: Values) -> Floats:
            over = values[:, None] - predicted
            loss: Floats = np.maximum(levels * over, (levels - 1.0) * over).mean(axis=1)
            return loss

        def error(predicted: Floats, values: Values) -> Floats:
            return np.abs(values - predicted[:, middle])

        def orders(predicted: Floats, values: Values) -> Floats:
            return np.asarray(error(predicted, values) / np.log(10.0))

        of_rows: dict[str, Callable[[Floats, Values], NDArray[Any]]] = {
            "pinball": pinball,
            "log10_mse": lambda predicted, values: orders(predicted, values) ** 2,
            "within_2": lambda predicted, values: orders(predicted, values) <= np.log10(2.0),
            "within_3": lambda predicted, values: orders(predicted, values) <= np.log10(3.0),
            "median_error": error,
            self._covers: lambda predicted, values: (
                (values >= predicted[:, 0]) & (values <= predicted[:, -1])
            ),
            "width": lambda predicted, _values: predicted[:, -1] - predicted[:, 0],
        }

        def mean_over(rows: Callable[[Floats, Values], NDArray[Any]]) -> Metric:
            return lambda predicted, values, weight: mean_of(
                rows(predicted, values).astype(np.float64), weight
            )

        return metrics.named(name, {known: mean_over(of_rows[known]) for known in self.metrics})

    def calibrate(
        self, raw: Floats, values: Values, weight: Floats, batch: Ints, *, as_is: bool = False
    ) -> QuantilesCalibrated:
        if as_is or weight.sum() < LEAST_TO_CALIBRATE:
            return QuantilesCalibrated(0.0)
        outside = np.maximum(raw[:, 0] - values, values - raw[:, -1])
        return QuantilesCalibrated(conformal(outside, weight, batch, self.coverage))

    def calibrated(self, data: Mapping[str, Any]) -> QuantilesCalibrated:
        return QuantilesCalibrated(float(data["offset"]))

    def views(self, values: Values) -> list[NDArray[np.bool_]]:
        """What is above the median."""
        return [values > np.median(values)] if len(values) else [np.zeros(0, np.bool_)]

    def ranks(self, predicted: Floats) -> list[Floats]:
        return [predicted[:, self.levels.index(0.5)]]


def _divergence(predicted: Floats, values: Values, weight: Floats) -> Any:
    """Kullback-Leibler divergence of the predicted from the observed shares, in nats."""
    observed, kept = np.clip(values, 1e-12, 1.0), np.clip(predicted, metrics.SMALLEST, 1.0)
    return mean_of((values * (np.log(observed) - np.log(kept))).sum(axis=1), weight)


def _distance(predicted: Floats, values: Values, weight: Floats) -> Any:
    """Half the sum of the absolute differences: the part of the whole that is misplaced."""
    return mean_of(np.abs(predicted - values).sum(axis=1) / 2.0, weight)


_OF_SHARES: dict[str, Metric] = {"divergence": _divergence, "distance": _distance}


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

    metrics: ClassVar[tuple[str, ...]] = tuple(_OF_SHARES)
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
        return metrics.named(name, _OF_SHARES)

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
