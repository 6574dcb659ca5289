"""What decisions cost: a wasted run where a release fails, a lost job where a success is missed.

With w the cost of a wasted run and l that of a lost job, releasing at P(success) = p costs
(1 − p) · w and not releasing costs p · l, so releasing is right from p = w / (w + l) on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jobsight.models.base import Floats
from jobsight.settings import Costs

__all__ = ["DecisionCost", "decision_costs", "expected_gain", "release_threshold"]

Bools = NDArray[np.bool_]


def release_threshold(costs: Costs) -> float:
    """The probability of success from which releasing costs less: w / (w + l)."""
    return costs.wasted_run / (costs.wasted_run + costs.lost_job)


def expected_gain(
    probability: Floats, costs: Costs, *, delay_hours: float = 0.0, delay_per_hour: float = 0.0
) -> Floats:
    """What releasing (after a delay) saves against not releasing, a row: float64 (n,).

    p · l − (1 − p) · w − delay · its cost, in units of one wasted run if w = 1.

    Args:
        probability: float64 (n,), of success if released then.
        costs: the settings.
        delay_hours: how long the job waits first.
        delay_per_hour: what an hour costs (`costs.delay_per_hour`, or its resolved "auto").
    """
    won = probability * costs.lost_job - (1.0 - probability) * costs.wasted_run
    return won - delay_hours * delay_per_hour


@dataclass(frozen=True)
class DecisionCost:
    """What a way to decide costs on a part.

    Attributes:
        cost: mean per decision, by weight.
        gain: how much less than always releasing.
        released: share of the decisions that release.
        wasted: share of the decisions that release and fail.
        lost: share of the decisions that do not release what would succeed.
    """

    cost: float
    gain: float
    released: float
    wasted: float
    lost: float


def decision_costs(
    probabilities: Mapping[str, Floats],
    rules: Mapping[str, Bools],
    success: Bools,
    weight: Floats,
    costs: Costs,
) -> dict[str, DecisionCost]:
    """Cost per decision of each model, of each rule set, and of always releasing.

    Args:
        probabilities: P(success) by model, float64 (n,) each; releases from w / (w + l) on.
        rules: what each rule set decides (true: release), bool (n,) each; where a model has the
            same name, the rule set's own decision counts.
        success: bool (n,), what became of the release.
        weight: float64 (n,), batches have weight 1.
        costs: the settings.

    Returns:
        One entry a name, and ``always_release``; empty without rows.
    """
    total = float(weight.sum())
    if total <= 0:
        return {}
    threshold = release_threshold(costs)
    decided = {name: column >= threshold for name, column in probabilities.items()}
    decided |= rules
    decided["always_release"] = np.ones(len(success), dtype=bool)
    always = float(weight[~success].sum()) / total * costs.wasted_run
    out = {}
    for name, release in decided.items():
        wasted = float(weight[release & ~success].sum()) / total
        lost = float(weight[~release & success].sum()) / total
        cost = wasted * costs.wasted_run + lost * costs.lost_job
        released = float(weight[release].sum()) / total
        out[name] = DecisionCost(cost, always - cost, released, wasted, lost)
    return out
