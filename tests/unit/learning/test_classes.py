"""Metrics of a target with kinds, against scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score, roc_auc_score

from jobsight.learning.targets import Classes

GOAL = Classes(("a", "b", "c", "d"))


@given(st.integers(0, 10_000), st.integers(1, 40))
def test_macro_f1_is_that_of_scikit_learn(seed: int, rows: int) -> None:
    random = np.random.default_rng(seed)
    predicted = random.dirichlet(np.ones(4), rows)
    values = random.integers(0, 3, rows)  # the last kind never comes
    weight = np.stack([np.ones(rows), random.random(rows) + 0.1])
    found = GOAL.metric("macro_f1")(predicted, values, weight)
    wanted = [
        f1_score(values, predicted.argmax(axis=1), sample_weight=one, average="macro")
        for one in weight
    ]
    assert found == pytest.approx(wanted)


def test_each_kind_is_counted_and_ranked_against_the_rest() -> None:
    random = np.random.default_rng(1)
    values = random.integers(0, 3, 60)
    predicted = random.dirichlet(np.ones(4), 60) + np.eye(4)[values] * 0.3
    assert GOAL.counts(values) == {
        **{kind: int((values == k).sum()) for k, kind in enumerate("abc")},
        "d": 0,
    }
    found = GOAL.rankings(predicted, values, np.ones(60))
    assert found[:3] == pytest.approx(
        [roc_auc_score(values == k, predicted[:, k]) for k in range(3)]
    )
    assert np.isnan(found[3])
    assert GOAL.ranking(predicted, values, np.ones(60)) == pytest.approx(np.mean(found[:3]))


def test_calibration_never_sharpens() -> None:
    """The part to calibrate by may be full of one kind that is rare before and after."""
    predicted = np.tile([0.6, 0.2, 0.1, 0.1], (200, 1))
    one, each = np.ones(200), np.arange(200)
    drifted = GOAL.calibrate(predicted, np.zeros(200, np.int64), one, each)
    assert np.allclose(drifted.apply(predicted), predicted)
    even = GOAL.calibrate(predicted, np.arange(200) % 4, one, each)
    assert even.apply(predicted).max() < 0.5


def test_without_rows_nothing_is_defined() -> None:
    assert GOAL.scores(np.zeros((0, 4)), np.zeros(0, np.int64), np.zeros(0))["macro_f1"] is None
