"""A sweep as it is described to W&B's server, and the points that it gives back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from jobsight.errors import SweepError
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.distributions import ends
from jobsight.learning.sweep.parameters import Parameter
from jobsight.settings.yamlfiles import shown

__all__ = ["from_wandb", "to_wandb"]


def to_wandb(config: SweepConfig) -> dict[str, Any]:
    """The definition of the config's sweep, in the schema of W&B's sweeps.

    Distributions are named in full. Those whose bounds are exponents, which its server deprecates,
    are sent with their values' own bounds; what is drawn is the same.
    """
    return {
        "method": config.method,
        "metric": {"name": config.metric.name, "goal": config.metric.goal},
        "parameters": _section(config.space),
        "run_cap": config.runs,
    }


def _section(space: tuple[Parameter, ...]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for one in space:
        branch = tree
        for key in one.location[:-1]:
            branch = branch.setdefault(key, {})
        branch[one.location[-1]] = _described(one)
    return tree


def _described(one: Parameter) -> dict[str, Any]:
    if one.distribution == "constant":
        return {"distribution": "constant", "value": one.values[0]}
    if one.probabilities:
        chances = {"values": one.values, "probabilities": one.probabilities}
        return {"distribution": "categorical_w_probabilities", **chances}
    if one.listed:
        return {"distribution": "categorical", "values": one.values}
    if one.distribution in {"log_uniform", "q_log_uniform", "inv_log_uniform"}:
        low, high = map(math.exp, ends(one))
        bounds = {"min": low, "max": high}
        return {"distribution": f"{one.distribution}_values", **one.numbers, **bounds}
    return {"distribution": one.distribution, **one.numbers}


def from_wandb(config: SweepConfig, given: Mapping[str, Any]) -> dict[str, Any]:
    """A point that W&B's server gave for a run, by the parameters' names.

    Args:
        config: of the sweep.
        given: values by name; those of groups nested.

    Raises:
        SweepError: it lacks a parameter or has one too many, so it is of another sweep.
    """
    point: dict[str, Any] = {}
    for one in config.space:
        value: Any = given
        for key in one.location[::2]:
            if not isinstance(value, Mapping) or key not in value:
                raise SweepError(
                    f"the server's point lacks {one.name!r}: its sweep is not the one of this "
                    "config; plan the sweep into another folder"
                )
            value = value[key]
        point[one.name] = value
    unknown = set(given) - {one.location[0] for one in config.space}
    if unknown:
        raise SweepError(
            f"the server's point has {shown(min(unknown))}, which the config does not search; "
            "plan the sweep into another folder"
        )
    return point
