"""The files of the registry: damaged, deleted, left by killed writers, on a full disk."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.support.hold_models import Made

from jobsight.errors import ModelError, OutputError
from jobsight.learning.registry import DEFAULT, Registry


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "{}", '{"schema": "jobsight.registry/2"}', '{"schema": "jobsight.registry/1"}'],
)
def test_a_damaged_record_is_one_error_that_names_it(registry: Path, made: Made, text: str) -> None:
    Registry(registry).put(made(), "hold")
    path = registry / "hold" / DEFAULT / "registry.json"
    path.write_text(text)
    for ask in (Registry(registry).entries, lambda: Registry(registry).champion("hold")):
        with pytest.raises(ModelError) as told:
            ask()
        assert str(path) in str(told.value)
        assert "\n" not in str(told.value)
        other = "schema" in str(told.value)
        way_on = "the version of Jobsight that" if other else f"remove the folder {path.parent},"
        assert way_on in str(told.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("champion", 7), ("champion", []), ("digest", "../../etc"), ("digest", 7),
        ("event", "gone"), ("by", None), ("time", None), ("time", 1e400),
    ],
)  # fmt: skip
def test_a_record_with_a_hostile_value_is_refused(
    registry: Path, made: Made, field: str, value: object
) -> None:
    Registry(registry).put(made(), "hold")
    path = registry / "hold" / DEFAULT / "registry.json"
    whole = json.loads(path.read_text())
    whole["records"][0] |= {field: value}
    path.write_text(json.dumps(whole))
    with pytest.raises(ModelError, match=r"registry\.json is damaged"):
        Registry(registry).champion("hold")


def test_a_model_that_was_deleted_by_hand_harms_no_other(registry: Path, made: Made) -> None:
    kept = Registry(registry)
    first, second = kept.put(made(1), "hold"), kept.put(made(2), "hold")
    shutil.rmtree(registry / "hold" / DEFAULT / first)
    champion = Registry(registry).champion("hold")
    assert champion is not None
    with pytest.raises(ModelError, match="is no model directory"):
        champion.open()
    kept.promote(kept.find(second), over=first, why="")
    champion = Registry(registry).champion("hold")
    assert champion is not None
    assert champion.digest == second
    champion.open()


def test_what_killed_writers_left_is_deleted(
    registry: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobsight.files._UNLOCKED", 0.0)
    kept = Registry(registry)
    kept.put(made(1), "hold")
    place = registry / "hold" / DEFAULT
    left, foreign = place / ".jobsight-a.part", place / "z"
    for path in (left, foreign):
        path.mkdir()
    kept.put(made(2), "hold")
    assert not left.exists()
    assert foreign.exists()


def test_a_registry_that_cannot_be_written_is_one_error(tmp_path: Path, made: Made) -> None:
    (tmp_path / "file").write_text("")
    blocked = Registry(tmp_path / "file")
    with pytest.raises(OutputError, match=r"the registry .*Not a directory; name another with"):
        blocked.put(made(), "hold")
    with pytest.raises(OutputError, match="cannot write into the registry"):
        blocked.require_writable("hold")
    assert blocked.entries() == []
    assert blocked.champion("hold") is None


def test_a_full_disk_leaves_nothing_behind(
    registry: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    folder = made()
    monkeypatch.setattr("jobsight.learning.registry.shutil.copyfile", full)
    with pytest.raises(OutputError, match="No space left on device"):
        Registry(registry).put(folder, "hold")
    assert list((registry / "hold" / DEFAULT).iterdir()) == []


def test_nobody_needs_a_home_or_a_name(registry: Path, made: Made) -> None:
    import sys

    code = (
        "import sys; from pathlib import Path; from jobsight.learning.registry import Registry; "
        "print(Registry(Path(sys.argv[1])).put(Path(sys.argv[2]), 'hold'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(registry), str(made())],
        env={"PATH": "/usr/bin"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert Registry(registry).find(done.stdout.strip()).champion
