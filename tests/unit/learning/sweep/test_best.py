import json
import math
from pathlib import Path
from typing import Any

import pytest
from tests.support.small_sweeps import SPACE

from jobsight.errors import SweepError
from jobsight.learning.sweep.best import best_of, described, info_text, read_best, write_best
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.layout import Frozen, Layout
from jobsight.learning.sweep.planning import freeze
from jobsight.learning.sweep.records import RunRecord, RunStatus


def record(run: int, value: float | None, status: RunStatus = RunStatus.FINISHED) -> RunRecord:
    metrics = {} if value is None else {"f1": value}
    return RunRecord(Path(f"runs/{run:04d}"), run, status, metrics=metrics, cause="diverged")


def frozen() -> Frozen:
    told = {"data": ["x"], "runs": 3, "parameters": SPACE}
    return freeze(SweepConfig.model_validate(told), {}, (), base=Path("/"))


def test_ties_go_to_the_lowest_run_and_what_ended_without_a_model_is_not_chosen() -> None:
    records = [
        record(1, math.nan), record(2, 0.9, RunStatus.FAILED), record(3, 0.5), record(4, 0.7),
        record(5, 0.7, RunStatus.EARLY), record(6, 0.8, RunStatus.RUNNING),
        record(7, 0.6, RunStatus.DROPPED), record(8, None),
    ]  # fmt: skip
    assert best_of(records, "f1", "maximize").run == 4
    assert best_of(records, "f1", "minimize").run == 3


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([record(1, None, RunStatus.WAITING)], "none of 1 run has ended yet"),
        ([record(1, None, RunStatus.FAILED)], "run 1: diverged; widen the search space"),
        ([record(1, math.nan)], "no run has a value of 'f1'; the metrics of the runs are f1"),
    ],
)
def test_why_there_is_no_best(records: list[RunRecord], message: str) -> None:
    with pytest.raises(SweepError, match=message):
        best_of(records, "f1", "maximize")


def test_info_is_for_people_and_for_machines(tmp_path: Path) -> None:
    best = record(2, 0.5)
    facts = described(frozen(), [best], best, [{"name": "a\nb", "sha256": "0", "bytes": 1}], {})
    write_best(Layout(tmp_path), facts)
    assert read_best(Layout(tmp_path)) == json.loads(json.dumps(facts))
    lines = info_text(facts).splitlines()
    assert lines[:4] == ["run = 2", 'metric = "f1"', 'goal = "maximize"', "value = 0.5"]
    assert 'data.source.1 = "a\\nb"' in lines
    assert (tmp_path / "best/bestmodel.info").read_text() == info_text(facts)
    assert all(json.loads(line.partition(" = ")[2]) is not ... for line in lines)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": "jobsight.best/9"}'])
def test_damage_is_one_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "best").mkdir()
    (tmp_path / "best/bestmodel.json").write_text(text)
    with pytest.raises(SweepError, match="is damaged"):
        read_best(Layout(tmp_path))


def test_facts_are_of_this_sweep(tmp_path: Path) -> None:
    from jobsight.learning.sweep.best import is_collected

    best, layout = record(2, 0.5), Layout(tmp_path)
    facts: dict[str, Any] = described(frozen(), [best], best, [], {})
    layout.report.write_text("")
    assert not is_collected(frozen(), layout, [best])
    write_best(layout, facts)
    assert not is_collected(frozen(), layout, [best])  # it is in no registry
    write_best(layout, facts | {"registry": {}})
    assert is_collected(frozen(), layout, [best])
    assert not is_collected(frozen(), layout, [best, record(3, 0.1)])
