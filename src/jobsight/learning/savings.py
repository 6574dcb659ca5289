"""What acting on P(true) saves and costs: core-hours of what came true against others disturbed.

A decision whose probability is at least a threshold is acted on: its user is asked, or its job is
stopped. Where it would have come true, the core-hours that the job went on to use are saved; where
not, it was disturbed without need.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jobsight.learning.bootstrap import Bootstrap
from jobsight.learning.metrics import Metric, ratio
from jobsight.models.base import Floats

__all__ = ["THRESHOLDS", "savings"]

THRESHOLDS = (0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
_PER = 1000.0


def savings(probability: Floats, spent: Floats, bootstrap: Bootstrap) -> dict[str, Any]:
    """The cost view of n decisions, as plain data.

    Args:
        probability: float64 (n,), of what is true.
        spent: float64 (n,), core-hours of each; NaN where unknown, which save nothing.
        bootstrap: of the outcomes, for intervals of 95 %.

    Returns:
        `core_hours` (of all that came true), `unknown` (decisions without core-hours), and
        `thresholds`: for each its `threshold`, and with `value`, `low`, `high`: `acted` and
        `disturbed` (per 1 000 decisions), `saved` (core-hours per 1 000 decisions), `saved_share`
        (of those that can be saved), `right` (share of what is acted on that came true).
    """
    hours = np.nan_to_num(spent)
    acted = {f"{limit:g}": (probability >= limit).astype(np.float64) for limit in THRESHOLDS}
    found = {name: bootstrap.intervals(metric, acted) for name, metric in _metrics(hours).items()}
    return {
        "core_hours": float(bootstrap.weight @ (hours * bootstrap.values)),
        "unknown": int(np.isnan(spent).sum()),
        "thresholds": [
            {
                "threshold": limit,
                **{name: asdict(each[f"{limit:g}"]) for name, each in found.items()},
            }
            for limit in THRESHOLDS
        ],
    }


def _metrics(hours: Floats) -> dict[str, Metric]:
    """Of decisions acted on (1 or 0), what came true, and weights."""

    def acted(on: Floats, _true: NDArray[Any], weight: Floats) -> Any:
        return _PER * ratio(weight @ on, weight.sum(axis=-1))

    def disturbed(on: Floats, true: NDArray[Any], weight: Floats) -> Any:
        return _PER * ratio(weight @ (on * ~true), weight.sum(axis=-1))

    def saved(on: Floats, true: NDArray[Any], weight: Floats) -> Any:
        return _PER * ratio(weight @ (on * true * hours), weight.sum(axis=-1))

    def saved_share(on: Floats, true: NDArray[Any], weight: Floats) -> Any:
        return ratio(weight @ (on * true * hours), weight @ (true * hours))

    def right(on: Floats, true: NDArray[Any], weight: Floats) -> Any:
        return ratio(weight @ (on * true), weight @ on)

    return {"acted": acted, "right": right, "disturbed": disturbed, "saved": saved,
            "saved_share": saved_share}  # fmt: skip
