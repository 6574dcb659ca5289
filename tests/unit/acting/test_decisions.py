"""The decision log: whole lines, also after a kill, a full disk and a rotation."""

import json
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobsight.acting.decisions import DecisionLog
from jobsight.errors import OutputError


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file of this process grows beyond 300 bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def test_lines_are_json_with_their_time_newest_first(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path)
    log.write("intent", jobs=["1.0-4"], probability=float("nan"))
    log.write("result", edited=5)
    records = list(log.latest())
    assert [record["what"] for record in records] == ["result", "intent"]
    assert records[1]["probability"] is None
    assert all(record["time"].startswith("20") for record in records)
    assert log.path.stat().st_mode & 0o777 == 0o600


def test_a_torn_line_spoils_no_other(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path)
    log.write("intent")
    with log.path.open("ab") as file:
        file.write(b'{"what": "res')
    log.write("round")
    assert [record["what"] for record in log.latest()] == ["round", "intent"]


def test_what_does_not_fit_on_the_disk_leaves_no_trace(tmp_path: Path, small_files: None) -> None:
    log = DecisionLog(tmp_path)
    log.write("intent")
    before = log.path.read_bytes()
    with pytest.raises(OutputError, match="nothing is done that cannot be written down"):
        log.write("intent", reason="x" * 400)
    assert log.path.read_bytes() == before


def test_a_folder_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot write"):
        DecisionLog(tmp_path / "gone").write("intent")


def test_ten_files_are_kept(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path, most_bytes=100)
    for number in range(15):
        log.write("round", number=number, more="x" * 60)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["decisions.jsonl", *(f"decisions.jsonl.{k}" for k in range(1, 10))]
    assert json.loads(log.path.read_text())["number"] == 14
    assert json.loads((tmp_path / "decisions.jsonl.9").read_text())["number"] == 5
