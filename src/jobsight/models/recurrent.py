"""The recurrent model: a network over the frames, with the other columns beside it.

Needs PyTorch (``pip install 'jobsight[lstm]'``), which is imported when the model is first used.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from jobsight.errors import JobsightError, ModelError, SettingsError, TrainingError
from jobsight.models.base import Floats, Inputs, Labelled
from jobsight.models.encoding import Design
from jobsight.models.logistic import sigmoid
from jobsight.models.storage import load_arrays, load_body, save_arrays, save_body
from jobsight.settings import LstmSettings

if TYPE_CHECKING:
    import torch

    from jobsight.models.network import NetworkShape

__all__ = ["Recurrent"]

THREADS = 1
"""One: sums are then made in one order on every machine, and small networks are faster so."""
ROWS_AT_ONCE = 4096
GRADIENT_NORM = 5.0


@dataclass(frozen=True)
class _Fitted:
    design: Design
    shape: NetworkShape
    network: torch.nn.Module


class Recurrent:
    """A network over frames, trained by weighted cross-entropy with early stopping.

    Implements `jobsight.models.base.Model`. One optimizer (AdamW) serves the whole run; the weights
    of the epoch with the least loss on the select part are kept.
    """

    name: ClassVar[str] = "lstm"
    needs_both: ClassVar[bool] = True

    def __init__(self, settings: LstmSettings | None = None) -> None:
        self.settings = settings or LstmSettings()
        self._fitted: _Fitted | None = None

    @property
    def fitted(self) -> _Fitted:
        """What `fit` or `load` made.

        Raises:
            ModelError: the model is not fitted.
        """
        if self._fitted is None:
            raise ModelError("the model lstm is not fitted")
        return self._fitted

    def fit(self, train: Labelled, select: Labelled, *, seed: int) -> None:
        """Train on `train`, stop early by `select` (without its rows: after all epochs).

        PyTorch's global state (threads, random numbers, determinism) is as before afterwards.

        Raises:
            TrainingError: no frames, no rows or one class only, or PyTorch is not installed.
            SettingsError: there is no such network, or the user's own one fails.
        """
        _require_torch(TrainingError)
        if len(np.unique(train.success)) < 2:
            raise TrainingError("lstm: the training outcomes are all the same; both are needed")
        if train.inputs.frames is None:
            raise TrainingError("lstm: the examples were built without frames")
        from jobsight.models.network import NetworkShape, network_class

        design, columns = Design.fit(train, select)
        _, m, j = train.inputs.frames.shape
        shape = NetworkShape(m, j, train.inputs.state_events + 1, len(design.names))
        made = network_class(self.settings.network)
        with _deterministic(seed), _blaming(self.settings.network):
            network = made(shape, self.settings)
            data = _Tensors.of(train, columns)
            later = _Tensors.of(select, design.transform(select.inputs)) if len(select) else None
            _train(network, data, later, self.settings, seed)
        self._fitted = _Fitted(design, shape, network.eval())

    def predict(self, inputs: Inputs) -> Floats:
        """P(success) of each row: float64 (n,).

        Raises:
            ModelError: the model is not fitted, or on other features or frames.
        """
        import torch

        fitted = self.fitted
        columns = fitted.design.transform(inputs).astype(np.float32)
        frames = _checked_frames(inputs, fitted.shape)
        parts = [np.zeros(0)]
        with torch.no_grad():
            for first in range(0, len(inputs), ROWS_AT_ONCE):
                rows = slice(first, first + ROWS_AT_ONCE)
                cells = torch.from_numpy(frames[rows].astype(np.int64))  # (rows, m, j)
                logit = fitted.network(cells, torch.from_numpy(columns[rows]))  # (rows,)
                parts.append(logit.numpy().astype(np.float64))
        return sigmoid(np.concatenate(parts))

    def save(self, folder: Path) -> None:
        """Write ``model.json`` and ``network.safetensors``."""
        fitted = self.fitted
        state = fitted.network.state_dict()
        save_arrays(
            folder / "network.safetensors",
            {name: tensor.detach().cpu().numpy() for name, tensor in state.items()},
        )
        body = {
            "settings": self.settings.model_dump(mode="json"),
            "shape": asdict(fitted.shape),
            "design": fitted.design.to_json(),
        }
        save_body(folder, self.name, body)

    @classmethod
    def load(cls, folder: Path, *, network: str | None = None) -> Self:
        """Read what `save` wrote.

        A model directory never causes an import: a network of the user's own is loaded only where
        `network`, from the settings or a flag, names the same class as the directory.

        Raises:
            ModelError: a file is missing, damaged or of another schema, PyTorch is not installed,
                or the directory names a network that is neither built in nor `network`.
        """
        _require_torch(ModelError)
        import torch

        from jobsight.models.network import NETWORKS, NetworkShape, network_class

        with load_body(folder, cls.name) as body:
            settings = LstmSettings.model_validate(body["settings"])
            if settings.network not in NETWORKS and settings.network != network:
                raise ModelError(
                    f"{folder} was trained with the network {settings.network!r}; name it in the "
                    "setting hold.lstm.network if you trust that code"
                )
            model = cls(settings)
            design = Design.from_json(body["design"])
            shape = NetworkShape(**{name: int(size) for name, size in body["shape"].items()})
        arrays = load_arrays(folder / "network.safetensors")
        state = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
        with torch.random.fork_rng(devices=[]):
            made = network_class(settings.network)(shape, settings)
        try:
            made.load_state_dict(state)
        except RuntimeError as error:
            first = " ".join(str(error).split())[:200]
            raise ModelError(f"{folder} holds weights of another network ({first})") from None
        model._fitted = _Fitted(design, shape, made.eval())
        return model


@dataclass(frozen=True)
class _Tensors:
    frames: torch.Tensor  # uint8 (n, m, j)
    rest: torch.Tensor  # float32 (n, r)
    success: torch.Tensor  # float32 (n,)
    weight: torch.Tensor  # float32 (n,), of mean 1

    @classmethod
    def of(cls, examples: Labelled, columns: Floats) -> _Tensors:
        import torch

        assert examples.inputs.frames is not None
        weight = examples.weight / examples.weight.mean()
        return cls(
            torch.from_numpy(np.ascontiguousarray(examples.inputs.frames)),
            torch.from_numpy(columns.astype(np.float32)),
            torch.from_numpy(examples.success.astype(np.float32)),
            torch.from_numpy(weight.astype(np.float32)),
        )

    def loss(self, network: torch.nn.Module, rows: torch.Tensor) -> torch.Tensor:
        """Weighted cross-entropy summed over the rows: a scalar."""
        from torch.nn.functional import binary_cross_entropy_with_logits

        logit = network(self.frames[rows].long(), self.rest[rows])
        return binary_cross_entropy_with_logits(
            logit, self.success[rows], self.weight[rows], reduction="sum"
        )


def _train(
    network: torch.nn.Module,
    data: _Tensors,
    later: _Tensors | None,
    settings: LstmSettings,
    seed: int,
) -> None:
    """Fit `network` in place; it ends with the weights that did best on `later`."""
    import torch

    order = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
    )
    best, best_epoch, kept = np.inf, 0, copy.deepcopy(network.state_dict())
    for epoch in range(settings.epochs):
        network.train()
        shuffled = torch.randperm(len(data.success), generator=order)
        for rows in torch.split(shuffled, settings.batch_size):
            optimizer.zero_grad()
            loss = data.loss(network, rows) / len(rows)
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(network.parameters(), GRADIENT_NORM)
            optimizer.step()
        if later is None:
            continue
        current = _total_loss(network, later)
        if current < best:
            best, best_epoch, kept = current, epoch, copy.deepcopy(network.state_dict())
        elif epoch - best_epoch >= settings.patience:
            break
    if later is not None:
        network.load_state_dict(kept)


def _total_loss(network: torch.nn.Module, data: _Tensors) -> float:
    import torch

    network.eval()
    with torch.no_grad():
        parts = torch.split(torch.arange(len(data.success)), ROWS_AT_ONCE)
        return sum(float(data.loss(network, rows)) for rows in parts)


def _checked_frames(inputs: Inputs, shape: NetworkShape) -> NDArray[np.uint8]:
    if inputs.frames is None or inputs.frames.shape[1:] != (shape.m, shape.j):
        given = "none" if inputs.frames is None else str(inputs.frames.shape[1:])
        raise ModelError(f"lstm: it was fitted on frames of {(shape.m, shape.j)}, given {given}")
    if inputs.state_events + 1 != shape.states:
        raise ModelError(f"lstm: it was fitted on {shape.states - 1} state events")
    return inputs.frames


def _require_torch(kind: type[Exception]) -> None:
    try:
        import torch  # noqa: F401
    except ImportError:
        raise kind("the model lstm needs PyTorch: pip install 'jobsight[lstm]'") from None


@contextlib.contextmanager
def _blaming(network: str) -> Iterator[None]:
    """Turn what a network of the user's own raises into one line; ours raise nothing."""
    try:
        yield
    except Exception as error:
        if ":" not in network or isinstance(error, JobsightError):
            raise
        first = (str(error).splitlines() or [""])[0]
        raise SettingsError(
            f"the network {network!r} failed ({type(error).__name__}: {first}); see "
            "jobsight.models.network for what it is given and has to return"
        ) from None


@contextlib.contextmanager
def _deterministic(seed: int) -> Iterator[None]:
    """Fixed threads, seeded random numbers, deterministic algorithms; all put back at the end."""
    import torch

    threads: int = torch.get_num_threads()
    strict: bool = torch.are_deterministic_algorithms_enabled()
    warn_only: Any = torch.is_deterministic_algorithms_warn_only_enabled()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(THREADS)
        torch.use_deterministic_algorithms(True)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
            torch.use_deterministic_algorithms(strict, warn_only=warn_only)
