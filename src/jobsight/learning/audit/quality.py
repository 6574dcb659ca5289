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
from jobsight.learning.audit.checks import DOUBTFUL, Audited, Check, Result, grade_of, power, worse
from jobsight.learning.bootstrap import POWER, Interval, Simulation, p_value
from jobsight.learning.dataset import drawn_together
from jobsight.learning.evaluation import quality
from jobsight.learning.targets import CHANCE, errors_by_chance
from jobsight.models.base import Floats

__all__ = ["check_calibration", "check_intervals", "check_strata", "check_time"]

SLICES = 4
LEAST_WEEKS = 3
LEAST_BATCHES = 10
"""Below these a slice or a stratum is shown, but not judged."""

DRAWS, POWER_DRAWS = 10_000, 1000
HALF, LEAST_GROUPS = 0.5, 5


def check_time(it: Audited) -> Result:
    """Quality by slices of time, with equal numbers of batches, or by week of three or more."""
    evaluation = it.evaluation
    moments = evaluation.table["decided"].cast(pl.Datetime("us", "UTC"))
    weeks = moments.dt.truncate("1w")
    if weeks.n_unique() >= LEAST_WEEKS:
        number = weeks.rank("dense").to_numpy().astype(np.int64) - 1
    else:
        passed = np.cumsum(evaluation.labelled.weight) - evaluation.labelled.weight / 2
        number = (passed / evaluation.labelled.weight.sum() * SLICES).astype(np.int64)
    chosen, goal, settings = evaluation.chosen, evaluation.goal, it.model.settings
    rows = []
    for slice_ in np.unique(number):
        inside = number == slice_
        first, last = moments.filter(pl.Series(inside))[[0, -1]]
        row: dict[str, Any] = {"from": format_moment(first), "to": format_moment(last)}
        row |= {**evaluation.quality(inside), "against_constant": None}
        if chosen != "constant" and "constant" in evaluation.predictions:
            # Loss of the model that answers less that of the constant one, with its interval.
            pair = {name: evaluation.predictions[name][inside] for name in (chosen, "constant")}
            bootstrap = evaluation.bootstrap(settings.bootstrap, settings.seed, inside)
            differences = bootstrap.differences(goal.metric(goal.loss), pair, "constant")
            row["against_constant"] = asdict(differences[chosen])
        rows.append(row)
    margins = [
        Interval(**row["against_constant"]) for row in rows
        if row["batches"] >= LEAST_BATCHES and row["against_constant"] is not None
    ]  # fmt: skip
    tests = [test for margin in margins if (test := worse(margin, len(margins))) is not None]
    aucs = [auc for row in rows if (auc := row.get("roc_auc")) is not None]
    span = f"ROC AUC from {min(aucs):.2f} to {max(aucs):.2f}" if aucs else "no ROC AUC"
    numbers: dict[str, Any] = {"slices": len(rows), "judged": len(tests)}
    if not tests:
        detail = f"No slice of time has {LEAST_BATCHES} batches to judge by."
        return Result(Check("over_time", "quality", None, detail, numbers), {"time": rows})
    p_values, gaps = zip(*tests, strict=True)
    adjusted = stats.false_discovery_control(p_values)
    off = int((adjusted <= DOUBTFUL).sum())
    numbers |= {
        "worse_than_constant": off,
        "p_value": float(adjusted.min()),
        "detectable": float(np.median(gaps)),
    }
    detail = (
        f"Over {len(rows)} slices of time, {span}; {off or 'none'} of {len(tests)} is worse than "
        "the constant rate beyond chance."
    )
    fault = power(f"a loss higher than the constant's by {numbers['detectable']:.2f} in one")
    check = Check("over_time", "quality", grade_of(adjusted.min()), detail, numbers, fault)
    return Result(check, {"time": rows})


def check_strata(it: Audited) -> Result:
    """Quality by the question's strata.

    Where predictions are probabilities, each stratum with enough batches is tested for predictions
    that are right, by outcomes drawn from them. The p-values are adjusted for their number by
    Benjamini and Hochberg (Journal of the Royal Statistical Society B 57, 1995), valid for strata
    that overlap as these do (Benjamini and Yekutieli, Annals of Statistics 29, 2001).
    """
    barred = it.model.question.barred
    strata = [name for name in it.model.question.strata if name != barred]
    tables = {f"by_{name}": it.evaluation.stratum(name) for name in strata}
    judged = [
        (name, row) for name in strata for row in tables[f"by_{name}"]
        if row["batches"] >= LEAST_BATCHES
    ]  # fmt: skip
    for name in strata:
        _test_strata(it, name, [row for by, row in judged if by == name], len(judged))
    if barred in it.model.question.strata:
        tables[f"by_{barred}"] = _barred(it)
    judged = [(name, row) for name, row in judged if "p_value" in row]
    if not judged:
        detail = f"No slice has {LEAST_BATCHES} batches and a probability to judge by."
        return Result(Check("strata", "quality", None, detail), tables)
    adjusted = stats.false_discovery_control([row["p_value"] for _, row in judged])
    for (_, row), value in zip(judged, adjusted, strict=True):
        row["q_value"] = float(value)
    off = [(name, row) for name, row in judged if row["q_value"] <= DOUBTFUL]
    off.sort(key=lambda stratum: stratum[1]["q_value"])
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
        names = ", ".join(dict.fromkeys(name for name, _ in judged))
        detail = (
            f"In all {len(judged)} strata of {LEAST_BATCHES} batches or more "
            f"(by {names}) as many {it.model.question.words[2]} as predicted, within chance."
        )
    fault = f"a rate off by {gap:.0%} in half of them" if np.isfinite(gap) else "none in most"
    grade = grade_of(numbers["p_value"])
    return Result(Check("strata", "quality", grade, detail, numbers, power(fault)), tables)


def _test_strata(it: Audited, by: str, rows: list[dict[str, Any]], tests: int) -> None:
    """Put into each row its p-value, and the gap of its rate that would have been found."""
    evaluation = it.evaluation
    labels = evaluation.labels(by)
    part = np.full(len(labels), -1)
    for number, row in enumerate(rows):
        part[(labels == row["value"]).to_numpy()] = number
    inside = part >= 0
    chosen = evaluation.predictions[evaluation.chosen]
    events = evaluation.goal.events(chosen, evaluation.labelled.values)
    if not inside.any() or events is None:
        return
    part, weight = part[inside], evaluation.labelled.weight[inside]
    predicted = events[0][inside]
    happened: NDArray[np.bool_] = events[1][inside]
    member = np.eye(len(rows))[part] * weight[:, None]

    def missed(success: NDArray[np.bool_]) -> Floats:
        return np.asarray(np.abs((success - predicted) @ member))

    batch, seed = drawn_together(evaluation.table)[inside], it.model.settings.seed
    chance = Simulation(batch, DRAWS, seed).of(missed, predicted)
    p_values = p_value(chance, missed(happened))
    limit = np.quantile(chance, 1.0 - DOUBTFUL / tests, axis=0)
    mean = np.array([np.average(predicted[part == k], weights=weight[part == k])
                     for k in range(len(rows))])  # fmt: skip
    toward = np.where(mean < 0.5, 1.0, -1.0)[part]
    gaps = Simulation(batch, POWER_DRAWS, seed).detectable(missed, predicted, toward, limit, part)
    rates = [np.average(happened[part == k], weights=weight[part == k]) for k in range(len(rows))]
    for row, value, gap, foreseen, rate in zip(rows, p_values, gaps, mean, rates, strict=True):
        row |= {"p_value": float(value), "detectable": _number(gap)}
        row |= {"predicted": float(foreseen), "base_rate": float(rate)}


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _barred(it: Audited) -> list[dict[str, Any]]:
    """Decisions that may teach, and those that may not: these say nothing of what is asked."""
    evaluation = it.evaluation
    rows = [{"value": "false", **evaluation.quality(np.ones(len(evaluation.table), np.bool_))}]
    barred = it.data.table.filter(
        pl.Series(it.reach) & ~pl.col("teaches") & pl.col(it.data.target).is_not_null()
    )
    if len(barred):
        _, labelled = it.data.examples(barred)
        predicted = it.model.answering.predict(labelled.inputs)
        scored = quality(evaluation.goal, predicted, labelled.values, labelled.weight)
        rows.append({"value": "true", **scored})
    return rows


def check_calibration(it: Audited) -> Result:
    """Do as many succeed as predicted? Against the error that chance alone would give."""
    evaluation, seed = it.evaluation, it.model.settings.seed
    weight = evaluation.labelled.weight
    events = evaluation.goal.events(
        evaluation.predictions[evaluation.chosen], evaluation.labelled.values
    )
    if events is None:
        detail = "Predictions are not probabilities; see the intervals."
        return Result(Check("calibration", "quality", None, detail))
    predicted, success = events
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
    batch = drawn_together(evaluation.table)
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


def check_intervals(it: Audited) -> Result:
    """Do intervals hold as many observations as promised? By the binomial distribution.

    Of probabilities the rates of groups of like predictions are held, of others the observations
    themselves, where batches count as one.

    Where fewer hold them, but the groups are so few that even intervals which hold half would
    have passed, the check is doubtful.
    """
    covered, promised = it.evaluation.covered, it.evaluation.goal.coverage
    weight = it.evaluation.labelled.weight
    if len(covered) == len(weight) and it.evaluation.goal.output.kind != "binary":
        groups, inside = round(float(weight.sum())), round(float(weight[covered].sum()))
    else:
        groups, inside = len(covered), int(covered.sum())
    numbers: dict[str, Any] = {"groups": groups, "inside": inside}
    if groups < LEAST_GROUPS:
        detail = f"Fewer than {LEAST_GROUPS} groups of like predictions to judge by."
        return Result(Check("intervals", "quality", None, detail, numbers))
    value = float(stats.binom.cdf(inside, groups, promised))
    # Up to so many of the groups inside are a finding; P(at most k) at rate c is that of a beta.
    most = int(stats.binom.ppf(DOUBTFUL, groups, promised)) - 1
    found = float(stats.beta.isf(POWER, most + 1, groups - most))
    grade = grade_of(value)
    detail = (
        f"{inside} of {groups} groups of like predictions have their rate in the {promised:.0%} "
        "interval"
    )
    if grade == "passed" and inside < promised * groups and found < HALF:
        grade = "doubtful"
        detail += ": fewer than promised, which may be chance, but so few groups cannot decide it"
    fault = power(f"intervals that hold {found:.0%} of the groups")
    numbers |= {"p_value": value, "detectable": found}
    return Result(Check("intervals", "quality", grade, detail + ".", numbers, fault))
