"""Grids: every combination of values, in W&B's order."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from jobsight.learning.sweep.parameters import MOST_VALUES, Number, Parameter, Trouble

__all__ = ["points_of", "size_of"]


def size_of(space: Iterable[Parameter]) -> int:
    """How many points a grid has.

    Raises:
        Trouble: a parameter cannot be counted, or has too many values.
    """
    return math.prod(len(_counted(one)) for one in space)


def points_of(space: Sequence[Parameter]) -> Iterator[dict[str, Any]]:
    """All points of a grid, in W&B's order: the last parameter by name changes first.

    As W&B's ``grid_search.py`` (`sweeps` 0.3.0) has it: lists and constants, ``int_uniform`` with
    both ends, ``q_uniform`` from min in steps of q *without* its max; a value given twice is tried
    once.

    Raises:
        Trouble: as `size_of`.
    """
    names = [one.name for one in space]
    for values in itertools.product(*[_counted(one) for one in space]):
        yield dict(zip(names, values, strict=True))


def _counted(one: Parameter) -> Sequence[Any]:
    if one.probabilities:
        raise Trouble(
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
        raise Trouble(
            (*one.location, "distribution"),
            f"parameter {one.name!r}: {one.distribution} has no countable values for a grid; give "
            "'values', int_uniform or q_uniform, or write method: random",
        )
    if size > MOST_VALUES:
        raise Trouble(
            one.location, f"parameter {one.name!r}: {size} values are too many for a grid"
        )
    if isinstance(low, int) and isinstance(step, int):
        return range(low, low + size * step, step)
    return [float(f"{low + at * step:.12g}") for at in range(size)]


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value
