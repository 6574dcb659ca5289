"""The recurrent model: a network over the frames, with the other columns next to it.

Needs PyTorch (``pip install 'jobsight[lstm]'``), which is imported when the model is first used.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from jobsight.errors import JobsightError, ModelError, SettingsError, TrainingError
from jobsight.models.base import Floats, Inputs, Labelled, held_back
from jobsight.models.determinism import deterministic, device_of, require_torch
from jobsight.models.encoding import Design
from jobsight.models.logistic import sigmoid
from jobsight.models.storage import load_arrays, load_body, save_arrays, save_body
from jobsight.models.watching import FitEnd, FittingWatch
from jobsight.settings import LstmSettings

if TYPE_CHECKING:
    import torch

    from jobsight.models.fitting import Fitting
    from jobsight.models.network import NetworkShape
    from jobsight.models.watching import Checkpoints

__all__ = ["Recurrent"]


@dataclass(frozen=True)
class _Fitted:
    design: Design
    shape: NetworkShape
    network: torch.nn.Module


class Recurrent:
    """A network over frames, trained by weighted cross-entropy with early stopping.

    Where the inputs have counts of like decisions that go on learning (`Inputs.learned`), the
    network learns what their rate misses. One optimizer (AdamW) serves the whole run; the weights
    of the epoch with the least loss on the select rows are kept.
    """

    name: ClassVar[str] = "lstm"
    needs_both: ClassVar[bool] = True

    def __init__(self, settings: LstmSettings | None = None) -> None:
        self.settings = settings or LstmSettings()
        self._fitted: _Fitted | None = None

    @property
    def fitted(self) -> _Fitted:
        """What `fit` or `load` made; `ModelError`: the model is not fitted."""
        if self._fitted is None:
            raise ModelError("the model lstm is not fitted")
        return self._fitted

    def fit(self, rows: Labelled, *, seed: int) -> None:
        """Train on the earlier rows, stop early by the latest (see `held_back`).

        PyTorch's global state (threads, random numbers, determinism) is as before afterwards.

        Raises:
            TrainingError: no frames, no rows or one class only, the loss is not finite any more,
                the GPU asked for is not there, or PyTorch is not installed.
            SettingsError: there is no such network, or the user's own one fails.
        """
        self.fit_resumably(*held_back(rows), seed=seed)

    def fit_resumably(
        self,
        train: Labelled,
        select: Labelled,
        *,
        seed: int,
        checkpoints: Checkpoints | None = None,
        watch: FittingWatch | None = None,
        until: int | None = None,
    ) -> FitEnd:
        """As `fit`, watched, and gone on with where an earlier call was interrupted.

        Args:
            train: what it learns from.
            select: what may stop it early.
            seed: of everything random.
            checkpoints: where the state is kept after every epoch. The state of another training
                is not gone on with, but set aside.
            watch: is called after every epoch, and may stop the fit between two batches.
            until: the last epoch to train now.

        Returns:
            how it ended; unless ``finished`` or ``early``, the model is not fitted yet.

        Raises:
            TrainingError, SettingsError: see `fit`.
            OutputError: a checkpoint cannot be written.
        """
        device = device_of(self.settings)
        if len(np.unique(train.success)) < 2:
            raise TrainingError("lstm: the training outcomes are all the same; both are needed")
        if train.inputs.frames is None:
            raise TrainingError("lstm: the examples were built without frames")
        from jobsight.models.fitting import fit_network

        try:
            with deterministic(seed, device):
                design, shape, fitting = self._begun(train, select, seed, device)
                identity = self._identity(seed, shape, design, train, select) if checkpoints else ""
                end = fit_network(fitting, checkpoints, identity, watch or FittingWatch(), until)
        except Exception as error:  # of a network of the user's own; ours raise nothing
            network = self.settings.network
            if ":" not in network or isinstance(error, JobsightError):
                raise
            first = (str(error).splitlines() or [""])[0]
            raise SettingsError(
                f"the network {network!r} failed ({type(error).__name__}: {first}); see "
                "jobsight.models.network for what it is given and has to return"
            ) from None
        if end.status in ("finished", "early"):
            self._fitted = _Fitted(design, shape, fitting.keep_best())
        return end

    def _begun(
        self, train: Labelled, select: Labelled, seed: int, device: torch.device
    ) -> tuple[Design, NetworkShape, Fitting]:
        """The network as it is before its first epoch, with what it is to be trained on."""
        from jobsight.models.fitting import Examples, Fitting
        from jobsight.models.network import NetworkShape, network_class

        assert train.inputs.frames is not None
        design, columns = Design.fit(train)
        _, m, j = train.inputs.frames.shape
        shape = NetworkShape(m, j, train.inputs.state_events + 1, len(design.names))
        network = network_class(self.settings.network)(shape, self.settings).to(device)
        data = Examples.of(train, columns, design.start(train.inputs), device)
        later = None
        if len(select):
            rows = design.transform(select.inputs)
            later = Examples.of(select, rows, design.start(select.inputs), device)
        return design, shape, Fitting(network, data, later, self.settings, seed)

    def _identity(
        self, seed: int, shape: NetworkShape, design: Design, train: Labelled, select: Labelled
    ) -> str:
        """What a training is, as a digest: going on is right only where all of this is the same.

        How many epochs there may be and where it runs do not count, nor do the columns' values,
        whose last bits may differ from one machine to another.
        """
        settings = self.settings.model_dump(mode="json", exclude={"epochs", "device"})
        given = {"settings": settings, "seed": seed, "shape": asdict(shape), "names": design.names}
        digest = hashlib.sha256(json.dumps(given, sort_keys=True).encode())
        for part in (train, select):
            digest.update(str(len(part)).encode() + part.success.tobytes() + part.weight.tobytes())
            if part.inputs.frames is not None:
                digest.update(np.ascontiguousarray(part.inputs.frames).data)
        return digest.hexdigest()

    def predict(self, inputs: Inputs) -> Floats:
        import torch

        from jobsight.models.fitting import rows_at_once

        fitted, shape = self.fitted, self.fitted.shape
        at_once = rows_at_once(shape.m, shape.j, self.settings.hidden_size)
        columns = fitted.design.transform(inputs).astype(np.float32)
        if inputs.frames is None or inputs.frames.shape[1:] != (shape.m, shape.j):
            given = "none" if inputs.frames is None else str(inputs.frames.shape[1:])
            raise ModelError(
                f"lstm: it was fitted on frames of {(shape.m, shape.j)}, given {given}"
            )
        if inputs.state_events + 1 != shape.states:
            raise ModelError(f"lstm: it was fitted on {shape.states - 1} state events")
        frames = inputs.frames
        parts = [np.zeros(0)]
        with torch.no_grad():
            for first in range(0, len(inputs), at_once):
                rows = slice(first, first + at_once)
                cells = torch.from_numpy(frames[rows].astype(np.int64))  # (rows, m, j)
                logit = fitted.network(cells, torch.from_numpy(columns[rows]))  # (rows,)
                parts.append(logit.numpy().astype(np.float64))
        return sigmoid(fitted.design.start(inputs) + np.concatenate(parts))

    def save(self, folder: Path) -> None:
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
        """
        require_torch(ModelError)
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
