"""Sweeps that the command line names: by a config file, or by the folder that was made of one."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import typer

from jobsight.cli.common import load_settings
from jobsight.cluster import create
from jobsight.learning.sweep.best import is_collected
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.layout import Layout, read_frozen
from jobsight.learning.sweep.planning import read_plan
from jobsight.learning.sweep.progress import progress_of
from jobsight.learning.sweep.records import read_all

if TYPE_CHECKING:
    from jobsight.cluster import Plan, Scheduler
    from jobsight.learning.sweep.layout import Frozen
    from jobsight.learning.sweep.progress import Progress

__all__ = ["FileArgument", "Sweep", "command", "layout_of"]

FileArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="The sweep's config (YAML), or its folder.", show_default=False
    ),
]


@dataclass(frozen=True)
class Sweep:
    """A sweep that was planned.

    Attributes:
        file: its config file or folder, as the user named it.
        frozen: its config, as planned.
        layout: its places.
        plan: its nodes.
        settings: the settings file that the call names.
    """

    file: Path
    frozen: Frozen
    layout: Layout
    plan: Plan
    settings: Path | None = None

    @classmethod
    def open(cls, file: Path, settings: Path | None = None, *, moved: bool = False) -> Self:
        """Read a sweep; `moved`: also one whose folder was moved since it was planned."""
        layout = layout_of(file)
        return cls(
            file, read_frozen(layout.folder), layout, read_plan(layout, moved=moved), settings
        )

    @property
    def where(self) -> str:
        """Name of the scheduler."""
        return str(self.frozen.config["where"])

    @property
    def moved(self) -> bool:
        """Whether the folder was moved since it was planned, so that no scheduler knows it."""
        return self.plan.folder != self.layout.folder.resolve()

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do, by hand or by a scheduler."""
        return is_collected(self.frozen, self.layout, read_all(self.layout.runs))

    def scheduler(self) -> Scheduler:
        """Who works on it."""
        # Slurm's tools are as the settings have them.
        settings = load_settings(self.settings, {}) if self.where == "slurm" else None
        return create(self.where, settings)

    def progress(self) -> Progress:
        """How far it is, by its scheduler and its records; of one that was moved, by these."""
        status = None if self.moved else self.scheduler().status(self.plan)
        return progress_of(self.frozen, self.layout, self.plan, status)


def layout_of(file: Path) -> Layout:
    """The places of a sweep, by its config file or its folder."""
    if file.is_dir():
        return Layout(file.resolve())
    return Layout.beside(file, SweepConfig.read(file).folder)


def command(verb: str, file: Path) -> str:
    """What to type next, for a shell."""
    return f"jobsight sweep {verb} {shlex.quote(str(file))}"
