import itertools
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.support import pools

from jobsight.errors import TrainingError
from jobsight.history.timelines import History
from jobsight.learning.backtest import Backtest, Choice, backtest, choose_model, last_block
from jobsight.learning.bootstrap import Bootstrap
from jobsight.learning.dataset import Dataset
from jobsight.learning.targets import Binary
from jobsight.models.base import Floats, Labelled, Model
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


RANDOM = np.random.default_rng(0)
TRUTH = RANDOM.choice([0.1, 0.9], 300)
SUCCESS = RANDOM.random(300) < TRUTH
BOOTSTRAP = Bootstrap(SUCCESS, np.ones(300), np.arange(300), 300)
CONSTANT = np.full(300, 0.5)
# Drawn once: a test must not depend on which others ran before it.
NOISY, SLIGHTLY = (
    np.clip(TRUTH + RANDOM.normal(scale=scale, size=300), 0.01, 0.99) for scale in (0.4, 0.002)
)
BASES = ("constant", "rates")


def chosen(predictions: dict[str, Floats], bootstrap: Bootstrap, **more: str) -> Choice:
    return choose_model(predictions, BASES, bootstrap, target=Binary(), **more)


@pytest.mark.parametrize("metric", ["log_loss", "brier", "roc_auc", "f1", "f1_failure"])
def test_a_model_that_surely_beats_every_baseline_answers(metric: str) -> None:
    predictions = {"constant": CONSTANT, "rates": NOISY, "boosted": TRUTH, "linear": NOISY}
    choice = chosen(predictions, BOOTSTRAP, metric=metric)
    assert choice.name == "boosted"
    assert f"boosted answers: {metric} " in choice.reason
    assert set(choice.values) == set(predictions)


def test_a_model_no_better_leaves_the_best_baseline_to_answer() -> None:
    choice = chosen({"constant": CONSTANT, "rates": TRUTH, "boosted": SLIGHTLY}, BOOTSTRAP)
    assert choice.name == "rates"
    assert "No model surely beats every baseline" in choice.reason


def test_it_must_beat_the_other_baselines_too() -> None:
    choice = chosen({"constant": CONSTANT, "worse": np.full(300, 0.4)}, BOOTSTRAP)
    assert choice.name == "constant"


def test_only_baselines() -> None:
    choice = chosen({"constant": CONSTANT, "rates": TRUTH}, BOOTSTRAP)
    assert choice.name == "rates"
    assert "only baselines" in choice.reason


def test_one_class_is_compared_by_log_loss() -> None:
    one = Bootstrap(np.ones(50, bool), np.ones(50), np.arange(50), 200)
    choice = chosen({"constant": np.full(50, 0.5)}, one, metric="roc_auc")
    assert "constant answers: log_loss 0.693" in choice.reason


def test_nothing_to_choose_from() -> None:
    nothing = Bootstrap(np.zeros(0, bool), np.zeros(0), np.zeros(0, np.int64))
    with pytest.raises(TrainingError, match="no decisions"):
        chosen({"constant": np.zeros(0)}, nothing)


def test_what_is_safe_answers_unless_surely_worse_than_the_best_baseline() -> None:
    worse = np.clip(1.0 - TRUTH, 0.2, 0.8)
    base = {"constant": CONSTANT, "rates": TRUTH, "boosted": SLIGHTLY}
    for mixture, name in ((SLIGHTLY, "mixture"), (worse, "rates")):
        choice = chosen({**base, "mixture": mixture}, BOOTSTRAP, safe="mixture")
        assert choice.name == name
    choice = chosen({**base, "mixture": SLIGHTLY}, BOOTSTRAP)
    assert choice.name == "rates"  # without the safety it must win


def test_what_is_safe_answers_before_a_model_that_surely_wins() -> None:
    near = 0.9 * TRUTH + 0.05
    predictions = {"constant": CONSTANT, "rates": NOISY, "boosted": TRUTH, "mixture": near}
    assert chosen(predictions, BOOTSTRAP).name == "boosted"
    assert chosen(predictions, BOOTSTRAP, safe="mixture").name == "mixture"
    assert chosen(predictions, BOOTSTRAP, safe="absent").name == "boosted"
