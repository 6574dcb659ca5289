"""Which parameters tell of the metric, and which only seem to."""

import numpy as np
import pytest

from jobsight.reports.sweep.importance import contrast, importance, ranks
from jobsight.reports.sweep.scales import column


def test_ties_share_their_rank() -> None:
    assert ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [2.5, 0.0, 2.5, 1.0]


def test_what_decides_is_told_from_noise() -> None:
    draw = np.random.default_rng(1)
    decisive, noise = draw.uniform(0, 1, 200), draw.uniform(0, 1, 200)
    metric = -((decisive - 0.3) ** 2) + 0.01 * draw.normal(size=200)
    places = np.arange(200)
    found = importance(column("a", list(decisive)), places, metric, maximize=True)
    other = importance(column("b", list(noise)), places, metric, maximize=True)
    assert found.share is not None
    assert found.share > 0.8
    assert found.sure
    assert other.share is not None
    assert other.share < 0.1
    assert not other.sure


@pytest.mark.parametrize("maximize", [True, False])
def test_the_direction_is_that_of_better(maximize: bool) -> None:
    values = [float(k) for k in range(40)]
    metric = np.arange(40.0) * (1 if maximize else -1)
    found = importance(column("a", values), np.arange(40), metric, maximize=maximize)
    assert found.correlation == pytest.approx(1.0)


def test_categories_without_order_have_no_direction() -> None:
    values = ["x", "y"] * 20
    metric = np.array([0.0, 1.0] * 20) + np.arange(40) / 1000
    found = importance(column("a", values), np.arange(40), metric, maximize=True)
    assert found.correlation is None
    assert found.sure
    assert found.share is not None
    assert found.share > 0.7


@pytest.mark.parametrize(
    ("values", "metric"),
    [([1.0] * 40, np.arange(40.0)), (list(range(40)), np.ones(40)), ([1.0, 2.0], np.arange(2.0))],
)
def test_nothing_is_told_of_constants_and_few_runs(values: list[float], metric: np.ndarray) -> None:
    found = importance(column("a", values), np.arange(len(values)), metric, maximize=True)
    assert found.share is None
    assert not found.sure


def test_runs_of_one_kind_are_set_apart_by_what_differs_most() -> None:
    rate = column("rate", [0.001 * (k + 1) for k in range(20)] + [0.5] * 5)
    noise = column("noise", [float(k % 7) for k in range(25)])
    found = contrast((noise, rate), np.arange(20, 25), np.arange(20))
    assert found == (1.0, "rate: 0.5; others 0.002 to 0.019")


def test_runs_are_set_apart_by_categories_too() -> None:
    kind = column("kind", ["a"] * 20 + ["b"] * 5)
    found = contrast((kind,), np.arange(20, 25), np.arange(20))
    assert found == (1.0, "kind: b in 100%; others b in 0%")


def test_one_run_is_set_apart_by_nothing() -> None:
    rate = column("rate", [1.0, 2.0, 3.0])
    assert contrast((rate,), np.arange(1), np.arange(1, 3)) == (0.5, "")
