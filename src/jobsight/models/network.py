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
from typing import Any

import numpy as np
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
        rest: columns next to the frames.
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
        self.rest = nn.Linear(shape.rest, hidden) if shape.rest else None
        self.answer = nn.Linear(2 * hidden if shape.rest else hidden, 1)

    def embedded(self, frames: Tensor) -> Tensor:
        """What `embed` makes of the frames' vectors: (batch, m, j) → (batch, m, hidden)."""
        raise NotImplementedError

    def forward(self, frames: Tensor, rest: Tensor) -> Tensor:
        """Log-odds of each row: (batch,)."""
        steps = torch.relu(self.embedded(frames))  # (batch, m, hidden)
        last = self.lstm(steps)[0][:, -1]  # (batch, hidden)
        if self.rest is not None:
            hidden_rest = torch.relu(self.rest(rest))  # (batch, hidden)
            last = torch.cat([last, hidden_rest], dim=1)  # (batch, 2 · hidden)
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

    def embedded(self, frames: Tensor) -> Tensor:
        batch, m, j = frames.shape
        own = functional.one_hot(frames[:, :, 0], self.states).to(torch.float32)
        # One-hot states of the others times their weights, without making them: each weight is
        # added where its job's state stands.
        others = frames[:, :, None, 1:].expand(batch, m, self.pools, j - 1)
        mixed = own.new_zeros(batch, m, self.pools, self.states)
        mixed = mixed.scatter_add(3, others, self.mix.expand(batch, m, self.pools, j - 1))
        vectors = torch.cat([own, mixed.flatten(2)], dim=2)  # (batch, m, (1 + pools) · states)
        steps: Tensor = self.embed(vectors)  # (batch, m, hidden)
        return steps


class LstmFlat(_Recurrent):
    """The seed's network: every slice's one-hot state, all with weights of their own."""

    def __init__(self, shape: NetworkShape, settings: LstmSettings) -> None:
        super().__init__(shape.j * shape.states, shape, settings)

    def embedded(self, frames: Tensor) -> Tensor:
        batch, m, j = frames.shape
        made: Tensor = _OneHotLinear.apply(frames.reshape(-1, j), self.embed.weight, self.states)  # type: ignore[no-untyped-call]
        return (made + self.embed.bias).view(batch, m, -1)


class _OneHotLinear(torch.autograd.Function):
    """``one_hot(cells).flatten(1) @ weight.T``, without making what is zero but for one in e + 1.

    The product is a sum of one column of weights a cell. A weight's gradient is a sum over the rows
    in whose cell its state stands, found by sorting them. Both sum in one order, always.
    """

    @staticmethod
    def forward(ctx: Any, cells: Tensor, weight: Tensor, states: int) -> Tensor:
        """(rows, j) and (hidden, j · states) → (rows, hidden)."""
        columns = cells + torch.arange(cells.shape[1], device=cells.device) * states
        ctx.save_for_backward(columns)
        ctx.states = states
        return functional.embedding_bag(columns, weight.T.contiguous(), mode="sum")

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, None]:
        """(rows, hidden) → that of the weight: (hidden, j · states)."""
        (columns,) = ctx.saved_tensors
        counts = torch.bincount(columns.flatten(), minlength=columns.shape[1] * ctx.states)
        first = counts.cumsum(0) - counts  # (j · states,)
        # For each of j cells its rows ordered by state, the same on every device.
        if columns.is_cuda:
            rows = columns.T.argsort(dim=1, stable=True)
        else:
            # NumPy sorts single bytes by counting them, 25 times faster than PyTorch sorts.
            cells = (columns.T % ctx.states).to(torch.uint8).contiguous().numpy()
            rows = torch.from_numpy(np.argsort(cells, axis=1, kind="stable"))
        rows = rows.flatten()  # (j · rows,)
        made = functional.embedding_bag(rows, gradients[0].contiguous(), first, mode="sum")
        return None, made.T, None


NETWORKS: dict[str, type[nn.Module]] = {"lstm": Lstm, "lstm-flat": LstmFlat}


def network_class(name: str) -> type[nn.Module]:
    """The class of a network's name, or of ``package.module:Class``, which is then imported.

    Only call this with a name that the user's settings or a flag gave.

    Raises:
        SettingsError: there is no such network, or it is not a `torch.nn.Module`.
    """
    if name in NETWORKS:
        return NETWORKS[name]
    module, colon, attribute = name.partition(":")
    if not colon:
        raise SettingsError(
            f"no network is named {name!r}; known are {', '.join(sorted(NETWORKS))}, "
            "or name your own as package.module:Class"
        )
    here = str(Path.cwd())
    sys.path.append(here)  # searched last
    try:
        kind = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError, SyntaxError) as error:
        raise SettingsError(f"cannot import the network {name!r}: {error}") from None
    finally:
        sys.path.remove(here)
    if not (isinstance(kind, type) and issubclass(kind, nn.Module)):
        raise SettingsError(f"the network {name!r} is no torch.nn.Module")
    return kind
