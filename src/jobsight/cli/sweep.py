"""``jobsight sweep``: train many runs from one config file, and keep the best."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobsight.cli import sweepend, sweepnode
from jobsight.cli.common import (
    ConfigOption,
    JsonOption,
    check_output,
    note,
    print_json,
    progress_bar,
    say,
)
from jobsight.cli.sweepopening import (
    FileArgument,
    is_done,
    layout_of,
    open_sweep,
    plan_sweep,
    progress_now,
    scheduler_named,
    was_moved,
)
from jobsight.cli.sweeppage import command, plan_json, plan_lines, progress_lines, size
from jobsight.files import Kind
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.learning.sweep.layout import Frozen, Layout
    from jobsight.learning.sweep.planning import Planned
    from jobsight.learning.sweep.progress import Progress

__all__ = ["register"]

_verb = typer.Typer(
    help="Train many runs from one config file: here, on DAGMan or on Slurm.",
    no_args_is_help=True,
)

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
    planned, files = plan_sweep(file, config)
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
    frozen, layout, planned = open_sweep(file, moved=True)
    if was_moved(planned, layout):
        note(
            f"it was planned as {printable(planned.folder)} and moved since: no scheduler "
            "is asked, and this is what its runs recorded"
        )
    where = str(frozen.config["where"])
    while True:
        progress = progress_now(frozen, layout, planned, config)
        if watch and sys.stdout.isatty():
            say(_REDRAWN, end="")
        _show(progress, where, as_json=as_json, each=each)
        if not watch or not progress.active:
            return
        time.sleep(interval)


@_verb.command()
def cancel(file: FileArgument, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Stop it, from any terminal; what its runs have stays, and submitting again goes on."""
    frozen, layout, planned = open_sweep(file)
    where = str(frozen.config["where"])
    gone = sweepend.cancel_whole(scheduler_named(where, config), planned)
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
    frozen, layout, planned = open_sweep(file)
    _require_collectable(
        file, frozen, layout, progress_now(frozen, layout, planned, config), without_missing
    )
    if is_done(frozen, layout):
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

    frozen, layout, planned = open_sweep(file)
    if progress_now(frozen, layout, planned, config).active:
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

    check_output(output, Kind.PACK)
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
