"""Reading logs in every packing, in their own order, and dating them."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import io
import itertools
import lzma
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import zstandard
from tests.support.logtext import EXECUTE, HELD, RELEASED, SUBMIT, TERMINATED, chunk_size, record

from jobsight.errors import SourceError, UsageError
from jobsight.history.eventlog.chunks import chunks
from jobsight.history.events import EventLog, EventReader, read_events

FORMS = Path(__file__).resolve().parents[3] / "data/forms"
ROTATED = [
    FORMS / "rot" / name for name in ("EventLog.4", "EventLog.3", "EventLog.2", "EventLog.1")
]
ROTATED.append(FORMS / "rot/EventLog")

PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor().compress,
}
LOG = record(0, SUBMIT) + record(1, EXECUTE) + record(12, HELD) + record(13, RELEASED)


def write(path: Path, data: bytes, modified: str = "2026-07-01T00:00:00+00:00") -> str:
    path.write_bytes(data)
    seconds = dt.datetime.fromisoformat(modified).timestamp()
    os.utime(path, (seconds, seconds))
    return str(path)


def what(log: EventLog) -> pl.DataFrame:
    """The events without where they stood."""
    return log.table.drop("source", "offset", "log", "access_point")


def rotated() -> list[bytes]:
    return [path.read_bytes() for path in ROTATED]


@pytest.fixture
def in_order() -> pl.DataFrame:
    """What each file holds, read alone."""
    parts = [what(read_events([str(path)], timezone="UTC")) for path in ROTATED]
    table = what(read_events([str(path) for path in ROTATED], timezone="UTC"))
    assert pl.concat(parts).equals(table)
    return table


# Packings


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("name", ["log", "log.gz", "log.txt"])
def test_packings_are_known_by_their_bytes(packing: str, name: str, tmp_path: Path) -> None:
    found = read_events([write(tmp_path / name, PACKINGS[packing](LOG))], timezone="UTC")
    assert found.table["code"].to_list() == [0, 1, 12, 13]
    assert found.report.bytes == len(LOG)
    assert found.report.skipped == []


@pytest.mark.parametrize("packing", PACKINGS)
def test_standard_input(packing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PACKINGS[packing](LOG))))
    found = read_events(["-"], timezone="UTC")
    assert found.table["code"].to_list() == [0, 1, 12, 13]
    assert found.table["source"].unique().to_list() == ["-"]


def test_folders_globs_and_names_given_twice(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        write(tmp_path / name, LOG)
    (tmp_path / "readme").write_text("no log\n")
    folder = read_events([str(tmp_path)], timezone="UTC")
    assert folder.report.events == 8
    assert [Path(name).name for name, _ in folder.report.passed_over] == ["readme"]
    globbed = read_events([str(tmp_path / "*.log"), str(tmp_path / "a.log")], timezone="UTC")
    assert globbed.report.events == 8
    assert (globbed.report.files, globbed.report.logs) == (2, 2)


@pytest.mark.parametrize("packing", ["gz", "bz2", "xz", "zst"])
def test_a_broken_packing_keeps_what_came_before(packing: str, tmp_path: Path) -> None:
    noise = random.Random(1)
    data = b"".join(
        record(13, f"Job was released.\n\t{noise.randbytes(40).hex()}\n") for _ in range(15_000)
    )
    packed = PACKINGS[packing](data)
    found = read_events([write(tmp_path / "log", packed[: len(packed) // 2])], timezone="UTC")
    count = found.report.events
    # bzip2 tells nothing of a block of 900 kB before all of it is there, zstd of at most 128 KiB.
    assert count > 0
    assert found.report.bytes <= len(data)
    *_, last = found.report.skipped
    assert (last.offset, last.length) == (found.report.bytes, 0)
    assert "end" in last.reason or "damaged" in last.reason
    size = len(data) // 15_000
    truncated = found.report.bytes % size
    assert count == found.report.bytes // size
    if truncated:
        assert found.report.skipped[0].offset == count * size


# Order


def test_rotated_files_are_one_log_in_order(in_order: pl.DataFrame) -> None:
    for names in itertools.islice(itertools.permutations(ROTATED), 0, 120, 17):
        found = read_events([str(name) for name in names], timezone="UTC")
        assert found.report.logs == 1
        assert what(found).equals(in_order)
    found = read_events([str(FORMS / "rot")], timezone="UTC")
    assert what(found).equals(in_order)


@pytest.mark.parametrize("packing", PACKINGS)
def test_rotated_logs_joined_in_any_order(
    packing: str, in_order: pl.DataFrame, tmp_path: Path
) -> None:
    for parts in itertools.islice(itertools.permutations(rotated()), 0, 120, 23):
        data = b"".join(parts)
        found = read_events([write(tmp_path / "log", PACKINGS[packing](data))], timezone="UTC")
        assert what(found).equals(in_order)
        assert found.report.bytes == len(data)


def test_rotated_logs_joined_in_two_files(in_order: pl.DataFrame, tmp_path: Path) -> None:
    one, two, three, four, five = rotated()
    packed = gzip.compress(four + one + three)
    names = [write(tmp_path / "a", five + two), write(tmp_path / "b", packed)]
    assert what(read_events(names, timezone="UTC")).equals(in_order)


def test_small_chunks_do_not_matter_to_a_real_log(in_order: pl.DataFrame) -> None:
    for path in (FORMS / "legacy/EventLog", FORMS / "utc-sub_second/EventLog"):
        whole = read_events([str(path)], timezone="UTC")
        with chunk_size(700):
            assert read_events([str(path)], timezone="UTC").table.equals(whole.table)


# Times


def test_an_unknown_zone_is_a_wrong_call(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no time zone"):
        read_events([write(tmp_path / "log", LOG)], timezone="Nowhere/Land")


# The report


def test_the_report_adds_up(tmp_path: Path) -> None:
    tail = record(5, TERMINATED)[:-9]
    path = write(tmp_path / "log", b"rubbish\n" + LOG + tail)
    told: list[tuple[int, int]] = []
    reader = EventReader([path], timezone="UTC", progress=lambda *done: told.append(done))
    rows = sum(batch.num_rows for batch in reader.batches())
    report = reader.report
    size = len(LOG) + len(tail) + 8
    assert (report.files, report.logs, report.bytes, report.events) == (1, 1, size, rows)
    assert report.by_code == {0: 1, 1: 1, 12: 1, 13: 1}
    assert report.jobs == 1
    assert report.first == report.last
    assert [(one.file, one.offset, one.length) for one in report.skipped] == [
        (path, 0, 8),
        (path, 8 + len(LOG), len(tail)),
    ]
    assert told[-1] == (size, size)


def test_jobs_are_counted_by_their_ids(tmp_path: Path) -> None:
    ids = ["1.0.0", "1.1.0", "1.1.0", "-1.-1.-1", "2147483647.2147483647.0", "2147483648.1.0"]
    data = b"".join(record(13, RELEASED, job) for job in ids)
    report = read_events([write(tmp_path / "log", data)], timezone="UTC").report
    assert (report.jobs, report.events, len(report.skipped)) == (3, 5, 1)  # numbers have 31 bits


def test_a_file_whose_name_is_no_utf8_is_read_as_any_other(tmp_path: Path) -> None:
    name = write(tmp_path / os.fsdecode(b"caf\xe9.log"), LOG)
    read = read_events([name])
    assert read.table["source"].unique().to_list() == [f"{tmp_path}/caf?.log"]
    assert read.report.events == 4


def test_nothing_to_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="there is no file"):
        read_events([str(tmp_path / "none")])
    with pytest.raises(SourceError, match="no event log"):
        read_events([])
    empty = read_events([write(tmp_path / "empty", b"")], timezone="UTC")
    assert (empty.report.events, empty.table.height, empty.report.skipped) == (0, 0, [])


# Chunks


class _Stream:
    """A stream that gives few bytes at a time, as a pipe may."""

    def __init__(self, data: bytes) -> None:
        self._stream = io.BytesIO(data)

    def readinto(self, buffer: memoryview) -> int:
        return self._stream.readinto(buffer[:7])


@pytest.mark.parametrize("size", [1, 100, 250, len(LOG), len(LOG) + 1])
def test_chunks_hold_all_bytes_once(size: int) -> None:
    with chunk_size(size):
        found = list(chunks(_Stream(LOG), start=5))
    assert b"".join(one.data.tobytes() for one in found) == LOG
    assert [one.last for one in found] == [False] * (len(found) - 1) + [True]
    at = 5
    for one in found:
        assert one.offset == at
        at += len(one.data)
        assert one.last or one.data.tobytes().endswith(b"...\n")


def test_chunks_end_where_they_are_told_to() -> None:
    end = 5 + len(record(0, SUBMIT))
    found = list(chunks(_Stream(LOG), start=5, end=end))
    assert b"".join(one.data.tobytes() for one in found) == record(0, SUBMIT)


def test_a_stream_that_is_no_log_is_cut_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobsight.history.eventlog.chunks.LARGEST", 1000)
    with chunk_size(100):
        found = list(chunks(_Stream(b"x" * 5000)))
    assert sum(len(one.data) for one in found) == 5000
    assert max(len(one.data) for one in found) <= 2000


def test_a_file_may_be_older_than_what_it_tells(tmp_path: Path) -> None:
    path = write(tmp_path / "log", LOG, modified="1999-01-01T00:00:00+00:00")
    assert read_events([path], timezone="UTC").report.skipped == []


def test_a_small_file_of_gigabytes_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobsight.history.events._MOST_BEFORE_FIRST", 1 << 20)
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(200 << 20), 1))
    reader = EventReader([str(tmp_path / "bomb.gz")])
    assert list(reader.batches())
    assert reader.report.bytes < 100 << 20
    assert "has no event record" in reader.report.unreadable[0][1]
    assert "not read" in reader.report.skipped[-1].reason
