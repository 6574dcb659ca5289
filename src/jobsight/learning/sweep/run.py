"""One run of a sweep: one point of the parameters, trained, measured on later decisions, kept.

A run makes examples of the train part, never of a later one, and is measured on its last block, the
validation block. After every epoch its state lies in ``checkpoint/``, so that it goes on wherever
it is started again; ``model/`` and then ``result.json`` are written at its end. What is wrong with
its parameters (they are impossible, its loss became NaN, it is too large) is its result; what is
wrong with the machine is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jobsight.errors import JobsightError, SettingsError, TrainingError
from jobsight.learning.backtest import last_block
from jobsight.learning.dataset import Dataset
from jobsight.learning.metrics import METRICS
from jobsight.learning.question import Question
from jobsight.learning.sweep.attempt import MODEL, Attempt, Saving, Stop, Watch
from jobsight.learning.sweep.config import RESUMABLE, SweepConfig
from jobsight.learning.sweep.records import read_record
from jobsight.learning.sweep.room import require_room
from jobsight.learning.sweep.searched import with_parameters
from jobsight.learning.tracking import Ending, RunEnd, StopReason, Tracker
from jobsight.learning.train import fit_model
from jobsight.models.base import Model, held_back
from jobsight.models.checkpoints import Checkpoints
from jobsight.models.watching import EpochRecord
from jobsight.text import printable

__all__ = ["RunResult", "drop_run", "train_run"]

CHECKPOINT = "checkpoint"
_NO_MEMORY = ("allocate memory", "out of memory")
"""What PyTorch's errors say where memory, or a GPU's memory, does not suffice."""


@dataclass(frozen=True)
class RunResult:
    """What a run came to, for good or for now.

    Attributes:
        end: how it ended for good; None where it only stopped.
        stopped: why it stopped, see `StopReason`; None where it ended.
        epochs: trained so far.
    """

    end: RunEnd | None
    stopped: StopReason | None
    epochs: int


def train_run(
    folder: Path,
    source: Callable[[], Any],
    config: SweepConfig,
    *,
    parameters: Mapping[str, Any],
    run: int,
    tracker: Tracker,
    stop: Stop = lambda: None,
    until: int | None = None,
    saving: Saving | None = None,
) -> RunResult:
    """Train one point of a sweep, from where an earlier attempt left off.

    Where the parameters are to blame, that is how it ended: ``failed``.

    Args:
        folder: of the run; it gets ``checkpoint/``, ``model/`` and ``result.json``.
        source: reads all inputs, see `Question.source`; not called where nothing is to be done.
        config: of the sweep: its question, model, and the settings that it fixes.
        parameters: the point, by names that `with_parameters` knows.
        run: its number.
        tracker: gets the run; the caller opens and closes it.
        stop: asked before each batch, and before and after the preparation.
        until: the last epoch to train now.
        saving: when to stop so that what there is is fetched; None: never.

    Raises:
        JobsightError: the GPU asked for is not there, or fails; a file cannot be written; or what
            `source` raises. All that may pass elsewhere.
    """
    settings = config.fixed_settings
    attempt = Attempt(folder, run, parameters, settings, tracker)
    done = attempt.done()
    if done is not None:
        return RunResult(done, None, done.epochs)
    try:
        whole = with_parameters(config.asked, settings, parameters)
        resumable = config.trained in RESUMABLE
        if resumable:
            _require_device(whole)
        data = None if stop() else Dataset.for_training(config.asked, source(), whole)
        if data is None or stop():
            return _stopped(attempt, stop() or "evicted")
        if resumable:
            return _trained(attempt, data, whole, stop, until, saving)
        return _trained_at_once(attempt, data, config.trained)
    except (SettingsError, TrainingError, MemoryError, RuntimeError) as error:
        return _failed(attempt, _cause(error, run, config.asked, settings, parameters))


def _trained_at_once(attempt: Attempt, data: Dataset, name: str) -> RunResult:
    """Train a model that has no epochs: it is recorded as one of a single epoch."""
    taught, later = last_block(data)
    attempt.begin()
    model = fit_model(name, data, taught)
    scores = data.goal.scores(model.predict(later.inputs), later.values, later.weight)
    attempt.epochs = 1
    attempt.tracker.epoch(1, {name: value for name, value in scores.items() if value is not None})
    return _kept(attempt, model, "finished", 1, scores)


def _trained(
    attempt: Attempt,
    data: Dataset,
    settings: Any,
    stop: Stop,
    until: int | None,
    saving: Saving | None,
) -> RunResult:
    from jobsight.models.recurrent import Recurrent

    require_room(int(data.usable(data.part("train")).sum()), settings.frames, settings.lstm)
    taught, later = last_block(data)
    train, select = held_back(taught)
    model = Recurrent(settings.lstm)
    watch = Watch(attempt, data.goal, select, stop, saving)
    end = model.fit_resumably(
        train,
        select,
        seed=settings.seed,
        checkpoints=Checkpoints(attempt.folder / CHECKPOINT),
        watch=watch,
        until=until,
    )
    if end.status == "until":
        return _stopped(attempt, "until")
    if end.status == "stopped":
        return _stopped(attempt, stop() or ("saved" if watch.saving else "evicted"))
    scores = data.goal.scores(model.predict(later.inputs), later.values, later.weight)
    return _kept(attempt, model, end.status, end.best_epoch, scores)


def _kept(
    attempt: Attempt,
    model: Model,
    status: Ending,
    best_epoch: int | None,
    scores: Mapping[str, float | None],
) -> RunResult:
    files = attempt.keep_model(model)
    attempt.tracker.model(attempt.folder / MODEL)
    end = attempt.end(status, best_epoch=best_epoch, metrics=scores, files=files)
    return RunResult(end, None, end.epochs)


def _stopped(attempt: Attempt, reason: StopReason) -> RunResult:
    attempt.begin()
    attempt.tracker.stopped(reason)
    return RunResult(None, reason, attempt.epochs)


def _failed(attempt: Attempt, cause: str) -> RunResult:
    attempt.begin()
    end = attempt.end("failed", cause=printable(cause, 500))
    return RunResult(end, None, end.epochs)


def _require_device(settings: Any) -> None:
    """Raise for a missing GPU what is no fault of the parameters."""
    from jobsight.models.determinism import device_of

    try:
        device_of(settings.lstm)
    except TrainingError as error:
        raise JobsightError(str(error)) from None


def _cause(
    error: Exception,
    run: int,
    question: Question[Any],
    settings: Any,
    parameters: Mapping[str, Any],
) -> str:
    """Why these parameters fail anywhere: they are impossible, or memory does not suffice.

    Raises:
        JobsightError: PyTorch failed for another reason, which may pass elsewhere.
    """
    if isinstance(error, SettingsError | TrainingError):
        return str(error)
    if not isinstance(error, MemoryError) and not any(words in str(error) for words in _NO_MEMORY):
        first = (str(error).splitlines() or [""])[0]
        raise JobsightError(f"run {run}: PyTorch failed: {printable(first, 300)}") from error
    if not hasattr(settings, "lstm"):
        return "too large for the memory there is"
    resolved = with_parameters(question, settings, parameters)
    frames, lstm = resolved.frames, resolved.lstm
    return (
        f"too large for the memory there is (m {frames.m}, j {frames.j}, lstm_layers "
        f"{lstm.lstm_layers}, hidden_size {lstm.hidden_size}, batch_size {lstm.batch_size})"
    )


def drop_run(
    folder: Path,
    config: SweepConfig,
    *,
    parameters: Mapping[str, Any],
    run: int,
    tracker: Tracker,
    cause: str,
) -> RunResult:
    """End a run for good where it stopped: it is hopeless next to the others.

    Its metrics are those of its best epoch by select loss; no model is kept of it.

    Args:
        folder: of the run.
        config: of the sweep.
        parameters: the point.
        run: its number.
        tracker: gets the end.
        cause: why, in one line.

    Raises:
        OutputError: a file cannot be written.
    """
    attempt = Attempt(folder, run, parameters, config.fixed_settings, tracker)
    done = attempt.done()
    if done is not None:
        return RunResult(done, None, done.epochs)
    epochs = read_record(folder).epochs
    records: tuple[EpochRecord, ...] = tuple(
        {name: float(column[row]) for name, column in epochs.columns.items()}
        for row in range(len(epochs))
    )
    attempt.begin(records)
    best = epochs.best("select_loss", "minimize")
    kept = {} if best is None else records[int(np.flatnonzero(epochs.number == best.epoch)[0])]
    end = attempt.end(
        "dropped",
        cause=printable(cause, 300),
        best_epoch=None if best is None else best.epoch,
        metrics={name: kept[name] for name in METRICS if name in kept},
    )
    return RunResult(end, None, end.epochs)
