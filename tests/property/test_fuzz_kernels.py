"""No compiled kernel reads or writes outside of its arrays: they run with Numba's bounds checking.

The kernels that scan bytes read random logs, with ``JOBSIGHT_PROVE=1`` a million of them. Those
that take arrays run in the tests of their own modules, all of them with ``JOBSIGHT_PROVE=1``.
"""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from tests.support.limits import PROVE
from tests.support.logtext import (
    ABORTED,
    EXECUTE,
    HELD,
    RELEASED,
    TERMINATED,
    header,
    information,
    record,
)

from jobsight.errors import SourceError
from jobsight.history.eventlog import scanner
from jobsight.history.eventlog.chunks import Chunk, chunks
from jobsight.history.eventlog.columns import Origin, batch_from_rows
from jobsight.history.eventlog.record import COLUMNS
from jobsight.history.eventlog.segments import survey
from jobsight.history.events import scan_chunk

BUFFERS = 1_000_000 if PROVE else 10_000
ARRAYS = (
    "tests/unit/history/test_frames.py",
    "tests/unit/history/test_pastwalk.py",
    "tests/unit/history/test_timelines.py",
    "tests/unit/questions/start/test_play.py",
)
SLOW_ARRAYS = (
    "tests/property/test_as_of.py",
    "tests/unit/history/test_past.py",
    "tests/unit/learning/test_mixture.py",
    "tests/unit/models/test_boosted.py",
    "tests/unit/questions/start/test_replay.py",
)

SHORT = "001 (1.1.1) 01/01 00:00:00"
SMALLEST = [
    b"...\n",
    b"...\r\n",
    b"...",
    b"\n",
    b"\r\n",
    b"\0",
    b"x",
    b"x\n",
    b" ",
    b"\xef\xbb\xbf",
]
LINES = [
    b"A = 1\n", b"A =x\n", b'A = "\\""\n', b'Owner = "u"\n', b"\tCode 1 Subcode 2\n", b" = ",
    b'"', b"TriggerEventTypeNumber = 12\n", b"Global JobLog: id=1 ", b"\tReason: ", b"(",
    b"Partitionable Resources :", b"\t0  -  Run Bytes Received By Job\n", b"DAG Node: A\n",
    b"A" * 70 + b" = " + b"9" * 70 + b"\n", b'B = "' + b"\x01" * 60 + b'"\n', b"y" * 63,
    b"Job terminated by ",
]  # fmt: skip
HEADERS = [SHORT.encode(), b"\n", SHORT.encode() + b"\n"]
HEADERS += [f"{code:03d}{SHORT[3:]} ".encode() for code in (0, 4, 5, 7, 9, 12, 21, 28, 33, 40)]
HEADERS += [header(code).encode() for code in (0, 12, 28, 999)]
RECORDS = [
    record(1, EXECUTE), record(5, TERMINATED), record(9, ABORTED), record(12, HELD),
    record(13, RELEASED), information(12),
]  # fmt: skip
MIXES = (SMALLEST, SMALLEST + LINES, SMALLEST + HEADERS, LINES + HEADERS, RECORDS + SMALLEST,
         SMALLEST + LINES + HEADERS + RECORDS)  # fmt: skip


def buffers(count: int, draw: random.Random) -> Iterator[bytes]:
    """Random logs: of small pieces, or of random bytes; many are cut off or have a byte changed."""
    for _ in range(count):
        if draw.random() < 0.1:
            yield draw.randbytes(draw.randrange(200))
            continue
        pieces = draw.choices(draw.choice(MIXES), k=draw.randrange(1, 30))
        data = bytearray(b"".join(pieces))
        if draw.random() < 0.3:
            del data[draw.randrange(len(data)) :]
        if data and draw.random() < 0.3:
            data[draw.randrange(len(data))] = draw.randrange(256)
        yield bytes(data)


def read(data: bytes, last: bool) -> None:
    """Run the kernels of the reader over one chunk."""
    chunk = Chunk(np.frombuffer(data, np.uint8), 0, last)
    rows, skips = scan_chunk(chunk)
    end = 0
    for start, stop, _ in skips.tolist():
        assert end <= start < stop <= len(data), data
        end = stop
    if len(rows):
        batch_from_rows(
            chunk.data, rows, skips, base=0, origin=Origin("log", 0, None),
            reasons=scanner.SKIP_REASONS,
        )  # fmt: skip


def main(count: int) -> None:
    """Read so many random logs."""
    draw = random.Random(count)
    for number, data in enumerate(buffers(count, draw)):
        try:
            read(data, last=number % 4 > 0)
            if number % 8 == 0:
                survey(io.BytesIO(data))
                for chunk in chunks(io.BytesIO(data)):
                    scan_chunk(chunk)
        except (IndexError, SourceError) as error:
            raise AssertionError(f"{error}: {data!r}") from error


def checked(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process whose kernels check each index; their code is kept apart."""
    return subprocess.run(
        [sys.executable, *arguments], env=os.environ | {"NUMBA_BOUNDSCHECK": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_no_log_leads_a_kernel_out_of_its_arrays() -> None:
    done = checked("-m", "tests.property.test_fuzz_kernels", str(BUFFERS))
    assert done.returncode == 0, done.stderr[-3000:]


def test_no_array_leads_a_kernel_out_of_its_arrays() -> None:
    files = ARRAYS + (SLOW_ARRAYS if PROVE else ())
    done = checked("-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider", *files)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize(
    ("place", "outside"), [(0, False), (36, False), (37, True), (100, True), (-1, True)]
)
def test_bounds_checking_finds_a_block_outside_of_its_array(place: int, outside: bool) -> None:
    """Else the test of the kernels that scan bytes would show nothing."""
    code = (
        "import numba; import numpy as np\n"
        "from jobsight.history.eventlog.blocks import plain_run\n"
        "def run(a, at): return plain_run(a, at)\n"
        f"numba.njit(run)(np.zeros(100, np.uint8), {place})\n"
    )
    done = checked("-c", code)
    assert ("index is out of bounds" in done.stderr) == outside, done.stderr


def test_what_does_not_fit_is_an_error_and_not_written() -> None:
    data = np.frombuffer(b"...\n" * 10 + SHORT.encode() + b"\n" + record(13, RELEASED), np.uint8)
    rows, skips = np.full((3, COLUMNS), 7, np.int64), np.full((12, 3), 7, np.int64)
    assert scanner.scan(data, len(data), True, False, rows[:1], skips[:10]) == (-1, -1)
    assert scanner.scan(data, len(data), True, False, rows[:2], skips[:5]) == (-1, -1)
    assert (rows[2:] == 7).all()
    assert (skips[10:] == 7).all()
    assert scanner.scan(data, len(data), True, False, rows[:2], skips[:10]) == (2, 10)


if __name__ == "__main__":
    main(int(sys.argv[1]))
