"""What models are given: its hash, and what is held back of it."""

from dataclasses import replace

import numpy as np

from jobsight.models.base import Inputs, held_back
from jobsight.testing import made_examples


def inputs(rows: int = 3) -> Inputs:
    return Inputs(
        features=np.arange(2 * rows, dtype=np.float32).reshape(rows, 2),
        names=("a", "b"),
        causes={"code": np.array(["13"] * rows)},
        facts={"num_holds": np.arange(rows)},
        frames=np.zeros((rows, 2, 2), np.uint8),
        state_events=4,
    )


def test_rows_have_hashes_of_their_own_wherever_they_stand() -> None:
    whole = inputs()
    digests = whole.digests()
    assert len(set(digests)) == 3
    assert all(len(one) == 16 and int(one, 16) >= 0 for one in digests)
    assert whole.take(np.array([2, 0])).digests() == [digests[2], digests[0]]


def test_whatever_is_told_differently_changes_the_hash() -> None:
    whole = inputs(1)
    others = [
        replace(whole, features=whole.features + 1),
        replace(whole, names=("a", "c")),
        replace(whole, causes={"code": np.array(["14"])}),
        replace(whole, facts={"num_holds": np.array([9])}),
        replace(whole, frames=None),
    ]
    assert len({one.digests()[0] for one in (whole, *others)}) == 6


def test_the_latest_fifth_by_weight_is_held_back() -> None:
    weight = np.where(np.arange(100) < 60, 1.0, 0.5)
    rows = replace(made_examples(100, seed=1), weight=weight, batch=np.arange(100))
    earlier, later = held_back(rows)
    assert later.batch is not None and earlier.batch is not None
    assert np.array_equal(earlier.batch, np.arange(68))
    assert np.array_equal(later.batch, np.arange(68, 100))


def test_nothing_is_held_back_where_the_rest_would_say_nothing() -> None:
    rows = made_examples(100, seed=1)
    late = replace(rows, values=np.arange(100) > 90)
    few = replace(rows, weight=np.full(100, 0.2))
    for one in (late, few, rows.take(np.zeros(0, np.int64))):
        earlier, later = held_back(one)
        assert (len(earlier), len(later)) == (len(one), 0)
