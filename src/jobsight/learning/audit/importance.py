"""What does the model rest on? Ranked by what it loses without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from jobsight.errors import TrainingError
from jobsight.learning import metrics
from jobsight.learning.audit.checks import (
    DOUBTFUL,
    OTHER_LOGS,
    Audited,
    Check,
    Grade,
    Result,
    power,
)
from jobsight.learning.bootstrap import POWER
from jobsight.learning.modeldir import Fitted
from jobsight.learning.targets import Target
from jobsight.learning.train import fit_model
from jobsight.models.base import Floats, Inputs, Labelled

__all__ = ["check_features", "families", "without_family"]

TOO_GOOD = 0.98
"""ROC AUC of one feature alone from which it is suspected to be the outcome in disguise."""

LEAST_OF_EACH = 5
"""Batches' worth of successes, and of failures, that the test part needs for that suspicion."""

SHUFFLES, SHUFFLES_IF_SLOW = 5, 2
CAUSES, FRAMES = "the cause's own record", "frames"


def families(
    names: tuple[str, ...], known: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """The features by what they are about; what is before ``:`` or ``,`` in a name says it.

    `known` has beginnings of names by family; others are a family of their own.
    """
    about = {prefix: family for family, prefixes in known.items() for prefix in prefixes}
    found: dict[str, list[str]] = {}
    for name in names:
        prefix = name.split(":")[0].split(",")[0].strip()
        found.setdefault(about.get(prefix, prefix), []).append(name)
    return {family: tuple(members) for family, members in found.items()}


def check_features(it: Audited) -> Result:
    """Rank families by training without them, and single columns by shuffling them.

    The check itself asks whether one feature alone predicts the outcome: that is how a leak looks.
    """
    _, test = it.test
    fitted = it.model.fitted[it.studied]
    random = np.random.default_rng(it.model.settings.seed)
    turns = range(SHUFFLES_IF_SLOW if it.slow else SHUFFLES)
    columns = _by_shuffling(
        fitted, it.data.goal, test, [random.permutation(len(test)) for _ in turns]
    )
    tables = {"features": columns, "families": _by_training(it) if it.own else []}
    total = float(test.weight.sum())
    # Of the view of the outcomes that has most of both.
    true = [float(test.weight[view].sum()) for view in it.data.goal.views(test.values)]
    won = max(true, key=lambda weight: min(weight, total - weight))
    enough = min(won, total - won) >= LEAST_OF_EACH
    alone = [row for row in columns if row["alone"] is not None]
    best = max(alone, key=lambda row: row["alone"], default=None)
    rests = ", ".join(row["family"] for row in tables["families"][:3] if row["loss"] > 0)
    words = f"{it.studied} rests most on {rests}. " if rests else ""
    if not it.own:
        words = f"Families were not ranked: {OTHER_LOGS}. "
    if best is None or not enough:
        words += "Too few batches to judge one feature by."
        return Result(Check("features", "honesty", None, words), tables)
    auc = best["alone"]
    error = _auc_error(auc, won, total - won)
    grade: Grade = "failed" if auc >= TOO_GOOD and it.model.question.timed else "passed"
    if not it.model.question.timed:
        words += "Inputs have no past that could tell the outcome. "
    elif grade == "passed" and auc + stats.norm.isf(DOUBTFUL) * error >= TOO_GOOD:
        grade = "doubtful"
    words += (
        f"The strongest feature by itself is {best['feature']!r}, with ROC AUC {auc:.2f}"
        + ("." if not it.model.question.timed
           else ": no single one gives the outcome away." if grade == "passed"
           else ": too good to be known beforehand; look at how it is made.")
    )  # fmt: skip
    error = _auc_error(TOO_GOOD, won, total - won)
    detectable = min(TOO_GOOD + stats.norm.ppf(POWER) * error, 1.0)
    numbers = {
        "model": it.studied,
        "strongest": best["feature"],
        "roc_auc": auc,
        "detectable": float(detectable),
    }
    words_of_power = power(f"one whose ROC AUC is {detectable:.3f} or more")
    return Result(Check("features", "honesty", grade, words, numbers, words_of_power), tables)


def _auc_error(auc: float, won: float, lost: float) -> float:
    """Standard error of a ROC AUC by successes and failures (Hanley and McNeil 1982)."""
    both_won, both_lost = auc / (2.0 - auc), 2.0 * auc**2 / (1.0 + auc)
    variance = auc * (1.0 - auc)
    variance += (won - 1.0) * (both_won - auc**2) + (lost - 1.0) * (both_lost - auc**2)
    return float(np.sqrt(max(variance, 0.0) / (won * lost)))


def _by_shuffling(
    fitted: Fitted, goal: Target, test: Labelled, orders: list[NDArray[np.int64]]
) -> list[dict[str, Any]]:
    """Each column: how much the loss grows when its values change places among the rows."""
    inputs, loss = test.inputs, goal.metric(goal.loss)
    base = float(loss(fitted.predict(inputs), test.values, test.weight))
    rows = []
    for name in (*inputs.names, *_others_of(fitted, inputs)):
        losses = [
            float(loss(
                fitted.predict(_with_column(inputs, name, order)), test.values, test.weight
            ))
            for order in orders
        ]  # fmt: skip
        alone = None
        if name in inputs.names:
            alone = _alone(inputs.features[:, inputs.names.index(name)], goal, test)
        rows.append({"feature": name, "loss": float(np.mean(losses)) - base, "alone": alone})
    return sorted(rows, key=lambda row: -row["loss"])


def _others_of(fitted: Fitted, inputs: Inputs) -> tuple[str, ...]:
    """What a model reads besides features."""
    frames = fitted.model.name == "lstm" and inputs.frames is not None
    return (*((CAUSES,) if inputs.causes else ()), *((FRAMES,) if frames else ()))


def _with_column(inputs: Inputs, name: str, order: NDArray[np.int64]) -> Inputs:
    if name == CAUSES:
        shuffled = inputs.take(order)
        return replace(inputs, causes=shuffled.causes, facts=shuffled.facts)
    if name == FRAMES and inputs.frames is not None:
        return replace(inputs, frames=inputs.frames[order])
    place = inputs.names.index(name)
    features = inputs.features.copy()
    features[:, place] = features[order, place]
    return replace(inputs, features=features)


def _alone(column: NDArray[np.float32], goal: Target, test: Labelled) -> float | None:
    """ROC AUC of a column by itself, in its better direction; unknown values are lowest."""
    values: Floats = column.astype(np.float64)
    known = np.isfinite(values)
    low = values[known].min() - 1.0 if known.any() else 0.0
    ranked = np.where(known, values, low)
    total, found = float(test.weight.sum()), []
    for view in goal.views(test.values):
        true = float(test.weight[view].sum())
        if goal.output.kind == "binary" or min(true, total - true) >= LEAST_OF_EACH:
            found.append(float(metrics.roc_auc(ranked, view, test.weight)))
    return max((max(auc, 1.0 - auc) for auc in found if np.isfinite(auc)), default=None)


def _by_training(it: Audited) -> list[dict[str, Any]]:
    """Each family: what the test part loses when the model is trained without it (paired).

    No model is calibrated, so that nothing but the family makes the difference.
    """
    _, test = it.test
    known = families(test.inputs.names, it.model.question.families)
    predictions: dict[str, Floats] = {}  # under the empty name with all families
    for family in ("", *known, *_others_of(it.model.fitted[it.studied], test.inputs)):
        dropped = known.get(family, ())
        taught = it.taught()
        taught = replace(taught, inputs=without_family(taught.inputs, family, dropped))
        try:
            model = fit_model(it.studied, it.data, taught)
        except TrainingError:
            continue
        predictions[family] = model.predict(without_family(test.inputs, family, dropped))
    if "" not in predictions:
        return []
    settings, goal = it.model.settings, it.data.goal
    bootstrap = it.evaluation.bootstrap(settings.bootstrap, settings.seed)
    losses = bootstrap.differences(goal.metric(goal.loss), predictions, "")
    rows = [
        {
            "family": family,
            "features": len(known.get(family, ())),
            "loss": loss.value,
            "low": loss.low,
            "high": loss.high,
        }
        for family, loss in losses.items()
    ]
    return sorted(rows, key=lambda row: -(row["loss"] or 0.0))


def without_family(inputs: Inputs, family: str, dropped: tuple[str, ...]) -> Inputs:
    """The inputs without the features of a family."""
    if family == CAUSES:
        return replace(inputs, causes={}, learned=())
    if family == FRAMES and inputs.frames is not None:
        return replace(inputs, frames=np.zeros_like(inputs.frames))
    keep = [place for place, name in enumerate(inputs.names) if name not in dropped]
    names = tuple(inputs.names[place] for place in keep)
    return replace(inputs, features=inputs.features[:, keep], names=names)
