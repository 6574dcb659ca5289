"""Which files are one log, and in which order."""

import gzip
import io
import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobsight.history.eventlog import segments
from jobsight.history.eventlog.discovery import find_logs
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.eventlog.segments import Log, plan, survey

FORMS = Path(__file__).resolve().parents[4] / "data" / "forms"
RECORD = b"001 (%d.000.000) 2026-11-21 02:31:12 Job executing on host: <127.0.0.1:9618>\n...\n"


def header(
    sequence: int, ctime: int, *, writer: str = "0.7.100.1", size: int = 0, offset: int = 0
) -> bytes:
    return (
        b"008 (-01.-01.-01) 2026-11-21 02:34:47 Global JobLog: ctime=%d id=%s.%d.%d.5 sequence=%d "
        b"size=%d events=0 offset=%d event_off=0 max_rotation=4 creator_name=<>   \n...\n"
        % (ctime, writer.encode(), sequence, ctime, sequence, size, offset)
    )


def part(sequence: int, ctime: int, **more: object) -> bytes:
    return header(sequence, ctime, **more) + RECORD % sequence  # type: ignore[arg-type]


def write(folder: Path, **contents: bytes) -> list[LogFile]:
    for name, data in contents.items():
        (folder / name.replace("__", ".")).write_bytes(data)
    return find_logs([str(folder / name.replace("__", ".")) for name in contents])


def text(log: Log) -> bytes:
    """All bytes of a log in order."""
    out = b""
    for segment in log.segments:
        data = bytearray(1 << 20)
        with segment.file.open() as stream:
            size = stream.readinto(memoryview(data))
        out += data[segment.start : size if segment.end is None else segment.end]
    return out


def order(log: Log) -> list[int | None]:
    return [part.header.sequence if part.header else None for part in log.segments]


def test_rotated_files_are_one_log_in_order() -> None:
    names = ["EventLog.2", "EventLog", "EventLog.4", "EventLog.1", "EventLog.3"]
    (log,) = plan(find_logs([str(FORMS / "rot" / name) for name in names]))
    assert order(log) == [2, 3, 4, 5, 6]
    assert log.access_point is None  # its submissions were rotated away


def test_renamed_files_are_joined_by_their_headers(tmp_path: Path) -> None:
    files = []
    for k, path in enumerate(sorted((FORMS / "rot").iterdir())):
        (tmp_path / f"copy{k}x").write_bytes(path.read_bytes())
        files.append(str(tmp_path / f"copy{k}x"))
    (log,) = plan(find_logs(files))
    assert order(log) == [2, 3, 4, 5, 6]


def test_logs_of_different_pools_stay_apart(tmp_path: Path) -> None:
    first = part(1, 100, writer="0.1.100.1")
    files = write(tmp_path, a=first, b=part(1, 100, writer="0.2.100.7"))
    assert [log.number for log in plan(files)] == [0, 1]
    (tmp_path / "c").mkdir()
    files = write(tmp_path, EventLog=first) + write(tmp_path / "c", EventLog=RECORD % 1)
    assert len(plan(files)) == 2


def test_a_restart_changes_the_writer_not_the_log(tmp_path: Path) -> None:
    files = write(
        tmp_path,
        EventLog=part(4, 400, writer="0.9.350.1"),
        EventLog__1=part(3, 300),
        EventLog__2=part(2, 200),
    )
    (log,) = plan(files)
    assert order(log) == [2, 3, 4]


def test_numbers_that_begin_anew_do_not_disorder_the_log(tmp_path: Path) -> None:
    # As HTCondor 23.9 writes when two processes rotate at once: one writer makes 19, later 1.
    told = [(19, 64, "a"), (20, 68, "b"), (1, 0, "a"), (2, 31, "c")]
    parts = [
        part(number, 100, writer=f"0.{name}.7.1", offset=offset, size=3)
        for number, offset, name in told
    ]
    exact = [
        whole.replace(b".5 sequence", b".%d sequence" % micros)
        for micros, whole in enumerate(parts)
    ]
    (log,) = plan(write(tmp_path, all=b"".join(reversed(exact))))
    assert order(log) == [19, 20, 1, 2]


def test_what_stands_before_the_first_header_comes_first(tmp_path: Path) -> None:
    files = write(tmp_path, all=RECORD % 9 + part(2, 200) + part(1, 100))
    (log,) = plan(files)
    assert order(log) == [None, 1, 2]
    assert text(log) == RECORD % 9 + part(1, 100) + part(2, 200)


def test_files_without_headers_follow_the_rules_of_rotation(tmp_path: Path) -> None:
    files = write(
        tmp_path,
        X=RECORD % 5,
        X__old=RECORD % 4,
        X__1=RECORD % 3,
        X__2=RECORD % 2,
        X__3__gz=gzip.compress(RECORD % 1),
    )
    (log,) = plan(files)
    assert text(log) == b"".join(RECORD % k for k in range(1, 6))


def test_numbered_logs_of_jobs_are_no_rotation(tmp_path: Path) -> None:
    files = write(tmp_path, job__17=RECORD % 1, job__18=RECORD % 2, job=RECORD % 3)
    files += write(tmp_path, log__0=RECORD % 1, log__1=RECORD % 2)
    assert len(plan(files)) == 5


def test_a_torn_file_keeps_its_place_among_the_others(tmp_path: Path) -> None:
    files = write(
        tmp_path,
        EventLog=part(4, 400),
        EventLog__1=b"torn\n" + RECORD % 3,
        EventLog__2=part(2, 200),
    )
    (log,) = plan(files)
    assert order(log) == [2, None, 4]


def test_ads_are_ordered_by_file(tmp_path: Path) -> None:
    ad = b'{\n  "Info": "Global JobLog: ctime=%d id=0.1.1.1 sequence=%d",\n  "x": 1\n}\n'
    files = write(tmp_path, EventLog=ad % (200, 2), EventLog__old=ad % (100, 1))
    (log,) = plan(files)
    assert order(log) == [1, 2]


def test_missing_times_leave_the_numbers(tmp_path: Path) -> None:
    bare = b"008 (-01.-01.-01) 2026-11-21 02:34:47 Global JobLog: sequence=%d\n...\n"
    (log,) = plan(write(tmp_path, all=bare % 3 + bare % 1 + bare % 2))
    assert order(log) == [1, 2, 3]


def test_users_cannot_cut_a_log(tmp_path: Path) -> None:
    forged = b"008 (012.000.000) 2026-11-21 02:34:47 Global JobLog: ctime=1 sequence=0\n...\n"
    reason = b"012 (1.0.0) 2026-11-21 02:34:47 Job was held.\n\t" + header(0, 1)
    (log,) = plan(write(tmp_path, all=part(1, 100) + forged + reason))
    assert order(log) == [1]


def test_the_access_point_is_set_or_told(tmp_path: Path) -> None:
    submit = (
        b"000 (1.0.0) 2026-11-21 02:31:12 Job submitted from host: <1.2.3.4:5?alias=ap7>\n...\n"
    )
    created = part(1, 1).replace(b"<>   ", b"<ap9>")
    files = write(tmp_path, a=submit, b=submit + created, c=RECORD % 1, d=b"")
    assert [log.access_point for log in plan(files)] == ["ap7", "ap9", None, None]
    assert {log.access_point for log in plan(files, access_point="x")} == {"x"}


class Bytes:
    """A stream of bytes, as a log's."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readinto(self, view: memoryview) -> int:
        return self._data.readinto(view)


def places() -> Iterator[list[int]]:
    rng = random.Random(1)
    for _ in range(30):
        yield sorted(rng.sample(range(60), rng.randrange(1, 9)))


@pytest.mark.parametrize("block", [9000, 20_000])
def test_headers_are_found_across_blocks(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(segments, "_BLOCK", block)
    for where in places():
        pieces = [(header(k, k) if k in where else b"") + RECORD % k * 17 for k in range(60)]
        starts = list(itertools.accumulate(map(len, pieces), initial=0))
        found = survey(Bytes(b"".join(pieces)))
        assert [(at, head.sequence) for at, head in found] == [(starts[k], k) for k in where]


@pytest.mark.parametrize("data", [b"", b"\n", b"Global JobLog:", header(1, 1)[:30], b"\0" * 9000])
def test_nothing_is_found_where_nothing_is(data: bytes) -> None:
    assert survey(Bytes(data)) == []


def test_small_logs_are_opened_once_to_be_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        b"000 (1.000.000) 2026-01-02 03:04:05 Job submitted from host: <192.0.2.1:9618?alias=ap1>\n"
    )
    (tmp_path / "a.log").write_bytes(text + b"...\n")
    files = find_logs([str(tmp_path)])

    def refuse(_file: LogFile, _start: int = 0) -> None:
        raise AssertionError("opened again")

    monkeypatch.setattr(LogFile, "open", refuse)
    (log,) = plan(files)
    assert log.access_point == "ap1"
