"""One run of a sweep: how far it is, its epochs, its metrics, where it ran."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ENDED", "MOST_METRICS", "Attempt", "Best", "Epochs", "Goal", "RunRecord", "RunStatus"]

Goal = Literal["maximize", "minimize"]

MOST_METRICS = 64
"""More columns than that are not kept."""


class RunStatus(StrEnum):
    """How far a run is, by its own folder."""

    WAITING = "waiting"
    RUNNING = "running"
    STOPPED = "stopped"
    FINISHED = "finished"
    EARLY = "early"
    FAILED = "failed"
    DROPPED = "dropped"
    UNREADABLE = "unreadable"

    @property
    def ended(self) -> bool:
        """Whether the run is over for good."""
        return self in ENDED

    @property
    def successful(self) -> bool:
        """Whether it ended with a model that may be the best."""
        return self in {RunStatus.FINISHED, RunStatus.EARLY}


ENDED = frozenset({RunStatus.FINISHED, RunStatus.EARLY, RunStatus.FAILED, RunStatus.DROPPED})


class Best(NamedTuple):
    """The best value of a metric, and the epoch that had it (None where unknown)."""

    value: float
    epoch: int | None


@dataclass(frozen=True)
class Attempt:
    """One stretch of work on a run, on one machine; a save does not end it. Times in µs since 1970.

    `ending` is ``evicted``, ``limit`` or ``until``; ``end`` where the run ended for good; ``lost``
    where the next attempt began without an end of this one; ``saved`` where it saved and did not go
    on there. `epoch` is the last one it trained, or went on from. None is unknown.
    """

    host: str | None
    started: int | None
    last: int | None
    ending: str | None = None
    epoch: int = 0

    @property
    def cut_short(self) -> bool:
        """Whether it ended before its work was done."""
        return self.ending in {"evicted", "limit", "lost"}

    @property
    def seconds(self) -> float:
        """From its first line to its last; 0 where these have no times."""
        return max(self.last - self.started, 0) / 1e6 if self.started and self.last else 0.0


@dataclass(frozen=True)
class Epochs:
    """What was reported after each epoch, in order of epochs; those lost to damage are missing.

    Attributes:
        number: int64 (epochs,), rising, counted from 1. time: int64 (epochs,), µs since 1970.
        columns: float64 (epochs,) by name (``train_loss``, ``select_loss``, ``seconds``, metrics);
        NaN
            where undefined or missing.
    """

    number: NDArray[np.int64]
    time: NDArray[np.int64]
    columns: Mapping[str, NDArray[np.float64]]

    @classmethod
    def of(cls, values: Mapping[int, tuple[int, Mapping[str, float]]]) -> Epochs:
        """Columns from epoch → its time and values."""
        order = sorted(values)
        names = dict.fromkeys(name for number in order for name in values[number][1])
        columns = {
            name: np.array([values[number][1].get(name, math.nan) for number in order], np.float64)
            for name in list(names)[:MOST_METRICS]
        }
        time = np.array([values[number][0] for number in order], np.int64)
        return cls(np.array(order, np.int64), time, columns)

    def __len__(self) -> int:
        return len(self.number)

    def best(self, metric: str, goal: Goal) -> Best | None:
        """The first epoch with the best value of `metric`; None where no epoch has one."""
        values = self.columns.get(metric)
        if values is None or not np.isfinite(values).any():
            return None
        place = int(np.nanargmax(values) if goal == "maximize" else np.nanargmin(values))
        return Best(float(values[place]), int(self.number[place]))


@dataclass
class RunRecord:
    """One run, as its folder has it.

    Attributes:
        run: its number; None where neither the record nor the folder's name has it.
        parameters: the point searched, as JSON data.
        seed: of the training; None before it started.
        attempts: how often it was started; continuing from a save is not a start.
        history: of the attempts, in order; the latest where there are very many.
        repeated: epochs that were trained more than once, each time but the first.
        started: µs since 1970, of the first attempt; None before it.
        last_update: µs since 1970, of the last line.
        cause: why it failed, was dropped, or cannot be read: one line, printable.
        metrics: of the validation block with the kept weights, once it ended; NaN where undefined.
        seconds: wall time; of the epochs so far, before the end.
        skipped: lines that could not be used.
    """

    folder: Path
    run: int | None = None
    status: RunStatus = RunStatus.WAITING
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    attempts: int = 0
    history: tuple[Attempt, ...] = ()
    repeated: int = 0
    started: int | None = None
    last_update: int | None = None
    cause: str | None = None
    epochs: Epochs = field(default_factory=lambda: Epochs.of({}))
    metrics: Mapping[str, float] = field(default_factory=dict)
    best_epoch: int | None = None
    seconds: float = 0.0
    cpu_seconds: float | None = None
    peak_bytes: int | None = None
    skipped: int = 0

    def best(self, metric: str, goal: Goal) -> Best | None:
        """The metric of the kept weights once the run ended, else the best of its epochs so far."""
        value = self.metrics.get(metric, math.nan)
        if math.isfinite(value):
            return Best(value, self.best_epoch)
        return None if self.status.ended else self.epochs.best(metric, goal)
