"""Parts of a history: what is before a border trains, what is after it tests.

All times are int64 microseconds since 1970, UTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jobsight.errors import TrainingError

__all__ = ["PARTS", "Split", "part_borders", "split_forward", "split_random"]

PARTS = ("train", "test")
DROPS = ("", "end_of_part", "outcome_later", "crosses_border")
"""Kinds of dropped rows, as indices of `Split.dropped`; 0 is a row that stays."""
END_OF_PART, OUTCOME_LATER, CROSSES_BORDER = 1, 2, 3

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Split:
    """Which part each of n rows belongs to.

    Attributes:
        part: int8 (n,): index into `PARTS`; −1 for a dropped row.
        dropped: int8 (n,): index into `DROPS`, 0 for a row that stays.
        borders: int64 (3,): part k holds the times borders[k] ≤ t < borders[k + 1]; empty for a
            random split.
    """

    part: NDArray[np.int8]
    dropped: NDArray[np.int8]
    borders: Ints

    def rows(self, name: str) -> Ints:
        """Indices of the rows of a part, in order: int64 (k,)."""
        return np.flatnonzero(self.part == PARTS.index(name)).astype(np.int64)


def part_borders(time: Ints, batch: Ints, shares: Sequence[float], end: int) -> Ints:
    """Borders that give each of k parts its share of the batches, in time order: int64 (k + 1,).

    A batch stands where its first row does. Borders are times: rows of one moment share a part.

    Args:
        time: int64 (n,), of the decisions.
        batch: int64 (n,), equal for the rows of one batch.
        shares: of the k parts; only their proportions count.
        end: when the history ends, at least the last time.

    Raises:
        TrainingError: there are no rows.
    """
    if not len(time):
        raise TrainingError("there are no decisions with a known outcome to learn from")
    _, number = np.unique(batch, return_inverse=True)
    first = np.full(int(number.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, number, time)
    first.sort()
    edges = np.cumsum(np.array(shares[:-1], dtype=np.float64)) / sum(shares)
    after = int(max(end, int(time.max()))) + 1
    inner = [first[index] if index < len(first) else after
             for index in np.rint(edges * len(first)).astype(np.int64)]  # fmt: skip
    return np.array([first[0], *inner, after], dtype=np.int64)


def split_forward(
    time: Ints, batch: Ints, group: Ints, resolved: Ints, *, borders: Ints, horizon: int
) -> Split:
    """A train and a test part in time order, of which the first knows nothing of the second.

    Dropped are, counted by the first kind that applies:

    - ``end_of_part``: decisions of the test part within `horizon` of its end, whatever became of
      them; in the train part those that are known by then stand for the rest
      (`dataset.censoring_weights`);
    - ``outcome_later``: those whose outcome was not known at the end of their part;
    - ``crosses_border``: those of a group or batch that has a row in the test part.

    Args:
        time: int64 (n,), of the decisions.
        batch: int64 (n,), equal for the rows of one batch.
        group: int64 (n,), equal for the rows of one group.
        resolved: int64 (n,), when the outcome was known.
        borders: int64 (3,): where the train part begins, the test part begins, and all ends.
        horizon: microseconds.
    """
    tests = time >= borders[1]
    ends = np.where(tests, borders[2], borders[1])
    dropped = np.zeros(len(time), dtype=np.int8)
    dropped[~tests & (np.isin(batch, batch[tests]) | np.isin(group, group[tests]))] = CROSSES_BORDER
    dropped[resolved >= ends] = OUTCOME_LATER
    dropped[tests & (time > ends - horizon)] = END_OF_PART
    return Split(np.where(dropped > 0, -1, tests).astype(np.int8), dropped, borders)


def split_random(unit: Ints, *, test: float, seed: int) -> Split:
    """Parts drawn by chance: only to show how much such a split flatters.

    Args:
        unit: int64 (n,), what stays together: groups, or ``arange(n)`` for rows on their own.
        test: share of the test part, in units.
        seed: of the draw.
    """
    values, number = np.unique(unit, return_inverse=True)
    place = np.random.default_rng(seed).permutation(len(values))
    part = (place >= round((1.0 - test) * len(values))).astype(np.int8)
    return Split(part[number], np.zeros(len(unit), dtype=np.int8), np.zeros(0, dtype=np.int64))
