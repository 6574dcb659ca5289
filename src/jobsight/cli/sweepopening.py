"""Sweeps that the command line names: by a config file, or by the folder that was made of one."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobsight.cli.common import load_settings, progress_bar

if TYPE_CHECKING:
    from jobsight.cluster import Plan, Scheduler
    from jobsight.learning.sweep.layout import Frozen, Layout
    from jobsight.learning.sweep.planning import Planned
    from jobsight.learning.sweep.progress import Progress

__all__ = [
    "FileArgument",
    "is_done",
    "layout_of",
    "open_sweep",
    "plan_sweep",
    "progress_now",
    "scheduler_named",
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
    from jobsight.learning.sweep.config import SweepConfig
    from jobsight.learning.sweep.layout import Layout

    if file.is_dir():
        return Layout(file.resolve())
    return Layout.beside(file, SweepConfig.read(file).folder)


def open_sweep(file: Path, *, moved: bool = False) -> tuple[Frozen, Layout, Plan]:
    """A sweep that was planned; `moved`: also one whose folder was moved since."""
    from jobsight.learning.sweep.layout import read_frozen
    from jobsight.learning.sweep.planning import read_plan

    layout = layout_of(file)
    return read_frozen(layout.folder), layout, read_plan(layout, moved=moved)


def was_moved(planned: Plan, layout: Layout) -> bool:
    """Whether the folder lies elsewhere than when it was planned, so that no scheduler knows it."""
    return planned.folder != layout.folder.resolve()


def is_done(frozen: Frozen, layout: Layout) -> bool:
    """Whether nothing is left to do, by hand or by a scheduler."""
    from jobsight.learning.sweep.best import is_collected
    from jobsight.learning.sweep.records import read_all

    return is_collected(frozen, layout, read_all(layout.runs))


def plan_sweep(file: Path, settings_file: Path | None) -> tuple[Planned, list[Path]]:
    """Plan the sweep of a config file, and write what its scheduler is handed.

    Returns:
        the sweep, and the scheduler's files; none where it works on it already.
    """
    from jobsight.cli.reading import are_documents
    from jobsight.errors import UsageError
    from jobsight.learning.sweep.config import SweepConfig, data_place
    from jobsight.learning.sweep.layout import Layout
    from jobsight.learning.sweep.planning import freeze, lay_out
    from jobsight.learning.sweep.shards import shards_of

    if file.is_dir():
        raise UsageError(f"{file} is a folder; name the sweep's config file, to plan or submit it")
    told = SweepConfig.read(file)
    settings = load_settings(settings_file, {})
    base = file.absolute().parent
    # The store that is set here may be another where nodes run.
    data = [settings.store.url if one == "store:" else one for one in told.data]
    place = partial(data_place, file)
    shards = shards_of(data, base=base, are_documents=are_documents, place=place)
    reading = {
        "timezone": settings.timezone,
        "access_point": settings.access_point,
        "registry": str(settings.registry.absolute()),
    }
    layout = Layout.beside(file, told.folder)
    active = _is_active(layout, settings_file)
    frozen = freeze(told, reading, shards, base=base)
    program = (sys.executable, "-m", "jobsight")
    with progress_bar("planning") as progress:
        planned = lay_out(frozen, layout, program, active=active, progress=progress)
    _make_server_sweep(planned.frozen, layout)
    return planned, [] if active else scheduler_named(told.where, settings_file).write(planned.plan)


def _make_server_sweep(frozen: Frozen, layout: Layout) -> None:
    """Make the sweep on the tracking server, where one is to decide and none was made yet.

    Raises:
        SweepError: the server cannot be reached, or refuses; nothing was started.
    """
    from jobsight.files import write_json
    from jobsight.learning.sweep.config import SweepConfig
    from jobsight.learning.sweep.definition import to_wandb
    from jobsight.learning.tracking import create_sweep

    config, told = frozen.config, frozen.config["tracking"]
    if told["wandb"] != "online" or layout.tracking.exists():
        return
    definition = {
        **to_wandb(SweepConfig.model_validate(config)),
        "name": layout.name,
        "metric": {"name": f"kept.{config['metric']['name']}", "goal": config["metric"]["goal"]},
    }
    sweep = create_sweep(definition, project=told["project"], entity=told["entity"])
    write_json(layout.tracking, {"sweep": sweep, "project": told["project"]})


def _is_active(layout: Layout, settings_file: Path | None) -> bool:
    """Whether a scheduler works on what was planned before; a plan that cannot be read: no."""
    from jobsight.errors import SweepError
    from jobsight.learning.sweep.layout import read_frozen
    from jobsight.learning.sweep.planning import read_plan

    try:
        before, found = read_frozen(layout.folder), read_plan(layout)
    except SweepError:
        return False
    return scheduler_named(str(before.config["where"]), settings_file).status(found).active


def scheduler_named(where: str, settings_file: Path | None) -> Scheduler:
    """The scheduler of that name; Slurm's tools as the settings have them."""
    from jobsight.cluster import create

    return create(where, load_settings(settings_file, {}) if where == "slurm" else None)


def progress_now(
    frozen: Frozen, layout: Layout, planned: Plan, settings_file: Path | None = None
) -> Progress:
    """How far a sweep is, by its scheduler and its records; of one that was moved, by these."""
    from jobsight.learning.sweep.progress import progress_of

    if was_moved(planned, layout):
        return progress_of(frozen, layout, planned, None)
    told = scheduler_named(str(frozen.config["where"]), settings_file).status(planned)
    return progress_of(frozen, layout, planned, told)
