"""What is searched: the section ``parameters`` of a config, as distributions of Optuna.

The schema is that of Weights & Biases' sweeps ("Sweep configuration options" of its documentation).
A parameter is a setting of the question; its name, dotted or not, says which.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import pydantic

from jobsight.errors import SettingsError
from jobsight.settings import QuestionSettings
from jobsight.settings.yamlfiles import Location, shown
from jobsight.text import closest, printable

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

    from jobsight.learning.question import Question

__all__ = [
    "ConfigProblem",
    "Parameter",
    "check_parameters",
    "grid_of",
    "has_value",
    "merged",
    "parse",
    "searchable",
    "with_parameters",
]

S = TypeVar("S", bound=QuestionSettings)

MOST_PARAMETERS, MOST_VALUES = 200, 10_000

_BOUNDS = ("min", "max")
_KEYS: Mapping[str, tuple[str, ...]] = {
    "constant": ("value",),
    "categorical": ("values",),
    "int_uniform": _BOUNDS,
    "uniform": _BOUNDS,
    "log_uniform_values": _BOUNDS,
    "q_uniform": (*_BOUNDS, "q"),
    "q_log_uniform_values": (*_BOUNDS, "q"),
}
"""The distributions that are taken, with their keys; `q` is 1 where it is not given."""

_INSTEAD = {
    "beta": "Optuna has no such distribution; write uniform or q_uniform",
    "normal": "Optuna has no such distribution; write uniform, or log_uniform_values",
    "inv_": "write log_uniform_values",
    "log_uniform": "its bounds are exponents; write log_uniform_values with the values' own",
    "probabilities": "Optuna draws all values alike; write categorical",
}
"""What to write for W&B's other distributions, by what is in their names."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}", re.ASCII)

ELSEWHERE = {
    ("seed",): "seed",
    ("lstm", "epochs"): "epochs",
    ("lstm", "patience"): "early_stopping: {patience: …}",
}
"""Settings that the config has keys of its own for."""


class ConfigProblem(ValueError):  # noqa: N818 - it becomes a SettingsError, with its place
    """What is wrong in a section, and `location`: keys and indices from the section's root."""

    def __init__(self, location: Location, message: str) -> None:
        self.location = location
        super().__init__(message)


@dataclass(frozen=True)
class Parameter:
    """One parameter that is searched, or held constant.

    Attributes:
        name: as in the config; of one in groups, the names joined by dots.
        location: its keys within the section ``parameters``.
        distribution: of Optuna; of a constant, the choice among one value.
        drawn: what a random search draws from, where Optuna has no such distribution: the logarithm
            with steps. What is drawn is rounded to a step of `distribution`.
    """

    name: str
    location: tuple[str, ...]
    distribution: BaseDistribution
    drawn: BaseDistribution | None = None

    def snapped(self, value: Any) -> Any:
        """A value of `drawn`, on the nearest step of `distribution`."""
        low, high = self.distribution.low, self.distribution.high  # type: ignore[attr-defined]
        step = self.distribution.step  # type: ignore[attr-defined]
        return min(low + round((value - low) / step) * step, high)


def parse(tree: Any) -> tuple[Parameter, ...]:
    """The parameters of a section, sorted by name, group by group.

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
            "parameters are a mapping of names to what they may be, such as "
            f"'m: {{min: 10, max: 100}}' (given {shown(tree)})",
        )
    for key in sorted(tree, key=str):
        here, spec = (*location, str(key)), tree[key]
        if not _NAME.fullmatch(str(key)):
            raise ConfigProblem(here, f"{printable(key, 60)!r} is not a parameter's name")
        if not isinstance(spec, Mapping):
            spelled = "values" if isinstance(spec, list) else "value"
            raise ConfigProblem(
                here,
                f"parameter {key!r} is {shown(spec)}, not a mapping; "
                f"write {{{spelled}: {shown(spec)}}}",
            )
        if "parameters" in spec:
            if len(spec) > 1:
                raise ConfigProblem(here, f"group {key!r} has more than its 'parameters'")
            yield from _group(spec["parameters"], (*here, "parameters"))
        else:
            yield _parameter(here, spec)


def _parameter(location: tuple[str, ...], spec: Mapping[str, Any]) -> Parameter:
    """One parameter, as W&B's SDK infers its distribution where the config names none."""
    from optuna.distributions import (
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )

    name = ".".join(location[::2])  # between two names of groups is "parameters"

    def wrong(message: str, *keys: int | str) -> ConfigProblem:
        return ConfigProblem((*location, *keys), f"parameter {name!r}{message}")

    kind = spec.get("distribution")
    if kind is None:
        if "value" in spec or "values" in spec:
            kind = "constant" if "value" in spec else "categorical"
        elif not set(_BOUNDS) <= spec.keys():
            raise wrong(" needs 'value', 'values', both 'min' and 'max', or a 'distribution'")
        elif "q" in spec:
            raise wrong(": 'q' needs a distribution: write distribution: q_uniform", "q")
        else:
            for key in _BOUNDS:
                _check_number(key, spec[key], wrong)
            integers = [isinstance(spec[key], int) for key in _BOUNDS]
            if len(set(integers)) > 1:
                raise wrong(
                    ": one of min and max is an integer, the other is not; write both as integers, "
                    "or name a distribution"
                )
            kind = "int_uniform" if all(integers) else "uniform"
    if kind not in _KEYS:
        near = closest(str(kind), _KEYS)
        known = f"did you mean {near}?" if near else f"there are {', '.join(_KEYS)}"
        instead = next((_INSTEAD[part] for part in _INSTEAD if part in str(kind)), known)
        raise wrong(f": there is no distribution {shown(kind)}; {instead}", "distribution")
    if "probabilities" in spec:
        raise wrong(": Optuna draws all values alike; remove 'probabilities'", "probabilities")
    for key in spec:
        if key not in (*_KEYS[kind], "distribution"):
            raise wrong(f": {kind} has no {printable(key, 40)!r}, only {_KEYS[kind]}", str(key))
    for key in _KEYS[kind]:
        if key not in spec and key != "q":
            raise wrong(f": {kind} needs {key!r}, which is missing")
    if kind in ("constant", "categorical"):
        values = [spec["value"]] if kind == "constant" else spec["values"]
        if not isinstance(values, list) or not 1 <= len(values) <= MOST_VALUES:
            raise wrong(f": values are a list of 1 to {MOST_VALUES} (given {shown(values)})")
        for at, value in enumerate(values):
            place: Location = ("value",) if kind == "constant" else ("values", at)
            _check_plain(value, wrong, place)
        return Parameter(name, location, CategoricalDistribution(values))
    numbers = {key: spec.get(key, 1) for key in _KEYS[kind]}
    for key, number in numbers.items():
        _check_number(key, number, wrong)
    low, high, step = numbers["min"], numbers["max"], numbers.get("q")
    if low >= high:
        raise wrong(f": min {low} is not below max {high}", "min")
    if "log" in kind and low <= 0:
        raise wrong(f": {kind} takes logarithms, so min must be above 0, not {low}", "min")
    if step is not None and step <= 0:
        raise wrong(f": q is {step}; it must be above 0", "q")
    whole = all(isinstance(number, int) for number in numbers.values())
    if kind == "int_uniform":
        if not whole:
            raise wrong(": int_uniform needs integers", "min")
        return Parameter(name, location, IntDistribution(low, high))
    if step is None:
        return Parameter(name, location, FloatDistribution(low, high, log="log" in kind))
    if "log" in kind and whole and step == 1:
        return Parameter(name, location, IntDistribution(low, high, log=True))
    top = low + math.floor((high - low) / step + 1e-9) * step
    stepped = IntDistribution if whole else FloatDistribution
    drawn = FloatDistribution(low, top, log=True) if "log" in kind and top > low else None
    return Parameter(name, location, stepped(low, top, step=step), drawn)


def _check_plain(value: Any, wrong: Any, place: Location) -> None:
    if not isinstance(value, str | bool | int | float | None) or (
        isinstance(value, float) and not math.isfinite(value)
    ):
        raise wrong(f": {shown(value)} is not a text, number or truth value", *place)


def _check_number(key: str, value: Any, wrong: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        advice = ""
        if isinstance(value, str) and re.fullmatch(r"[-+]?[\d.]+([eE][-+]?\d+)?[,;]?", value):
            bare = value.rstrip(",;")
            how = "without quotes" if bare == value else "without the comma"
            advice = f"; write {bare}, {how}"
        is_text = "the text " if isinstance(value, str) else ""
        raise wrong(f": {key} is {is_text}{shown(value)}, not a number{advice}", key)
    if not math.isfinite(value) or abs(value) > 1e300:
        raise wrong(f": {key} is {shown(value)}; a number between ±1e300 is needed", key)


def grid_of(parameter: Parameter) -> list[Any]:
    """All values of a parameter, for a grid.

    Raises:
        ConfigProblem: it cannot be counted, or has too many values.
    """
    from optuna.distributions import CategoricalDistribution

    distribution = parameter.distribution
    if isinstance(distribution, CategoricalDistribution):
        return list(dict.fromkeys(distribution.choices))
    low, high = distribution.low, distribution.high  # type: ignore[attr-defined]
    step = distribution.step  # type: ignore[attr-defined]
    count = 0 if step is None else round((high - low) / step) + 1
    if not 1 <= count <= MOST_VALUES:
        raise ConfigProblem(
            parameter.location,
            f"parameter {parameter.name!r} has no countable values for a grid; give 'values', "
            "int_uniform or q_uniform, or write method: random",
        )
    return [low + at * step for at in range(count)]


def searchable(question: Question[Any]) -> dict[str, tuple[str, ...]]:
    """Names of all parameters that may be searched, with the path of the setting that each means.

    These are what `Question.searched` names, dotted or bare. All other settings say what is asked
    and how it is judged: runs that differ in them could not be compared.
    """
    found: dict[str, tuple[str, ...]] = {}
    for name in question.searched:
        section = question.settings.model_fields[name].annotation
        if isinstance(section, type) and issubclass(section, pydantic.BaseModel):
            for field in section.model_fields:
                if (name, field) not in ELSEWHERE and field != "device":
                    found[field] = found[f"{name}.{field}"] = (name, field)
        else:
            found[name] = (name,)
    return found


def _path(question: Question[Any], name: str) -> tuple[str, ...]:
    """The path within the question's settings that a parameter's name means.

    Raises:
        ValueError: it is none that may be searched; names the nearest.
    """
    valid = searchable(question)
    if name in valid:
        return valid[name]
    own = ELSEWHERE.get(tuple(name.split("."))) or ELSEWHERE.get(("lstm", name))
    if own:
        raise ValueError(f"parameter {name!r} is the same for all runs; it is set by {own}")
    if name.partition(".")[0] in question.settings.model_fields or name == "device":
        raise ValueError(
            f"parameter {name!r} says what is asked, how it is judged or where it is trained, and "
            "is the same for all runs; give it under 'settings'"
        )
    near = closest(name, valid)
    known = near or ", ".join(bare for bare in valid if "." not in bare)
    raise ValueError(f"parameter {printable(name, 60)!r} is unknown; there is {known}")


def _as_settings(question: Question[Any], point: Mapping[str, Any]) -> dict[str, Any]:
    """A point as settings of the question: ``{"m": 20}`` becomes ``{"frames": {"m": 20}}``."""
    tree: dict[str, Any] = {}
    for name, value in point.items():
        *sections, last = _path(question, name)
        branch = tree
        for part in sections:
            branch = branch.setdefault(part, {})
        branch[last] = value
    return tree


def with_parameters(question: Question[Any], settings: S, point: Mapping[str, Any]) -> S:
    """The settings that all runs share, with a point's values in their places.

    Raises:
        SettingsError: a name is unknown or its value bad.
    """
    try:
        tree = merged(settings.model_dump(), _as_settings(question, point))
        return type(settings).model_validate(tree)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise SettingsError(f"{name}: {first['msg']} (given {shown(first['input'])})") from None
    except ValueError as error:
        raise SettingsError(str(error)) from None


def merged(tree: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Two nested mappings in one; where both have a value the other's counts."""
    both = dict(tree)
    for key, theirs in other.items():
        mine = both.get(key)
        if isinstance(theirs, Mapping) and isinstance(mine, Mapping):
            both[key] = merged(mine, theirs)
        else:
            both[key] = theirs
    return both


def has_value(tree: Any, path: tuple[str, ...]) -> bool:
    """Whether a nested mapping has something at a path."""
    for part in path:
        if not isinstance(tree, Mapping) or part not in tree:
            return False
        tree = tree[part]
    return True


def check_parameters(
    question: Question[Any], parameters: tuple[Parameter, ...], settings: Any
) -> None:
    """Check that parameters mean settings, each its own, and give values that these allow.

    Args:
        question: that is asked.
        parameters: of the config.
        settings: the section ``settings`` of the config, which must not set them too.

    Raises:
        ConfigProblem: a name is unknown, two mean one setting, or a value is none that it allows.
    """
    taken: dict[tuple[str, ...], str] = {}
    for one in parameters:
        try:
            path = _path(question, one.name)
        except ValueError as error:
            raise ConfigProblem(one.location, str(error)) from None
        other = taken.setdefault(path, one.name)
        if other != one.name:
            raise ConfigProblem(
                one.location, f"parameters {other!r} and {one.name!r} mean one setting; keep one"
            )
        if has_value(settings, path):
            raise ConfigProblem(
                one.location, f"{'.'.join(path)} is under 'settings' as well; remove one of them"
            )
        for key, value in _samples(one):
            why = "it is a truth value" if isinstance(value, bool) else ""
            try:
                question.settings.model_validate(_as_settings(question, {one.name: value}))
            except pydantic.ValidationError as error:
                why = str(error.errors()[0]["msg"])
            if why:
                raise ConfigProblem(
                    (*one.location, *key),
                    f"parameter {one.name!r}: {shown(value)} is not allowed: {why}",
                )


def _samples(parameter: Parameter) -> Iterator[tuple[Location, Any]]:
    """Values of a parameter, with the key that gives each: all of a list, the bounds of a range.

    The very ends of a continuous range are all but never drawn: (0, 0.1] is meant by min: 0, max:
    0.1 where 0 is not allowed.
    """
    from optuna.distributions import CategoricalDistribution

    distribution = parameter.distribution
    if isinstance(distribution, CategoricalDistribution):
        for at, value in enumerate(distribution.choices):
            yield ("values", at), value
        return
    low, high = distribution.low, distribution.high  # type: ignore[attr-defined]
    inset = 0 if distribution.step is not None else 1e-9 * (high - low)  # type: ignore[attr-defined]
    yield ("min",), low + inset
    yield ("max",), high - inset
