"""A number at each level, with outer levels that hold what they promise."""

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
    LEAST_TO_CALIBRATE,
    Calibrated,
    Target,
    Values,
    conformal,
)
from jobsight.models.base import Floats, Ints, Output

__all__ = ["Quantiles", "QuantilesCalibrated"]


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
        """What is promised between the outer levels."""
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
        return metrics.named(name, {one: _mean_over(of_rows[one]) for one in self.metrics})

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
        """The predicted median."""
        return [predicted[:, self.levels.index(0.5)]]


def _mean_over(of_rows: Callable[[Floats, Values], NDArray[Any]]) -> Metric:
    """The metric that is the mean of one number per row."""

    def metric(predicted: Floats, values: Values, weight: Floats) -> Any:
        return mean_of(of_rows(predicted, values).astype(np.float64), weight)

    return metric
