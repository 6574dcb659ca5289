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
        baselines: names of those that the others must beat; at least one of `predictions`.
        bootstrap: values, weight and batch of the backtest.
        target: what is predicted.
        metric: one of the target's; None: its loss. F-measures are compared at their best
            thresholds.
        safe: a model that has the baselines as members and learns from outcomes which to follow: it
            answers unless it is surely worse than the best of them.
        where: what to call the decisions in the reason.

    Raises:
        TrainingError: there are no rows, or no baseline was given.
    """
    known = [name for name in baselines if name in predictions]
    if not len(bootstrap.weight) or not known:
        raise TrainingError("there are no decisions to choose a model by; give a longer history")
    metric, decided, values = _measured(predictions, bootstrap, metric or target.loss, target)
    sign = -1.0 if metric in target.higher else 1.0
    ranked = sorted(values, key=lambda name: sign * (values[name].value or 0.0))
    chosen = best_known = next(name for name in ranked if name in known)
    margins: dict[str, Interval] = {}
    for name in (name for name in ranked if name not in known):
        against = {
            base: bootstrap.differences(
                target.metric(metric), {name: decided[name], base: decided[base]}, base
            )[name]
            for base in known
        }
        margins[name] = against[best_known]
        if chosen == best_known and all(_is_better(item, sign) for item in against.values()):
            chosen = name
    if safe in margins and not _is_worse(margins[safe], sign):
        chosen = safe
    reason = _reason(chosen, best_known, metric, values, margins, where)
    return Choice(chosen, chosen in known, metric, values, margins, reason)


def _measured(
    predictions: Mapping[str, Floats], bootstrap: Bootstrap, metric: str, target: Target
) -> tuple[str, dict[str, Floats], dict[str, Interval]]:
    """What is compared, on what; the target's loss where the metric is undefined."""
    for name in (metric, target.loss):
        decided = {
            key: target.decided(name, column, bootstrap.values, bootstrap.weight)
            for key, column in predictions.items()
        }
        values = bootstrap.intervals(target.metric(name), decided)
        if all(interval.value is not None for interval in values.values()):
            break
    return name, decided, values


def _is_better(margin: Interval, sign: float) -> bool:
    worst = margin.high if sign > 0 else margin.low
    return worst is not None and sign * worst < 0.0


def _is_worse(margin: Interval, sign: float) -> bool:
    best = margin.low if sign > 0 else margin.high
    return best is None or sign * best > 0.0


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
            f"difference is between {margin.low:+.3f} and {margin.high:+.3f}."
        )
    if not margins:
        return f"{chosen} answers: {shown} on {where}; only baselines were trained."
    return (
        f"No model surely beats every baseline on {where}, so the best baseline answers: "
        f"{chosen}, {shown}."
    )
