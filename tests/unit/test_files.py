import json
from pathlib import Path

import pytest

from jobsight.errors import OutputError
from jobsight.files import new_file, new_folder, read_json, sha256, write_json


def test_a_failed_file_leaves_the_old_one_and_no_litter(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("old")
    with pytest.raises(RuntimeError), new_file(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_a_folder_that_is_a_file_is_an_output_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(OutputError, match="cannot write"),
        new_file(tmp_path / "file" / "x") as path,
    ):
        path.write_text("")


def test_a_new_folder_takes_the_place_of_one_of_ours_only(tmp_path: Path) -> None:
    target = tmp_path / "model"
    for content in ("1", "2"):
        with new_folder(target) as folder:
            (folder / "manifest.json").write_text(content)
    assert (target / "manifest.json").read_text() == "2"
    foreign = tmp_path / "thesis"
    foreign.mkdir()
    (foreign / "chapter.tex").write_text("precious")
    with pytest.raises(OutputError, match="was not written by jobsight"), new_folder(foreign):
        pass
    assert (foreign / "chapter.tex").read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "thesis"]


def test_a_failed_folder_leaves_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "model"
    with new_folder(target) as folder:
        (folder / "manifest.json").write_text("old")
    with pytest.raises(RuntimeError), new_folder(target):
        raise RuntimeError
    assert (target / "manifest.json").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_json_is_strict_and_stable(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_json(path, {"b": float("nan"), "a": (1, float("inf"))})
    assert json.loads(path.read_text()) == {"a": [1, None], "b": None}
    first = sha256(path)
    write_json(path, {"a": [1, None], "b": None})
    assert sha256(path) == first
    assert read_json(path)["b"] is None
