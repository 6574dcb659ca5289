"""Columns: which axis suits them, how values are shown."""

import math
from typing import Any

import pytest

from jobsight.reports.sweep.scales import column, in_words, short


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
    [
        (10**400, "1e30"),
        (True, "True"),
        (None, "None"),
        ("", "(blank)"),
        ("a\x00\u202eb", "a b"),
        ([1, 2], "[1, 2]"),
    ],
)
def test_any_value_has_words(value: object, shown: str) -> None:
    assert in_words(value) == shown


def test_words_are_bounded() -> None:
    assert len(in_words("x" * 10**6)) <= 40


def test_what_is_far_apart_is_logarithmic() -> None:
    assert column("p", [1e-5, 0.1], None).kind == "log"
    assert column("p", [1.0, 50.0], None).kind == "linear"
    assert column("p", [0.0, 1e9], None).kind == "linear"
    assert column("p", [1, None], None).kind == "linear"


def test_categories_keep_the_order_of_numbers() -> None:
    found = column("hidden", [64, 16, 128, 16, None], {"values": [16, 32, 64, 128]})
    assert found.labels == ("16", "64", "128")
    assert found.values.tolist()[:4] == [1, 0, 2, 0]
    assert math.isnan(found.values[4])
    assert found.shown == ("64", "16", "128", "16", "")
    assert found.search == "one of 16, 32, 64, 128"


def test_words_among_numbers_make_categories() -> None:
    found = column("p", [1, "auto", True], None)
    assert found.kind == "category"
    assert set(found.labels) == {"1", "auto", "True"}


def test_many_categories_are_folded() -> None:
    found = column("p", [f"v{k}" for k in range(50)] + ["v0"] * 5, None)
    assert len(found.labels) == 13
    assert found.labels[-1] == "others"
    assert found.values.max() == 12


@pytest.mark.parametrize(
    ("spec", "bounds", "kind"),
    [
        ({"min": 1, "max": 9}, (1.0, 9.0), "linear"),
        ({"distribution": "log_uniform_values", "min": 1, "max": 9}, (1.0, 9.0), "log"),
        ({"min": 9, "max": 1}, None, "linear"),
        ({"min": "a", "max": True}, None, "linear"),
    ],
)
def test_bounds_are_those_searched(
    spec: dict[str, Any], bounds: tuple[float, float] | None, kind: str
) -> None:
    found = column("p", [2.0, 3.0, 5.0], spec)
    assert found.bounds == (None if bounds is None else pytest.approx(bounds))
    assert found.kind == kind
