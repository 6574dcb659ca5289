"""``jobsight sweep node …``: what a scheduler runs of a sweep; not for people.

A process is started in the sweep's folder, or in a copy of what it needs of it. It exits with 0
when its work is done, with `RESUME` when it was asked to end, or saves by itself, and wants to be
started again, and with anything else where its machine fails. A run that fails by its parameters
has a result, and exits with 0.
"""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from jobsight.cli.output import note, stages
from jobsight.errors import SweepError
from jobsight.questions import QUESTIONS
from jobsight.tuning.folder import Sweep, read_source
from jobsight.tuning.record import RunRecord, run_folder
from jobsight.tuning.scheduler import RESUME

__all__ = ["app"]

assert QUESTIONS  # the table that configs name questions of

app = typer.Typer(help="What a scheduler runs.", no_args_is_help=True)

FolderArgument = Annotated[Path, typer.Argument(metavar="FOLDER", help="The sweep's folder.")]


@app.command()
def run(number: int, folder: FolderArgument) -> None:
    """Train one run, from where it stopped to its end."""
    from jobsight.tuning.run import train_run
    from jobsight.tuning.study import Runs
    from jobsight.tuning.tracking import open_tracker

    asked: list[int] = []
    for one in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
        signal.signal(one, lambda number, _: asked.append(number))
    sweep = Sweep.open(folder)
    config, place = sweep.config, run_folder(folder, number)
    runs = Runs.open(folder, config, number) if config.sees_folder else None
    record = RunRecord.read(place)
    if record is None:
        if runs is None:
            raise SweepError(f"run {number} has no point; plan the sweep again")
        place.mkdir(parents=True, exist_ok=True)
        record = RunRecord(number, runs.ask(number, config))
        record.write(place)

    def is_hopeless(record: RunRecord) -> bool:
        if runs is None:
            return False
        runs.bring_in(record)
        return runs.is_hopeless(number)

    ended = train_run(
        place,
        config,
        record,
        lambda: read_source(folder, config.question),
        open_tracker(config.tracking, place, f"{sweep.name}-{sweep.digest}", say=note),
        stop=lambda: bool(asked),
        is_hopeless=is_hopeless,
        save_every=0 if config.sees_folder else config.save_every,
    )
    if runs is not None:
        runs.bring_in(record)
    if not ended:
        note(f"run {number}: stopped after epoch {len(record.epochs)}, to be continued")
        raise typer.Exit(RESUME)


@app.command()
def ask(number: int, folder: FolderArgument) -> None:
    """Choose the point of a run by the results so far, where runs do not see the folder."""
    from jobsight.tuning.finish import bring_in
    from jobsight.tuning.study import Runs

    place = run_folder(folder, number)
    if RunRecord.read(place) is None:
        config = Sweep.open(folder).config
        bring_in(folder)
        RunRecord(number, Runs.open(folder, config, number).ask(number, config)).write(place)


@app.command()
def best(folder: FolderArgument) -> None:
    """Choose the best run, test it once, write ``best/``."""
    from jobsight.tuning.finish import find_best

    with stages() as progress:
        found = find_best(Sweep.open(folder), progress=progress)
    note(f"the best run is run {found}")


@app.command()
def register(folder: FolderArgument) -> None:
    """Bring in all results, put the best model into the registry, and write the report."""
    from jobsight.tuning.finish import bring_in, register_best

    bring_in(folder)
    register_best(Sweep.open(folder))


@app.command()
def finish(folder: FolderArgument) -> None:
    """Both, where the folder is shared."""
    best(folder)
    register(folder)
