"""Fitting a network, an epoch at a time: what is trained, how far it is, and its state as data.

One loop serves a model that is fitted at once and a run that is interrupted and goes on elsewhere:
a `Fitting` restored from the state after an epoch does, bit by bit, what it would have done then.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from jobsight.errors import TrainingError
from jobsight.models.adamw import AdamW
from jobsight.models.base import Floats, Labelled
from jobsight.models.checkpoints import Checkpoint, Checkpoints
from jobsight.models.logistic import sigmoid
from jobsight.models.watching import Epoch, EpochRecord, FitEnd, FitStatus, FittingWatch
from jobsight.settings import LstmSettings

__all__ = ["Examples", "Fitting", "fit_network", "rows_at_once"]

GRADIENT_NORM = 5.0
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


@dataclass
class _Progress:
    epoch: int = 0
    best: float = math.inf
    best_epoch: int = 0
    records: list[EpochRecord] = field(default_factory=list)


class Fitting:
    """A network being fitted by weighted cross-entropy, AdamW, with early stopping.

    Use it within `jobsight.models.determinism.deterministic`, which the random numbers of dropout
    come from; one thread.

    Attributes:
        network: in training.
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
        self._order = torch.Generator().manual_seed(seed)
        self._optimizer = AdamW(network.parameters(), settings.learning_rate, settings.weight_decay)
        self._kept = _copied(network.state_dict())
        self._progress = _Progress()

    @property
    def epoch(self) -> int:
        """Epochs done."""
        return self._progress.epoch

    @property
    def records(self) -> list[EpochRecord]:
        """The records of the epochs done."""
        return self._progress.records

    @property
    def exhausted(self) -> bool:
        """Whether patience is at its end: no better select loss for so many epochs."""
        waited = self._progress.epoch - self._progress.best_epoch
        return self._select is not None and waited >= self._settings.patience

    @property
    def done(self) -> bool:
        """Whether there is no epoch more to train."""
        return self.exhausted or self._progress.epoch >= self._settings.epochs

    def left(self, until: int | None) -> int:
        """Epochs to go at most, up to `until` where one is given."""
        last = self._settings.epochs if until is None else min(until, self._settings.epochs)
        return last - self._progress.epoch

    def end(self, status: FitStatus) -> FitEnd:
        """How it ended, as the caller is to see it."""
        progress = self._progress
        return FitEnd(status, progress.epoch, progress.best_epoch, tuple(progress.records))

    def keep_best(self) -> nn.Module:
        """The network with the weights that did best on the select rows, on the CPU."""
        self.network.load_state_dict(self._kept)
        return self.network.cpu().eval()

    def train_epoch(self, stop: Callable[[], bool]) -> Epoch | None:
        """Train one epoch more; None where `stop` said so: then restore, or begin anew.

        Raises:
            TrainingError: the loss, or a weight, is no finite number any more.
        """
        number = self._progress.epoch + 1
        started, spent = time.perf_counter(), time.process_time()
        self.network.train()
        shuffled = torch.randperm(len(self._train), generator=self._order)
        total = 0.0
        for rows in torch.split(shuffled, self._settings.batch_size):
            if stop():
                return None
            total += self._step(rows, number)
        select_loss, select = self._judge(number)
        self._progress.epoch = number
        self._keep(select_loss)
        return Epoch(
            number,
            total / len(self._train),
            select_loss,
            select,
            time.perf_counter() - started,
            time.process_time() - spent,
        )

    def _step(self, rows: Tensor, number: int) -> float:
        self._optimizer.zero_grad()
        loss = self._train.loss(self._train.logits(self.network, rows), rows)
        value = float(loss.detach())
        self._require_finite(value, number)
        (loss / len(rows)).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), GRADIENT_NORM)
        self._optimizer.step()
        return value

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

    def _keep(self, select_loss: float | None) -> None:
        progress = self._progress
        if select_loss is None or select_loss < progress.best:
            progress.best = math.inf if select_loss is None else select_loss
            progress.best_epoch = progress.epoch
            self._kept = _copied(self.network.state_dict())

    def checkpoint(self) -> Checkpoint:
        """All that training goes on from: weights, best weights, optimizer, random numbers."""
        progress = self._progress
        facts = {
            "best": progress.best if math.isfinite(progress.best) else None,
            "best_epoch": progress.best_epoch,
            "records": list(progress.records),
            "torch": torch.__version__,
        }
        return Checkpoint(progress.epoch, self._tensors(), facts)

    def _tensors(self) -> dict[str, Tensor]:
        tensors = {f"network.{name}": one for name, one in self.network.state_dict().items()}
        tensors |= {f"kept.{name}": one for name, one in self._kept.items()}
        for number, state in self._optimizer.state.items():
            tensors |= {f"optimizer.{number}.{name}": one for name, one in state.items()}
        tensors |= {"random.order": self._order.get_state(), "random.torch": torch.get_rng_state()}
        if self._train.device.type == "cuda":
            tensors["random.cuda"] = torch.cuda.get_rng_state(self._train.device)
        return _copied(tensors)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint.

        Raises:
            ValueError: it does not fit this network; nothing has changed then.
        """
        tensors, progress = checkpoint.tensors, _progress_of(checkpoint)
        self._require_fitting(tensors)
        if progress.epoch > self._settings.epochs:
            raise ValueError(f"it has more than {self._settings.epochs} epochs behind it")
        parts = _by_owner(tensors)
        self.network.load_state_dict(parts["network"])
        self._kept = parts["kept"]
        states = _by_owner(parts["optimizer"])
        self._optimizer.restore({int(number): state for number, state in states.items()})
        self._order.set_state(tensors["random.order"])
        torch.set_rng_state(tensors["random.torch"])
        if self._train.device.type == "cuda" and "random.cuda" in tensors:
            torch.cuda.set_rng_state(tensors["random.cuda"], self._train.device)
        self._progress = progress

    def _require_fitting(self, tensors: Mapping[str, Tensor]) -> None:
        mine = self._tensors()
        wanted = {name for name in mine if not name.startswith(("optimizer.", "random.cuda"))}
        for name in sorted(wanted):
            there = tensors.get(name)
            if there is None or (there.shape, there.dtype) != (mine[name].shape, mine[name].dtype):
                raise ValueError(f"it lacks {name[:80]}, or has it in another form")


def fit_network(
    fitting: Fitting,
    checkpoints: Checkpoints | None,
    identity: str,
    watch: FittingWatch,
    until: int | None,
) -> FitEnd:
    """Train to the end, or to where `watch` or `until` says stop, from the last usable checkpoint.

    Args:
        fitting: not begun.
        checkpoints: where the state is kept after every epoch; nowhere if None.
        identity: see `Checkpoints.save`.
        watch: is called after every epoch.
        until: the last epoch to train now.

    Raises:
        TrainingError: the loss is no number any more.
        OutputError: a checkpoint cannot be written.
    """
    notes = _resumed(fitting, checkpoints, identity)
    watch.begins(tuple(fitting.records), notes)
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


def _resumed(fitting: Fitting, checkpoints: Checkpoints | None, identity: str) -> tuple[str, ...]:
    """Restore the newest checkpoint that fits; what was wrong with newer ones."""
    if checkpoints is None:
        return ()
    for checkpoint in checkpoints.usable(identity):
        try:
            fitting.restore(checkpoint)
        except ValueError as error:
            checkpoints.set_aside(checkpoint.epoch, str(error))
        else:
            break
    return tuple(checkpoints.notes)


def _progress_of(checkpoint: Checkpoint) -> _Progress:
    facts = checkpoint.facts
    try:
        best = facts["best"]
        return _Progress(
            checkpoint.epoch,
            math.inf if best is None else float(best),
            int(facts["best_epoch"]),
            [dict(record) for record in facts["records"]],
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"its facts are damaged ({error})") from None


def _copied(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Copies on the CPU that share nothing with what goes on changing."""
    return {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }


def _by_owner(tensors: Mapping[str, Tensor]) -> dict[str, dict[str, Tensor]]:
    """``{"network.embed.bias": …}`` → ``{"network": {"embed.bias": …}}``."""
    parts: dict[str, dict[str, Tensor]] = defaultdict(dict)
    for name, tensor in tensors.items():
        owner, _, rest = name.partition(".")
        parts[owner][rest] = tensor
    return parts
