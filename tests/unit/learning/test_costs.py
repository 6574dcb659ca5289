import numpy as np
import pytest

from jobsight.learning.costs import decision_costs, expected_gain, release_threshold
from jobsight.settings import Costs

COSTS = Costs(wasted_run=1.0, lost_job=4.0)
SUCCESS = np.array([True, True, False, False])
WEIGHT = np.array([1.0, 0.5, 0.5, 2.0])


def test_the_threshold_is_where_gain_is_zero() -> None:
    limit = release_threshold(COSTS)
    assert limit == 0.2
    gain = expected_gain(np.array([limit, 1.0, 0.0]), COSTS)
    assert gain == pytest.approx([0.0, 4.0, -1.0])
    waited = expected_gain(np.array([1.0]), COSTS, delay_hours=2.0, delay_per_hour=0.5)
    assert waited == pytest.approx([3.0])


def test_costs_by_hand() -> None:
    models = {"good": np.array([0.9, 0.9, 0.1, 0.1]), "rules:x": np.full(4, 0.9)}
    rules = {"rules:x": np.array([False, True, True, False])}
    found = decision_costs(models, rules, SUCCESS, WEIGHT, COSTS)
    assert set(found) == {"good", "rules:x", "always_release"}
    assert found["always_release"].cost == pytest.approx(2.5 / 4)
    assert found["always_release"].gain == 0.0
    assert found["good"].cost == 0.0
    assert found["good"].gain == pytest.approx(2.5 / 4)
    assert found["rules:x"].cost == pytest.approx((0.5 * 1 + 1.0 * 4) / 4)
    assert found["rules:x"].released == pytest.approx(1.0 / 4)
    assert found["rules:x"].lost == pytest.approx(1.0 / 4)


def test_no_rows_cost_nothing() -> None:
    assert decision_costs({}, {}, np.zeros(0, bool), np.zeros(0), COSTS) == {}
