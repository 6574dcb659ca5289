from dataclasses import replace

import numpy as np

from jobsight.models.encoding import BLOCKS, CauseEncoder, Design
from jobsight.testing import made_examples

TRAIN, LATER = made_examples(160, seed=1), made_examples(60, seed=2)


def test_training_rows_do_not_see_the_outcomes_of_their_own_block() -> None:
    alone = replace(TRAIN, batch=None)
    _, before = CauseEncoder.fit(alone)
    changed = TRAIN.success.copy()
    block = slice(0, len(TRAIN) // BLOCKS)
    changed[block] = ~changed[block]
    _, after = CauseEncoder.fit(replace(TRAIN, values=changed, batch=None))
    assert np.array_equal(before[block], after[block])
    assert not np.array_equal(before, after)


def test_a_batch_across_a_border_of_blocks_does_not_see_itself() -> None:
    border = len(TRAIN) // BLOCKS
    batch = np.arange(len(TRAIN), dtype=np.int64)
    batch[border - 2 : border + 3] = border
    train = replace(TRAIN, batch=batch)
    _, before = CauseEncoder.fit(train)
    changed = TRAIN.success.copy()
    inside = batch == border
    changed[inside] = ~changed[inside]
    _, after = CauseEncoder.fit(replace(train, values=changed))
    assert np.array_equal(before[inside], after[inside])
    assert not np.array_equal(before, after)


def test_training_rows_do_not_begin_from_what_they_are_counted_in() -> None:
    """What training counted is for later rows; its own rows begin from what was known then."""
    number = np.zeros(len(TRAIN), np.int64)
    inputs = replace(TRAIN.inputs, facts={"good all": number, "bad all": number}, learned=("all",))
    train = replace(TRAIN, inputs=inputs, values=np.ones(len(TRAIN), np.bool_))
    encoder, own = CauseEncoder.fit(train)
    assert encoder.names == ("rate of like decisions",)
    assert np.all(own == 0.0)
    assert np.all(encoder.transform(inputs) > 0.0)
    again = CauseEncoder.from_json(encoder.to_json())
    assert np.array_equal(again.transform(inputs), encoder.transform(inputs))


def test_rows_without_batches_stand_alone() -> None:
    alone = replace(TRAIN, batch=None)
    each = replace(TRAIN, batch=np.arange(len(TRAIN)))
    assert np.array_equal(CauseEncoder.fit(alone)[1], CauseEncoder.fit(each)[1])
    taken = each.take(np.array([3, 1])).batch
    assert taken is not None and taken.tolist() == [3, 1]
    assert alone.take(np.array([3, 1])).batch is None


def test_columns_are_finite_bounded_and_named() -> None:
    design, columns = Design.fit(TRAIN)
    later = design.transform(LATER.inputs)
    assert columns.shape == (160, len(design.names))
    assert design.names[:5] == ("load", "age", "wait", "same", "age missing")
    for table in (columns, later):
        assert np.isfinite(table).all()
        assert np.abs(table).max() <= 4.0


def test_a_missing_value_is_the_median_with_a_flag() -> None:
    design, columns = Design.fit(TRAIN)
    missing = np.isnan(TRAIN.inputs.features[:, 1])
    assert np.all(columns[missing, 1] == 0.0)
    assert np.array_equal(columns[:, design.names.index("age missing")] == 1.0, missing)


def test_a_feature_that_never_varied_stays_silent_later() -> None:
    design, _ = Design.fit(TRAIN)
    features = LATER.inputs.features.copy()
    features[:, 3] = 1e6
    later = design.transform(replace(LATER.inputs, features=features))
    assert np.all(later[:, 3] == 0.0)
