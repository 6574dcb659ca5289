"""Which setting of the question a parameter means, and which values that setting allows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import pydantic

from jobsight.errors import SettingsError
from jobsight.learning.sweep.distributions import quantile
from jobsight.learning.sweep.parameters import ConfigProblem, Parameter
from jobsight.settings import QuestionSettings
from jobsight.settings.yamlfiles import Location, shown
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.learning.question import Question

__all__ = [
    "SAID",
    "allowed",
    "check_parameters",
    "given",
    "merged",
    "point_overrides",
    "searchable",
    "setting_path",
    "with_parameters",
]

SAID = {
    ("seed",): "seed",
    ("lstm", "epochs"): "epochs",
    ("lstm", "patience"): "early_stopping: {patience: …}",
}
"""Settings that the config has keys of its own for."""

FIXED = frozenset({*SAID, ("lstm", "device")})
"""Settings that are never searched: the same for all runs, or of no effect on what is learned."""

S = TypeVar("S", bound=QuestionSettings)

INTERIOR = 64
LEAST_SHARE = 0.02


def searchable(question: Question[Any]) -> dict[str, tuple[str, ...]]:
    """Names of all parameters that may be searched, with the path of the setting that each means.

    These are what `Question.searched` names; a bare name is looked for in each section, and names
    of two sections never collide. A dotted name is always understood. All other settings say what
    is asked and on which part it is judged: runs that differ in them could not be compared.
    """
    found: dict[str, tuple[str, ...]] = {}
    for name in question.searched:
        section = question.settings.model_fields[name].annotation
        if isinstance(section, type) and issubclass(section, pydantic.BaseModel):
            for one in section.model_fields:
                if (name, one) not in FIXED:
                    found[one] = found[f"{name}.{one}"] = (name, one)
        else:
            found[name] = (name,)
    return found


def setting_path(question: Question[Any], name: str) -> tuple[str, ...]:
    """The path within the question's settings that a parameter's name means.

    Raises:
        ValueError: it is none that may be searched; names the nearest.
    """
    valid = searchable(question)
    if name in valid:
        return valid[name]
    said = SAID.get(tuple(name.split("."))) or SAID.get(("lstm", name))
    if said:
        raise ValueError(f"parameter {name!r} is the same for all runs; it is set by {said}")
    if name in {"device", "lstm.device"}:
        raise ValueError(
            f"parameter {name!r} is not searched; give it under 'settings', for all runs"
        )
    if name.partition(".")[0] in set(question.settings.model_fields) - set(question.searched):
        raise ValueError(
            f"parameter {name!r} says what is asked, or how it is judged, and runs that differ in "
            "it cannot be compared; give it under 'settings', for all runs"
        )
    near = difflib.get_close_matches(name, valid, 3, 0.5)
    known = near or [bare for bare in valid if "." not in bare]
    are = ("the nearest" if near else "there") + (" is" if len(known) == 1 else " are")
    raise ValueError(f"parameter {printable(name, 60)!r} is unknown; {are} {', '.join(known)}")


def point_overrides(question: Question[Any], point: Mapping[str, Any]) -> dict[str, Any]:
    """A point as settings of the question: ``{"m": 20}`` becomes ``{"frames": {"m": 20}}``.

    Raises:
        ValueError: a name is no parameter, or two mean one setting.
    """
    tree: dict[str, Any] = {}
    for name, value in point.items():
        path = setting_path(question, name)
        branch = tree
        for part in path[:-1]:
            branch = branch.setdefault(part, {})
        if path[-1] in branch:
            raise ValueError(f"parameter {name!r} means a setting that the point has twice")
        branch[path[-1]] = value
    return tree


def with_parameters(question: Question[Any], settings: S, point: Mapping[str, Any]) -> S:
    """The settings that all runs share, with a point's values in their places.

    Args:
        question: that is asked.
        settings: of the question.
        point: values by the names that `searchable` gives.

    Raises:
        SettingsError: a name is unknown or its value bad, or two mean one setting.
    """
    try:
        tree = merged(settings.model_dump(), point_overrides(question, point))
        return type(settings).model_validate(tree)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise SettingsError(f"{name}: {first['msg']} (given {shown(first['input'])})") from None
    except ValueError as error:
        raise SettingsError(str(error)) from None


def merged(tree: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Two nested mappings in one; where both have a value the other's stands."""
    both = dict(tree)
    for key, theirs in other.items():
        mine = both.get(key)
        if isinstance(theirs, Mapping) and isinstance(mine, Mapping):
            both[key] = merged(mine, theirs)
        else:
            both[key] = theirs
    return both


def allowed(question: Question[Any], name: str, value: Any) -> str | None:
    """Why the setting that a parameter means refuses a value; None where it takes it."""
    if isinstance(value, bool):
        return "it is a truth value"  # which pydantic would take for a number
    try:
        question.settings.model_validate(point_overrides(question, {name: value}))
    except pydantic.ValidationError as error:
        return str(error.errors()[0]["msg"])
    return None


def given(tree: Any, path: Iterable[str]) -> bool:
    """Whether a nested mapping has something at a path."""
    for part in path:
        if not isinstance(tree, Mapping) or part not in tree:
            return False
        tree = tree[part]
    return True


def check_parameters(question: Question[Any], parameters: Iterable[Parameter]) -> None:
    """Check that parameters mean settings, each its own, and give values that these allow.

    Raises:
        ConfigProblem: a name is unknown, two mean one setting, or a value is none that it allows.
    """
    taken: dict[tuple[str, ...], str] = {}
    for one in parameters:
        try:
            path = setting_path(question, one.name)
        except ValueError as error:
            raise ConfigProblem(one.location, str(error)) from None
        if path in taken:
            raise ConfigProblem(
                one.location,
                f"parameters {taken[path]!r} and {one.name!r} mean one setting; keep one",
            )
        taken[path] = one.name
        _check_values(question, one)


def _check_values(question: Question[Any], one: Parameter) -> None:
    if one.listed:
        for at, value in enumerate(one.values):
            if why := allowed(question, one.name, value):
                key: Location = ("value",) if one.distribution == "constant" else ("values", at)
                raise ConfigProblem((*one.location, *key), _refused(one, value, why))
    elif one.bounded:
        for key, value in _samples(one):
            if why := allowed(question, one.name, value):
                raise ConfigProblem((*one.location, *key), _refused(one, value, why))
    else:
        _check_share(question, one)


def _refused(one: Parameter, value: Any, why: str) -> str:
    said = f"parameter {one.name!r}: "
    if one.listed:
        return f"{said}{shown(value)} is not allowed: {why}"
    return f"{said}{one.distribution} gives {shown(value)}, which is not allowed: {_advised(why)}"


def _advised(why: str) -> str:
    integers = "valid integer" in why
    return f"{why}; int_uniform, and distributions with q: 1, give integers" if integers else why


def _samples(one: Parameter) -> Iterator[tuple[Location, Any]]:
    """Values of a bounded range: near its ends, then inside, with the key that is to blame."""
    if "beta" in one.distribution:
        ends: tuple[Location, Location] = (), ()
        inset = 1e-4
    else:
        swapped = one.distribution == "inv_log_uniform"
        ends = (("max",), ("min",)) if swapped else (("min",), ("max",))
        inset = 1e-9
    # The very ends of a continuous range are all but never drawn, and drawn again: (0, 0.1] is
    # meant by min: 0, max: 0.1 where 0 is not allowed.
    if one.quantised or one.distribution == "int_uniform":
        inset = 0.0
    yield ends[0], quantile(one, inset)
    yield ends[1], quantile(one, 1.0 - inset)
    for step in range(INTERIOR):
        yield (), quantile(one, (step + 0.5) / INTERIOR)


def _check_share(question: Question[Any], one: Parameter) -> None:
    """Draws that a setting refuses are drawn again, so enough of them must be allowed."""
    drawn = [quantile(one, (step + 0.5) / 1000) for step in range(1000)]
    bad = [(value, why) for value in drawn if (why := allowed(question, one.name, value))]
    if len(bad) > (1 - LEAST_SHARE) * len(drawn):
        value, why = bad[len(bad) // 2]
        raise ConfigProblem(
            one.location,
            f"parameter {one.name!r}: of 1000 values hardly one is allowed; "
            f"{one.distribution} gives such as {shown(value)}: {_advised(why)}",
        )
