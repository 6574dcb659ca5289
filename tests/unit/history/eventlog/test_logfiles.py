"""Opening logs."""

import gzip
import io
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jobsight.errors import SourceError
from jobsight.history.eventlog import logfiles
from jobsight.history.eventlog.discovery import find_logs
from jobsight.history.eventlog.logfiles import LogFile, looks_like_log, sniff, spool

RECORD = b"001 (1.000.000) 2026-11-21 02:31:12 Job executing on host: <127.0.0.1:9618>\n...\n"


def content(file: LogFile, start: int = 0, block: int = 11) -> bytes:
    out = b""
    view = memoryview(bytearray(block))
    with file.open(start) as stream:
        while count := stream.readinto(view):
            out += bytes(view[:count])
    return out


def feed_stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    class Stdin:
        buffer = io.BytesIO(data)

    monkeypatch.setattr("sys.stdin", Stdin())


def test_a_file_is_read_from_any_position(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(RECORD * 3)
    os.utime(path, (1e9, 1e9))
    (file,) = find_logs([str(path)])
    assert (file.name, file.path, file.kind, file.compression) == (str(path), path, "text", None)
    assert (file.modified, file.size, file.seekable) == (1e9, 3 * len(RECORD), True)
    assert content(file) == RECORD * 3
    assert content(file, start=len(RECORD) + 4) == (RECORD * 3)[len(RECORD) + 4 :]
    assert content(file, start=10_000) == b""


def test_compression_is_told_by_bytes_not_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(gzip.compress(RECORD * 9, mtime=1_500_000_000))
    (tmp_path / "b.gz").write_bytes(RECORD)
    packed, plain = find_logs([str(tmp_path / "a.txt"), str(tmp_path / "b.gz")])
    assert (packed.compression, packed.modified, packed.seekable) == ("gzip", 1_500_000_000, False)
    assert content(packed, start=5) == (RECORD * 9)[5:]
    assert plain.compression is None


def test_a_truncated_gzip_tells_its_problem(tmp_path: Path) -> None:
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(RECORD * 500)[:-20])
    (file,) = find_logs([str(path)])
    with file.open() as stream:
        view = memoryview(bytearray(1 << 20))
        assert stream.problem is None
        assert 0 < stream.readinto(view) <= 500 * len(RECORD)
        assert "ends early" in (stream.problem or "")
    copy = spool(file)
    with copy.open() as stream:
        stream.readinto(view)
        assert "ends early" in (stream.problem or "")


def test_a_spooled_copy_is_seekable_and_vanishes(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(gzip.compress(RECORD * 9, mtime=7))
    (file,) = find_logs([str(tmp_path / "log")])
    copy = spool(file)
    assert copy.seekable
    assert (copy.name, copy.modified, copy.kind, copy.path) == (file.name, 7, "text", None)
    assert content(copy, start=3) == (RECORD * 9)[3:]
    assert sorted(tmp_path.iterdir()) == [tmp_path / "log"]


def test_a_full_disk_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log").write_bytes(gzip.compress(RECORD))
    (file,) = find_logs([str(tmp_path / "log")])

    def full() -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(SourceError, match=r"no room .* set TMPDIR"):
        spool(file)


def test_standard_input_is_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    feed_stdin(monkeypatch, gzip.compress(RECORD * 2, mtime=5))
    (file,) = find_logs(["-", "-"])
    assert (file.name, file.path, file.compression, file.modified) == ("-", None, "gzip", 5)
    assert content(file) == content(file) == RECORD * 2


def test_a_device_is_refused() -> None:
    with pytest.raises(SourceError, match="neither a file"):
        find_logs(["/dev/null"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(RECORD)
    path.chmod(0)
    with pytest.raises(SourceError, match="may not read"):
        find_logs([str(path)])


def test_a_log_rotated_meanwhile_is_not_mistaken(tmp_path: Path) -> None:
    path = tmp_path / "EventLog"
    path.write_bytes(RECORD)
    (file,) = find_logs([str(path)])
    path.rename(tmp_path / "EventLog.1")
    path.write_bytes(b"new")
    with pytest.raises(SourceError, match=r"EventLog was rotated, .* run again"):
        file.open()


def test_what_is_appended_or_cut_later_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(RECORD)
    (file,) = find_logs([str(path)])
    with path.open("ab") as stream:
        stream.write(RECORD)
    assert content(file) == RECORD
    path.write_bytes(b"")
    assert content(file) == b""


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"", "empty"),
        (b" \n\r\n", "empty"),
        (RECORD, "text"),
        (b"\xef\xbb\xbf" + RECORD, "text"),
        (b"<127.0.0.1:1>\n...\n" + RECORD, "text"),
        (b"rubbish", "text"),
        (b'\n{\n  "EventTypeNumber": 0\n}\n', "json"),
        (b'  "Proc": 0,\n  "EventTypeNumber": 0\n}\n', "json"),
        (b"<?xml version='1.0'?>\n<classads>\n", "xml"),
        (b'<c>\n <a n="MyType"><s>X</s></a>', "xml"),
        (b'n="Proc"><i>0</i></a>\n</c>\n<c>\n', "xml"),
    ],
)
def test_the_form_is_told_by_the_first_bytes(head: bytes, kind: str) -> None:
    assert sniff(head) == kind


def test_what_looks_like_a_log() -> None:
    assert looks_like_log(b"torn\n" + RECORD)
    assert looks_like_log(b'{"MyType": "SubmitEvent"}')
    assert not looks_like_log(b"Subject: (1.2.3) hello\n")


def test_the_head_that_is_kept_is_unpacked_and_short(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(gzip.compress(RECORD * 9000))
    (file,) = find_logs([str(tmp_path / "log")])
    assert file.head == (RECORD * 9000)[: len(file.head)]
    assert len(file.head) == 8 << 10


def test_a_pipe_that_nothing_writes_to_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = str(tmp_path / "pipe")
    os.mkfifo(name)
    monkeypatch.setattr(logfiles, "_PIPE_SECONDS", 0.1)
    with pytest.raises(SourceError, match=r"a pipe to which nothing was written for 0\.1 s"):
        logfiles.open_file(name)
    monkeypatch.setattr(logfiles, "_PIPE_SECONDS", 60.0)
    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(Path(name).write_bytes, b"some text\n" * 50_000)
        file, _ = logfiles.open_file(name)
        assert file.size == written.result() == 500_000
