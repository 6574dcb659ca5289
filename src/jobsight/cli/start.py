"""``jobsight start``: when will it start, how long will it run, and what would start sooner?

With ``--json`` one JOBID that is one job, and a SCRIPT, give one object; several ids and --pending
give a list of objects, one per job. Where some of several ids name no job that waits or runs, the
others are answered, each of these gives a line on standard error, and the exit status is 1.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

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
from jobsight.cli.output import note
from jobsight.cli.startpage import print_answers, print_table
from jobsight.clock import zone_named
from jobsight.documents import State
from jobsight.errors import SourceError
from jobsight.history.condor.client import CondorClient
from jobsight.history.slurm.client import SlurmClient
from jobsight.history.slurm.failures import SlurmError
from jobsight.questions.start.question import START
from jobsight.questions.start.queue import Machine
from jobsight.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jobsight.settings import Settings

__all__ = ["start"]

_QUEUE = [State.PENDING.value, State.HELD.value]
_ANALYSED = 3
"""Idle HTCondor jobs that are analysed, one call for each."""


def start(
    jobs: JobsArgument = None,
    pending: Annotated[
        bool, typer.Option("--pending", help="All jobs that wait, by their expected start.")
    ] = False,
    store: StoreOption = None,
    log: LogOption = None,
    files: ImportOption = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Directory, digest of `models list`, or none for the play of the queue alone "
            "(default: the champion of the job's cluster, else of the cluster default)."
        ),
    ] = None,
    at: AtOption = None,
    save: SaveOption = False,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_json: OneOrListOption = False,
) -> None:
    """When will it start, how long will it run, and what would start sooner?"""
    queues = {"pending": _QUEUE} if pending else {}
    wanted = asked(jobs or [], queues, save=save, options="--pending")
    settings = load_settings(config, {"timezone": timezone, "store": store}, START)
    inputs = [*(log or []), *(files or [])]
    live = at is None and not inputs
    machine = _machine(settings) if live else Machine()
    analysis = _analysis(jobs or [], settings) if live else {}

    def adapt(one: Any) -> Any:
        return one.of_cluster(machine, analysis)

    desk = open_desk(
        START, settings, inputs, store=store is not None, model=model, at=at, adapt=adapt
    )
    zone = zone_named(settings.timezone)
    wanted.report(
        desk, save=save, as_json=as_json,
        table=partial(print_table, when=desk.when, zone=zone),
        page=partial(print_answers, when=desk.when, zone=zone),
    )  # fmt: skip


def _machine(settings: Settings) -> Machine:
    """The nodes and partitions, where Slurm's tools are here and answer."""
    client = SlurmClient(settings.slurm)
    if not client.has("scontrol"):
        return Machine()
    try:
        return Machine(*client.machine())
    except SlurmError as error:
        note(f"what the cluster has is taken from the history: {printable(error, 200)}")
        return Machine()


def _analysis(jobs: Sequence[str], settings: Settings) -> Mapping[str, Sequence[str]]:
    """What HTCondor says of idle jobs that are asked about, where its tools are here."""
    client = CondorClient(settings.condor)
    names = [one.rpartition(":")[2] for one in jobs]
    numbers = [one for one in names if one.replace(".", "", 1).isdecimal() and "." in one]
    if not client.has("condor_q"):
        return {}
    found: dict[str, list[str]] = {}
    for number in numbers[:_ANALYSED]:
        try:
            found[number] = client.analysis(number)
        except SourceError as error:
            note(f"condor_q: {printable(error, 200)}")
    return found
