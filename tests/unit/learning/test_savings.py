import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import failing

from jobsight.learning.bootstrap import Bootstrap
from jobsight.learning.costs import THRESHOLDS, savings

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
