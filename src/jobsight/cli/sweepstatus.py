"""``jobsight sweep status|cancel|cleanup``: how far a sweep is; stop it; remove its leftovers."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from jobsight.cli.common import ConfigOption, JsonOption
from jobsight.cli.output import answer, note, say
from jobsight.cli.sweepopening import FileArgument, Sweep, command
from jobsight.cli.tables import table
from jobsight.cli.terminal import blocks
from jobsight.cluster import NodeState
from jobsight.errors import SweepError, UsageError
from jobsight.format import UNKNOWN, short, size
from jobsight.learning.sweep.tidying import leftovers, remove
from jobsight.text import abridged, counted, printable

if TYPE_CHECKING:
    from jobsight.cluster import Plan, Scheduler
    from jobsight.learning.sweep.progress import Progress, StageProgress

__all__ = ["cancel", "cleanup", "progress_lines", "show", "status"]

_SHOWN = 10
_BAR = 24
_CAUSE = 400
_ENDING_SECONDS = 60.0
"""For jobs to save what they have, once asked to stop."""
_REDRAWN = "\x1b[H\x1b[J"


def status(
    file: FileArgument,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it again and again until nothing works on it.")
    ] = False,
    each: Annotated[bool, typer.Option("--runs", help="Show every run.")] = False,
    interval: Annotated[float, typer.Option(min=0.2, help="Seconds between two looks.")] = 5.0,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """How far it is: stages, runs, what failed and why, the best run so far."""
    sweep = Sweep.open(file, config, moved=True)
    if sweep.moved:
        note(
            f"it was planned as {printable(sweep.plan.folder)} and moved since: no scheduler is "
            "asked, and this is what its runs recorded"
        )
    while True:
        progress = sweep.progress()
        if watch and sys.stdout.isatty():
            say(_REDRAWN, end="")
        show(progress, sweep.where, as_json=as_json, each=each)
        if not watch or not progress.active:
            return
        time.sleep(interval)


def cancel(file: FileArgument, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Stop it, from any terminal; the results of its runs are kept, and submit continues it."""
    sweep = Sweep.open(file, config)
    gone = _cancel(sweep.scheduler(), sweep.plan)
    folder = str(sweep.layout.folder)
    text = f"{sweep.where} was asked to stop it, and is still at it: {command('status', file)}"
    if gone:
        again = "jobsight sweep submit FILE" if file.is_dir() else command("submit", file)
        text = f"cancelled; the results of its runs are kept. Continue with: {again}"
    answer({"folder": folder, "where": sweep.where, "active": not gone}, text, as_json=as_json)


def _cancel(scheduler: Scheduler, plan: Plan) -> bool:
    """Cancel a plan, and wait until its nodes are gone, a minute at most; whether they are.

    Raises:
        ClusterError: the plan is not active, or its scheduler refuses.
    """
    scheduler.cancel(plan)
    end = time.monotonic() + _ENDING_SECONDS
    while time.monotonic() < end:
        found = scheduler.status(plan)
        states = {node.state for node in found.nodes.values()}
        if not found.active and NodeState.RUNNING not in states:
            return True
        time.sleep(0.5)
    return False


def cleanup(
    file: FileArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove checkpoints, the models of all runs but the best, and the scheduler's files."""
    sweep = Sweep.open(file, config)
    if sweep.progress().active:
        raise SweepError(
            f"{sweep.layout.folder} is being worked on; clean up when it is done, or cancel it "
            f"({command('cancel', file)})"
        )
    found = leftovers(sweep.frozen, sweep.layout)
    amount = f"{counted(len(found), 'path')}, {size(sum(found.values()))}"
    if found and not yes:
        if not sys.stdin.isatty():
            raise UsageError("this asks before it removes anything; say --yes in a script")
        if not typer.confirm(f"remove {amount}?", err=True):
            raise SweepError("nothing was removed")
    remove(found)
    removed = {"removed": [str(path) for path in found], "bytes": sum(found.values())}
    answer(removed, f"removed {amount}; records and results are kept", as_json=as_json)


def show(progress: Progress, where: str, *, as_json: bool, each: bool = False) -> None:
    """Print how far a sweep is."""
    lines = progress_lines(progress, where, each=each)
    answer(progress.to_json(), "\n".join(lines), as_json=as_json)


def progress_lines(progress: Progress, where: str, *, each: bool = False) -> Iterator[str]:
    """How far a sweep is.

    Args:
        progress: as the scheduler and the records have it.
        where: name of the scheduler.
        each: list every run.
    """
    manager = "" if progress.manager is None else f", {printable(progress.manager, 300)}"
    yield f"{_headline(progress)} ({where}{manager})"
    for stage in progress.stages:
        yield f"  {printable(stage.name, 20):<10} {_bar(stage)}"
    states = ", ".join(f"{count} {state}" for state, count in sorted(progress.states.items()))
    yield f"runs: {states}; {progress.epochs:,} of at most {progress.epochs_most:,} epochs"
    if progress.best is not None:
        best = progress.best
        epoch = f", epoch {best.epoch}" if best.epoch is not None else ""
        yield (
            f"best {'run' if progress.done else 'so far: run'} {best.run}, {progress.metric} "
            f"{short(best.value)}{epoch}{'' if best.ended else ', still running'}"
        )
    for failure in progress.failures[:_SHOWN]:
        log = f" (see {printable(failure.log, 120)})" if failure.log else ""
        yield f"  {failure.what} {failure.state}: {abridged(failure.cause, _CAUSE)}{log}"
    if len(progress.failures) > _SHOWN:
        yield f"  and {len(progress.failures) - _SHOWN} more; --json lists all"
    if each:
        yield _runs(progress)


def _headline(progress: Progress) -> str:
    if progress.active:
        return "running" if progress.asked else "running, by its files"
    if progress.done:
        return "done"
    if progress.manager is None and progress.updated is None:
        return "not submitted yet"
    left = sum(stage.total - stage.done for stage in progress.stages)
    if progress.stages and not left:
        return "not done, though all nodes are; finish it with: jobsight sweep collect"
    what = f"stopped with {counted(left, 'node')} not done" if left else "not done"
    return f"{what}; submit again to continue"


def _bar(stage: StageProgress) -> str:
    full, _, empty = blocks()
    filled = math.floor(_BAR * stage.done / stage.total)
    parts = [f"{full * filled}{empty * (_BAR - filled)} {stage.done}/{stage.total}"]
    counts = {"running": stage.running, "failed or held": stage.failed, "stopped": stage.stopped}
    return ", ".join(parts + [f"{count} {name}" for name, count in counts.items() if count])


def _runs(progress: Progress) -> str:
    headings = ["run", "state", "epochs", progress.metric, "starts", "where", "why"]
    rows = [
        [
            *(str(one.run), one.state, str(one.epochs)),
            UNKNOWN if one.value is None else short(one.value),
            *(str(one.attempts), printable(one.where or UNKNOWN, 40)),
            abridged(one.cause or "", _CAUSE),
        ]
        for one in progress.runs
    ]
    return table(headings, rows, ["where", "starts"], left=["state", "where", "why"])
