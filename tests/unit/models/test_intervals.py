import numpy as np
import pytest

from jobsight.learning.metrics import covered_bins
from jobsight.models.calibration import Intervals
from jobsight.models.logistic import sigmoid


def pool(
    random: np.random.Generator, batches: int, outages: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Batches of 1–6 rows sharing a fate; whole stretches of 10 batches shift together."""
    stretch = np.repeat(random.normal(scale=outages, size=batches // 10 + 1), 10)[:batches]
    margin = random.normal(scale=1.5, size=batches)
    fate = random.random(batches) < sigmoid(margin + stretch)
    sizes = random.integers(1, 7, batches)
    row = np.repeat(np.arange(batches), sizes)
    return sigmoid(margin)[row], fate[row], (1.0 / sizes)[row]


@pytest.mark.parametrize("outages", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("batches", [100, 400])
def test_ninety_of_a_hundred_later_bins_are_covered(batches: int, outages: float) -> None:
    random = np.random.default_rng(batches)
    covered = []
    for _ in range(40):
        intervals = Intervals.fit(*pool(random, batches, outages))
        probability, success, weight = pool(random, batches, outages)
        low, high = intervals.of(probability)
        covered.append(covered_bins(probability, low, high, success, weight, bins=5).mean())
    assert np.mean(covered) >= 0.9


def test_more_batches_give_narrower_intervals() -> None:
    random = np.random.default_rng(0)
    widths = []
    for batches in (0, 30, 300, 3000):
        low, high = Intervals.fit(*pool(random, batches, 0.0)).of(np.array([0.5]))
        widths.append(float(high[0] - low[0]))
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 0.7
    assert widths[-1] < 0.2


def test_certain_failure_is_told_apart_by_a_few_dozen_batches() -> None:
    probability = np.full(60, 0.02)
    intervals = Intervals.fit(probability, np.zeros(60, bool), np.ones(60))
    low, high = intervals.of(np.array([0.02, 0.9]))
    assert high[0] < 0.15
    assert low[1] < 0.4 < 0.9 < high[1]


def test_the_prediction_lies_inside() -> None:
    random = np.random.default_rng(1)
    intervals = Intervals.fit(*pool(random, 200, 0.5))
    probability = np.linspace(0.0, 1.0, 50)
    low, high = intervals.of(probability)
    assert np.all((low <= probability) & (probability <= high) & (low >= 0) & (high <= 1))


def test_plain_data_and_back() -> None:
    intervals = Intervals.fit(*pool(np.random.default_rng(2), 50, 0.0))
    again = Intervals.from_json(intervals.to_json())
    assert np.array_equal(again.low, intervals.low)
    with pytest.raises(ValueError, match="201 points"):
        Intervals.from_json({"low": [0.0], "high": [1.0], "spread": 1.0, "batches": 1.0})
