"""Finding logs: files, folders, globs."""

import gzip
import os
import shutil
from pathlib import Path

import pytest

from jobsight.errors import SourceError
from jobsight.history.eventlog.discovery import find_logs
from jobsight.history.eventlog.logfiles import LogFile

RECORD = b"001 (1.000.000) 2026-11-21 02:31:12 Job executing on host: <127.0.0.1:9618>\n...\n"
OTHER = RECORD.replace(b"02:31", b"03:41")


def content(file: LogFile, start: int = 0) -> bytes:
    view = memoryview(bytearray(1 << 20))
    with file.open(start) as stream:
        return bytes(view[: stream.readinto(view)])


def test_a_folder_stands_for_the_logs_in_it(tmp_path: Path) -> None:
    for name in ("b.log", "a.log"):
        (tmp_path / name).write_bytes(RECORD)
    (tmp_path / "core").write_bytes(bytes(range(256)) * 10)
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "sub" / "deeper").mkdir(parents=True)
    (tmp_path / "sub" / "deeper" / "c.log").write_bytes(RECORD)
    (tmp_path / "sub" / "up").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    passed: list[tuple[str, str]] = []
    files = find_logs([str(tmp_path)], skipped=lambda name, why: passed.append((name, why)))
    assert [Path(file.name).name for file in files] == ["a.log", "b.log", "empty", "c.log"]
    assert [file.kind for file in files] == ["text", "text", "empty", "text"]
    assert passed == [
        (str(tmp_path / "core"), "no event log: nothing of one is at its start"),
        (str(tmp_path / "pipe"), "no regular file"),
        (str(tmp_path / "sub" / "up"), "a link to a folder; name it to have it read"),
    ]


def test_quoted_globs_work_and_literal_names_win(tmp_path: Path) -> None:
    for name in ("x.1", "x.2", "[a]"):
        (tmp_path / name).write_bytes(RECORD)
    files = find_logs([str(tmp_path / "x.*"), str(tmp_path / "[a]")])
    assert [Path(file.name).name for file in files] == ["x.1", "x.2", "[a]"]


def test_a_file_named_twice_is_taken_once(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(RECORD)
    (tmp_path / "link").symlink_to(path)
    (file,) = find_logs([str(path), str(tmp_path / "link"), str(tmp_path)])
    assert file.name == str(path)


def test_no_standard_input_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(SourceError, match="standard input is closed"):
        find_logs(["-"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.log", "there is no file .*missing.log"),
        ("no*match", "no file matches .*no\\*match"),
        ("bad\0name", "cannot read"),
        ("x" * 300, "cannot read"),
    ],
)
def test_what_is_not_there_is_one_line(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(SourceError, match=message) as raised:
        find_logs([str(tmp_path) + "/" + name])
    assert "\n" not in str(raised.value)


def test_nothing_named_and_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no event log was named"):
        find_logs([])
    with pytest.raises(SourceError, match="no event log in the folder"):
        find_logs([str(tmp_path)])


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_archives_are_refused(tmp_path: Path, kind: str, compressed: bool) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "log").write_bytes(RECORD)
    made = Path(shutil.make_archive(str(tmp_path / "packed"), kind, tmp_path / "logs"))
    if compressed:
        made.write_bytes(gzip.compress(made.read_bytes()))
    with pytest.raises(SourceError, match="is a tar or zip archive; unpack it and name its folder"):
        find_logs([str(made)])
    skipped: list[str] = []
    (file,) = find_logs([str(tmp_path)], skipped=lambda name, _: skipped.append(name))
    assert (content(file), skipped) == (RECORD, [str(made)])


def test_what_cannot_be_read_in_a_folder_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(RECORD)
    (tmp_path / "b.log.gz").write_bytes(gzip.compress(RECORD)[:10])
    (tmp_path / "c.log").symlink_to(tmp_path / "gone")
    for named in (str(tmp_path), str(tmp_path / "*.*")):
        failed: dict[str, str] = {}
        (file,) = find_logs([named], failed=failed.__setitem__)
        assert content(file) == RECORD
        assert [Path(name).name for name in failed] == ["b.log.gz", "c.log"]
        assert "ends early" in failed[str(tmp_path / "b.log.gz")]
        assert "there is no file" in failed[str(tmp_path / "c.log")]
        with pytest.raises(SourceError, match="ends early"):
            find_logs([named])
    (tmp_path / "a.log").unlink()
    with pytest.raises(SourceError, match=r"no event log in the folder .*ends early"):
        find_logs([str(tmp_path)], failed=lambda *_: None)
