"""Finding logs: files, folders, globs, archives."""

import bz2
import gzip
import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from jobsight.errors import SourceError
from jobsight.history.eventlog import packed
from jobsight.history.eventlog.discovery import find_logs
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.eventlog.segments import plan

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


MEMBERS = {
    "ap1/EventLog": RECORD * 2,
    "ap1/EventLog.1.gz": gzip.compress(RECORD * 9),
    "ap2/EventLog": OTHER * 3,
    "README": b"These are our logs.\n",
    "empty": b"",
}


def tarred(members: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        archive.addfile(directory("ap1"))
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(data), 1_500_000_000
            archive.addfile(entry, io.BytesIO(data))
    return made.getvalue()


def directory(name: str) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type = tarfile.DIRTYPE
    return entry


def zipped(members: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("ap1")
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name, (2017, 7, 14, 2, 40, 0)), data)
    return made.getvalue()


@pytest.mark.parametrize(
    "packed",
    [
        tarred,
        zipped,
        lambda members: gzip.compress(tarred(members)),
        lambda members: bz2.compress(tarred(members)),
        lambda members: gzip.compress(zipped(members)),
    ],
    ids=["tar", "zip", "tar.gz", "tar.bz2", "zip.gz"],
)
def test_the_members_of_an_archive_are_logs_of_their_own(
    tmp_path: Path, packed: Callable[[dict[str, bytes]], bytes]
) -> None:
    path = tmp_path / "logs"
    path.write_bytes(packed(MEMBERS))
    passed: list[str] = []
    files = find_logs([str(path), str(path)], skipped=lambda name, _: passed.append(name))
    assert passed == [f"{path}/README"]
    assert [(file.name, content(file)) for file in files] == [
        (f"{path}/ap1/EventLog", RECORD * 2),
        (f"{path}/ap1/EventLog.1.gz", RECORD * 9),
        (f"{path}/ap2/EventLog", OTHER * 3),
        (f"{path}/empty", b""),
    ]
    assert content(files[2], start=len(OTHER)) == OTHER * 2
    assert {file.source for file in files} == {str(path)}
    assert abs(files[2].modified - 1_500_000_000) < 86_400
    # A rotated log is one log; two access points are two, whatever the names of their files.
    assert [len(log.segments) for log in plan(files)] == [2, 1, 1]


def test_an_archive_from_a_pipe_and_one_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stdin:
        buffer = io.BytesIO(gzip.compress(tarred(MEMBERS)))

    monkeypatch.setattr("sys.stdin", Stdin())
    assert [file.name for file in find_logs(["-", "-"])][::3] == ["-/ap1/EventLog", "-/empty"]
    (tmp_path / "packed").write_bytes(tarred(MEMBERS))
    (tmp_path / "plain").write_bytes(RECORD)
    assert len(find_logs([str(tmp_path)])) == 5


def test_a_member_that_was_added_anew_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "logs.tar"
    path.write_bytes(tarred({"log": RECORD}))
    with tarfile.open(path, "a") as archive:
        entry = tarfile.TarInfo("log")
        entry.size = 2 * len(RECORD)
        archive.addfile(entry, io.BytesIO(RECORD * 2))
    (file,) = find_logs([str(path)])
    assert content(file) == RECORD * 2


BIG = {"one": RECORD * 9, "two": OTHER * 90, "three": RECORD * 90}


@pytest.mark.parametrize(
    ("data", "names", "why"),
    [
        (tarred(BIG)[:4000], ["one", "two"], "unexpected end of data"),
        (tarred(BIG)[:2048] + b"x" * 512, ["one"], "damaged tar at byte 2048"),
        (gzip.compress(tarred(BIG), 0)[:4000], ["one", "two"], "the gzip data ends early"),
        (zipped(BIG)[:-30], [], "not a zip file"),
        (zipped(BIG).replace(b"two", b"TWO", 1), ["one", "three"], "/two': damaged zip data"),
    ],
)
def test_a_damaged_archive_gives_what_is_sound(
    tmp_path: Path, data: bytes, names: list[str], why: str
) -> None:
    path = tmp_path / "logs"
    path.write_bytes(data)
    failed: list[str] = []
    if not names:
        with pytest.raises(SourceError, match=why):
            find_logs([str(path)])
        return
    files = find_logs([str(path)], failed=lambda _, why: failed.append(why))
    assert [Path(file.name).name for file in files] == names
    assert why in failed[0]
    for file in files:
        assert BIG[Path(file.name).name].startswith(content(file))
    assert content(files[0]) == BIG["one"]


def test_hostile_archives_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "logs.tar"
    path.write_bytes(tarred(MEMBERS))
    monkeypatch.setattr(packed, "_MOST", 3)
    with pytest.raises(SourceError, match="more than 3 members"):
        find_logs([str(path)])
    entry = tarfile.TarInfo("pax")
    entry.type, entry.size = tarfile.XHDTYPE, 1 << 40
    path.write_bytes(entry.tobuf(tarfile.GNU_FORMAT) + bytes(4096))
    with pytest.raises(SourceError, match="a header claims to have"):
        find_logs([str(path)])


def test_an_archive_in_an_archive_and_one_without_logs(tmp_path: Path) -> None:
    path = tmp_path / "logs.tar"
    path.write_bytes(tarred({"log": RECORD, "inner.tar": tarred(MEMBERS)}))
    failed: list[str] = []
    (file,) = find_logs([str(path)], failed=lambda _, why: failed.append(why))
    assert content(file) == RECORD
    assert len(failed) == 1
    assert "inner.tar': an archive in an archive; unpack it" in failed[0]
    path.write_bytes(tarred({"README": b"nothing"}))
    with pytest.raises(SourceError, match="no event log in the archive"):
        find_logs([str(path)])


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
