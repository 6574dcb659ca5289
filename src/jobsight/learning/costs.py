"""What decisions cost, and what acting on P(true) saves.

A wasted run costs w where a release fails, a lost job l where a success is missed: releasing at
P(success) = p costs (1 − p) · w and not releasing costs p · l, so releasing is right from
p = w / (w + l) on.

Or a decision whose probability is at least a threshold is acted on: its user is asked, or its job
is stopped. Where it would have come true, the core-hours that the job went on to use are saved;
where not, it was disturbed without need.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jobsight.learning import metrics
from jobsight.learning.bootstrap import Bootstrap, Interval
from jobsight.learning.metrics import Metric, ratio
from jobsight.models import is_baseline
from jobsight.models.base import Floats
from jobsight.settings import Costs

__all__ = ["ALWAYS", "THRESHOLDS", "DecisionCost", "cheapest_baseline",
           "decision_costs", "expected_gain", "release_threshold", "savings"]  # fmt: skip

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

    `delay_per_hour` is what an hour costs (`costs.delay_per_hour`, or its resolved "auto").
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

    Models release from P(success) = w / (w + l) on; `rules` has what each rule set decides (true:
    release). Where a model has the same name, the rule set's own decision counts.

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


THRESHOLDS = (0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
_PER = 1000.0


def savings(probability: Floats, spent: Floats, bootstrap: Bootstrap) -> dict[str, Any]:
    """The cost view of n decisions, as plain data.

    `spent` has the core-hours of each; NaN where unknown, which save nothing.

    Returns:
        `core_hours` (of all that came true), `unknown` (decisions without core-hours), and
        `thresholds`: for each its `threshold`, and with `value`, `low`, `high`: `acted` and
        `disturbed` (per 1 000 decisions), `saved` (core-hours per 1 000 decisions), `saved_share`
        (of those that can be saved), `right` (share of what is acted on that came true).
    """
    hours = np.nan_to_num(spent)
    acted = {f"{limit:g}": (probability >= limit).astype(np.float64) for limit in THRESHOLDS}
    # Of decisions acted on (1 or 0), what came true, and weights.
    metrics_of: dict[str, Metric] = {
        "acted": lambda on, _, weight: _PER * ratio(weight @ on, weight.sum(axis=-1)),
        "right": lambda on, true, weight: ratio(weight @ (on * true), weight @ on),
        "disturbed": lambda on, true, weight: (
            _PER * ratio(weight @ (on * ~true), weight.sum(axis=-1))
        ),
        "saved": lambda on, true, weight: (
            _PER * ratio(weight @ (on * true * hours), weight.sum(axis=-1))
        ),
        "saved_share": lambda on, true, weight: ratio(
            weight @ (on * true * hours), weight @ (true * hours)
        ),
    }
    intervals = {name: bootstrap.intervals(metric, acted) for name, metric in metrics_of.items()}
    return {
        "core_hours": float(bootstrap.weight @ (hours * bootstrap.values)),
        "unknown": int(np.isnan(spent).sum()),
        "thresholds": [
            {
                "threshold": limit,
                **{name: asdict(each[f"{limit:g}"]) for name, each in intervals.items()},
            }
            for limit in THRESHOLDS
        ],
    }
