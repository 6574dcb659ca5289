"""Which model answers: the best that surely beats every baseline, else the best baseline.

"Surely": the interval of the paired difference, resampled over the same batches for both, lies
wholly on the better side of zero. Judged on the select part, before any test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jobsight.errors import TrainingError
from jobsight.learning.bootstrap import Bootstrap, Interval
from jobsight.learning.metrics import HIGHER_IS_BETTER, best_threshold, metric_named
from jobsight.models.base import Floats

__all__ = ["Choice", "choose_model"]


@dataclass(frozen=True)
class Choice:
    """The model chosen, and why.

    Attributes:
        name: the model that answers.
        baseline: whether it is a baseline.
        metric: what was compared; the configured metric, or log_loss where that is undefined.
        values: the metric of each model on the select part, with its interval.
        margins: of each model that is no baseline, the paired difference to the best baseline.
        reason: one or two sentences for the report.
    """

    name: str
    baseline: bool
    metric: str
    values: dict[str, Interval]
    margins: dict[str, Interval]
    reason: str


def choose_model(
    predictions: Mapping[str, Floats],
    baselines: Sequence[str],
    bootstrap: Bootstrap,
    *,
    metric: str = "log_loss",
    where: str = "the select part",
) -> Choice:
    """Choose among models by their predictions on the select part.

    Args:
        predictions: float64 (n,) by model.
        baselines: names of those that the others must beat; at least one of `predictions`.
        bootstrap: success, weight and batch of the select part.
        metric: a name of `jobsight.learning.metrics.METRICS`; the F-measures are compared at their
            best thresholds.
        where: what to call the decisions in the reason.

    Raises:
        TrainingError: the select part has no rows, or no baseline was given.
    """
    known = [name for name in baselines if name in predictions]
    if not len(bootstrap.success) or not known:
        raise TrainingError(
            "the select part has no decisions, so no model can be chosen; give a longer history"
        )
    metric, values = _measured(predictions, bootstrap, metric)
    sign = -1.0 if metric in HIGHER_IS_BETTER else 1.0
    ranked = sorted(values, key=lambda name: sign * (values[name].value or 0.0))
    chosen = best_known = next(name for name in ranked if name in known)
    margins: dict[str, Interval] = {}
    for name in (name for name in ranked if name not in known):
        against = {base: _margin(predictions, name, base, bootstrap, metric) for base in known}
        margins[name] = against[best_known]
        if chosen == best_known and all(_is_better(item, sign) for item in against.values()):
            chosen = name
    reason = _reason(chosen, best_known, metric, values, margins, where)
    return Choice(chosen, chosen in known, metric, values, margins, reason)


def _measured(
    predictions: Mapping[str, Floats], bootstrap: Bootstrap, metric: str
) -> tuple[str, dict[str, Interval]]:
    """What is compared (log loss where the metric is undefined), and its value for each model."""
    values = _values(predictions, bootstrap, metric)
    if all(interval.value is not None for interval in values.values()):
        return metric, values
    return "log_loss", _values(predictions, bootstrap, "log_loss")


def _values(
    predictions: Mapping[str, Floats], bootstrap: Bootstrap, metric: str
) -> dict[str, Interval]:
    if metric not in ("f1", "f1_failure"):
        return bootstrap.intervals(metric_named(metric), predictions)
    return {
        name: bootstrap.interval(metric_named(metric, threshold=limit), predictions[name])
        for name, limit in _thresholds(predictions, bootstrap, metric).items()
    }


def _thresholds(
    predictions: Mapping[str, Floats], bootstrap: Bootstrap, metric: str
) -> dict[str, float]:
    return {
        name: best_threshold(
            column,
            bootstrap.success,
            bootstrap.weight,
            of="failure" if metric == "f1_failure" else "success",
        )
        for name, column in predictions.items()
    }


def _margin(
    predictions: Mapping[str, Floats], name: str, base: str, bootstrap: Bootstrap, metric: str
) -> Interval:
    pair = {name: predictions[name], base: predictions[base]}
    if metric in ("f1", "f1_failure"):
        # Decisions at each model's own threshold, as probabilities that one threshold serves.
        limits = _thresholds(pair, bootstrap, metric)
        pair = {key: (column >= limits[key]).astype(np.float64) for key, column in pair.items()}
    return bootstrap.differences(metric_named(metric), pair, base)[name]


def _is_better(margin: Interval, sign: float) -> bool:
    worst = margin.high if sign > 0 else margin.low
    return worst is not None and sign * worst < 0.0


def _reason(
    chosen: str,
    best_known: str,
    metric: str,
    values: Mapping[str, Interval],
    margins: Mapping[str, Interval],
    where: str,
) -> str:
    shown = f"{metric} {values[chosen].value:.3f}"
    base = f"{best_known} ({values[best_known].value:.3f})"
    if chosen != best_known:
        margin = margins[chosen]
        return (
            f"{chosen} answers: {shown} on {where} against {base}, the best baseline; the "
            f"difference lies between {margin.low:+.3f} and {margin.high:+.3f}."
        )
    if not margins:
        return f"{chosen} answers: {shown} on {where}; only baselines were trained."
    return (
        f"No model surely beats every baseline on {where}, so the best baseline answers: "
        f"{chosen}, {shown}."
    )
