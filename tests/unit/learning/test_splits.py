import numpy as np
import pytest

from jobsight.errors import TrainingError
from jobsight.learning.dataset import (
    CROSSES_BORDER,
    END_OF_PART,
    OUTCOME_LATER,
    PARTS,
    part_borders,
    split_forward,
    split_random,
)

SHARES = (0.5, 0.2, 0.1, 0.2)


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def test_borders_share_out_batches_not_rows() -> None:
    time = np.concatenate([np.zeros(90, dtype=np.int64), np.arange(1, 10)])
    batch = np.concatenate([np.zeros(90, dtype=np.int64), np.arange(1, 10)])
    assert part_borders(time, batch, SHARES, end=20).tolist() == [0, 5, 7, 8, 21]


def test_few_batches_leave_parts_empty() -> None:
    assert part_borders(ints(3), ints(0), SHARES, end=5).tolist() == [3, 3, 6, 6, 6]
    with pytest.raises(TrainingError, match="no decisions"):
        part_borders(ints(), ints(), SHARES, end=5)


def test_rows_are_dropped_by_kind() -> None:
    time = ints(0, 10, 20, 30, 40, 50, 60, 70)
    resolved = time + 5
    resolved[2] = 45
    split = split_forward(
        time, np.arange(8), ints(0, 1, 2, 3, 4, 5, 6, 0), resolved, borders=ints(0, 40, 100),
        horizon=8,
    )  # fmt: skip
    assert split.part.tolist() == [-1, 0, -1, 0, 1, 1, 1, 1]
    assert split.dropped.tolist() == [CROSSES_BORDER, 0, OUTCOME_LATER, 0, 0, 0, 0, 0]
    assert split.rows("train").tolist() == [1, 3]


def test_decisions_near_the_end_of_the_test_part_go_whatever_became_of_them() -> None:
    time = ints(0, 35, 90, 95)
    split = split_forward(
        time, np.arange(4), np.arange(4), time, borders=ints(0, 40, 100), horizon=8
    )
    assert split.dropped.tolist() == [0, 0, 0, END_OF_PART]
    assert split.part.tolist() == [0, 0, 1, -1]


def test_a_batch_across_the_border_is_dropped_from_the_earlier_side() -> None:
    time = ints(0, 39, 41, 80)
    split = split_forward(
        time, ints(0, 1, 1, 2), np.arange(4), time, borders=ints(0, 40, 100), horizon=0
    )
    assert split.part.tolist() == [0, -1, 1, 1]


def test_random_parts_keep_units_whole_and_shares() -> None:
    unit = np.repeat(np.arange(100), 3)
    split = split_random(unit, test=0.2, seed=1)
    assert [len(split.rows(name)) for name in PARTS] == [240, 60]
    assert all(len(set(split.part[unit == one].tolist())) == 1 for one in range(100))
    assert np.array_equal(split.part, split_random(unit, test=0.2, seed=1).part)
    assert not np.array_equal(split.part, split_random(unit, test=0.2, seed=2).part)
    assert len(split_random(ints(), test=0.2, seed=0).part) == 0
