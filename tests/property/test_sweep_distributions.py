"""What holds for every distribution of a sweep: ranges, multiples of q, moments, order, repeats."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.support.limits import examples

from jobsight.learning.sweep.distributions import points_of, probability, quantile, size_of
from jobsight.learning.sweep.parameters import DISTRIBUTIONS, ConfigProblem, Parameter, parse

ALL = tuple(sorted(DISTRIBUTIONS))
UNIT = st.floats(0, 1, exclude_max=True)
NUMBER = st.one_of(st.integers(-1000, 1000), st.floats(-1000, 1000))
POSITIVE = st.one_of(st.integers(1, 1000), st.floats(0.001, 1000))
EVEN = (np.arange(20_000) + 0.5) / 20_000


@st.composite
def specs(draw: Any, kinds: Any = ALL) -> dict[str, Any]:
    kind = draw(st.sampled_from(kinds))
    spec: dict[str, Any] = {"distribution": kind}
    for key in (*DISTRIBUTIONS[kind][0], *DISTRIBUTIONS[kind][1]):
        if key == "value":
            spec[key] = draw(NUMBER)
        elif key == "values":
            spec[key] = draw(st.lists(NUMBER, min_size=1, max_size=6))
        elif key == "probabilities":
            weights = draw(st.lists(st.integers(1, 9), min_size=6, max_size=6))
            weights = weights[: len(spec["values"])]
            spec[key] = [weight / sum(weights) for weight in weights]
        elif key in ("a", "b", "q", "sigma"):
            spec[key] = draw(POSITIVE) / (1 if key in ("q", "sigma") else 100)
        elif key == "mu":
            spec[key] = draw(st.floats(-5, 5))
    if "min" in DISTRIBUTIONS[kind][0]:
        number = POSITIVE if kind.endswith("_values") else NUMBER
        if kind == "int_uniform":
            number = st.integers(-1000, 1000)
        elif "log" in kind and not kind.endswith("_values"):
            number = st.floats(-20, 20)
        spec["min"], spec["max"] = sorted((draw(number), draw(number)))
        assume(spec["min"] < spec["max"])
    return spec


def one_of(spec: dict[str, Any]) -> Parameter:
    (one,) = parse({"p": spec})
    return one


def ends(one: Parameter) -> tuple[float, float]:
    """The smallest and the largest value, from W&B's definitions, not from ours."""
    low, high = float(one.numbers["min"]), float(one.numbers["max"])
    if one.distribution in ("log_uniform", "q_log_uniform"):
        return math.exp(low), math.exp(high)
    return (
        (math.exp(-high), math.exp(-low)) if one.distribution == "inv_log_uniform" else (low, high)
    )


@settings(max_examples=examples(150))
@given(specs(), UNIT, UNIT)
def test_values_rise_within_their_range(spec: dict[str, Any], u: float, v: float) -> None:
    one = one_of(spec)
    if one.listed:
        assert quantile(one, u) in one.values
        return
    first, second = sorted((u, v))
    low, high = quantile(one, first), quantile(one, second)
    assert low <= high
    if "min" in one.numbers:
        slack = one.numbers.get("q", 0) / 2
        least, most = ends(one)
        wide = 1e-11 * max(abs(least), abs(most))
        assert least - slack - wide <= low <= high <= most + slack + wide
    if one.quantised:
        steps = low / one.numbers["q"]
        assert math.isclose(steps, round(steps), abs_tol=1e-6, rel_tol=1e-9)
        assert isinstance(low, int) == isinstance(one.numbers["q"], int)


@settings(max_examples=examples(150))
@given(specs(), UNIT)
def test_a_quantile_leads_back(spec: dict[str, Any], u: float) -> None:
    one = one_of(spec)
    assume(not one.listed and not one.quantised and one.distribution != "int_uniform")
    value = quantile(one, u)
    again = quantile(one, probability(one, value))
    tail = 1e-15 / max(min(u, 1.0 - u), 1e-15)  # a probability near 0 or 1 has few digits left
    assert math.isclose(again, value, rel_tol=1e-6 + tail, abs_tol=1e-9)


@settings(max_examples=examples(200))
@given(specs())
def test_a_spec_survives_json(spec: dict[str, Any]) -> None:
    assert parse(json.loads(json.dumps({"p": spec}))) == parse({"p": spec})


MOMENTS: list[tuple[dict[str, Any], float, float]] = [
    # mean and variance in closed form
    ({"distribution": "uniform", "min": -1.0, "max": 3.0}, 1.0, 16 / 12),
    ({"distribution": "int_uniform", "min": 3, "max": 12}, 7.5, (10**2 - 1) / 12),
    ({"distribution": "normal", "mu": 2.0, "sigma": 3.0}, 2.0, 9.0),
    ({"distribution": "beta", "a": 2, "b": 5}, 2 / 7, 10 / (49 * 8)),
    (
        {"distribution": "log_normal", "mu": 0.5, "sigma": 0.25},
        math.exp(0.5 + 0.25**2 / 2),
        (math.exp(0.25**2) - 1) * math.exp(1 + 0.25**2),
    ),
    (
        {"distribution": "log_uniform_values", "min": 1, "max": math.e},
        math.e - 1,
        (math.e**2 - 1) / 2 - (math.e - 1) ** 2,
    ),
    (
        {"distribution": "inv_log_uniform", "min": -1.0, "max": 0.0},
        math.e - 1,
        (math.e**2 - 1) / 2 - (math.e - 1) ** 2,
    ),
    ({"values": [1, 2, 6], "probabilities": [0.5, 0.25, 0.25]}, 2.5, 4.25),
    ({"values": [1, 2, 6]}, 3.0, 14 / 3),
    ({"distribution": "q_uniform", "min": 0, "max": 100, "q": 25}, 50.0, 25**2 * 1.5),
]


@pytest.mark.parametrize(("spec", "mean", "variance"), MOMENTS)
def test_moments_are_those_of_the_closed_form(
    spec: dict[str, Any], mean: float, variance: float
) -> None:
    one = one_of(spec)
    values = np.array([quantile(one, float(u)) for u in EVEN])
    assert values.mean() == pytest.approx(mean, rel=2e-3)
    assert values.var() == pytest.approx(variance, rel=5e-3)


def test_numbers_beyond_all_multiples_stay_numbers() -> None:
    for q in (1e-9, 1):
        one = one_of({"distribution": "q_log_uniform", "min": 1, "max": 700, "q": q})
        assert quantile(one, 1.0) == pytest.approx(math.exp(700))


def test_q_log_uniform_values_are_what_the_formula_gives() -> None:
    one = one_of({"distribution": "q_log_uniform_values", "min": 32, "max": 256, "q": 8})
    low, high = math.log(32), math.log(256)
    for u in EVEN[::50]:
        assert quantile(one, float(u)) == round(math.exp(low + u * (high - low)) / 8) * 8


@settings(max_examples=examples(100))
@given(
    st.dictionaries(
        st.sampled_from("abcd"),
        specs(kinds=("constant", "categorical", "int_uniform", "q_uniform")),
        min_size=1,
    )
)
def test_a_grid_has_every_combination_once(section: dict[str, Any]) -> None:
    for spec in section.values():
        spec.pop("probabilities", None)
        if "min" in spec:
            spec["max"] = spec["min"] + spec.get("q", 1) * 3
    space = parse(section)
    points = [json.dumps(point) for point in points_of(space)]
    assert len(points) == len(set(points)) == size_of(space)


JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from([*"pq", "min", "max", "values", "value", "distribution", "parameters"]),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@settings(max_examples=examples(200))
@given(JUNK)
def test_anything_is_parsed_or_refused_with_a_place(tree: Any) -> None:
    try:
        space = parse(tree)
    except ConfigProblem as problem:
        assert "\n" not in str(problem)
        node = tree
        for key in problem.location[:-1]:
            node = node[key]
    else:
        for one in space:
            quantile(one, 0.3)
