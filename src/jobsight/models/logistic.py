"""Weighted logistic regression with ridge penalties, solved by Newton's method in numpy.

Minimizes Σ wᵢ · log(1 + exp(−sᵢ xᵢ·β)) + ½ Σ λₖ (βₖ − tₖ)² with sᵢ = ±1: the usual iteratively
reweighted least squares (Hastie, Tibshirani, Friedman, The Elements of Statistical Learning, 4.4),
each step halved until the loss falls. The minimum is unique where every λ is positive.
"""

from __future__ import annotations

from functools import cache
from typing import Any

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

    Columns are float64 (n, k); give one of ones for an intercept. The penalty λ (k,) is positive,
    or zero where the data determine the coefficient; it draws to `target`, zeros if None. `start`
    is where to begin; the target if None.

    Returns:
        float64 (k,).
    """
    target = np.zeros(columns.shape[1]) if target is None else target
    beta = (target if start is None else start).astype(np.float64)
    sign = np.where(success, 1.0, -1.0)

    def loss(beta: Floats) -> float:
        data = weight @ np.logaddexp(0.0, -sign * (columns @ beta))
        return float(data + 0.5 * (penalty @ (beta - target) ** 2))

    with _thread_pools().limit(limits=1, user_api="blas"):
        current = loss(beta)
        for _ in range(STEPS):
            probability = sigmoid(columns @ beta)
            gradient = columns.T @ (weight * (probability - success))
            curvature = weight * probability * (1.0 - probability)
            hessian = columns.T @ (columns * curvature[:, None])
            hessian += np.diag(penalty + 1e-9)
            gradient += penalty * (beta - target)
            step = np.linalg.solve(hessian, gradient)
            while (candidate := loss(beta - step)) > current and np.abs(step).max() > 1e-9:
                step = step / 2.0
            if candidate > current:
                break
            beta, gained, current = beta - step, current - candidate, candidate
            if gained <= TOLERANCE * (1.0 + abs(current)):
                break
        return beta


@cache
def _thread_pools() -> Any:
    """Those of NumPy, to be limited: sums so small are slower in several threads.

    Where other processes use the cores, the threads of BLAS wait for each other, in each step many
    times: a fit takes five times as long then, and four times the processor time.
    """
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
