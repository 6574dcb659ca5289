from typing import Any

import numpy as np
import pytest

from jobsight.learning.bootstrap import Bootstrap, Simulation, p_value
from jobsight.learning.metrics import brier, ece, log_loss, roc_auc


def pool(rows: int = 400, copies: int = 1) -> tuple[Bootstrap, np.ndarray]:
    random = np.random.default_rng(0)
    probability = random.random(rows)
    success = random.random(rows) < probability
    batch = np.arange(rows, dtype=np.int64)
    weight = np.full(rows * copies, 1.0 / copies)
    bootstrap = Bootstrap(np.repeat(success, copies), weight, np.repeat(batch, copies), 500)
    return bootstrap, np.repeat(probability, copies)


def test_width_agrees_with_the_normal_theory() -> None:
    bootstrap, probability = pool()
    found = bootstrap.interval(brier, probability)
    each = (probability - bootstrap.values) ** 2
    assert found.value == pytest.approx(each.mean())
    assert found.low is not None
    assert found.high is not None
    width = 2 * 1.96 * each.std() / np.sqrt(len(each))
    assert found.high - found.low == pytest.approx(width, rel=0.15)


def test_copies_within_a_batch_add_no_certainty() -> None:
    once, probability = pool()
    often, copied = pool(copies=5)
    one, many = once.interval(brier, probability), often.interval(brier, copied)
    assert (many.value, many.low, many.high) == pytest.approx((one.value, one.low, one.high))


def test_differences_are_paired() -> None:
    bootstrap, probability = pool()
    worse = np.clip(probability + 0.02, 0, 1)
    predictions = {"model": probability, "same": probability.copy(), "worse": worse}
    found = bootstrap.differences(log_loss, predictions, "model")
    assert set(found) == {"same", "worse"}
    assert (found["same"].low, found["same"].high) == (0.0, 0.0)
    plain = bootstrap.interval(log_loss, probability)
    worst = found["worse"]
    assert None not in (worst.low, worst.high, plain.low, plain.high)
    assert worst.high - worst.low < (plain.high - plain.low) / 2  # type: ignore[operator]


def test_undefined_is_none() -> None:
    one = Bootstrap(np.ones(5, bool), np.ones(5), np.arange(5), 100)
    assert one.interval(roc_auc, np.ones(5)).value is None
    nothing = Bootstrap(np.zeros(0, bool), np.zeros(0), np.zeros(0, np.int64), 100)
    assert nothing.interval(brier, np.zeros(0)).value is None
    rare = Bootstrap(np.array([True, False, False]), np.ones(3), np.array([0, 1, 1]), 100, seed=3)
    found = rare.intervals(roc_auc, {"m": np.array([0.9, 0.1, 0.2])})["m"]
    assert found.value == 1.0


def test_predictions_that_are_right_are_seldom_rejected() -> None:
    random = np.random.default_rng(2)
    batch = np.repeat(np.arange(60), 3)
    weight = np.full(180, 1 / 3)
    rejected = []
    for seed in range(200):
        probability = random.random(60)[batch]
        success = random.random(60)[batch] < probability

        def error(outcomes: np.ndarray, told: np.ndarray = probability) -> Any:
            return ece(told, outcomes, weight)

        draws = Simulation(batch, 400, seed).of(error, probability)
        rejected.append(p_value(draws, error(success)) <= 0.1)
    assert 0.04 < np.mean(rejected) < 0.17


def test_rows_of_a_batch_share_their_fate_in_a_simulation() -> None:
    batch = np.array([5, 5, 5, 2])
    drawn = Simulation(batch, 300).of(lambda y: y.astype(float), np.full(4, 0.3))
    assert drawn.shape == (300, 4)
    assert set(drawn[:, :3].sum(axis=1)) == {0.0, 3.0}
    assert drawn[:, 0].mean() == pytest.approx(0.3, abs=0.08)
    again = Simulation(batch, 300).of(lambda y: y.astype(float), np.full(4, 0.3))
    np.testing.assert_array_equal(drawn, again)


def test_the_smallest_gap_found_agrees_with_the_normal_theory() -> None:
    part = np.repeat([0, 1, 2], [400, 40, 1])
    batch, probability = np.arange(441), np.full(441, 0.3)
    member = np.eye(3)[part]

    def missed(success: np.ndarray) -> Any:
        return np.abs((success - probability) @ member)

    limit = 1.96 * np.sqrt(0.21 * np.array([400, 40, 1]))
    found = Simulation(batch, 2000).detectable(missed, probability, np.ones(441), limit, part)
    theory = (1.96 + 0.84) * np.sqrt(0.21 / np.array([400, 40]))
    np.testing.assert_allclose(found[:2], theory, rtol=0.12)
    assert np.isnan(found[2])  # no gap shows in one batch
