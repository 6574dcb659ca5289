"""Sweeps that the command line names: by a config file, or by the folder that was made of one."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobsight.cli.common import load_settings
from jobsight.cluster import create
from jobsight.learning.sweep.best import is_collected
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.layout import Layout, read_frozen
from jobsight.learning.sweep.planning import read_plan
from jobsight.learning.sweep.progress import progress_of
from jobsight.learning.sweep.records import read_all
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.cluster import Plan, Scheduler
    from jobsight.learning.sweep.layout import Frozen
    from jobsight.learning.sweep.progress import Progress

__all__ = [
    "FileArgument",
    "command",
    "is_done",
    "layout_of",
    "number",
    "open_sweep",
    "progress_now",
    "scheduler_named",
    "size",
    "was_moved",
]

FileArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="The sweep's config (YAML), or its folder.", show_default=False
    ),
]


def layout_of(file: Path) -> Layout:
    """The places of a sweep, by its config file or its folder."""
    if file.is_dir():
        return Layout(file.resolve())
    return Layout.beside(file, SweepConfig.read(file).folder)


def open_sweep(file: Path, *, moved: bool = False) -> tuple[Frozen, Layout, Plan]:
    """A sweep that was planned; `moved`: also one whose folder was moved since."""
    layout = layout_of(file)
    return read_frozen(layout.folder), layout, read_plan(layout, moved=moved)


def was_moved(planned: Plan, layout: Layout) -> bool:
    """Whether the folder lies elsewhere than when it was planned, so that no scheduler knows it."""
    return planned.folder != layout.folder.resolve()


def is_done(frozen: Frozen, layout: Layout) -> bool:
    """Whether nothing is left to do, by hand or by a scheduler."""
    return is_collected(frozen, layout, read_all(layout.runs))


def scheduler_named(where: str, settings_file: Path | None) -> Scheduler:
    """The scheduler of that name; Slurm's tools as the settings have them."""
    return create(where, load_settings(settings_file, {}) if where == "slurm" else None)


def progress_now(
    frozen: Frozen, layout: Layout, planned: Plan, settings_file: Path | None = None
) -> Progress:
    """How far a sweep is, by its scheduler and its records; of one that was moved, by these."""
    if was_moved(planned, layout):
        return progress_of(frozen, layout, planned, None)
    told = scheduler_named(str(frozen.config["where"]), settings_file).status(planned)
    return progress_of(frozen, layout, planned, told)


def command(verb: str, file: Path) -> str:
    """What to type next, for a shell."""
    return f"jobsight sweep {verb} {shlex.quote(str(file))}"


def number(value: object) -> str:
    """A parameter or a metric in few letters."""
    if isinstance(value, bool) or not isinstance(value, float):
        return printable(value, 24)
    return f"{value:.4g}"


def size(amount: float) -> str:
    """Bytes in words: ``33.2 MB``."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    raise AssertionError("unreachable")
