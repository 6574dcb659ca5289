"""``jobsight sweep plan|submit``: make a sweep of a config file, and start it."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobsight.cli.common import ConfigOption, JsonOption, load_settings
from jobsight.cli.output import note, print_json, progress_bar, say
from jobsight.cli.sweepopening import command, is_done, number, progress_now, scheduler_named, size
from jobsight.cli.sweepstatus import show
from jobsight.cli.terminal import Column, grid, width
from jobsight.clock import format_span
from jobsight.errors import SweepError, UsageError
from jobsight.files import write_json
from jobsight.learning.reading import are_documents
from jobsight.learning.sweep.config import SweepConfig, data_place
from jobsight.learning.sweep.definition import to_wandb
from jobsight.learning.sweep.layout import Layout, read_frozen, read_point
from jobsight.learning.sweep.planning import freeze, lay_out, read_plan
from jobsight.learning.sweep.shards import shards_of
from jobsight.learning.tracking import create_sweep
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.learning.sweep.layout import Frozen
    from jobsight.learning.sweep.planning import Planned
    from jobsight.learning.sweep.progress import Progress

__all__ = ["plan", "plan_json", "plan_lines", "submit"]

_SHOWN_POINTS = 5
_ConfigFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="The sweep's config (YAML).", show_default=False)
]


def plan(file: _ConfigFile, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Write everything that the sweep needs into its folder; start nothing."""
    planned, files = plan_sweep(file, config)
    if as_json:
        print_json(plan_json(planned, files))
        return
    for line in plan_lines(planned, files):
        say(line)
    wrote = "wrote" if planned.changed else "nothing has changed in"
    say(f"{wrote} {planned.layout.folder}; start it with: {command('submit', file)}")


def submit(file: _ConfigFile, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Hand the sweep over, or go on with it where it stopped; here: run it, and wait for it."""
    planned, _ = plan_sweep(file, config)
    where = str(planned.frozen.config["where"])
    if is_done(planned.frozen, planned.layout):
        note(f"all is done; see: {command('best', file)}")
        return
    scheduler = scheduler_named(where, config)
    if where == "here":
        with _telling(planned):
            scheduler.submit(planned.plan)
        progress = progress_now(planned.frozen, planned.layout, planned.plan)
        show(progress, where, as_json=as_json)
        _require_done(progress, file)
        return
    job = scheduler.submit(planned.plan)
    if as_json:
        print_json({"folder": str(planned.layout.folder), "where": where, "id": job})
    else:
        say(f"handed over to {where} as {job}; see: {command('status', file)}")


@contextlib.contextmanager
def _telling(planned: Planned) -> Iterator[None]:
    """Show how many epochs were trained, while the block runs, if somebody looks on."""
    if not sys.stderr.isatty():
        yield
        return
    stop = threading.Event()

    def look() -> None:
        while not stop.wait(1.0):
            now = progress_now(planned.frozen, planned.layout, planned.plan)
            ended = now.ended * int(planned.frozen.config["epochs"])
            going = sum(one.epochs for one in now.runs if one.state == "running")
            report(min(ended + going, now.epochs_most), now.epochs_most)

    with progress_bar("training") as report:
        thread = threading.Thread(target=look, name="jobsight-telling", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


def _require_done(progress: Progress, file: Path) -> None:
    """Leave with an error if the sweep is not done."""
    if not progress.done:
        first = next(iter(progress.troubles), None)
        why = f"{first.what} {first.state}: {first.cause}" if first else "it was stopped"
        raise SweepError(f"the sweep is not done: {why}; go on with: {command('submit', file)}")


def plan_sweep(file: Path, settings_file: Path | None) -> tuple[Planned, list[Path]]:
    """Plan the sweep of a config file, and write what its scheduler is handed.

    Returns:
        the sweep, and the scheduler's files; none where it works on it already.
    """
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
    try:
        before, found = read_frozen(layout.folder), read_plan(layout)
    except SweepError:
        return False
    return scheduler_named(str(before.config["where"]), settings_file).status(found).active


def plan_json(planned: Planned, files: list[Path]) -> dict[str, Any]:
    """The plan as plain data."""
    layout, frozen = planned.layout, planned.frozen
    return {
        "folder": str(layout.folder),
        "changed": planned.changed,
        "sweep": frozen.digest,
        "where": frozen.config["where"],
        "shared": frozen.shared,
        "runs": frozen.runs,
        "first": frozen.first,
        "stages": {stage.name: len(stage.nodes) for stage in planned.plan.stages},
        "shards": {shard.name: list(shard.inputs) for shard in frozen.shards},
        "points": {str(run): point for run, point in _points(planned, frozen.runs)},
        "files": [str(file) for file in files],
    }


def _points(planned: Planned, most: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The points that are known, of so many runs at most."""
    found = 0
    for run in range(planned.frozen.first, planned.frozen.runs + 1):
        if found < most and planned.layout.point(run).exists():
            found += 1
            yield run, read_point(planned.layout.folder, run)


def plan_lines(planned: Planned, files: list[Path]) -> Iterator[str]:
    """The plan in short: what is searched, on what, in which nodes, what will be asked for."""
    frozen, config = planned.frozen, planned.frozen.config
    metric, goal = frozen.metric
    most = "highest" if goal == "maximize" else "lowest"
    first = f" (of which {frozen.first - 1} have ended)" if frozen.first > 1 else ""
    yield (
        f"{counted(frozen.runs, 'run')}{first} of at most {counted(config['epochs'], 'epoch')}, "
        f"{config['method']}, seed {frozen.seed}; best by the {most} {metric}"
    )
    yield f"  data      {_data(frozen)}"
    stages = ", ".join(f"{stage.name} {len(stage.nodes)}" for stage in planned.plan.stages)
    yield f"  nodes     {printable(stages, 300)}"
    yield f"  each run  {_resources(config['resources'])}"
    yield f"  where     {_where(frozen)}"
    if config["tracking"]["wandb"] != "off":
        yield f"  tracking  Weights & Biases {config['tracking']['wandb']}"
    if files:
        names = ", ".join(file.name for file in files[:6]) + (", …" if len(files) > 6 else "")
        yield f"  files     {counted(len(files), 'file')} for the scheduler: {names}"
    yield from _point_lines(planned)


def _data(frozen: Frozen) -> str:
    inputs = [one for shard in frozen.shards for one in shard.inputs]
    files = [Path(one) for one in inputs if Path(one).is_file()]
    amount = f" ({size(sum(file.stat().st_size for file in files))})" if files else ""
    return (
        f"{counted(len(inputs), 'input')}{amount}, parsed in {counted(len(frozen.shards), 'shard')}"
    )


def _resources(asked: dict[str, Any]) -> str:
    parts = [
        counted(asked["cpus"], "core"),
        f"{asked['memory']:,} MiB of memory",
        f"{asked['disk']:,} MiB of disk",
    ]
    parts += [counted(asked["gpus"], "GPU")] if asked["gpus"] else []
    parts += [format_span(asked["time"]) + " at a time"] if asked["time"] else []
    return ", ".join(parts)


def _where(frozen: Frozen) -> str:
    config = frozen.config
    names = {
        "here": "here, as processes of this machine",
        "dagman": "HTCondor, by DAGMan",
        "slurm": "Slurm",
    }
    files = "all see one file system" if frozen.shared else f"files are {_sent(config)}"
    program = config["program"]
    by = f"; in {printable(program['image'], 80)}" if program["image"] else ""
    by = f"; by the pack {printable(program['pack'], 80)}" if program["pack"] else by
    return names[config["where"]] + ("" if config["where"] == "here" else f"; {files}") + by


def _sent(config: Mapping[str, Any]) -> str:
    """How files come and go where nodes are sent them."""
    every = config["save_every"]
    if every == "off":
        return "sent and fetched"
    often = "10 min" if every == "auto" else format_span(every)
    return f"sent, and fetched every {often} of training"


def _point_lines(planned: Planned) -> list[str]:
    """The first points as a table; nothing where a server decides."""
    points = list(_points(planned, _SHOWN_POINTS))
    if not points:
        return []
    names = list(points[0][1])
    rows = [[str(run), *(number(point.get(name)) for name in names)] for run, point in points]
    columns = [Column("run", right=True)]
    columns += [
        Column(printable(name, 24), right=True, spare=k) for k, name in enumerate(names, start=1)
    ]
    lines = grid(columns, rows, most=width())
    more = planned.frozen.runs - planned.frozen.first + 1 - len(points)
    return [*lines, f"… and {more} more"] if more > 0 else lines
