"""What sharing a node costs a job: measured pairs, and a model of pairs that were not measured.

The model: a job uses resource r for the part u_r of its time, and its neighbour for the part v_r of
its own. Where both want it at once, each waits for the other; so the job takes 1 + Σ w_r u_r v_r
times as long. The weights w_r, at least 0, are fitted to the matrix of a kind of node (1: the
resource serves one at a time; 0: it serves both as fast). With several neighbours their parts add.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

import msgspec
import numpy as np
from msgspec import Meta

from jobsight.acting.sharing.vectors import RESOURCES, Node, of_node
from jobsight.errors import SourceError
from jobsight.files import Kind, write_json
from jobsight.text import printable

__all__ = ["Matrix", "Pair", "Weights"]

_LARGEST = 16 << 20
_NOISE = 1.05
"""A slowdown below it says nothing."""
Shares = Mapping[str, float]


class Pair(msgspec.Struct, frozen=True):
    """How many times as long a program took next to another.

    Attributes:
        program, neighbour: their names.
        slowdown: the median; 1: as fast as alone.
        low, high: its 95 % interval.
        runs: of the program, next to the neighbour.
    """

    program: str
    neighbour: str
    slowdown: Annotated[float, Meta(gt=0)]
    low: float
    high: float
    runs: int


@dataclass(frozen=True)
class Weights:
    """The fitted model of a kind of node.

    Attributes:
        by_resource: w, by the names of `RESOURCES`.
    """

    by_resource: Mapping[str, float]

    @classmethod
    def fitted(cls, pairs: Sequence[Pair], vectors: Mapping[str, Shares]) -> Self:
        """The weights that fit measured pairs best, by least squares."""
        from scipy.optimize import nnls  # of the extra `learn`

        products = [_products(vectors[one.program], [vectors[one.neighbour]]) for one in pairs]
        left = [one.slowdown - 1 for one in pairs]
        # Nearly no pull toward 1: what no pair shows is taken to serve one at a time.
        pull = 0.01
        rows = np.vstack(
            [np.array(products).reshape(-1, len(RESOURCES)), pull * np.eye(len(RESOURCES))]
        )
        found, _ = nnls(rows, np.array([*left, *[pull] * len(RESOURCES)]))
        return cls(dict(zip(RESOURCES, map(float, found), strict=True)))

    def slowdown(self, own: Shares, others: Iterable[Shares]) -> float:
        """How many times as long a job takes next to these others."""
        weights = [self.by_resource.get(name, 1.0) for name in RESOURCES]
        return 1.0 + float(np.dot(weights, _products(own, others)))


def _products(own: Shares, others: Iterable[Shares]) -> list[float]:
    near = list(others)
    return [own.get(name, 0.0) * sum(other.get(name, 0.0) for other in near) for name in RESOURCES]


class Matrix(msgspec.Struct, frozen=True, tag_field="schema", tag=Kind.MATRIX.schema):
    """The measured slowdowns of a kind of node.

    Attributes:
        kind: of the node, in words.
        date: when it was measured.
        cpus: of the node; each program ran on `cpus_each` of them.
        disk_mb_s: what its disk takes; None: not measured.
        shares: by program, of its time alone, by the names of `RESOURCES`.
        alone_s: by program, the median of its seconds alone.
        pairs: measured.
        unmeasured: resources of which nothing was measured, with why.
    """

    kind: str
    date: str
    cpus: Annotated[int, Meta(ge=1)]
    cpus_each: Annotated[int, Meta(ge=1)]
    disk_mb_s: Annotated[float, Meta(gt=0)] | None
    shares: dict[str, dict[str, float]]
    alone_s: dict[str, float]
    pairs: list[Pair]
    unmeasured: dict[str, str]

    def node(self) -> Node:
        """The kind of node.

        Two programs that use memory alone are slowed down by as much as their CPUs together want
        more than all of its bandwidth.
        """
        both = [one.slowdown for one in self.pairs if one.program == one.neighbour == "membw"]
        wanted = max(both, default=1.0)
        used = min(2 * self.cpus_each, self.cpus)
        return Node(self.cpus, used / wanted if wanted > _NOISE else self.cpus, self.disk_mb_s)

    def vectors(self) -> dict[str, dict[str, float]]:
        """By program, the parts of the node's resources that it uses."""
        node = self.node()
        return {name: of_node(shares, self.cpus_each, node) for name, shares in self.shares.items()}

    def weights(self) -> Weights:
        """The model fitted to all pairs."""
        return Weights.fitted(self.pairs, self.vectors())

    def errors(self) -> dict[str, float]:
        """By program, the mean relative error of a model that saw no pair with it."""
        found, vectors = {}, self.vectors()
        for name in self.shares:
            own = [one for one in self.pairs if name in (one.program, one.neighbour)]
            others = [one for one in self.pairs if name not in (one.program, one.neighbour)]
            if not others or not own:
                continue
            model = Weights.fitted(others, vectors)
            found[name] = float(np.mean([_off(model, one, vectors) for one in own]))
        return found

    def save(self, path: Path) -> None:
        """Write it, atomically.

        Raises:
            OutputError: it cannot be written.
        """
        write_json(path, msgspec.to_builtins(self))

    @classmethod
    def read(cls, path: Path) -> Self:
        """What `save` wrote.

        Raises:
            SourceError: there is no such file, or it has something else.
        """
        try:
            with path.open("rb") as file:
                found = msgspec.json.decode(file.read(_LARGEST), type=cls)
        except OSError as error:
            raise SourceError(f"cannot read {printable(path, 200)}: {error.strerror}") from None
        except msgspec.DecodeError as error:
            raise SourceError(
                f"{printable(path, 200)} is not written by `jobsight share measure`: "
                f"{printable(error, 80)}"
            ) from None
        named = {name for one in found.pairs for name in (one.program, one.neighbour)}
        if not named <= set(found.shares):
            raise SourceError(f"{printable(path, 200)} has pairs of programs without shares")
        return found


def _off(model: Weights, pair: Pair, vectors: Mapping[str, Shares]) -> float:
    said = model.slowdown(vectors[pair.program], [vectors[pair.neighbour]])
    return abs(said - pair.slowdown) / pair.slowdown
