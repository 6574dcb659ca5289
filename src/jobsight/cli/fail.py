"""``jobsight fail``: will it fail, of what, and what helps?

With ``--json`` one JOBID that is one job, and a SCRIPT, give one object; several ids, --pending and
--running give a list of objects, one per job. Where some of several ids name no job that waits or
runs, the others are answered, each of these gives a line on standard error, and the exit status
is 1.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from jobsight.cli.asking import (
    AtOption,
    ImportOption,
    JobsArgument,
    LogOption,
    OneOrListOption,
    SaveOption,
    asked,
    open_desk,
)
from jobsight.cli.common import ConfigOption, StoreOption, TimezoneOption, load_settings
from jobsight.cli.failpage import print_answers, print_table
from jobsight.documents import State
from jobsight.questions.fail.answering import RUNNING
from jobsight.questions.fail.question import FAIL

__all__ = ["fail"]

_QUEUES = {"pending": [State.PENDING.value], "running": list(RUNNING)}


def fail(
    jobs: JobsArgument = None,
    pending: Annotated[bool, typer.Option("--pending", help="All jobs that wait.")] = False,
    running: Annotated[bool, typer.Option("--running", help="All jobs that run.")] = False,
    each: Annotated[bool, typer.Option("--each", help="One row per job, not per cause.")] = False,
    store: StoreOption = None,
    log: LogOption = None,
    files: ImportOption = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Directory, digest of `models list`, or none for rates (default: the champion "
            "of the job's cluster, else of the cluster default, else rates)."
        ),
    ] = None,
    at: AtOption = None,
    save: SaveOption = False,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_json: OneOrListOption = False,
) -> None:
    """Will it fail? Probability, likely cause, evidence and what to change."""
    wanted_queues = {"pending": pending, "running": running}
    queues = {name: states for name, states in _QUEUES.items() if wanted_queues[name]}
    wanted = asked(jobs or [], queues, save=save, options="--pending or --running")
    settings = load_settings(config, {"timezone": timezone, "store": store}, FAIL)
    inputs = [*(log or []), *(files or [])]
    desk = open_desk(FAIL, settings, inputs, store=store is not None, model=model, at=at)
    wanted.report(
        desk, save=save, as_json=as_json,
        table=partial(print_table, queue=" or ".join(queues), when=desk.when, each=each),
        page=partial(print_answers, when=desk.when),
    )  # fmt: skip
