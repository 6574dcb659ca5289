"""Maps from a model's raw probability to a calibrated one, fitted on a part later than training.

- ``identity``: p itself.
- ``platt``: σ(a · logit p + b) (Platt 1999), drawn by a small penalty to a = 1, b = 0.
- ``beta``: σ(a · ln p − b · ln(1 − p) + c) (Kull, Silva Filho, Flach 2017), drawn to a = b = 1.
- ``isotonic``: the rising step function of least squares, read by straight lines between its knots.

Every map rises (never falls) with p, and none answers 0 or 1: the result stays within
1/(n + 2) of them, n being the batches it was fitted on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from jobsight.models.base import Floats
from jobsight.models.logistic import fit_logistic, log_odds, sigmoid

__all__ = ["KINDS", "Calibration", "Kind", "choose_calibration", "cross_validated"]

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
            return cls(kind, _fit_isotonic(probability, success, weight), bound)
        return cls(kind, _fit_smooth(kind, probability, success, weight), bound)

    def to_json(self) -> dict[str, Any]:
        """The map as plain data, read back by `from_json`."""
        return {"kind": self.kind, "parameters": list(self.parameters), "bound": self.bound}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """A map from plain data.

        Raises:
            KeyError, TypeError, ValueError: the data is not a calibration.
        """
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

    Args:
        probability: float64 (n,), raw, rows in time order.
        success: bool (n,).
        weight: float64 (n,), batches have weight 1.
    """
    total = float(weight.sum())
    rarer = min(float(weight[success].sum()), float(weight[~success].sum()))
    tried = [kind for kind in KINDS if total >= ENOUGH[kind] and rarer >= min(ENOUGH[kind] / 2, 10)]
    losses = [_validated_loss(kind, probability, success, weight) for kind in tried]
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


def _validated_loss(
    kind: Kind, probability: Floats, success: NDArray[np.bool_], weight: Floats
) -> float:
    mapped = cross_validated(kind, probability, success, weight)
    return -float(weight @ np.log(np.where(success, mapped, 1.0 - mapped)))


def _columns(kind: Kind, probability: Floats) -> Floats:
    if kind == "platt":
        return np.stack([log_odds(probability), np.ones(len(probability))], axis=1)
    clipped = np.clip(probability, 1e-6, 1.0 - 1e-6)
    return np.stack([np.log(clipped), -np.log1p(-clipped), np.ones(len(probability))], axis=1)


def _fit_smooth(
    kind: Kind, probability: Floats, success: NDArray[np.bool_], weight: Floats
) -> tuple[float, ...]:
    """Coefficients of platt or beta; a slope that would fall is set to the flattest allowed."""
    columns = _columns(kind, probability)
    target = np.ones(columns.shape[1])
    target[-1] = 0.0
    penalty = np.full(columns.shape[1], PENALTY)
    beta = fit_logistic(columns, success, weight, penalty, target=target)
    low = beta[:-1] < FLATTEST
    if low.any():
        held = np.append(low, False)
        penalty[held], target[held] = 1e9, FLATTEST
        beta = fit_logistic(columns, success, weight, penalty, target=target)
        beta[:-1] = np.maximum(beta[:-1], FLATTEST)
    return tuple(beta.tolist())


def _fit_isotonic(
    probability: Floats, success: NDArray[np.bool_], weight: Floats
) -> tuple[float, ...]:
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(out_of_bounds="clip")
    fitted.fit(probability, success.astype(np.float64), sample_weight=weight)
    knots, values = fitted.X_thresholds_, np.maximum.accumulate(fitted.y_thresholds_)
    return (*knots.tolist(), *values.tolist())
