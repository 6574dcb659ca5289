"""Smoothed rates of success by cause, from coarse to fine.

Each level's rate leans on the level above it::

    r(all)    = (s + 1/2) / (w + 1)
    r(a)      = (s_a + k · r(all)) / (w_a + k)
    r(a, b)   = (s_ab + k · r(a)) / (w_ab + k)      and so on

with s the weighted successes, w the weight (in batches) and k the prior strength, chosen on the
latest rows. A value that was never seen has w = 0, so it falls back to the level above.

*Rates that go on learning* count what is known at each decision, level by level, from
r(nothing) = 1/2 on and with k = 8, chosen on two pools. Other histories may be unlike the one that
taught them, or like it and shorter. So they begin from what training counted of the same level, of
each key at most so many batches as their cap says. A history that goes on after the training has
those outcomes twice, which the tests of the two pools and of their halves show to do no harm.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from jobsight.errors import ModelError, TrainingError
from jobsight.models.base import Floats, Inputs, Labelled, held_back
from jobsight.models.constant import smoothed_rate
from jobsight.models.storage import Stored, save_body

__all__ = [
    "START_CAP", "LearningRates", "LearningRates0", "LearningRates20", "LearningRatesAll",
    "RateTable", "Rates", "choose_strength", "learned_table", "rate_as_known",
]  # fmt: skip

STRENGTHS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
DEFAULT_STRENGTH = 4.0
STRENGTH_AS_KNOWN = 8.0
START_CAP = 5.0
"""Cap of the baseline, and of the rate that other models begin from, in batches."""

Causes = Mapping[str, NDArray[np.str_]]
Key = tuple[str, ...]


def _rows(causes: Causes, columns: tuple[str, ...]) -> list[Key]:
    missing = [name for name in columns if name not in causes]
    if missing:
        raise ModelError(f"the inputs lack the cause {missing[0]!r}; train again")
    return list(zip(*(causes[name].tolist() for name in columns), strict=True))


@dataclass(frozen=True)
class RateTable:
    """Weights and successes of every cause seen, level by level.

    Attributes:
        columns: names of the cause columns, coarse to fine; level L is keyed by the first L.
        strength: k of the module's formula, in batches.
        cells: (w, s) of each key, for level 0 (the empty key), 1, … in one mapping.
    """

    columns: tuple[str, ...]
    strength: float = DEFAULT_STRENGTH
    cells: Mapping[Key, tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def count(cls, causes: Causes, success: NDArray[np.bool_], weight: Floats) -> Self:
        """Count n labelled rows; `causes` is ordered coarse to fine."""
        columns = tuple(causes)
        weights: dict[Key, float] = defaultdict(float)
        wins: dict[Key, float] = defaultdict(float)
        rows: Iterable[Key] = _rows(causes, columns) if columns else [()] * len(success)
        for key, won, share in zip(rows, success.tolist(), weight.tolist(), strict=True):
            for level in range(len(key) + 1):
                weights[key[:level]] += share
                wins[key[:level]] += share * won
        return cls(columns, cells={key: (weights[key], wins[key]) for key in sorted(weights)})

    def support(self, causes: Causes, rows: int) -> tuple[Floats, Floats]:
        """Weight and successes behind each row's rate at each level: two float64 (n, levels + 1).

        Raises:
            ModelError: a cause column is missing.
        """
        keys = _rows(causes, self.columns) if self.columns else [()] * rows
        nothing = (0.0, 0.0)
        found = [
            [self.cells.get(key[:level], nothing) for level in range(len(self.columns) + 1)]
            for key in keys
        ]
        table = np.array(found, dtype=np.float64).reshape(rows, len(self.columns) + 1, 2)
        return table[:, :, 0], table[:, :, 1]

    def rates(self, weight: Floats, success: Floats) -> Floats:
        """Smoothed rates at each level from what `support` returned: float64 (n, levels + 1)."""
        rates = np.empty_like(weight)
        all_weight, all_success = self.cells.get((), (0.0, 0.0))
        rates[:, 0] = smoothed_rate(all_success, all_weight)
        for level in range(1, rates.shape[1]):
            above = self.strength * rates[:, level - 1]
            rates[:, level] = (success[:, level] + above) / (weight[:, level] + self.strength)
        return rates

    def to_json(self) -> dict[str, Any]:
        cells = [[list(key), weight, wins] for key, (weight, wins) in self.cells.items()]
        return {"columns": list(self.columns), "strength": self.strength, "cells": cells}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_json` gave; KeyError, TypeError, ValueError where it is not."""
        cells = {
            tuple(str(part) for part in key): (float(weight), float(wins))
            for key, weight, wins in data["cells"]
        }
        return cls(tuple(str(name) for name in data["columns"]), float(data["strength"]), cells)


def choose_strength(table: RateTable, select: Labelled) -> float:
    """The prior strength by which a table gives `select` the least weighted log loss.

    Ties go to the greater strength; without rows the strength is 4 batches.
    """
    if not len(select):
        return DEFAULT_STRENGTH
    weight, success = table.support(select.inputs.causes, len(select))
    losses = []
    for strength in reversed(STRENGTHS):
        rate = replace(table, strength=strength).rates(weight, success)[:, -1]
        right = np.where(select.success, rate, 1.0 - rate)
        losses.append((-float(select.weight @ np.log(np.maximum(right, 1e-12))), -strength))
    return -min(losses)[1]


def learned_table(rows: Labelled) -> RateTable:
    """Counts of all rows, with the strength by which the earlier ones predict the latest best."""
    earlier, later = held_back(rows)
    before, table = (
        RateTable.count(one.inputs.causes, one.success, one.weight) for one in (earlier, rows)
    )
    return replace(table, strength=choose_strength(before, later))


class Rates(Stored):
    """Answers the smoothed rate of the finest level of each row's cause."""

    name: ClassVar[str] = "rates"
    needs_both: ClassVar[bool] = False

    def __init__(self) -> None:
        self.table = RateTable(())

    def fit(self, train: Labelled, *, seed: int) -> None:
        if not len(train):
            raise TrainingError("rates: there are no training examples; give a longer history")
        self.table = learned_table(train)

    def predict(self, inputs: Inputs) -> Floats:
        return self.table.rates(*self.table.support(inputs.causes, len(inputs)))[:, -1].copy()

    def save(self, folder: Path) -> None:
        save_body(folder, self.name, self.table.to_json())

    def _read(self, folder: Path, body: dict[str, Any]) -> None:
        self.table = RateTable.from_json(body)


def rate_as_known(inputs: Inputs, taught: RateTable, cap: float) -> Floats:
    """The finest rate known at each decision, see the module: float64 (n,).

    Args:
        inputs: n rows, with `Inputs.learned`.
        taught: counts of training.
        cap: most batches of training that count for a key.

    Raises:
        ModelError: the inputs have no such counts, or lack a cause.
    """
    if not inputs.learned:
        raise ModelError("the inputs lack the counts of what became of like decisions")
    weight, success = taught.support(inputs.causes, len(inputs))
    share = np.minimum(1.0, cap / np.maximum(weight, 1e-12))
    levels = ("all", *taught.columns)
    rate = np.full(len(inputs), 0.5)
    for level in inputs.learned:
        good, bad = (inputs.facts[f"{what} {level}"].astype(np.float64) for what in ("good", "bad"))
        if level in levels:
            k = levels.index(level)
            good = good + share[:, k] * success[:, k]
            bad = bad + share[:, k] * (weight - success)[:, k]
        rate = (good + STRENGTH_AS_KNOWN * rate) / (good + bad + STRENGTH_AS_KNOWN)
    return rate


class LearningRates(Rates):
    """Answers the rate as known at each decision, from which other models begin too."""

    name: ClassVar[str] = "rates:learning"
    cap: ClassVar[float] = START_CAP

    def fit(self, train: Labelled, *, seed: int) -> None:
        if not len(train) or not train.inputs.learned:
            raise TrainingError(f"{self.name}: there is nothing to count; give a longer history")
        self.table = RateTable.count(train.inputs.causes, train.success, train.weight)

    def predict(self, inputs: Inputs) -> Floats:
        return rate_as_known(inputs, self.table, self.cap)


class LearningRates0(LearningRates):
    """The same, beginning from nothing."""

    name: ClassVar[str] = "rates:learning:0"
    cap: ClassVar[float] = 0.0


class LearningRates20(LearningRates):
    """The same, beginning from at most 20 batches of each key."""

    name: ClassVar[str] = "rates:learning:20"
    cap: ClassVar[float] = 20.0


class LearningRatesAll(LearningRates):
    """The same, beginning from all that training counted."""

    name: ClassVar[str] = "rates:learning:all"
    cap: ClassVar[float] = np.inf
