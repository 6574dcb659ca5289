from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.unit.models.quantiles import QUANTILES

from jobsight.errors import ModelError, TrainingError
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
    model.fit(rows, seed=0)
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


def spans(column: list[float], values: list[float]) -> Labelled:
    rows = examples(column, [True] * len(column))
    return replace(rows, values=np.array(values), output=QUANTILES)


def test_a_number_is_made_quantiles_by_how_far_off_it_was(tmp_path: Path) -> None:
    column = [k + 0.5 for k in range(10)]
    rows = spans([*column, float("nan")], [*(k + 0.5 + k / 10 for k in range(10)), 7.0])
    model = fitted(rows)
    found = model.predict(rows.inputs)
    assert found[0] == pytest.approx([0.5, 0.9, 1.3], abs=1e-6)
    assert found[-1] == pytest.approx([7, 7, 7])  # as where it was unknown
    model.save(tmp_path)
    assert np.array_equal(Column.load(tmp_path).predict(rows.inputs), found)


def test_a_whole_number_stands_for_a_kind_with_quantiles_of_its_own() -> None:
    rows = spans([3.0] * 11 + [8.0], [float(k) for k in range(11)] + [50.0])
    found = fitted(rows).predict(spans([3.0, 8.0, 4.0], [0.0] * 3).inputs)
    assert found == pytest.approx(np.array([[1, 5, 9], [50, 50, 50], [1, 5, 10]]), abs=0.51)


def test_a_feature_that_is_never_known_answers_nothing() -> None:
    with pytest.raises(TrainingError, match="not known"):
        fitted(spans([float("nan")] * 3, [1.0, 2.0, 3.0]))
    with pytest.raises(TrainingError, match="not known here"):
        Column("last", "else").fit(spans([1.0], [1.0]), seed=0)
