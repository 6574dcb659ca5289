"""Memory stays bounded whatever a log's size (run with ``JOBSIGHT_PROVE=1``)."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.limits import limit, prove

POOL = Path(__file__).resolve().parents[2] / "data/pool-a.log.gz"
COPIES = 64  # of 33 MB: more than 2 GB
GIGABYTE = 1_000_000  # KiB, a little less

# VmHWM, not ru_maxrss: that one starts at what the parent held when it forked.

SCRIPT = """
import re, sys
from pathlib import Path
from jobsight.history.events import EventReader
from jobsight.history.parquet import write_events

reader = EventReader([sys.argv[1]], timezone="UTC")
write_events(reader.batches(), Path(sys.argv[2]))
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
print(reader.report.events, peak[1])
"""

pytestmark = prove


def _peak(log: Path, output: Path) -> tuple[int, int]:
    """Events read, and the most memory that was resident, KiB."""
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(log), str(output)],
        capture_output=True,
        check=True,
        timeout=limit(600),
    )
    events, peak = result.stdout.split()
    return int(events), int(peak)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    if shutil.disk_usage(tmp_path).free < 5 << 30:
        pytest.skip("less than 5 GB of disk are free")
    yield tmp_path
    shutil.rmtree(tmp_path)


def test_a_log_of_gigabytes_is_read_in_less_than_one(folder: Path) -> None:
    once = gzip.decompress(POOL.read_bytes())
    (folder / "once.log").write_bytes(once)
    events, _ = _peak(folder / "once.log", folder / "once.parquet")
    log = folder / "large.log"
    with log.open("wb") as stream:
        for _ in range(COPIES):
            stream.write(once)
    found, peak = _peak(log, folder / "large.parquet")
    assert found == COPIES * events
    assert peak < GIGABYTE


@pytest.mark.parametrize(
    "piece", [b"\0", b"no log at all\n", b"(", b"003 (1.1.1) 01/01 00:00:00\n"]
)
def test_a_gigabyte_of_rubbish_is_read_in_less_than_one(piece: bytes, folder: Path) -> None:
    log = folder / "rubbish.log"
    block = piece * ((16 << 20) // len(piece))
    with log.open("wb") as stream:
        stream.write(b"003 (1.1.1) 01/01 00:00:00\n...\n")
        for _ in range(64):
            stream.write(block)
    assert _peak(log, folder / "out.parquet")[1] < GIGABYTE
