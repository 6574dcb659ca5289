"""Finding files, telling formats, reading lines, counting what came of it."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from pathlib import Path

import pytest
import zstandard
from tests.support.importing import SAMPLES, imported, written

from jobsight.documents import Event, JobDocument, State, merge
from jobsight.errors import SourceError
from jobsight.history.eventlog.discovery import find_logs
from jobsight.history.importers import IMPORTERS, Importer, ImportReport, Options
from jobsight.history.importers.base import LONGEST_LINE, Line, Meter, lines, timeline_of
from jobsight.history.importers.tally import JobTally, Mark

OF_EACH = {
    "sacct.psv": "sacct",
    "trace.swf": "swf",
    "eagle.csv": "eagle",
    "graham.csv": "graham",
    "condor-history.txt": "condor-history",
    "condor-history.json": "condor-history",
    "squeue-22.05.json": "squeue-json",
    "scontrol-24.11.json": "squeue-json",
    "scontrol.txt": "scontrol",
}


@pytest.mark.parametrize(("name", "kind"), OF_EACH.items())
def test_formats_are_told_by_content_and_by_one_importer_alone(name: str, kind: str) -> None:
    (file,) = find_logs([str(SAMPLES / name)])
    assert [one.name for one in IMPORTERS if one.sniff(file) >= 0.5] == [kind]


def test_every_importer_says_what_its_source_cannot_tell() -> None:
    assert len({one.name for one in IMPORTERS}) == len(IMPORTERS) == 11
    for one in IMPORTERS:
        assert isinstance(one, Importer)
        assert one.title
        assert all(what and why for what, why in one.unknowable)
        assert len(one.unknowable) >= 5


def test_a_folder_stands_for_what_is_known_in_it(tmp_path: Path) -> None:
    for name in OF_EACH:
        (tmp_path / name).write_bytes((SAMPLES / name).read_bytes())
    (tmp_path / "README").write_text("read me\n")
    (tmp_path / "lost.swf").symlink_to(tmp_path / "gone")
    _, report = imported(tmp_path, options=Options(cluster="c"))
    assert {Path(name).name: kind for name, kind in report.files} == OF_EACH
    assert "passed over 1 file of no known format" in report.notes[0]
    assert [Path(name).name for name, _ in report.unreadable] == ["lost.swf"]


def test_a_binary_file_among_several_is_passed_over(tmp_path: Path) -> None:
    known, core = tmp_path / "a.log", tmp_path / "core.log"
    known.write_bytes((SAMPLES / "trace.swf").read_bytes())
    core.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(500))
    for names in ([known, core], [tmp_path / "*.log"]):
        documents, report = imported(*names)
        assert documents
        assert report.notes[0] == f"passed over 1 file that is not text, such as {core}"
    with pytest.raises(SourceError, match="no known format"):
        imported(core)


def test_a_folder_of_nothing_known_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("read me\n")
    with pytest.raises(SourceError, match="no file of a known format in the folder"):
        imported(tmp_path)


@pytest.mark.parametrize(
    ("content", "looks"),
    [
        (b"to whom it may concern\n", "'to whom it may concern'"),
        (b"\x7fELF\0\0\0\0", "not text"),
        (b"   \n \n", "is empty"),
    ],
)
def test_what_is_of_no_known_format_is_described(
    content: bytes, looks: str, tmp_path: Path
) -> None:
    path = written(tmp_path, content)
    if not content.strip():
        assert "is empty" in imported(path)[1].notes[0]
        return
    with pytest.raises(SourceError, match="no known format") as told:
        imported(path)
    assert looks in str(told.value)
    assert "--format" in str(told.value)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstandard.compress])
@pytest.mark.parametrize("name", OF_EACH)
def test_compressed_files_of_every_format(pack: object, name: str, tmp_path: Path) -> None:
    path = SAMPLES / name
    packed = written(tmp_path, pack(path.read_bytes()), name)  # type: ignore[operator]
    options = Options(cluster="c")
    assert imported(packed, options=options)[0] == imported(path, options=options)[0]


def all_lines(path: Path) -> tuple[list[Line], ImportReport]:
    files, report = find_logs([str(path)]), ImportReport()
    return list(lines(files[0], report, Meter(files, report, lambda *_: None))), report


def test_lines_are_numbered_and_whatever_bytes_they_hold(tmp_path: Path) -> None:
    found, _ = all_lines(written(tmp_path, b"\xef\xbb\xbfa\r\n\n\xff\x80b\x0bc\x85\nlast"))
    assert found == [(1, "a"), (2, ""), (3, "\ufffd\ufffdb\x0bc\ufffd"), (4, "last")]


def test_lines_over_the_borders_of_blocks(tmp_path: Path) -> None:
    texts = ["x" * (300_000 + number) for number in range(20)]
    found, _ = all_lines(written(tmp_path, "\n".join(texts) + "\n"))
    assert found == list(enumerate(texts, 1))


def test_a_line_without_end_is_left_out_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path, b"a\n" + b"x" * (3 * LONGEST_LINE) + b"\nb\n")
    found, report = all_lines(path)
    assert found == [(1, "a"), (3, "b")]
    assert (report.bad, report.first_bad[0].place) == (1, 2)


def test_only_the_first_bad_rows_are_kept() -> None:
    report = ImportReport()
    for number in range(1000):
        report.refuse("f", number, "bad", "x" * 5000)
    assert (report.bad, len(report.first_bad)) == (1000, 10)
    assert len(report.first_bad[0].value) == 200


def document(number: int, state: State | None, time: int = 5) -> JobDocument:
    event = Event(time=time, source="t", state=state)
    return merge(None, JobDocument(id=f"slurm:c:{number}", updated=time, timeline=(event,)))


def test_a_job_told_of_many_times_counts_once() -> None:
    tally = JobTally()
    tally.add((document(number, State.PENDING) for number in range(100)), Mark.NEW)
    tally.add((document(number, State.RUNNING) for number in range(50)), Mark.CHANGED)
    tally.add((document(number, State.RUNNING) for number in range(40, 50)), Mark.UNCHANGED)
    tally.add([document(200, State.FAILED)], Mark.CHANGED)
    tally.add([document(201, None)], Mark.UNCHANGED)
    assert tally.by_mark() == {"new": 100, "changed": 1, "unchanged": 1}
    assert tally.by_state() == {"pending": 50, "running": 50, "failed": 1, "unknown": 1}


def test_the_span_of_what_was_imported() -> None:
    tally = JobTally()
    assert (tally.first, sum(tally.by_mark().values()), tally.by_state()) == (None, 0, {})
    tally.span([document(1, None, 7), document(2, None, 3), document(3, None, 5)])
    assert (tally.first, tally.last) == (3, 7)


@pytest.mark.parametrize(
    ("moments", "reason"),
    [
        ({"start": 4}, "starts before"),
        ({"start": 6, "end": 5}, "ends before"),
        ({"end": 4}, "ends before"),
        ({"eligible": 9, "start": 8}, "waits still"),
        ({"waiting": 9, "start": 8}, "waits still"),
    ],
)
def test_a_life_in_no_possible_order_is_refused(moments: dict[str, int], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        timeline_of("t", 5, **moments)  # type: ignore[arg-type]


def test_importing_tells_how_far_it_is() -> None:
    calls: list[tuple[int, int]] = []
    options = Options(progress=lambda done, total: calls.append((done, total)))
    imported(SAMPLES / "trace.swf", options=options)
    size = (SAMPLES / "trace.swf").stat().st_size
    assert calls[-1] == (size, size)


@pytest.mark.parametrize(
    ("text", "kind", "reason"),
    [
        ("JobID|State|Submit|Cluster\n", "auto", "no rows"),
        ("781203|FAILED|0:2\n781203.extern|COMPLETED|0:0\n", "squeue", "3 fields in place of 8"),
    ],
)
def test_a_file_without_a_record_is_an_error(
    tmp_path: Path, text: str, kind: str, reason: str
) -> None:
    with pytest.raises(SourceError, match=f"no record of .*{reason}"):
        imported(written(tmp_path, text), format=kind, options=Options(cluster="c"))
    # Next to one with records, as of a folder with a file for each day, it is not.
    if kind == "auto":
        more = written(tmp_path, text + "5|COMPLETED|2026-01-02T03:04:05|c\n", "more")
        assert len(imported(tmp_path)[0]) == 1
        assert more.exists()


def test_a_number_of_thousands_of_digits_costs_its_job_alone(tmp_path: Path) -> None:
    ads = [{"ClusterId": k, "ProcId": 0, "QDate": 1_700_000_000, "JobStatus": 4} for k in (1, 2)]
    first, second = map(json.dumps, ads)
    odd = first[:-1] + f', "Big": {"9" * 5000}}}'
    jobs, report = imported(
        written(tmp_path, f"[\n{odd},\n{second}\n]\n"), options=Options(access_point="ap")
    )
    assert [*jobs] == ["2.0"]
    assert report.bad == 1
    assert report.first_bad[0].reason == "a number of thousands of digits"
    lines = "".join(f"{name} = {value}\n" for name, value in ads[0].items())
    text = lines + f"Big = {'9' * 5000}\n\n" + lines.replace("ClusterId = 1", "ClusterId = 2")
    jobs, report = imported(written(tmp_path, text, "ads"), options=Options(access_point="ap"))
    assert report.bad <= 1 and "2.0" in jobs
