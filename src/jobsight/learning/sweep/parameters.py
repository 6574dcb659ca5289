"""What is searched: the section ``parameters`` of a config, in the schema of W&B's sweeps.

The schema is that of W&B's open package `sweeps` 0.3.0 (``sweeps/config/schema.json``) and of its
documentation, "Sweep configuration options"; where a distribution is missing it is inferred as the
SDK 0.31 does (``wandb.apis.public.sweeps._validate_config_and_fill_distribution``). What its server
would refuse later is refused here at once, with its place.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jobsight.settings.yamlfiles import Location, shown
from jobsight.text import printable

__all__ = ["DISTRIBUTIONS", "MOST_VALUES", "Number", "Parameter", "Trouble", "parse"]

Number = int | float

MOST_VALUES = 10_000
MOST_PARAMETERS = 200
MOST_DEPTH = 8

DISTRIBUTIONS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "constant": (("value",), ()),
    "categorical": (("values",), ("probabilities",)),
    "categorical_w_probabilities": (("values", "probabilities"), ()),
    "int_uniform": (("min", "max"), ()),
    "uniform": (("min", "max"), ()),
    "q_uniform": (("min", "max"), ("q",)),
    "log_uniform": (("min", "max"), ()),
    "log_uniform_values": (("min", "max"), ()),
    "q_log_uniform": (("min", "max"), ("q",)),
    "q_log_uniform_values": (("min", "max"), ("q",)),
    "inv_log_uniform": (("min", "max"), ()),
    "inv_log_uniform_values": (("min", "max"), ()),
    "normal": ((), ("mu", "sigma")),
    "q_normal": ((), ("mu", "sigma", "q")),
    "log_normal": ((), ("mu", "sigma")),
    "q_log_normal": ((), ("mu", "sigma", "q")),
    "beta": ((), ("a", "b")),
    "q_beta": ((), ("a", "b", "q")),
}
"""Every distribution of W&B's, with the keys it needs and those it may have."""

_DEFAULTS: Mapping[str, Number] = {"mu": 0, "sigma": 1, "a": 1, "b": 1, "q": 1}
_ABOVE_ZERO = ("q", "sigma", "a", "b")
_KEYS = {key for needed, allowed in DISTRIBUTIONS.values() for key in (*needed, *allowed)}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}", re.ASCII)
_LARGEST_EXPONENT = 700.0
"""e to that still is a float64."""


class Trouble(ValueError):  # noqa: N818 - it is turned into a SettingsError, with its place
    """What is wrong in a section, and where in it.

    Attributes:
        location: keys and indices from the section's root.
    """

    def __init__(self, location: Location, message: str) -> None:
        self.location = location
        super().__init__(message)


@dataclass(frozen=True)
class Parameter:
    """One parameter that is searched, or held constant.

    Attributes:
        name: as in the config; of one in groups, the names joined by dots.
        location: its keys within the section ``parameters``.
        distribution: one of `DISTRIBUTIONS`; ``categorical_w_probabilities`` is told as
            ``categorical`` with `probabilities`.
        values: of a categorical one, or the one value of a constant.
        probabilities: of the values; empty where all are equally likely.
        numbers: ``min``, ``max``, ``q``, ``mu``, ``sigma``, ``a``, ``b``: those that the
            distribution has, defaults filled in.
    """

    name: str
    location: tuple[str, ...]
    distribution: str
    values: tuple[Any, ...] = ()
    probabilities: tuple[float, ...] = ()
    numbers: Mapping[str, Number] = field(default_factory=dict)

    @property
    def listed(self) -> bool:
        """Whether it has values, not a range."""
        return self.distribution in {"constant", "categorical"}

    @property
    def quantised(self) -> bool:
        """Whether it only takes multiples of its `q`."""
        return self.distribution.startswith("q_")

    @property
    def bounded(self) -> bool:
        """Whether it has a smallest and a largest value."""
        return "normal" not in self.distribution


def parse(tree: Any) -> tuple[Parameter, ...]:
    """The parameters of a section, in W&B's order: sorted by name, group by group.

    Raises:
        Trouble: something in it is wrong; says where in it, and what to write instead.
    """
    found = tuple(_group(tree, ()))
    if len(found) > MOST_PARAMETERS:
        raise Trouble((), f"{len(found)} parameters are more than {MOST_PARAMETERS}")
    names: dict[str, Parameter] = {}
    for one in found:
        if one.name in names:
            raise Trouble(one.location, f"parameter {one.name!r} is given twice; give it once")
        names[one.name] = one
    return found


def _group(tree: Any, location: tuple[str, ...]) -> Iterator[Parameter]:
    if not isinstance(tree, Mapping) or not tree:
        raise Trouble(
            location,
            f"parameters are a mapping of names to what they may be, such as "
            f"'m: {{min: 10, max: 100}}' (given {shown(tree)})",
        )
    if len(location) > MOST_DEPTH:
        raise Trouble(location, f"groups of parameters are nested deeper than {MOST_DEPTH}")
    for key in sorted(tree, key=str):
        here = (*location, str(key))
        if not _NAME.fullmatch(str(key)):
            raise Trouble(
                here,
                f"parameter {printable(key, 60)!r} has no good name: letters, digits, _ . and -, "
                "at most 100, the first a letter or _",
            )
        spec = tree[key]
        if isinstance(spec, Mapping) and "parameters" in spec:
            if len(spec) > 1:
                raise Trouble(
                    here, f"group {key!r} has more than its 'parameters'; remove the rest"
                )
            yield from _group(spec["parameters"], (*here, "parameters"))
        else:
            yield _parameter(here, spec)


def _parameter(location: tuple[str, ...], spec: Any) -> Parameter:
    name = ".".join(location[::2])  # between two names of groups stands "parameters"
    said = f"parameter {name!r}"
    if not isinstance(spec, Mapping):
        key = "values" if isinstance(spec, list) else "value"
        raise Trouble(
            location, f"{said} is {shown(spec)}, no mapping; write {{{key}: {_said(spec)}}}"
        )
    distribution = _distribution(location, said, spec)
    needed, allowed = DISTRIBUTIONS[distribution]
    _check_keys(location, said, spec, distribution, (*needed, *allowed))
    for key in needed:
        if key not in spec:
            raise Trouble(location, f"{said}: {distribution} needs {key!r}, which is missing")
    if distribution.startswith("categorical"):
        values, probabilities = _values(location, said, spec)
        return Parameter(name, location, "categorical", values, probabilities)
    if distribution == "constant":
        return Parameter(
            name, location, "constant", (_value((*location, "value"), said, spec["value"]),)
        )
    numbers = {
        key: _number((*location, key), f"{said}: {key}", spec[key])
        if key in spec
        else _DEFAULTS[key]
        for key in (*needed, *allowed)
    }
    _check_numbers(location, said, distribution, numbers)
    return Parameter(name, location, distribution, numbers=numbers)


def _said(spec: Any) -> str:
    return "…" if spec is None else shown(spec)


def _distribution(location: Location, said: str, spec: Mapping[str, Any]) -> str:
    if "distribution" not in spec:
        return _inferred(location, said, spec)
    name = spec["distribution"]
    if isinstance(name, str) and name in DISTRIBUTIONS:
        return name
    raise Trouble(
        (*location, "distribution"),
        f"{said}: there is no distribution {shown(name)}; {_nearest(name, DISTRIBUTIONS)}",
    )


def _nearest(name: Any, valid: Any) -> str:
    near = difflib.get_close_matches(str(name).replace("-", "_").lower(), sorted(valid), 3, 0.6)
    if near:
        return f"the nearest {'is' if len(near) == 1 else 'are'} {', '.join(near)}"
    return f"there are {', '.join(sorted(valid))}"


def _inferred(location: Location, said: str, spec: Mapping[str, Any]) -> str:
    if "value" in spec:
        return "constant"
    if "values" in spec:
        return "categorical"
    if "min" not in spec or "max" not in spec:
        _check_keys(location, said, spec, "it", tuple(_KEYS))
        raise Trouble(
            location, f"{said} needs 'value', 'values', both 'min' and 'max', or a 'distribution'"
        )
    if "q" in spec:
        raise Trouble(
            (*location, "q"), f"{said}: 'q' needs a distribution: write distribution: q_uniform"
        )
    ends = [_number((*location, key), f"{said}: {key}", spec[key]) for key in ("min", "max")]
    kinds = {type(end) for end in ends}
    if len(kinds) == 1:
        return "int_uniform" if kinds == {int} else "uniform"
    low, high = ends
    raise Trouble(
        location,
        f"{said}: one of min {low} and max {high} is an integer, the other is none; write both as "
        f"integers, or {float(low)} and {float(high)}, or name a distribution",
    )


def _check_keys(
    location: Location,
    said: str,
    spec: Mapping[str, Any],
    distribution: str,
    valid: tuple[str, ...],
) -> None:
    for key in spec:
        if key == "distribution" or key in valid:
            continue
        where = (*location, str(key))
        if key in _KEYS:
            raise Trouble(
                where,
                f"{said}: {distribution} has no {key!r}, only {', '.join(valid)}; remove one of "
                "them or name another distribution",
            )
        raise Trouble(
            where, f"{said}: there is no {printable(key, 40)!r}; {_nearest(key, [*_KEYS])}"
        )


def _number(location: Location, said: str, value: Any) -> Number:
    if isinstance(value, str):
        meant = _meant(value)
        raise Trouble(
            location,
            f"{said} is the text {shown(value)}, no number"
            + ("" if meant is None else f"; write {meant}"),
        )
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Trouble(location, f"{said} is {shown(value)}, no number")
    if not math.isfinite(value) or abs(value) > 1e300:
        raise Trouble(location, f"{said} is {shown(value)}; a number between ±1e300 is needed")
    return value


def _meant(text: str) -> str | None:
    """The number that a text was meant to be, and what is wrong with it; None where it is none."""
    bare = text.strip().rstrip(",;").strip()
    if re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+", bare, re.ASCII):
        return f"{bare.replace(',', '')}, without commas"
    for candidate, wrong in (
        (text.strip(), "without quotes"),
        (bare, f"without the {'semicolon' if text.strip().endswith(';') else 'comma'}"),
        (bare.replace(",", "."), "with a decimal point"),
    ):
        if re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", candidate, re.ASCII):
            return f"{candidate}, {wrong}"
    return None


def _value(location: Location, said: str, value: Any) -> Any:
    """A value of a list or a constant; texts that were meant as numbers are refused."""
    if isinstance(value, str) and (meant := _meant(value)) is not None:
        raise Trouble(location, f"{said}: {shown(value)} is a text, no number; write {meant}")
    if isinstance(value, float) and not math.isfinite(value):
        raise Trouble(location, f"{said}: {value} is no value to learn with")
    if not isinstance(value, str | bool | int | float | list | None):
        raise Trouble(location, f"{said}: {shown(value)} is no text, number, list or truth value")
    return tuple(value) if isinstance(value, list) else value


def _values(
    location: Location, said: str, spec: Mapping[str, Any]
) -> tuple[tuple[Any, ...], tuple[float, ...]]:
    values = spec["values"]
    where = (*location, "values")
    if not isinstance(values, list | tuple):
        raise Trouble(
            where, f"{said}: values are a list, such as [1, 2, 3] (given {shown(values)})"
        )
    if not 1 <= len(values) <= MOST_VALUES:
        raise Trouble(where, f"{said} has {len(values)} values; give 1 to {MOST_VALUES}")
    checked = tuple(_value((*where, at), said, value) for at, value in enumerate(values))
    if "probabilities" not in spec:
        return checked, ()
    return checked, _probabilities((*location, "probabilities"), said, spec, len(checked))


def _probabilities(
    where: Location, said: str, spec: Mapping[str, Any], count: int
) -> tuple[float, ...]:
    given = spec["probabilities"]
    if not isinstance(given, list | tuple):
        raise Trouble(where, f"{said}: probabilities are a list (given {shown(given)})")
    chances = tuple(
        float(_number((*where, at), f"{said}: a probability", chance))
        for at, chance in enumerate(given)
    )
    if len(chances) != count:
        raise Trouble(where, f"{said}: {count} values, but {len(chances)} probabilities")
    if min(chances) < 0:
        raise Trouble(where, f"{said}: probability {min(chances)} is below 0")
    total = math.fsum(chances)
    if not math.isclose(total, 1.0, rel_tol=1e-5, abs_tol=1e-8):
        raise Trouble(where, f"{said}: probabilities add up to {total:.6g}, not to 1")
    return chances


def _check_numbers(
    location: Location, said: str, distribution: str, numbers: Mapping[str, Number]
) -> None:
    for key in _ABOVE_ZERO:
        if key in numbers and not numbers[key] > 0:
            raise Trouble((*location, key), f"{said}: {key} is {numbers[key]}; it must be above 0")
    if "min" not in numbers:
        return
    low, high = numbers["min"], numbers["max"]
    if distribution == "int_uniform":
        for key in ("min", "max"):
            if not isinstance(numbers[key], int):
                raise Trouble(
                    (*location, key), f"{said}: int_uniform needs integers; {key} is {numbers[key]}"
                )
    if low > high:
        raise Trouble((*location, "min"), f"{said}: min {low} is above max {high}; swap them")
    if low == high:
        raise Trouble(
            (*location, "min"), f"{said}: min and max are both {low}; write {{value: {low}}}"
        )
    if distribution.endswith("_values") and low <= 0:
        raise Trouble(
            (*location, "min"),
            f"{said}: {distribution} takes logarithms, so min must be above 0, not {low}",
        )
    if distribution in {"log_uniform", "q_log_uniform", "inv_log_uniform"}:
        worst = max(abs(low), abs(high))
        if worst > _LARGEST_EXPONENT:
            raise Trouble(
                (*location, "max"),
                f"{said}: min and max of {distribution} are exponents of e, and {worst} is too "
                f"large for one; {distribution}_values takes the values themselves",
            )
