import json
from pathlib import Path

import pytest

from jobsight.errors import ModelError
from jobsight.learning.manifest import Manifest, Source, read_manifest, write_manifest


def sealed(folder: Path) -> Manifest:
    (folder / "boosted").mkdir(parents=True)
    (folder / "boosted" / "model.json").write_text("{}")
    (folder / "log").write_text("events")
    return write_manifest(
        folder,
        question="hold",
        seed=3,
        settings={"seed": 3},
        sources=(Source.of(folder / "log"),),
        facts={"examples": 10},
    )


def test_what_is_written_is_read(tmp_path: Path) -> None:
    written = sealed(tmp_path / "m")
    assert read_manifest(tmp_path / "m", question="hold") == written
    assert set(written.files) == {"boosted/model.json", "log"}
    assert written.sources[0].bytes == 6
    assert {"python", "jobsight", "numpy"} <= set(written.versions)


def test_same_content_same_bytes(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    sealed(folder)
    first = (folder / "manifest.json").read_bytes()
    write_manifest(folder, question="hold", seed=3, settings={"seed": 3},
                   sources=(Source.of(folder / "log"),), facts={"examples": 10})  # fmt: skip
    assert (folder / "manifest.json").read_bytes() == first


def test_a_changed_or_missing_file_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    sealed(folder)
    (folder / "boosted" / "model.json").write_text("{} ")
    with pytest.raises(ModelError, match=r"boosted/model\.json was changed"):
        read_manifest(folder, question="hold")
    (folder / "boosted" / "model.json").unlink()
    with pytest.raises(ModelError, match=r"cannot read .*boosted/model\.json"):
        read_manifest(folder, question="hold")


def test_files_outside_the_directory_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    sealed(folder)
    path = folder / "manifest.json"
    for name in ("../log", "/etc/passwd"):
        data = json.loads(path.read_text())
        data["files"] = {name: "0"}
        path.write_text(json.dumps(data))
        with pytest.raises(ModelError, match="outside"):
            read_manifest(folder, question="hold")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "damaged"),
        ("[]", "schema None"),
        ('{"schema": "jobsight.model/0"}', "train again"),
        ('{"schema": "jobsight.model/1", "question": "fail"}', "answers 'fail', not 'hold'"),
        ('{"schema": "jobsight.model/1", "question": "hold"}', "damaged"),
    ],
)
def test_a_bad_manifest_is_one_clear_error(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(ModelError, match=message):
        read_manifest(tmp_path, question="hold")


def test_no_model_directory(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no model directory"):
        read_manifest(tmp_path, question="hold")
