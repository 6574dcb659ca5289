import json
import os
from pathlib import Path

import pytest

from jobsight.errors import OutputError

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from jobsight.models.checkpoints import Checkpoint, Checkpoints  # noqa: E402

ME = "my training"


def checkpoint(epoch: int) -> Checkpoint:
    tensors = {"weights": torch.full((3,), float(epoch)), "step": torch.tensor(epoch)}
    return Checkpoint(epoch, tensors, {"best": 0.1 + epoch, "told": [{"loss": None}]})


def saved(folder: Path, epochs: int) -> Checkpoints:
    checkpoints = Checkpoints(folder / "checkpoint")
    for epoch in range(1, epochs + 1):
        checkpoints.save(checkpoint(epoch), ME)
    return checkpoints


def usable(checkpoints: Checkpoints, identity: str = ME) -> list[int]:
    return [one.epoch for one in checkpoints.usable(identity)]


def test_what_was_saved_is_read_back_to_the_bit(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 1)
    (again,) = checkpoints.usable(ME)
    wanted = checkpoint(1)
    assert again.facts == wanted.facts
    for name, tensor in wanted.tensors.items():
        assert torch.equal(again.tensors[name], tensor)
        assert again.tensors[name].dtype == tensor.dtype
        assert again.tensors[name].shape == tensor.shape
    assert checkpoints.notes == []


def test_the_two_newest_are_kept(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 5)
    assert usable(checkpoints) == [5, 4]
    names = sorted(path.name for path in checkpoints.folder.iterdir())
    assert names == ["0004.json", "0004.safetensors", "0005.json", "0005.safetensors"]


def test_none_is_none(tmp_path: Path) -> None:
    assert usable(Checkpoints(tmp_path / "nowhere")) == []
    (tmp_path / "file").write_text("")
    assert usable(Checkpoints(tmp_path / "file")) == []


def damaged_body(folder: Path) -> None:
    path = folder / "0003.json"
    path.write_text(path.read_text().replace("3.1", "3.2"))


def cut_body(folder: Path) -> None:
    os.truncate(folder / "0003.json", 20)


def empty_body(folder: Path) -> None:
    (folder / "0003.json").write_bytes(b"")


def damaged_tensors(folder: Path) -> None:
    content = bytearray((folder / "0003.safetensors").read_bytes())
    content[-1] ^= 1
    (folder / "0003.safetensors").write_bytes(content)


def lost_tensors(folder: Path) -> None:
    (folder / "0003.safetensors").unlink()


def folder_in_its_place(folder: Path) -> None:
    (folder / "0003.json").unlink()
    (folder / "0003.json").mkdir()


def renamed(folder: Path) -> None:
    for kind in ("json", "safetensors"):
        (folder / f"0002.{kind}").rename(folder / f"0003.{kind}")
        (folder / f"0002.{kind}").write_bytes(b"")


@pytest.mark.parametrize(
    "damage",
    [damaged_body, cut_body, empty_body, damaged_tensors, lost_tensors, folder_in_its_place],
)
def test_a_damaged_one_is_set_aside_and_the_one_before_it_serves(
    tmp_path: Path, damage: object
) -> None:
    checkpoints = saved(tmp_path, 3)
    damage(checkpoints.folder)  # type: ignore[operator]
    assert usable(checkpoints) == [2]
    (note,) = checkpoints.notes
    assert "epoch 3 was set aside" in note
    assert usable(Checkpoints(checkpoints.folder)) == [2]
    assert any(path.name.startswith("aside-0003") for path in checkpoints.folder.iterdir())


def test_a_body_under_another_name_is_not_believed(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 3)
    renamed(checkpoints.folder)
    assert usable(checkpoints) == []
    assert len(checkpoints.notes) == 2


def test_that_of_another_training_is_set_aside(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 2)
    assert usable(checkpoints, "another") == []
    assert all("other data or settings" in note for note in checkpoints.notes)


def test_a_body_of_a_later_version_is_not_guessed_at(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 1)
    path = checkpoints.folder / "0001.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": "jobsight.checkpoint/9"}))
    assert usable(checkpoints) == []


def test_tensors_without_a_body_are_none(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 3)
    (checkpoints.folder / "0003.json").unlink()  # killed between the two
    assert usable(checkpoints) == [2]
    assert checkpoints.notes == []
    checkpoints.save(checkpoint(3), ME)
    assert usable(checkpoints) == [3, 2]


def test_a_folder_that_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_text("a file")
    with pytest.raises(OutputError, match="cannot write"):
        Checkpoints(tmp_path / "checkpoint").save(checkpoint(1), ME)
