from dataclasses import replace

import numpy as np

from jobsight.models.linear import Linear
from jobsight.testing.models import made_examples


def test_a_row_is_the_same_bytes_among_any_others() -> None:
    train, later = made_examples(300, seed=1), made_examples(400, seed=2)
    model = Linear()
    model.fit(train, seed=0)
    whole = model.predict(later.inputs)
    for rows in (1, 2, 3, 7, 66, 399):
        assert np.array_equal(model.predict(later.inputs.take(np.arange(rows))), whole[:rows])


def test_it_reads_the_few_features_that_are_named() -> None:
    train, later = made_examples(300, seed=1), made_examples(60, seed=2)
    train = replace(train, inputs=replace(train.inputs, few=frozenset({"load"})))
    model = Linear()
    model.fit(train, seed=0)
    first = model.predict(later.inputs)
    changed = later.inputs.features.copy()
    changed[:, 1:] = np.nan
    assert np.array_equal(model.predict(replace(later.inputs, features=changed)), first)
    changed[:, 0] += 1.0
    assert not np.array_equal(model.predict(replace(later.inputs, features=changed)), first)
