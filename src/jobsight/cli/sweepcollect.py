"""``jobsight sweep collect|wandb``: finish by hand; send the runs to Weights & Biases."""

from __future__ import annotations

from typing import Annotated

import typer

from jobsight.cli.common import ConfigOption, JsonOption
from jobsight.cli.output import answer, note
from jobsight.cli.sweepbest import show_best
from jobsight.cli.sweepend import find_best, register_best
from jobsight.cli.sweepopening import FileArgument, Sweep, command, layout_of
from jobsight.errors import SweepError
from jobsight.text import counted

__all__ = ["collect", "wandb"]


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


def wandb(
    file: FileArgument,
    project: Annotated[str, typer.Option(help="The project there.")] = "jobsight",
    entity: Annotated[str | None, typer.Option(help="User or team; default: the key's.")] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Write files for `wandb sync`; use no network.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Send the runs that ended to Weights & Biases, each once; its SDK finds the key."""
    from jobsight.learning.sweep.layout import read_frozen
    from jobsight.learning.sweep.records import read_all
    from jobsight.learning.tracking.wandb import send_runs

    layout = layout_of(file)
    digest = read_frozen(layout.folder).digest
    sent = send_runs(read_all(layout.runs), digest, project=project, entity=entity, offline=offline)
    how = "written for `wandb sync`" if offline else "sent"
    answer({"sent": sent}, f"{counted(len(sent), 'run')} {how}", as_json=as_json)
