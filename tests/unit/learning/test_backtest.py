import itertools
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.support import pools

from jobsight.errors import TrainingError
from jobsight.history.timelines import History
from jobsight.learning.backtest import Backtest, backtest, last_block
from jobsight.learning.dataset import Dataset
from jobsight.models.base import Labelled, Model
from jobsight.models.constant import Constant
from jobsight.models.linear import Linear
from jobsight.questions.hold.question import HOLD


class Recorder:
    """Fits a model and remembers what taught it."""

    def __init__(self, model: type[Model] = Linear, fails: int = -1) -> None:
        self.taught: list[Labelled] = []
        self.model, self.fails = model, fails

    def __call__(self, name: str, before: Labelled) -> Model:
        self.taught.append(before)
        if len(self.taught) - 1 == self.fails:
            raise TrainingError("too little")
        model = self.model()
        model.fit(before, seed=0)
        return model


def walked(data: Dataset, names: list[str], fit: Recorder) -> Backtest:
    return backtest(data, data.labelled(data.part("train")), names, fit)


@pytest.fixture(scope="module")
def data() -> Dataset:
    return Dataset.for_training(HOLD, pools.history(), pools.settings())


def numbered(data: Dataset) -> Dataset:
    """The same decisions with their place in the train part as their only feature."""

    class Builder:
        def build(self, table: pl.DataFrame, moment: str) -> object:
            _, inputs = data.builder.build(table, moment)
            place = np.arange(len(table), dtype=np.float32)[:, None]
            return table, replace(inputs, features=place, names=("place",))

    other = replace(data)
    other.__dict__["builder"] = Builder()
    return other


def played(data: Dataset) -> list[tuple[pl.DataFrame, pl.DataFrame]]:
    """What taught, and what was predicted, block by block."""
    one = numbered(data)
    table, _ = one.labelled(one.part("train"))
    recorder = Recorder(Constant)
    found = walked(one, ["constant"], recorder)
    taught = [
        table[rows.inputs.features[:, 0].astype(np.int64)] for rows in reversed(recorder.taught)
    ]
    ends = np.flatnonzero(np.diff(found.predictions["constant"])) + 1
    assert len(ends) == len(taught) - 1
    moments = np.split(found.decided, ends)
    blocks = [table.filter(pl.col("decided").is_between(one.min(), one.max())) for one in moments]
    assert [len(one) for one in blocks] == [len(one) for one in moments]
    return list(zip(taught, blocks, strict=True))


def span(table: pl.DataFrame) -> tuple[int, int]:
    """First and last release."""
    released = table["released"].to_numpy()
    return int(released.min()), int(released.max())


def test_blocks_lie_forward_in_time_and_were_predicted_by_what_was_known(data: Dataset) -> None:
    blocks = played(data)
    assert len(blocks) == 3
    for taught, block in blocks:
        assert taught["resolved_time"].to_numpy().max() < span(block)[0]
    spans = [span(block) for _, block in blocks]
    assert all(one[1] < other[0] for one, other in itertools.pairwise(spans))


def test_no_group_or_batch_is_both_taught_and_predicted(data: Dataset) -> None:
    for taught, block in played(data):
        for name in ("group", "batch"):
            assert not set(taught[name]) & set(block[name])


def test_what_was_known_at_the_end_judges_the_last_block_too(data: Dataset) -> None:
    """Only the border of the test hides outcomes, not the end of each block."""
    table, _ = data.labelled(data.part("train"))
    first = span(played(data)[0][1])[0]
    judged = walked(data, ["linear"], Recorder())
    assert len(judged.decided) == (table["decided"] >= first).sum()


def test_the_last_block_is_that_of_the_backtest(data: Dataset) -> None:
    taught, later = last_block(data)
    recorder = Recorder()
    found = walked(data, ["linear"], recorder)
    assert np.array_equal(taught.inputs.features, recorder.taught[0].inputs.features,
                          equal_nan=True)  # fmt: skip
    assert np.array_equal(later.values, found.values[-len(later) :])


def test_outcomes_after_the_begin_of_a_block_do_not_change_its_predictions(data: Dataset) -> None:
    names = ["linear"]
    first = walked(data, names, Recorder())
    table, _ = data.labelled(data.part("train"))
    rows = table.with_columns(where=pl.int_range(pl.len())).filter(
        pl.col("batch").is_in(np.unique(first.batch).tolist())
    )
    last = rows.filter(pl.col("released") > rows["released"].quantile(0.7))
    flipped = data.table.with_columns(
        outcome=pl.col("outcome") ^ (pl.col("released") >= last["released"].min())
    )
    again = walked(replace(data, table=flipped), names, Recorder())
    assert not np.array_equal(again.values, first.values)
    changed = again.values != first.values
    later = int(np.argmax(changed))
    assert np.array_equal(again.predictions["linear"][:later], first.predictions["linear"][:later])
    assert not changed[:later].any()


def test_what_teaches_does_not_see_what_the_history_tells_later(data: Dataset) -> None:
    recorder = Recorder()
    walked(data, ["linear"], recorder)
    begin = span(played(data)[1][1])[0]
    later = pl.col("time").dt.epoch("us") >= begin
    events = data.source.table.with_columns(
        return_value=pl.when(later).then(1).otherwise("return_value").cast(pl.Int32)
    )
    other = replace(
        Dataset.for_training(HOLD, History.from_table(events), data.settings),
        encoding=data.encoding,
    )
    changed = Recorder()
    walked(other, ["linear"], changed)
    for part, same in zip(recorder.taught[1:], changed.taught[1:], strict=True):
        assert np.array_equal(part.success, same.success)
        assert np.array_equal(part.inputs.features, same.inputs.features, equal_nan=True)


def test_blocks_that_one_model_cannot_predict_count_for_none(data: Dataset) -> None:
    whole = walked(data, ["linear"], Recorder())
    less = walked(data, ["linear"], Recorder(fails=2))
    assert 0 < len(less.batch) < len(whole.batch)
    assert set(less.block) < set(whole.block)
    assert np.array_equal(less.batch, whole.batch[-len(less.batch) :])


def test_a_model_that_cannot_be_fitted_before_the_last_block_is_left_out(data: Dataset) -> None:
    found = walked(data, ["first", "second"], Recorder(fails=0))
    assert set(found.predictions) == {"second"}
    assert found.skipped == {"first": "too little"}
    with pytest.raises(TrainingError, match="too few outcomes were known early"):
        walked(data, ["linear"], Recorder(fails=0))
