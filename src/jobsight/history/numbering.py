"""Whole numbers of any size as numbers from 0, so that they can be looked up in arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["factorize", "numbered"]

Ints = NDArray[np.int64]

_WIDEST = 4
"""A range of so many numbers for each value is counted; sorting a million values takes 0.1 s."""


def numbered(values: NDArray[np.integer[Any] | np.bool_]) -> tuple[Ints, int]:
    """Number the distinct values from 0, in order: int64 (n,); and how many there are."""
    if not len(values):
        return np.zeros(0, np.int64), 0
    low, high = int(values.min()), int(values.max())
    if high - low >= _WIDEST * len(values):
        distinct, numbers = np.unique(values, return_inverse=True)
        return numbers.astype(np.int64), len(distinct)
    places = values.astype(np.int64) - low
    present = np.zeros(high - low + 1, np.bool_)
    present[places] = True
    upto = np.cumsum(present, dtype=np.int32)
    return upto[places].astype(np.int64) - 1, int(upto[-1])


def factorize(*columns: NDArray[Any]) -> Ints:
    """Number the distinct combinations of equally long columns, from 0, sorted: int64 (n,).

    A combination with a negative member has number −1.
    """
    whole = np.zeros(len(columns[0]), np.int64)
    unknown = np.zeros(len(whole), np.bool_)
    for column in columns:
        codes, count = numbered(column)
        unknown |= np.asarray(column) < 0
        # Renumbered after every column, so that the product never overflows.
        whole, _ = numbered(whole * count + codes)
    whole[unknown] = -1
    return whole
