"""``jobsight sweep``: train many runs from one config file, and keep the best."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobsight.cli import sweepend, sweepnode
from jobsight.cli.common import (
    ConfigOption,
    JsonOption,
    check_output,
    load_settings,
    note,
    print_json,
    progress_bar,
    say,
)
from jobsight.cli.sweeppage import command, plan_json, plan_lines, progress_lines, size
from jobsight.text import counted

if TYPE_CHECKING:
    from jobsight.cluster import Plan, Scheduler
    from jobsight.learning.sweep.layout import Frozen, Layout
    from jobsight.learning.sweep.planning import Planned
    from jobsight.learning.sweep.progress import Progress

__all__ = ["FileArgument", "layout_of", "register"]

_verb = typer.Typer(
    help="Train many runs from one config file: here, on DAGMan or on Slurm.",
    no_args_is_help=True,
)

FileArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="The sweep's config (YAML), or its folder.", show_default=False
    ),
]
_ConfigFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="The sweep's config (YAML).", show_default=False)
]
_REDRAWN = "\x1b[H\x1b[J"


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    sweepnode.register(_verb)
    app.add_typer(_verb, name="sweep")


@_verb.command()
def plan(file: _ConfigFile, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Write everything that the sweep needs into its folder; start nothing."""
    planned, files = _planned(file, config)
    if as_json:
        print_json(plan_json(planned, files))
        return
    for line in plan_lines(planned, files):
        say(line)
    wrote = "wrote" if planned.changed else "nothing has changed in"
    say(f"{wrote} {planned.layout.folder}; start it with: {command('submit', file)}")


@_verb.command()
def submit(file: _ConfigFile, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Hand the sweep over, or go on with it where it stopped; here: run it, and wait for it."""
    planned, _ = _planned(file, config)
    where = str(planned.frozen.config["where"])
    if sweepend.is_collected(planned.frozen, planned.layout):
        note(f"all is done; see: {command('best', file)}")
        return
    scheduler = _scheduler(where, config)
    if where == "here":
        with _telling(planned):
            scheduler.submit(planned.plan)
        progress = _progress(planned.frozen, planned.layout, planned.plan)
        _show(progress, where, as_json=as_json)
        _require_done(progress, file)
        return
    job = scheduler.submit(planned.plan)
    if as_json:
        print_json({"folder": str(planned.layout.folder), "where": where, "id": job})
    else:
        say(f"handed over to {where} as {job}; see: {command('status', file)}")


@_verb.command()
def status(
    file: FileArgument,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on showing it until nothing works on it any more.")
    ] = False,
    each: Annotated[bool, typer.Option("--runs", help="Tell of every run.")] = False,
    interval: Annotated[float, typer.Option(min=0.2, help="Seconds between two looks.")] = 5.0,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """How far it is: stages, runs, what failed and why, the best run so far."""
    frozen, layout, planned = _opened(file)
    where = str(frozen.config["where"])
    while True:
        progress = _progress(frozen, layout, planned, config)
        if watch and sys.stdout.isatty():
            say(_REDRAWN, end="")
        _show(progress, where, as_json=as_json, each=each)
        if not watch or not progress.active:
            return
        time.sleep(interval)


@_verb.command()
def cancel(file: FileArgument, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Stop it, from any terminal; what its runs have stays, and submitting again goes on."""
    frozen, layout, planned = _opened(file)
    where = str(frozen.config["where"])
    gone = sweepend.cancel_whole(_scheduler(where, config), planned)
    if as_json:
        print_json({"folder": str(layout.folder), "where": where, "active": not gone})
    elif not gone:
        say(f"{where} was told to stop it, and is at it: {command('status', file)}")
    else:
        again = "jobsight sweep submit FILE" if file.is_dir() else command("submit", file)
        say(f"cancelled; what its runs have is kept. Go on with: {again}")


@_verb.command()
def collect(
    file: FileArgument,
    without_missing: Annotated[
        bool,
        typer.Option(
            "--without-missing", help="Choose among the runs that ended, if some did not."
        ),
    ] = False,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Test another network than before; bestmodel.info tells how often."
        ),
    ] = False,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Finish by hand what the plan does at its end: choose, test, register, report."""
    frozen, layout, planned = _opened(file)
    _require_collectable(
        file, frozen, layout, _progress(frozen, layout, planned, config), without_missing
    )
    if sweepend.is_collected(frozen, layout):
        note("everything is here already")
    else:
        sweepend.find_best(frozen, layout, again=again)
        sweepend.register_best(frozen, layout)
    _show_best(layout, as_json=as_json)


def _require_collectable(
    file: Path, frozen: Frozen, layout: Layout, progress: Progress, without_missing: bool
) -> None:
    from jobsight.errors import SweepError

    if progress.active:
        raise SweepError(
            f"{layout.folder} is still being worked on; wait for it ({command('status', file)}) "
            f"or cancel it ({command('cancel', file)})"
        )
    missing = frozen.runs - progress.ended
    if missing and not without_missing:
        raise SweepError(
            f"{counted(missing, 'run')} of {frozen.runs} have not ended; submit the sweep again to "
            "go on with them, or choose among the others by --without-missing"
        )


@_verb.command()
def best(file: FileArgument, as_json: JsonOption = False) -> None:
    """The best run: its parameters, its metrics, how it did in the test, where its model is."""
    _show_best(layout_of(file), as_json=as_json)


def _show_best(layout: Layout, *, as_json: bool) -> None:
    from jobsight.cli.sweepbest import best_lines
    from jobsight.learning.sweep.best import read_best
    from jobsight.learning.sweep.layout import read_frozen

    facts = read_best(layout)
    if as_json:
        print_json(facts)
        return
    for line in best_lines(facts, layout, read_frozen(layout.folder).config["model"]):
        say(line)


@_verb.command()
def cleanup(
    file: FileArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove checkpoints, the models of all runs but the best, and the scheduler's files."""
    from jobsight.errors import SweepError
    from jobsight.learning.sweep.tidying import leftovers, remove

    frozen, layout, planned = _opened(file)
    if _progress(frozen, layout, planned, config).active:
        raise SweepError(
            f"{layout.folder} is being worked on; clean up when it is done, or cancel it "
            f"({command('cancel', file)})"
        )
    found = leftovers(frozen, layout)
    total = sum(found.values())
    if found and not yes and not _agreed(f"remove {counted(len(found), 'path')}, {size(total)}?"):
        raise SweepError("nothing was removed")
    remove(found)
    if as_json:
        print_json({"removed": [str(path) for path in found], "bytes": total})
    else:
        say(f"removed {counted(len(found), 'path')}, {size(total)}; records and results are kept")


@_verb.command()
def pack(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The archive: NAME.tar.gz, or NAME.tar.")
    ],
    with_python: Annotated[
        bool, typer.Option("--with-python", help="Put this Python and its library into it too.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Pack Jobsight and what it needs, for machines that do not have it."""
    from jobsight.cluster.packing import pack as make

    check_output(output, [])
    with progress_bar("packing") as progress:
        made = make(
            output,
            with_python=with_python,
            practice=("sweep", "node", "practise", "."),
            progress=progress,
        )
    if as_json:
        print_json({"pack": str(output), **made.to_json()})
        return
    say(
        f"packed {counted(len(made.packages), 'package')} for Python {made.python} on "
        f"{made.platform}{', with the interpreter' if made.with_python else ''}: "
        f"{size(output.stat().st_size)}"
    )
    say(f"wrote {output}; name it in the config as program: {{pack: …}}")


def layout_of(file: Path) -> Layout:
    """The places of a sweep, by its config file or its folder."""
    from jobsight.learning.sweep.config import SweepConfig
    from jobsight.learning.sweep.layout import Layout

    if file.is_dir():
        return Layout(file.resolve())
    return Layout.beside(file, SweepConfig.read(file).folder)


def _opened(file: Path) -> tuple[Frozen, Layout, Plan]:
    """A sweep that was planned."""
    from jobsight.learning.sweep.layout import read_frozen
    from jobsight.learning.sweep.planning import read_plan

    layout = layout_of(file)
    return read_frozen(layout.folder), layout, read_plan(layout)


def _planned(file: Path, settings_file: Path | None) -> tuple[Planned, list[Path]]:
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
    planned = lay_out(frozen, layout, program, active=active)
    sweepend.make_server_sweep(planned.frozen, layout)
    return planned, [] if active else _scheduler(told.where, settings_file).write(planned.plan)


def _is_active(layout: Layout, settings_file: Path | None) -> bool:
    """Whether a scheduler works on what was planned before; a plan that cannot be read: no."""
    from jobsight.errors import SweepError
    from jobsight.learning.sweep.layout import read_frozen
    from jobsight.learning.sweep.planning import read_plan

    try:
        before, found = read_frozen(layout.folder), read_plan(layout)
    except SweepError:
        return False
    return _scheduler(str(before.config["where"]), settings_file).status(found).active


def _scheduler(where: str, settings_file: Path | None) -> Scheduler:
    """The scheduler of that name; Slurm's tools as the settings have them."""
    from jobsight.cluster import create

    return create(where, load_settings(settings_file, {}) if where == "slurm" else None)


def _progress(
    frozen: Frozen, layout: Layout, planned: Plan, settings_file: Path | None = None
) -> Progress:
    from jobsight.learning.sweep.progress import progress_of

    told = _scheduler(str(frozen.config["where"]), settings_file).status(planned)
    return progress_of(frozen, layout, planned, told)


def _show(progress: Progress, where: str, *, as_json: bool, each: bool = False) -> None:
    if as_json:
        print_json(progress.to_json())
        return
    for line in progress_lines(progress, where, each=each):
        say(line)


@contextlib.contextmanager
def _telling(planned: Planned) -> Iterator[None]:
    """Show how many epochs were trained, while the block runs, if somebody looks on."""
    import threading

    if not sys.stderr.isatty():
        yield
        return
    stop = threading.Event()

    def look() -> None:
        while not stop.wait(1.0):
            now = _progress(planned.frozen, planned.layout, planned.plan)
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
    from jobsight.errors import SweepError

    if not progress.done:
        first = next(iter(progress.troubles), None)
        why = f"{first.what} {first.state}: {first.cause}" if first else "it was stopped"
        raise SweepError(f"the sweep is not done: {why}; go on with: {command('submit', file)}")


def _agreed(question: str) -> bool:
    from jobsight.errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError("this asks before it removes anything; say --yes where nobody can answer")
    return typer.confirm(question, err=True)
