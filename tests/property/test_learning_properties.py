"""What holds for all inputs: metrics, calibration, intervals and splits."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.limits import examples

from jobsight.learning import metrics
from jobsight.learning.dataset import part_borders, split_forward
from jobsight.models.calibration import KINDS, Calibration, Intervals, choose_calibration

Sample = tuple[np.ndarray, np.ndarray, np.ndarray]


@st.composite
def samples(draw: Any, most: int = 40) -> Sample:
    rows = draw(st.integers(1, most))
    probability = draw(st.lists(st.integers(0, 20), min_size=rows, max_size=rows))
    success = draw(st.lists(st.booleans(), min_size=rows, max_size=rows))
    weight = draw(st.lists(st.sampled_from([0.25, 0.5, 1.0]), min_size=rows, max_size=rows))
    return np.array(probability) / 20, np.array(success), np.array(weight)


@settings(deadline=None)
@given(samples())
def test_weighted_area_is_the_share_of_pairs_ranked_right(sample: Sample) -> None:
    p, y, w = sample
    above = (p[:, None] > p[None, :]) + 0.5 * (p[:, None] == p[None, :])
    pairs = np.outer(w * y, w * ~y)
    found = metrics.roc_auc(p, y, w)
    if pairs.sum() == 0:
        assert np.isnan(found)
    else:
        assert np.isclose(found, (pairs * above).sum() / pairs.sum())


@settings(deadline=None)
@given(samples())
def test_ranking_metrics_do_not_change_under_rising_maps(sample: Sample) -> None:
    p, y, w = sample
    risen = np.exp(3 * p) / 100
    for metric in (metrics.roc_auc, metrics.average_precision):
        np.testing.assert_allclose(metric(p, y, w), metric(risen, y, w))


@settings(deadline=None)
@given(samples())
def test_a_weight_is_as_many_copies(sample: Sample) -> None:
    p, y, w = sample
    copies = (w * 4).astype(np.int64)
    often, won = np.repeat(p, copies), np.repeat(y, copies)
    ones = np.ones(int(copies.sum()))
    for name in metrics.METRICS:
        metric = metrics.metric_named(name)
        if name != "ece":
            np.testing.assert_allclose(metric(p, y, w), metric(often, won, ones))


@settings(deadline=None)
@given(samples())
def test_calibration_error_is_bounded_and_zero_for_the_base_rate(sample: Sample) -> None:
    p, y, w = sample
    assert 0.0 <= metrics.ece(p, y, w) <= 1.0 + 1e-12
    rate = np.full(len(p), (w * y).sum() / w.sum())
    assert np.isclose(metrics.ece(rate, y, w), 0.0)


@settings(max_examples=examples(60))
@given(samples(60), st.sampled_from(KINDS))
def test_calibration_rises_and_is_never_certain(sample: Sample, kind: Any) -> None:
    p, y, w = sample
    grid = np.linspace(0.0, 1.0, 101)
    for fitted in (Calibration.fit(kind, p, y, w), choose_calibration(p, y, w)):
        mapped = fitted.apply(grid)
        assert np.all(np.diff(mapped) >= -1e-12)
        least = min(1.0 / (w.sum() + 2.0), 0.25)
        assert mapped.min() >= least - 1e-12
        assert mapped.max() <= 1.0 - least + 1e-12


@settings(max_examples=examples(60))
@given(samples())
def test_intervals_hold_their_prediction(sample: Sample) -> None:
    p, y, w = sample
    grid = np.linspace(0.0, 1.0, 57)
    low, high = Intervals.fit(p, y, w).of(grid)
    assert np.all((low >= 0) & (low <= grid) & (grid <= high) & (high <= 1))


@st.composite
def histories(draw: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rows = draw(st.integers(1, 60))

    def column(most: int) -> np.ndarray:
        values = st.lists(st.integers(0, most), min_size=rows, max_size=rows)
        return np.array(draw(values), dtype=np.int64)

    time = np.sort(column(1000))
    return time, column(20), column(20), time + column(300)


@settings(deadline=None)
@given(histories(), st.integers(0, 100))
def test_no_part_knows_of_a_later_one(
    history: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], horizon: int
) -> None:
    time, batch, group, resolved = history
    borders = part_borders(time, batch, (0.8, 0.2), end=1000)
    split = split_forward(time, batch, group, resolved, borders=borders, horizon=horizon)
    assert np.all(np.diff(borders) >= 0)
    assert np.array_equal(split.part == -1, split.dropped > 0)
    for part in range(2):
        mine = split.part == part
        later = time >= borders[part + 1]
        assert np.all(time[mine] >= borders[part])
        assert part < 1 or np.all(time[mine] <= borders[part + 1] - horizon)
        assert np.all(resolved[mine] < borders[part + 1])
        for label in (batch, group):
            assert not set(label[mine].tolist()) & set(label[later].tolist())
