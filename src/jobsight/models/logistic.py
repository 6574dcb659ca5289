"""Weighted logistic regression with ridge penalties, solved by Newton's method in numpy.

Minimizes Σ wᵢ · log(1 + exp(−sᵢ xᵢ·β)) + ½ Σ λₖ (βₖ − tₖ)² with sᵢ = ±1: the usual iteratively
reweighted least squares (Hastie, Tibshirani, Friedman, The Elements of Statistical Learning, 4.4),
each step halved until the loss falls. The minimum is unique where every λ is positive.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jobsight.models.base import Floats

__all__ = ["fit_logistic", "log_odds", "sigmoid"]

STEPS = 100
TOLERANCE = 1e-9


def sigmoid(margin: Floats) -> Floats:
    """1 / (1 + exp(−margin)), without overflow."""
    return np.exp(-np.logaddexp(0.0, -margin))


def log_odds(probability: Floats, bound: float = 1e-6) -> Floats:
    """ln(p / (1 − p)) of p kept within [bound, 1 − bound]."""
    clipped = np.clip(probability, bound, 1.0 - bound)
    return np.log(clipped) - np.log1p(-clipped)


def fit_logistic(
    columns: Floats,
    success: NDArray[np.bool_],
    weight: Floats,
    penalty: Floats,
    *,
    target: Floats | None = None,
    start: Floats | None = None,
) -> Floats:
    """The coefficients β of the module's formula.

    Args:
        columns: float64 (n, k); give a column of ones for an intercept.
        success: bool (n,).
        weight: float64 (n,), not negative.
        penalty: float64 (k,), λ; positive, or zero where the data determine the coefficient.
        target: float64 (k,), what the penalty draws to; zeros if None.
        start: float64 (k,), where to begin; the target if None.

    Returns:
        float64 (k,).
    """
    sign = np.where(success, 1.0, -1.0)
    target = np.zeros(columns.shape[1]) if target is None else target

    def loss(beta: Floats) -> float:
        data = weight @ np.logaddexp(0.0, -sign * (columns @ beta))
        return float(data + 0.5 * (penalty @ (beta - target) ** 2))

    beta = (target if start is None else start).astype(np.float64)
    current = loss(beta)
    for _ in range(STEPS):
        probability = sigmoid(columns @ beta)
        gradient = columns.T @ (weight * (probability - success)) + penalty * (beta - target)
        curvature = weight * probability * (1.0 - probability)
        hessian = columns.T @ (columns * curvature[:, None]) + np.diag(penalty + 1e-9)
        step = np.linalg.solve(hessian, gradient)
        scale = 1.0
        while scale > 1e-6 and loss(beta - scale * step) > current:
            scale /= 2.0
        candidate = loss(beta - scale * step)
        if candidate > current:
            break
        beta = beta - scale * step
        if current - candidate <= TOLERANCE * (1.0 + abs(current)):
            break
        current = candidate
    return beta
