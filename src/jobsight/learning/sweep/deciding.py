"""What is decided between two groups of runs: the points of the next, and who is dropped.

Results are taken in order of run number and written down before anything is made of them, so a
node that is tried again decides the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jobsight.errors import SweepError
from jobsight.files import read_json, write_json
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.layout import Frozen, Layout, point_of
from jobsight.learning.sweep.records import Goal, RunRecord, RunStatus, read_record
from jobsight.learning.sweep.rounds import round_points
from jobsight.learning.sweep.search import hopeless
from jobsight.learning.sweep.stages import rounds_of
from jobsight.text import counted

__all__ = ["drop_hopeless", "plan_round"]


def plan_round(frozen: Frozen, layout: Layout, number: int) -> list[int]:
    """Write the points of a round (2, 3 …), learned from the results of all rounds before.

    Returns:
        the runs that got a point.

    Raises:
        SweepError: a run before it has not ended.
        OutputError: a point cannot be written.
    """
    rounds = rounds_of(frozen)
    config = SweepConfig.model_validate(frozen.config)
    before = [read_record(layout.run(run)) for run in range(1, rounds[number - 1].start)]
    waiting = [one.run for one in before if not one.status.ended]
    if waiting:
        raise SweepError(
            f"round {number} needs the results of all runs before it, but run {waiting[0]} has "
            "not ended; submit the sweep again"
        )
    results = [_result(one, *frozen.metric) for one in before]
    points = round_points(config, number, results)
    runs = list(rounds[number - 1])
    write_json(layout.round(number) / "results.json", {"round": number, "results": results})
    for run, parameters in zip(runs, points, strict=True):
        write_json(layout.point(run), point_of(run, parameters))
    return runs


def _result(record: RunRecord, metric: str, goal: Goal) -> dict[str, Any]:
    best = record.best(metric, goal) if record.status is not RunStatus.FAILED else None
    return {
        "run": record.run,
        "parameters": dict(record.parameters),
        "value": None if best is None else best.value,
        "status": record.status.value,
    }


def drop_hopeless(frozen: Frozen, layout: Layout, number: int) -> tuple[list[int], str]:
    """Decide which runs of a round are dropped after their first epochs, as the config has it.

    Runs that ended by then are among those that are compared, and stay what they are.

    Returns:
        the runs to drop, rising, and the cause in words.

    Raises:
        OutputError: the decision cannot be written.
    """
    drop = frozen.config["drop"]
    path, runs = layout.round(number) / "dropped.json", list(rounds_of(frozen)[number - 1])
    keep, after = float(drop["keep"]), counted(int(drop["after"]), "epoch")
    cause = f"not among the best {keep:.0%} of {counted(len(runs), 'run')} after {after}"
    decided = _decided(path, runs)
    if decided is not None:
        return decided, cause
    records = [read_record(layout.run(run)) for run in runs]
    metric, goal = frozen.metric
    worst = hopeless([_result(one, metric, goal) for one in records], keep, goal)
    dropped = sorted(worst)
    write_json(path, {"round": number, "runs": runs, "dropped": dropped})
    return dropped, cause


def _decided(path: Path, runs: Sequence[int]) -> list[int] | None:
    """Who of these runs was dropped, where that was decided already.

    A search that was given more runs counts its rounds from 1 again: what lies there of others is
    no decision about these.
    """
    try:
        saved = read_json(path, dict)
        return [int(run) for run in saved["dropped"]] if saved["runs"] == runs else None
    except (OSError, ValueError, LookupError, TypeError):
        return None
