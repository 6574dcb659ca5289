"""Programs as `bound` sees them: decisions, and what models and a rule read of them.

The families of programs take the place of time: a family is as late as a hash of its name says. So
the parts of a training, and the blocks of its backtest, hold families that no earlier one does, and
a family has its place in every source. Those of a site's own jobs come in the first half: where
they are few they are all learned from, and what follows tests on the other programs.

Only what a program gets to counts, so that an import or a function that is never used says nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.errors import SourceError
from jobsight.models.base import Inputs, Programs
from jobsight.program.examples import Example
from jobsight.program.limited import LimitError, limited
from jobsight.program.machine import Machine
from jobsight.program.tree import (
    EFFECTS,
    FEATURES,
    GROUPS,
    KINDS,
    Tree,
    features_of,
    on_others,
    read_text,
    reuses,
)

__all__ = ["BOUND", "CLASS_OF", "FAMILIES", "Features", "Read", "place_of", "read", "rule_of",
           "table_of"]  # fmt: skip

BOUND = ("cpu", "memory", "io", "network", "waiting")
"""Classes that are learned; gpu, which runs without its counters cannot show, is for rules."""
_LAST = 10**15
"""µs: families are placed before it."""

_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(("id", "job", "family", "language", "source", "class"), pl.String),
    **dict.fromkeys(("example", "ended", "decided", "group"), pl.Int64),
    "shares": pl.List(pl.Float64),
    "possible": pl.List(pl.String),
}

Resolve = Callable[[Example], str | None]


def place_of(family: str, seed: int) -> int:
    """The moment of a family, µs."""
    digest = hashlib.blake2b(f"{seed} {family}".encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest) % _LAST


def table_of(source: Sequence[Example], seed: int, resolve: Resolve) -> pl.DataFrame:
    """The decisions, see `jobsight.learning.question`; `example` is the place in the source.

    Args:
        source: programs with what bound them.
        seed: of the families' order.
        resolve: the class of a program whose measurement leaves several possible; None: unknown.
    """
    numbers: dict[str, int] = {}
    rows = []
    for number, of in enumerate(source):
        possible = [kind for kind in of.classes if kind in BOUND]
        known = [of.shares.get(name) for name in BOUND]
        rows.append({
            "id": of.id, "example": number, "job": of.job, "family": of.family,
            "language": of.language, "source": "measured" if of.measured else "accounted",
            "ended": of.ended, "decided": place_of(of.family, seed) // (2 if of.job else 1),
            "group": numbers.setdefault(of.family, len(numbers)),
            "class": possible[0] if len(possible) == 1 else resolve(of) if possible else None,
            "shares": [share or 0.0 for share in known] if of.measured and any(known) else None,
            "possible": list(of.classes),
        })  # fmt: skip
    several = pl.when(pl.col("class").is_null()).then(pl.lit("several classes are possible"))
    table = pl.DataFrame(rows, schema=_SCHEMA).sort("decided", "example")
    return table.with_columns(
        known_at="decided", batch="example", drawn="group", log="group",
        kept=pl.lit(value=True), teaches=pl.lit(value=True), censored=several,
    )  # fmt: skip


CLASS_OF = {effect: kind for kind in BOUND for effect in GROUPS[kind]}
"""By effect, the class that calls with it speak for."""
_COLUMN = np.array([BOUND.index(CLASS_OF[o]) if o in CLASS_OF else len(BOUND) for o in EFFECTS])
_ARRAY = np.isin(EFFECTS, ("allocate", "random", "table", "copy", "stream"))
_EXTENT = KINDS.index("extent")
_LARGE = 22
"""Size of an array (1 + log2 of its elements) from which on it fits in no cache."""


def rule_of(tree: Tree) -> int:
    """The class that a rule gives, its position in `BOUND`."""
    # By class: how often its calls run, each counting 4 times for each loop around it.
    calls = np.flatnonzero((tree.effect > 0) & tree.reached & ~on_others(tree))
    weight = 4.0 ** np.minimum(tree.depth[calls].astype(int), 4)
    strength = np.bincount(_COLUMN[tree.effect[calls]], weight, len(BOUND) + 1)
    by = dict(zip(BOUND, strength[: len(BOUND)], strict=True))
    again = 4.0 ** np.minimum(tree.depth[reuses(tree) & tree.reached].astype(int), 4)
    if by["network"] >= 1:
        return BOUND.index("network")
    if by["waiting"] >= 4:
        return BOUND.index("waiting")
    if by["io"] >= 16 and by["io"] > by["cpu"]:
        return BOUND.index("io")
    arrays = tree.reached & (_ARRAY[tree.effect] | (tree.kind == _EXTENT))
    streams = by["memory"] >= 1 and by["memory"] > again.sum()
    if streams and int(tree.size[arrays].max(initial=0)) >= _LARGE:
        return BOUND.index("memory")
    return BOUND.index("cpu")


FAMILIES = {
    "what it calls": ("runs", "share", "calls", "deepest"),
    "its sizes": ("size", "value", "count", "language"),
    "its loops": ("nesting", "inner", "index", "handlers"),
}
_SMALL = frozenset(
    {"name", "text", "constant", "literal", "pattern", "pointer", "extent", "member"}
)
"""Kinds that networks do not see: they have no words."""
_KEPT = np.array([name not in _SMALL for name in KINDS])
_SIZES = np.digitize(np.arange(256), (1, 12, 21))
"""Unknown, to 2000, to a million, more."""
VOCABULARY = 4 * (len(KINDS) + len(EFFECTS))


@dataclass(frozen=True, eq=False)
class Read:
    """A program as it was read; `tree` is None where its language has none."""

    name: str
    tree: Tree | None
    problem: str = ""

    @cached_property
    def features(self) -> NDArray[np.float32]:
        """Float32 (f,): those of the tree, then the rule's class."""
        if self.tree is None:
            return np.full(len(FEATURES) + 1, np.nan, np.float32)
        return np.array([*features_of(self.tree), rule_of(self.tree)], np.float32)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Names that it imports, and calls where it gets to."""
        if self.tree is None:
            return ()
        called = [name for node, name in self.tree.calls.items() if self.tree.reached[node]]
        return (*(f"import {name}" for name in self.tree.imports), *called)

    @cached_property
    def nodes(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Numbers of the kinds of nodes, and their parents, of what it gets to."""
        if self.tree is None:
            return np.zeros(1, np.int32), np.full(1, -1, np.int32)
        tree = self.tree
        kept = _KEPT[tree.kind] & tree.reached
        kept[0] = True
        above = tree.parent.copy()
        number = np.cumsum(kept) - 1
        for node in np.flatnonzero(kept)[1:]:
            while not kept[above[node]]:
                above[node] = tree.parent[above[node]]
        what = np.where(tree.effect > 0, len(KINDS) + tree.effect.astype(np.int32), tree.kind)
        tokens = 4 * what + _SIZES[tree.size]
        parents = number[above[kept]]
        parents[0] = -1
        return tokens[kept].astype(np.int32), parents.astype(np.int32)


def read(
    path: str, text: str, language: str | None = None, machine: Machine | None = None,
    arguments: Sequence[str] = (),
) -> Read:  # fmt: skip
    """Read a program of a machine (None: this one); one in no known language has no tree."""
    folder = str(Path(path).parent) or "."
    try:
        with limited():
            tree = read_text(
                text, path, language=language, folder=folder, machine=machine, arguments=arguments
            )
        return Read(path, tree)
    except LimitError as limit:
        return Read(path, None, f"reading stopped after {limit}")
    except SourceError as error:
        return Read(path, None, str(error))


class Features:
    """Builds inputs of the programs of a source, each read once."""

    def __init__(self, source: Sequence[Example]) -> None:
        self._source = source
        self._read: dict[int, Read] = {}

    def build(self, rows: pl.DataFrame, moment: str) -> tuple[pl.DataFrame, Inputs]:
        """See `jobsight.learning.question.Builder`."""
        for number in rows["example"]:
            if number not in self._read:
                of = self._source[number]
                self._read[number] = read(of.path, of.text, of.language, arguments=of.arguments)
        return rows, self.inputs([self._read[number] for number in rows["example"]])

    def inputs(self, programs: Sequence[Read]) -> Inputs:
        """Inputs of programs that were read, in their order."""
        names = (*(name.replace(".", ": ", 1) for name in FEATURES), "rule")
        features = [program.features for program in programs]
        columns = np.array(features, np.float32).reshape(len(programs), len(names))
        nodes = [program.nodes for program in programs]
        read_ = Programs(
            tuple(program.words for program in programs),
            tuple(kinds for kinds, _ in nodes),
            tuple(parents for _, parents in nodes),
            VOCABULARY,
        )
        return Inputs(columns, names, {}, {}, None, 0, programs=read_)
