"""Whole numbers as numbers from 0, whatever they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.history.numbering import factorize, numbered


@pytest.mark.parametrize("largest", [9, 2**62])
@given(data=st.data())
def test_numbers_are_the_ranks_of_the_values(largest: int, data: st.DataObject) -> None:
    values = np.array(data.draw(st.lists(st.integers(-largest, largest))), np.int64)
    distinct, ranks = np.unique(values, return_inverse=True)
    numbers, count = numbered(values)
    assert numbers.tolist() == ranks.tolist()
    assert count == len(distinct)


def test_combinations_are_numbered_and_unknown_members_make_none() -> None:
    numbers = factorize(np.array([1, 1, 2, -1, 1]), np.array([5, 5, 5, 5, 6]))
    assert numbers[0] == numbers[1]
    assert len({*numbers[[0, 2, 4]].tolist()}) == 3
    assert numbers[3] == -1


def test_many_large_columns_do_not_overflow() -> None:
    columns = [np.arange(1000) * 2**50 for _ in range(12)]
    assert len(np.unique(factorize(*columns))) == 1000
