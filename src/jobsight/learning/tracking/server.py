"""Sweeps whose points a W&B server decides.

Both go through the SDK's public calls, ``wandb.sweep`` and ``wandb.agent(count=1)``. The server
learns the host name of the machine that asks for a point: its agents are named so.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from jobsight.errors import SweepError
from jobsight.learning.tracking.child import SdkError, SdkProcess, require_sdk

__all__ = ["ServerPoint", "create_sweep", "next_point"]


class ServerPoint(NamedTuple):
    """A point: the run's id on the server, for `WandbOptions.run_id`, and its parameters."""

    run_id: str
    parameters: dict[str, Any]


def create_sweep(
    definition: Mapping[str, Any], *, project: str, entity: str | None = None, patience: float = 60
) -> str:
    """Make a sweep on the server, within `patience` seconds; its id.

    `definition` is in W&B's own schema (``method``, ``metric``, ``parameters``, …); `entity` a user
    or team, None for the key's own.

    Raises:
        UsageError: the SDK is not installed.
        SweepError: the server cannot be reached, refuses the key or the definition; says why.
    """
    values = {"definition": dict(definition), "project": project, "entity": entity}
    found = _asked("sweep", values, patience)
    if not isinstance(found, str) or not found:
        raise SweepError("the Weights & Biases server made no sweep; see its project's page")
    return found


def next_point(
    sweep_id: str, *, project: str, entity: str | None = None, patience: float = 60
) -> ServerPoint:
    """Ask the sweep's server which point is tried next; the same is not given twice.

    Arguments as of `create_sweep`; a server that gives nothing in time counts as out of reach.

    Raises:
        UsageError: the SDK is not installed.
        SweepError: the server cannot be reached or refuses the key, or its sweep has no more points
            (a grid that is used up, a sweep that was stopped there).
    """
    values = {"sweep": sweep_id, "project": project, "entity": entity}
    found = _asked("point", values, patience)
    if found is None:
        raise SweepError(
            f"the Weights & Biases server has no more points for the sweep {sweep_id[:80]!r}; it "
            "was stopped there, or its grid is used up"
        )
    return ServerPoint(str(found["id"]), dict(found["parameters"]))


def _asked(verb: str, values: Mapping[str, Any], patience: float) -> Any:
    require_sdk()
    try:
        with contextlib.closing(SdkProcess(online=True)) as sdk:
            return sdk.ask(verb, values, patience)
    except (SdkError, OSError) as error:
        raise SweepError(
            f"Weights & Biases: {error}; check the network, WANDB_BASE_URL and the key, or write "
            "'wandb: offline' under 'tracking', then the points are drawn here"
        ) from None
