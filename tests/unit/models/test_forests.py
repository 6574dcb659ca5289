from dataclasses import replace

import numpy as np
import pytest
from tests.unit.models.quantiles import spread

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


def test_quantiles_of_few_rows_hold_about_what_they_promise() -> None:
    rows = spread(2_000)
    model = BoostedColumns()
    model.fit(rows.take(np.arange(1_000)), seed=0)
    later = rows.take(np.arange(1_000, 2_000))
    said = model.predict(later.inputs)
    held = np.mean((later.values >= said[:, 0]) & (later.values <= said[:, 2]))
    assert 0.7 < held < 0.9


def test_a_large_array_weighs_less_than_as_many_other_jobs() -> None:
    rows = spread(400)
    array = np.arange(400) < 210
    same = replace(rows.inputs, features=np.zeros_like(rows.inputs.features))
    batch = np.where(array, 0, np.arange(400))
    model = BoostedColumns()
    model.fit(replace(rows, inputs=same, values=np.where(array, 1.0, 0.0), batch=batch), seed=0)
    assert model.predict(same)[0, 1] == pytest.approx(0.0, abs=0.05)
