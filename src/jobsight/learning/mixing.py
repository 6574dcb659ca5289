"""The arithmetic of `jobsight.learning.mixture`: weights of members that follow outcomes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jobsight.jit import kernel
from jobsight.models.base import Floats, Ints
from jobsight.models.logistic import log_odds, sigmoid

__all__ = ["ETA", "FOREVER", "SHARE", "USUAL", "Times", "Weights", "mix"]

ETA, SHARE = 0.06, 1e-2
"""η and α of the module, chosen on five traces of clusters and two of pools."""
FIRST_ETA = 60.0
"""Of probabilities, η is √(this over the outcomes learned from) as long as that is more: the first
few hundred of a short history must be enough to tell good members from bad."""
QUANTILES_ETA = 0.25
"""η of quantiles, whose losses differ less; chosen on four traces, as good between 0.12 and 0.5."""
LARGEST, QUANTILES_LARGEST = 0.5, 0.9
"""First weight of the member that is fitted anew, if much taught it; the other one of quantiles."""
STEP = 4e-3
"""γ of quantiles: larger ones follow single arrays, smaller ones come too late."""
TOGETHER = 0.25
"""By which power of their number decisions that are drawn together move quantiles less."""
FIRST_STEPS = 2.0
"""γ is this over the outcomes learned from, as long as that is more."""
USUAL = 50.0
"""How many outcomes the weights of the beginning count for in the mean of all."""
SUPPORT = 400
"""Batches that must teach the member that is fitted anew for half of its largest first weight."""
FOREVER = int(np.iinfo(np.int64).max)
_FEW = 20_000
"""Numbers that members said."""


class Times(NamedTuple):
    """Outcomes of n decisions in time order: bool or float64; `nth` as in `Dataset.table`."""

    values: NDArray[Any]
    weight: Floats
    decided: Ints
    known_at: Ints
    nth: Ints


class Weights(NamedTuple):
    """Weights of members at one moment.

    Attributes:
        now: float64 (members,), adding up to 1.
        usual: their mean so far, likewise.
        learned: weight of the outcomes that both follow from, with that of the beginning.
        offsets: float64 (levels,), of quantiles, in the target's unit.
    """

    now: Floats
    usual: Floats
    learned: float
    offsets: Floats = np.zeros(0)

    @classmethod
    def first(cls, members: int, taught: int, levels: int = 0) -> Weights:
        """Before any outcome; the last member is the one that is fitted anew, on `taught` rows."""
        share = (QUANTILES_LARGEST if levels else LARGEST) * taught / (taught + SUPPORT)
        first = np.append(np.full(members - 1, (1.0 - share) / (members - 1)), share)
        return cls(first, first, USUAL, np.zeros(levels))

    def mean(self, said: Floats) -> Floats:
        """What members say together now: float64 (n,) of (n, members), else (n, levels)."""
        if said.ndim == 2:
            return sigmoid(log_odds(said) @ self.now)
        return np.sort(np.einsum("nmk,m->nk", said, self.now) + self.offsets, axis=1)


def mix(
    said: Floats,
    rows: Times,
    weights: Weights,
    until: int = FOREVER,
    levels: tuple[float, ...] = (),
) -> tuple[Floats, Weights]:
    """What members say together of decisions in time, and their weights in the end.

    Args:
        said: float64 (n, members), of quantiles (n, members, levels).
        rows: the decisions and outcomes.
        weights: in the beginning.
        until: µs; outcomes known from there on teach nothing.
        levels: of quantiles.

    Returns:
        float64 (n,) or (n, levels), and the weights.
    """
    if levels:
        scores, values, over = said, rows.values, rows.values[:, None, None] - said
        losses = np.maximum(np.array(levels) * over, (np.array(levels) - 1.0) * over).mean(axis=2)
    else:
        odds = log_odds(said)
        scores, values = odds[:, :, None], np.zeros(len(said))
        losses = np.log1p(np.exp(np.where(rows.values.astype(np.bool_)[:, None], -odds, odds)))
    mixed = np.zeros((len(said), scores.shape[2]))
    now, usual, offsets = (one.copy() for one in (weights.now, weights.usual, weights.offsets))
    by_known = np.argsort(rows.known_at, kind="stable")
    moves = rows.weight * (1.0 + rows.nth.astype(np.float64)) ** -TOGETHER
    # Few are played sooner than Numba is imported; the numbers are the same.
    play = _play.py_func if said.size <= _FEW else _play
    learned = play(
        np.ascontiguousarray(scores), losses, values,
        np.array(levels), rows.weight, moves, rows.decided, by_known, rows.known_at, until, now,
        usual, weights.learned, offsets, mixed,
    )  # fmt: skip
    after = Weights(now, usual, learned, offsets)
    return (np.sort(mixed, axis=1) if levels else sigmoid(mixed[:, 0])), after


@kernel
def _play(
    scores: Floats,
    losses: Floats,
    values: Floats,
    levels: Floats,
    weight: Floats,
    moves: Floats,
    decided: Ints,
    by_known: Ints,
    known_at: Ints,
    until: int,
    weights: Floats,
    usual: Floats,
    seen: float,
    offsets: Floats,
    mixed: Floats,
) -> float:
    """Fills `mixed` (n, k) in the order of `decided`; all else ends as of `until`."""
    members, learned = len(weights), 0
    for row in range(len(decided) + 1):
        now = decided[row] if row < len(decided) else until
        while learned < len(by_known) and known_at[by_known[learned]] < now:
            one = by_known[learned]
            learned += 1
            seen += weight[one]
            for j in range(len(levels)):
                if levels[j] == 0.5:
                    continue
                level = offsets[j]
                for k in range(members):
                    level += weights[k] * scores[one, k, j]
                under = 1.0 if values[one] <= level else 0.0
                step = max(STEP, FIRST_STEPS / seen) * moves[one]
                offsets[j] += step * (levels[j] - under)
            eta = QUANTILES_ETA
            if not len(levels):
                eta = max(ETA, min(1.0, math.sqrt(FIRST_ETA / seen)))
            total = 0.0
            for k in range(members):
                weights[k] *= math.exp(-eta * losses[one, k] * weight[one])
                total += weights[k]
            for k in range(members):
                weights[k] = (1.0 - SHARE) * weights[k] / total + SHARE * usual[k]
                usual[k] += weight[one] / seen * (weights[k] - usual[k])
        if row < len(decided):
            for j in range(scores.shape[2]):
                mixed[row, j] = offsets[j] if len(levels) else 0.0
                for k in range(members):
                    mixed[row, j] += weights[k] * scores[row, k, j]
    return seen
