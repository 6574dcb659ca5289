"""Watching a network being fitted: what an epoch came to, and a say in whether to go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jobsight.models.base import Floats

__all__ = ["Epoch", "EpochRecord", "FitEnd", "FitStatus", "FittingWatch"]

EpochRecord = dict[str, float | None]
FitStatus = Literal["finished", "early", "stopped", "until"]


@dataclass(frozen=True)
class Epoch:
    """What one epoch came to.

    Attributes:
        number: counted from 1.
        train_loss: mean weighted cross-entropy of the batches, each before its step.
        select_loss: of the select rows after the epoch; None without one.
        select: P(success) of the select rows: float64 (k,), k may be 0.
        seconds: wall time.
        cpu_seconds: processor time of this process.
    """

    number: int
    train_loss: float
    select_loss: float | None
    select: Floats
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True)
class FitEnd:
    """How a fit ended.

    Attributes:
        status: ``finished`` (all epochs), ``early`` (patience); ``stopped`` or ``until``: the
            model is not fitted yet, its last checkpoint is where it goes on.
        epochs: trained in all.
        best_epoch: whose weights are kept, counted from 1; 0 without any.
        records: what the watch records of each epoch, those before a resume too.
    """

    status: FitStatus
    epochs: int
    best_epoch: int
    records: tuple[EpochRecord, ...]


class FittingWatch:
    """Watches a fit, and may end it; this one does neither."""

    def begins(self, records: tuple[EpochRecord, ...], notes: tuple[str, ...]) -> None:
        """Training begins.

        Args:
            records: of each epoch that a checkpoint had done already.
            notes: what was wrong with other checkpoints.
        """

    def measured(self, epoch: Epoch) -> EpochRecord:
        """What to keep of an epoch, in the checkpoint too."""
        return {"train_loss": epoch.train_loss, "select_loss": epoch.select_loss}

    def saved(self, number: int, record: EpochRecord) -> None:
        """An epoch is done and its checkpoint, where any are kept, lies on disk."""

    def enough(self, left: int) -> bool:
        """Whether to stop behind an epoch that was saved, and to go on another time.

        Asked only where another would follow, and never before the first of a call.

        Args:
            left: epochs that would follow at most.
        """
        return False

    def stop(self) -> bool:
        """Whether to stop now; asked before each batch. The epoch under way is then abandoned."""
        return False
