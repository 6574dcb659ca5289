import numpy as np
import pytest
from tests.quantiles import spread

from jobsight.models import forests
from jobsight.models.forests import BoostedColumns


def test_any_number_of_threads_grows_the_same_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = spread(3_000)
    monkeypatch.setattr(forests, "MANY_ROWS", 1_000)
    said = []
    for threads in (1, 2, 5):
        monkeypatch.setitem(forests._OF_MANY, "num_threads", threads)
        model = BoostedColumns()
        model.fit(rows, seed=3)
        said.append(model.predict(rows.inputs))
    assert (np.diff(said[0], axis=1) >= 0).all() and said[0].std() > 0.5
    assert np.array_equal(said[0], said[1]) and np.array_equal(said[0], said[2])
