"""What does the model rest on? Ranked by what it loses without it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from jobsight.errors import TrainingError
from jobsight.learning import metrics
from jobsight.learning.bootstrap import POWER, Bootstrap
from jobsight.models.base import Floats, Inputs, Labelled
from jobsight.questions.hold.audit.checks import (
    DOUBTFUL,
    OTHER_LOGS,
    Case,
    Check,
    Grade,
    Result,
    power,
)
from jobsight.questions.hold.training.model import Fitted
from jobsight.questions.hold.training.train import fit_calibrated

__all__ = ["check_features", "families"]

TOO_GOOD = 0.98
"""ROC AUC of one feature alone from which it is suspected to be the outcome in disguise."""

LEAST_OF_EACH = 5
"""Batches' worth of successes, and of failures, that the test part needs for that suspicion."""

SHUFFLES, SHUFFLES_IF_SLOW = 5, 2
CAUSES, FRAMES = "the cause's own record", "frames"

_FAMILIES = {
    "this job": ("job", "attempt", "held for", "job and cause"),
    "its cluster": ("cluster", "cluster and cause"),
    "its owner": ("owner", "owner and cause"),
    "its cause": ("code", "cause"),
    "its site": ("site", "cause at site"),
    "its transfer origin": ("origin", "origin at site"),
    "the whole pool": ("all",),
    "how long it waits": ("delay", "held for at release"),
}


def families(names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The features by what they are about; what stands before ``:`` or ``,`` in a name tells."""
    about = {prefix: family for family, prefixes in _FAMILIES.items() for prefix in prefixes}
    found: dict[str, list[str]] = {}
    for name in names:
        prefix = name.split(":")[0].split(",")[0].strip()
        found.setdefault(about.get(prefix, prefix), []).append(name)
    return {family: tuple(members) for family, members in found.items()}


def check_features(case: Case) -> Result:
    """Rank families by training without them, and single columns by shuffling them.

    The check itself asks whether one feature alone tells the outcome: that is how a leak looks.
    """
    _, test = case.test
    fitted = case.model.fitted[case.studied]
    random = np.random.default_rng(case.model.settings.seed)
    turns = range(SHUFFLES_IF_SLOW if case.slow else SHUFFLES)
    columns = _by_shuffling(fitted, test, [random.permutation(len(test)) for _ in turns])
    tables = {"features": columns, "families": _by_training(case) if case.own else []}
    return Result(_single(case, columns, tables["families"]), tables)


def _single(case: Case, columns: list[dict[str, Any]], families_: list[dict[str, Any]]) -> Check:
    _, test = case.test
    won = float(test.weight[test.success].sum())
    enough = min(won, float(test.weight.sum()) - won) >= LEAST_OF_EACH
    alone = [row for row in columns if row["alone"] is not None]
    best = max(alone, key=lambda row: row["alone"], default=None)
    rests = ", ".join(row["family"] for row in families_[:3] if row["log_loss"] > 0)
    words = f"{case.studied} rests most on {rests}. " if rests else ""
    if not case.own:
        words = f"Families were not ranked: {OTHER_LOGS}. "
    if best is None or not enough:
        words += "Too few batches to judge one feature by."
        return Check("features", "honesty", None, words)
    auc = best["alone"]
    error = _auc_error(auc, won, float(test.weight.sum()) - won)
    grade: Grade = "failed" if auc >= TOO_GOOD else "passed"
    if grade == "passed" and auc + stats.norm.isf(DOUBTFUL) * error >= TOO_GOOD:
        grade = "doubtful"
    words += (
        f"The strongest feature by itself is {best['feature']!r}, with ROC AUC {auc:.2f}"
        + (": no single one gives the outcome away." if grade == "passed"
           else ": too good to be known beforehand; look at how it is made.")
    )  # fmt: skip
    error = _auc_error(TOO_GOOD, won, float(test.weight.sum()) - won)
    found = min(TOO_GOOD + stats.norm.ppf(POWER) * error, 1.0)
    numbers = {
        "model": case.studied,
        "strongest": best["feature"],
        "roc_auc": auc,
        "detectable": float(found),
    }
    words_of_power = power(f"one whose ROC AUC is {found:.3f} or more")
    return Check("features", "honesty", grade, words, numbers, words_of_power)


def _auc_error(auc: float, won: float, lost: float) -> float:
    """Standard error of a ROC AUC by successes and failures (Hanley and McNeil 1982)."""
    both_won, both_lost = auc / (2.0 - auc), 2.0 * auc**2 / (1.0 + auc)
    variance = auc * (1.0 - auc)
    variance += (won - 1.0) * (both_won - auc**2) + (lost - 1.0) * (both_lost - auc**2)
    return float(np.sqrt(max(variance, 0.0) / (won * lost)))


def _by_shuffling(
    fitted: Fitted, test: Labelled, orders: list[NDArray[np.int64]]
) -> list[dict[str, Any]]:
    """Each column: how much log loss grows when its values change places among the rows."""
    inputs = test.inputs
    base = float(metrics.log_loss(fitted.predict(inputs), test.success, test.weight))
    rows = []
    for name in (*inputs.names, CAUSES, *_frames_of(fitted, inputs)):
        losses = [
            float(metrics.log_loss(
                fitted.predict(_with_column(inputs, name, order)), test.success, test.weight
            ))
            for order in orders
        ]  # fmt: skip
        alone = None
        if name in inputs.names:
            alone = _alone(inputs.features[:, inputs.names.index(name)], test)
        rows.append({"feature": name, "log_loss": float(np.mean(losses)) - base, "alone": alone})
    return sorted(rows, key=lambda row: -row["log_loss"])


def _frames_of(fitted: Fitted, inputs: Inputs) -> tuple[str, ...]:
    reads = fitted.model.name == "lstm" and inputs.frames is not None
    return (FRAMES,) if reads else ()


def _with_column(inputs: Inputs, name: str, order: NDArray[np.int64]) -> Inputs:
    if name == CAUSES:
        return replace(inputs, causes={key: col[order] for key, col in inputs.causes.items()})
    if name == FRAMES and inputs.frames is not None:
        return replace(inputs, frames=inputs.frames[order])
    place = inputs.names.index(name)
    features = inputs.features.copy()
    features[:, place] = features[order, place]
    return replace(inputs, features=features)


def _alone(column: NDArray[np.float32], test: Labelled) -> float | None:
    """ROC AUC of a column by itself, in its better direction; unknown values stand lowest."""
    values: Floats = column.astype(np.float64)
    known = np.isfinite(values)
    low = values[known].min() - 1.0 if known.any() else 0.0
    auc = float(metrics.roc_auc(np.where(known, values, low), test.success, test.weight))
    return max(auc, 1.0 - auc) if np.isfinite(auc) else None


def _by_training(case: Case) -> list[dict[str, Any]]:
    """Each family: what the test part loses when the model is trained without it (paired)."""
    table, test = case.test
    known = families(test.inputs.names)
    predictions = _predictions_without(case, known)
    if "" not in predictions:
        return []
    settings = case.model.settings
    bootstrap = Bootstrap(
        test.success, test.weight, table["batch"].to_numpy(), settings.bootstrap, settings.seed
    )
    losses = bootstrap.differences(metrics.log_loss, predictions, "")
    aucs = bootstrap.differences(metrics.roc_auc, predictions, "")
    rows = [
        {
            "family": family,
            "features": len(known.get(family, ())),
            "log_loss": loss.value,
            "low": loss.low,
            "high": loss.high,
            "roc_auc": aucs[family].value,
        }
        for family, loss in losses.items()
    ]
    return sorted(rows, key=lambda row: -(row["log_loss"] or 0.0))


def _predictions_without(case: Case, known: dict[str, tuple[str, ...]]) -> dict[str, Floats]:
    """What a model that was trained without each family says of the test part.

    Beside them, under no name, stands one that was trained with all: fitted and calibrated on the
    same parts as the others (no rehearsals), so that nothing but the family makes the difference.
    """
    kind, (_, test) = case.studied, case.test
    wanted = ["", *known, CAUSES, *_frames_of(case.model.fitted[kind], test.inputs)]
    predictions: dict[str, Floats] = {}
    for family in wanted:
        dropped = known.get(family, ())
        earlier = [_labelled_without(part, family, dropped) for part in case.earlier()]
        try:
            fitted = fit_calibrated(kind, case.data, *earlier)
        except TrainingError:
            continue
        predictions[family] = fitted.predict(_without(test.inputs, family, dropped))
    return predictions


def _labelled_without(part: Labelled, family: str, dropped: tuple[str, ...]) -> Labelled:
    return replace(part, inputs=_without(part.inputs, family, dropped))


def _without(inputs: Inputs, family: str, dropped: tuple[str, ...]) -> Inputs:
    if family == CAUSES:
        return replace(inputs, causes={})
    if family == FRAMES and inputs.frames is not None:
        return replace(inputs, frames=np.zeros_like(inputs.frames))
    keep = [place for place, name in enumerate(inputs.names) if name not in dropped]
    names = tuple(inputs.names[place] for place in keep)
    return replace(inputs, features=inputs.features[:, keep], names=names)
