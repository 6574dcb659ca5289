import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.support import pools

from jobsight.errors import ModelError, OutputError, UsageError
from jobsight.learning.modeldir import ModelDir
from jobsight.learning.sweep import finish
from jobsight.learning.sweep.finish import finish_sweep, looks
from jobsight.learning.sweep.run import train_run
from jobsight.learning.tracking import Tracker
from jobsight.learning.train import train
from jobsight.learning.trained import Trained
from jobsight.questions.hold.question import HOLD

pytest.importorskip("torch", reason="PyTorch is not installed")

SETTINGS = pools.settings(lstm={"epochs": 2, "hidden_size": 8})
CONFIG = pools.sweep_of(SETTINGS)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, of m = 4 and of m = 5."""
    folder = tmp_path_factory.mktemp("runs")
    for m in (4, 5):
        place = folder / str(m)
        with Tracker(place) as tracker:
            train_run(
                place, pools.history, CONFIG, parameters={"m": m}, run=m,
                tracker=tracker,
            )  # fmt: skip
    return folder


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few models, so that no test waits for the others."""

    def few(*given: Any, **more: Any) -> Trained:
        return train(*given, names=("constant", "rates", "lstm"), **more)

    monkeypatch.setattr(finish, "train", few)


def finished(runs: Path, m: int, record: Path, **more: Any) -> Trained:
    return finish_sweep(
        pools.history(),
        CONFIG,
        parameters={"m": m},
        network=runs / str(m) / "model",
        record=record,
        **more,
    )


@pytest.mark.usefixtures("quick")
def test_the_best_parameters_are_trained_next_to_the_other_models(
    runs: Path, tmp_path: Path
) -> None:
    made = finished(runs, 4, tmp_path / "looks.json")
    assert made.model.settings.frames.m == 4
    assert set(made.model.fitted) == {"constant", "rates", "lstm"}
    assert set(made.model.main.report["models"]) == {"constant", "rates", "lstm"}
    folder = tmp_path / "best"
    folder.mkdir()
    made.model.save(folder, seed=SETTINGS.seed, facts=made.facts())
    assert ModelDir.open(folder, HOLD).fitted["lstm"].model.name == "lstm"


@pytest.mark.usefixtures("quick")
def test_the_test_part_is_looked_at_once(runs: Path, tmp_path: Path) -> None:
    record = tmp_path / "looks.json"
    finished(runs, 4, record)
    before = record.read_bytes()
    finished(runs, 4, record)  # the same again tells nothing new
    assert record.read_bytes() == before
    with pytest.raises(UsageError, match=r"looked at with the network of .*4/model already"):
        finished(runs, 5, record)
    assert record.read_bytes() == before
    finished(runs, 5, record, again=True)
    assert [Path(look["folder"]).parent.name for look in looks(record)] == ["4", "5"]


def test_the_look_is_recorded_before_it_happens(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "looks.json"

    def killed(*_given: object, **_more: object) -> None:
        assert looks(record)
        raise KeyboardInterrupt

    monkeypatch.setattr(finish, "train", killed)
    with pytest.raises(KeyboardInterrupt):
        finished(runs, 4, record)
    with pytest.raises(UsageError, match="already"):
        finished(runs, 5, record)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"schema": "jobsight.test-looks/9"}'])
def test_a_damaged_record_is_no_leave_to_look(runs: Path, tmp_path: Path, content: bytes) -> None:
    record = tmp_path / "looks.json"
    record.write_bytes(content)
    with pytest.raises(OutputError, match="cannot be read"):
        finished(runs, 4, record)
    assert record.read_bytes() == content


def test_a_network_of_other_settings_is_refused(runs: Path, tmp_path: Path) -> None:
    record = tmp_path / "looks.json"
    given: Any = {"network": runs / "4" / "model", "record": record}
    for parameters in ({"m": 5}, {"m": 4, "hidden_size": 8}, {"m": 4, "windows": [9.0]}):
        with pytest.raises(ModelError, match="a run with other settings or parameters"):
            finish_sweep(pools.history(), CONFIG, parameters=parameters, **given)
    other = pools.sweep_of(SETTINGS.model_copy(update={"seed": 5}))
    with pytest.raises(ModelError, match="a run with other settings"):
        finish_sweep(pools.history(), other, parameters={"m": 4}, **given)


@pytest.mark.parametrize("damage", ["changed", "lost", "result"])
def test_a_network_that_is_not_the_runs_is_refused(runs: Path, tmp_path: Path, damage: str) -> None:
    copy, record = tmp_path / "4", tmp_path / "looks.json"
    shutil.copytree(runs / "4", copy)
    place = copy / "model" / "network.safetensors"
    if damage == "changed":
        place.write_bytes((runs / "5" / "model" / "network.safetensors").read_bytes())
    elif damage == "lost":
        place.unlink()
    else:
        (copy / "result.json").write_text("{}")
    with pytest.raises(ModelError, match=r"cannot take the network .*result\.json: "):
        finished(tmp_path, 4, record)
    assert not record.exists()


def test_a_record_that_cannot_be_written_stops_the_look(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError):
        finished(runs, 4, tmp_path / "file" / "looks.json")


def test_no_look_yet(tmp_path: Path) -> None:
    assert looks(tmp_path / "none.json") == []
    path = tmp_path / "looks.json"
    look = {"network": "a", "folder": "b", "time": 1}
    path.write_text(json.dumps({"schema": "jobsight.test-looks/1", "looks": [look]}))
    assert looks(path) == [look]
