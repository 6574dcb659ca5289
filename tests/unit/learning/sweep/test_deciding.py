import json
from pathlib import Path
from typing import Any

import pytest
from tests.small_sweeps import SPACE

from jobsight.errors import SweepError
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.deciding import plan_round
from jobsight.learning.sweep.layout import Frozen, Layout, Shard, read_point
from jobsight.learning.sweep.planning import freeze, lay_out
from jobsight.learning.tracking import RunEnd, Tracker


def planned(folder: Path, **changed: Any) -> tuple[Frozen, Layout]:
    told: dict[str, Any] = {"data": ["x"], "runs": 8, "epochs": 9, "parameters": SPACE}
    config = SweepConfig.model_validate(told | changed)
    frozen = freeze(config, {}, (Shard("s01", ("/x",), modified=(0.0,)),), base=Path("/"))
    layout = Layout(folder / "sweep")
    return lay_out(frozen, layout, ("jobsight",)).frozen, layout


def tell(layout: Layout, run: int, value: float | None, status: str | None = "finished") -> None:
    with Tracker(layout.run(run)) as tracker:
        tracker.start(run=run, parameters=read_point(layout.folder, run))
        if value is not None:
            tracker.epoch(1, {"f1": value})
        if status is not None:
            metrics = {"f1": value}
            tracker.end(RunEnd(status, epochs=1, metrics=metrics))  # type: ignore[arg-type]


def test_a_round_is_learned_from_all_before_it(tmp_path: Path) -> None:
    frozen, layout = planned(tmp_path, method="bayes", round=4)
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
    with pytest.raises(SweepError, match="there is no round 3"):
        plan_round(frozen, layout, 3)
