from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jobsight.errors import ModelError
from jobsight.models.base import Inputs, Labelled
from jobsight.models.column import Column
from jobsight.models.constant import smoothed_rate


def examples(
    column: list[float], success: list[bool], weight: list[float] | None = None
) -> Labelled:
    inputs = Inputs(np.array([column], np.float32).T, ("rate",), {}, {}, None, 0)
    return Labelled(inputs, np.array(success), np.array(weight or [1.0] * len(column)))


def fitted(rows: Labelled) -> Column:
    model = Column("rates", "rate")
    model.fit(rows, rows, seed=0)
    return model


def test_a_rate_is_answered_as_it_is_and_kept_between_0_and_1() -> None:
    rows = examples([0.1, 0.2, 0.3, 0.4, 1.5, -0.5], [True] * 6)
    assert fitted(rows).predict(rows.inputs) == pytest.approx([0.1, 0.2, 0.3, 0.4, 1.0, 0.0])


def test_where_it_is_unknown_the_rate_of_such_rows_answers() -> None:
    nan = float("nan")
    column = [0.1, 0.2, 0.3, 0.4, 0.5, nan, nan, nan]
    rows = examples(column, [True] * 5 + [False, False, True], [1] * 5 + [1, 0.5, 1])
    assert fitted(rows).predict(rows.inputs)[-1] == pytest.approx(smoothed_rate(1.0, 2.5))
    known = rows.take(np.arange(5))  # none is unknown: then the rate of all
    asked = rows.take(np.arange(7, 8)).inputs
    assert fitted(known).predict(asked)[0] == pytest.approx(smoothed_rate(5.0, 5.0))


def test_a_feature_of_few_values_answers_the_rate_of_each() -> None:
    rows = examples([0, 0, 0, 1, 1], [True, False, False, True, True])
    found = fitted(rows).predict(examples([0, 1, 2], [True] * 3).inputs)
    wanted = [smoothed_rate(1.0, 3.0), smoothed_rate(2.0, 2.0), smoothed_rate(3.0, 5.0)]
    assert found == pytest.approx(wanted)  # a value never seen is an unknown one


def test_inputs_without_the_feature_are_refused() -> None:
    rows = examples([0.1, 0.9], [True, False])
    other = replace(rows.inputs, names=("else",))
    with pytest.raises(ModelError, match="lack the feature 'rate'"):
        fitted(rows).predict(other)


def test_it_keeps_its_name_and_feature(tmp_path: Path) -> None:
    fitted(examples([0, 1], [True, False])).save(tmp_path)
    again = Column.load(tmp_path)
    assert again.name == "rates" and not again.needs_both
    assert again.predict(examples([1, 0], [True, True]).inputs)[0] < 0.5
