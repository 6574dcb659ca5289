"""How far a sweep is: by its study, the records of its runs, and its scheduler."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobsight.tuning.finish import is_done
from jobsight.tuning.folder import Sweep
from jobsight.tuning.record import run_folder, started_runs
from jobsight.tuning.run import CHECKPOINTS
from jobsight.tuning.scheduler import NodeStatus, Status
from jobsight.tuning.study import Runs

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

__all__ = ["Failure", "Progress", "RunProgress", "leftovers", "progress_of"]

_ENDED = {"COMPLETE": "complete", "PRUNED": "pruned", "FAIL": "failed"}
"""By the name of a trial's state."""


@dataclass(frozen=True)
class RunProgress:
    """One run.

    `state` is how it ended (complete, pruned, failed); before that running, queued, held, waiting,
    or stopped; ``broken`` where its scheduler gave it up. `value` is the best so far, of `epoch`;
    `where` the machine it runs or ran on last.
    """

    run: int
    state: str
    epochs: int
    value: float | None
    epoch: int | None
    where: str | None
    attempts: int
    cause: str | None


@dataclass(frozen=True)
class Failure:
    """A run, or a step that finishes the sweep, that failed or is held.

    `log` is the file with more about the cause, relative to the sweep's folder; None: unknown.
    """

    what: str
    state: str
    cause: str
    log: str | None = None


@dataclass(frozen=True)
class Progress:
    """How far a sweep is.

    Attributes:
        where: name of the scheduler.
        manager: what drives it; None: it was not submitted.
        asked: the scheduler answered; else `manager` says why not.
        states: runs by state.
        epochs: trained by all runs, of at most `epochs_most` where none stops early.
        failures: what failed or is held, with causes.
        best: None before any value.
        done: the best of the runs, as they are, was found, tested, registered and reported.
        spent: seconds that all runs took.
    """

    active: bool
    where: str
    manager: str | None
    asked: bool
    runs: tuple[RunProgress, ...]
    states: dict[str, int]
    epochs: int
    epochs_most: int
    failures: tuple[Failure, ...]
    metric: str
    best: RunProgress | None
    done: bool
    spent: float

    @property
    def ended(self) -> int:
        """Runs that ended, in whatever way."""
        return sum(self.states.get(state, 0) for state in _ENDED.values())

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "ended": self.ended}


def progress_of(sweep: Sweep, runs: Runs, status: Status) -> Progress:
    """Join the study with what the scheduler reports and what runs recorded."""
    records = {one.run: one for one in started_runs(sweep.folder)}
    config, each = sweep.config, []
    trials = runs.trials()
    maximize = config.metric.goal == "maximize"
    spent = 0.0
    for trial in trials:
        run = trial.number + 1
        node, record = status.nodes.get(f"run-{run:04d}"), records.get(run)
        values = trial.intermediate_values
        epoch = (max if maximize else min)(values, key=values.__getitem__, default=None)
        value = None if epoch is None else values[epoch]
        state, cause = _state(trial, node, active=status.active)
        spent += record.seconds if record else 0.0
        each.append(
            RunProgress(
                run=run,
                state=state,
                epochs=len(record.epochs) if record else len(values),
                value=value,
                epoch=epoch,
                where=(node and node.where) or (record and record.host) or None,
                attempts=record.attempts if record else 0,
                cause=cause,
            )
        )
    judged = [
        one for one in each if one.value is not None and one.state not in ("failed", "pruned")
    ]
    best = (max if maximize else min)(judged, key=lambda one: one.value or 0.0, default=None)
    failures = [
        Failure(name, node.state, node.cause or "no cause given", node.log)
        for name, node in status.nodes.items()
        if node.state in ("failed", "held", "removed") and not _has_ended(name, trials)
    ]
    failures += [
        Failure(f"run {one.run}", one.state, one.cause or "no cause given")
        for one in each
        if one.state == "failed"
    ]
    return Progress(
        active=status.active,
        where=config.where,
        manager=status.manager,
        asked=status.asked,
        runs=tuple(each),
        states=dict(Counter(one.state for one in each)),
        epochs=sum(one.epochs for one in each),
        epochs_most=len(each) * config.epochs,
        failures=tuple(failures),
        metric=config.metric.name,
        best=best,
        done=not status.active and is_done(sweep, runs),
        spent=spent,
    )


def _has_ended(name: str, trials: list[FrozenTrial]) -> bool:
    kind, _, digits = name.partition("-")
    return kind == "run" and digits.isdecimal() and trials[int(digits) - 1].state.is_finished()


def _state(trial: FrozenTrial, node: NodeStatus | None, *, active: bool) -> tuple[str, str | None]:
    """The end of a run is in its trial; before that its scheduler knows best."""
    if trial.state.is_finished():
        return _ENDED[trial.state.name], trial.user_attrs.get("error")
    if node is not None and node.state in ("failed", "removed"):
        return "broken", node.cause
    if node is not None and node.state != "done":
        return node.state, node.cause
    if trial.state.name == "WAITING":
        return "waiting", None
    return ("running" if active and not trial.user_attrs.get("stopped") else "stopped"), None


def leftovers(sweep: Sweep, progress: Progress) -> dict[Path, int]:
    """What may go, and its bytes: checkpoints of runs that ended, files of the scheduler."""
    candidates = [
        run_folder(sweep.folder, one.run) / CHECKPOINTS
        for one in progress.runs
        if one.state in _ENDED.values()
    ]
    if progress.done:
        candidates.append(sweep.submitted)
    return {
        path: sum(one.lstat().st_size for one in path.rglob("*") if not one.is_dir())
        for path in candidates
        if path.is_dir() and not path.is_symlink()
    }
