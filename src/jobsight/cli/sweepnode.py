"""``jobsight sweep node …``: what the nodes of a sweep's plan run; not for people.

A node is started in the sweep's folder, or in a copy of what it needs of it. It exits with 0 when
its work is done, with `CHECKPOINT` when it was asked to go, or saves by itself, and wants to be
started again, with anything else where its machine fails, to be tried again elsewhere. A
run that fails by its parameters has a result, and exits with 0.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from jobsight import __version__
from jobsight.cli.common import load_settings
from jobsight.cli.output import note
from jobsight.cluster import CHECKPOINT
from jobsight.errors import SweepError
from jobsight.files import read_json, write_json
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.definition import from_wandb
from jobsight.learning.sweep.layout import (
    Frozen,
    Layout,
    Shard,
    point_of,
    read_frozen,
    read_point,
    read_saved,
)
from jobsight.learning.tracking import StopReason, Tracker, WandbOptions, next_point
from jobsight.questions import QUESTIONS, question_named
from jobsight.text import counted

__all__ = ["app"]

app = typer.Typer(help="What the nodes of a plan run.", no_args_is_help=True)

FolderArgument = Annotated[Path, typer.Argument(metavar="FOLDER", help="The sweep's folder.")]


@app.command()
def parse(shard: str, folder: FolderArgument) -> None:
    """Parse the inputs of a shard, once for all runs."""
    frozen, layout = _opened(folder)
    found = next(one for one in frozen.shards if one.name == shard)
    if layout.read(shard).exists() and layout.table(shard).exists():
        note(f"shard {shard} is parsed already")
    elif found.documents:
        _parse_documents(found, frozen, layout)
    else:
        from jobsight.learning.sweep.parsing import parse_logs

        parse_logs(found, frozen, layout, here=frozen.shared or not found.distinct)


@app.command()
def run(
    number: int,
    folder: FolderArgument,
    until: Annotated[int | None, typer.Option(help="The last epoch to train now.")] = None,
    save_every: Annotated[
        str | None,
        typer.Option(help="Seconds after which to leave and be started again, or auto."),
    ] = None,
) -> None:
    """Train one run, from where it stopped to its end."""
    from jobsight.learning.sweep.attempt import Saving
    from jobsight.learning.sweep.parsing import join_shards
    from jobsight.learning.sweep.run import train_run

    frozen, layout = _opened(folder)
    config = SweepConfig.model_validate(frozen.config)
    stop, saving = _Asked(), None
    if save_every is not None:
        saving = Saving(None if save_every == "auto" else float(save_every))
    parameters, server = _point(frozen, layout, number)
    with _tracker(frozen, layout, number, server) as tracker:
        result = train_run(
            layout.run(number),
            lambda: join_shards(frozen, layout),
            config,
            parameters=parameters,
            run=number,
            tracker=tracker,
            stop=stop,
            until=until,
            saving=saving,
        )
    if result.stopped is not None and result.stopped != "until":
        how = "saved" if result.stopped == "saved" else "stopped"
        note(f"run {number}: {how} after epoch {result.epochs}, to be gone on with")
        raise typer.Exit(CHECKPOINT)


@app.command()
def plan(number: int, folder: FolderArgument) -> None:
    """Choose the points of a round by the results of those before."""
    from jobsight.learning.sweep.deciding import plan_round

    runs = plan_round(*_opened(folder), number)
    note(f"round {number}: planned {counted(len(runs), 'run')}")


@app.command()
def drop(number: int, folder: FolderArgument) -> None:
    """End the hopeless runs of a round."""
    from jobsight.learning.sweep.deciding import drop_hopeless
    from jobsight.learning.sweep.run import drop_run

    frozen, layout = _opened(folder)
    config = SweepConfig.model_validate(frozen.config)
    runs, cause = drop_hopeless(frozen, layout, number)
    for one in runs:
        parameters, server = _point(frozen, layout, one)
        with _tracker(frozen, layout, one, server) as tracker:
            drop_run(
                layout.run(one),
                config,
                parameters=parameters,
                run=one,
                tracker=tracker,
                cause=cause,
            )
    note(f"round {number}: dropped {counted(len(runs), 'run')}")


@app.command()
def best(folder: FolderArgument) -> None:
    """Choose the best run, test it once, write ``best/``."""
    from jobsight.cli.sweepend import find_best

    find_best(*_opened(folder))


@app.command(name="register")
def register_node(folder: FolderArgument) -> None:
    """Put the best model into the registry, and write the report."""
    from jobsight.cli.sweepend import register_best

    register_best(*_opened(folder))


@app.command()
def practise(folder: FolderArgument) -> None:
    """Do a little of all that, in any folder, so that the kernels are compiled for a pack."""
    from jobsight.learning.practice import practise as made_of

    questions = map(question_named, QUESTIONS)
    made = sum(made_of(one, folder) for one in questions if one.reads == "events")
    note(f"made {counted(made, 'example')}")


class _Asked:
    """Whether the scheduler asked to go, and why: SIGTERM (eviction) or SIGUSR1 (the limit)."""

    def __init__(self) -> None:
        self.reason: StopReason | None = None
        signal.signal(signal.SIGTERM, lambda *_: self._tell("evicted"))
        signal.signal(signal.SIGUSR1, lambda *_: self._tell("limit"))

    def _tell(self, reason: StopReason) -> None:
        self.reason = self.reason or reason

    def __call__(self) -> StopReason | None:
        return self.reason


def _opened(folder: Path) -> tuple[Frozen, Layout]:
    """The frozen config and the places of the sweep in a folder.

    Raises:
        SweepError: see `read_frozen`; or another version of Jobsight planned it.
    """
    frozen = read_frozen(folder)
    planned = frozen.versions.get("jobsight")
    if planned != __version__:
        raise SweepError(
            f"the sweep was planned by jobsight {planned} and this is {__version__}; have one "
            "version wherever it runs, or plan it into another folder"
        )
    return frozen, Layout(folder)


def _parse_documents(shard: Shard, frozen: Frozen, layout: Layout) -> None:
    import polars as pl

    from jobsight.cli.output import Console
    from jobsight.cli.reading import read_for
    from jobsight.learning.reading import read_events
    from jobsight.learning.sweep.parsing import write_table

    asked, inputs = question_named(frozen.question), list(shard.inputs)
    if asked.reads != "events":
        names = ("timezone", "access_point", "slurm")
        given = {name: frozen.settings[name] for name in names if name in frozen.settings}
        found, report, sources = read_for(asked, inputs, load_settings(None, given))
        if asked.reads == "programs":
            table = pl.DataFrame({"program": [one.to_json() for one in found]})
        else:
            table = found.packed()
        write_table(shard, layout, table, report, sources)
        return
    reading = read_events(inputs, load_settings(None, {}), Console)
    write_table(shard, layout, reading.table, reading.report, reading.sources)


def _point(frozen: Frozen, layout: Layout, run: int) -> tuple[dict[str, Any], Mapping[str, str]]:
    """The parameters of a run, and what a server calls it, where its sweep decides.

    A server is asked once: its answer is kept, so that the run is the same when it goes on.
    """
    tracking = frozen.config["tracking"]
    path = layout.point(run)
    if tracking["wandb"] != "online":
        return read_point(layout.folder, run), {}
    if not path.exists():
        missing = f"no server's sweep decides this one: {layout.tracking} is missing; plan it again"
        sweep = read_saved(layout.tracking, missing)["sweep"]
        name, point = next_point(sweep, project=tracking["project"], entity=tracking["entity"])
        server = {"run_id": name, "sweep_id": sweep}
        given = from_wandb(SweepConfig.model_validate(frozen.config), point)
        write_json(path, {**point_of(run, given), "server": server})
    return read_point(layout.folder, run), dict(read_json(path, dict).get("server", {}))


def _tracker(frozen: Frozen, layout: Layout, run: int, server: Mapping[str, str]) -> Tracker:

    tracking = frozen.config["tracking"]
    if tracking["wandb"] == "off":
        return Tracker(layout.run(run))
    options = WandbOptions(
        mode=tracking["wandb"],
        project=tracking["project"],
        entity=tracking["entity"],
        tags=tuple(tracking["tags"]),
        sweep=frozen.digest,
        run_id=server.get("run_id"),
        sweep_id=server.get("sweep_id"),
    )
    return Tracker(layout.run(run), options, say=note)
