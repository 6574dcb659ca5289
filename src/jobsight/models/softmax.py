"""Classes or shares from columns of numbers: weighted softmax regression with a ridge penalty.

Minimizes Σ wᵢ Σₖ −tᵢₖ log pᵢₖ + ½ λ ‖B‖² for p = softmax(X B + b), by L-BFGS. The targets t are
rows of ones and zeros, or shares, so one solver serves both outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jobsight.errors import TrainingError
from jobsight.models.base import Floats, Labelled

__all__ = ["Standard", "balanced", "fit_softmax", "folds", "softmax", "targets_of"]

_STEPS = 300


def softmax(margin: Floats) -> Floats:
    """Rows of exp(margin) that add up to 1: float64 (n, k)."""
    power = np.exp(margin - margin.max(axis=1, keepdims=True))
    return np.asarray(power / power.sum(axis=1, keepdims=True), np.float64)


def targets_of(rows: Labelled) -> Floats:
    """What is to be predicted of kinds or shares: float64 (n, k), rows adding up to 1.

    Raises:
        TrainingError: there are no rows.
    """
    if not len(rows):
        raise TrainingError("there are no training examples; give more programs")
    if rows.output.kind == "kinds":
        return np.asarray(np.eye(len(rows.output.columns))[rows.values], np.float64)
    return np.asarray(rows.values, np.float64)


def balanced(rows: Labelled, power: float = 1.0) -> Floats:
    """Weights by which each kind counts alike, float64 (n,); of shares, those of the rows.

    Programs are asked about in other proportions than a corpus has them. With a power below 1 a
    kind of which there are more counts for more.
    """
    if rows.output.kind != "kinds":
        return rows.weight
    total = np.bincount(rows.values, rows.weight, len(rows.output.columns))
    scale = rows.weight.sum() / np.maximum(total, 1e-12) / (total > 0).sum()
    return np.asarray(rows.weight * scale[rows.values] ** power, np.float64)


def folds(rows: Labelled, count: int, seed: int) -> list[NDArray[np.bool_]]:
    """Masks of `count` parts of the rows, batches whole, drawn by chance: bool (n,) each."""
    batch = np.arange(len(rows)) if rows.batch is None else rows.batch
    _, number = np.unique(batch, return_inverse=True)
    part = np.random.default_rng(seed).permutation(int(number.max()) + 1) % count
    return [part[number] == k for k in range(count)]


def fit_softmax(columns: Floats, targets: Floats, weight: Floats, penalty: float) -> Floats:
    """The coefficients of the module's formula, intercepts last and unpenalized.

    Columns are float64 (n, f), targets (n, k), of `targets_of`.

    Returns:
        float64 (f + 1, k).
    """
    from scipy.optimize import minimize

    rows = np.concatenate([columns, np.ones((len(columns), 1))], axis=1)
    shape = (rows.shape[1], targets.shape[1])

    def loss(flat: Floats) -> tuple[float, Floats]:
        beta = flat.reshape(shape)
        said = softmax(rows @ beta)
        gradient = rows.T @ (weight[:, None] * (said - targets))
        gradient[:-1] += penalty * beta[:-1]
        cost = -float(weight @ (targets * np.log(np.maximum(said, 1e-12))).sum(axis=1))
        return cost + 0.5 * penalty * float((beta[:-1] ** 2).sum()), gradient.ravel()

    found = minimize(loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B",
                     options={"maxiter": _STEPS})  # fmt: skip
    return np.asarray(found.x, np.float64).reshape(shape)


@dataclass(frozen=True)
class Standard:
    """Features scaled to mean 0 and deviation 1 by the training rows; unknown ones become 0.

    Attributes:
        mean, scale: float64 (f,).
    """

    mean: Floats
    scale: Floats

    @classmethod
    def fit(cls, features: Any) -> Self:
        """Of float32 (n, f), NaN where unknown."""
        known = np.where(np.isfinite(features), features, 0.0).astype(np.float64)
        spread = known.std(axis=0)
        return cls(known.mean(axis=0), np.where(spread > 1e-9, spread, 1.0))

    def columns(self, features: Any) -> Floats:
        """Float64 (n, f), within ±5."""
        known = np.where(np.isfinite(features), features, self.mean)
        return np.clip((known - self.mean) / self.scale, -5.0, 5.0)

    def to_json(self) -> dict[str, Sequence[float]]:
        return {"mean": self.mean.tolist(), "scale": self.scale.tolist()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read what `to_json` gave."""
        return cls(np.array(data["mean"], np.float64), np.array(data["scale"], np.float64))
