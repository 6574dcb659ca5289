"""How much of the metric a parameter explains, alone: shares of variance among ranks.

The metric's ranks are compared between groups of runs with like values of the parameter:
categories, or bins of equal numbers of runs. The share of the ranks' variance that lies between the
groups is Kruskal and Wallis' H / (n − 1) (J. Am. Stat. Assoc. 47, 1952); what chance alone would
give is taken off as in Kelley's ε² (PNAS 21, 1935). Ranks, since one diverged run would outweigh
all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jobsight.reports.sweep.scales import Column, Floats, short
from jobsight.text import printable

__all__ = ["FEW_RUNS", "Importance", "contrast", "groups", "importance", "ranks"]

FEW_RUNS = 30
"""Below so many runs the shares are little more than a hint, and the report says so."""

_SHUFFLES = 400
_LEAST = 5
_CHANCE = 0.05
_RUNS_A_BIN = 5
_BINS = 6


@dataclass(frozen=True)
class Importance:
    """What one parameter explains of the metric.

    Attributes:
        share: of the variance of the metric's ranks, 0 to 1; None with too few runs.
        correlation: of ranks (Spearman), positive where more of it is better; None for categories
            without an order, or where undefined.
        sure: whether fewer than 5 % of shuffled metrics give such a share.
    """

    share: float | None
    correlation: float | None
    sure: bool


def ranks(values: Floats) -> Floats:
    """Ranks from 0, ties sharing their mean: float64 (n,)."""
    _, member, counts = np.unique(values, return_inverse=True, return_counts=True)
    first = np.cumsum(counts) - counts
    mean: Floats = (first + (counts - 1) / 2.0)[member]
    return mean


def groups(column: Column, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which group of like values each of n runs belongs to: int64 (n,), −1: it has no value."""
    values = column.values[places]
    there = np.isfinite(values)
    member = np.full(len(values), -1, np.int64)
    if not there.any():
        return member
    if column.axis.kind == "category":
        member[there] = values[there].astype(np.int64)
        return member
    bins = max(1, min(_BINS, int(there.sum()) // _RUNS_A_BIN))
    placed = ranks(values[there])
    member[there] = np.minimum(placed * bins // there.sum(), bins - 1).astype(np.int64)
    return member


def importance(
    column: Column, places: NDArray[np.int64], values: Floats, *, maximize: bool
) -> Importance:
    """What a parameter explains of the metric of the runs at n places.

    Args:
        column: the parameter, of all runs.
        places: int64 (n,), runs with a metric.
        values: float64 (all runs,), the metric.
        maximize: whether more of the metric is better.
    """
    member = groups(column, places)
    there = member >= 0
    metric = values[places][there] * (1.0 if maximize else -1.0)
    _, member = np.unique(member[there], return_inverse=True)
    if len(metric) < _LEAST or member.max(initial=0) == 0 or np.ptp(metric) == 0:
        return Importance(None, None, sure=False)
    ranked = ranks(metric)
    share = _between(ranked[:, None], member)[0]
    # Seeded, so that the same sweep gives the same page.
    shuffled = np.random.default_rng(0).permuted(
        np.repeat(ranked[:, None], _SHUFFLES, axis=1), axis=0
    )
    beaten = float((_between(shuffled, member) >= share - 1e-12).mean())
    count, kinds = len(ranked), int(member.max()) + 1
    free = 1.0 - (1.0 - share) * (count - 1) / max(count - kinds, 1)
    ordered = column.axis.kind != "category" or _numbers(column)
    together = _correlation(ranks(column.values[places][there]), ranked) if ordered else None
    return Importance(float(np.clip(free, 0.0, 1.0)), together, sure=beaten < _CHANCE)


def _between(ranked: Floats, member: NDArray[np.int64]) -> Floats:
    """Share of the variance between groups of k rankings (n, k): float64 (k,)."""
    centred = ranked - ranked.mean(axis=0)
    belongs = np.eye(int(member.max()) + 1)[:, member]  # (groups, n)
    sums = belongs @ centred
    between = (sums**2 / belongs.sum(axis=1)[:, None]).sum(axis=0)
    shares: Floats = between / (centred**2).sum(axis=0)
    return shares


def _numbers(column: Column) -> bool:
    """Whether a column's categories are numbers, which have an order."""
    try:
        return len([float(label) for label in column.axis.labels]) > 1
    except ValueError:
        return False


def _correlation(one: Floats, other: Floats) -> float | None:
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    return float(np.corrcoef(one, other)[0, 1])


def contrast(
    columns: Sequence[Column], inside: NDArray[np.int64], outside: NDArray[np.int64]
) -> tuple[float, str]:
    """What separates the runs `inside` best from those `outside`: the parameter, in words.

    Of numbers it is the area under the ROC curve (how often one of these is above one of the
    others, or below), of categories the greatest difference of shares.

    Returns:
        how clearly it does, from 0.5 (no difference) to 1 (no overlap), and the parameter with
        their values and those of the others.
    """
    found = [one for column in columns if (one := _contrast(column, inside, outside)) is not None]
    return max(found, key=lambda one: one[0], default=(0.5, ""))


def _contrast(
    column: Column, inside: NDArray[np.int64], outside: NDArray[np.int64]
) -> tuple[float, str] | None:
    these, others = column.values[inside], column.values[outside]
    these, others = these[np.isfinite(these)], others[np.isfinite(others)]
    if len(these) < 2 or len(others) < 2:
        return None
    if column.axis.kind == "category" and not _numbers(column):
        size = len(column.axis.labels)
        share = np.bincount(these.astype(np.int64), minlength=size) / len(these)
        rest = np.bincount(others.astype(np.int64), minlength=size) / len(others)
        most = int(np.argmax(share - rest))
        clear = 0.5 + float(share[most] - rest[most]) / 2.0
        label = column.axis.labels[most]
        values = [f"{label} in {one[most]:.0%}" for one in (share, rest)]
    else:
        placed = ranks(np.concatenate([these, others]))[: len(these)]
        above = (placed.sum() - len(these) * (len(these) - 1) / 2) / (len(these) * len(others))
        clear = float(max(above, 1.0 - above))
        values = [_range(column, one) for one in (these, others)]
    return clear, f"{printable(column.name, 60)}: {values[0]}; others {values[1]}"


def _range(column: Column, values: Floats) -> str:
    """The middle nine tenths of values, in words."""
    if column.axis.kind == "category":
        words = [column.axis.labels[int(one)] for one in (values.min(), values.max())]
    else:
        words = [short(float(one), 2) for one in np.quantile(values, [0.05, 0.95])]
    return words[0] if words[0] == words[1] else f"{words[0]} to {words[1]}"
