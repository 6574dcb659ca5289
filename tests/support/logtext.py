"""Text event logs for tests: writing them by hand, and reading them in several ways."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jobsight.history.eventlog import chunks
from jobsight.history.events import read_events
from tests.support.plainpython import plain_python

DATE = "2026-01-02 03:04:05"
SEPARATOR = b"...\n"
RUBBISH = b"half a rec"

SUBMIT = "Job submitted from host: <192.0.2.1:9618?alias=ap1>\n"
EXECUTE = "Job executing on host: <192.0.2.7:9618>\n\tSlotName: slot1_1@site-a\n"
TERMINATED = (
    "Job terminated.\n\t(1) Normal termination (return value 0)\n"
    "\t\tUsr 0 00:00:01, Sys 0 00:00:00  -  Run Remote Usage\n"
    "\t0  -  Run Bytes Sent By Job\n\t0  -  Run Bytes Received By Job\n"
)
HELD = "Job was held.\n\tError from slot1_1@site-a: no such file\n\tCode 13 Subcode 2\n"
RELEASED = "Job was released.\n\tvia condor_release (by user u01)\n"
ABORTED = "Job was aborted.\n\tvia condor_rm (by user u01)\n"

USAGE = (
    "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Remote Usage\n"
    "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Local Usage\n"
    "\t0  -  Run Bytes Sent By Job\n\t43  -  Run Bytes Received By Job\n"
)
HEAD = "\tPartitionable Resources :    Usage  Request Allocated\n"
TABLE = HEAD + "\t   Cpus                 :        1        1         1\n"

Event = dict[str, Any]
Skip = tuple[int, int, str]


def header(code: int, job: str = "123.000.000", date: str = DATE) -> str:
    return f"{code:03d} ({job}) {date} "


def record(code: int, body: str, job: str = "123.000.000", date: str = DATE) -> bytes:
    """One whole record with its separator."""
    return (header(code, job, date) + body).encode() + SEPARATOR


def information(
    trigger: int, job: str = "123.000.000", date: str = DATE, extra: str = 'Owner = "u01"\n'
) -> bytes:
    """The 028 that follows an event of number `trigger`."""
    body = (
        f"Job ad information event triggered.\nEventTypeNumber = 28\n{extra}"
        f"TriggerEventTypeNumber = {trigger}\n"
    )
    return record(28, body, job, date)


@contextlib.contextmanager
def chunk_size(size: int) -> Iterator[None]:
    before = chunks.CHUNK
    chunks.CHUNK = size
    try:
        yield
    finally:
        chunks.CHUNK = before


def read(
    data: bytes, *, chunk: int | None = None, zone: str = "UTC"
) -> tuple[list[Event], list[Skip]]:
    """The events (of each the fields that are not null) and the skipped stretches of a log."""
    with tempfile.TemporaryDirectory() as folder, chunk_size(chunk or chunks.CHUNK):
        path = Path(folder, "log")
        path.write_bytes(data)
        found = read_events([str(path)], timezone=zone)
    events = [
        {name: value for name, value in row.items() if value is not None and name != "source"}
        for row in found.table.to_dicts()
    ]
    return events, [(one.offset, one.length, one.reason) for one in found.report.skipped]


def read_three_ways(data: bytes) -> tuple[list[Event], list[Skip]]:
    """Read a log whole, in plain Python, in chunks as small as can be, and with rubbish at its end.

    All must give the same; only the rubbish is reported besides.
    """
    events, skipped = read(data)
    with plain_python():
        assert read(data) == (events, skipped)
    assert read(data, chunk=1) == (events, skipped)
    if data.endswith(SEPARATOR) or not data:
        assert read(data + RUBBISH) == (events, _with_rubbish(skipped, len(data)))
    return events, skipped


def _with_rubbish(skipped: list[Skip], at: int) -> list[Skip]:
    start, reason = at, "no event record here"
    if skipped and skipped[-1][0] + skipped[-1][1] == at and skipped[-1][2] == reason:
        *skipped, (start, _, _) = skipped
    return [*skipped, (start, at + len(RUBBISH) - start, reason)]


def one(data: bytes) -> Event:
    """The only event of a sound log."""
    events, skipped = read_three_ways(data)
    assert skipped == []
    assert len(events) == 1
    return events[0]
