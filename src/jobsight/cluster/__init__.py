"""Plans of work, and the schedulers that run them: DAGMan, Slurm, and this machine.

A plan (`plan`) is submitted to a scheduler (`base`). There is no scheduler of our own: DAGMan,
Slurm, or processes here run it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobsight.cluster.base import SUBMITTED, NodeState, NodeStatus, PlanStatus, Scheduler
from jobsight.cluster.plan import CHECKPOINT, Node, Option, Plan, Program, Resources, Stage

if TYPE_CHECKING:
    from jobsight.settings import Settings

__all__ = [
    "CHECKPOINT",
    "NAMES",
    "SUBMITTED",
    "Node",
    "NodeState",
    "NodeStatus",
    "Option",
    "Plan",
    "PlanStatus",
    "Program",
    "Resources",
    "Scheduler",
    "Stage",
    "create",
]

NAMES = ("dagman", "slurm", "here")


def create(name: str, settings: Settings | None = None) -> Scheduler:
    """The scheduler of a name in `NAMES`; `settings` say how its tools are run."""
    if name == "dagman":
        from jobsight.cluster.dagman import Dagman

        return Dagman()
    if name == "slurm":
        from jobsight.cluster.slurm import Slurm

        return Slurm(settings.slurm if settings is not None else None)
    from jobsight.cluster.local import Local

    return Local()
