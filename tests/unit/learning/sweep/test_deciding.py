import json
from pathlib import Path

import pytest
from tests.support.small_sweeps import planned

from jobsight.errors import SweepError
from jobsight.learning.sweep.deciding import drop_hopeless, plan_round
from jobsight.learning.sweep.layout import Layout, read_point
from jobsight.learning.tracking import RunEnd, Tracker


def tell(layout: Layout, run: int, value: float | None, status: str | None = "finished") -> None:
    with Tracker(layout.run(run)) as tracker:
        tracker.start(run=run, parameters=read_point(layout.folder, run))
        if value is not None:
            tracker.epoch(1, {"f1": value})
        if status is not None:
            metrics = {"f1": value}
            tracker.end(RunEnd(status, epochs=1, metrics=metrics))  # type: ignore[arg-type]


def test_the_worst_are_dropped_once_and_for_all(tmp_path: Path) -> None:
    layout, frozen, *_ = planned(tmp_path, runs=5, drop={"after": 1, "keep": 0.5})
    for run, value in enumerate((0.1, 0.9, None, 0.5, 0.2), start=1):
        tell(layout, run, value, None)
    dropped, cause = drop_hopeless(frozen, layout, 1)
    assert dropped == [1, 3]
    assert cause == "not among the best 50% of 5 runs after 1 epoch"
    tell(layout, 3, 0.99, None)
    assert drop_hopeless(frozen, layout, 1)[0] == [1, 3]


def test_a_search_with_more_runs_decides_anew_about_these(tmp_path: Path) -> None:
    drop = {"after": 1, "keep": 0.5}
    layout, frozen, *_ = planned(tmp_path, runs=2, drop=drop)
    for run, value in ((1, 0.1), (2, 0.9)):
        tell(layout, run, value, None)
    assert drop_hopeless(frozen, layout, 1)[0] == [1]
    for run, status in ((1, "dropped"), (2, "finished")):
        tell(layout, run, 0.5, status)
        layout.result(run).write_text("{}")
    layout, frozen, *_ = planned(tmp_path, runs=4, drop=drop)
    assert frozen.first == 3
    for run, value in ((3, 0.9), (4, 0.1)):
        tell(layout, run, value, None)
    assert drop_hopeless(frozen, layout, 1)[0] == [4]


def test_runs_that_ended_compete_but_stay_what_they_are(tmp_path: Path) -> None:
    layout, frozen, *_ = planned(tmp_path, runs=4, drop={"after": 1, "keep": 0.5})
    tell(layout, 1, 0.1, "early")
    tell(layout, 2, None, "failed")
    tell(layout, 3, 0.3, None)
    tell(layout, 4, 0.4, None)
    assert drop_hopeless(frozen, layout, 1)[0] == []


def test_a_round_is_learned_from_all_before_it(tmp_path: Path) -> None:
    layout, frozen, *_ = planned(tmp_path, runs=8, method="bayes", round=4)
    with pytest.raises(SweepError, match="run 1 has not ended"):
        plan_round(frozen, layout, 2)
    for run in (3, 1, 4, 2):
        tell(layout, run, run / 10)
    assert plan_round(frozen, layout, 2) == [5, 6, 7, 8]
    points = [read_point(layout.folder, run) for run in range(5, 9)]
    told = json.loads((layout.round(2) / "results.json").read_text())["results"]
    assert [(one["run"], one["value"]) for one in told] == [(1, 0.1), (2, 0.2), (3, 0.3), (4, 0.4)]
    plan_round(frozen, layout, 2)
    assert [read_point(layout.folder, run) for run in range(5, 9)] == points
