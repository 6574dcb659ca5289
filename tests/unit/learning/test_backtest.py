import itertools
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests import pools

from jobsight.errors import TrainingError
from jobsight.history.timelines import History
from jobsight.learning.backtest import Backtest, backtest
from jobsight.learning.dataset import Dataset
from jobsight.models.base import Labelled, Model
from jobsight.models.constant import Constant
from jobsight.models.linear import Linear
from jobsight.questions.hold.question import HOLD


class Recorder:
    """Fits a model and remembers what taught it."""

    def __init__(self, model: type[Model] = Linear, fails: int = -1) -> None:
        self.taught: list[tuple[Labelled, Labelled]] = []
        self.model, self.fails = model, fails

    def __call__(self, name: str, before: Labelled, stopping: Labelled) -> Model:
        self.taught.append((before, stopping))
        if len(self.taught) - 1 == self.fails:
            raise TrainingError("too little")
        model = self.model()
        model.fit(before, stopping, seed=0)
        return model


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


def played(data: Dataset) -> tuple[list[pl.DataFrame], list[pl.DataFrame], list[pl.DataFrame]]:
    """What taught, what stopped, and what was foretold, block by block."""
    one = numbered(data)
    table, _ = one.labelled(one.part("train"))
    recorder = Recorder(Constant)
    found = backtest(one, ["constant"], recorder)
    places = [
        tuple(table[part.inputs.features[:, 0].astype(np.int64)] for part in parts)
        for parts in recorder.taught
    ]
    foretold, start = [], 0
    for number in range(len(places)):
        levels = np.flatnonzero(np.diff(found.predictions["constant"])) + 1
        ends = [*levels.tolist(), len(found.batch)]
        batches = found.batch[start : ends[number]]
        foretold.append(table.filter(pl.col("batch").is_in(np.unique(batches).tolist())))
        start = ends[number]
    return [before for before, _ in places], [stop for _, stop in places], foretold


def span(table: pl.DataFrame) -> tuple[int, int]:
    """First and last release."""
    released = table["released"].to_numpy()
    return int(released.min()), int(released.max())


def test_blocks_lie_forward_in_time_and_were_foretold_by_what_was_known(data: Dataset) -> None:
    before, stopping, foretold = played(data)
    assert len(foretold) == 3
    ends = []
    for taught, stop, block in zip(before, stopping, foretold, strict=True):
        begin, end = span(block)
        assert span(taught)[1] < span(stop)[0]
        assert pl.concat([taught, stop])["resolved_time"].to_numpy().max() < begin
        ends.append((begin, end))
    assert all(one[1] < other[0] for one, other in itertools.pairwise(ends))


def test_no_group_or_batch_is_both_taught_and_foretold(data: Dataset) -> None:
    for taught, stop, block in zip(*played(data), strict=True):
        for name in ("group", "batch"):
            known = set(taught[name]) | set(stop[name])
            assert not known & set(block[name])


def test_outcomes_after_the_begin_of_a_block_do_not_change_its_predictions(data: Dataset) -> None:
    names = ["linear"]
    first = backtest(data, names, Recorder())
    table, _ = data.labelled(data.part("train"))
    rows = table.with_columns(where=pl.int_range(pl.len())).filter(
        pl.col("batch").is_in(np.unique(first.batch).tolist())
    )
    last = rows.filter(pl.col("released") > rows["released"].quantile(0.7))
    flipped = data.table.with_columns(
        outcome=pl.col("outcome") ^ (pl.col("released") >= last["released"].min())
    )
    again = backtest(replace(data, table=flipped), names, Recorder())
    assert not np.array_equal(again.values, first.values)
    changed = again.values != first.values
    later = int(np.argmax(changed))
    assert np.array_equal(again.predictions["linear"][:later], first.predictions["linear"][:later])
    assert not changed[:later].any()


def test_what_teaches_does_not_see_what_the_history_tells_later(data: Dataset) -> None:
    recorder = Recorder()
    backtest(data, ["linear"], recorder)
    _, _, foretold = played(data)
    begin = span(foretold[1])[0]
    later = pl.col("time").dt.epoch("us") >= begin
    events = data.source.table.with_columns(
        return_value=pl.when(later).then(1).otherwise("return_value").cast(pl.Int32)
    )
    other = replace(
        Dataset.for_training(HOLD, History.from_table(events), data.settings),
        encoding=data.encoding,
    )
    changed = Recorder()
    backtest(other, ["linear"], changed)
    for one, two in zip(recorder.taught[:2], changed.taught[:2], strict=True):
        for part, same in zip(one, two, strict=True):
            assert np.array_equal(part.success, same.success)
            assert np.array_equal(part.inputs.features, same.inputs.features, equal_nan=True)


def test_a_block_that_one_model_cannot_foretell_counts_for_none(data: Dataset) -> None:
    whole = backtest(data, ["linear"], Recorder())
    less = backtest(data, ["linear"], Recorder(fails=0))
    assert 0 < less.batches < whole.batches
    assert np.array_equal(less.batch, whole.batch[-len(less.batch) :])


def test_nothing_is_backtested_where_enough_was_selected(data: Dataset) -> None:
    def never(_name: str, _before: Labelled, _stopping: Labelled) -> Model:
        raise AssertionError("nothing should be fitted")

    found = backtest(data, ["linear"], never, enough=1)
    assert found.batches == 0
    assert found.predictions == Backtest.none().predictions == {}
