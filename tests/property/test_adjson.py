"""Ads are read as Python's own `json` reads them."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobsight.history.jobads import parse_ad

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def by_json(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def alike(one: object, other: object) -> bool:
    """Equal, of the same types, the sign of zero too; NaN is NaN."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        same_sign = math.copysign(1, one) == math.copysign(1, other)
        return (math.isnan(one) and math.isnan(other)) or (one == other and same_sign)
    return one == other


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.booleans())
def test_ads_are_read_as_json_reads_them(ad: dict[str, Any], plain: bool) -> None:
    text = json.dumps(ad, ensure_ascii=plain)
    assert alike(parse_ad(text), by_json(text))


@given(st.text(alphabet='{}[]":,\\u0123dfe+-.nulNaINty \n\t\x00\ufeff\ud800', max_size=30))
def test_damage_is_told_as_json_tells_it(text: str) -> None:
    for whole in (text, f'{{"a": {text}}}', f'{{"a": "{text}"}}'):
        assert alike(parse_ad(whole), by_json(whole))


@pytest.mark.parametrize(
    "value",
    ["-0", "-0.0", "1e400", "-1e400", "1e-9", "9" * 19, "9" * 25, "-" + "9" * 19, "1" * 400,
     "9" * 5000, "18446744073709551615",
     "18446744073709551616", "0.1", "1E5", "01", "1.", ".5", "+1", "NaN",
     "-Infinity", '"\\ud800"', '"\\udc00\\ud800"', '"\x1f"', '"\x7f"', "[" * 2000],
)  # fmt: skip
def test_odd_values_are_what_they_are_to_json(value: str) -> None:
    text = f'{{"a": {value}}}'
    assert alike(parse_ad(text), by_json(text))
    assert alike(parse_ad(f"\ufeff{text}"), by_json(f"\ufeff{text}"))
    assert alike(parse_ad(f"{text} {text}"), by_json(f"{text} {text}"))
    assert alike(parse_ad(f'{{"a": {value}, "a": 1}}'), by_json(f'{{"a": {value}, "a": 1}}'))
