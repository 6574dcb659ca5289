"""The networks on frames stored as one-hot floats: as in the first study, for comparison.

The weights, the sums and their gradients are those of `jobsight.models.network`; only the frames
come as float32 (n, m, j, e + 1), made once and kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from jobsight.models.base import Floats, Labelled
from jobsight.models.fitting import Examples
from jobsight.models.network import NETWORKS, NetworkShape
from jobsight.settings import LstmSettings

__all__ = ["StoredExamples", "network_on_floats"]


class StoredExamples(Examples):
    """Examples whose frames are one-hot floats: (n, m, j, e + 1)."""

    @classmethod
    def stored(cls, examples: Labelled, columns: Floats, start: Floats) -> StoredExamples:
        """One-hot frames of all examples, made at once."""
        plain = Examples.of(examples, columns, start, torch.device("cpu"))
        states = examples.inputs.state_events + 1
        frames = np.zeros((*plain.frames.shape, states), np.float32)
        np.put_along_axis(frames, plain.frames.numpy()[..., None].astype(np.int64), 1.0, axis=3)
        return cls(
            torch.from_numpy(frames),
            plain.rest,
            plain.start,
            plain.success,
            plain.weight,
            plain.device,
        )

    def logits(self, network: nn.Module, rows: Tensor) -> Tensor:
        """Log-odds of some rows: float32 (k,)."""
        made: Tensor = network(self.frames[rows], self.rest[rows]) + self.start[rows]
        return made


def network_on_floats(shape: NetworkShape, settings: LstmSettings) -> nn.Module:
    """The network of `settings`, with the same weights at its start, reading one-hot floats."""
    network: Any = NETWORKS[settings.network](shape, settings)

    def embedded(cells: Tensor) -> Tensor:
        """(batch, m, j, states) → (batch, m, hidden)."""
        if settings.network == "lstm":
            mixed = torch.einsum("bmjs,pj->bmps", cells[:, :, 1:], network.mix)
            vectors = torch.cat([cells[:, :, 0], mixed.flatten(2)], dim=2)
        else:
            vectors = cells.flatten(2)
        made: Tensor = network.embed(vectors)
        return made

    network.embedded = embedded
    made: nn.Module = network
    return made
