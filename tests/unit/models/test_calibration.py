import numpy as np
import pytest

from jobsight.models.calibration import (
    KINDS,
    Calibration,
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


@pytest.mark.parametrize("kind", KINDS)
def test_certainty_is_bounded_by_the_number_of_batches(kind: str) -> None:
    probability = np.repeat([0.0, 1.0], 20)
    fitted = Calibration.fit(kind, probability, probability > 0.5, np.ones(40))  # type: ignore[arg-type]
    mapped = fitted.apply(np.array([0.0, 0.5, 1.0]))
    assert mapped.min() >= 1 / 42
    assert mapped.max() <= 1 - 1 / 42


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


def test_plain_data_and_back() -> None:
    probability, success = sample(300)
    for kind in KINDS:
        fitted = Calibration.fit(kind, probability, success, np.ones(300))
        assert Calibration.from_json(fitted.to_json()) == fitted
    for bad in ({"kind": "x"}, {"kind": "platt", "parameters": [1.0], "bound": 0.1}):
        with pytest.raises(ValueError, match="calibration"):
            Calibration.from_json(bad)


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
