"""``jobsight sweep status|cancel|cleanup``: how far a sweep is; stop it; tidy up behind it."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from jobsight.cli.common import ConfigOption, JsonOption
from jobsight.cli.output import note, print_json, say
from jobsight.cli.sweepopening import (
    FileArgument,
    command,
    number,
    open_sweep,
    progress_now,
    scheduler_named,
    size,
    was_moved,
)
from jobsight.cli.terminal import Column, blocks, grid, width
from jobsight.cluster import NodeState
from jobsight.errors import SweepError, UsageError
from jobsight.learning.sweep.tidying import leftovers, remove
from jobsight.text import abridged, counted, printable

if TYPE_CHECKING:
    from jobsight.cluster import Plan, Scheduler
    from jobsight.learning.sweep.progress import Progress, StageProgress

__all__ = ["cancel", "cleanup", "progress_lines", "show", "status"]


_SHOWN_TROUBLES = 10
_BAR = 24
_CAUSE = 400
_ENDING_SECONDS = 60.0
"""For jobs that were told to stop, and save what they have."""
_REDRAWN = "\x1b[H\x1b[J"


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
        show(progress, where, as_json=as_json, each=each)
        if not watch or not progress.active:
            return
        time.sleep(interval)


def cancel(file: FileArgument, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Stop it, from any terminal; what its runs have stays, and submitting again goes on."""
    frozen, layout, planned = open_sweep(file)
    where = str(frozen.config["where"])
    gone = cancel_whole(scheduler_named(where, config), planned)
    if as_json:
        print_json({"folder": str(layout.folder), "where": where, "active": not gone})
    elif not gone:
        say(f"{where} was told to stop it, and is at it: {command('status', file)}")
    else:
        again = "jobsight sweep submit FILE" if file.is_dir() else command("submit", file)
        say(f"cancelled; what its runs have is kept. Go on with: {again}")


def cleanup(
    file: FileArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove checkpoints, the models of all runs but the best, and the scheduler's files."""
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


def show(progress: Progress, where: str, *, as_json: bool, each: bool = False) -> None:
    """Print how far a sweep is."""
    if as_json:
        print_json(progress.to_json())
        return
    for line in progress_lines(progress, where, each=each):
        say(line)


def _agreed(question: str) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("this asks before it removes anything; say --yes where nobody can answer")
    return typer.confirm(question, err=True)


def cancel_whole(scheduler: Scheduler, plan: Plan) -> bool:
    """Cancel a plan, and wait until its nodes are gone, a minute at most; whether they are.

    Raises:
        ClusterError: the plan is not active, or its scheduler refuses.
    """
    scheduler.cancel(plan)
    end = time.monotonic() + _ENDING_SECONDS
    while time.monotonic() < end:
        status = scheduler.status(plan)
        states = {node.state for node in status.nodes.values()}
        if not status.active and NodeState.RUNNING not in states:
            return True
        time.sleep(0.5)
    return False


def progress_lines(progress: Progress, where: str, *, each: bool = False) -> Iterator[str]:
    """How far a sweep is.

    Args:
        progress: as the scheduler and the records have it.
        where: name of the scheduler.
        each: tell of every run.
    """
    yield f"{_headline(progress)} ({where}{_manager(progress)})"
    for stage in progress.stages:
        yield f"  {printable(stage.name, 20):<10} {_bar(stage)}"
    states = ", ".join(f"{count} {state}" for state, count in sorted(progress.states.items()))
    yield f"runs: {states}; {progress.epochs:,} of at most {progress.epochs_most:,} epochs"
    if progress.best is not None:
        best = progress.best
        epoch = f", epoch {best.epoch}" if best.epoch is not None else ""
        yield (
            f"best {'run' if progress.done else 'so far: run'} {best.run}, {progress.metric} "
            f"{number(best.value)}{epoch}{'' if best.ended else ', which goes on'}"
        )
    for trouble in progress.troubles[:_SHOWN_TROUBLES]:
        log = f" (see {printable(trouble.log, 120)})" if trouble.log else ""
        yield f"  {trouble.what} {trouble.state}: {abridged(trouble.cause, _CAUSE)}{log}"
    if len(progress.troubles) > _SHOWN_TROUBLES:
        yield f"  and {len(progress.troubles) - _SHOWN_TROUBLES} more; --json tells all"
    if each:
        yield from _run_lines(progress)


def _headline(progress: Progress) -> str:
    if progress.active:
        return "running" if progress.asked else "running, as far as its files tell"
    if progress.done:
        return "done"
    if progress.manager is None and progress.updated is None:
        return "not submitted yet"
    left = sum(stage.total - stage.done for stage in progress.stages)
    if progress.stages and not left:
        return "not done, though all nodes are; finish it with: jobsight sweep collect"
    what = f"stopped with {counted(left, 'node')} not done" if left else "not done"
    return f"{what}; submit again to go on"


def _manager(progress: Progress) -> str:
    return "" if progress.manager is None else f", {printable(progress.manager, 300)}"


def _bar(stage: StageProgress) -> str:
    full, _, empty = blocks()
    filled = math.floor(_BAR * stage.done / stage.total)
    parts = [f"{full * filled}{empty * (_BAR - filled)} {stage.done}/{stage.total}"]
    parts += [f"{stage.running} running"] if stage.running else []
    parts += [f"{stage.troubled} in trouble"] if stage.troubled else []
    parts += [f"{stage.stopped} stopped"] if stage.stopped else []
    return ", ".join(parts)


def _run_lines(progress: Progress) -> list[str]:
    columns = [
        *(Column("run", right=True), Column("state"), Column("epochs", right=True)),
        Column(progress.metric, right=True),
        *(Column("starts", right=True, spare=1), Column("where", spare=2), Column("why")),
    ]
    rows = [
        [
            *(str(one.run), one.state, str(one.epochs)),
            "–" if one.value is None else number(one.value),
            *(str(one.attempts), printable(one.where or "–", 40)),
            abridged(one.cause or "", _CAUSE),
        ]
        for one in progress.runs
    ]
    return grid(columns, rows, most=width())
