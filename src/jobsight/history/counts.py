"""Counts and latest times of rows with a key, as of a decision.

The rows of each key are sorted once. A decision sees a prefix of each log (`history.timelines`), so
the count of its visible rows with a key is the difference of two binary searches per log, and no
row past a cut can change the result.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jobsight.history.timelines import History, Ints
from jobsight.jit import kernel

__all__ = ["NEVER", "CountIndex", "factorize"]

NEVER = int(np.iinfo(np.int64).min)
"""The clock of a row that does not exist."""


class CountIndex:
    """Rows with keys, to be counted as of many decisions.

    Immutable after construction; may be used by several threads.

    Attributes:
        keys: number of distinct keys; queries use 0 … keys − 1, and −1 for "no such key".
    """

    def __init__(self, history: History, rows: Ints, keys: NDArray[np.integer[Any]]) -> None:
        """Index `rows` (n,) under `keys` (n,), whole numbers; rows with keys below 0 are left out.

        A row may be given several times, under one key or under several.
        """
        rows, keys = np.asarray(rows, np.int64), np.asarray(keys, np.int64)
        if (keys < 0).any():
            rows, keys = rows[keys >= 0], keys[keys >= 0]
        if (np.diff(rows) < 0).any():
            order = np.lexsort((rows, keys))
        else:
            order = np.argsort(keys, kind="stable")
        self.keys = int(keys.max()) + 1 if len(keys) else 0
        self._rows = rows[order]
        self._start = np.searchsorted(keys[order], np.arange(self.keys + 1)).astype(np.int64)
        self._log_start = history.log_start
        self._clock = history.clock

    def count(self, keys: NDArray[np.integer[Any]], cuts: Ints, starts: Ints | None = None) -> Ints:
        """Rows with each key before the cuts and not before the starts: int64 (n,).

        Args:
            keys: (n,) whole numbers; those below 0, or not in the index, count nothing.
            cuts: int64 (n, logs), first hidden row of each log (`History.cuts_many`).
            starts: int64 (n, logs), no row of a log before it counts; None: all count.
        """
        found = np.zeros(len(keys), np.int64)
        first = self._log_start[None, :-1]
        starts = first if starts is None else np.maximum(starts, first)
        asked = np.asarray(keys, np.int64)
        _count(self._start, self._rows, asked, _matrix(starts), _matrix(cuts), found)
        return found

    def rows(self, key: int) -> Ints:
        """All rows with a key, ascending: int64."""
        if not 0 <= key < self.keys:
            return self._rows[:0]
        return self._rows[self._start[key] : self._start[key + 1]]

    def last_row(self, keys: NDArray[np.integer[Any]], cuts: Ints) -> Ints:
        """The latest visible row by clock with each key: int64 (n,), −1 for none."""
        found = np.full(len(keys), -1, np.int64)
        asked = np.asarray(keys, np.int64)
        first = np.ascontiguousarray(self._log_start[:-1])
        _last(self._start, self._rows, self._clock, asked, first, _matrix(cuts), found)
        return found

    def last(self, keys: NDArray[np.integer[Any]], cuts: Ints) -> Ints:
        """The clock (µs) of `last_row`: int64 (n,), `NEVER` for none."""
        rows = self.last_row(keys, cuts)
        clock = np.full(len(rows), NEVER, np.int64)
        clock[rows >= 0] = self._clock[rows[rows >= 0]]
        return clock


def factorize(*columns: NDArray[Any]) -> Ints:
    """Number the distinct combinations of equally long columns, from 0, sorted: int64 (n,).

    A combination with a negative member has number −1.
    """
    whole = np.zeros(len(columns[0]), np.int64)
    unknown = np.zeros(len(whole), np.bool_)
    for column in columns:
        values, codes = np.unique(column, return_inverse=True)
        unknown |= np.asarray(column) < 0
        # Renumbered after every column, so that the product never overflows.
        whole = np.unique(whole * len(values) + codes, return_inverse=True)[1].astype(np.int64)
    whole[unknown] = -1
    return whole


def _matrix(rows: Ints) -> Ints:
    """Row numbers (n or 1, logs), contiguous as the kernels want them."""
    return np.ascontiguousarray(rows, np.int64)


@kernel
def _before(rows: Ints, low: int, high: int, row: int) -> int:
    """First place in the sorted ``rows[low:high]`` that holds `row` or a later one."""
    while low < high:
        middle = (low + high) // 2
        if rows[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _count(start: Ints, rows: Ints, keys: Ints, first: Ints, cuts: Ints, found: Ints) -> None:
    for query in range(len(keys)):
        key = keys[query]
        if key < 0 or key >= len(start) - 1:
            continue
        low, high = start[key], start[key + 1]
        since = first[min(query, len(first) - 1)]
        for log in range(cuts.shape[1]):
            if low >= high:
                break
            low = _before(rows, low, high, since[log])
            end = _before(rows, low, high, cuts[query, log])
            found[query] += end - low
            low = end


@kernel
def _last(
    start: Ints, rows: Ints, clock: Ints, keys: Ints, first: Ints, cuts: Ints, found: Ints
) -> None:
    for query in range(len(keys)):
        key = keys[query]
        if key < 0 or key >= len(start) - 1:
            continue
        low, high = start[key], start[key + 1]
        for log in range(cuts.shape[1]):
            if low >= high:
                break
            low = _before(rows, low, high, cuts[query, log])
            # A place before the key's own, or before this log's first row, is none of this log.
            if low == start[key] or rows[low - 1] < first[log]:
                continue
            row = rows[low - 1]
            if found[query] < 0 or clock[row] >= clock[found[query]]:
                found[query] = row
