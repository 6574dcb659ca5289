"""Folders of sweeps as their nodes leave them, of any size, without training anything."""

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jobsight.files import write_json
from jobsight.learning.sweep.layout import Frozen, Layout, Shard, point_of
from jobsight.learning.tracking import RECORD

START = 1_795_224_900_000_000
SPACE: dict[str, Any] = {
    "j": {"distribution": "int_uniform", "min": 10, "max": 100},
    "m": {"distribution": "int_uniform", "min": 10, "max": 100},
    "timeframe_len": {"distribution": "int_uniform", "min": 60, "max": 400},
    "lstm_layers": {"values": [1, 2, 3, 4, 5]},
    "hidden_size": {"values": [16, 32, 64, 128]},
    "learning_rate": {"distribution": "log_uniform_values", "min": 1e-5, "max": 0.1},
    "batch_size": {"distribution": "q_log_uniform_values", "q": 8, "min": 32, "max": 256},
    "network": {"values": ["lstm", "lstm-flat", "gru"], "probabilities": [0.5, 0.3, 0.2]},
}
SITES = ("uw-01.chtc.wisc.edu", "uw-02.chtc.wisc.edu", "gpu7.sdsc.edu", "node-112.unl.edu")
REPORT: dict[str, Any] = {
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


def point(draw: np.random.Generator) -> dict[str, Any]:
    """One choice of parameters of `SPACE`."""
    return {
        "j": int(draw.integers(10, 101)),
        "m": int(draw.integers(10, 101)),
        "timeframe_len": int(draw.integers(60, 401)),
        "lstm_layers": int(draw.choice([1, 2, 3, 4, 5])),
        "hidden_size": int(draw.choice([16, 32, 64, 128])),
        "learning_rate": float(10 ** draw.uniform(-5, -1)),
        "batch_size": int(round(2 ** draw.uniform(5, 8) / 8) * 8),
        "network": str(draw.choice(["lstm", "lstm-flat", "gru"], p=[0.5, 0.3, 0.2])),
    }


def lines_of(
    run: int,
    parameters: Mapping[str, Any],
    draw: np.random.Generator,
    epochs: int,
    begin: float,
    searched: Collection[str],
) -> Iterator[dict[str, Any]]:
    """A plausible record: good near a learning rate of 0.003, failing where it is near 0.1."""
    at, rate = START + int(begin * 1e6), float(parameters["learning_rate"])
    named = {name: value for name, value in parameters.items() if name in searched}
    told = {"run": run, "parameters": named, "seed": 0}
    host = SITES[int(draw.integers(len(SITES)))]
    yield {"event": "start", "time": at, "attempt": 1, "host": host, "epoch": 0, **told}
    if rate > 0.05:
        cause = "the loss is no number from epoch 1 on: the learning rate is too high"
        yield {"event": "end", "time": at + 3_000_000, "status": "failed", "cause": cause,
               "epochs": 0, "best_epoch": None, "metrics": {}, "seconds": 3.0,
               "cpu_seconds": 2.9, "peak_bytes": 310 << 20}  # fmt: skip
        return
    off = (math.log10(rate) + 2.5) ** 2 / 6 + 0.05 * abs(parameters["lstm_layers"] - 2)
    floor = 0.38 + 0.12 * off + 0.03 * draw.normal() - 0.02 * (parameters["network"] == "lstm")
    pace = 0.04 + 25 * min(rate, 0.02)
    each = 0.4 + parameters["hidden_size"] * parameters["m"] / 1600
    best, kept, epoch, attempt, repeated = math.inf, 0, 1, 1, False
    while epoch <= epochs and epoch - kept <= 8:
        at += int(each * 1e6)
        select = floor + 0.32 * math.exp(-pace * epoch) + 0.006 * draw.normal()
        select += max(0.0, epoch - 14) * 0.003 * (parameters["hidden_size"] / 64)
        train = 0.3 * floor + 0.5 * math.exp(-pace * epoch / 1.6)
        yield {"event": "epoch", "time": at, "epoch": epoch, "train_loss": train,
               "select_loss": select, "seconds": each, "f1": 1.1 - select}  # fmt: skip
        if select < best:
            best, kept = select, epoch
        if not repeated and draw.random() < 0.012:
            repeated, attempt = True, attempt + 1
            yield {"event": "stopped", "time": at, "reason": "evicted"}
            at += int(each * 3e6)
            host = SITES[int(draw.integers(len(SITES)))]
            start = {"event": "start", "time": at, "attempt": attempt, "host": host}
            yield {**start, "epoch": epoch - 1, **told}
            continue
        epoch += 1
    yield {"event": "end", "time": at, "status": "finished" if epoch > epochs else "early",
           "cause": None, "epochs": epoch - 1, "best_epoch": kept,
           "metrics": {"f1": 1.12 - best, "log_loss": best, "roc_auc": 1.2 - best},
           "seconds": each * epoch, "cpu_seconds": each * epoch * 1.1,
           "peak_bytes": int((300 + 4 * parameters["hidden_size"]) * 2**20)}  # fmt: skip


def frozen(runs: int, **config: Any) -> Frozen:
    """The frozen config of a sweep of so many runs."""
    given: dict[str, Any] = {
        "question": "hold", "seed": 0, "runs": runs, "epochs": 60, "method": "random",
        "metric": {"name": "f1", "goal": "maximize"}, "early_stopping": {"patience": 8},
        "where": "dagman", "data": ["EventLog.gz"], "parameters": SPACE, "settings": {},
        "model": "lstm",
        **config,
    }  # fmt: skip
    shard = Shard("s01", ("/data/EventLog.gz",))
    return Frozen(config=given, settings={}, shards=(shard,), runs=runs,
                  versions={"jobsight": "0.3.0", "torch": "2.13.0"})  # fmt: skip


def write_record(layout: Layout, run: int, lines: Iterator[dict[str, Any]]) -> None:
    """What a run leaves in its folder."""
    folder = layout.run(run)
    folder.mkdir(parents=True)
    told = list(lines)
    parameters: dict[str, Any] = next(
        (line["parameters"] for line in told if "parameters" in line), {}
    )
    write_json(layout.point(run), point_of(run, parameters))
    text = "".join(json.dumps(line) + "\n" for line in told)
    (folder / RECORD).write_text(text, encoding="utf-8")


def sweep_folder(
    folder: Path,
    runs: int,
    *,
    epochs: int = 60,
    tested: bool = True,
    seed: int = 3,
    change: Callable[[int, list[dict[str, Any]]], list[dict[str, Any]]] = lambda _, lines: lines,
    **config: Any,
) -> Path:
    """A sweep's folder.

    Args:
        folder: to be made.
        runs: how many there are.
        epochs: of a run, at most.
        tested: whether the best run was tested.
        seed: of what is made up.
        change: gives the lines of a run another form.
        config: what differs in the config; runs have those of its parameters that are in `SPACE`.
    """
    layout = Layout(folder)
    folder.mkdir(parents=True)
    write_json(layout.frozen, frozen(runs, **config).to_json())
    searched = config.get("parameters", SPACE)
    draw = np.random.default_rng(seed)
    free = [0.0] * 10
    for run in range(1, runs + 1):
        slot = int(np.argmin(free))
        lines = list(lines_of(run, point(draw), draw, epochs, free[slot], searched))
        free[slot] = (lines[-1]["time"] - START) / 1e6 + 2
        write_record(layout, run, iter(change(run, lines)))
    layout.shard("s01").mkdir(parents=True)
    source = {"name": "/data/EventLog.gz", "bytes": 33_000_000, "sha256": "ab" * 32}
    write_json(layout.read("s01"), {"events": 91759, "jobs": 8589, "first": START,
                                    "last": START + 3_600_000_000,
                                    "sources": [source]})  # fmt: skip
    if tested:
        write_json(layout.best / "model" / "report.json", REPORT)
    return folder
