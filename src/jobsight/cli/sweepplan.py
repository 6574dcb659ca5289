"""``jobsight sweep plan|submit``: make a sweep of a config file, and start it."""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobsight.cli.common import ConfigOption, JsonOption, load_settings
from jobsight.cli.output import answer, note, progress_bar
from jobsight.cli.sweepopening import Sweep, command
from jobsight.cli.sweepstatus import show
from jobsight.cli.tables import table
from jobsight.errors import SweepError, UsageError
from jobsight.files import write_json
from jobsight.format import short, size, span
from jobsight.learning.reading import are_documents
from jobsight.learning.sweep.config import SweepConfig, data_place
from jobsight.learning.sweep.definition import to_wandb
from jobsight.learning.sweep.layout import Layout, read_point
from jobsight.learning.sweep.planning import freeze, lay_out
from jobsight.learning.sweep.shards import shards_of
from jobsight.learning.tracking import create_sweep
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.learning.sweep.layout import Frozen

__all__ = ["plan", "submit"]

_POINTS = 5
_WHERE = {
    "here": "here, as processes of this machine",
    "dagman": "HTCondor, by DAGMan",
    "slurm": "Slurm",
}
_ConfigFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="The sweep's config (YAML).", show_default=False)
]


def plan(file: _ConfigFile, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Write everything that the sweep needs into its folder; start nothing."""
    sweep, changed, files = _plan(file, config)
    wrote = "wrote" if changed else "nothing has changed in"
    last = f"{wrote} {sweep.layout.folder}; start it with: {command('submit', file)}"
    facts = _as_json(sweep, files, changed=changed)
    answer(facts, "\n".join([*_lines(sweep, files), last]), as_json=as_json)


def submit(file: _ConfigFile, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Start the sweep, or continue it where it stopped; here: run it, and wait for it."""
    sweep, _, _ = _plan(file, config)
    if sweep.is_done:
        note(f"all is done; see: {command('best', file)}")
    elif sweep.where == "here":
        with _progress(sweep):
            sweep.scheduler().submit(sweep.plan)
        progress = sweep.progress()
        show(progress, sweep.where, as_json=as_json)
        if not progress.done:
            first = next(iter(progress.failures), None)
            why = f"{first.what} {first.state}: {first.cause}" if first else "it was stopped"
            raise SweepError(
                f"the sweep is not done: {why}; continue with: {command('submit', file)}"
            )
    else:
        job = sweep.scheduler().submit(sweep.plan)
        submitted = {"folder": str(sweep.layout.folder), "where": sweep.where, "id": job}
        text = f"submitted to {sweep.where} as {job}; see: {command('status', file)}"
        answer(submitted, text, as_json=as_json)


@contextlib.contextmanager
def _progress(sweep: Sweep) -> Iterator[None]:
    """Show how many epochs were trained, while the block runs, if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    stop = threading.Event()

    def look() -> None:
        while not stop.wait(1.0):
            now = sweep.progress()
            ended = now.ended * int(sweep.frozen.config["epochs"])
            going = sum(one.epochs for one in now.runs if one.state == "running")
            report(min(ended + going, now.epochs_most), now.epochs_most)

    with progress_bar("training") as report:
        thread = threading.Thread(target=look, name="jobsight-progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


def _plan(file: Path, settings_file: Path | None) -> tuple[Sweep, bool, list[Path]]:
    """Plan the sweep of a config file, and write the files of its scheduler.

    Returns:
        the sweep, whether its folder was written, and the scheduler's files; none where it works
        on it already.
    """
    if file.is_dir():
        raise UsageError(f"{file} is a folder; name the sweep's config file, to plan or submit it")
    given = SweepConfig.read(file)
    settings = load_settings(settings_file, {})
    base = file.absolute().parent
    # The store that is set here may be another where nodes run.
    data = [settings.store.url if one == "store:" else one for one in given.data]
    place = partial(data_place, file)
    reads = given.asked.reads
    shards = shards_of(data, base=base, are_documents=are_documents, place=place, reads=reads)
    reading: dict[str, Any] = {
        "timezone": settings.timezone,
        "access_point": settings.access_point,
        "registry": str(settings.registry.absolute()),
    }
    if reads == "jobs":
        names = {"cluster", "timezone", "array_tasks"}
        reading["slurm"] = settings.slurm.model_dump(mode="json", include=names)
    layout = Layout.beside(file, given.folder)
    active = _is_active(file, settings_file)
    frozen = freeze(given, reading, shards, base=base)
    program = (sys.executable, "-m", "jobsight")
    with progress_bar("planning") as progress:
        frozen, plan, changed = lay_out(frozen, layout, program, active=active, progress=progress)
    _make_server_sweep(frozen, layout)
    sweep = Sweep(file, frozen, layout, plan, settings_file)
    return sweep, changed, [] if active else sweep.scheduler().write(plan)


def _make_server_sweep(frozen: Frozen, layout: Layout) -> None:
    """Make the sweep on the tracking server, where one is to decide and none was made yet.

    Raises:
        SweepError: the server cannot be reached, or refuses; nothing was started.
    """
    config, tracking = frozen.config, frozen.config["tracking"]
    if tracking["wandb"] != "online" or layout.tracking.exists():
        return
    definition = {
        **to_wandb(SweepConfig.model_validate(config)),
        "name": layout.name,
        "metric": {"name": f"kept.{config['metric']['name']}", "goal": config["metric"]["goal"]},
    }
    sweep = create_sweep(definition, project=tracking["project"], entity=tracking["entity"])
    write_json(layout.tracking, {"sweep": sweep, "project": tracking["project"]})


def _is_active(file: Path, settings_file: Path | None) -> bool:
    """Whether a scheduler works on what was planned before; a plan that cannot be read: no."""
    try:
        before = Sweep.open(file, settings_file)
    except SweepError:
        return False
    return before.scheduler().status(before.plan).active


def _as_json(sweep: Sweep, files: list[Path], *, changed: bool) -> dict[str, Any]:
    layout, frozen = sweep.layout, sweep.frozen
    return {
        "folder": str(layout.folder),
        "changed": changed,
        "sweep": frozen.digest,
        "where": frozen.config["where"],
        "shared": frozen.shared,
        "runs": frozen.runs,
        "first": frozen.first,
        "stages": {stage.name: len(stage.nodes) for stage in sweep.plan.stages},
        "shards": {shard.name: list(shard.inputs) for shard in frozen.shards},
        "points": {str(run): point for run, point in _points(sweep)},
        "files": [str(file) for file in files],
    }


def _points(sweep: Sweep) -> Iterator[tuple[int, dict[str, Any]]]:
    """The points that are known: none where a server decides."""
    for run in range(sweep.frozen.first, sweep.frozen.runs + 1):
        if sweep.layout.point(run).exists():
            yield run, read_point(sweep.layout.folder, run)


def _lines(sweep: Sweep, files: list[Path]) -> Iterator[str]:
    """The plan in short: what is searched, on what, in which nodes, what will be asked for."""
    frozen, config = sweep.frozen, sweep.frozen.config
    metric, goal = frozen.metric
    most = "highest" if goal == "maximize" else "lowest"
    first = f" (of which {frozen.first - 1} have ended)" if frozen.first > 1 else ""
    yield (
        f"{counted(frozen.runs, 'run')}{first} of at most {counted(config['epochs'], 'epoch')}, "
        f"{config['method']}, seed {frozen.seed}; best by the {most} {metric}"
    )
    inputs = [Path(one) for shard in frozen.shards for one in shard.inputs]
    amount = sum(one.stat().st_size for one in inputs if one.is_file())
    shards = counted(len(frozen.shards), "shard")
    in_all = f" ({size(amount)})" if amount else ""
    yield f"  data      {counted(len(inputs), 'input')}{in_all}, parsed in {shards}"
    stages = ", ".join(f"{stage.name} {len(stage.nodes)}" for stage in sweep.plan.stages)
    yield f"  nodes     {printable(stages, 300)}"
    asked = config["resources"]
    yield (
        f"  each run  {counted(asked['cpus'], 'core')}, {asked['memory']:,} MiB of memory, "
        f"{asked['disk']:,} MiB of disk"
        + (f", {counted(asked['gpus'], 'GPU')}" if asked["gpus"] else "")
        + (f", {span(asked['time'])} at a time" if asked["time"] else "")
    )
    yield f"  where     {_where(frozen)}"
    if config["tracking"]["wandb"] != "off":
        yield f"  tracking  Weights & Biases {config['tracking']['wandb']}"
    if files:
        names = ", ".join(file.name for file in files[:6]) + (", …" if len(files) > 6 else "")
        yield f"  files     {counted(len(files), 'file')} for the scheduler: {names}"
    if points := list(itertools.islice(_points(sweep), _POINTS)):
        keys = list(points[0][1])
        rows = [[str(run), *(_value(point.get(key)) for key in keys)] for run, point in points]
        headings = [printable(key, 24) for key in keys]
        yield table(["run", *headings], rows, headings[::-1])
        more = frozen.runs - frozen.first + 1 - len(points)
        if more > 0:
            yield f"… and {more} more"


def _value(value: object) -> str:
    return printable(short(value), 24)


def _where(frozen: Frozen) -> str:
    """The scheduler, how files come and go where nodes are sent them, and the program."""
    config, program = frozen.config, frozen.config["program"]
    text = _WHERE[config["where"]]
    every = config["save_every"]
    if config["where"] != "here" and frozen.shared:
        text += "; all see one file system"
    elif config["where"] != "here" and every == "off":
        text += "; files are sent and fetched"
    elif config["where"] != "here":
        often = "10 min" if every == "auto" else span(every)
        text += f"; files are sent, and fetched every {often} of training"
    if program["pack"]:
        return f"{text}; by the pack {printable(program['pack'], 80)}"
    return f"{text}; in {printable(program['image'], 80)}" if program["image"] else text
