"""The schedulers that run sweeps, by a config's `where`; a new one is a file here, and its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobsight.tuning.scheduler import Scheduler

if TYPE_CHECKING:
    from jobsight.settings import Settings

__all__ = ["scheduler_of"]


def scheduler_of(where: str, settings: Settings | None = None) -> Scheduler:
    """The scheduler of a config's `where`; `settings` say how Slurm's tools are run."""
    if where == "dagman":
        from jobsight.tuning.dagman import Dagman

        return Dagman()
    if where == "slurm":
        from jobsight.tuning.slurm import Slurm

        return Slurm(None if settings is None else settings.slurm)
    from jobsight.tuning.here import Here

    return Here()
