import json
import subprocess
import sys
from typing import Any

import pytest

from jobsight.errors import SweepError
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.search import draw, grid, hopeless
from jobsight.learning.sweep.searched import point_overrides, searchable, setting_path
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings

SPACE = {
    "learning_rate": {"distribution": "log_uniform_values", "min": 1e-5, "max": 0.1},
    "weight_decay": {"distribution": "log_normal", "mu": -7},
    "dropout": {"distribution": "beta", "a": 2, "b": 5},
    "batch_size": {"distribution": "q_log_uniform_values", "q": 8, "min": 32, "max": 256},
    "m": {"min": 10, "max": 100},
    "hidden_size": {"values": [16, 32], "probabilities": [0.25, 0.75]},
    "j": {"value": 20},
}


def config(**keys: Any) -> SweepConfig:
    keys = {"data": "a.log", "runs": 10, "parameters": SPACE} | keys
    return SweepConfig.model_validate(keys)


def test_points_are_what_they_have_always_been() -> None:
    # Drawn once, kept here: any other Python, library or machine must draw the same.
    assert [draw(config(seed=7), run) for run in (1, 2, 1000)] == [
        {
            "batch_size": 64,
            "dropout": 0.0673187529862,
            "hidden_size": 32,
            "j": 20,
            "learning_rate": 0.0076551357961,
            "m": 89,
            "weight_decay": 0.00144776506673,
        },
        {
            "batch_size": 168,
            "dropout": 0.220628223254,
            "hidden_size": 16,
            "j": 20,
            "learning_rate": 9.57232045625e-05,
            "m": 52,
            "weight_decay": 0.00230974289059,
        },
        {
            "batch_size": 64,
            "dropout": 0.346706943234,
            "hidden_size": 32,
            "j": 20,
            "learning_rate": 0.000149584647947,
            "m": 58,
            "weight_decay": 0.00472010925214,
        },
    ]


def test_another_process_draws_the_same() -> None:
    code = (
        "import json, sys; import jobsight.questions; "
        "from jobsight.learning.sweep.config import SweepConfig; "
        "from jobsight.learning.sweep.search import draw; "
        "c = SweepConfig.model_validate(json.load(sys.stdin)); print(json.dumps(draw(c, 3)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(config().model_dump(mode="json")),
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "77"},
    )
    assert json.loads(done.stdout) == draw(config(), 3)


def test_more_runs_or_parameters_change_no_point() -> None:
    fewer = {name: SPACE[name] for name in ("m", "dropout")}
    point = draw(config(), 4)
    assert draw(config(runs=5000), 4) == point
    assert draw(config(parameters=fewer), 4) == {name: point[name] for name in fewer}
    assert draw(config(seed=1), 4) != point
    every = config()
    assert len({json.dumps(draw(every, run)) for run in range(1, 200)}) == 199


def test_what_a_setting_refuses_is_drawn_again() -> None:
    half = config(parameters={"weight_decay": {"distribution": "normal", "sigma": 0.01}})
    drawn = [draw(half, run)["weight_decay"] for run in range(1, 300)]
    assert min(drawn) >= 0
    assert len(set(drawn)) == len(drawn)


def test_a_grid_is_in_the_order_of_its_names_and_cut_at_runs() -> None:
    space = {"m": {"values": [5, 3, 5.0]}, "j": {"min": 1, "max": 2}, "seed": {"value": 4}}
    full = grid(SweepConfig(data=("a",), method="grid", parameters=space))
    assert full == [{"j": j, "m": m, "seed": 4} for j in (1, 2) for m in (5.0, 3)]
    assert grid(config(method="grid", parameters=space, runs=3)) == full[:3]


def result(run: int, value: float | None, status: str | None = None) -> dict[str, Any]:
    return {"run": run, "parameters": {}, "value": value, "status": status}


def test_the_worst_are_dropped_and_ties_go_by_number() -> None:
    results = [result(4, 0.5), result(1, 0.5), result(2, 0.9), result(3, None), result(5, 0.1)]
    assert hopeless(results, 0.4, "maximize") == {3, 4, 5}
    assert hopeless(results, 0.4, "minimize") == {2, 3, 4}
    assert hopeless(results[::-1], 0.4, "maximize") == {3, 4, 5}
    assert hopeless([result(n, n / 10) for n in range(1, 11)], 0.3, "maximize") == set(range(1, 8))


def test_runs_that_ended_are_not_dropped() -> None:
    results = [
        result(1, 0.9, "failed"),
        result(2, 0.1, "early"),
        result(3, 0.2, "stopped"),
        result(4, None, "stopped"),
        result(5, 0.8, "finished"),
    ]
    assert hopeless(results, 0.25, "maximize") == {3, 4}
    assert hopeless([], 0.5, "maximize") == set()
    assert hopeless(results[:1], 0.99, "maximize") == set()
    assert hopeless(results[2:3], 0.01, "maximize") == set()


def test_names_mean_settings() -> None:
    assert setting_path(HOLD, "m") == setting_path(HOLD, "frames.m") == ("frames", "m")
    assert setting_path(HOLD, "windows") == ("windows",)
    assert point_overrides(HOLD, {"m": 3, "lstm.dropout": 0.1, "hidden_size": 8, "seed": 1}) == {
        "frames": {"m": 3},
        "lstm": {"dropout": 0.1, "hidden_size": 8},
        "seed": 1,
    }
    with pytest.raises(ValueError, match="means a setting that the point has twice"):
        point_overrides(HOLD, {"m": 3, "frames.m": 4})
    for path in searchable(HOLD).values():
        section: Any = HoldSettings()
        for part in path:
            section = getattr(section, part)


def test_a_value_that_is_never_drawn_is_told() -> None:
    rare = {"distribution": "normal", "mu": -8, "sigma": 1}
    unchecked = SweepConfig.model_construct(data=(), seed=0, parameters={"weight_decay": rare})
    with pytest.raises(SweepError, match="run 1, parameter 'weight_decay': 2000 draws gave no"):
        draw(unchecked, 1)
