"""``jobsight sweep collect``: what the last nodes of the plan do, by hand."""

from __future__ import annotations

from typing import Annotated

import typer

from jobsight.cli.common import ConfigOption, JsonOption
from jobsight.cli.output import note
from jobsight.cli.sweepbest import show_best
from jobsight.cli.sweepend import find_best, register_best
from jobsight.cli.sweepopening import FileArgument, Sweep, command
from jobsight.errors import SweepError
from jobsight.text import counted

__all__ = ["collect"]


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
            "--again", help="Test another network than before; bestmodel.info says how often."
        ),
    ] = False,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Finish by hand what the plan does at its end: choose, test, register, report."""
    sweep = Sweep.open(file, config)
    progress = sweep.progress()
    if progress.active:
        raise SweepError(
            f"{sweep.layout.folder} is still being worked on; wait for it "
            f"({command('status', file)}) or cancel it ({command('cancel', file)})"
        )
    missing = sweep.frozen.runs - progress.ended
    if missing and not without_missing:
        raise SweepError(
            f"{counted(missing, 'run')} of {sweep.frozen.runs} have not ended; submit the sweep "
            "again to continue them, or choose among the others with --without-missing"
        )
    if sweep.is_done:
        note("everything is here already")
    else:
        find_best(sweep.frozen, sweep.layout, again=again)
        register_best(sweep.frozen, sweep.layout)
    show_best(sweep.layout, as_json=as_json)
