"""What models are given, by its hash."""

from dataclasses import replace

import numpy as np

from jobsight.models.base import Inputs


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
