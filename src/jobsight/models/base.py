"""What every model is: fitted on inputs as of decisions, asked for predictions, saved as data.

A model knows nothing of HTCondor or of any question. It is given `Inputs` (tables of numbers, the
cause of each decision, frames) and predicts an `Output` of each row, mostly a probability.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BINARY", "Floats", "Inputs", "Ints", "Labelled", "Loadable", "Model", "Output", "Programs",
    "held_back",
]  # fmt: skip

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Output:
    """What a model predicts of each row.

    Attributes:
        kind: ``binary``: P(true), float64 (n,), of values bool (n,). ``kinds``: a probability for
            each of k kinds, (n, k), of values int64 (n,), the index of the kind. ``quantiles``: a
            number at each of k levels, (n, k), rising, of values float64 (n,). ``shares``: k
            shares, (n, k), each row adding up to 1, of values float64 (n, k).
        columns: names of the k columns; none of ``binary``.
        levels: of ``quantiles``, each in (0, 1), rising.
    """

    kind: Literal["binary", "kinds", "quantiles", "shares"] = "binary"
    columns: tuple[str, ...] = ()
    levels: tuple[float, ...] = ()


BINARY = Output()
HELD_BACK = 0.2
"""Share of the rows that only stops a fit."""
LEAST_HELD_BACK = 5.0
"""Batches; fewer would stop it by chance."""


@dataclass(frozen=True)
class Programs:
    """What n programs say, as far as it can be read.

    Attributes:
        words: of each program, the names that it imports and calls, in their order.
        kinds: of each, int32 (nodes,): kind of each node of its normalized tree, a number below
            `vocabulary`; a parent comes before its children.
        parents: of each, int32 (nodes,): index of the node's parent, −1 of the root.
        vocabulary: how many kinds there are.
    """

    words: tuple[tuple[str, ...], ...]
    kinds: tuple[NDArray[np.int32], ...]
    parents: tuple[NDArray[np.int32], ...]
    vocabulary: int

    def take(self, rows: NDArray[Any]) -> Programs:
        """The programs given (indices or a mask), in that order."""
        chosen = np.arange(len(self.words))[rows].tolist()
        words, kinds, parents = (
            tuple(column[row] for row in chosen)
            for column in (self.words, self.kinds, self.parents)
        )
        return Programs(words, kinds, parents, self.vocabulary)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Inputs:
    """What is known as of n decisions.

    Attributes:
        features: float32 (n, f); NaN where a value is unknown.
        names: the f features' names, unique.
        causes: columns that name the cause of each decision, coarse to fine, each an array of n
            strings, e.g. ``{"code": …, "subcode": …, "reason": …}``.
        facts: whole-number columns that rule sets test, each int64 (n,), e.g. ``num_holds``, and
            the counts of `learned`.
        frames: uint8 (n, m, j), oldest frame first, 0 for "not there yet"; None if not built.
        state_events: number e of state events; frames hold values 0 … e.
        rising: names of features of which more can only speak for success, such as the rate at
            which like decisions succeeded. A model may hold itself to that; with little data it
            then mistakes less noise for knowledge.
        few: names of the features that the linear model reads, where they are too many for the
            rows that it learns from; empty: all.
        learned: levels of like decisions, coarse to fine, whose successes and failures as known at
            each decision are the facts ``good LEVEL`` and ``bad LEVEL``. The level ``all`` and
            those that are named like causes mean the same in other histories. Models begin from
            the rate of these (`jobsight.models.rates.rate_as_known`) and learn what it misses.
        programs: the programs that the decisions are about; None if not read.
    """

    features: NDArray[np.float32]
    names: tuple[str, ...]
    causes: Mapping[str, NDArray[np.str_]]
    facts: Mapping[str, NDArray[np.int64]]
    frames: NDArray[np.uint8] | None
    state_events: int
    rising: frozenset[str] = frozenset()
    few: frozenset[str] = frozenset()
    learned: tuple[str, ...] = ()
    programs: Programs | None = None

    def __len__(self) -> int:
        return len(self.features)

    def take(self, rows: NDArray[Any]) -> Inputs:
        """The same inputs for the rows given (indices or a mask), in that order."""
        return replace(
            self,
            features=self.features[rows],
            causes={name: column[rows] for name, column in self.causes.items()},
            facts={name: column[rows] for name, column in self.facts.items()},
            frames=None if self.frames is None else self.frames[rows],
            programs=None if self.programs is None else self.programs.take(rows),
        )

    def digests(self) -> list[str]:
        """A hash of the values of each row: 16 hexadecimal digits of SHA-256, n of them."""
        names = ",".join((*self.names, *self.causes, *self.facts)).encode()
        digests = []
        for row in range(len(self)):
            digest = hashlib.sha256(names)
            digest.update(self.features[row].tobytes())
            for column in self.causes.values():
                digest.update(str(column[row]).encode("utf-8", "surrogatepass") + b"\0")
            for fact in self.facts.values():
                digest.update(int(fact[row]).to_bytes(8, "little", signed=True))
            if self.frames is not None:
                digest.update(self.frames[row].tobytes())
            if (read := self.programs) is not None:
                words = "\0".join(read.words[row]).encode("utf-8", "surrogatepass") + b"\0"
                digest.update(words + read.kinds[row].tobytes() + read.parents[row].tobytes())
            digests.append(digest.hexdigest()[:16])
        return digests


@dataclass(frozen=True)
class Labelled:
    """Inputs with what became of them, in time order.

    Attributes:
        inputs: n rows.
        values: what became of each row, as `Output.kind` says.
        weight: float64 (n,), positive; the members of one batch share weight 1.
        batch: int64 (n,), equal for the rows of one batch, which share their fate; None: each row
            is one of its own.
        output: what a model is to predict.
    """

    inputs: Inputs
    values: NDArray[Any]
    weight: Floats
    batch: NDArray[np.int64] | None = None
    output: Output = BINARY

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def success(self) -> NDArray[np.bool_]:
        """The values of a binary output: bool (n,)."""
        return self.values

    def take(self, rows: NDArray[Any]) -> Labelled:
        """The rows given (indices or a mask), in that order."""
        return replace(
            self,
            inputs=self.inputs.take(rows),
            values=self.values[rows],
            weight=self.weight[rows],
            batch=None if self.batch is None else self.batch[rows],
        )

    def latest(self, most: int) -> Labelled:
        """The latest rows, so many at most."""
        return self if len(self) <= most else self.take(np.arange(len(self) - most, len(self)))


def held_back(rows: Labelled) -> tuple[Labelled, Labelled]:
    """Earlier rows to learn from, and the latest fifth, which only says when to stop.

    Where that fifth would be too few batches to say anything, or the earlier ones of one outcome
    only, none is held back.
    """
    total = np.cumsum(rows.weight)
    later = total > (1.0 - HELD_BACK) * rows.weight.sum()
    earlier = ~later
    one_only = rows.output.kind == "binary" and len(np.unique(rows.values[earlier])) < 2
    if one_only or not earlier.any() or rows.weight[later].sum() < LEAST_HELD_BACK:
        earlier, later = np.ones(len(rows), np.bool_), np.zeros(len(rows), np.bool_)
    return rows.take(earlier), rows.take(later)


@runtime_checkable
class Model(Protocol):
    """One kind of model.

    An instance belongs to one thread while it is fitted; a fitted model may be asked from several.
    Fitting twice with the same data and seed on the same machine gives the same bytes when saved.
    """

    @property
    def name(self) -> str:
        """What reports and the command line call it."""
        ...

    @property
    def needs_both(self) -> bool:
        """Whether it cannot be fitted where every outcome is the same."""
        ...

    def fit(self, rows: Labelled, *, seed: int) -> None:
        """Learn from `rows`; what stops the fitting or sets a penalty is `held_back` of them.

        Raises:
            TrainingError: the examples cannot teach this model anything (one class, no rows).
        """
        ...

    def predict(self, inputs: Inputs) -> Floats:
        """What it was fitted to predict, as `Output.kind` says; never NaN; n may be 0.

        Raises:
            ModelError: the inputs lack a column that the model was fitted with.
        """
        ...

    def save(self, folder: Path) -> None:
        """Write the model into `folder` (existing, empty) as JSON, text or safetensors."""
        ...


@runtime_checkable
class Loadable(Model, Protocol):
    """A model that is read back without anything but its folder."""

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote; `ModelError`: a file is missing, damaged or of another schema."""
        ...
