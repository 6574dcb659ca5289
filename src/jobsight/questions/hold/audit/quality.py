"""Where and when is the model good, and are its probabilities what they say?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from jobsight.clock import format_moment
from jobsight.learning import metrics
from jobsight.learning.bootstrap import POWER, Bootstrap, Interval, Simulation, p_value
from jobsight.models.base import Floats, Labelled
from jobsight.questions.hold.audit.checks import (
    DOUBTFUL,
    Case,
    Check,
    Result,
    grade_of,
    power,
    worse,
)
from jobsight.questions.hold.training.evaluation import CHANCE, errors_by_chance

__all__ = ["check_calibration", "check_intervals", "check_strata", "check_time"]

SLICES = 4
LEAST_WEEKS = 3
LEAST_BATCHES = 10
"""Below these a slice or a stratum is shown, but not judged."""

STRATA = ("cause", "owner", "site", "releaser")
DRAWS, POWER_DRAWS = 10_000, 1000
COVERAGE, HALF, LEAST_GROUPS = 0.9, 0.5, 5


def check_time(case: Case) -> Result:
    """Quality by slices of time, with equal numbers of batches, or by week of three or more."""
    evaluation = case.evaluation
    moments = evaluation.table["released"].cast(pl.Datetime("us", "UTC"))
    weeks = moments.dt.truncate("1w")
    if weeks.n_unique() >= LEAST_WEEKS:
        number = weeks.rank("dense").to_numpy().astype(np.int64) - 1
    else:
        passed = np.cumsum(evaluation.labelled.weight) - evaluation.labelled.weight / 2
        number = (passed / evaluation.labelled.weight.sum() * SLICES).astype(np.int64)
    rows = []
    for slice_ in np.unique(number):
        inside = number == slice_
        first, last = moments.filter(pl.Series(inside))[[0, -1]]
        rows.append(
            {
                "from": format_moment(first),
                "to": format_moment(last),
                **evaluation.quality(inside),
                **_against_constant(case, inside),
            }
        )
    return Result(_time_check(rows), {"time": rows})


def _against_constant(case: Case, inside: NDArray[np.bool_]) -> dict[str, Any]:
    """Log loss of the model that answers less that of the constant one, with its interval."""
    evaluation, settings = case.evaluation, case.model.settings
    labelled = evaluation.labelled
    bootstrap = Bootstrap(
        labelled.success[inside],
        labelled.weight[inside],
        evaluation.table["batch"].to_numpy()[inside],
        settings.bootstrap,
        settings.seed,
    )
    chosen = evaluation.chosen
    if chosen == "constant" or "constant" not in evaluation.predictions:
        return {"against_constant": None}
    pair = {name: evaluation.predictions[name][inside] for name in (chosen, "constant")}
    margin = bootstrap.differences(metrics.log_loss, pair, "constant")[chosen]
    return {"against_constant": asdict(margin)}


def _time_check(rows: list[dict[str, Any]]) -> Check:
    margins = [
        Interval(**row["against_constant"]) for row in rows
        if row["batches"] >= LEAST_BATCHES and row["against_constant"] is not None
    ]  # fmt: skip
    tests = [test for margin in margins if (test := worse(margin, len(margins))) is not None]
    aucs = [row["roc_auc"] for row in rows if row["roc_auc"] is not None]
    span = f"ROC AUC from {min(aucs):.2f} to {max(aucs):.2f}" if aucs else "no ROC AUC"
    numbers: dict[str, Any] = {"slices": len(rows), "judged": len(tests)}
    if not tests:
        detail = f"No slice of time has {LEAST_BATCHES} batches to judge by."
        return Check("over_time", "quality", None, detail, numbers)
    p_values, found = zip(*tests, strict=True)
    adjusted = stats.false_discovery_control(p_values)
    off = int((adjusted <= DOUBTFUL).sum())
    numbers |= {
        "worse_than_constant": off,
        "p_value": float(adjusted.min()),
        "detectable": float(np.median(found)),
    }
    detail = (
        f"Over {len(rows)} slices of time, {span}; {off or 'none'} of {len(tests)} is worse than "
        "the constant rate beyond chance."
    )
    fault = power(f"a log loss higher than the constant's by {numbers['detectable']:.2f} in one")
    return Check("over_time", "quality", grade_of(adjusted.min()), detail, numbers, fault)


def check_strata(case: Case) -> Result:
    """Quality by cause, owner, site, releaser, and for edited releases.

    Each stratum with enough batches is tested for predictions that are right, by outcomes drawn
    from them. The p-values are adjusted for their number by Benjamini and Hochberg (Journal of the
    Royal Statistical Society B 57, 1995), valid for strata that overlap as these do (Benjamini and
    Yekutieli, Annals of Statistics 29, 2001).
    """
    tables = {f"by_{name}": case.evaluation.stratum(name) for name in STRATA}
    judged = [
        (name, row) for name in STRATA for row in tables[f"by_{name}"]
        if row["batches"] >= LEAST_BATCHES
    ]  # fmt: skip
    for name in STRATA:
        _test_strata(case, name, [row for by, row in judged if by == name], len(judged))
    tables["by_edited"] = _edited(case)
    if not judged:
        detail = f"No cause, owner, site or releaser has {LEAST_BATCHES} batches to judge by."
        return Result(Check("strata", "quality", None, detail), tables)
    adjusted = stats.false_discovery_control([row["p_value"] for _, row in judged])
    for (_, row), value in zip(judged, adjusted, strict=True):
        row["q_value"] = float(value)
    return Result(_strata_check(judged), tables)


def _test_strata(case: Case, by: str, rows: list[dict[str, Any]], tests: int) -> None:
    """Put into each row its p-value, and the gap of its rate that would have been found."""
    evaluation = case.evaluation
    labels = evaluation.labels(by)
    part = np.full(len(labels), -1)
    for number, row in enumerate(rows):
        part[(labels == row["value"]).to_numpy()] = number
    inside = part >= 0
    if not inside.any():
        return
    part, weight = part[inside], evaluation.labelled.weight[inside]
    predicted = evaluation.predictions[evaluation.chosen][inside]
    member = np.eye(len(rows))[part] * weight[:, None]

    def missed(success: NDArray[np.bool_]) -> Floats:
        return np.asarray(np.abs((success - predicted) @ member))

    batch, seed = evaluation.table["batch"].to_numpy()[inside], case.model.settings.seed
    chance = Simulation(batch, DRAWS, seed).of(missed, predicted)
    p_values = p_value(chance, missed(evaluation.labelled.success[inside]))
    limit = np.quantile(chance, 1.0 - DOUBTFUL / tests, axis=0)
    toward = np.array([1.0 if row["predicted"] < 0.5 else -1.0 for row in rows])[part]
    gaps = Simulation(batch, POWER_DRAWS, seed).detectable(missed, predicted, toward, limit, part)
    for row, value, gap in zip(rows, p_values, gaps, strict=True):
        row |= {"p_value": float(value), "detectable": _number(gap)}


def _strata_check(judged: list[tuple[str, dict[str, Any]]]) -> Check:
    off = sorted(
        (one for one in judged if one[1]["q_value"] <= DOUBTFUL), key=lambda one: one[1]["q_value"]
    )
    gap = float(np.median([row["detectable"] or np.inf for _, row in judged]))
    numbers = {
        "judged": len(judged),
        "off": [f"{name} {row['value']}" for name, row in off],
        "p_value": min(row["q_value"] for _, row in judged),
        "detectable": _number(gap),
    }
    if off:
        shown = "; ".join(
            f"{name} {row['value'][:60]}: predicted {row['predicted']:.0%}, observed "
            f"{row['base_rate']:.0%} in {row['batches']:.0f} batches (adjusted p "
            f"{row['q_value']:.3f})"
            for name, row in off[:3]
        )
        detail = f"{len(off)} of {len(judged)} strata differ from their predictions: {shown}."
    else:
        detail = (
            f"In all {len(judged)} strata of {LEAST_BATCHES} batches or more (causes, owners, "
            "sites, releasers) as many succeeded as predicted, within chance."
        )
    fault = f"a rate off by {gap:.0%} in half of them" if np.isfinite(gap) else "none in most"
    return Check("strata", "quality", grade_of(numbers["p_value"]), detail, numbers, power(fault))


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _edited(case: Case) -> list[dict[str, Any]]:
    """Releases as they were, and those that were mended first: the latter teach no P(success)."""
    evaluation = case.evaluation
    rows = [{"value": "false", **evaluation.quality(np.ones(len(evaluation.table), np.bool_))}]
    mended = case.data.table.filter(
        pl.Series(case.reach) & pl.col("edited") & pl.col("outcome").is_not_null()
    )
    if len(mended):
        _, labelled = case.data.examples(mended)
        predicted = case.model.answering.predict(labelled.inputs)
        rows.append({"value": "true", **_quality(predicted, labelled)})
    return rows


def _quality(predicted: Floats, labelled: Labelled) -> dict[str, Any]:
    success, weight = labelled.success, labelled.weight
    scores = metrics.score(predicted, success, weight)
    return {
        "examples": len(success),
        "batches": round(float(weight.sum()), 1),
        "base_rate": float(np.average(success, weights=weight)),
        "predicted": float(np.average(predicted, weights=weight)),
        "roc_auc": scores.roc_auc,
        "brier": scores.brier,
        "log_loss": scores.log_loss,
    }


def check_calibration(case: Case) -> Result:
    """Do as many succeed as predicted? Against the error that chance alone would give."""
    evaluation, seed = case.evaluation, case.model.settings.seed
    predicted = evaluation.predictions[evaluation.chosen]
    success, weight = evaluation.labelled.success, evaluation.labelled.weight
    points = metrics.reliability(predicted, success, weight)
    rows = [
        dict(zip(("predicted", "observed", "batches", "low", "high"), map(float, row), strict=True))
        for row in zip(
            points.predicted, points.observed, points.weight, points.low, points.high, strict=True
        )
    ]
    error = float(metrics.ece(predicted, success, weight))
    if weight.sum() < LEAST_BATCHES:
        detail = f"Fewer than {LEAST_BATCHES} batches to judge by."
        check = Check("calibration", "quality", None, detail, {"ece": error})
        return Result(check, {"reliability": rows})
    batch = evaluation.table["batch"].to_numpy()
    chance = errors_by_chance(Simulation(batch, DRAWS, seed), predicted, weight)
    limit, value = float(np.quantile(chance, CHANCE)), float(p_value(chance, error))
    gap = _number(
        Simulation(batch, POWER_DRAWS, seed).detectable(
            lambda drawn: metrics.ece(predicted, drawn, weight)[:, None],
            predicted,
            np.where(predicted < 0.5, 1.0, -1.0),
            np.array([limit]),
            np.zeros(len(predicted), np.int64),
        )[0]
    )
    numbers = {"ece": error, "ece_by_chance": limit, "p_value": value, "detectable": gap}
    detail = (
        f"Calibration error {error:.3f}, where well-calibrated probabilities show up to "
        f"{limit:.3f} by chance, in {CHANCE:.0%} of cases."
    )
    fault = power(f"probabilities too sure by {gap:.2f}" if gap else "no gap of any size")
    check = Check("calibration", "quality", grade_of(value), detail, numbers, fault)
    return Result(check, {"reliability": rows})


def check_intervals(case: Case) -> Result:
    """Do the 90 % intervals hold the rates of 90 of 100 groups? By the binomial distribution.

    Where fewer hold them, but the groups are so few that even intervals which hold half would
    have passed, the check is doubtful.
    """
    covered = case.evaluation.covered
    groups, inside = len(covered), int(covered.sum())
    numbers: dict[str, Any] = {"groups": groups, "inside": inside}
    if groups < LEAST_GROUPS:
        detail = f"Fewer than {LEAST_GROUPS} groups of like predictions to judge by."
        return Result(Check("intervals", "quality", None, detail, numbers))
    value = float(stats.binom.cdf(inside, groups, COVERAGE))
    # Up to so many of the groups inside are a finding; P(at most k) at rate c is that of a beta.
    most = int(stats.binom.ppf(DOUBTFUL, groups, COVERAGE)) - 1
    found = float(stats.beta.isf(POWER, most + 1, groups - most))
    grade = grade_of(value)
    detail = (
        f"{inside} of {groups} groups of like predictions have their rate in the {COVERAGE:.0%} "
        "interval"
    )
    if grade == "passed" and inside < COVERAGE * groups and found < HALF:
        grade = "doubtful"
        detail += ": fewer than promised, which may be chance, but so few groups cannot tell"
    fault = power(f"intervals that hold {found:.0%} of the groups")
    numbers |= {"p_value": value, "detectable": found}
    return Result(Check("intervals", "quality", grade, detail + ".", numbers, fault))
