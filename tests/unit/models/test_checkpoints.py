"""The checkpoint of a training is whole, its own, or set aside."""

import os
from pathlib import Path

import pytest

from jobsight.errors import OutputError

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from jobsight.models import watching  # noqa: E402
from jobsight.models.watching import Checkpoint, Checkpoints  # noqa: E402

ME = "my training"


def saved(folder: Path, epochs: int) -> Checkpoints:
    kept = Checkpoints(folder / "checkpoint")
    for epoch in range(1, epochs + 1):
        tensors = {"weights": torch.full((3,), float(epoch)), "step": torch.tensor(epoch)}
        kept.save(
            Checkpoint(epoch, tensors, {"best": 0.1 + epoch, "records": [{"loss": None}]}), ME
        )
    return kept


def test_the_newest_is_read_back_to_the_bit(tmp_path: Path) -> None:
    kept = saved(tmp_path, 5)
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
    kept = saved(tmp_path, 2)
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
    kept = saved(tmp_path, 2)
    assert kept.newest("another") is None
    assert "other data or settings" in kept.notes[0]


def test_a_folder_that_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_text("a file")
    with pytest.raises(OutputError, match="cannot write"):
        saved(tmp_path, 1)
