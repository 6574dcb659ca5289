"""One run of a sweep: one point, trained on earlier decisions and measured on the validation block.

After each epoch its state is in ``checkpoint/`` and its record in ``run.json``, so that it resumes
wherever it is started again. What is wrong with its parameters (they are impossible, its loss
became NaN, it is too large) is its result; what is wrong with the machine is raised.
"""

from __future__ import annotations

import datetime as dt
import math
import shutil
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobsight.errors import JobsightError, SettingsError, TrainingError
from jobsight.learning.backtest import last_block
from jobsight.learning.dataset import Dataset
from jobsight.learning.train import fit_model
from jobsight.models.watching import Epoch as Fitted
from jobsight.models.watching import EpochRecord, FittingWatch
from jobsight.text import printable
from jobsight.tuning.config import HAVE_EPOCHS, SweepConfig
from jobsight.tuning.record import Epoch, RunRecord
from jobsight.tuning.space import with_parameters
from jobsight.tuning.tracking import Tracker

__all__ = ["CHECKPOINTS", "train_run"]

CHECKPOINTS = "checkpoint"
_NO_MEMORY = ("allocate memory", "out of memory")
"""What PyTorch's errors say where memory, or a GPU's memory, does not suffice."""


def train_run(
    folder: Path,
    config: SweepConfig,
    record: RunRecord,
    source: Callable[[], Any],
    tracker: Tracker,
    *,
    stop: Callable[[], bool] = lambda: False,
    is_hopeless: Callable[[RunRecord], bool] = lambda _record: False,
    save_every: int = 0,
) -> bool:
    """Train one point of a sweep, from where an earlier attempt stopped.

    Args:
        folder: of the run.
        config: of the sweep.
        record: of the run; it is brought up to date, and written after each epoch.
        source: reads what the question is asked of; not called where nothing is to be done.
        tracker: gets the run.
        stop: asked before each batch, and around the preparation.
        is_hopeless: is given the record after each epoch; whether the run is to end there.
        save_every: seconds of training after which to stop so that the checkpoint is fetched; 0:
            never.

    Returns:
        whether the run ended; if not, it is to be started again.

    Raises:
        JobsightError: the GPU asked for is missing, PyTorch fails, a file cannot be written; or
            what `source` raises. All that may pass elsewhere.
    """
    if record.state != "running":
        return True
    attempt = _Attempt(folder, config, record, tracker, stop, is_hopeless, save_every)
    attempt.begin()
    settings = config.fixed_settings
    try:
        settings = with_parameters(config.asked, settings, record.params)
        if config.trained in HAVE_EPOCHS:
            _require_device(settings)
        if not stop():
            data = Dataset.for_training(config.asked, source(), settings)
            if not stop():
                attempt.train(data, settings)
    except (SettingsError, TrainingError, MemoryError, RuntimeError) as error:
        if isinstance(error, SettingsError | TrainingError):
            cause = str(error)
        elif isinstance(error, MemoryError) or any(word in str(error) for word in _NO_MEMORY):
            cause = "too large for the memory there is"
        else:
            first = (str(error).splitlines() or [""])[0]
            raise JobsightError(
                f"run {record.run}: PyTorch failed: {printable(first, 300)}"
            ) from error
        attempt.end("failed", error=printable(cause, 500))
    if record.state == "running":
        attempt.interrupt()
    return record.state != "running"


def _require_device(settings: Any) -> None:
    """Raise for a missing GPU what is not the fault of the parameters."""
    from jobsight.models.determinism import device_of

    try:
        device_of(settings.lstm)
    except TrainingError as error:
        raise JobsightError(str(error)) from None


@dataclass
class _Attempt(FittingWatch):
    """One attempt at a run; measures every epoch on the validation block, and may stop the fit."""

    folder: Path
    config: SweepConfig
    record: RunRecord
    tracker: Tracker
    asked: Callable[[], bool]
    is_hopeless: Callable[[RunRecord], bool]
    save_every: int

    def __post_init__(self) -> None:
        self._begun, self._before = time.monotonic(), self.record.seconds
        self._training = self._begun
        self._metrics: dict[int, dict[str, float | None]] = {}
        self._pruned = False

    def begin(self) -> None:
        """Record the start."""
        record = self.record
        record.attempts += 1
        record.host, record.stopped = socket.gethostname(), None
        record.started = record.started or _now()
        record.write(self.folder)
        shown = self.config.model_dump(include={"question", "model", "seed"})
        self.tracker.start(record.run, record.params, shown)

    def train(self, data: Dataset, settings: Any) -> None:
        """Train to the end, or to where it is to stop."""
        taught, self._later = last_block(data)
        self._goal = data.goal
        name = self.config.trained
        if name not in HAVE_EPOCHS:
            began = time.monotonic()
            model = fit_model(name, data, taught)
            rows = self._later
            scores = data.goal.scores(model.predict(rows.inputs), rows.values, rows.weight)
            spent = {"seconds": time.monotonic() - began}
            self.saved(1, {**spent, "select_loss": scores.get(data.goal.loss), **scores})
            self._conclude("epochs")
            return
        from jobsight.models.recurrent import Recurrent
        from jobsight.models.watching import Checkpoints

        end = Recurrent(settings.lstm).fit_resumably(
            taught,
            self._later,
            seed=settings.seed,
            checkpoints=Checkpoints(self.folder / CHECKPOINTS),
            watch=self,
        )
        if end.status in ("finished", "early") or self._pruned:
            how = {"finished": "epochs", "early": "patience"}.get(end.status, "pruned")
            self._conclude(how)

    def begins(self, records: tuple[EpochRecord, ...], notes: tuple[str, ...]) -> None:
        """See `FittingWatch.begins`; the epochs of the checkpoint are those that count."""
        self._training = time.monotonic()
        self.record.epochs = []
        for number, values in enumerate(records, start=1):
            self._take(number, values)

    def measured(self, epoch: Fitted) -> EpochRecord:
        """Losses, time, and all metrics of the validation block: they cost milliseconds."""
        rows = self._later
        scores = self._goal.scores(epoch.select, rows.values, rows.weight)
        return {**super().measured(epoch), "seconds": epoch.seconds, **scores}

    def saved(self, number: int, record: EpochRecord) -> None:
        """See `FittingWatch.saved`."""
        self._take(number, record)
        self.record.seconds = self._before + time.monotonic() - self._begun
        self.record.write(self.folder)
        self.tracker.log(number, record)
        self._pruned = self.is_hopeless(self.record)

    def _take(self, number: int, values: EpochRecord) -> None:
        metric = values.get(self.config.metric.name)
        self.record.epochs.append(
            Epoch(
                number,
                _finite(values.get("train_loss")),
                _finite(values.get("select_loss")),
                _finite(metric),
                _finite(values.get("seconds")),
            )
        )
        names = next(iter(self.config.asked.targets.values())).metrics
        self._metrics[number] = {name: _finite(values.get(name)) for name in names}

    def enough(self, left: int) -> bool:
        """See `FittingWatch.enough`."""
        trained = time.monotonic() - self._training
        return self._pruned or bool(self.save_every and trained >= self.save_every)

    def stop(self) -> bool:
        """See `FittingWatch.stop`."""
        return self.asked()

    def _conclude(self, stopped: str) -> None:
        """End the run with its best epoch by the configured metric; of equal ones the first."""
        record, metric = self.record, self.config.metric
        sign = 1 if metric.goal == "maximize" else -1
        judged = [one for one in record.epochs if one.metric is not None]
        best = max(judged, key=lambda one: sign * (one.metric or 0.0), default=None)
        if best is None:
            self.end("failed", error=f"{metric.name} is undefined on the validation block")
            return
        record.value, record.best_epoch = best.metric, best.epoch
        record.metrics = self._metrics[best.epoch]
        self.end("pruned" if stopped == "pruned" else "complete", stopped=stopped)

    def end(self, state: Any, *, stopped: str | None = None, error: str | None = None) -> None:
        """Record the end; the checkpoints are of no further use."""
        record = self.record
        record.seconds = self._before + time.monotonic() - self._begun
        record.state, record.stopped, record.error, record.ended = state, stopped, error, _now()
        record.write(self.folder)
        shutil.rmtree(self.folder / CHECKPOINTS, ignore_errors=True)
        summary = {"best_epoch": record.best_epoch, "stopped": stopped, **record.metrics}
        self.tracker.finish(summary, failed=error)

    def interrupt(self) -> None:
        """Record that the attempt ended, and the run did not."""
        self.record.seconds = self._before + time.monotonic() - self._begun
        self.record.stopped = "cancelled"
        self.record.write(self.folder)
        self.tracker.finish({"stopped": "cancelled"}, failed="interrupted; it is to resume")


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
