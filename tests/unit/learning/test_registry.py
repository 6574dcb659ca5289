import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from tests.support.hold_models import Made, constant_model

from jobsight.errors import ModelError, OutputError, UsageError
from jobsight.learning.modeldir import ModelDir
from jobsight.learning.registry import DEFAULT, Registry, folder_name
from jobsight.modes import set_group_access
from jobsight.questions.hold.question import HOLD


def test_the_first_is_champion_and_a_later_one_only_when_promoted(
    registry: Path, made: Made
) -> None:
    kept = Registry(registry)
    assert kept.champion("hold") is None
    assert kept.entries() == []
    first, second = kept.put(made(1), "hold"), kept.put(made(2), "hold", why="a try")
    assert [one.digest for one in kept.entries("hold", DEFAULT)] == [first, second]
    champion = kept.champion("hold")
    assert champion is not None
    assert (champion.digest, champion.champion) == (first, True)
    entry = kept.find(second)
    assert (entry.why, entry.champion) == ("a try", False)
    kept.promote(entry, over=first, why="better on later data")
    assert kept.find(second).champion
    assert not kept.find(first).champion
    told = [(one.event, one.digest, one.why) for one in kept.history("hold")]
    assert told == [
        ("put", first, ""),
        ("put", second, "a try"),
        ("promoted", second, "better on later data"),
    ]
    assert all("@" in one.by and one.time > 0 for one in kept.history("hold"))


def test_a_registry_is_its_owners_alone(registry: Path, made: Made) -> None:
    Registry(registry).put(made(1), "hold")
    found = [registry, *registry.rglob("*")]
    assert {one.stat().st_mode & 0o777 for one in found if one.is_dir()} == {0o700}
    assert {one.stat().st_mode & 0o777 for one in found if one.is_file()} == {0o600}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_what_another_user_may_write_is_not_used(registry: Path, made: Made) -> None:
    kept = Registry(registry)
    digest = kept.put(made(1), "hold")
    model = kept.find(digest)
    for place in (registry, model.folder.parent, model.folder):
        mode = stat.S_IMODE(place.stat().st_mode)
        place.chmod(0o777)
        with pytest.raises(ModelError, match=f"every user may write {place}; run: chmod o-w"):
            kept.find(digest).open()
        place.chmod(mode)
        os.chown(place, 65534, 65534)
        with pytest.raises(ModelError, match=f"{place} belongs to another user .nobody"):
            kept.find(digest).open()
        os.chown(place, 0, 0)
        assert kept.find(digest).open()
    os.chown(registry, 65534, os.getegid())
    set_group_access("read")
    try:
        assert kept.find(digest).open()
    finally:
        set_group_access("none")


def test_a_model_that_is_put_again_is_one_entry(registry: Path, made: Made) -> None:
    kept, folder = Registry(registry), made()
    assert kept.put(folder, "hold") == kept.put(folder, "hold") == kept.put(folder, "hold")
    assert len(kept.entries()) == 1
    # For another cluster it is another entry, of the same digest.
    kept.put(folder, "hold", "ap40")
    assert [one.cluster for one in kept.entries()] == ["ap40", DEFAULT]


def test_what_is_put_is_the_very_model(registry: Path, made: Made) -> None:
    folder = made()
    kept = Registry(registry)
    entry = kept.find(kept.put(folder, "hold"))
    assert ModelDir.open(entry.folder, HOLD).label == ModelDir.open(folder, HOLD).label
    manifest, report = entry.open()
    assert manifest.digest == entry.digest
    assert report["question"] == "hold"
    assert {one.name for one in entry.folder.iterdir()} == {one.name for one in folder.iterdir()}


def test_a_champion_is_removed_only_by_force_and_none_is_left(registry: Path, made: Made) -> None:
    kept = Registry(registry)
    first, second = kept.put(made(1), "hold"), kept.put(made(2), "hold")
    entry = kept.find(first)
    with pytest.raises(ModelError, match="is the champion of hold on default; promote another"):
        kept.remove(entry)
    kept.remove(entry, force=True, why="wrong data")
    assert kept.champion("hold") is None
    assert not entry.folder.exists()
    with pytest.raises(ModelError, match="was removed meanwhile"):
        kept.remove(entry, force=True)
    kept.promote(kept.find(second), over=None, why="")
    assert kept.history("hold")[2].why == "wrong data"


@pytest.mark.parametrize(
    "models",
    [
        {},
        None,
        ["constant", "rates"],
        {"boosted": {"log_loss": 0.1}},
        {"boosted": {"log_loss": 0.1}, "rates": {"log_loss": 0.2}},
        {"boosted": {"log_loss": 0.1}, "constant": {}, "rates": {}},
    ],
)
def test_a_report_without_its_baselines_is_refused(
    registry: Path, made: Made, models: object
) -> None:
    with pytest.raises(ModelError, match="lacks the baselines"):
        Registry(registry).put(made(report={"models": models}), "hold")
    assert not list(registry.rglob("registry.json"))


def test_a_model_without_a_report_is_refused(registry: Path, tmp_path: Path) -> None:
    constant_model(0.5).save(tmp_path / "model", seed=0, facts={})
    with pytest.raises(ModelError, match="lacks the baselines"):
        Registry(registry).put(tmp_path / "model", "hold")


def test_files_that_do_not_match_their_hashes_or_the_question_are_refused(
    registry: Path, made: Made
) -> None:
    folder = made()
    with pytest.raises(ModelError, match="answers 'hold', not 'fail'"):
        Registry(registry).put(folder, "fail")
    (folder / "model.json").write_text("{}")
    with pytest.raises(ModelError, match="was changed since training"):
        Registry(registry).put(folder, "hold")
    assert Registry(registry).entries() == []


def test_a_damaged_entry_is_told_and_mended_by_putting_it_again(registry: Path, made: Made) -> None:
    kept, folder = Registry(registry), made()
    digest = kept.put(folder, "hold")
    entry = kept.find(digest)
    (entry.folder / "model.json").write_text("{}")
    with pytest.raises(ModelError, match="was changed since training"):
        entry.open()
    with pytest.raises(ModelError, match="was changed since training"):
        kept.promote(entry, over=None, why="")
    assert kept.put(folder, "hold") == digest
    mended = kept.champion("hold")
    assert mended is not None
    mended.open()
    assert [one.number for one in kept.entries()] == [2]
    # Removed, the damaged one does not come back.
    kept.remove(mended, force=True)
    assert kept.entries() == []


def test_another_model_with_the_same_digest_is_refused(
    registry: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Registry(registry)
    kept.put(made(1), "hold")
    report = json.loads((made(2) / "report.json").read_text()) | {"examples": 1}
    monkeypatch.setattr("jobsight.learning.manifest.Manifest.digest", kept.entries()[0].digest)
    with pytest.raises(ModelError, match="another model with the digest"):
        kept.put(made(3, report), "hold")


NAMES = [
    "../../../../etc/passwd", "..", ".", "", "/", "a/b", "a\\b", "a\0b", "%2E", "%", "ap 40",
    "ap40.uw.osg-htc.org", "CON", "-rf", "日本語クラスタ", "e\u0301", "é", "x" * 5000, "é" * 5000,
    "x" * 4999 + "y", "\udc80", "\x1b[31m", "champion.json", "000001",
]  # fmt: skip


def test_names_from_outside_become_folder_names_of_their_own() -> None:
    folders = [folder_name(name) for name in NAMES]
    assert len({one.casefold() for one in folders}) == len(NAMES)
    for one in folders:
        assert one.isascii()
        assert one.isprintable()
        assert one not in (".", "..")
        assert not one.startswith(".")
        assert "/" not in one
        assert 0 < len(one) <= 120
    assert folder_name("ap40.uw.osg-htc.org") == "ap40.uw.osg-htc.org"


def test_clusters_of_any_name_are_kept_apart(registry: Path, made: Made) -> None:
    kept, folder = Registry(registry), made()
    for name in NAMES:
        kept.put(folder, "hold", name)
    assert sorted(one.cluster for one in kept.entries()) == sorted(NAMES)
    assert {path.parent for path in (registry / "hold").iterdir()} == {registry / "hold"}
    for name in NAMES:
        champion = kept.champion("hold", name)
        assert champion is not None
        assert champion.cluster == name


def test_a_model_is_found_by_the_beginning_of_its_digest(registry: Path, made: Made) -> None:
    kept = Registry(registry)
    digest = kept.put(made(), "hold", "ap40")
    for name in (digest, digest[:4], digest.upper(), f"boosted@{digest}"):
        assert kept.find(name).digest == digest
    assert kept.find(digest, question="hold", cluster="ap40").cluster == "ap40"
    with pytest.raises(ModelError, match=r"has no model .* for ap41"):
        kept.find(digest, cluster="ap41")
    with pytest.raises(ModelError, match="has no model 0000"):
        kept.find("0000")
    for name in ("", "abc", "model", "../abcd", "boosted@", "\x1b[31m"):
        with pytest.raises(UsageError, match="names no model") as told:
            kept.find(name)
        assert str(told.value).isprintable()


def test_an_ambiguous_beginning_is_refused(
    registry: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Registry(registry)
    for number, digest in enumerate(("abcd0000", "abcd1111"), start=1):
        monkeypatch.setattr("jobsight.learning.manifest.Manifest.digest", digest)
        kept.put(made(number), "hold")
    with pytest.raises(ModelError, match="abcd may be abcd0000, abcd1111; write more digits"):
        kept.find("abcd")


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
