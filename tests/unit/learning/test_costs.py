import numpy as np
import pytest

from jobsight.learning.bootstrap import Bootstrap
from jobsight.learning.costs import (
    cheapest_baseline,
    decision_costs,
    expected_gain,
    release_threshold,
)
from jobsight.settings import Costs

COSTS = Costs(wasted_run=1.0, lost_job=4.0)
SUCCESS = np.array([True, True, False, False])
WEIGHT = np.array([1.0, 0.5, 0.5, 2.0])
DRAWN = Bootstrap(SUCCESS, WEIGHT, np.array([0, 1, 2, 3]), 200)


def test_the_threshold_is_where_gain_is_zero() -> None:
    limit = release_threshold(COSTS)
    assert limit == 0.2
    gain = expected_gain(np.array([limit, 1.0, 0.0]), COSTS)
    assert gain == pytest.approx([0.0, 4.0, -1.0])
    waited = expected_gain(np.array([1.0]), COSTS, delay_hours=2.0, delay_per_hour=0.5)
    assert waited == pytest.approx([3.0])


def test_costs_by_hand() -> None:
    models = {"boosted": np.array([0.9, 0.9, 0.1, 0.1]), "rules:x": np.full(4, 0.9)}
    rules = {"rules:x": np.array([False, True, True, False])}
    found = decision_costs(models, rules, DRAWN, COSTS)
    assert set(found) == {"boosted", "rules:x", "always_release"}
    assert found["always_release"].cost == pytest.approx(2.5 / 4)
    assert found["boosted"].cost == 0.0
    assert cheapest_baseline(found) == "always_release"
    assert found["boosted"].against_baseline.value == pytest.approx(-2.5 / 4)
    assert found["always_release"].against_baseline.value == 0.0
    assert found["rules:x"].cost == pytest.approx((0.5 * 1 + 1.0 * 4) / 4)
    assert found["rules:x"].released == pytest.approx(1.0 / 4)
    assert found["rules:x"].lost == pytest.approx(1.0 / 4)


def test_no_rows_cost_nothing() -> None:
    nothing = Bootstrap(np.zeros(0, bool), np.zeros(0), np.zeros(0, np.int64))
    assert decision_costs({}, {}, nothing, COSTS) == {}


def test_costs_have_intervals_over_batches() -> None:
    random = np.random.default_rng(0)
    rate = random.random(300)
    drawn = Bootstrap(random.random(300) < rate, np.ones(300), np.arange(300), 400)
    found = decision_costs({"boosted": rate, "rates": np.full(300, 0.5)}, {}, drawn, COSTS)
    good, always = found["boosted"], found["always_release"]
    assert good.low is not None and good.high is not None
    assert good.low < good.cost < good.high
    assert 0.05 < good.high - good.low < 0.3
    assert cheapest_baseline(found) in ("rates", "always_release")
    against = good.against_baseline  # paired, so narrower than two that are independent
    assert always.low is not None and always.high is not None
    assert against.low is not None and against.high is not None
    apart = np.hypot(good.high - good.low, always.high - always.low)
    assert against.high - against.low < 0.8 * apart
    assert against.value == pytest.approx(good.cost - always.cost)
