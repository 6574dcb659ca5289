"""Networks on programs: fully connected, recurrent, and over the syntax tree itself.

A network is trained with PyTorch and answers with numpy: `margins` is written once over what both
libraries name alike, so that answers load no PyTorch. The recurrent one is a GRU (Cho et al.,
EMNLP 2014) over the tree's nodes in their order; that of trees sums children from the leaves up
(child-sum Tree-LSTM without its gates: Tai, Socher and Manning, ACL 2015) and weighs all nodes by
attention.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jobsight.errors import ModelError, TrainingError
from jobsight.models.base import Floats, Inputs, Labelled, Programs
from jobsight.models.determinism import THREADS, require_torch
from jobsight.models.softmax import Standard, balanced, softmax, targets_of
from jobsight.models.storage import Stored, load_arrays, require_names, save_arrays, save_body

__all__ = ["Dense", "NodeSequence", "NodeTree"]

Weights = dict[str, Any]
_MOST_NODES, _MOST_STEPS = 4000, 160
"""Of a program, for trees and sequences."""


class _Network(Stored):
    """What the networks share; subclasses give a start, rows and margins.

    Implements `jobsight.models.base.Model`.
    """

    name: ClassVar[str]
    needs_both: ClassVar[bool] = False
    epochs: ClassVar[int] = 40
    rate: ClassVar[float] = 0.01
    decay: ClassVar[float] = 0.05
    dropped: ClassVar[float] = 0.3
    batch: ClassVar[int] = 32

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()
        self._scaled: Standard | None = None
        self._weights: dict[str, NDArray[np.float32]] = {}

    def start(self, inputs: Inputs, k: int, random: np.random.Generator) -> Weights:
        """Weights to begin with, for inputs like these and k columns."""
        raise NotImplementedError

    def rows(self, inputs: Inputs) -> Any:
        """What `margins` reads of some rows."""
        raise NotImplementedError

    def margins(self, weights: Weights, rows: Any, xp: Any, drop: Callable[[Any], Any]) -> Any:
        """Margins of the columns, (n, k): `xp` is numpy or torch, `drop` the dropout."""
        raise NotImplementedError

    def fit(self, train: Labelled, *, seed: int) -> None:
        """Learn from `train` for a fixed number of epochs.

        Raises:
            TrainingError: `train` has no rows, or lacks what the network reads.
        """
        require_torch(TrainingError)
        targets = targets_of(train)
        self._names = train.inputs.names
        self._scaled = Standard.fit(train.inputs.features)
        random = np.random.default_rng(seed)
        start = self.start(train.inputs, targets.shape[1], random)
        self._weights = self._trained(start, train, targets, random, seed)

    def _trained(
        self, start: Weights, train: Labelled, targets: Floats, random: Any, seed: int
    ) -> Weights:
        import torch

        threads = torch.get_num_threads()
        torch.set_num_threads(THREADS)
        source = torch.Generator().manual_seed(seed)
        weights = {
            name: torch.tensor(one, dtype=torch.float32, requires_grad=True)
            for name, one in start.items()
        }

        def drop(values: Any) -> Any:
            keep = torch.rand(values.shape, generator=source) >= self.dropped
            return values * keep / (1.0 - self.dropped)

        optimizer = torch.optim.AdamW(weights.values(), lr=self.rate, weight_decay=self.decay)
        batches = -(-len(train) // self.batch)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, self.rate, total_steps=self.epochs * batches
        )
        goal, weight = (
            torch.tensor(one, dtype=torch.float32) for one in (targets, balanced(train))
        )
        parts = np.array_split(random.permutation(len(train)), batches)
        rows = [self.rows(train.inputs.take(some)) for some in parts]
        for _ in range(self.epochs):
            for part in random.permutation(batches):
                some = parts[part]
                said = self.margins(weights, rows[part], torch, drop)
                cost = -(goal[some] * said.log_softmax(1)).sum(1) @ weight[some] / len(some)
                optimizer.zero_grad()
                cost.backward()
                optimizer.step()
                schedule.step()
        torch.set_num_threads(threads)
        return {name: one.detach().numpy() for name, one in weights.items()}

    def predict(self, inputs: Inputs) -> Floats:
        """Probabilities or shares of each row: float64 (n, k).

        Raises:
            ModelError: the model is not fitted, or on other features.
        """
        if not self._weights:
            raise ModelError(f"the model {self.name} is not fitted")
        require_names(inputs, self._names)
        said = [
            self.margins(
                self._weights, self.rows(inputs.take(np.array([row]))), np, lambda one: one
            )
            for row in range(len(inputs))
        ]
        columns = len(self._weights["answer"].T)
        return softmax(np.array(said, np.float64).reshape(len(inputs), columns))

    def scaled(self, inputs: Inputs) -> NDArray[np.float32]:
        """The features as the network reads them: float32 (n, f)."""
        assert self._scaled is not None
        return self._scaled.columns(inputs.features).astype(np.float32)

    def save(self, folder: Path) -> None:
        """Write ``model.json`` and ``weights.safetensors``."""
        assert self._scaled is not None
        body = {"names": list(self._names), "scaled": self._scaled.to_json()}
        save_body(folder, self.name, body)
        save_arrays(folder / "weights.safetensors", self._weights)

    def _read(self, folder: Path, body: dict[str, Any]) -> None:
        self._names = tuple(map(str, body["names"]))
        self._scaled = Standard.from_json(body["scaled"])
        self._weights = load_arrays(folder / "weights.safetensors")
        if "answer" not in self._weights:
            raise ValueError("it has no weights")


class Dense(_Network):
    """A fully connected network with one hidden layer, on the hand-made features."""

    name: ClassVar[str] = "dense"
    hidden: ClassVar[int] = 32
    epochs: ClassVar[int] = 40
    decay: ClassVar[float] = 0.3

    def start(self, inputs: Inputs, k: int, random: np.random.Generator) -> Weights:
        """See `_Network.start`."""
        wide = inputs.features.shape[1]
        return {
            "hidden": random.normal(0, 1 / np.sqrt(max(wide, 1)), (wide, self.hidden)),
            "hidden bias": np.zeros(self.hidden),
            "answer": random.normal(0, 1 / np.sqrt(self.hidden), (self.hidden, k)),
            "bias": np.zeros(k),
        }

    def rows(self, inputs: Inputs) -> Any:
        """Scaled features: float32 (n, f)."""
        return self.scaled(inputs)

    def margins(self, weights: Weights, rows: Any, xp: Any, drop: Callable[[Any], Any]) -> Any:
        """See `_Network.margins`."""
        columns = drop(xp.asarray(rows))
        hidden = (columns @ weights["hidden"] + weights["hidden bias"]).clip(0)
        return drop(hidden) @ weights["answer"] + weights["bias"]


def _programs(inputs: Inputs) -> Programs:
    if inputs.programs is None:
        raise ModelError("the programs were not read")
    return inputs.programs


class NodeSequence(_Network):
    """A GRU over the kinds of the tree's nodes, in the order of the source; the mean answers."""

    name: ClassVar[str] = "recurrent"
    hidden: ClassVar[int] = 24
    epochs: ClassVar[int] = 20
    decay: ClassVar[float] = 0.1

    def start(self, inputs: Inputs, k: int, random: np.random.Generator) -> Weights:
        """See `_Network.start`."""
        wide = self.hidden
        square = (3, wide, wide)
        return {
            "kinds": random.normal(0, 0.3, (_programs(inputs).vocabulary, wide)),
            "input": random.normal(0, 1 / np.sqrt(wide), square),
            "state": random.normal(0, 1 / np.sqrt(wide), square),
            "gates": np.zeros((3, wide)),
            "answer": random.normal(0, 1 / np.sqrt(wide), (wide, k)),
            "bias": np.zeros(k),
        }

    def rows(self, inputs: Inputs) -> Any:
        """Kinds (n, steps) and whether there is a node (n, steps)."""
        kinds = [one[:_MOST_STEPS] for one in _programs(inputs).kinds]
        steps = max(1, *map(len, kinds))
        padded, there = np.zeros((len(kinds), steps), np.int64), np.zeros((len(kinds), steps))
        for k, one in enumerate(kinds):
            padded[k, : len(one)], there[k, : len(one)] = one, 1.0
        return padded, there.astype(np.float32)

    def margins(self, weights: Weights, rows: Any, xp: Any, drop: Callable[[Any], Any]) -> Any:
        """See `_Network.margins`."""
        kinds, there = (xp.asarray(one) for one in rows)
        seen = drop(weights["kinds"][kinds])
        ahead = [seen @ weights["input"][k] + weights["gates"][k] for k in range(3)]
        state = seen[:, 0] * 0.0
        total = state
        for step in range(kinds.shape[1]):
            inside = there[:, step, None]
            reset, keep = (
                1 / (1 + xp.exp(-(ahead[k][:, step] + state @ weights["state"][k])))
                for k in range(2)
            )
            new = xp.tanh(ahead[2][:, step] + (reset * state) @ weights["state"][2])
            state = inside * (keep * state + (1 - keep) * new) + (1 - inside) * state
            total = total + inside * state
        mean = total / there.sum(1)[:, None].clip(1)
        return drop(mean) @ weights["answer"] + weights["bias"]


class NodeTree(_Network):
    """States of the tree's nodes from the leaves up, pooled by attention and by their mean."""

    name: ClassVar[str] = "tree"
    hidden: ClassVar[int] = 32
    epochs: ClassVar[int] = 20
    decay: ClassVar[float] = 0.1

    def start(self, inputs: Inputs, k: int, random: np.random.Generator) -> Weights:
        """See `_Network.start`."""
        wide = self.hidden
        return {
            "kinds": random.normal(0, 0.3, (_programs(inputs).vocabulary, wide)),
            "children": random.normal(0, 0.5 / np.sqrt(wide), (wide, wide)),
            "weigh": random.normal(0, 1 / np.sqrt(wide), (wide, 2)),
            "answer": random.normal(0, 1 / np.sqrt(3 * wide), (3 * wide, k)),
            "bias": np.zeros(k),
        }

    def rows(self, inputs: Inputs) -> Any:
        """Levels from the deepest up: kinds, place of each parent in the next, its tree."""
        return _levels(_programs(inputs))

    def margins(self, weights: Weights, rows: Any, xp: Any, drop: Callable[[Any], Any]) -> Any:
        """See `_Network.margins`."""
        levels, count = rows
        states: list[Any] = []
        trees: list[NDArray[np.int64]] = []
        below: tuple[Any, NDArray[np.int64]] | None = None
        for kinds, parents, tree in levels:
            own = drop(weights["kinds"][kinds])
            if below is not None:
                held, places = below
                children = _sums(xp, held, places, len(kinds))
                number = np.bincount(places, minlength=len(kinds)).clip(1)[:, None]
                scaled = children / xp.asarray(np.sqrt(number).astype(np.float32))
                own = own + scaled @ weights["children"]
            state = xp.tanh(own)
            states, trees, below = [*states, state], [*trees, tree], (state, parents)
        every, tree = xp.concatenate(states), np.concatenate(trees)
        mean = _sums(xp, every, tree, count) / xp.asarray(
            np.bincount(tree, minlength=count).clip(1)[:, None].astype(np.float32)
        )
        weigh = xp.exp(4.0 * xp.tanh(every @ weights["weigh"]))
        total = _sums(xp, weigh, tree, count) + 1e-9
        pooled = [
            _sums(xp, every * weigh[:, head, None], tree, count) / total[:, head, None]
            for head in range(2)
        ]
        return drop(xp.concatenate([mean, *pooled], 1)) @ weights["answer"] + weights["bias"]


def _sums(xp: Any, values: Any, places: NDArray[np.int64], count: int) -> Any:
    """Rows of `values` added up by place: (count, d)."""
    if xp is np:
        found = np.zeros((count, values.shape[1]), values.dtype)
        np.add.at(found, places, values)
        return found
    return xp.zeros((count, values.shape[1])).index_add(0, xp.asarray(places), values)


def _levels(programs: Programs) -> tuple[list[Any], int]:
    """The nodes of all trees by depth, the deepest first: see `NodeTree.rows`."""
    kinds = [one[:_MOST_NODES] for one in programs.kinds]
    sizes = np.array([len(one) for one in kinds], np.int64)
    first = np.cumsum(sizes) - sizes
    kind = np.concatenate(kinds).astype(np.int64)
    tree = np.repeat(np.arange(len(kinds)), sizes)
    above = np.concatenate([one[:_MOST_NODES] for one in programs.parents]).astype(np.int64)
    root = above < 0
    parent = np.where(root, np.arange(len(kind)), above + first[tree])
    depth, deeper = np.zeros(len(kind), np.int64), ~root
    while deeper.any():  # a node's depth is known once its parent's is
        found = np.where(root, 0, depth[parent] + 1)
        deeper = found != depth
        depth = found
    levels, place = [], np.zeros(len(kind), np.int64)
    for at in range(int(depth.max(initial=0)) + 1):
        nodes = np.flatnonzero(depth == at)
        place[nodes] = np.arange(len(nodes))
        levels.append((kind[nodes], place[parent[nodes]], tree[nodes]))
    return levels[::-1], len(kinds)
