"""Networks over frames, by name. This module needs PyTorch; `recurrent` imports it when used.

A network is a `torch.nn.Module` made as ``Network(shape, settings)`` with `NetworkShape` and
`jobsight.settings.LstmSettings`, whose ``forward(frames, rest)`` returns one log-odds a row:

- frames: int64 (batch, m, j), oldest frame first, values 0 … e;
- rest: float32 (batch, r), the other columns, scaled;
- returned: float32 (batch,).

A user's own network is named ``package.module:Class`` in the settings or by a flag.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor, nn
from torch.nn import functional

from jobsight.errors import SettingsError
from jobsight.settings import LstmSettings

__all__ = ["NETWORKS", "Lstm", "LstmFlat", "NetworkShape", "network_class"]

POOLS = 4


@dataclass(frozen=True)
class NetworkShape:
    """What a network is made for.

    Attributes:
        m: frames.
        j: jobs, slice 0 the job itself.
        states: values of a cell, e + 1.
        rest: columns beside the frames.
    """

    m: int
    j: int
    states: int
    rest: int


class _Recurrent(nn.Module):
    """An LSTM over one vector a frame; its last state joins the other columns for the answer."""

    def __init__(self, width: int, shape: NetworkShape, settings: LstmSettings) -> None:
        super().__init__()
        self.states = shape.states
        hidden, layers = settings.hidden_size, settings.lstm_layers
        between = settings.dropout if layers > 1 else 0.0
        self.embed = nn.Linear(width, hidden)
        self.lstm = nn.LSTM(hidden, hidden, layers, batch_first=True, dropout=between)
        self.drop = nn.Dropout(settings.dropout)
        self.beside = nn.Linear(shape.rest, hidden) if shape.rest else None
        self.answer = nn.Linear(2 * hidden if shape.rest else hidden, 1)

    def vectors(self, cells: Tensor) -> Tensor:
        """(batch, m, j, states) → (batch, m, width)."""
        raise NotImplementedError

    def forward(self, frames: Tensor, rest: Tensor) -> Tensor:
        """Log-odds of each row: (batch,)."""
        cells = functional.one_hot(frames, self.states).to(torch.float32)  # (batch, m, j, states)
        steps = torch.relu(self.embed(self.vectors(cells)))  # (batch, m, hidden)
        last = self.lstm(steps)[0][:, -1]  # (batch, hidden)
        if self.beside is not None:
            beside = torch.relu(self.beside(rest))  # (batch, hidden)
            last = torch.cat([last, beside], dim=1)  # (batch, 2 · hidden)
        logit: Tensor = self.answer(self.drop(last)).squeeze(1)  # (batch,)
        return logit


class Lstm(_Recurrent):
    """The default: the job's own state, and a few learned mixtures of the other jobs' states.

    The other slices are jobs drawn at random, so that weights of their own for each of them and
    each state could only learn noise; a mixture shares one set of state weights among them.
    """

    def __init__(self, shape: NetworkShape, settings: LstmSettings) -> None:
        self.pools = POOLS if shape.j > 1 else 0
        super().__init__((1 + self.pools) * shape.states, shape, settings)
        others = shape.j - 1
        start = torch.full((self.pools, others), 1.0 / max(others, 1))
        self.mix = nn.Parameter(start + 0.1 * torch.randn(self.pools, others) / max(others, 1))

    def vectors(self, cells: Tensor) -> Tensor:
        """(batch, m, j, states) → (batch, m, (1 + pools) · states)."""
        own = cells[:, :, 0]  # (batch, m, states)
        mixed = torch.einsum("bmjs,pj->bmps", cells[:, :, 1:], self.mix)  # (batch, m, pools, st.)
        return torch.cat([own, mixed.flatten(2)], dim=2)


class LstmFlat(_Recurrent):
    """The seed's network: every slice's one-hot state, all with weights of their own."""

    def __init__(self, shape: NetworkShape, settings: LstmSettings) -> None:
        super().__init__(shape.j * shape.states, shape, settings)

    def vectors(self, cells: Tensor) -> Tensor:
        """(batch, m, j, states) → (batch, m, j · states)."""
        return cells.flatten(2)


NETWORKS: dict[str, type[nn.Module]] = {"lstm": Lstm, "lstm-flat": LstmFlat}


def _module(name: str) -> ModuleType:
    """A module of the user's own: installed, or in the current folder, which is searched last."""
    here = str(Path.cwd())
    sys.path.append(here)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(here)


def network_class(name: str) -> type[nn.Module]:
    """The class of a network's name, or of ``package.module:Class``, which is then imported.

    Only call this with a name that the user's settings or a flag gave.

    Raises:
        SettingsError: there is no such network, or it is no `torch.nn.Module`.
    """
    if name in NETWORKS:
        return NETWORKS[name]
    module, colon, attribute = name.partition(":")
    if not colon:
        raise SettingsError(
            f"no network is named {name!r}; known are {', '.join(sorted(NETWORKS))}, "
            "or name your own as package.module:Class"
        )
    try:
        found = getattr(_module(module), attribute)
    except (ImportError, AttributeError, ValueError, SyntaxError) as error:
        raise SettingsError(f"cannot import the network {name!r}: {error}") from None
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        raise SettingsError(f"the network {name!r} is no torch.nn.Module")
    return found
