from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.support import pools
from tests.support.hold_models import constant_model

from jobsight.errors import ModelError, TrainingError
from jobsight.learning.bootstrap import Interval
from jobsight.learning.comparison import Comparison, compare
from jobsight.learning.dataset import Dataset
from jobsight.learning.evaluation import evaluate
from jobsight.learning.modeldir import ModelDir
from jobsight.learning.targets import Binary
from jobsight.questions.hold.question import HOLD


def answered_by(name: str) -> ModelDir:
    # Another test may have saved it, and so given it a digest.
    model = pools.trained().model
    targets = {"outcome": replace(model.main, chosen=name)}
    return replace(model, targets=targets, manifest=None)


def test_both_are_judged_on_what_evaluation_judges_each_by() -> None:
    model = pools.trained().model
    found = compare(answered_by("constant"), answered_by("boosted"), pools.grown())
    data = Dataset.for_judging(pools.grown(), model)
    alone = evaluate(model.main, data, *data.unseen_by(model))
    assert (found.examples, found.batches) == (len(alone.table), alone.batches)
    labelled = alone.labelled
    assert found.base_rate == alone.goal.mean(labelled.values, labelled.weight)
    for name in ("constant", "boosted", "rates"):
        by_chance = {"ece_by_chance": alone.scores[name]["ece_by_chance"]}
        assert found.scores[name] | by_chance == alone.scores[name]
    assert found.since >= model.borders[1]


def test_a_difference_has_the_sign_of_the_second_and_its_mirror() -> None:
    worse, better = answered_by("constant"), answered_by("boosted")
    found = compare(worse, better, pools.grown())
    mirror = compare(better, worse, pools.grown())
    assert found.difference.value is not None
    assert mirror.difference.value == pytest.approx(-found.difference.value)
    assert mirror.difference.low == pytest.approx(-(found.difference.high or 0))
    assert found.better
    assert not mirror.better
    assert "boosted is surely better than constant: log_loss differs by -" in found.verdict
    assert found.to_json()["better"] is True


@pytest.mark.parametrize("metric", ["roc_auc", "f1", "f1_failure", "brier"])
def test_other_metrics_decide_too(metric: str) -> None:
    found = compare(answered_by("constant"), answered_by("boosted"), pools.grown(), metric=metric)
    scores = {name: found.scores[name][metric] or 0.0 for name in ("constant", "boosted")}
    assert found.difference.value == pytest.approx(scores["boosted"] - scores["constant"])


@pytest.mark.parametrize(
    ("metric", "low", "high", "batches", "better"),
    [
        ("log_loss", -0.2, -0.1, 50, True),
        ("log_loss", -0.2, 0.0, 50, False),
        ("log_loss", 0.1, 0.2, 50, False),
        ("log_loss", -0.2, -0.1, 4, False),
        ("f1", 0.1, 0.2, 50, True),
        ("f1", -0.2, -0.1, 50, False),
        ("f1", None, None, 50, False),
    ],
)
def test_surely_better_is_the_whole_interval_and_enough_batches(
    metric: str, low: float | None, high: float | None, batches: int, better: bool
) -> None:
    difference = Interval(None if low is None else 0.0, low, high)
    higher = metric in Binary.higher
    found = Comparison(
        "a", "b", 90, batches, 0.5, 0, 1, {}, metric, higher, difference, {}, HOLD.words
    )
    assert found.better is better
    assert ("undefined" in found.verdict) is (low is None)


def test_nothing_later_than_both_is_one_error() -> None:
    late = replace(pools.trained().model, borders=np.full(3, 2**60, np.int64))
    with pytest.raises(TrainingError, match="later than what both models were trained on"):
        compare(pools.trained().model, late, pools.history())


@pytest.mark.parametrize(
    "changed", [{"success": "terminated"}, {"as_of": "hold"}, {"removed_by_user": "failure"}]
)
def test_models_that_answer_something_else_are_not_compared(changed: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match=f"hold.{next(iter(changed))}"):
        compare(constant_model(0.5), constant_model(0.5, **changed), pools.history())
