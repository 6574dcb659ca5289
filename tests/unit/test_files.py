import contextlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobsight.errors import OutputError
from jobsight.files import Kind, new_file, new_folder, read_json, sha256, write_json, write_shared
from jobsight.modes import set_group_access


def test_a_failed_file_leaves_the_old_one_and_no_litter(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("old")
    with pytest.raises(RuntimeError), new_file(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


_KILLED = """
import os, sys
from pathlib import Path
from jobsight.files import Kind, new_file, new_folder
path = Path(sys.argv[1])
with new_file(path / "out.json") as one, new_folder(path / "model", Kind.MODEL) as other:
    (other / "weights").write_text("half")
    print("writing", flush=True)
    sys.stdin.read()
"""


def _unfinished(folder: Path) -> int:
    return len(list(folder.glob(".jobsight-*.part")))


def test_what_a_killed_process_left_is_deleted_by_the_next_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobsight.files._UNLOCKED", 0.0)
    command = [sys.executable, "-c", _KILLED, str(tmp_path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"writing\n"
    write_json(tmp_path / "other.json", {})
    assert _unfinished(tmp_path) == 2  # it is still at work
    process.kill()
    process.communicate()
    (tmp_path / ".jobsight-0123456789abcdef.part").symlink_to("/etc/passwd")
    write_json(tmp_path / "other.json", {})
    assert [path.name for path in tmp_path.glob(".*")] == [".jobsight-0123456789abcdef.part"]


def test_a_folder_that_is_a_file_is_an_output_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(OutputError, match="cannot write"),
        new_file(tmp_path / "file" / "x") as path,
    ):
        path.write_text("")


@pytest.fixture
def umask() -> Iterator[int]:
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_keeps_its_permissions_and_a_new_one_gets_the_usual(
    tmp_path: Path, umask: int
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("old")
    secret.chmod(0o600)
    for path in (secret, tmp_path / "new"):
        with new_file(path) as temporary:
            temporary.write_text("new")
    assert (mode(secret), secret.read_text()) == (0o600, "new")
    assert mode(tmp_path / "new") == 0o666 & ~umask


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "there" / "file")
    for text in ("1", "2"):
        with new_file(link) as temporary:
            assert temporary.parent == tmp_path / "there"
            temporary.write_text(text)
    assert link.is_symlink()
    assert (tmp_path / "there" / "file").read_text() == "2"


def test_the_temporary_name_cannot_be_foreseen(tmp_path: Path) -> None:
    names = set()
    for _ in range(2):
        with new_file(tmp_path / "x") as temporary:
            names.add(temporary.name)
            assert temporary.is_file()
    assert len(names) == 2
    with new_file(tmp_path / ("x" * 255)):
        pass


def test_a_link_to_itself_is_an_output_error(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(OutputError), new_file(tmp_path / "loop" / "x"):
        pass


def ours(folder: Path, content: str) -> None:
    (folder / "models").mkdir()
    (folder / "models" / "x").write_text(content)
    write_json(folder / "manifest.json", {"schema": "jobsight.model/1", "files": {"models/x": ""}})


def test_a_new_folder_takes_the_place_of_one_of_ours_only(tmp_path: Path) -> None:
    target = tmp_path / "model"
    for content in ("1", "2"):
        with new_folder(target, Kind.MODEL) as folder:
            ours(folder, content)
    assert (target / "models" / "x").read_text() == "2"
    foreign = tmp_path / "thesis"
    foreign.mkdir()
    (foreign / "chapter.tex").write_text("precious")
    with (
        pytest.raises(OutputError, match="was not written by jobsight"),
        new_folder(foreign, Kind.MODEL),
    ):
        pass
    for manifest in (
        "{}",
        "[]",
        "",
        "[" * 100_000,
        '{"schema": "jobsight.x/1", "files": 3}',
        '{"name": "web app", "schema": 3}',
    ):
        (foreign / "manifest.json").write_text(manifest)
        with (
            pytest.raises(OutputError, match="was not written by jobsight"),
            new_folder(foreign, Kind.MODEL),
        ):
            pass
    assert (foreign / "chapter.tex").read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "thesis"]


@pytest.mark.parametrize("name", ["notes.txt", "models/own", "link"])
def test_what_is_not_listed_is_not_deleted(tmp_path: Path, name: str) -> None:
    target = tmp_path / "model"
    with new_folder(target, Kind.MODEL) as folder:
        ours(folder, "1")
    with (
        pytest.raises(OutputError, match=f"holds '{name}'"),
        new_folder(target, Kind.MODEL) as folder,
    ):
        ours(folder, "2")
        # It may come while we work, too.
        if name == "link":
            (target / name).symlink_to(tmp_path)
        else:
            (target / name).write_text("precious")
    assert (target / "models" / "x").read_text() == "1"
    with pytest.raises(OutputError, match=f"holds '{name}'"), new_folder(target, Kind.MODEL):
        raise AssertionError
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_folder_is_replaced_by_its_own_kind_only(tmp_path: Path) -> None:
    target = tmp_path / "frames"
    for _ in range(2):
        with new_folder(target, Kind.FRAMES) as folder:
            (folder / "frames.npy").write_text("")
            manifest = {"schema": "jobsight.frames/1", "files": {"frames.npy": ""}}
            write_json(folder / "manifest.json", manifest)
    for kind in (Kind.MODEL, Kind.SNAPSHOT):
        said = f"is frames, not {kind.value}; move it away"
        with pytest.raises(OutputError, match=said), new_folder(target, kind):
            raise AssertionError
    (target / "frames.npy").unlink()
    said = r"is frames, but lacks 'frames\.npy'"
    with pytest.raises(OutputError, match=said), new_folder(target, Kind.FRAMES):
        raise AssertionError


PAGE = '<!doctype html>\n<html><meta name="generator" content="jobsight.report/1"></html>\n'


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("", Kind.EVENTS, None),
        (PAGE, Kind.REPORT, None),
        (PAGE[:-9], Kind.REPORT, "not written by jobsight"),
        (PAGE.replace("jobsight.", ""), Kind.REPORT, "not written by jobsight"),
        (PAGE, Kind.VERIFICATION, "is a report, not a verification"),
        ("my notes on jobsight.report/1", Kind.REPORT, "not written by jobsight"),
        ('{"schema": "jobsight.verification/1"}', Kind.VERIFICATION, None),
        ('{"schema": "jobsight.verification/1"', Kind.VERIFICATION, "not written by jobsight"),
        ('{"schema": "jobsight.model/1"}', Kind.VERIFICATION, "is a model, not a verification"),
        ("{}", Kind.VERIFICATION, "not written by jobsight"),
        ("PAR1 jobsight.events/1 PAR1", Kind.EVENTS, None),
        ("PAR1 jobsight.events/1", Kind.EVENTS, "not written by jobsight"),
        ("SQLite format 3\0".ljust(68) + "Jobs", Kind.REPORT, "is a store of jobs, not a report"),
        ("SQLite format 3\0".ljust(100), Kind.REPORT, "not written by jobsight"),
    ],
)
def test_a_file_is_replaced_by_its_own_kind_only(
    tmp_path: Path, text: str, kind: Kind, said: str | None
) -> None:
    target = tmp_path / "there"
    target.write_text(text)
    with pytest.raises(OutputError, match=said) if said else contextlib.nullcontext():
        with new_file(target, kind) as temporary:
            temporary.write_text("new")
        assert said is None
    assert target.read_text() == (text if said else "new")


def test_a_failed_folder_leaves_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "model"
    with new_folder(target, Kind.MODEL) as folder:
        ours(folder, "old")
    with pytest.raises(RuntimeError), new_folder(target, Kind.MODEL):
        raise RuntimeError
    assert (target / "models" / "x").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_folder_that_cannot_take_its_place_leaves_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "model"
    with new_folder(target, Kind.MODEL) as folder:
        ours(folder, "old")
    with pytest.raises(OutputError), new_folder(target, Kind.MODEL) as folder:
        folder.rename(tmp_path / "gone")
        (tmp_path / "gone" / "x").write_text("")
    assert (target / "models" / "x").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gone", "model"]


def test_the_second_rename_may_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "model"
    with new_folder(target, Kind.MODEL) as folder:
        ours(folder, "old")
    rename = Path.rename
    calls: list[Path] = []

    def failing(self: Path, other: Path) -> Path:
        calls.append(self)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        return rename(self, other)

    monkeypatch.setattr(Path, "rename", failing)
    with (
        pytest.raises(OutputError, match="No space left"),
        new_folder(target, Kind.MODEL) as folder,
    ):
        ours(folder, "new")
    assert (target / "models" / "x").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_linked_folder_is_replaced_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir(mode=0o700)
    link = tmp_path / "model"
    link.symlink_to(tmp_path / "there")
    with new_folder(link, Kind.MODEL) as folder:
        ours(folder, "1")
    assert link.is_symlink()
    assert (tmp_path / "there" / "models" / "x").read_text() == "1"
    assert mode(tmp_path / "there") == 0o700


@pytest.fixture
def group_may_read() -> Iterator[None]:
    set_group_access("read")
    yield
    set_group_access("none")


def test_what_holds_jobs_is_its_owners_alone(tmp_path: Path) -> None:
    place = tmp_path / "a" / "b"
    with new_file(place / "report.html", Kind.REPORT) as temporary:
        temporary.write_text("")
    with new_folder(place / "model", Kind.MODEL) as folder:
        ours(folder, "1")
    found = {path.name: mode(path) for path in tmp_path.rglob("*")}
    folders = {"a": 0o700, "b": 0o700, "model": 0o700, "models": 0o700}
    assert found == {"report.html": 0o600, "manifest.json": 0o600, "x": 0o600, **folders}


@pytest.mark.usefixtures("group_may_read", "umask")
def test_a_group_may_see_it_whatever_the_umask(tmp_path: Path) -> None:
    os.umask(0o077)
    tmp_path.chmod(0o2755)
    with new_file(tmp_path / "a" / "x.json", Kind.VERIFICATION):
        pass
    with new_folder(tmp_path / "model", Kind.MODEL) as folder:
        ours(folder, "1")
    assert mode(tmp_path / "a" / "x.json") == mode(tmp_path / "model" / "manifest.json") == 0o640
    assert mode(tmp_path / "a") == mode(tmp_path / "model" / "models") == 0o2750


def test_what_was_opened_stays_open(tmp_path: Path) -> None:
    for _ in range(2):
        with new_folder(tmp_path / "model", Kind.MODEL) as folder:
            ours(folder, "1")
        (tmp_path / "model").chmod(0o755)
    assert mode(tmp_path / "model" / "models") == 0o755
    assert mode(tmp_path / "model" / "manifest.json") == 0o644


def test_a_model_of_a_sweep_has_the_usual_permissions(tmp_path: Path, umask: int) -> None:
    with new_folder(tmp_path / "model", Kind.MODEL, private=False):
        pass
    assert mode(tmp_path / "model") == 0o777 & ~umask


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "nested"),
        ("[1]", "holds a list, no dict"),
        ("{", "Expecting"),
        ("\udcff", "utf-8"),
    ],
)
def test_odd_json_is_a_value_error(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=message):
        read_json(tmp_path / "x.json", dict)


def test_a_pipe_is_no_json(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="not a regular file"):
        read_json(tmp_path / "pipe")


def test_json_is_strict_and_stable(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_json(path, {"b": float("nan"), "a": (1, float("inf"))})
    assert json.loads(path.read_text()) == {"a": [1, None], "b": None}
    first = sha256(path)
    write_json(path, {"a": [1, None], "b": None})
    assert sha256(path) == first
    assert read_json(path)["b"] is None


def test_a_new_file_that_others_read_has_its_permissions_and_hands_them_on(tmp_path: Path) -> None:
    path, tool = tmp_path / "policy", tmp_path / "tool"
    write_shared(path, "ä\n")
    assert (path.read_text("utf-8"), path.stat().st_mode & 0o777) == ("ä\n", 0o644)
    path.chmod(0o640)
    write_shared(path, "x")
    assert (path.read_text("utf-8"), path.stat().st_mode & 0o777) == ("x", 0o640)
    write_shared(tool, "#!/bin/sh\n", 0o755)
    assert tool.stat().st_mode & 0o777 == 0o755
