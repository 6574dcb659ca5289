"""``jobsight sweep collect``: what the last nodes of the plan do, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobsight.cli.common import ConfigOption, JsonOption
from jobsight.cli.output import note
from jobsight.cli.sweepbest import show_best
from jobsight.cli.sweepend import find_best, register_best
from jobsight.cli.sweepopening import FileArgument, command, is_done, open_sweep, progress_now
from jobsight.errors import SweepError
from jobsight.text import counted

if TYPE_CHECKING:
    from jobsight.learning.sweep.layout import Frozen, Layout
    from jobsight.learning.sweep.progress import Progress

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
        find_best(frozen, layout, again=again)
        register_best(frozen, layout)
    show_best(layout, as_json=as_json)


def _require_collectable(
    file: Path, frozen: Frozen, layout: Layout, progress: Progress, without_missing: bool
) -> None:
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
