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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jobsight.settings.yamlfiles import Location, shown
from jobsight.text import printable

__all__ = ["DISTRIBUTIONS", "MOST_VALUES", "ConfigProblem", "Number", "Parameter", "parse"]

Number = int | float

MOST_VALUES = 10_000
MOST_PARAMETERS = 200

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
_EXPONENTS = ("log_uniform", "q_log_uniform", "inv_log_uniform")
_LARGEST_EXPONENT = 700.0
"""e to that still is a float64."""


class ConfigProblem(ValueError):  # noqa: N818 - it becomes a SettingsError, with its place
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
        distribution: one of `DISTRIBUTIONS`; ``categorical_w_probabilities`` is ``categorical``
            with `probabilities`.
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
        ConfigProblem: something in it is wrong; names its place, and what to write instead.
    """
    found = tuple(_group(tree, ()))
    if len(found) > MOST_PARAMETERS:
        raise ConfigProblem((), f"{len(found)} parameters are more than {MOST_PARAMETERS}")
    return found


def _group(tree: Any, location: tuple[str, ...]) -> Iterator[Parameter]:
    if not isinstance(tree, Mapping) or not tree:
        raise ConfigProblem(
            location,
            f"parameters are a mapping of names to what they may be, such as "
            f"'m: {{min: 10, max: 100}}' (given {shown(tree)})",
        )
    for key in sorted(tree, key=str):
        here = (*location, str(key))
        spec = tree[key]
        if not _NAME.fullmatch(str(key)):
            raise ConfigProblem(
                here,
                f"parameter {printable(key, 60)!r} has no good name: letters, digits, _ . and -, "
                "at most 100, the first a letter or _",
            )
        if not isinstance(spec, Mapping) or "parameters" not in spec:
            yield _Spec(here, spec).parameter()
        elif len(spec) > 1:
            raise ConfigProblem(
                here, f"group {key!r} has more than its 'parameters'; remove the rest"
            )
        else:
            yield from _group(spec["parameters"], (*here, "parameters"))


@dataclass(frozen=True)
class _Spec:
    """What a config says of one parameter."""

    location: tuple[str, ...]
    content: Any

    @property
    def name(self) -> str:
        return ".".join(self.location[::2])  # between two names of groups is "parameters"

    def wrong(self, message: str, *keys: int | str) -> ConfigProblem:
        return ConfigProblem((*self.location, *keys), f"parameter {self.name!r}{message}")

    def parameter(self) -> Parameter:
        spec = self.content
        if not isinstance(spec, Mapping):
            key = "values" if isinstance(spec, list) else "value"
            meant = "…" if spec is None else shown(spec)
            raise self.wrong(f" is {shown(spec)}, not a mapping; write {{{key}: {meant}}}")
        distribution = self.distribution()
        needed, optional = DISTRIBUTIONS[distribution]
        self.check_keys(distribution, (*needed, *optional))
        for key in needed:
            if key not in spec:
                raise self.wrong(f": {distribution} needs {key!r}, which is missing")
        if distribution == "constant":
            value = self.value(spec["value"], "value")
            return Parameter(self.name, self.location, distribution, (value,))
        if distribution.startswith("categorical"):
            values = self.values()
            probabilities = self.probabilities(len(values)) if "probabilities" in spec else ()
            return Parameter(self.name, self.location, "categorical", values, probabilities)
        numbers = {
            key: self.number(spec[key], key, key) if key in spec else _DEFAULTS[key]
            for key in (*needed, *optional)
        }
        self.check_numbers(distribution, numbers)
        return Parameter(self.name, self.location, distribution, numbers=numbers)

    def distribution(self) -> str:
        spec = self.content
        name = spec.get("distribution")
        if isinstance(name, str) and name in DISTRIBUTIONS:
            return name
        if "distribution" in spec:
            near = _nearest(name, DISTRIBUTIONS)
            raise self.wrong(f": there is no distribution {shown(name)}; {near}", "distribution")
        if "value" in spec:
            return "constant"
        if "values" in spec:
            return "categorical"
        if "min" not in spec or "max" not in spec:
            self.check_keys("it", tuple(_KEYS))
            raise self.wrong(" needs 'value', 'values', both 'min' and 'max', or a 'distribution'")
        if "q" in spec:
            raise self.wrong(": 'q' needs a distribution: write distribution: q_uniform", "q")
        low, high = (self.number(spec[key], key, key) for key in ("min", "max"))
        if isinstance(low, int) != isinstance(high, int):
            raise self.wrong(
                f": one of min {low} and max {high} is an integer, the other is not; write both as "
                f"integers, or {float(low)} and {float(high)}, or name a distribution"
            )
        return "int_uniform" if isinstance(low, int) else "uniform"

    def check_keys(self, distribution: str, valid: tuple[str, ...]) -> None:
        for key in self.content:
            if key in _KEYS and key not in valid:
                raise self.wrong(
                    f": {distribution} has no {key!r}, only {', '.join(valid)}; remove one of them "
                    "or name another distribution",
                    str(key),
                )
            if key not in (*_KEYS, "distribution"):
                near = _nearest(key, _KEYS)
                raise self.wrong(f": there is no {printable(key, 40)!r}; {near}", str(key))

    def number(self, value: Any, what: str, *keys: int | str) -> Number:
        if isinstance(value, str):
            meant = _meant(value)
            advice = "" if meant is None else f"; write {meant}"
            raise self.wrong(f": {what} is the text {shown(value)}, not a number{advice}", *keys)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(f": {what} is {shown(value)}, not a number", *keys)
        if not math.isfinite(value) or abs(value) > 1e300:
            needed = "a number between ±1e300 is needed"
            raise self.wrong(f": {what} is {shown(value)}; {needed}", *keys)
        return value

    def value(self, value: Any, *keys: int | str) -> Any:
        """A value of a list or a constant; texts that were meant as numbers are refused."""
        if isinstance(value, str) and (meant := _meant(value)) is not None:
            raise self.wrong(f": {shown(value)} is a text, not a number; write {meant}", *keys)
        if isinstance(value, float) and not math.isfinite(value):
            raise self.wrong(f": {value} is not a value to learn with", *keys)
        if not isinstance(value, str | bool | int | float | list | None):
            kinds = "not a text, number, list or truth value"
            raise self.wrong(f": {shown(value)} is {kinds}", *keys)
        return tuple(value) if isinstance(value, list) else value

    def values(self) -> tuple[Any, ...]:
        values = self.content["values"]
        if not isinstance(values, list | tuple):
            example = "values are a list, such as [1, 2, 3]"
            raise self.wrong(f": {example} (given {shown(values)})", "values")
        if not 1 <= len(values) <= MOST_VALUES:
            raise self.wrong(f" has {len(values)} values; give 1 to {MOST_VALUES}", "values")
        return tuple(self.value(value, "values", at) for at, value in enumerate(values))

    def probabilities(self, count: int) -> tuple[float, ...]:
        key, given = "probabilities", self.content["probabilities"]
        if not isinstance(given, list | tuple):
            raise self.wrong(f": probabilities are a list (given {shown(given)})", key)
        chances = tuple(
            float(self.number(chance, "a probability", key, at)) for at, chance in enumerate(given)
        )
        if len(chances) != count:
            raise self.wrong(f": {count} values, but {len(chances)} probabilities", key)
        if min(chances) < 0:
            raise self.wrong(f": probability {min(chances)} is below 0", key)
        total = math.fsum(chances)
        if not math.isclose(total, 1.0, rel_tol=1e-5, abs_tol=1e-8):
            raise self.wrong(f": probabilities add up to {total:.6g}, not to 1", key)
        return chances

    def check_numbers(self, distribution: str, numbers: Mapping[str, Number]) -> None:
        for key in _ABOVE_ZERO:
            if key in numbers and not numbers[key] > 0:
                raise self.wrong(f": {key} is {numbers[key]}; it must be above 0", key)
        if "min" not in numbers:
            return
        low, high = numbers["min"], numbers["max"]
        for key in ("min", "max"):
            if distribution == "int_uniform" and not isinstance(numbers[key], int):
                raise self.wrong(f": int_uniform needs integers; {key} is {numbers[key]}", key)
        if low > high:
            raise self.wrong(f": min {low} is above max {high}; swap them", "min")
        if low == high:
            raise self.wrong(f": min and max are both {low}; write {{value: {low}}}", "min")
        if distribution.endswith("_values") and low <= 0:
            raise self.wrong(
                f": {distribution} takes logarithms, so min must be above 0, not {low}", "min"
            )
        worst = max(abs(low), abs(high))
        if distribution in _EXPONENTS and worst > _LARGEST_EXPONENT:
            raise self.wrong(
                f": min and max of {distribution} are exponents of e, and {worst} is too large for "
                f"one; {distribution}_values takes the values themselves",
                "max",
            )


def _nearest(name: Any, valid: Iterable[str]) -> str:
    valid = sorted(valid)
    near = difflib.get_close_matches(str(name).replace("-", "_").lower(), valid, 3, 0.6)
    if near:
        return f"the nearest {'is' if len(near) == 1 else 'are'} {', '.join(near)}"
    return f"there are {', '.join(valid)}"


def _meant(text: str) -> str | None:
    """The number that a text was meant to be, and what is wrong with it; None: it is a text."""
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
