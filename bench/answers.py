"""One answer in process with an indexed history: latency, and throughput in bulk."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bench import inputs
from bench.measure import Section, isolated, median, spread, timed

__all__ = ["measure", "run", "train_model"]

_MOMENTS = 40
_SINGLE = 400
_BULK_RUNS = 7


def train_model(log: str, folder: str) -> Any:
    """Train a boosted model on `log`; the name of the selected model."""
    from jobsight.history.events import read_events
    from jobsight.history.timelines import History
    from jobsight.learning.dataset import Dataset
    from jobsight.learning.train import model_names, train
    from jobsight.questions.hold.question import HOLD
    from jobsight.questions.hold.settings import HoldSettings

    settings = HoldSettings()
    history = History.from_table(read_events([log]).table)
    data = Dataset.for_training(HOLD, history, settings)
    trained = train(data, names=model_names(HOLD, "boosted"))
    Path(folder).mkdir()
    trained.model.save(Path(folder), seed=settings.seed, facts=trained.facts())
    return {"model": trained.model.label}


def measure(log: str, folder: str) -> Any:
    """Answer for single jobs at many moments, and for all held jobs at the busiest of them."""
    from jobsight.history.events import read_events
    from jobsight.history.timelines import History
    from jobsight.learning.modeldir import ModelDir
    from jobsight.questions.hold.answering.answer import Answerer
    from jobsight.questions.hold.examples.decisions import HeldHistory
    from jobsight.questions.hold.question import HOLD
    from jobsight.questions.hold.settings import HoldSettings

    history = History.from_table(read_events([log]).table)
    model = ModelDir.open(Path(folder), HOLD, only_chosen=True)
    held_jobs = HeldHistory(history)
    answerer = Answerer(held_jobs, HoldSettings(), model)
    moments = np.quantile(history.clock, np.linspace(0.3, 1.0, _MOMENTS)).astype(np.int64).tolist()
    held = {moment: held_jobs.held(moment) for moment in moments}
    asked = [(moment, job) for moment in moments for job in held[moment]["job"].to_list()]
    drawn = np.random.default_rng(0).permutation(len(asked))[: _SINGLE + 20]
    seconds, cpu = [], []
    for moment, job in (asked[k] for k in drawn):
        started, spent = time.perf_counter(), time.process_time()
        of_moment = answerer.at(moment)
        of_moment.answer(of_moment.asked(pl.col("job") == job))
        seconds.append(time.perf_counter() - started)
        cpu.append(time.process_time() - spent)
    fullest = max(moments, key=lambda moment: len(held[moment]))
    bulk = timed(lambda: answerer.at(fullest).answer(held[fullest]), _BULK_RUNS)
    return {
        "wall time": seconds[20:],
        "processor time": cpu[20:],
        "bulk": bulk,
        "jobs": len(held[fullest]),
        "model": model.label,
        "events": len(history),
    }


def run() -> Section:
    """The benchmark."""
    with tempfile.TemporaryDirectory(prefix="jobsight-bench-") as name:
        log, folder = str(inputs.plain_log(Path(name))), str(Path(name) / "model")
        isolated("bench.answers:train_model", log=log, folder=folder)
        found = isolated("bench.answers:measure", cores=1, log=log, folder=folder)
    section = Section("One answer in process, history indexed")
    section.say(
        f"{found['events']:,} events, model {found['model']}, one core. Single jobs, "
        f"{len(found['wall time'])} of them, are answered at {_MOMENTS} moments in random order; "
        "bulk is every job held at the busiest moment."
    )
    section.table(
        ["one answer, ms", "median", "99 %", "most"],
        [_row(kind, np.array(found[kind]) * 1e3) for kind in ("wall time", "processor time")],
    )
    bulk = found["bulk"]
    rate, per_cpu = (found["jobs"] / median(bulk[kind]) for kind in ("seconds", "cpu"))
    section.say(
        f"In bulk, {found['jobs']:,} jobs: {rate:,.0f} answers/s (runs {spread(bulk['seconds'])}), "
        f"{per_cpu:,.0f} per second of processor time."
    )
    return section


def _row(kind: str, milliseconds: NDArray[np.float64]) -> list[str]:
    values = (np.median(milliseconds), np.quantile(milliseconds, 0.99), milliseconds.max())
    return [kind, *(f"{value:.2f}" for value in values)]
