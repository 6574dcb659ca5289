import numpy as np
import pytest

from jobsight.errors import ModelError
from jobsight.models.base import Inputs, Labelled
from jobsight.models.rules import Among, Arm, Between, Rules, RuleSet


def inputs(**facts: list[int]) -> Inputs:
    columns = {name: np.array(values, dtype=np.int64) for name, values in facts.items()}
    rows = len(next(iter(columns.values())))
    return Inputs(np.zeros((rows, 0), dtype=np.float32), (), {}, columns, None, 1)


SET = RuleSet(
    "demo",
    (
        Arm("known", True, (Among(("code", "subcode"), ((26, 119), (13, None))),)),
        Arm("few", True, (Between("holds", high=4), Among(("code",), ((46,), (47,)), True))),
        Arm("rest", False),
    ),
)


def test_the_first_arm_that_matches_decides() -> None:
    rows = inputs(code=[26, 26, 13, 46, 1, 1], subcode=[119, 120, 5, 0, 0, 0],
                  holds=[1, 1, 9, 1, 4, 5])  # fmt: skip
    assert SET.arm_of(rows).tolist() == [0, 1, 0, 2, 1, 2]
    assert SET.releases(rows).tolist() == [True, True, True, False, True, False]


def test_between_is_inclusive_and_open_where_none() -> None:
    facts = inputs(x=[1, 2, 3, 4]).facts
    assert Between("x", 2, 3).holds(facts).tolist() == [False, True, True, False]
    assert Between("x", low=3).holds(facts).tolist() == [False, False, True, True]
    assert Between("x").holds(facts).all()


def test_a_choice_of_nothing_but_none_matches_everything() -> None:
    assert Among(("x",), ((None,),)).holds(inputs(x=[1, 2]).facts).all()
    assert not Among(("x",), ()).holds(inputs(x=[1, 2]).facts).any()


def test_rates_of_arms_lean_on_the_overall_rate() -> None:
    rows = inputs(code=[13] * 8 + [1] * 4, subcode=[0] * 12, holds=[9] * 12)
    success = np.array([True] * 8 + [False] * 4)
    model = Rules(SET)
    labelled = Labelled(rows, success, np.ones(12))
    model.fit(labelled, seed=0)
    overall = 8.5 / 13
    expected = [(8 + 2 * overall) / 10, overall, 2 * overall / 6]
    assert model.rates == pytest.approx(expected)


def test_a_missing_fact_is_named() -> None:
    with pytest.raises(ModelError, match="'holds'"):
        SET.releases(inputs(code=[1], subcode=[1]))
