import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import failing

from jobsight.learning.bootstrap import Bootstrap
from jobsight.learning.costs import (
    THRESHOLDS,
    cheapest_baseline,
    decision_costs,
    expected_gain,
    release_threshold,
    savings,
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


NAN = float("nan")


def test_a_worked_example() -> None:
    true = np.array([True, True, False, False, True])
    probability = np.array([0.95, 0.6, 0.55, 0.05, 0.2])
    hours = np.array([10.0, NAN, 7.0, 100.0, 30.0])
    found = savings(probability, hours, Bootstrap(true, np.ones(5), np.arange(5), 50))
    assert (found["core_hours"], found["unknown"]) == (40.0, 1)
    rows = {row["threshold"]: row for row in found["thresholds"]}
    values = {
        name: rows[0.5][name]["value"]
        for name in ("acted", "right", "disturbed", "saved", "saved_share")
    }
    assert values == pytest.approx(
        {"acted": 600, "right": 2 / 3, "disturbed": 200, "saved": 2000, "saved_share": 0.25}
    )
    assert rows[0.1]["saved_share"]["value"] == 1.0
    assert rows[0.9]["disturbed"]["value"] == 0.0


def test_where_nothing_is_acted_on_nothing_is_right_or_wrong() -> None:
    found = savings(
        np.full(4, 0.05), np.ones(4), Bootstrap(np.ones(4, bool), np.ones(4), np.arange(4), 20)
    )
    for row in found["thresholds"]:
        assert row["acted"]["value"] == row["saved"]["value"] == 0.0
        assert row["right"]["value"] is None
    json.dumps(found, allow_nan=False)


@given(st.integers(0, 1000))
def test_a_higher_threshold_acts_on_less(seed: int) -> None:
    random = np.random.default_rng(seed)
    true, days = random.random(60) < 0.3, random.integers(0, 9, 60)
    draws = Bootstrap(true, np.ones(60), days, 40)
    rows = savings(random.random(60), random.exponential(5, 60), draws)["thresholds"]
    assert [row["threshold"] for row in rows] == list(THRESHOLDS)
    for name in ("acted", "disturbed", "saved", "saved_share"):
        values = [row[name]["value"] for row in rows]
        assert values == sorted(values, reverse=True)
    for row in rows:
        one = row["saved"]
        assert one["low"] <= one["high"] and one["low"] >= 0


def test_evaluations_of_jobs_say_what_they_used() -> None:
    evaluation = failing.trained().main.evaluation
    view = evaluation.to_json()["cost_view"]
    failed = evaluation.table.filter("fails")["core_hours"].sum()
    assert view["core_hours"] == pytest.approx(failed) and failed > 0
    later = evaluation.by_moment["start"].to_json()["cost_view"]
    assert [row["threshold"] for row in later["thresholds"]] == list(THRESHOLDS)
