"""Which model answers: a mixture, else what surely beats every baseline, else the best baseline.

"Surely": the interval of the paired difference, resampled over the same batches for both, lies
wholly on the better side of zero. Judged on the backtest, before any test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobsight.errors import TrainingError
from jobsight.learning.bootstrap import Bootstrap, Interval
from jobsight.learning.targets import Target
from jobsight.models.base import Floats

__all__ = ["Choice", "choose_model"]


@dataclass(frozen=True)
class Choice:
    """The model chosen, and why.

    Attributes:
        name: the model that answers.
        baseline: whether it is a baseline.
        metric: what was compared; the configured metric, or the loss where that is undefined.
        values: the metric of each model on the backtest, with its interval.
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
    target: Target,
    metric: str | None = None,
    safe: str = "",
    where: str = "the backtest",
) -> Choice:
    """Choose among models by their predictions on the backtest.

    Args:
        predictions: by model, of n rows.
        baselines: those that the others must beat; at least one of `predictions`.
        bootstrap: of the values, weights and batches of the backtest.
        target: what is predicted.
        metric: of the target; None: its loss. F-measures are compared at their best thresholds.
        safe: a model that has the baselines as members and learns from outcomes which to follow: it
            answers unless it is surely worse than the best of them.
        where: what to call the decisions in the reason.

    Raises:
        TrainingError: there are no rows, or no baseline was given.
    """
    known = [name for name in baselines if name in predictions]
    if not len(bootstrap.weight) or not known:
        raise TrainingError("there are no decisions to choose a model by; give a longer history")
    for compared in (metric or target.loss, target.loss):  # the loss where the metric is undefined
        decided = {
            name: target.decided(compared, column, bootstrap.values, bootstrap.weight)
            for name, column in predictions.items()
        }
        values = bootstrap.intervals(target.metric(compared), decided)
        if all(interval.value is not None for interval in values.values()):
            break
    sign = -1.0 if compared in target.higher else 1.0
    ranked = sorted(values, key=lambda name: sign * (values[name].value or 0.0))
    chosen = best_known = next(name for name in ranked if name in known)
    margins: dict[str, Interval] = {}
    for name in (name for name in ranked if name not in known):
        against = {
            base: bootstrap.differences(
                target.metric(compared), {name: decided[name], base: decided[base]}, base
            )[name]
            for base in known
        }
        margins[name] = against[best_known]
        worst = [margin.high if sign > 0 else margin.low for margin in against.values()]
        if chosen == best_known and all(end is not None and sign * end < 0.0 for end in worst):
            chosen = name
    if safe in margins:
        best = margins[safe].low if sign > 0 else margins[safe].high
        if best is not None and sign * best <= 0.0:
            chosen = safe
    shown = f"{compared} {values[chosen].value:.3f}"
    if chosen != best_known:
        margin = margins[chosen]
        reason = (
            f"{chosen} answers: {shown} on {where} against {best_known} "
            f"({values[best_known].value:.3f}), the best baseline; the difference is between "
            f"{margin.low:+.3f} and {margin.high:+.3f}."
        )
    elif margins:
        reason = (
            f"No model surely beats every baseline on {where}, so the best baseline answers: "
            f"{chosen}, {shown}."
        )
    else:
        reason = f"{chosen} answers: {shown} on {where}; only baselines were trained."
    return Choice(chosen, chosen in known, compared, values, margins, reason)
