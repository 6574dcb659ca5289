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
