import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.learning.manifests import forge

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
    for name in ("../log", "/etc/passwd"):
        forge(folder, files={name: "0"})
        with pytest.raises(ModelError, match="outside"):
            read_manifest(folder, question="hold")


def test_a_changed_manifest_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    sealed(folder)
    path = folder / "manifest.json"
    text = path.read_text()
    for old, new in (('"seed": 3', '"seed": 2'), ('"examples": 10', '"examples": 11')):
        assert old in text
        path.write_text(text.replace(old, new, 1))
        with pytest.raises(ModelError, match="changed since training"):
            read_manifest(folder, question="hold")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "damaged"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "schema None"),
        ('{"schema": "jobsight.model/0"}', "train again"),
        ('{"schema": "jobsight.model/1", "question": "fail"}', "answers 'fail', not 'hold'"),
        ('{"schema": "jobsight.model/1", "question": "hold"}', "damaged"),
        ('{"schema": "jobsight.model/1", "question": "hold", "seed": Infinity}', "damaged"),
    ],
)
def test_a_bad_manifest_is_one_clear_error(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(ModelError, match=message):
        read_manifest(tmp_path, question="hold")


def test_what_is_not_listed_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    sealed(folder)
    forge(folder, files={})
    with pytest.raises(ModelError, match=r"is not listed in .*manifest\.json"):
        read_manifest(folder, question="hold")
    sealed(tmp_path / "other")
    (tmp_path / "other" / "boosted" / "more").write_text("")
    with pytest.raises(ModelError, match=r"boosted/more is not listed"):
        read_manifest(tmp_path / "other", question="hold")


@pytest.mark.parametrize("name", ["log", "boosted", "pipe"])
def test_links_and_pipes_are_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "m"
    sealed(folder)
    if name == "pipe":
        os.mkfifo(folder / name)
    else:
        (folder / name).rename(tmp_path / name)
        (folder / name).symlink_to(tmp_path / name)
    with pytest.raises(ModelError, match=f"{name} is no regular file"):
        read_manifest(folder, question="hold")


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_a_name_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "m"
    made = sealed(folder)
    forge(folder, files={**made.files, name: "0"})
    with pytest.raises(ModelError, match="no file name"):
        read_manifest(folder, question="hold")


def test_models_differ_in_their_digest(tmp_path: Path) -> None:
    one = sealed(tmp_path / "m")
    assert one.digest == sealed(tmp_path / "n").digest
    assert len(one.digest) == 8
    files = {**one.files, "log": "f" * 64}
    others = [replace(one, seed=4), replace(one, settings={}), replace(one, files=files)]
    assert len({one.digest, *(other.digest for other in others)}) == 4


def test_no_model_directory(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no model directory"):
        read_manifest(tmp_path, question="hold")
