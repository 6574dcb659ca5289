"""Networks on programs: fully connected, recurrent, and over the syntax tree itself.

The recurrent one is a GRU (Cho et al., EMNLP 2014) over the tree's nodes in their order; that of
trees sums children from the leaves up (child-sum Tree-LSTM without its gates: Tai, Socher and
Manning, ACL 2015) and weighs all nodes by attention. This module needs PyTorch.
"""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from jobsight.errors import ModelError
from jobsight.models.base import Floats, Inputs, Labelled, Programs
from jobsight.models.determinism import deterministic
from jobsight.models.softmax import Standard, balanced, targets_of
from jobsight.models.storage import Stored, load_arrays, require_names, save_arrays, save_body

__all__ = ["Dense", "NodeSequence", "NodeTree"]

_MOST_NODES, _MOST_STEPS = 4000, 160
"""Of a program, for trees and sequences."""
_RATE, _DROPPED, _BATCH = 0.01, 0.3, 32
_KINDS_STD = 0.3
"""Of the first vectors of kinds; with PyTorch's 1, a few hundred programs are overfitted."""


class _Network(Stored):
    """What the networks share: training for a fixed number of epochs, and the file of weights."""

    needs_both: ClassVar[bool] = False
    epochs: ClassVar[int] = 20
    decay: ClassVar[float] = 0.1
    """Of the weights, see `torch.optim.AdamW`."""

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()
        self._scaled: Standard | None = None
        self._sizes = (0, 0)
        self._network: nn.Module | None = None

    @abstractmethod
    def made(self, size: int, k: int) -> nn.Module:
        """A network for `size` features, or kinds of nodes, that gives k margins a row."""

    @abstractmethod
    def rows(self, inputs: Inputs) -> tuple[Any, ...]:
        """What the network reads of some rows."""

    def size(self, inputs: Inputs) -> int:
        return _programs(inputs).vocabulary

    def fit(self, train: Labelled, *, seed: int) -> None:
        targets = targets_of(train)
        self._names = train.inputs.names
        self._scaled = Standard.fit(train.inputs.features)
        self._sizes = (self.size(train.inputs), targets.shape[1])
        random = np.random.default_rng(seed)
        batches = -(-len(train) // _BATCH)
        parts = np.array_split(random.permutation(len(train)), batches)
        rows = [self.rows(train.inputs.take(part)) for part in parts]
        goal = torch.from_numpy(targets.astype(np.float32))
        weight = torch.from_numpy(balanced(train).astype(np.float32))
        with deterministic(seed, torch.device("cpu")):
            self._network = network = self.made(*self._sizes)
            optimizer = torch.optim.AdamW(network.parameters(), _RATE, weight_decay=self.decay)
            schedule = torch.optim.lr_scheduler.OneCycleLR(
                optimizer, _RATE, total_steps=self.epochs * batches
            )
            for _ in range(self.epochs):
                for number in random.permutation(batches):
                    part = parts[number]
                    margins = network(*rows[number])
                    losses = nn.functional.cross_entropy(margins, goal[part], reduction="none")
                    optimizer.zero_grad()
                    (losses @ weight[part] / len(part)).backward()  # type: ignore[no-untyped-call]
                    optimizer.step()
                    schedule.step()
        network.eval()

    def predict(self, inputs: Inputs) -> Floats:
        if self._network is None:
            raise ModelError(f"the model {self.name} is not fitted")
        require_names(inputs, self._names)
        with torch.no_grad():
            margins = [
                self._network(*self.rows(inputs.take(np.array([row]))))[0]
                for row in range(len(inputs))
            ]
        if not margins:
            return np.zeros((0, self._sizes[1]))
        return np.asarray(torch.stack(margins).double().softmax(1).numpy(), np.float64)

    def save(self, folder: Path) -> None:
        assert self._scaled is not None
        assert self._network is not None
        scaled, sizes = self._scaled.to_json(), list(self._sizes)
        body = {"names": list(self._names), "scaled": scaled, "sizes": sizes}
        save_body(folder, self.name, body)
        state = self._network.state_dict()
        weights = {name: tensor.numpy() for name, tensor in state.items()}
        save_arrays(folder / "weights.safetensors", weights)

    def _read(self, folder: Path, body: dict[str, Any]) -> None:
        self._names = tuple(map(str, body["names"]))
        self._scaled = Standard.from_json(body["scaled"])
        size, k = map(int, body["sizes"])
        self._sizes = (size, k)
        weights = load_arrays(folder / "weights.safetensors")
        with torch.random.fork_rng(devices=[]):
            self._network = self.made(size, k).eval()
        try:
            self._network.load_state_dict({n: torch.from_numpy(w) for n, w in weights.items()})
        except RuntimeError as error:
            raise ValueError(" ".join(str(error).split())[:200]) from None


def _programs(inputs: Inputs) -> Programs:
    if inputs.programs is None:
        raise ModelError("the programs were not read")
    return inputs.programs


class Dense(_Network):
    """A fully connected network with one hidden layer, on the hand-made features."""

    name: ClassVar[str] = "dense"
    epochs: ClassVar[int] = 40
    decay: ClassVar[float] = 0.3

    def size(self, inputs: Inputs) -> int:
        return len(inputs.names)

    def made(self, size: int, k: int) -> nn.Module:
        drop, hidden = nn.Dropout(_DROPPED), 32
        return nn.Sequential(drop, nn.Linear(size, hidden), nn.ReLU(), drop, nn.Linear(hidden, k))

    def rows(self, inputs: Inputs) -> tuple[Any, ...]:
        """Scaled features: float32 (n, f)."""
        assert self._scaled is not None
        return (torch.from_numpy(self._scaled.columns(inputs.features).astype(np.float32)),)


class _SequenceNetwork(nn.Module):
    def __init__(self, vocabulary: int, hidden: int, k: int) -> None:
        super().__init__()
        self.kinds = nn.Embedding(vocabulary, hidden)
        nn.init.normal_(self.kinds.weight, std=_KINDS_STD)
        self.drop = nn.Dropout(_DROPPED)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)
        self.answer = nn.Linear(hidden, k)

    def forward(self, kinds: Tensor, there: Tensor) -> Tensor:
        """Margins (n, k) of kinds int64 (n, steps) and whether there is a node (n, steps)."""
        states = self.gru(self.drop(self.kinds(kinds)))[0]  # (n, steps, hidden)
        mean = (states * there[:, :, None]).sum(1) / there.sum(1)[:, None].clip(1)
        margins: Tensor = self.answer(self.drop(mean))
        return margins


class NodeSequence(_Network):
    """A GRU over the kinds of the tree's nodes, in the order of the source; the mean answers."""

    name: ClassVar[str] = "recurrent"

    def made(self, size: int, k: int) -> nn.Module:
        return _SequenceNetwork(size, 24, k)

    def rows(self, inputs: Inputs) -> tuple[Any, ...]:
        """Kinds (n, steps), and whether there is a node (n, steps)."""
        kinds = [
            torch.from_numpy(nodes[:_MOST_STEPS].astype(np.int64))
            for nodes in _programs(inputs).kinds
        ]
        padded = nn.utils.rnn.pad_sequence(kinds, batch_first=True)
        lengths = torch.tensor([len(nodes) for nodes in kinds])
        return padded, (torch.arange(padded.shape[1]) < lengths[:, None]).float()


class _TreeNetwork(nn.Module):
    def __init__(self, vocabulary: int, hidden: int, k: int) -> None:
        super().__init__()
        self.kinds = nn.Embedding(vocabulary, hidden)
        nn.init.normal_(self.kinds.weight, std=_KINDS_STD)
        self.drop = nn.Dropout(_DROPPED)
        self.below = nn.Linear(hidden, hidden, bias=False)
        self.weigh = nn.Linear(hidden, 2, bias=False)
        self.answer = nn.Linear(3 * hidden, k)

    def forward(self, levels: list[tuple[Tensor, Tensor, Tensor]], count: int) -> Tensor:
        """Margins (count, k) of the levels of trees, see `NodeTree.rows`."""
        states: list[Tensor] = []
        places: Tensor | None = None
        for kinds, parents, _ in levels:
            own = self.drop(self.kinds(kinds))
            if places is not None:
                children = _sums(states[-1], places, len(kinds))
                number = torch.bincount(places, minlength=len(kinds)).clip(1)[:, None]
                own = own + self.below(children / number.sqrt())
            states.append(own.tanh())
            places = parents
        nodes, tree = torch.cat(states), torch.cat([tree for _, _, tree in levels])
        mean = _sums(nodes, tree, count) / torch.bincount(tree, minlength=count).clip(1)[:, None]
        weigh = (4.0 * self.weigh(nodes).tanh()).exp()  # (nodes, 2)
        total = _sums(weigh, tree, count) + 1e-9
        pooled = [
            _sums(nodes * weigh[:, head, None], tree, count) / total[:, head, None]
            for head in range(2)
        ]
        margins: Tensor = self.answer(self.drop(torch.cat([mean, *pooled], 1)))
        return margins


def _sums(values: Tensor, places: Tensor, count: int) -> Tensor:
    """Rows of `values` added up by place: (count, d)."""
    return values.new_zeros(count, values.shape[1]).index_add(0, places, values)


class NodeTree(_Network):
    """States of the tree's nodes from the leaves up, pooled by attention and by their mean."""

    name: ClassVar[str] = "tree"

    def made(self, size: int, k: int) -> nn.Module:
        return _TreeNetwork(size, 32, k)

    def rows(self, inputs: Inputs) -> tuple[Any, ...]:
        """Levels of the trees from the deepest up, and how many trees.

        Of each node of a level its kind, its parent's place in the next level, and its tree.
        """
        programs, levels = _programs(inputs), list[list[tuple[int, int, int]]]()
        for tree, (kinds, parents) in enumerate(zip(programs.kinds, programs.parents, strict=True)):
            depths: list[int] = []
            places: list[int] = []
            for kind, parent in zip(kinds[:_MOST_NODES].tolist(), parents.tolist(), strict=False):
                depth, above = (0, 0) if parent < 0 else (depths[parent] + 1, places[parent])
                if depth == len(levels):
                    levels.append([])
                depths.append(depth)
                places.append(len(levels[depth]))
                levels[depth].append((kind, above, tree))
        columns = [torch.tensor(level).T for level in reversed(levels)]
        return [(kinds, above, trees) for kinds, above, trees in columns], len(programs.kinds)
