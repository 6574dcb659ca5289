from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.support import pools
from tests.support.histories import table

from jobsight.errors import TrainingError
from jobsight.history.timelines import History
from jobsight.learning.dataset import (
    CROSSES_BORDER,
    END_OF_PART,
    OUTCOME_LATER,
    PARTS,
    Dataset,
    _in_parts,
    part_borders,
    split_forward,
    split_random,
)
from jobsight.questions.hold.question import HOLD


@pytest.fixture(scope="module")
def data() -> Dataset:
    return Dataset.for_training(HOLD, pools.history(), pools.settings())


def test_parts_lie_one_after_another_and_their_outcomes_are_known_in_time(data: Dataset) -> None:
    for k, name in enumerate(PARTS):
        table = data.table.filter(pl.Series(data.part(name)))
        assert len(table)
        assert table["released"].is_between(data.borders[k], data.borders[k + 1]).all()
        settled = table.filter(pl.col("resolved_row").is_not_null())
        assert (settled["resolved_time"] < data.borders[k + 1]).all()


def test_the_scale_does_not_change_when_the_history_after_the_train_part_does(
    data: Dataset,
) -> None:
    later = pl.col("time").dt.epoch("us") >= int(data.borders[1])
    events = data.source.table.with_columns(
        return_value=pl.when(later).then(1).otherwise("return_value").cast(pl.Int32)
    )
    other = Dataset.for_training(HOLD, History.from_table(events), data.settings)
    assert other.encoding == data.encoding
    assert other.borders.tolist() == data.borders.tolist()


def test_weights_count_batches(data: Dataset) -> None:
    table, labelled = data.labelled(data.part("train"))
    assert labelled.weight.sum() == pytest.approx(table["batch"].n_unique())
    assert len(labelled) == len(table)


def test_a_long_horizon_costs_decisions_of_the_test_part_alone(data: Dataset) -> None:
    other = replace(data, table=_in_parts(data.table, data.borders, 10**12))
    assert not other.part("test").any()
    assert (other.part("train") == data.part("train")).all()


def test_a_delay_leaves_out_jobs_that_were_not_yet_held(data: Dataset) -> None:
    rows = data.part("train")
    now, _ = data.labelled(rows)
    table, labelled = data.labelled(rows, moment="30.0")
    held_for = now["time"] - now["hold_time"]
    assert len(table) == (held_for >= 30_000_000).sum()
    place = labelled.inputs.names.index("delay")
    assert np.allclose(
        labelled.inputs.features[:, place], np.log1p(30.0 / data.encoding.time_scale)
    )


def test_edited_releases_and_unknown_outcomes_teach_nothing(data: Dataset) -> None:
    edited = pl.int_range(pl.len()) % 2 == 0
    table = data.table.with_columns(edited=edited, teaches=~edited)
    half = replace(data, table=table)
    everything = np.ones(len(table), np.bool_)
    used = table.filter(pl.Series(half.usable(everything)))
    assert not used["edited"].any()
    assert used["outcome"].null_count() == 0
    assert half.dropped(everything)["edited"] > 0
    assert set(half.censored(everything)) <= {"removed_by_user", "unresolved", "log_ended"}


def test_nothing_released_says_what_there_was() -> None:
    rows: list[pools.Row] = [
        {"at": 0, "code": 0},
        {"at": 1, "code": 12, "hold_code": 13, "reason": "why"},
    ]
    with pytest.raises(TrainingError, match=r"1 holds and 0 releases.*give logs"):
        Dataset.for_training(HOLD, History.from_table(table(rows)), pools.settings())


def test_a_history_holds_all_of_a_model_when_it_has_grown_but_not_when_it_is_another() -> None:
    model = pools.trained().model
    for history, known in (
        (pools.history(), True),
        (pools.grown(), True),
        (pools.history(clusters=80, seed=9), False),
    ):
        assert Dataset.for_audit(history, model).holds_all_of(model) == known


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


def test_random_parts_keep_units_whole_and_shares() -> None:
    unit = np.repeat(np.arange(100), 3)
    split = split_random(unit, test=0.2, seed=1)
    assert [len(split.rows(name)) for name in PARTS] == [240, 60]
    assert all(len(set(split.part[unit == one].tolist())) == 1 for one in range(100))
    assert np.array_equal(split.part, split_random(unit, test=0.2, seed=1).part)
    assert not np.array_equal(split.part, split_random(unit, test=0.2, seed=2).part)
    assert len(split_random(ints(), test=0.2, seed=0).part) == 0
