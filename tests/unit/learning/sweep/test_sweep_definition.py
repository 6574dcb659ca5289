import json
import math
from typing import Any

import pytest

from jobsight.errors import SweepError
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.definition import from_wandb, to_wandb
from jobsight.learning.sweep.distributions import quantile
from jobsight.learning.sweep.parameters import parse
from jobsight.learning.sweep.searched import with_parameters
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings

SPACE = {
    "m": {"min": 10, "max": 100},
    "j": {"value": 20},
    "windows": {"values": [[60, 240], "auto"], "probabilities": [0.25, 0.75]},
    "lstm": {
        "parameters": {
            "batch_size": {"distribution": "q_log_uniform", "min": 3, "max": 5, "q": 8},
            "weight_decay": {"distribution": "inv_log_uniform", "min": 1, "max": 3},
            "dropout": {"distribution": "beta", "a": 2, "b": 5},
        }
    },
}


def config(**keys: Any) -> SweepConfig:
    return SweepConfig.model_validate({"data": "a", "runs": 9, "parameters": SPACE} | keys)


def test_a_definition_names_all_in_full() -> None:
    told = to_wandb(config(metric={"name": "log_loss"}))
    told = json.loads(json.dumps(told))
    assert told["metric"] == {"name": "log_loss", "goal": "minimize"}
    assert (told["method"], told["run_cap"]) == ("random", 9)
    assert told["parameters"]["m"] == {"distribution": "int_uniform", "min": 10, "max": 100}
    assert told["parameters"]["j"] == {"distribution": "constant", "value": 20}
    assert told["parameters"]["windows"] == {
        "distribution": "categorical_w_probabilities",
        "values": [[60, 240], "auto"],
        "probabilities": [0.25, 0.75],
    }
    group = told["parameters"]["lstm"]["parameters"]
    assert group["dropout"] == {"distribution": "beta", "a": 2, "b": 5}
    assert group["batch_size"]["distribution"] == "q_log_uniform_values"
    assert group["batch_size"]["max"] == math.exp(5)


def test_exponents_are_told_as_values_and_mean_the_same() -> None:
    (before,) = parse({"p": SPACE["lstm"]["parameters"]["weight_decay"]})  # type: ignore[index]
    told = to_wandb(config())["parameters"]["lstm"]["parameters"]["weight_decay"]
    (after,) = parse({"p": told})
    assert after.distribution == "inv_log_uniform_values"
    for u in (0.0, 0.2, 0.7, 1.0):
        assert quantile(after, u) == pytest.approx(quantile(before, u))


def test_the_servers_points_are_read_back() -> None:
    group = {"batch_size": 24, "weight_decay": 0.1, "dropout": 0.3}
    given = {"m": 30, "j": 20, "windows": "auto", "lstm": group}
    point = from_wandb(config(), given)
    assert point == {
        "j": 20,
        "lstm.batch_size": 24,
        "lstm.dropout": 0.3,
        "lstm.weight_decay": 0.1,
        "m": 30,
        "windows": "auto",
    }
    settings = with_parameters(HOLD, config().fixed_settings, point)
    assert isinstance(settings, HoldSettings)
    assert settings.lstm.batch_size == 24
    with pytest.raises(SweepError, match=r"lacks 'lstm\.batch_size'"):
        from_wandb(config(), given | {"lstm": 3})
    with pytest.raises(SweepError, match="has 'x', which the config does not search"):
        from_wandb(config(), given | {"x": 3})
