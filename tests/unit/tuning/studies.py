"""Studies of sweeps as runs leave them, of any size, without training anything."""

import datetime as dt
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial, TrialState, create_trial

START = dt.datetime(2026, 11, 21, 1, 0, tzinfo=dt.UTC)
SPACE: dict[str, BaseDistribution] = {
    "j": IntDistribution(10, 100),
    "m": IntDistribution(10, 100),
    "timeframe_len": IntDistribution(60, 400),
    "lstm_layers": CategoricalDistribution([1, 2, 3, 4, 5]),
    "hidden_size": CategoricalDistribution([16, 32, 64, 128]),
    "learning_rate": FloatDistribution(1e-5, 0.1, log=True),
    "batch_size": IntDistribution(32, 256, step=8),
    "network": CategoricalDistribution(["lstm", "lstm-flat", "gru"]),
}
SITES = ("uw-01.chtc.wisc.edu", "uw-02.chtc.wisc.edu", "gpu7.sdsc.edu", "node-112.unl.edu")
TEST: dict[str, Any] = {
    "question": "hold",
    "examples": 233,
    "batches": 104,
    "chosen": "lstm",
    "loss": "log_loss",
    "models": {
        name: {
            "roc_auc": auc,
            "average_precision": auc - 0.2,
            "f1": auc - 0.15,
            "f1_failure": auc + 0.04,
            "brier": 0.9 - auc,
            "ece": 0.08,
            "log_loss": 1.3 - auc,
            "roc_auc_ci": [auc - 0.09, min(auc + 0.07, 1.0)],
            "log_loss_gain": None
            if gain is None
            else {"value": gain, "low": gain - 0.06, "high": gain + 0.05},
        }
        for name, auc, gain in (
            ("constant", 0.5, None),
            ("rates", 0.72, 0.0),
            ("rules:gridpack", 0.61, 0.2),
            ("linear", 0.78, -0.02),
            ("boosted", 0.83, -0.06),
            ("lstm", 0.86, -0.08),
        )
    },
}
"""``report.json`` of the best run's model, as an evaluation writes it."""


def point(draw: np.random.Generator, space: Mapping[str, BaseDistribution]) -> dict[str, Any]:
    """One choice of parameters."""
    chosen: dict[str, Any] = {}
    for name, given in space.items():
        if isinstance(given, CategoricalDistribution):
            chosen[name] = given.choices[int(draw.integers(len(given.choices)))]
        elif isinstance(given, IntDistribution):
            chosen[name] = int(draw.integers(given.low, given.high + 1)) // given.step * given.step
        elif isinstance(given, FloatDistribution):
            low, high = math.log(given.low), math.log(given.high)
            chosen[name] = math.exp(draw.uniform(low, high))
    return chosen


def trial(
    run: int,
    draw: np.random.Generator,
    begin: float,
    space: Mapping[str, BaseDistribution] = SPACE,
    epochs: int = 60,
) -> FrozenTrial:
    """A plausible run: good near a learning rate of 0.003, failing where it is near 0.1."""
    params = point(draw, space)
    rate = float(params.get("learning_rate", 0.003))
    at = START + dt.timedelta(seconds=begin)
    attrs: dict[str, Any] = {
        "run": run,
        "host": SITES[int(draw.integers(len(SITES)))],
        "started": at.isoformat(),
    }
    made: dict[str, Any] = {"params": params, "distributions": dict(space), "user_attrs": attrs}
    if rate > 0.05:
        error = "the loss is not a number from epoch 1 on: the learning rate is too high"
        end = (at + dt.timedelta(seconds=3)).isoformat()
        attrs |= {"error": error, "ended": end, "seconds": 3.0, "epochs": []}
        return create_trial(state=TrialState.FAIL, **made)
    off = (math.log10(rate) + 2.5) ** 2 / 6 + 0.05 * abs(params.get("lstm_layers", 2) - 2)
    floor = 0.38 + 0.12 * off + 0.03 * draw.normal()
    each = 0.4 + params.get("hidden_size", 32) * params.get("m", 50) / 1600
    speed, best, lines = 0.04 + 25 * min(rate, 0.02), (math.inf, 0), list[dict[str, Any]]()
    for epoch in range(1, epochs + 1):
        loss = floor + 0.32 * math.exp(-speed * epoch) + 0.006 * draw.normal()
        loss += max(0.0, epoch - 14) * 0.003 * (params.get("hidden_size", 32) / 64)
        train = 0.3 * floor + 0.5 * math.exp(-speed * epoch / 1.6)
        line = {"epoch": epoch, "train_loss": train, "loss": loss, "metric": 1.12 - loss}
        lines.append({**line, "seconds": each})
        best = min(best, (loss, epoch))
        if epoch - best[1] >= 8:
            break
    seconds = each * len(lines)
    pruned = len(lines) > 12 and run % 7 == 3
    if pruned:
        lines = lines[:5]
    value = max(line["metric"] for line in lines)
    attrs |= {
        "epochs": lines,
        "best_epoch": best[1],
        "seconds": seconds,
        "stopped": "pruned" if pruned else "patience" if len(lines) < epochs else "epochs",
        "ended": (at + dt.timedelta(seconds=seconds)).isoformat(),
        "metrics": {"f1": value, "log_loss": 1.12 - value, "roc_auc": value + 0.08},
    }
    state = TrialState.PRUNED if pruned else TrialState.COMPLETE
    steps = {line["epoch"]: line["metric"] for line in lines}
    return create_trial(state=state, value=value, intermediate_values=steps, **made)


def sweep_study(
    runs: int,
    *,
    space: Mapping[str, BaseDistribution] = SPACE,
    seed: int = 3,
    storage: optuna.storages.BaseStorage | None = None,
) -> optuna.Study:
    """A study of so many runs, ten at a time, of which a higher F1 is better."""
    study = optuna.create_study(direction="maximize", storage=storage)
    draw = np.random.default_rng(seed)
    free = [0.0] * 10
    for run in range(1, runs + 1):
        slot = int(np.argmin(free))
        made = trial(run, draw, free[slot], space)
        free[slot] += made.user_attrs["seconds"] + 2
        study.add_trial(made)
    return study
