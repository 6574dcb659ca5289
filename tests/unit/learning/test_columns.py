"""Metrics of targets of several columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score, roc_auc_score

from jobsight.errors import UsageError
from jobsight.learning.targets import Classes, Quantiles

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


SPAN = Quantiles("s", log=True)


def test_spans_are_judged_by_factors() -> None:
    values = np.log([100.0, 100.0, 100.0, 100.0])
    median = np.log([100.0, 190.0, 290.0, 1000.0])
    predicted = np.stack([median - 1, median, median + 1], axis=1)
    found = SPAN.scores(predicted, values, np.ones(4))
    off = np.log10([1, 1.9, 2.9, 10])
    assert found["log10_mse"] == pytest.approx(np.mean(off**2))
    assert (found["within_2"], found["within_3"], found["coverage_80"]) == (0.5, 0.75, 0.5)
    below, above = 0.5 * np.log([1, 1.9, 2.9, 10]), np.log([1, 1.9, 2.9, 10])
    outer = 0.1 * (above + 1) + np.maximum(0.9 * (above - 1), 0.1 * (1 - above))
    assert found["pinball"] == pytest.approx(np.mean(below + outer) / 3)


def test_numbers_that_are_not_spans_have_no_factors() -> None:
    assert "within_2" not in Quantiles("MB").metrics
    with pytest.raises(UsageError, match="within_2"):
        Quantiles("MB").metric("within_2")


def test_rows_of_few_batches_widen_more_than_as_many_of_their_own() -> None:
    """Rows of one batch say the same: the outer levels hold 80 % after twelve such draws too."""
    random = np.random.default_rng(0)
    batch, one = np.repeat(np.arange(12), 50), np.ones(600)
    said = np.zeros((600, 3))
    held, alone = [], []
    for _ in range(300):
        values = random.normal(size=12)[batch]
        few = SPAN.calibrate(said, values, one, batch)
        held.append(np.mean(np.abs(random.normal(size=1000)) <= few.offset))
        alone.append(SPAN.calibrate(said, values, one, np.arange(600)).offset < few.offset)
    assert 0.8 <= np.mean(held) < 0.88
    assert np.mean(alone) > 0.5


def test_one_batch_says_little_of_others_but_something() -> None:
    values = np.linspace(0.0, 1.0, 101)
    fitted = SPAN.calibrate(np.zeros((101, 3)), values, np.ones(101), np.zeros(101, np.int64))
    assert fitted.offset == pytest.approx(0.9)
