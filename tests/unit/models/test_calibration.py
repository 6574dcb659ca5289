import numpy as np
import pytest

from jobsight.learning.metrics import covered_bins
from jobsight.models.calibration import (
    KINDS,
    Calibration,
    Intervals,
    Kind,
    choose_calibration,
    cross_validated,
)
from jobsight.models.logistic import sigmoid


def sample(rows: int, seed: int = 0, slope: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Predictions whose true log-odds are `slope` times as large."""
    random = np.random.default_rng(seed)
    margin = random.normal(scale=2.0, size=rows)
    return sigmoid(margin), random.random(rows) < sigmoid(slope * margin)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_overconfidence_is_mended(kind: str) -> None:
    probability, success = sample(2000, slope=0.3)
    fitted = Calibration.fit(kind, probability, success, np.ones(2000))  # type: ignore[arg-type]
    later, outcome = sample(4000, seed=1, slope=0.3)
    mapped = fitted.apply(later)
    for low, high in ((0.0, 0.4), (0.4, 0.6), (0.6, 1.0)):
        inside = (mapped >= low) & (mapped < high)
        assert abs(mapped[inside].mean() - outcome[inside].mean()) < 0.06


def test_a_ranking_upside_down_is_flattened_not_turned() -> None:
    probability, success = sample(500)
    for kind in ("platt", "beta"):
        fitted = Calibration.fit(kind, probability, ~success, np.ones(500))
        mapped = fitted.apply(np.array([0.1, 0.5, 0.9]))
        assert mapped[0] < mapped[1] < mapped[2]
        assert mapped[2] - mapped[0] < 0.1


def test_few_batches_are_left_alone() -> None:
    probability, success = sample(12)
    assert choose_calibration(probability, success, np.ones(12)).kind == "identity"
    assert choose_calibration(probability[:0], success[:0], np.ones(0)).kind == "identity"
    many, outcome = sample(600)
    assert choose_calibration(many, outcome, np.full(600, 0.02)).kind == "identity"


def test_one_class_is_left_alone() -> None:
    probability, _ = sample(300)
    assert choose_calibration(probability, np.ones(300, bool), np.ones(300)).kind == "identity"


def test_the_choice_follows_the_data() -> None:
    good, outcome = sample(400)
    bad, other = sample(400, slope=0.2)
    assert choose_calibration(bad, other, np.ones(400)).kind != "identity"
    chosen = choose_calibration(good, outcome, np.ones(400))
    assert np.abs(chosen.apply(good) - good).mean() < 0.06


def test_data_of_something_else_is_refused() -> None:
    for bad in ({"kind": "x"}, {"kind": "platt", "parameters": [1.0], "bound": 0.1}):
        with pytest.raises(ValueError, match="calibration"):
            Calibration.from_json(bad)
    with pytest.raises(ValueError, match="201 points"):
        Intervals.from_json({"low": [0.0], "high": [1.0], "spread": 1.0, "batches": 1.0})


@pytest.mark.parametrize("kind", KINDS)
def test_cross_validated_values_do_not_rest_on_their_own_outcomes(kind: Kind) -> None:
    probability, success = sample(300)
    weight = np.ones(300)
    before = cross_validated(kind, probability, success, weight)
    turned = success.copy()
    turned[:60] = ~turned[:60]  # the first of five folds
    after = cross_validated(kind, probability, turned, weight)
    assert np.array_equal(before[:60], after[:60])
    assert (kind == "identity") == np.array_equal(before, after)
    assert cross_validated(kind, probability[:0], success[:0], weight[:0]).shape == (0,)


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
