from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.support import pools
from tests.support.histories import table

from jobsight.errors import TrainingError
from jobsight.history.timelines import History
from jobsight.learning.dataset import PARTS, Dataset, _in_parts
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


def test_no_group_or_batch_stands_in_two_parts(data: Dataset) -> None:
    inside = data.table.filter(pl.col("part") >= 0)
    for name in ("group", "batch"):
        assert (inside.group_by(name).agg(pl.col("part").n_unique())["part"] == 1).all()


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
