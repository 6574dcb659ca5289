"""The seed's recipe on its own terms and on ours: where "near-perfect" comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.errors import TrainingError
from jobsight.learning import metrics
from jobsight.learning.bootstrap import Bootstrap, Interval
from jobsight.learning.splits import PARTS
from jobsight.models.base import Floats, Labelled
from jobsight.questions.hold.audit.checks import (
    OTHER_LOGS,
    Case,
    Check,
    Result,
    grade_of,
    power,
    worse,
)
from jobsight.questions.hold.training.dataset import Dataset
from jobsight.questions.hold.training.model import Fitted
from jobsight.questions.hold.training.recipes import recipe_named
from jobsight.questions.hold.training.seed_recipe import frames_only, whole_life
from jobsight.questions.hold.training.train import fit_calibrated

__all__ = ["check_seed_recipe"]

_SEED = "lstm"

_OUR_TERMS = "our terms"
_OWN = "frames until the job has left the queue, jobs split by chance"
_HOLD = "the same, with frames that end at the first hold"
_OURS = "its network, taught and tested on our releases, outcomes and parts"
_WORK = "taught on its own terms until our test began, then asked at the releases of our test part"


class _Row(NamedTuple):
    """One way to put the question, and how the seed's model does at it."""

    terms: str
    explained: str
    test: Labelled
    predicted: Floats
    threshold: float


def check_seed_recipe(case: Case) -> Result:
    """Score the seed's recipe four ways, each taking one more thing away that nobody can know."""
    if not case.own:
        return Result(Check("seed_recipe", "quality", None, OTHER_LOGS.capitalize() + "."))
    try:
        asked = list(_rows(case))
    except TrainingError as error:
        detail = f"The seed's recipe cannot be trained on these logs: {error}."
        return Result(Check("seed_recipe", "quality", None, detail))
    rows, difference = [_scored(row) for row in asked], None
    if case.model.settings.recipe == "jobsight":
        rows.append(_our_own(case))
        difference = _against_seed(case, next(row for row in asked if row.terms == _OUR_TERMS))
    return Result(_check(rows, difference), {"seed_recipe": rows})


def _rows(case: Case) -> Iterator[_Row]:
    ours = case.data
    settings = recipe_named("seed").settings(ours.settings)
    seed = Dataset.for_training(ours.history, settings)
    parts = [seed.table.filter(pl.Series(seed.usable(seed.part(name)))) for name in PARTS]
    life = [seed.examples(whole_life(part))[1] for part in parts]
    fitted = fit_calibrated(_SEED, seed, *life[:3])
    yield _row("its own terms", _OWN, fitted, life[3])
    *earlier, test = [seed.examples(part)[1] for part in parts]
    yield _row("as of the hold", _HOLD, fit_calibrated(_SEED, seed, *earlier), test)
    if case.model.settings.recipe == "seed":
        return
    *mine, test = [_frames(case.parts[name][1]) for name in PARTS]
    fitted = fit_calibrated(_SEED, replace(ours, settings=settings), *mine)
    yield _row(_OUR_TERMS, _OURS, fitted, test)
    before = _known_before(seed, int(case.model.borders[3]))
    if before is not None:
        yield _row("put to work", _WORK, fit_calibrated(_SEED, seed, *before), test)


def _row(terms: str, explained: str, fitted: Fitted, test: Labelled) -> _Row:
    return _Row(terms, explained, test, fitted.predict(test.inputs), fitted.threshold)


def _frames(labelled: Labelled) -> Labelled:
    return replace(labelled, inputs=frames_only(labelled.inputs))


def _known_before(seed: Dataset, border: int) -> list[Labelled] | None:
    """Train, select and calibrate of the jobs that had left the queue before `border`."""
    known = seed.table.filter(pl.col("outcome").is_not_null(), pl.col("resolved_time") < border)
    part = known["part"].to_numpy()
    life = seed.examples(whole_life(known))[1]
    shares: list[NDArray[np.bool_]] = [(part == 0) | (part == 3), part == 1, part == 2]
    parts = [life.take(rows) for rows in shares]
    return parts if all(len(np.unique(one.success)) == 2 for one in parts) else None


def _scored(row: _Row) -> dict[str, Any]:
    return {"terms": row.terms, "explained": row.explained} | _numbers(
        row.predicted, row.test, row.threshold
    )


def _numbers(predicted: Floats, test: Labelled, threshold: float) -> dict[str, Any]:
    scores = metrics.score(predicted, test.success, test.weight, threshold=threshold)
    right = (predicted >= 0.5) == test.success
    return {
        "examples": len(test),
        "base_rate": float(np.average(test.success, weights=test.weight)),
        "accuracy": float(np.average(right, weights=test.weight)),
        "roc_auc": scores.roc_auc,
        "f1": scores.f1,
        "brier": scores.brier,
        "log_loss": scores.log_loss,
    }


def _our_own(case: Case) -> dict[str, Any]:
    _, test = case.test
    chosen = case.model.chosen
    numbers = _numbers(case.evaluation.predictions[chosen], test, case.model.answering.threshold)
    return {"terms": "our model", "explained": f"{chosen}, on our terms"} | numbers


def _against_seed(case: Case, seed: _Row) -> Interval:
    """Log loss of the model that answers less that of the seed's, on the same decisions."""
    table, test = case.test
    settings = case.model.settings
    bootstrap = Bootstrap(
        test.success, test.weight, table["batch"].to_numpy(), settings.bootstrap, settings.seed
    )
    pair = {"ours": case.evaluation.predictions[case.model.chosen], "seed": seed.predicted}
    return bootstrap.differences(metrics.log_loss, pair, "seed")["ours"]


def _check(rows: list[dict[str, Any]], difference: Interval | None) -> Check:
    by_terms = {row["terms"]: row for row in rows}
    shown = "; ".join(
        f"{row['terms']} {_show(row['accuracy'])} and {_show(row['roc_auc'])}" for row in rows
    )
    detail = f"The seed's network, accuracy and ROC AUC: {shown}."
    own, hold = by_terms["its own terms"], by_terms["as of the hold"]
    if (own["roc_auc"] or 0.0) - (hold["roc_auc"] or 0.0) > 0.05:
        detail += " Most of its own score comes from frames that hold the job's end."
    numbers: dict[str, Any] = {
        row["terms"]: {"accuracy": row["accuracy"], "roc_auc": row["roc_auc"]} for row in rows
    }
    compared = None if difference is None else worse(difference)
    if difference is None or compared is None:
        return Check("seed_recipe", "quality", None, detail, numbers)
    p_value, found = compared
    detail += f" Our log loss less that of its network on our terms: {difference.value:+.3f}."
    numbers |= {"p_value": p_value, "detectable": found}
    fault = power(f"a log loss higher by {found:.2f}")
    return Check("seed_recipe", "quality", grade_of(p_value), detail, numbers, fault)


def _show(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
