"""Sweeps that a W&B server decides: made there, and asked for a point a run.

Both go through the SDK's public calls, ``wandb.sweep`` and ``wandb.agent(count=1)``. The server
learns the host name of the machine that asks for a point: its agents are named so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobsight.errors import SweepError
from jobsight.learning.tracking.child import SdkError, SdkProcess, require_sdk

__all__ = ["ServerPoint", "create_sweep", "next_point"]


@dataclass(frozen=True)
class ServerPoint:
    """What a server gave a run.

    Attributes:
        run_id: its name there, for `WandbOptions.run_id`.
        parameters: the point, as JSON data.
    """

    run_id: str
    parameters: dict[str, Any]


def create_sweep(
    definition: Mapping[str, Any], *, project: str, entity: str | None = None, patience: float = 60
) -> str:
    """Make a sweep on the server.

    Args:
        definition: in W&B's own schema: ``method``, ``metric``, ``parameters``, …
        project: of W&B.
        entity: user or team; None for the key's own.
        patience: most seconds to wait.

    Returns:
        Its id, for `next_point` and `WandbOptions.sweep_id`.

    Raises:
        UsageError: the SDK is not installed.
        SweepError: the server cannot be reached, refuses the key or the definition; says why.
    """
    told = {"definition": dict(definition), "project": project, "entity": entity}
    found = _asked("sweep", told, patience)
    if not isinstance(found, str) or not found:
        raise SweepError("the Weights & Biases server made no sweep; see its project's page")
    return found


def next_point(
    sweep_id: str, *, project: str, entity: str | None = None, patience: float = 60
) -> ServerPoint:
    """Ask the sweep's server which point is tried next; keep it, the same is not given twice.

    Args:
        sweep_id: of `create_sweep`.
        project: as there.
        entity: as there.
        patience: most seconds to wait; a server that gives nothing meanwhile counts as out of
            reach.

    Raises:
        UsageError: the SDK is not installed.
        SweepError: the server cannot be reached or refuses the key, or its sweep has no more
            points (a grid that is used up, a sweep that was stopped there).
    """
    told = {"sweep": sweep_id, "project": project, "entity": entity}
    found = _asked("point", told, patience)
    if found is None:
        raise SweepError(
            f"the Weights & Biases server has no more points for the sweep {sweep_id[:80]!r}; it "
            "was stopped there, or its grid is used up"
        )
    return ServerPoint(str(found["id"]), dict(found["parameters"]))


def _asked(verb: str, told: Mapping[str, Any], patience: float) -> Any:
    require_sdk()
    sdk = None
    try:
        sdk = SdkProcess(online=True)
        return sdk.ask(verb, told, patience)
    except (SdkError, OSError) as trouble:
        raise SweepError(
            f"Weights & Biases: {trouble}; check the network, WANDB_BASE_URL and the key, or write "
            "'wandb: offline' under 'tracking', then the points are drawn here"
        ) from None
    finally:
        if sdk is not None:
            sdk.close()
