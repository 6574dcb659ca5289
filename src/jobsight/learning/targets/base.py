"""What every target is, and what its calibration on later decisions gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.learning import metrics
from jobsight.learning.bootstrap import Simulation
from jobsight.learning.metrics import Metric
from jobsight.models.base import Floats, Ints, Output
from jobsight.models.constant import weighted_quantiles

__all__ = [
    "HELD",
    "LEAST_OF_EACH",
    "LEAST_TO_CALIBRATE",
    "Calibrated",
    "Scores",
    "Target",
    "Values",
    "conformal",
]

Values = NDArray[Any]
Scores = dict[str, float | None]

HELD = 0.9
"""What intervals and sets are to hold, but for quantiles, whose levels say it."""
LEAST_OF_EACH = 3
"""Batches' worth of each of two outcomes that training needs."""
LEAST_TO_CALIBRATE = 20.0


class Calibrated(ABC):
    """What makes the raw predictions of one model ones to act on; immutable, plain data on disk."""

    @abstractmethod
    def apply(self, raw: Floats) -> Floats:
        """Calibrated predictions, of the shape of `raw`."""

    @abstractmethod
    def bounds(self, predicted: Floats) -> tuple[Floats, Floats]:
        """Lower and upper bounds of calibrated predictions.

        Of `Classes` both are 1 for the kinds in the set and 0 for others.
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
        """The metric of a name in `metrics`; `UsageError`: there is no such metric."""

    @abstractmethod
    def calibrate(
        self, raw: Floats, values: Values, weight: Floats, batch: Ints, *, as_is: bool = False
    ) -> Calibrated:
        """Learn from raw predictions of later decisions, in time order.

        Args:
            raw: predictions of n rows.
            values: what became of them.
            weight: float64 (n,), batches have weight 1.
            batch: int64 (n,), equal for rows that are drawn together.
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


def conformal(scores: Floats, weight: Floats, batch: Ints, share: float) -> float:
    """The score that `share` of new rows stays below: the quantile for n + 1 draws.

    Rows of one batch are one draw, and n is what batches of unequal weight are worth (Kish, Survey
    Sampling, 1965). Of few draws the level is at most half way between `share` and 1.
    """
    of_batches = np.bincount(np.unique(batch, return_inverse=True)[1], weight)
    draws = of_batches.sum() ** 2 / (of_batches**2).sum()
    level = min(share * (1.0 + 1.0 / draws), (1.0 + share) / 2.0)
    return float(weighted_quantiles(scores, weight, (level,))[0])
