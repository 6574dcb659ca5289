import numpy as np
import pytest

from jobsight.errors import ModelError
from jobsight.models.base import Inputs, Labelled
from jobsight.models.rates import Rates, RateTable, choose_strength


def labelled(codes: str, reasons: str, success: list[int], weight: list[float]) -> Labelled:
    causes = {"code": np.array(list(codes)), "reason": np.array(list(reasons))}
    inputs = Inputs(np.zeros((len(codes), 0), dtype=np.float32), (), causes, {}, None, 1)
    return Labelled(inputs, np.array(success, dtype=bool), np.array(weight, dtype=np.float64))


EXAMPLES = labelled("aaab", "xxyx", [1, 1, 0, 0], [1.0, 0.5, 1.0, 2.0])


def test_the_formula_by_hand() -> None:
    table = RateTable.count(EXAMPLES.inputs.causes, EXAMPLES.success, EXAMPLES.weight)
    weight, success = table.support(EXAMPLES.inputs.causes, 4)
    assert weight.tolist() == [[4.5, 2.5, 1.5], [4.5, 2.5, 1.5], [4.5, 2.5, 1.0], [4.5, 2.0, 2.0]]
    assert success[:, 2].tolist() == [1.5, 1.5, 0.0, 0.0]
    everything = 2.0 / 5.5
    code = (1.5 + 4 * everything) / 6.5
    finest = (1.5 + 4 * code) / 5.5
    assert table.rates(weight, success)[0] == pytest.approx([everything, code, finest])


def test_a_reason_of_another_code_is_another_cause() -> None:
    model = Rates()
    model.fit(EXAMPLES, seed=0)
    probability = model.predict(EXAMPLES.inputs)
    assert probability[0] > probability[3]


def test_what_was_never_seen_falls_back_to_the_level_above() -> None:
    model = Rates()
    model.fit(EXAMPLES, seed=0)
    asked = labelled("ac", "zx", [0, 0], [1.0, 1.0]).inputs
    weight, success = model.table.support(asked.causes, 2)
    assert weight[:, 2].tolist() == [0.0, 0.0]
    assert weight[1].tolist() == [4.5, 0.0, 0.0]
    rates = model.table.rates(weight, success)
    assert model.predict(asked) == pytest.approx([rates[0, 1], rates[1, 0]])


def test_strength_follows_later_rows() -> None:
    train = labelled("a" * 6 + "b" * 6, "x" * 12, [1, 1, 1, 1, 1, 0] + [0] * 5 + [1], [1.0] * 12)
    table = RateTable.count(train.inputs.causes, train.success, train.weight)
    alike = choose_strength(table, train)
    turned = labelled("a" * 6 + "b" * 6, "x" * 12, [0] * 6 + [1] * 6, [1.0] * 12)
    assert alike < choose_strength(table, turned)
    assert choose_strength(table, train.take(np.zeros(0, dtype=int))) == 4.0


def test_a_missing_cause_is_named() -> None:
    model = Rates()
    model.fit(EXAMPLES, seed=0)
    inputs = Inputs(np.zeros((1, 0), dtype=np.float32), (), {"code": np.array(["a"])}, {}, None, 1)
    with pytest.raises(ModelError, match="'reason'"):
        model.predict(inputs)
