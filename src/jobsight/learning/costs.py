"""What decisions cost: a wasted run where a release fails, a lost job where a success is missed.

With w the cost of a wasted run and l that of a lost job, releasing at P(success) = p costs
(1 − p) · w and not releasing costs p · l, so releasing is right from p = w / (w + l) on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jobsight.learning import metrics
from jobsight.learning.bootstrap import Bootstrap, Interval
from jobsight.models import is_baseline
from jobsight.models.base import Floats
from jobsight.settings import Costs

__all__ = [
    "ALWAYS",
    "DecisionCost",
    "cheapest_baseline",
    "decision_costs",
    "expected_gain",
    "release_threshold",
]

ALWAYS = "always_release"
"""The way to decide that needs no model: a baseline too."""

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
        low, high: its 95 % interval, batches resampled; None where undefined.
        against_baseline: the cost less that of the cheapest baseline (paired).
        released: share of the decisions that release.
        wasted: share of the decisions that release and fail.
        lost: share of the decisions that do not release what would succeed.
    """

    cost: float
    low: float | None
    high: float | None
    against_baseline: Interval
    released: float
    wasted: float
    lost: float


def decision_costs(
    probabilities: Mapping[str, Floats],
    rules: Mapping[str, Bools],
    bootstrap: Bootstrap,
    costs: Costs,
) -> dict[str, DecisionCost]:
    """Cost per decision of each model, of each rule set, and of always releasing.

    Args:
        probabilities: P(success) by model, float64 (n,) each; releases from w / (w + l) on.
        rules: what each rule set decides (true: release), bool (n,) each; where a model has the
            same name, the rule set's own decision counts.
        bootstrap: of the n outcomes; batches have weight 1.
        costs: the settings.

    Returns:
        One entry a name, and ``always_release``; empty without rows.
    """
    success, weight = bootstrap.values, bootstrap.weight
    if weight.sum() <= 0:
        return {}
    threshold = release_threshold(costs)
    decided = {name: column >= threshold for name, column in probabilities.items()}
    decided |= rules
    decided[ALWAYS] = np.ones(len(success), dtype=bool)
    each = {
        name: (release & ~success) * costs.wasted_run + (~release & success) * costs.lost_job
        for name, release in decided.items()
    }
    cost = bootstrap.intervals(metrics.mean, each)
    best = _cheapest({name: float(one.value or 0.0) for name, one in cost.items()})
    against = bootstrap.differences(metrics.mean, each, best) | {best: Interval(0.0, 0.0, 0.0)}
    return {
        name: DecisionCost(
            float(cost[name].value or 0.0),
            cost[name].low,
            cost[name].high,
            against[name],
            *(
                float(metrics.mean(rows.astype(np.float64), success, weight))
                for rows in (release, release & ~success, ~release & success)
            ),
        )
        for name, release in decided.items()
    }


def cheapest_baseline(costs: Mapping[str, DecisionCost]) -> str:
    """The baseline, or `ALWAYS`, whose decisions cost least on these data."""
    return _cheapest({name: one.cost for name, one in costs.items()})


def _cheapest(costs: Mapping[str, float]) -> str:
    baselines = [name for name in costs if is_baseline(name) or name == ALWAYS]
    return min(baselines, key=lambda name: costs[name])
