"""``jobsight events`` as users call it, with good input and odd."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.support.calling import jobsight
from tests.support.limits import limit
from tests.support.logtext import EXECUTE, HELD, RELEASED, SUBMIT, information, record

LOG = record(0, SUBMIT) + record(1, EXECUTE) + record(12, HELD) + information(12)
LOG += record(13, RELEASED, "124.000.000")
FULL = Path("/dev/full")


def _without_privileges() -> list[str]:
    """What makes root, in front of a command, ask for permission like others."""
    if os.geteuid() != 0:
        return []
    capabilities = "-dac_override,-dac_read_search"
    drop = ["setpriv", "--bounding-set", capabilities, "--inh-caps", capabilities]
    if shutil.which("setpriv") is None or subprocess.run([*drop, "true"], check=False).returncode:
        pytest.skip("root cannot give up its privileges here")
    return drop


def process(
    *arguments: str | Path, stdin: bytes = b"", stdout: int | None = None, like_others: bool = False
) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own."""
    drop = _without_privileges() if like_others else []
    done = subprocess.run(
        [*drop, sys.executable, "-m", "jobsight", *map(str, arguments)],
        input=stdin,
        stdout=subprocess.PIPE if stdout is None else stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, "TZ": "UTC", "NO_COLOR": "1"},
        timeout=limit(300),
        check=False,
    )
    printed, said = ((text or b"").decode() for text in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, printed, said)


def fails(result: subprocess.CompletedProcess[str], *words: str, status: int = 1) -> None:
    """The call failed, and said why in one line."""
    said = result.stderr
    assert result.returncode == status, said
    assert not result.stdout
    assert said.startswith("jobsight: ")
    assert said.count("\n") == 1
    for word in words:
        assert word in said


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "job.log"
    path.write_bytes(LOG)
    return path


def test_json(log: Path) -> None:
    log.write_bytes(LOG + b"rub\x1b[31mbish")
    result = jobsight("events", log, "--json", "--timezone", "UTC")
    assert result.returncode == 0
    told = json.loads(result.stdout)
    assert told.pop("seconds") >= 0
    assert told == {
        "files": 1,
        "bytes": len(LOG) + 12,
        "events": 5,
        "jobs": 2,
        "first": "2026-01-02T03:04:05Z",
        "last": "2026-01-02T03:04:05Z",
        "by_code": {"000": 1, "001": 1, "012": 1, "013": 1, "028": 1},
        "skipped": [
            {"file": str(log), "offset": len(LOG), "length": 12, "reason": "no event record here"}
        ],
        "passed_over": [],
        "unreadable": [],
    }


def test_text_and_parquet(log: Path, tmp_path: Path) -> None:
    output = tmp_path / "new" / "events.parquet"
    result = jobsight("events", log, "-o", output)
    assert result.returncode == 0
    assert "5 events of 2 jobs in 1 file" in result.stdout
    assert "012" in result.stdout
    table = pl.read_parquet(output)
    assert table["code"].to_list() == [0, 1, 12, 28, 13]
    assert table["hold_code"].to_list() == [None, None, 13, None, None]
    assert table["owner"].to_list() == [None, None, None, "u01", None]
    assert os.listdir(output.parent) == ["events.parquet"]  # noqa: PTH208


def test_damage_is_told_on_standard_error(log: Path) -> None:
    log.write_bytes(b"rubbish\n" * 2 + LOG + LOG[:60])
    result = jobsight("events", log)
    assert result.returncode == 0
    said = result.stderr
    assert f"{log} at byte 0 (16 bytes): no event record here" in said
    assert "truncated" in said


@pytest.mark.parametrize("data", [LOG, gzip.compress(LOG)])
def test_a_pipe(data: bytes) -> None:
    result = process("events", "-", "--json", stdin=data)
    assert json.loads(result.stdout)["events"] == 5


def test_an_empty_log_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "empty.log"
    path.touch()
    result = jobsight("events", path, "--json", "-o", tmp_path / "out.parquet")
    assert result.returncode == 0
    told = json.loads(result.stdout)
    assert (told["events"], told["first"], told["by_code"]) == (0, None, {})
    assert pl.read_parquet(tmp_path / "out.parquet").height == 0


def test_what_cannot_be_read_in_a_folder_is_listed_and_the_rest_is_read(
    log: Path, tmp_path: Path
) -> None:
    (tmp_path / "lost.log").symlink_to(tmp_path / "gone")
    frames = ("-o", str(tmp_path / "frames"), "--m", "4", "--j", "2")
    for verb, options in ((("events",), ()), (("frames", "hold"), frames)):
        result = jobsight(*verb, tmp_path, *options)
        assert result.returncode == 1
        assert "there is no file" in result.stderr
        assert "lost.log" in result.stderr
    assert "5 events of 2 jobs" in jobsight("events", tmp_path).stdout
    told = json.loads(jobsight("events", tmp_path, "--json").stdout)
    assert [one["file"] for one in told["unreadable"]] == [str(tmp_path / "lost.log")]


@pytest.mark.parametrize(
    ("data", "looks"),
    [
        (bytes(range(256)) * 300, "bytes that are not text"),
        (b"Dear all,\nthe log is attached.\n" * 99, "'Dear all,'"),
        (LOG.decode().encode("utf-16"), "iconv -f UTF-16"),
        (b'[{"ClusterId": 1, "MyType": "Job"}]', "ClusterId"),
    ],
)
def test_a_file_with_nothing_of_an_event_log_is_an_error(
    data: bytes, looks: str, log: Path, tmp_path: Path
) -> None:
    path = tmp_path / "odd"
    path.write_bytes(data)
    fails(jobsight("events", path), "odd' has no event record: it begins with", looks)
    result = jobsight("events", path, log)
    assert result.returncode == 1
    assert "has no event record" in result.stderr
    assert "5 events of 2 jobs" in result.stdout


def test_wrong_calls(log: Path) -> None:
    fails(jobsight("events", log, "--timezone", "Nowhere/Land"), "no time zone", status=2)
    assert jobsight("events").returncode == 2
    assert jobsight("events", log, "--bogus").returncode == 2


def test_what_may_not_be_read_or_written(log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    fails(process("events", log, "-o", folder / "out.parquet", like_others=True), "cannot write")
    log.chmod(0)
    fails(process("events", log, like_others=True), "may not read")


def test_an_output_that_cannot_be_leaves_all_as_it_was(log: Path, tmp_path: Path) -> None:
    fails(jobsight("events", log, "-o", tmp_path), "it is a folder")
    fails(jobsight("events", log, "-o", log / "out.parquet"), "cannot write")
    fails(jobsight("events", log, "-o", log), "was not written by jobsight")
    (tmp_path / "other.log").symlink_to(log)
    fails(jobsight("events", log, "-o", tmp_path / "other.log"), "was not written by jobsight")
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    fails(jobsight("events", log, "-o", fifo), "it is no regular file")
    assert fifo.is_fifo()
    assert log.read_bytes() == LOG
    assert sorted(os.listdir(tmp_path)) == ["job.log", "other.log", "pipe"]  # noqa: PTH208


def test_an_older_output_outlives_a_full_disk(log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root can make a small disk")
    try:
        output = folder / "out.parquet"
        output.write_text(older := "PAR1 jobsight.events/1 PAR1")
        log.write_bytes(b"".join(record(13, f"Job was released.\n\t{k:x}\n") for k in range(9999)))
        fails(jobsight("events", log, "-o", output), "cannot write", "No space left")
        assert output.read_text() == older
        assert os.listdir(folder) == ["out.parquet"]  # noqa: PTH208
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_standard_output_on_a_full_disk(log: Path, more: list[str]) -> None:
    with FULL.open("wb") as full:
        result = process("events", log, *more, stdout=full.fileno())
    assert result.returncode == 1
    assert result.stderr == "jobsight: cannot write to standard output: No space left on device\n"


@pytest.mark.parametrize("arguments", [["--help"], ["events", "LOG", "--json"]])
def test_a_reader_that_has_gone_is_no_error(log: Path, arguments: list[str]) -> None:
    # Long enough to be written before the end.
    log.write_bytes(b"".join(record(12, HELD) + b"damage\n...\n" for _ in range(500)))
    reader, writer = os.pipe()
    os.close(reader)
    try:
        given = [str(log) if one == "LOG" else one for one in arguments]
        result = process(*given, stdout=writer)
    finally:
        os.close(writer)
    assert (result.returncode, result.stderr) == (0, "")


def test_closed_streams(log: Path) -> None:
    command = f"{sys.executable} -m jobsight events"
    result = subprocess.run(
        ["bash", "-c", f"{command} {log} >&-; {command} - <&-"],
        capture_output=True,
        check=False,
        timeout=limit(300),
    )
    assert result.returncode == 1
    first, second = result.stderr.decode().splitlines()
    assert first.startswith("jobsight: standard output is closed")
    assert second.startswith("jobsight: standard input is closed")
