"""A fit between its epochs: what watches it, and the checkpoint that it resumes from.

A checkpoint is the state after the last epoch, as one safetensors file. The file's metadata say
what the tensors are: schema, epoch, identity of the training, plain facts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from jobsight.errors import OutputError
from jobsight.files import new_file, without_nan
from jobsight.models.base import Floats

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Checkpoint", "Checkpoints", "Epoch", "EpochRecord", "FitEnd", "FitStatus",
           "FittingWatch"]  # fmt: skip

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
    """

    number: int
    train_loss: float
    select_loss: float | None
    select: Floats
    seconds: float


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

        `records` are of each epoch that a checkpoint had done already, `notes` say what was wrong
        with other checkpoints.
        """

    def measured(self, epoch: Epoch) -> EpochRecord:
        """What to keep of an epoch, in the checkpoint too."""
        return {"train_loss": epoch.train_loss, "select_loss": epoch.select_loss}

    def saved(self, number: int, record: EpochRecord) -> None:
        """An epoch is done and its checkpoint, where any are kept, lies on disk."""

    def enough(self, left: int) -> bool:
        """Whether to stop behind an epoch that was saved, and to go on another time.

        Asked only where another would follow, and never before the first of a call.
        """
        return False

    def stop(self) -> bool:
        """Whether to stop now; asked before each batch. The epoch under way is then abandoned."""
        return False


SCHEMA = "jobsight.checkpoint/2"


@dataclass(frozen=True)
class Checkpoint:
    """The state after an epoch.

    Attributes:
        epoch: how many were trained.
        tensors: by name, on the CPU.
        facts: plain data.
    """

    epoch: int
    tensors: Mapping[str, Tensor]
    facts: Mapping[str, Any]


class Checkpoints:
    """A folder with the newest checkpoint of one training; one process writes it at a time.

    Attributes:
        path: of the checkpoint; its folder is made when the first is written.
        notes: why a checkpoint that was there was set aside.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "checkpoint.safetensors"
        self.notes: list[str] = []

    def save(self, checkpoint: Checkpoint, identity: str) -> None:
        """Replace the checkpoint in one step.

        Raises:
            OutputError: it cannot be written (disk full, no permission); the one before stays.
        """
        from safetensors.torch import save

        facts = json.dumps(without_nan(dict(checkpoint.facts)))
        about = {"schema": SCHEMA, "epoch": str(checkpoint.epoch), "identity": identity}
        content = save(dict(checkpoint.tensors), {**about, "facts": facts})
        with new_file(self.path) as temporary:
            temporary.write_bytes(content)

    def newest(self, identity: str) -> Checkpoint | None:
        """The checkpoint of this training; any other is set aside.

        Raises:
            OutputError: what is to be set aside cannot be renamed.
        """
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(self.path, "pt") as file:
                about = file.metadata() or {}
                if about.get("schema") != SCHEMA:
                    raise ValueError("it is not written by this version")
                if about.get("identity") != identity:
                    raise ValueError("it belongs to a training with other data or settings")
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return Checkpoint(int(about["epoch"]), tensors, json.loads(about["facts"]))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self.set_aside(error.strerror or str(error))
        except (SafetensorError, ValueError, KeyError) as error:
            self.set_aside(str(error))
        return None

    def set_aside(self, reason: str) -> None:
        """Rename the checkpoint, so that the training begins anew, and note why."""
        self.notes.append(f"the checkpoint was set aside: {reason}"[:500])
        try:
            self.path.replace(self.path.with_name(f"aside-{self.path.name}"))
        except OSError as error:
            raise OutputError(f"cannot rename {self.path}: {error.strerror}") from None
