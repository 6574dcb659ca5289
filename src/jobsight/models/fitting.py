"""Fitting a network, an epoch at a time: what is trained, how far it is, and its state as data.

One loop serves a model that is fitted at once and a run that is interrupted and goes on elsewhere.
Each epoch draws its random numbers from the seed and its own number.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from jobsight.errors import TrainingError
from jobsight.models.base import Floats, Labelled
from jobsight.models.logistic import sigmoid
from jobsight.models.watching import (
    Checkpoint,
    Checkpoints,
    Epoch,
    EpochRecord,
    FitEnd,
    FitStatus,
    FittingWatch,
)
from jobsight.settings import LstmSettings

__all__ = ["Examples", "Fitting", "fit_network", "rows_at_once"]

GRADIENT_NORM = 5.0
_SEEDS = 1_000_003
"""Between the seeds of two epochs."""
_CELLS_AT_ONCE = 1 << 23
"""Numbers that a network may hold for rows that are only asked about: 32 MiB of float32."""


def rows_at_once(m: int, j: int, hidden: int) -> int:
    """How many rows to ask a network about at once, so that memory stays bounded."""
    return max(1, min(4096, _CELLS_AT_ONCE // (m * (j + 8 * hidden))))


@dataclass(frozen=True)
class Examples:
    """Examples as tensors, frames on the CPU as one byte a cell.

    Attributes:
        frames: uint8 (n, m, j).
        rest: float32 (n, r).
        start: float32 (n,), log-odds that the network's are added to.
        success: float32 (n,).
        weight: float32 (n,), of mean 1.
        device: where batches are brought.
    """

    frames: Tensor
    rest: Tensor
    start: Tensor
    success: Tensor
    weight: Tensor
    device: torch.device

    @classmethod
    def of(
        cls, examples: Labelled, columns: Floats, start: Floats, device: torch.device
    ) -> Examples:
        """Tensors of examples whose other columns are float64 (n, r), and `start` (n,)."""
        assert examples.inputs.frames is not None
        weight = examples.weight / examples.weight.mean()
        rest, begin, success, weights = (
            torch.from_numpy(one.astype(np.float32)).to(device)
            for one in (columns, start, examples.success, weight)
        )
        frames = torch.from_numpy(np.ascontiguousarray(examples.inputs.frames))
        return cls(frames, rest, begin, success, weights, device)

    def __len__(self) -> int:
        return len(self.success)

    def logits(self, network: nn.Module, rows: Tensor) -> Tensor:
        """Log-odds of some rows: float32 (k,)."""
        frames, rows = self.frames[rows].to(self.device).long(), rows.to(self.device)
        logits: Tensor = network(frames, self.rest[rows]) + self.start[rows]
        return logits

    def loss(self, logits: Tensor, rows: Tensor) -> Tensor:
        """Weighted cross-entropy summed over the rows: a scalar."""
        rows = rows.to(self.device)
        return functional.binary_cross_entropy_with_logits(
            logits, self.success[rows], self.weight[rows], reduction="sum"
        )


class Fitting:
    """A network being fitted by weighted cross-entropy, AdamW, with early stopping.

    Use it within `jobsight.models.determinism.deterministic`, which the random numbers of dropout
    come from; one thread.

    Attributes:
        network: in training.
        epoch: how many are done.
        records: what the caller said of each epoch, kept in the state.
    """

    def __init__(
        self,
        network: nn.Module,
        train: Examples,
        select: Examples | None,
        settings: LstmSettings,
        seed: int,
    ) -> None:
        self.network = network
        self._train, self._select, self._settings = train, select, settings
        self._seed = seed
        self._optimizer = torch.optim.AdamW(
            network.parameters(), settings.learning_rate, weight_decay=settings.weight_decay
        )
        self._kept = _copied(network.state_dict())
        self.epoch = self._best_epoch = 0
        self._best = math.inf
        self.records: list[EpochRecord] = []

    @property
    def exhausted(self) -> bool:
        """Whether patience is at its end: no better select loss for so many epochs."""
        waited = self.epoch - self._best_epoch
        return self._select is not None and waited >= self._settings.patience

    @property
    def done(self) -> bool:
        """Whether there is nothing more to train."""
        return self.exhausted or self.epoch >= self._settings.epochs

    def left(self, until: int | None) -> int:
        """Epochs to go at most, up to `until` where one is given."""
        last = self._settings.epochs if until is None else min(until, self._settings.epochs)
        return last - self.epoch

    def end(self, status: FitStatus) -> FitEnd:
        """How it ended, as the caller is to see it."""
        return FitEnd(status, self.epoch, self._best_epoch, tuple(self.records))

    def keep_best(self) -> nn.Module:
        """The network with the weights that did best on the select rows, on the CPU."""
        self.network.load_state_dict(self._kept)
        return self.network.cpu().eval()

    def train_epoch(self, stop: Callable[[], bool]) -> Epoch | None:
        """Train one epoch more; None where `stop` said so: then restore, or begin anew.

        Raises:
            TrainingError: the loss, or a weight, is not finite any more.
        """
        number = self.epoch + 1
        started = time.perf_counter()
        self.network.train()
        torch.manual_seed(self._seed + _SEEDS * number)
        shuffled = torch.randperm(len(self._train))
        total = 0.0
        for rows in torch.split(shuffled, self._settings.batch_size):
            if stop():
                return None
            self._optimizer.zero_grad()
            loss = self._train.loss(self._train.logits(self.network, rows), rows)
            value = float(loss.detach())
            self._require_finite(value, number)
            (loss / len(rows)).backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self.network.parameters(), GRADIENT_NORM)
            self._optimizer.step()
            total += value
        select_loss, select = self._judge(number)
        self.epoch = number
        if select_loss is None or select_loss < self._best:
            self._best = math.inf if select_loss is None else select_loss
            self._best_epoch = number
            self._kept = _copied(self.network.state_dict())
        return Epoch(
            number,
            total / len(self._train),
            select_loss,
            select,
            time.perf_counter() - started,
        )

    def _judge(self, number: int) -> tuple[float | None, Floats]:
        """Loss and P(success) of the select rows as the network is now."""
        self.network.eval()
        if self._select is None:
            for weight in self.network.parameters():
                self._require_finite(float(weight.detach().sum()), number)
            return None, np.zeros(0)
        total, parts = 0.0, []
        m, j = self._select.frames.shape[1:3]
        with torch.no_grad():
            size = rows_at_once(m, j, self._settings.hidden_size)
            for rows in torch.split(torch.arange(len(self._select)), size):
                logits = self._select.logits(self.network, rows)
                total += float(self._select.loss(logits, rows))
                parts.append(logits.cpu().numpy().astype(np.float64))
        self._require_finite(total, number)
        return total / len(self._select), sigmoid(np.concatenate(parts))

    def _require_finite(self, value: float, number: int) -> None:
        if not math.isfinite(value):
            shown = "NaN" if math.isnan(value) else "infinite"
            rate = self._settings.learning_rate
            raise TrainingError(
                f"the loss became {shown} in epoch {number} (learning_rate {rate:g})"
            )

    def checkpoint(self) -> Checkpoint:
        """All that training goes on from: weights, best weights, optimizer."""
        facts = {
            "best": self._best if math.isfinite(self._best) else None,
            "best_epoch": self._best_epoch,
            "records": list(self.records),
            "torch": torch.__version__,
        }
        parts = {"network": self.network.state_dict(), "kept": self._kept}
        for number, state in self._optimizer.state_dict()["state"].items():
            parts[f"optimizer.{number}"] = state
        tensors = {
            f"{part}.{name}": tensor
            for part, state in parts.items()
            for name, tensor in state.items()
        }
        return Checkpoint(self.epoch, _copied(tensors), facts)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint of a training with the same data and settings.

        Raises:
            ValueError: it does not fit; nothing has changed then.
        """
        facts = checkpoint.facts
        networks: dict[str, dict[str, Tensor]] = {"network": {}, "kept": {}}
        optimizer: dict[int, dict[str, Tensor]] = {}
        if checkpoint.epoch > self._settings.epochs:
            raise ValueError(f"it has more than {self._settings.epochs} epochs behind it")
        for name, tensor in checkpoint.tensors.items():
            part, _, rest = name.partition(".")
            if part == "optimizer":
                number, _, rest = rest.partition(".")
                optimizer.setdefault(int(number), {})[rest] = tensor
            else:
                networks[part][rest] = tensor
        shapes, own = (
            {name: tensor.shape for name, tensor in state.items()}
            for state in (networks["network"], self.network.state_dict())
        )
        if shapes != own:
            raise ValueError("it is of another network")
        groups = self._optimizer.state_dict()["param_groups"]
        self._kept = _copied(networks["kept"])
        self.network.load_state_dict(networks["network"])
        self._optimizer.load_state_dict({"state": optimizer, "param_groups": groups})
        self._best = math.inf if facts["best"] is None else float(facts["best"])
        self.epoch, self._best_epoch = checkpoint.epoch, int(facts["best_epoch"])
        self.records = [dict(record) for record in facts["records"]]


def fit_network(
    fitting: Fitting,
    checkpoints: Checkpoints | None,
    identity: str,
    watch: FittingWatch,
    until: int | None,
) -> FitEnd:
    """Train to the end, or to where `watch` or `until` says stop, from the last usable checkpoint.

    Raises:
        TrainingError: the loss is not finite any more.
        OutputError: a checkpoint cannot be written.
    """
    notes: Sequence[str] = ()
    if checkpoints is not None:
        checkpoint = checkpoints.newest(identity)
        try:
            if checkpoint is not None:
                fitting.restore(checkpoint)
        except ValueError as error:
            checkpoints.set_aside(str(error))
        notes = checkpoints.notes
    watch.begins(tuple(fitting.records), tuple(notes))
    begun = False
    while not fitting.done:
        if until is not None and fitting.epoch >= until:
            return fitting.end("until")
        if begun and watch.enough(fitting.left(until)):
            return fitting.end("stopped")
        begun = True
        epoch = fitting.train_epoch(watch.stop)
        if epoch is None:
            return fitting.end("stopped")
        record = watch.measured(epoch)
        fitting.records.append(record)
        if checkpoints is not None:
            checkpoints.save(fitting.checkpoint(), identity)
        watch.saved(epoch.number, record)
    return fitting.end("early" if fitting.exhausted else "finished")


def _copied(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Copies on the CPU that share nothing with what goes on changing."""
    return {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }
