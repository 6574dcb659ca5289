"""What models read of a program: hand-made features, the names that it uses, and its tree.

Only what the program gets to counts, so that an import or a function that is never used says
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from jobsight.program.tree import EFFECTS, FEATURES, KINDS, Tree, features_of, read_text
from jobsight.questions.bound.effects import rule_of

__all__ = ["FAMILIES", "Features", "Read", "read"]

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
        return rows, self.inputs([self._of(number) for number in rows["example"]])

    def _of(self, number: int) -> Read:
        if number not in self._read:
            one = self._source[number]
            self._read[number] = read(one.path, one.text, one.language, arguments=one.arguments)
        return self._read[number]

    def inputs(self, programs: Sequence[Read]) -> Inputs:
        """Inputs of programs that were read, in their order."""
        names = (*(name.replace(".", ": ", 1) for name in FEATURES), "rule")
        features = [one.features for one in programs]
        columns = np.array(features, np.float32).reshape(len(programs), len(names))
        nodes = [one.nodes for one in programs]
        read_ = Programs(
            tuple(one.words for one in programs),
            tuple(kinds for kinds, _ in nodes),
            tuple(parents for _, parents in nodes),
            VOCABULARY,
        )
        return Inputs(columns, names, {}, {}, None, 0, programs=read_)
