import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jobsight.errors import ModelError, OutputError, TrainingError
from jobsight.models import watching
from jobsight.models.recurrent import Recurrent
from jobsight.models.watching import Checkpoint, Checkpoints, Epoch, EpochRecord, FittingWatch
from jobsight.settings import LstmSettings
from jobsight.testing import made_examples

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

SMALL = LstmSettings(hidden_size=8, epochs=6, batch_size=32, lstm_layers=2)
TRAIN, SELECT = made_examples(200, seed=1), made_examples(80, seed=2)
BATCHES = 7


class Watch(FittingWatch):
    """Keeps what it is given; stops before batch number `at` (from 0, of this attempt)."""

    def __init__(self, at: float = math.inf) -> None:
        self.at, self.batches = at, 0
        self.began: tuple[tuple[EpochRecord, ...], tuple[str, ...]] = ((), ())
        self.epochs: list[Epoch] = []
        self.on_disk: list[int] = []

    def begins(self, records: tuple[EpochRecord, ...], notes: tuple[str, ...]) -> None:
        self.began = records, notes

    def measured(self, epoch: Epoch) -> EpochRecord:
        self.epochs.append(epoch)
        return super().measured(epoch)

    def saved(self, number: int, record: EpochRecord) -> None:
        self.on_disk.append(number)

    def stop(self) -> bool:
        self.batches += 1
        return self.batches > self.at


def saved(model: Recurrent, folder: Path) -> dict[str, bytes]:
    folder.mkdir()
    model.save(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def at_once(tmp_path: Path, settings: LstmSettings = SMALL) -> dict[str, bytes]:
    model = Recurrent(settings)
    model.fit_resumably(TRAIN, SELECT, seed=3)
    return saved(model, tmp_path / "at-once")


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The model that `SMALL` gives, trained without an interruption."""
    return at_once(tmp_path_factory.mktemp("wanted"))


@pytest.mark.parametrize("at", [0, BATCHES, 2 * BATCHES + 3])
def test_interrupted_at_any_batch_it_ends_with_the_same_bytes(
    tmp_path: Path, wanted: dict[str, bytes], at: int
) -> None:
    checkpoints, watch = Checkpoints(tmp_path / "checkpoint"), Watch(at)
    model = Recurrent(SMALL)
    end = model.fit_resumably(TRAIN, SELECT, seed=3, checkpoints=checkpoints, watch=watch)
    assert (end.status, end.epochs) == ("stopped", at // BATCHES)
    with pytest.raises(ModelError, match="not fitted"):
        model.predict(SELECT.inputs)
    again = Watch()
    model = Recurrent(SMALL)
    end = model.fit_resumably(TRAIN, SELECT, seed=3, checkpoints=checkpoints, watch=again)
    assert (end.status, end.epochs) == ("finished", 6)
    assert len(again.began[0]) == at // BATCHES
    assert again.began[1] == ()
    assert watch.on_disk + again.on_disk == [1, 2, 3, 4, 5, 6]
    assert [record["select_loss"] for record in end.records] == [
        one.select_loss for one in (*watch.epochs, *again.epochs)
    ]
    assert saved(model, tmp_path / "model") == wanted


def test_patience_survives_an_interruption(tmp_path: Path) -> None:
    settings = SMALL.model_copy(update={"patience": 2, "epochs": 60, "learning_rate": 0.05})
    wanted = at_once(tmp_path, settings)
    steps = 0
    status = "until"
    while status == "until":
        steps += 1
        model = Recurrent(settings)
        checkpoints = Checkpoints(tmp_path / "checkpoint")
        end = model.fit_resumably(TRAIN, SELECT, seed=3, checkpoints=checkpoints, until=steps)
        status = end.status
    assert status == "early"
    assert end.epochs == end.best_epoch + 2
    assert saved(model, tmp_path / "model") == wanted
    # Started once more, there is nothing left to train.
    watch = Watch()
    end = model.fit_resumably(TRAIN, SELECT, seed=3, checkpoints=checkpoints, watch=watch)
    assert (end.status, watch.epochs) == ("early", [])
    assert saved(model, tmp_path / "again") == wanted


def test_more_epochs_go_on_where_fewer_ended(tmp_path: Path, wanted: dict[str, bytes]) -> None:
    checkpoints = Checkpoints(tmp_path / "checkpoint")
    few = Recurrent(SMALL.model_copy(update={"epochs": 3}))
    assert few.fit_resumably(TRAIN, SELECT, seed=3, checkpoints=checkpoints).status == "finished"
    watch, more = Watch(), Recurrent(SMALL)
    more.fit_resumably(TRAIN, SELECT, seed=3, checkpoints=checkpoints, watch=watch)
    assert [epoch.number for epoch in watch.epochs] == [4, 5, 6]
    assert saved(more, tmp_path / "model") == wanted
    fewer, watch = Recurrent(SMALL.model_copy(update={"epochs": 4})), Watch()
    fewer.fit_resumably(TRAIN, SELECT, seed=3, checkpoints=checkpoints, watch=watch)
    assert watch.began[0] == ()
    assert "more than 4 epochs" in watch.began[1][0]


@pytest.mark.parametrize("other", ["seed", "settings", "examples", "frames"])
def test_the_checkpoint_of_another_training_is_not_gone_on_with(tmp_path: Path, other: str) -> None:
    checkpoints, train, settings, seed = Checkpoints(tmp_path), TRAIN, SMALL, 3
    Recurrent(SMALL).fit_resumably(TRAIN, SELECT, seed=3, checkpoints=checkpoints, until=2)
    if other == "seed":
        seed = 4
    elif other == "settings":
        settings = SMALL.model_copy(update={"dropout": 0.3})
    elif other == "examples":
        train = TRAIN.take(np.arange(199))
    else:
        assert TRAIN.inputs.frames is not None
        frames = TRAIN.inputs.frames.copy()
        frames[7, 3, 1] = 5 - frames[7, 3, 1]
        train = replace(TRAIN, inputs=replace(TRAIN.inputs, frames=frames))
    watch = Watch()
    Recurrent(settings).fit_resumably(
        train, SELECT, seed=seed, checkpoints=checkpoints, watch=watch, until=1
    )
    assert watch.began[0] == ()
    assert len(watch.began[1]) == 1
    assert "other data or settings" in watch.began[1][0]


def test_a_gpu_that_is_not_there_is_said_so() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    asked = Recurrent(SMALL.model_copy(update={"device": "cuda"}))
    with pytest.raises(TrainingError, match=r"sees no GPU here.*set lstm.device to auto or cpu"):
        asked.fit_resumably(TRAIN, SELECT, seed=0)
    Recurrent(SMALL.model_copy(update={"device": "auto", "epochs": 1})).fit_resumably(
        TRAIN, SELECT, seed=0
    )


def test_a_users_network_with_odd_tensors_is_resumed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counters without dimensions, half precision, weights shared by two layers."""
    (tmp_path / "odd_nets.py").write_text(
        "import torch\n"
        "class Odd(torch.nn.Module):\n"
        "    def __init__(self, shape, settings):\n"
        "        super().__init__()\n"
        "        self.first = torch.nn.Linear(shape.rest, shape.rest)\n"
        "        self.second = torch.nn.Linear(shape.rest, shape.rest)\n"
        "        self.second.weight = self.first.weight\n"
        "        self.norm = torch.nn.BatchNorm1d(shape.rest)\n"
        "        self.register_buffer('small', torch.zeros(2, dtype=torch.bfloat16))\n"
        "        self.drop = torch.nn.Dropout(0.5)\n"
        "    def forward(self, frames, rest):\n"
        "        return self.drop(self.second(self.norm(self.first(rest)))).sum(1)\n"
    )
    monkeypatch.chdir(tmp_path)
    settings = SMALL.model_copy(update={"network": "odd_nets:Odd"})
    wanted = Recurrent(settings)
    wanted.fit_resumably(TRAIN, SELECT, seed=3)
    for until in (1, 3, None):
        model = Recurrent(settings)
        model.fit_resumably(
            TRAIN, SELECT, seed=3, checkpoints=Checkpoints(tmp_path / "c"), until=until
        )
    assert np.array_equal(model.predict(SELECT.inputs), wanted.predict(SELECT.inputs))


ME = "my training"


def checkpoints(folder: Path, epochs: int) -> Checkpoints:
    kept = Checkpoints(folder / "checkpoint")
    for epoch in range(1, epochs + 1):
        tensors = {"weights": torch.full((3,), float(epoch)), "step": torch.tensor(epoch)}
        kept.save(
            Checkpoint(epoch, tensors, {"best": 0.1 + epoch, "records": [{"loss": None}]}), ME
        )
    return kept


def test_the_newest_is_read_back_to_the_bit(tmp_path: Path) -> None:
    kept = checkpoints(tmp_path, 5)
    newest = kept.newest(ME)
    assert newest is not None
    assert (newest.epoch, newest.facts) == (5, {"best": 5.1, "records": [{"loss": None}]})
    assert torch.equal(newest.tensors["weights"], torch.full((3,), 5.0))
    assert torch.equal(newest.tensors["step"], torch.tensor(5))
    assert [path.name for path in kept.path.parent.iterdir()] == ["checkpoint.safetensors"]
    assert kept.notes == []


def test_none_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in ("nowhere", "file"):
        kept = Checkpoints(tmp_path / folder)
        assert kept.newest(ME) is None
        assert kept.notes == []


@pytest.mark.parametrize("damage", ["cut", "empty", "other bytes", "a folder", "later version"])
def test_a_damaged_one_is_set_aside(
    tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = checkpoints(tmp_path, 2)
    match damage:
        case "cut" | "empty":
            os.truncate(kept.path, 20 if damage == "cut" else 0)
        case "other bytes":
            kept.path.write_bytes(b"\0" * 100)
        case "a folder":
            kept.path.unlink()
            kept.path.mkdir()
        case _:
            monkeypatch.setattr(watching, "SCHEMA", "jobsight.checkpoint/9")
    assert kept.newest(ME) is None
    (note,) = kept.notes
    assert "set aside" in note
    assert kept.newest(ME) is None
    assert [path.name for path in kept.path.parent.iterdir()] == ["aside-checkpoint.safetensors"]


def test_that_of_another_training_is_set_aside(tmp_path: Path) -> None:
    kept = checkpoints(tmp_path, 2)
    assert kept.newest("another") is None
    assert "other data or settings" in kept.notes[0]


def test_a_folder_that_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_text("a file")
    with pytest.raises(OutputError, match="cannot write"):
        checkpoints(tmp_path, 1)
