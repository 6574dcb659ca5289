import importlib.util
import json
import logging
import math
from typing import Any

import pytest
from tests.conformance.wandb_reference import SPECS

from jobsight.errors import SweepError
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.distributions import quantile
from jobsight.learning.sweep.parameters import parse
from jobsight.learning.sweep.rounds import from_trial, round_points, to_trial
from jobsight.learning.sweep.search import draw
from jobsight.learning.sweep.searched import with_parameters
from jobsight.questions.hold.question import HOLD

SPACE = {
    "learning_rate": {"distribution": "log_uniform_values", "min": 1e-5, "max": 0.1},
    "batch_size": {"distribution": "q_log_uniform_values", "q": 8, "min": 32, "max": 256},
    "m": {"min": 10, "max": 100},
    "dropout": {"distribution": "beta", "a": 2, "b": 5},
    "hidden_size": {"values": [16, 32, 64, 128]},
    "j": {"value": 20},
}


def config(**keys: Any) -> SweepConfig:
    told = {"data": "a", "runs": 40, "method": "bayes", "parameters": SPACE}
    return SweepConfig.model_validate(told | keys)


def worth(point: dict[str, Any]) -> float:
    rate = (math.log10(point["learning_rate"]) + 2.5) ** 2
    size = 0.3 * (point["hidden_size"] != 64)
    return float(-rate - ((point["m"] - 40) / 30) ** 2 - size)


def results(points: list[dict[str, Any]], first: int = 1) -> list[dict[str, Any]]:
    return [
        {"run": run, "parameters": point, "value": None if run % 7 == 0 else worth(point)}
        for run, point in enumerate(points, start=first)
    ]


def searched(seed: int) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []
    for number in range(1, 6):
        told += results(round_points(config(seed=seed), number, told), len(told) + 1)
    return told


def test_points_follow_from_config_and_results_alone(capfd: pytest.CaptureFixture[str]) -> None:
    told = results([draw(config(), run) for run in range(1, 17)])
    points = round_points(config(), 3, told)
    assert points == round_points(config(), 3, told[::-1])
    assert points == round_points(config(), 3, json.loads(json.dumps(told)))
    assert points != round_points(config(seed=1), 3, told)
    assert points != round_points(config(), 4, told)
    assert points != round_points(config(metric={"name": "log_loss"}), 3, told)
    assert len({json.dumps(point) for point in points}) == 8
    for point in points:
        with_parameters(HOLD, config().fixed_settings, point)
        assert list(point) == sorted(SPACE)
        assert point["batch_size"] % 8 == 0
    assert capfd.readouterr() == ("", "")


def test_the_first_round_is_drawn_at_random() -> None:
    drawn = [draw(config(), run) for run in range(1, 17)]
    assert round_points(config(), 1, []) == drawn[:8]
    assert round_points(config(), 2, results(drawn[:3])) == drawn[8:]
    failed = [{"run": run, "parameters": drawn[run - 1], "value": None} for run in range(1, 9)]
    assert round_points(config(), 2, failed) == drawn[8:]


def test_the_last_round_has_what_is_left() -> None:
    few = config(runs=11)
    told = results([draw(few, run) for run in range(1, 9)])
    assert len(round_points(few, 2, told)) == 3
    assert len(round_points(config(runs=3), 1, [])) == 3


def test_it_learns() -> None:
    best = [max(one["value"] for one in searched(seed) if one["value"]) for seed in range(3)]
    chance = [max(worth(draw(config(seed=s), run)) for run in range(1, 41)) for s in range(3)]
    assert sum(best) > sum(chance)


def test_failures_are_kept_away_from() -> None:
    space = {"dropout": {"min": 0.0, "max": 0.9}}
    searching = config(parameters=space, runs=400)
    told: list[dict[str, Any]] = []
    for run in range(1, 97):
        point = draw(searching, run)
        bad = point["dropout"] > 0.45
        told.append({"run": run, "parameters": point, "value": None if bad else 0.5})
    points = round_points(searching, 13, told)
    assert sum(point["dropout"] > 0.5 for point in points) <= 2


def test_nothing_is_tried_twice_while_there_is_more() -> None:
    space = {"m": {"min": 1, "max": 20}, "hidden_size": {"values": [8, 16]}}
    small = config(parameters=space, runs=12, round=4)
    told = [
        {"run": run + 1, "parameters": point, "value": float(run)}
        for run, point in enumerate(
            [{"hidden_size": size, "m": m} for size in (8, 16) for m in (1, 2, 3, 4)]
        )
    ]
    points = round_points(small, 3, told)
    tried = {json.dumps(one["parameters"]) for one in told}
    assert len({json.dumps(point) for point in points} | tried) == 12


def test_when_all_was_tried_it_goes_on() -> None:
    space = {"hidden_size": {"values": [8, 16]}, "m": {"value": 3}}
    told = [
        {"run": run, "parameters": {"hidden_size": 8 * (1 + run % 2), "m": 3}, "value": 0.5}
        for run in range(1, 9)
    ]
    assert len(round_points(config(parameters=space, runs=16), 2, told)) == 8
    constant = config(parameters={"m": {"value": 3}}, runs=16)
    assert round_points(constant, 2, told) == [{"m": 3}] * 8


def test_values_that_a_setting_refuses_are_asked_for_again() -> None:
    space = {"weight_decay": {"distribution": "normal", "mu": 0, "sigma": 0.01}}
    searching = config(parameters=space)
    drawn = [draw(searching, run) for run in range(1, 17)]
    told = [
        {"run": run, "parameters": point, "value": -point["weight_decay"]}
        for run, point in enumerate(drawn, start=1)
    ]
    assert all(point["weight_decay"] >= 0 for point in round_points(searching, 3, told))


def test_points_of_another_space_teach_nothing() -> None:
    told = results([draw(config(), run) for run in range(1, 17)])
    strange = [{"run": 17, "parameters": {"m": 3}, "value": 1.0}]
    strange += [{"run": 18, "parameters": told[0]["parameters"] | {"hidden_size": 5}, "value": 9.0}]
    assert round_points(config(), 3, told + strange) == round_points(config(), 3, told)


@pytest.mark.parametrize("spec", [spec for spec in SPECS if "value" not in spec])
def test_what_optuna_sees_leads_back(spec: dict[str, Any]) -> None:
    (one,) = parse({"p": spec})
    for u in (0.0013, 0.21, 0.5, 0.77, 0.9987):
        value = quantile(one, u)
        seen = to_trial(one, value)
        assert 0 <= seen <= (len(one.values) - 1 if one.listed else 1)
        again = from_trial(one, seen)
        assert again == (pytest.approx(value, rel=1e-6) if isinstance(value, float) else value)


def test_without_optuna_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(SweepError, match=r"pip install 'jobsight\[sweep\]', or write method: ran"):
        round_points(config(), 1, [])


def test_optunas_own_level_of_logging_is_left_as_it_was() -> None:
    import optuna

    before = optuna.logging.get_verbosity()
    round_points(config(), 3, results([draw(config(), run) for run in range(1, 17)]))
    assert optuna.logging.get_verbosity() == before
    assert logging.getLogger("optuna").level == before
