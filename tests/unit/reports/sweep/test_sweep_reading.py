"""A sweep's folder as the data of its report, however far the sweep is."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.reports.sweep.sweep_folders import REPORT, START, sweep_folder

from jobsight.errors import SweepError
from jobsight.files import write_json
from jobsight.learning.sweep.layout import Layout
from jobsight.learning.tracking import RunEnd, Tracker
from jobsight.reports.sweep.reading import read_data

Lines = list[dict[str, Any]]
BEGIN: dict[str, Any] = {"event": "start", "run": 1, "parameters": {"a": 1}, "seed": 0}


def epoch(number: int, seconds: int) -> dict[str, Any]:
    return {"event": "epoch", "time": START + seconds * 1_000_000, "epoch": number,
            "train_loss": 0.5, "select_loss": 0.6 - 0.01 * number, "f1": 0.5 + 0.01 * number,
            "seconds": 1.0}  # fmt: skip


def start(seconds: int, host: str, done: int = 0) -> dict[str, Any]:
    return {**BEGIN, "time": START + seconds * 1_000_000, "host": host, "epoch": done}


def end(seconds: int, status: str = "finished", f1: float | None = 0.7) -> dict[str, Any]:
    return {"event": "end", "time": START + seconds * 1_000_000, "status": status, "cause": None,
            "epochs": 3, "best_epoch": 3, "metrics": {"f1": f1}, "seconds": 5.0,
            "cpu_seconds": 4.0, "peak_bytes": 1000}  # fmt: skip


def material_of(folder: Path, *runs: Lines, **more: Any) -> Any:
    given = dict(enumerate(runs, start=1))
    sweep_folder(folder, len(runs), tested=False, change=lambda run, _: given[run], **more)
    return read_data(folder)


def test_attempts_are_told_apart(tmp_path: Path) -> None:
    lines = [
        start(0, "a"), epoch(1, 1), epoch(2, 2),
        {"event": "stopped", "time": START + 2_500_000, "reason": "evicted"},
        start(10, "b", 1), epoch(2, 11),
        start(20, "c", 2), epoch(3, 21), end(22),
    ]  # fmt: skip
    run = material_of(tmp_path / "x.sweep", lines).runs[0]
    assert [(one.host, one.ending, one.epoch) for one in run.attempts] == [
        ("a", "evicted", 2), ("b", "lost", 2), ("c", "end", 3),
    ]  # fmt: skip
    assert [(one.last - START) / 1e6 for one in run.attempts if one.last] == [2.5, 11, 22]
    assert run.evictions == 2
    assert run.repeated == 1
    assert run.epochs.tolist() == [1, 2, 3]
    assert run.metric == 0.7


def test_a_save_is_no_eviction(tmp_path: Path) -> None:
    def saved(at: int) -> dict[str, Any]:
        return {"event": "stopped", "time": START + at * 1_000_000, "reason": "saved"}

    lines = [
        start(0, "a"), epoch(1, 1), saved(2), start(3, "a", 1), epoch(2, 4), saved(5),
        start(9, "b", 2), epoch(3, 10), end(11),
    ]  # fmt: skip
    run = material_of(tmp_path / "x.sweep", lines).runs[0]
    assert [(one.host, one.ending) for one in run.attempts] == [("a", "saved"), ("b", "end")]
    assert (run.evictions, run.repeated) == (0, 0)


def test_a_round_that_ends_is_no_eviction(tmp_path: Path) -> None:
    stopped = {"event": "stopped", "time": START + 2_000_000, "reason": "until"}
    data = material_of(tmp_path / "x.sweep", [start(0, "a"), epoch(1, 1), stopped])
    run = data.runs[0]
    assert run.attempts[0].ending == "until"
    assert run.evictions == 0
    assert run.status == "running"
    assert run.metric == pytest.approx(0.51)


def test_the_best_ended_with_a_model(tmp_path: Path) -> None:
    data = material_of(
        tmp_path / "x.sweep",
        [start(0, "a"), epoch(1, 1), end(2, "dropped", 0.9)],
        [start(0, "a"), epoch(1, 1), end(2, "early", 0.6)],
        [start(0, "a"), epoch(1, 1), end(2, "failed", 0.95)],
        [start(0, "a"), epoch(50, 1)],
    )
    assert data.runs[data.best].number == 2
    assert [data.runs[k].number for k in data.judged] == [4, 1, 2]
    assert data.status_counts()["failed"] == 1


def test_equal_runs_go_by_their_number(tmp_path: Path) -> None:
    lines = [start(0, "a"), epoch(1, 1), end(2)]
    data = material_of(tmp_path / "x.sweep", lines, lines, lines)
    assert data.best == 0


@pytest.mark.parametrize(("goal", "best"), [("maximize", 2), ("minimize", 1)])
def test_the_goal_decides(tmp_path: Path, goal: str, best: int) -> None:
    data = material_of(
        tmp_path / "x.sweep",
        [start(0, "a"), end(2, f1=0.1)],
        [start(0, "a"), end(2, f1=0.2)],
        metric={"name": "f1", "goal": goal},
    )
    assert data.runs[data.best].number == best


def test_the_metric_may_be_missing(tmp_path: Path) -> None:
    data = material_of(tmp_path / "x.sweep", [start(0, "a"), end(2, f1=None)])
    assert data.best is None
    assert np.isnan(data.values).all()


def test_runs_without_a_folder_wait(tmp_path: Path) -> None:
    folder = tmp_path / "x.sweep"
    sweep_folder(folder, 0, tested=False)
    frozen = Layout(folder).frozen
    frozen.write_text(frozen.read_text().replace('"runs": 0', '"runs": 3'))
    data = read_data(folder)
    assert [run.status for run in data.runs] == ["waiting"] * 3
    assert data.best is None


def test_groups_of_parameters_find_their_search(tmp_path: Path) -> None:
    def lines(value: float) -> Lines:
        return [{**start(0, "a"), "parameters": {"lstm.dropout": value}}, end(2)]

    spec = {"lstm": {"parameters": {"dropout": {"min": 0.0, "max": 0.5}}}}
    data = material_of(tmp_path / "x.sweep", lines(0.1), lines(0.2), parameters=spec)
    assert data.columns[0].bounds == (0.0, 0.5)


def test_constants_are_left_out_where_others_vary(tmp_path: Path) -> None:
    def lines(value: float) -> Lines:
        return [{**start(0, "a"), "parameters": {"a": 1, "b": value}}, end(2)]

    data = material_of(tmp_path / "x.sweep", lines(1), lines(2))
    assert [column.name for column in data.columns] == ["b"]


def test_what_is_damaged_is_told(tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "x.sweep", 2, epochs=3)
    layout = Layout(folder)
    with layout.record(1).open("a") as file:
        file.write("{broken")
    (layout.best / "bestmodel.json").write_text("[")
    (layout.best / "model" / "report.json").write_text("{")
    data = read_data(folder)
    assert data.test is None
    assert len(data.notes) == 3
    assert any("1 damaged line" in note for note in data.notes)


def test_what_did_better_since_the_test_is_told(tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "x.sweep", 12, epochs=30)
    first = read_data(folder)
    assert not first.notes
    other = first.runs[int(first.judged[3])].number
    facts = {"schema": "jobsight.best/1", "run": other, "model": {"looks": 2, "digest": "ab"}}
    write_json(Layout(folder).best / "bestmodel.json", facts)
    data = read_data(folder)
    assert data.best == first.judged[3]
    assert data.test is not None
    assert data.test.looks == 2
    assert f"Run {first.runs[int(first.judged[0])].number} did better" in data.notes[-1]


def test_the_test_is_found_in_what_was_said_of_the_best(tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "x.sweep", 2, epochs=3, tested=False)
    model = {"test": REPORT["models"], "chosen": "boosted", "reason": "it is"}
    model |= {"loss": "log_loss", "digest": "ab"}
    facts = {"schema": "jobsight.best/1", "run": 1, "model": model}
    write_json(Layout(folder).best / "bestmodel.json", facts)
    test = read_data(folder).test
    assert test is not None
    assert test.report["chosen"] == "boosted"
    assert test.reason == "it is"


def test_a_tracked_run_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "x.sweep"
    sweep_folder(folder, 0, tested=False)
    with Tracker(Layout(folder).run(1)) as tracker:
        tracker.start(run=1, parameters={"m": 3})
        tracker.epoch(1, {"train_loss": 0.4, "select_loss": 0.5, "seconds": 0.1, "f1": 0.3})
        tracker.end(RunEnd("early", epochs=1, best_epoch=1, metrics={"f1": 0.3}, seconds=1.0))
    run = read_data(folder).runs[0]
    assert (run.status, run.metric, run.best_epoch) == ("early", 0.3, 1)
    assert run.select.tolist() == [0.5]
    assert run.attempts[0].ending == "end"


def test_what_is_no_sweep_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SweepError, match="no sweep's folder"):
        read_data(tmp_path)
