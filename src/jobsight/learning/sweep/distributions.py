"""W&B's distributions, as functions of a quantile: a uniform number in, a value out, and back.

Each is what W&B's open package `sweeps` 0.3.0 computes (``HyperParameter.ppf`` and ``.cdf`` in its
``params.py``); `tests/conformance/test_wandb_distributions.py` holds them against that package's
own numbers:

- ``log_uniform``, ``inv_log_uniform``: min and max are exponents of e; the latter's value x has
  ln(1/x) uniform between them. ``…_values``: min and max are the values' own, and both are the same
  distribution.
- ``q_…``: the value without q, divided by q, rounded (halves to the even), times q. Nothing is
  clipped: with min 30, max 101 and q 8 the values are 32 … 104, as W&B's are.
- ``int_uniform``: min and max included. A `q` that is an integer gives integers.

Two things differ, for the same point on every machine: a value that is no integer is rounded to 12
significant digits, so that what mathematical libraries disagree in is beyond; and where W&B takes
a quantile of 1 for possible, ours are in [0, 1).
"""

from __future__ import annotations

import itertools
import json
import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from statistics import NormalDist
from typing import Any

from jobsight.learning.sweep.parameters import MOST_VALUES, ConfigProblem, Number, Parameter

__all__ = ["ends", "points_of", "probability", "quantile", "size_of"]

_SMALLEST = 2.0**-54
_LARGEST = 1.0 - 2.0**-53


def quantile(parameter: Parameter, u: float) -> Any:
    """The value at the quantile `u` in [0, 1]."""
    if parameter.listed:
        return parameter.values[_position(parameter, u)]
    if parameter.distribution == "int_uniform":
        low, high = int(parameter.numbers["min"]), int(parameter.numbers["max"])
        return min(low + int(u * (high - low + 1)), high)
    value = _continuous(parameter, u)
    return _cell(parameter, value) if parameter.quantised else _rounded(parameter, value)


def _cell(parameter: Parameter, value: float) -> Number:
    """The multiple of the parameter's `q` that is nearest to a value."""
    q = parameter.numbers["q"]
    ratio = value / q
    if abs(ratio) >= 2.0**53:  # floats lie further apart than multiples of q
        return int(value) if isinstance(q, int) else value
    steps = round(ratio)
    return steps * q if isinstance(q, int) else float(f"{steps * q:.12g}")


def probability(parameter: Parameter, value: Number) -> float:
    """The quantile of a value of a range, in [0, 1]; of a quantised one, of the value itself."""
    numbers = parameter.numbers
    kind = parameter.distribution.removeprefix("q_")
    if kind == "int_uniform":
        low, high = numbers["min"], numbers["max"]
        return _kept((value - low + 0.5) / (high - low + 1))
    if kind == "beta":
        from scipy.special import betainc

        return _kept(float(betainc(numbers["a"], numbers["b"], _kept(value))))
    if "normal" in kind:
        if kind == "log_normal":
            value = math.log(value) if value > 0 else -math.inf
        return _kept(NormalDist(numbers["mu"], numbers["sigma"]).cdf(value))
    if kind != "uniform":
        value = math.log(value) if value > 0 else -math.inf
    low, high = ends(parameter)
    return _kept((value - low) / (high - low))


def _kept(share: float) -> float:
    return min(max(float(share), 0.0), 1.0)


def _position(parameter: Parameter, u: float) -> int:
    count = len(parameter.values)
    if not parameter.probabilities:
        return min(int(u * count), count - 1)
    last = max(at for at, chance in enumerate(parameter.probabilities) if chance > 0)
    return min(bisect_right(list(accumulate(parameter.probabilities)), u), last)


def ends(parameter: Parameter) -> tuple[float, float]:
    """The ends of a uniform range; of a logarithmic one, of the value's logarithm."""
    low, high = float(parameter.numbers["min"]), float(parameter.numbers["max"])
    if parameter.distribution.endswith("_values"):
        return math.log(low), math.log(high)
    return (-high, -low) if parameter.distribution == "inv_log_uniform" else (low, high)


def _continuous(parameter: Parameter, u: float) -> float:
    kind = parameter.distribution.removeprefix("q_")
    numbers = parameter.numbers
    inside = min(max(u, _SMALLEST), _LARGEST)
    if kind == "beta":
        from scipy.special import betaincinv

        return float(betaincinv(numbers["a"], numbers["b"], inside))
    if "normal" in kind:
        value = NormalDist(numbers["mu"], numbers["sigma"]).inv_cdf(inside)
        return math.exp(min(value, 700.0)) if kind == "log_normal" else value
    low, high = ends(parameter)
    value = low + u * (high - low)
    return value if kind == "uniform" else math.exp(value)


def _rounded(parameter: Parameter, value: float) -> float:
    """A value to 12 significant digits, and not beyond the ends of a range as they were written."""
    value = float(f"{value:.12g}")
    if "min" in parameter.numbers and (
        parameter.distribution == "uniform" or parameter.distribution.endswith("_values")
    ):
        low, high = float(parameter.numbers["min"]), float(parameter.numbers["max"])
        return min(max(value, low), high)
    return value


def size_of(space: Iterable[Parameter]) -> int:
    """How many points a grid has.

    Raises:
        ConfigProblem: a parameter cannot be counted, or has too many values.
    """
    return math.prod(len(_counted(one)) for one in space)


def points_of(space: Sequence[Parameter]) -> Iterator[dict[str, Any]]:
    """All points of a grid, in W&B's order: the last parameter by name changes first.

    As W&B's ``grid_search.py`` (`sweeps` 0.3.0) has it: lists and constants, ``int_uniform`` with
    both ends, ``q_uniform`` from min in steps of q *without* its max; a value given twice is tried
    once.

    Raises:
        ConfigProblem: as `size_of`.
    """
    names = [one.name for one in space]
    for values in itertools.product(*[_counted(one) for one in space]):
        yield dict(zip(names, values, strict=True))


def _counted(one: Parameter) -> Sequence[Any]:
    if one.probabilities:
        raise ConfigProblem(
            (*one.location, "probabilities"),
            f"parameter {one.name!r}: a grid tries every value, so it has no probabilities; "
            "remove them, or write method: random",
        )
    if one.listed:
        return list({json.dumps(_whole(value)): value for value in one.values}.values())
    step: Number
    low, high = one.numbers.get("min", 0), one.numbers.get("max", 0)
    if one.distribution == "int_uniform":
        size, step = int(high - low + 1), 1
    elif one.distribution == "q_uniform":
        size, step = math.ceil((high - low) / one.numbers["q"]), one.numbers["q"]
    else:
        raise ConfigProblem(
            (*one.location, "distribution"),
            f"parameter {one.name!r}: {one.distribution} has no countable values for a grid; give "
            "'values', int_uniform or q_uniform, or write method: random",
        )
    if size > MOST_VALUES:
        raise ConfigProblem(
            one.location, f"parameter {one.name!r}: {size} values are too many for a grid"
        )
    if isinstance(low, int) and isinstance(step, int):
        return range(low, low + size * step, step)
    return [float(f"{low + at * step:.12g}") for at in range(size)]


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value
