"""Keys numbered and grouped, against numpy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from jobsight.history.pastwalk import grouped, matched

values = st.lists(st.integers(0, 9) | st.integers(0, 2**64 - 1), max_size=60).map(
    lambda found: np.array(found, np.uint64)
)


@given(values, values)
def test_equal_values_have_equal_numbers(asked: np.ndarray, others: np.ndarray) -> None:
    found, of_others, count = matched(asked, others)
    number = {0: -1}
    for one in asked.tolist():
        number.setdefault(one, len(number) - 1)
    assert found.tolist() == [number[one] for one in asked.tolist()]
    assert of_others.tolist() == [number.get(one, -1) for one in others.tolist()]
    assert count == len(number) - 1


@given(st.lists(st.integers(-1, 5), max_size=40))
def test_places_are_grouped_in_order(codes: list[int]) -> None:
    at, places = grouped(np.array(codes, np.int32), 6)
    for code in range(6):
        assert places[at[code] : at[code + 1]].tolist() == [
            place for place, one in enumerate(codes) if one == code
        ]
