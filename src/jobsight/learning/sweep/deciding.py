"""What is decided between two rounds of runs: the points of the next.

Results are taken in order of run number and written down before anything is made of them, so a
node that is tried again decides the same.
"""

from __future__ import annotations

from typing import Any

from jobsight.errors import SweepError
from jobsight.files import write_json
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.layout import Frozen, Layout, point_of
from jobsight.learning.sweep.records import Goal, RunRecord, RunStatus, read_record
from jobsight.learning.sweep.rounds import Rounds
from jobsight.learning.sweep.stages import rounds_of

__all__ = ["plan_round"]


def plan_round(frozen: Frozen, layout: Layout, number: int) -> list[int]:
    """Write the points of a round (2, 3 …), learned from the results of all rounds before.

    Returns:
        the runs that got a point.

    Raises:
        SweepError: there is no such round, or a run before it has not ended.
        OutputError: a point cannot be written.
    """
    rounds = rounds_of(frozen)
    if not 2 <= number <= len(rounds):
        raise SweepError(f"there is no round {number} to plan; the sweep has {len(rounds)}")
    config = SweepConfig.model_validate(frozen.config)
    before = [read_record(layout.run(run)) for run in range(1, rounds[number - 1].start)]
    waiting = [one.run for one in before if not one.status.ended]
    if waiting:
        raise SweepError(
            f"round {number} needs the results of all runs before it, but run {waiting[0]} has "
            "not ended; submit the sweep again"
        )
    results = [_result(one, *frozen.metric) for one in before]
    points = Rounds(config).points(number, results)
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
