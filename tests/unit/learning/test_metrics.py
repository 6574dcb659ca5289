from dataclasses import replace

import numpy as np
import pytest

from jobsight.errors import UsageError
from jobsight.learning import metrics
from jobsight.learning.targets import Binary

PROBABILITY = np.array([0.1, 0.4, 0.4, 0.8])
SUCCESS = np.array([False, True, False, True])
ONES = np.ones(4)


@pytest.fixture(scope="module")
def sample() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    probability = random.random(500).round(2)
    return probability, random.random(500) < probability, random.random(500)


def test_agree_with_scikit_learn(sample: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    from sklearn import metrics as reference

    p, y, w = sample
    inside = np.clip(p, 1e-6, 1 - 1e-6)
    expected = {
        "roc_auc": reference.roc_auc_score(y, p, sample_weight=w),
        "average_precision": reference.average_precision_score(y, p, sample_weight=w),
        "f1": reference.f1_score(y, p >= 0.3, sample_weight=w),
        "f1_failure": reference.f1_score(~y, p < 0.6, sample_weight=w),
        "brier": reference.brier_score_loss(y, p, sample_weight=w),
        "log_loss": reference.log_loss(y, inside, sample_weight=w),
    }
    limits = replace(Binary().calibrate(p, y, w, np.arange(len(p))), threshold=0.3)
    found = Binary().scores(p, y, w, replace(limits, threshold_failure=0.6))
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert {*expected, "ece"} == set(metrics.METRICS)


def test_curves_agree_with_scikit_learn(
    sample: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    from sklearn import metrics as reference

    p, y, w = sample
    false, true, _ = reference.roc_curve(y, p, sample_weight=w, drop_intermediate=False)
    curve = metrics.roc_curve(p, y, w)
    np.testing.assert_allclose(curve.x, false, atol=1e-12)
    np.testing.assert_allclose(curve.y, true, atol=1e-12)
    precision, recall, _ = reference.precision_recall_curve(y, p, sample_weight=w)
    curve = metrics.precision_recall_curve(p, y, w)
    np.testing.assert_allclose(curve.x[::-1], recall[:-1], atol=1e-12)
    np.testing.assert_allclose(curve.y[::-1], precision[:-1], atol=1e-12)


def test_rows_of_weights_are_scored_one_by_one(
    sample: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    p, y, _ = sample
    weights = np.random.default_rng(1).integers(0, 3, (4, 500)).astype(np.float64)
    for name in set(metrics.METRICS) - {"ece"}:
        metric = metrics.metric_named(name)
        np.testing.assert_allclose(metric(p, y, weights), [metric(p, y, row) for row in weights])
    assert metrics.ece(p, y, weights).shape == (4,)


def test_undefined_is_none() -> None:
    one = Binary().scores(PROBABILITY, np.ones(4, bool), ONES)
    assert one["roc_auc"] is None
    assert one["average_precision"] == 1.0
    none = Binary().scores(PROBABILITY, np.zeros(4, bool), ONES)
    assert none["average_precision"] is None
    empty = Binary().scores(np.zeros(0), np.zeros(0, bool), np.zeros(0))
    assert empty == dict.fromkeys(metrics.METRICS)
    assert len(metrics.roc_curve(PROBABILITY, np.ones(4, bool), ONES).x) == 0
    assert len(metrics.precision_recall_curve(PROBABILITY, np.zeros(4, bool), ONES).x) == 0


def test_calibration_error_by_hand() -> None:
    found = metrics.ece(np.array([0.2, 0.2, 0.6, 0.6]), SUCCESS, ONES, bins=2)
    assert found == pytest.approx((abs(0.5 - 0.2) + abs(0.5 - 0.6)) / 2)
    assert metrics.ece(np.full(4, 0.5), SUCCESS, ONES) == pytest.approx(0.0)


def test_best_threshold_of_success_and_of_failure() -> None:
    assert metrics.best_threshold(PROBABILITY, SUCCESS, ONES) == pytest.approx(0.25)
    heavy = np.array([1.0, 1.0, 9.0, 1.0])
    assert metrics.best_threshold(PROBABILITY, SUCCESS, heavy) == pytest.approx(0.6)
    of_failure = metrics.best_threshold(PROBABILITY, SUCCESS, heavy, of="failure")
    assert of_failure == pytest.approx(0.6)
    assert metrics.best_threshold(np.zeros(0), np.zeros(0, bool), np.zeros(0)) == 0.5
    assert metrics.best_threshold(PROBABILITY, np.zeros(4, bool), ONES) == 0.5


def test_best_threshold_is_best() -> None:
    random = np.random.default_rng(4)
    p, w = random.random(60).round(1), random.random(60)
    y = random.random(60) < p
    for of, name in (("success", "f1"), ("failure", "f1_failure")):
        best = metrics.best_threshold(p, y, w, of=of)  # type: ignore[arg-type]
        reached = metrics.metric_named(name, threshold=best)(p, y, w)
        others = (metrics.metric_named(name, threshold=t) for t in np.linspace(0, 1.05, 106))
        assert reached >= max(metric(p, y, w) for metric in others)


def test_reliability_points() -> None:
    p = np.repeat([0.25, 0.75], 50)
    y = np.tile([True, False, False, False], 25)
    points = metrics.reliability(p, y, np.ones(100), bins=2)
    assert points.predicted.tolist() == [0.25, 0.75]
    assert points.weight.tolist() == [50.0, 50.0]
    assert np.all((points.low <= points.observed) & (points.observed <= points.high))


def test_coverage_counts_bins() -> None:
    p = np.repeat([0.2, 0.8], 10)
    y = np.concatenate([np.arange(10) < 2, np.zeros(10, bool)])
    found = metrics.covered_bins(p, p - 0.1, p + 0.1, y, np.ones(20), bins=2)
    assert found.tolist() == [True, False]
    nothing = np.zeros(0)
    assert not len(metrics.covered_bins(nothing, nothing, nothing, nothing > 0, nothing))


def test_calibration_errors_of_many_outcomes_at_once(
    sample: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    p, _, w = sample
    outcomes = np.random.default_rng(1).random((3, len(p))) < p
    each = [metrics.ece(p, row, w) for row in outcomes]
    np.testing.assert_allclose(metrics.ece(p, outcomes, w), each)


def test_an_unknown_metric_lists_the_known() -> None:
    with pytest.raises(UsageError, match="'auc'; known are roc_auc"):
        metrics.metric_named("auc")
