import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.support import pools

from jobsight.errors import JobsightError, OutputError, SourceError
from jobsight.history.timelines import History
from jobsight.learning import metrics
from jobsight.learning.backtest import last_block
from jobsight.learning.dataset import Dataset
from jobsight.learning.metrics import METRICS
from jobsight.learning.sweep.attempt import Saving
from jobsight.learning.sweep.records import RunStatus, read_record
from jobsight.learning.sweep.run import RunResult, drop_run, train_run
from jobsight.learning.sweep.searched import with_parameters
from jobsight.learning.tracking import RunEnd, StopReason, Tracker
from jobsight.models.base import Inputs
from jobsight.models.recurrent import Recurrent
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings

pytest.importorskip("torch", reason="PyTorch is not installed")

SETTINGS = pools.settings()
CONFIG = pools.sweep_of(SETTINGS)
POINT: dict[str, Any] = {"m": 8, "lstm_layers": 2}


def run(
    folder: Path,
    *,
    history: Callable[[], History] = pools.history,
    parameters: dict[str, Any] = POINT,
    settings: HoldSettings = SETTINGS,
    **more: Any,
) -> RunResult:
    with Tracker(folder) as tracker:
        return train_run(
            folder,
            history,
            pools.sweep_of(settings),
            parameters=parameters,
            run=7,
            tracker=tracker,
            **more,
        )


def end_of(result: RunResult) -> RunEnd:
    assert result.end is not None
    assert result.stopped is None
    return result.end


def kept(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "model").iterdir()}


def events(folder: Path) -> list[str]:
    lines = (folder / "record.jsonl").read_text().splitlines()
    return [json.loads(line)["event"] for line in lines]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    run(folder)
    return folder


def test_a_run_ends_with_a_model_all_metrics_and_a_record(whole: Path) -> None:
    record = read_record(whole)
    assert record.status is RunStatus.FINISHED
    assert record.parameters == POINT
    assert set(record.metrics) == set(METRICS)
    assert record.epochs.number.tolist() == [1, 2, 3, 4, 5]
    assert {"train_loss", "select_loss", "seconds", "f1", "roc_auc"} <= set(record.epochs.columns)
    assert record.best_epoch == int(np.argmin(record.epochs.columns["select_loss"])) + 1
    resolved = with_parameters(HOLD, SETTINGS, POINT)
    _, later = last_block(Dataset.for_training(HOLD, pools.history(), resolved))
    model = Recurrent.load(whole / "model")  # the kept weights are those of the best epoch
    found = metrics.score(model.predict(later.inputs), later.success, later.weight)
    for name in ("log_loss", "roc_auc", "brier"):
        assert record.metrics[name] == pytest.approx(found[name], abs=1e-6)
    assert record.peak_bytes is not None and record.peak_bytes > 10_000_000
    assert set(kept(whole)) == {"model.json", "network.safetensors"}
    told = json.loads((whole / "result.json").read_text())
    assert (told["run"], told["status"], told["event"]) == (7, "finished", "end")


def test_what_is_done_is_not_done_again(whole: Path) -> None:
    before = (whole / "record.jsonl").read_bytes(), kept(whole)

    def never() -> History:
        raise AssertionError("the history was read")

    assert end_of(run(whole, history=never)).status == "finished"
    assert ((whole / "record.jsonl").read_bytes(), kept(whole)) == before


@pytest.mark.parametrize("damage", ["model", "result", "parameters"])
def test_a_result_that_is_not_whole_is_made_again(tmp_path: Path, whole: Path, damage: str) -> None:
    first, folder = end_of(run(tmp_path)), tmp_path
    parameters = POINT
    if damage == "model":
        (folder / "model" / "network.safetensors").write_bytes(b"damaged")
    elif damage == "result":
        (folder / "result.json").write_bytes(b"{")
    else:
        parameters = POINT | {"m": 6}
    again = end_of(run(folder, parameters=parameters))
    assert again.status == "finished"
    assert (kept(folder) == kept(whole)) == (damage != "parameters")
    assert (again.metrics == first.metrics) == (damage != "parameters")


@pytest.mark.parametrize("at", [1, 6, 15, 27])
def test_interrupted_anywhere_it_ends_the_same(tmp_path: Path, whole: Path, at: int) -> None:
    asked = 0

    def stop() -> StopReason | None:
        nonlocal asked
        asked += 1
        return "limit" if asked > at else None

    result = run(tmp_path, stop=stop)
    assert (result.end, result.stopped) == (None, "limit")
    assert events(tmp_path)[-1] == "stopped"
    assert read_record(tmp_path).status is RunStatus.STOPPED
    again = run(tmp_path)
    assert again.epochs == 5
    assert kept(tmp_path) == kept(whole)
    assert end_of(again).metrics == read_record(whole).metrics
    record = read_record(tmp_path)
    assert record.attempts == 2
    assert record.epochs.number.tolist() == [1, 2, 3, 4, 5]
    # Only the epoch under way was trained twice, and no line tells of its first time.
    assert events(tmp_path).count("epoch") == 5


class Always(Saving):
    """Saves whenever it may."""

    def due(self, **_told: float) -> bool:
        return True


def test_it_saves_behind_each_epoch_but_the_last_and_ends_the_same(
    tmp_path: Path, whole: Path
) -> None:
    for epoch in range(1, 5):
        result = run(tmp_path, saving=Always())
        assert (result.stopped, result.epochs) == ("saved", epoch)
    assert end_of(run(tmp_path, saving=Always())).status == "finished"
    assert kept(tmp_path) == kept(whole)
    record = read_record(tmp_path)
    assert (record.attempts, record.repeated) == (1, 0)
    assert [one.ending for one in record.history] == ["end"]
    assert record.metrics == read_record(whole).metrics
    assert events(tmp_path).count("epoch") == 5


def test_who_is_told_to_go_while_it_would_save_goes(tmp_path: Path) -> None:
    def told() -> StopReason | None:
        return "evicted" if (tmp_path / "checkpoint").exists() else None

    assert run(tmp_path, saving=Always(), stop=told).stopped == "evicted"


def test_it_does_not_save_where_it_ends_anyway(tmp_path: Path) -> None:
    assert run(tmp_path, saving=Always(), until=1).stopped == "until"
    assert run(tmp_path, saving=Saving(3600.0)).end is not None


def test_until_an_epoch_and_on(tmp_path: Path, whole: Path) -> None:
    for _ in range(2):
        result = run(tmp_path, until=2)
        assert (result.stopped, result.epochs) == ("until", 2)
        assert not (tmp_path / "result.json").exists()
    assert end_of(run(tmp_path, until=9)).status == "finished"
    assert kept(tmp_path) == kept(whole)


def test_a_run_that_is_dropped_ends_with_its_best_epoch(tmp_path: Path) -> None:
    run(tmp_path, until=3)
    for _ in range(2):
        with Tracker(tmp_path) as tracker:
            end = end_of(
                drop_run(
                    tmp_path, CONFIG, parameters=POINT, run=7, tracker=tracker,
                    cause="behind 3 of 4\nothers",
                )
            )  # fmt: skip
        assert (end.status, end.epochs) == ("dropped", 3)
        assert end.cause is not None and "\n" not in end.cause
        assert set(end.metrics or {}) == set(METRICS)
    assert events(tmp_path)[-2:] == ["start", "end"]
    assert read_record(tmp_path).status is RunStatus.DROPPED
    assert end_of(run(tmp_path)).status == "dropped"
    assert not (tmp_path / "model").exists()


def test_one_that_never_began_can_be_dropped_too(tmp_path: Path) -> None:
    with Tracker(tmp_path) as tracker:
        end = end_of(
            drop_run(tmp_path, CONFIG, parameters=POINT, run=1, tracker=tracker, cause="late")
        )
    assert (end.epochs, end.best_epoch, end.metrics) == (0, None, {})


@pytest.mark.parametrize(
    ("parameters", "cause"),
    [
        ({"hiden_size": 3}, "parameter 'hiden_size' is unknown"),
        ({"learning_rate": 0.0}, "learning_rate: .*greater than 0"),
        ({"network": "gru"}, "no network is named 'gru'"),
        ({"network": "nowhere:Net"}, "cannot import the network"),
        ({"m": 10_000, "j": 10_000}, r"too large: it needs at least \d+\.\d GB"),
        ({"m": 9}, "too large for the memory there is .m 9, "),
    ],
)
def test_impossible_parameters_are_a_result(
    tmp_path: Path, parameters: dict[str, Any], cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if parameters == {"m": 9}:
        from jobsight.questions.hold.examples import builder

        def full(*_given: object, **_more: object) -> None:
            raise MemoryError("Unable to allocate 4.00 TiB")

        monkeypatch.setattr(builder, "build_frames", full)
    end = end_of(run(tmp_path, parameters=parameters))
    assert end.status == "failed"
    record = read_record(tmp_path)
    assert record.status is RunStatus.FAILED
    assert record.cause is not None
    assert re.search(cause, record.cause)
    assert end_of(run(tmp_path, parameters=parameters)) == end


def test_a_loss_that_became_nan_is_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jobsight.models.fitting import Fitting

    step, steps = Fitting._step, 0

    def bad(self: Fitting, rows: Any, number: int) -> float:
        nonlocal steps
        steps += 1
        value = step(self, rows, number)
        if number == 3:
            self._require_finite(float("nan"), number)
        return value

    monkeypatch.setattr(Fitting, "_step", bad)
    end = end_of(run(tmp_path, parameters={"learning_rate": 0.09}))
    assert (end.status, end.epochs) == ("failed", 2)
    assert end.cause == "the loss became NaN in epoch 3 (learning_rate 0.09)"


def test_trouble_of_the_machine_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost() -> History:
        raise SourceError("the disk is away")

    with pytest.raises(SourceError, match="away"):
        run(tmp_path / "a", history=lost)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "checkpoint").write_text("a file")
    with pytest.raises(OutputError, match="checkpoint"):
        run(tmp_path / "b")
    from jobsight.models.fitting import Fitting

    def broken(*_given: object) -> float:
        raise RuntimeError("CUDA error: an illegal memory access was encountered\nmore")

    monkeypatch.setattr(Fitting, "_step", broken)
    with pytest.raises(JobsightError, match=r"run 7: PyTorch failed: CUDA error.*encountered$"):
        run(tmp_path / "c")
    for name in "abc":
        assert not (tmp_path / name / "result.json").exists()


def test_no_gpu_where_one_is_asked_for_may_pass_elsewhere(tmp_path: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(JobsightError, match="sees no GPU"):
        run(tmp_path, settings=pools.settings(lstm={"device": "cuda"}))
    assert not (tmp_path / "result.json").exists()


def test_a_log_that_teaches_nothing_is_a_result(tmp_path: Path) -> None:
    def nothing() -> History:
        return History.from_table(pools.events().filter(pl.col("code") != 13))

    end = end_of(run(tmp_path, history=nothing))
    assert end.status == "failed"
    assert end.cause is not None and "nothing to learn from" in end.cause


def changed_after_training() -> History:
    """The pool's history with all that the test part would tell gone or turned round.

    Left are the holds and releases themselves, of which the borders of the parts are made.
    """
    data = Dataset.for_training(HOLD, pools.history(), SETTINGS)
    history = data.source
    later = pl.Series(history.clock >= data.borders[1])
    code = pl.col("code")
    table = history.table.with_columns(later=later).filter(
        ~pl.col("later") | code.is_in([12, 13]) | ((code == 5) & (pl.col("cluster") % 3 == 0))
    )
    return History.from_table(
        table.with_columns(
            return_value=pl.when("later")
            .then(1 - pl.col("return_value"))
            .otherwise("return_value"),
            host=pl.when("later").then(pl.lit("elsewhere")).otherwise("host"),
            slot=pl.when("later").then(pl.lit("slot9@x@y")).otherwise("slot"),
            memory_mb=pl.when("later").then(pl.lit(10**6)).otherwise("memory_mb"),
        ).drop("later")
    )


def test_nothing_of_the_test_part_changes_a_run(tmp_path: Path, whole: Path) -> None:
    changed = changed_after_training()
    usual = Dataset.for_training(HOLD, pools.history(), SETTINGS)
    other = Dataset.for_training(HOLD, changed, SETTINGS)
    assert other.borders[:2].tolist() == usual.borders[:2].tolist()
    outcomes = [
        data.table.filter(pl.Series(data.since_test()))["outcome"] for data in (usual, other)
    ]
    assert not outcomes[0].equals(outcomes[1], null_equal=True)
    end = end_of(run(tmp_path, history=lambda: changed))
    assert kept(tmp_path) == kept(whole)
    assert end.metrics == read_record(whole).metrics


def test_no_example_of_the_test_part_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jobsight.questions.hold.examples.builder import ExampleBuilder

    asked: list[pl.DataFrame] = []
    inputs = ExampleBuilder.inputs

    def told(self: ExampleBuilder, decisions: pl.DataFrame, *more: Any) -> Inputs:
        asked.append(decisions)
        return inputs(self, decisions, *more)

    monkeypatch.setattr(ExampleBuilder, "inputs", told)
    run(tmp_path)
    border = Dataset.for_training(HOLD, pools.history(), SETTINGS).borders[1]
    assert len(asked) == 1
    assert all((decisions["released"] < border).all() for decisions in asked)
