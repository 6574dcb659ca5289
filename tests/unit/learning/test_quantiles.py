"""Metrics of a target with quantiles of a span."""

import numpy as np
import pytest

from jobsight.errors import UsageError
from jobsight.learning.targets import Quantiles

GOAL = Quantiles("s", log=True)


def test_spans_are_judged_by_factors() -> None:
    values = np.log([100.0, 100.0, 100.0, 100.0])
    median = np.log([100.0, 190.0, 290.0, 1000.0])
    predicted = np.stack([median - 1, median, median + 1], axis=1)
    found = GOAL.scores(predicted, values, np.ones(4))
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
        few = GOAL.calibrate(said, values, one, batch)
        held.append(np.mean(np.abs(random.normal(size=1000)) <= few.offset))
        alone.append(GOAL.calibrate(said, values, one, np.arange(600)).offset < few.offset)
    assert 0.8 <= np.mean(held) < 0.88
    assert np.mean(alone) > 0.5


def test_one_batch_says_little_of_others_but_something() -> None:
    values = np.linspace(0.0, 1.0, 101)
    fitted = GOAL.calibrate(np.zeros((101, 3)), values, np.ones(101), np.zeros(101, np.int64))
    assert fitted.offset == pytest.approx(0.9)
