"""The proof that no inputs rest on anything written after their decision.

For each decision the source is cut off there, everything is built again from what is left, and the
two must be equal bit by bit.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from jobsight.learning.question import Question
from jobsight.models.base import Inputs

__all__ = ["Proof", "prove_as_of"]


@dataclass(frozen=True)
class Proof:
    """What came of building examples again without the future.

    Attributes:
        checked: number of examples built again.
        differences: row of the decision table, and the first thing that differs there.
    """

    checked: int
    differences: tuple[tuple[int, str], ...]

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return not self.differences


def prove_as_of(
    question: Question[Any],
    source: Any,
    decisions: pl.DataFrame,
    settings: Any,
    encoding: Any,
    *,
    moment: str | None = None,
) -> Proof:
    """Build inputs as usual, and each of them again from the source cut off at its decision.

    Features, causes, facts and frames are compared, bit by bit. Of the question `hold` a pool's log
    of 90 000 rows takes about a tenth of a second per decision and core.

    Args:
        question: that is asked.
        source: whole.
        decisions: rows of its table of decisions.
        settings: of the question.
        encoding: as learned; it is not learned again, since it comes from the training part alone.
        moment: one of the question's, None: the first.
    """
    moment = question.moments(encoding)[0] if moment is None else moment
    table, inputs = question.builder(source, encoding, settings).build(decisions, moment)

    def check(row: int) -> str | None:
        again = question.again(source, table[row], encoding, settings, moment)
        if again is None:
            return "the decision is not there"
        return _difference(inputs.take(np.array([row])), again)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = enumerate(pool.map(check, range(len(table))))
        return Proof(len(table), tuple((row, what) for row, what in found if what is not None))


def _difference(inputs: Inputs, again: Inputs) -> str | None:
    """The first thing that differs between one example and the same built again."""
    for place, name in enumerate(inputs.names):
        if inputs.features[:, place].tobytes() != again.features[:, place].tobytes():
            return name
    for name, column in (*inputs.causes.items(), *inputs.facts.items()):
        if column[0] != {**again.causes, **again.facts}[name][0]:
            return name
    if inputs.frames is not None and again.frames is not None:
        return None if inputs.frames.tobytes() == again.frames.tobytes() else "frames"
    return None
