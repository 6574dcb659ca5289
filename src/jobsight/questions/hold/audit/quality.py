"""Where and when is the model good, and are its probabilities what they say?"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.clock import format_moment
from jobsight.learning import metrics
from jobsight.learning.bootstrap import Bootstrap
from jobsight.models.base import Floats, Labelled
from jobsight.questions.hold.audit.checks import Case, Check, Result
from jobsight.questions.hold.training.evaluation import Evaluation

__all__ = ["check_calibration", "check_strata", "check_time"]

SLICES = 4
LEAST_WEEKS = 3
LEAST_BATCHES = 10
"""Below these a slice or a stratum is shown, but not judged."""

STRATA = ("cause", "owner", "site", "releaser")
SIGMAS = 3.0
DRAWS = 1000
TAIL = 0.01
LEAST_COVERAGE = 0.5
"""Of five bins, two or fewer within a 90 % interval are seen once in 117 times."""

_BINS = 5


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
    judged = [
        row for row in rows
        if row["batches"] >= LEAST_BATCHES and row["against_constant"] is not None
    ]  # fmt: skip
    worse = [row for row in judged if (row["against_constant"]["low"] or 0.0) > 0.0]
    aucs = [row["roc_auc"] for row in rows if row["roc_auc"] is not None]
    span = f"ROC AUC from {min(aucs):.2f} to {max(aucs):.2f}" if aucs else "no ROC AUC"
    numbers = {"slices": len(rows), "judged": len(judged), "worse_than_constant": len(worse)}
    if not judged:
        detail = f"No slice of time has {LEAST_BATCHES} batches to judge by."
        return Check("over_time", "quality", None, detail, numbers)
    detail = f"Over {len(rows)} slices of time, {span}; "
    if worse:
        detail += (
            f"in {len(worse)}, the first from {worse[0]['from']} on, it is surely worse than the "
            "constant rate."
        )
    else:
        detail += "in none is it surely worse than the constant rate."
    return Check("over_time", "quality", not worse, detail, numbers)


def check_strata(case: Case) -> Result:
    """Quality by cause, owner, site, releaser, and for edited releases."""
    tables = {f"by_{name}": case.evaluation.stratum(name) for name in STRATA}
    tables["by_edited"] = _edited(case)
    off = []
    judged = 0
    for name in STRATA:
        for row in tables[f"by_{name}"]:
            row["sigmas"] = _sigmas(row)
            judged += row["sigmas"] is not None
            if row["sigmas"] is not None and abs(row["sigmas"]) > SIGMAS:
                off.append((name, row))
    numbers = {"judged": judged, "off": [f"{name} {row['value']}" for name, row in off]}
    if not judged:
        detail = f"No cause, owner, site or releaser has {LEAST_BATCHES} batches to judge by."
        return Result(Check("strata", "quality", None, detail, numbers), tables)
    if off:
        shown = "; ".join(
            f"{name} {row['value'][:60]}: foretold {row['predicted']:.0%}, "
            f"happened {row['base_rate']:.0%}"
            for name, row in off[:3]
        )
        detail = f"{len(off)} of {judged} strata are off by more than {SIGMAS:.0f} sigma: {shown}."
    else:
        detail = (
            f"In all {judged} strata of {LEAST_BATCHES} batches or more (causes, owners, sites, "
            "releasers) as many succeeded as foretold, within chance."
        )
    return Result(Check("strata", "quality", not off, detail, numbers), tables)


def _sigmas(row: dict[str, Any]) -> float | None:
    """How far the rate lies from the mean prediction, batches being independent of each other."""
    if row["batches"] < LEAST_BATCHES:
        return None
    predicted = min(max(row["predicted"], 0.01), 0.99)
    spread = math.sqrt(predicted * (1.0 - predicted) / row["batches"])
    return float((row["base_rate"] - row["predicted"]) / spread)


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
    """Do as many succeed as foretold? Against the error that chance alone would give.

    Consistency resampling (Bröcker and Smith, Weather and Forecasting 22, 2007): outcomes are drawn
    from the predictions, the rows of a batch with one number, so that they share their fate.
    """
    evaluation = case.evaluation
    predicted = evaluation.predictions[evaluation.chosen]
    success, weight = evaluation.labelled.success, evaluation.labelled.weight
    error = float(metrics.ece(predicted, success, weight, bins=_BINS))
    limit = _error_by_chance(evaluation, case.model.settings.seed)
    coverage = evaluation.coverage
    points = metrics.reliability(predicted, success, weight)
    rows = [
        dict(zip(("predicted", "observed", "batches", "low", "high"), map(float, row), strict=True))
        for row in zip(
            points.predicted, points.observed, points.weight, points.low, points.high, strict=True
        )
    ]
    numbers = {"ece": error, "ece_by_chance": limit, "interval_coverage": coverage}
    if weight.sum() < LEAST_BATCHES:
        detail = f"Fewer than {LEAST_BATCHES} batches to judge by."
        return Result(Check("calibration", "quality", None, detail, numbers), {"reliability": rows})
    passed = error <= limit and (coverage is None or coverage >= LEAST_COVERAGE)
    detail = (
        f"Calibration error {error:.3f}, where well-calibrated probabilities would show up to "
        f"{limit:.3f} by chance"
    )
    if coverage is not None:
        detail += f"; {coverage:.0%} of the 90 % intervals hold the rate seen later"
    return Result(
        Check("calibration", "quality", passed, detail + ".", numbers), {"reliability": rows}
    )


def _error_by_chance(evaluation: Evaluation, seed: int) -> float:
    """The calibration error that predictions which are right exceed once in a hundred times."""
    predicted = evaluation.predictions[evaluation.chosen]
    _, number = np.unique(evaluation.table["batch"].to_numpy(), return_inverse=True)
    random = np.random.default_rng(seed)
    errors = [
        metrics.ece(
            predicted,
            random.random(int(number.max()) + 1)[number] < predicted,
            evaluation.labelled.weight,
            bins=_BINS,
        )
        for _ in range(DRAWS)
    ]
    return float(np.quantile(errors, 1.0 - TAIL))
