import numpy as np

from jobsight.models.linear import Linear
from jobsight.testing.models import made_examples


def test_a_row_is_the_same_bytes_among_any_others() -> None:
    train, later = made_examples(300, seed=1), made_examples(400, seed=2)
    model = Linear()
    model.fit(train, train.take(np.zeros(0, np.int64)), seed=0)
    whole = model.predict(later.inputs)
    for rows in (1, 2, 3, 7, 66, 399):
        assert np.array_equal(model.predict(later.inputs.take(np.arange(rows))), whole[:rows])
