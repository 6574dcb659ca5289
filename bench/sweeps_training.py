"""Training a run: memory and epochs compared with stored one-hot floats; other costs of a run."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench import inputs
from bench.measure import Section, isolated, median, peak_mb, spread

__all__ = ["overhead", "run", "training"]

_M = _J = 100
_COPIES = 4
"""How often the examples of the pool's log are repeated: a log of a few days."""
_EPOCHS = 6
_RUNS = 3


def _parts(table: str, m: int, j: int) -> Any:
    import polars as pl

    from jobsight.history.timelines import History
    from jobsight.learning.dataset import Dataset
    from jobsight.learning.sweep.searched import with_parameters
    from jobsight.models.base import held_back
    from jobsight.questions.hold.question import HOLD
    from jobsight.questions.hold.settings import HoldSettings

    settings = with_parameters(HOLD, HoldSettings(), {"m": m, "j": j})
    data = Dataset.for_training(HOLD, History.from_table(pl.read_parquet(table)), settings)
    return list(held_back(data.labelled(data.part("train"))[1]))


def training(table: str, network: str, stored: bool, m: int, j: int, copies: int) -> dict[str, Any]:
    """Train some epochs in this process; with `stored`, on stored one-hot floats."""
    import torch

    from bench.stored_frames import StoredExamples, network_on_floats
    from jobsight.models.determinism import deterministic
    from jobsight.models.encoding import Design
    from jobsight.models.fitting import Examples, Fitting
    from jobsight.models.network import NETWORKS, NetworkShape
    from jobsight.settings import LstmSettings

    train, select = _parts(table, m, j)
    train = train.take(np.tile(np.arange(len(train)), copies))
    before = peak_mb()
    settings = LstmSettings(network=network, patience=_EPOCHS, epochs=_EPOCHS)
    cpu = torch.device("cpu")
    design, columns = Design.fit(train)
    shape = NetworkShape(m, j, train.inputs.state_events + 1, len(design.names))
    later = design.transform(select.inputs)
    starts = design.start(train.inputs), design.start(select.inputs)
    with deterministic(0, cpu):
        if stored:
            made = network_on_floats(shape, settings)
            data: Examples = StoredExamples.stored(train, columns, starts[0])
            other: Examples = StoredExamples.stored(select, later, starts[1])
        else:
            made = NETWORKS[network](shape, settings)
            data = Examples.of(train, columns, starts[0], cpu)
            other = Examples.of(select, later, starts[1], cpu)
        fitting = Fitting(made, data, other, settings, 0)
        epochs = [fitting.train_epoch(lambda: False) for _ in range(_EPOCHS)]
    return {
        "examples": len(train) + len(select),
        "frames": (data.frames.nbytes + other.frames.nbytes) / 1e6,
        "before": before,
        "peak": peak_mb(),
        "seconds": [epoch.cpu_seconds for epoch in epochs[1:] if epoch],
        "loss": [epoch.select_loss for epoch in epochs if epoch][-1],
    }


def overhead(table: str, folder: str) -> dict[str, Any]:
    """Processor seconds of a run as a sweep starts it, and of training alone."""
    import polars as pl
    import torch

    from jobsight.history.timelines import History
    from jobsight.learning.sweep.config import SweepConfig
    from jobsight.learning.sweep.run import train_run
    from jobsight.learning.tracking import Tracker
    from jobsight.models.recurrent import Recurrent

    config = SweepConfig.model_validate(
        {"question": "hold", "data": ["pool.log"], "parameters": {"m": {"value": 24}}, "runs": 1,
         "epochs": 20, "early_stopping": {"patience": 20}}
    )  # fmt: skip
    settings: Any = config.fixed_settings
    frames = settings.frames
    train, select = _parts(table, frames.m, frames.j)
    first = settings.lstm.model_copy(update={"epochs": 1})
    Recurrent(first).fit_resumably(train, select, seed=0)  # what PyTorch does once
    started = time.process_time()
    Recurrent(settings.lstm).fit_resumably(train, select, seed=0)
    bare = time.process_time() - started
    started = time.process_time()
    place = Path(tempfile.mkdtemp(dir=folder))
    with Tracker(place) as tracker:
        done = train_run(
            place,
            lambda: History.from_table(pl.read_parquet(table)),
            config,
            parameters={},
            run=1,
            tracker=tracker,
        )
    whole = time.process_time() - started
    checkpoints = [path.stat().st_size for path in (place / "checkpoint").iterdir()]
    return {
        "bare": bare,
        "run": whole,
        "epochs": done.epochs,
        "checkpoint": sum(checkpoints) / 2,
        "threads": torch.get_num_threads(),
    }


def run() -> Section:
    """The benchmark."""
    section = Section("Training a run of a sweep")
    with tempfile.TemporaryDirectory(prefix="jobsight-bench-") as name:
        table = str(_parsed(Path(name)))
        _against_floats(section, table)
        _beside_training(section, table, name)
    return section


def _parsed(folder: Path) -> Path:
    from jobsight.history.events import EventReader
    from jobsight.history.parquet import write_events

    path = folder / "table.parquet"
    log = str(inputs.plain_log(folder))
    write_events(EventReader([log], timezone="UTC").batches(), path)
    return path


def _against_floats(section: Section, table: str) -> None:
    rows = []
    for network, m, j in (("lstm", _M, _J), ("lstm-flat", _M, _J), ("lstm", 24, 16)):
        found = [
            [
                isolated(
                    "bench.sweeps_training:training", cores=1, table=table, network=network,
                    stored=stored, m=m, j=j, copies=_COPIES,
                )
                for _ in range(_RUNS)
            ]
            for stored in (True, False)
        ]  # fmt: skip
        rows += _compared(f"{network}, m = {m}, j = {j}", *found)
        examples = found[0][0]["examples"]
    section.say(
        f"{examples:,} examples (the pool's log, train part {_COPIES} times over), batches of 64, "
        "one core; an epoch is the median of processor seconds. The same weights, sums and seed; "
        "stored: frames as one-hot floats, made once; ours: one byte per cell, never one-hot. "
        "Memory is what training adds to the process that read the log, at its peak."
    )
    head = ["frames", "frames, MB", "training's peak, MB", "ratio", "an epoch, s", "spread"]
    section.table([*head, "ratio", "select loss"], rows)


def _compared(
    title: str, stored: list[dict[str, Any]], ours: list[dict[str, Any]]
) -> list[list[str]]:
    rows = []
    memory, epoch = (
        [median([key(one) for one in runs]) for runs in (stored, ours)]
        for key in (lambda one: one["peak"] - one["before"], lambda one: median(one["seconds"]))
    )
    for k, (name, runs) in enumerate((("stored", stored), ("ours", ours))):
        seconds = [one for found in runs for one in found["seconds"]]
        rows.append(
            [
                f"{title}: {name}",
                f"{runs[0]['frames']:,.1f}",
                f"{memory[k]:,.0f}",
                f"{memory[0] / max(memory[k], 1.0):.1f} ×",
                f"{epoch[k]:.3f}",
                spread(seconds),
                f"{epoch[0] / epoch[k]:.1f} ×",
                f"{runs[0]['loss']:.4f}",
            ]
        )
    return rows


def _beside_training(section: Section, table: str, folder: str) -> None:
    isolated("bench.sweeps_training:overhead", cores=1, table=table, folder=folder)
    found = [
        isolated("bench.sweeps_training:overhead", cores=1, table=table, folder=folder)
        for _ in range(_RUNS)
    ]
    bare, whole = (median([one[key] for one in found]) for key in ("bare", "run"))
    epochs = found[0]["epochs"]
    section.say(
        f"A run with the defaults, {epochs} epochs: {whole:.2f} processor seconds, of which "
        f"{bare:.2f} training alone; the rest, {whole - bare:.2f}, reads the shared table, indexes "
        "it, makes the frames, evaluates every epoch on the select part, and writes a record and "
        f"a checkpoint of {found[0]['checkpoint'] / 1e3:.0f} kB after each. Starting Python and "
        "importing come to this once."
    )
