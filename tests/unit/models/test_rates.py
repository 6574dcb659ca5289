from dataclasses import replace

import numpy as np
import pytest

from jobsight.errors import ModelError, TrainingError
from jobsight.models.base import Inputs, Labelled
from jobsight.models.rates import (
    LearningRates,
    LearningRates0,
    LearningRates20,
    LearningRatesAll,
    Rates,
    RateTable,
    choose_strength,
)


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


def with_counts(good: list[int], bad: list[int]) -> Labelled:
    """The first of the examples, with what was known at its decision of all, its code, its job."""
    counts = {
        f"{what} {level}": np.array([number])
        for what, numbers in (("good", good), ("bad", bad))
        for level, number in zip(("all", "code", "job"), numbers, strict=True)
    }
    first = EXAMPLES.take(np.array([0]))
    return replace(
        first, inputs=replace(first.inputs, facts=counts, learned=("all", "code", "job"))
    )


def answered(model: LearningRates, asked: Labelled, taught: Labelled = EXAMPLES) -> float:
    model.fit(replace(taught, inputs=replace(taught.inputs, learned=("all",))), seed=0)
    return float(model.predict(asked.inputs)[0])


def test_rates_as_known_begin_from_the_counts_of_training() -> None:
    asked = with_counts([3, 1, 0], [5, 0, 2])
    everything = (3 + 4) / (8 + 8)
    code = (1 + 8 * everything) / (1 + 8)
    assert answered(LearningRates0(), asked) == pytest.approx(8 * code / 10)
    everything = (3 + 1.5 + 4) / (8 + 4.5 + 8)  # training: 1.5 of 4.5 batches succeeded
    code = (1 + 1.5 + 8 * everything) / (1 + 2.5 + 8)  # of its code 1.5 of 2.5
    for model in (LearningRates(), LearningRates20(), LearningRatesAll()):
        assert answered(model, asked) == pytest.approx(8 * code / 10)


def test_an_unlike_history_drops_what_training_counted_within_tens_of_outcomes() -> None:
    many = replace(EXAMPLES, values=np.ones(4, np.bool_), weight=np.full(4, 100.0))
    none, thirty = with_counts([0, 0, 0], [0, 0, 0]), with_counts([0, 0, 0], [30, 30, 0])
    kept = [
        [answered(model(), asked, many) for asked in (none, thirty)]
        for model in (LearningRates0, LearningRates, LearningRates20, LearningRatesAll)
    ]
    assert [begun for begun, _ in kept] == sorted(begun for begun, _ in kept)
    assert kept[0][0] == 0.5 and kept[1][0] > 0.7 and kept[2][0] > 0.9
    assert kept[1][1] < 0.2 and kept[3][1] > 0.8


def test_without_counts_nothing_goes_on_learning() -> None:
    with pytest.raises(TrainingError, match="nothing to count"):
        LearningRates().fit(EXAMPLES, seed=0)
    with pytest.raises(ModelError, match="lack the counts"):
        LearningRates().predict(EXAMPLES.inputs)
