"""Axes: where values lie, which ticks they have, how numbers are shown."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.learning.sweep.parameters import parse
from jobsight.reports.sweep.scales import column, in_words, numeric_axis, short


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (12.0, "12"),
        (-3.0, "-3"),
        (0.0003, "0.0003"),
        (0.00001, "1e-5"),
        (2e6, "2e6"),
        (1.23456789e-7, "1.235e-7"),
        (math.nan, "–"),
    ],
)
def test_numbers_are_short(value: float, shown: str) -> None:
    assert short(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(True, "True"), (None, "None"), ("", "(blank)"), ("a\x00\u202eb", "a b"), ([1, 2], "[1, 2]")],
)
def test_any_value_has_words(value: object, shown: str) -> None:
    assert in_words(value) == shown


def test_words_are_bounded() -> None:
    assert len(in_words("x" * 10**6)) <= 40


@given(st.lists(st.floats(-1e300, 1e300) | st.just(math.nan), max_size=20))
def test_every_axis_holds_its_values_and_has_few_ticks(values: list[float]) -> None:
    numbers = np.array(values, np.float64)
    axis = numeric_axis(numbers)
    assert axis.low < axis.high
    places = axis.place(numbers[np.isfinite(numbers)])
    assert ((places >= 0) & (places <= 1)).all()
    ticks = axis.ticks(5)
    assert len(ticks) <= 20
    assert all(0 <= place <= 1 for place, _ in ticks)


def test_what_lies_far_apart_is_logarithmic() -> None:
    assert numeric_axis(np.array([1e-5, 0.1])).kind == "log"
    assert numeric_axis(np.array([1.0, 50.0])).kind == "linear"
    assert numeric_axis(np.array([0.0, 1e9])).kind == "linear"
    assert numeric_axis(np.array([1.0, 50.0]), log=True).kind == "log"
    assert numeric_axis(np.array([-1.0, 50.0]), log=True).kind == "linear"


def test_logarithmic_ticks_are_powers_of_ten() -> None:
    ticks = [text for _, text in numeric_axis(np.array([1e-5, 0.1])).ticks(5)]
    assert ticks == ["1e-5", "0.0001", "0.001", "0.01", "0.1"]


def test_linear_ticks_are_round() -> None:
    assert [text for _, text in numeric_axis(np.array([0.0, 1.0])).ticks(5)] == [
        "0", "0.2", "0.4", "0.6", "0.8", "1",
    ]  # fmt: skip


def test_a_constant_lies_in_the_middle() -> None:
    axis = numeric_axis(np.array([1e-5, 1e-5]))
    assert axis.place(np.array([1e-5]))[0] == pytest.approx(0.5)


def test_categories_keep_the_order_of_numbers() -> None:
    found = column(
        "hidden", [64, 16, 128, 16, None], *parse({"hidden": {"values": [16, 32, 64, 128]}})
    )
    assert found.axis.labels == ("16", "64", "128")
    assert found.values.tolist()[:4] == [1, 0, 2, 0]
    assert math.isnan(found.values[4])
    assert found.shown == ("64", "16", "128", "16", "")
    assert found.search == "one of 16, 32, 64, 128"


def test_words_among_numbers_make_categories() -> None:
    found = column("p", [1, "auto", True])
    assert found.axis.kind == "category"
    assert set(found.axis.labels) == {"1", "auto", "True"}


def test_many_categories_are_folded() -> None:
    found = column("p", [f"v{k}" for k in range(50)] + ["v0"] * 5)
    assert len(found.axis.labels) == 13
    assert found.axis.labels[-1] == "others"
    assert found.values.max() == 12


@pytest.mark.parametrize(
    ("spec", "bounds", "kind"),
    [
        ({"min": 1, "max": 9}, (1.0, 9.0), "linear"),
        ({"distribution": "log_uniform_values", "min": 1, "max": 9}, (1.0, 9.0), "log"),
        ({"distribution": "log_uniform", "min": 0, "max": 1}, (1.0, math.e), "log"),
        ({"distribution": "inv_log_uniform", "min": 0, "max": 1}, (1 / math.e, 1.0), "log"),
        ({"distribution": "normal", "mu": 0, "sigma": 1}, None, "linear"),
    ],
)
def test_bounds_are_those_searched(
    spec: dict[str, Any], bounds: tuple[float, float] | None, kind: str
) -> None:
    found = column("p", [2.0, 3.0, 5.0], *parse({"p": spec}))
    assert found.bounds == (None if bounds is None else pytest.approx(bounds))
    assert found.axis.kind == kind
