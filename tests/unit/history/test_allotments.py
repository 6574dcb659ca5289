"""Amounts of slots and tables of resources, read from logs of every form."""

import gzip
import json
from pathlib import Path

import pytest

from jobsight.history.allotments import amounts_of_jobs, amounts_of_record
from jobsight.history.events import read_events
from jobsight.history.timelines import History

STARTED = """001 (7.000.000) 2026-10-12 08:03:21 Job executing on host: <192.0.2.51:9618>
\tSlotName: slot1_3@wn51.example.org
\tCpus = 1
\tDisk = 1048576
\tGPUs_Name = "x"
\tMemory = 2048
...
"""
EVICTED = """004 (7.000.000) 2026-10-12 08:31:01 Job was evicted. Code 21 Subcode 103
\t(0) CPU times
\tPartitionable Resources :    Usage  Request Allocated Assigned
\t   Cpus                 :                 1         1
\t   Disk (KB)            : 52428801  1048576   1048576
\t   Gpus (Average)       :     0.50        1         1 "GPU-1f"
\t   Memory (MB)          :      390     2000      2048
\tReason: disk usage exceeded request_disk
...
"""
HELD = """012 (7.000.000) 2026-10-12 08:31:02 Job was held.
\tdisk usage exceeded request_disk
\tCode 21 Subcode 103
...
"""
GIVEN = {"Cpus": 1.0, "Disk": 1048576.0, "Memory": 2048.0}
USED = {
    "Cpus": 1.0, "RequestCpus": 1.0,
    "Disk": 1048576.0, "DiskUsage": 52428801.0, "RequestDisk": 1048576.0,
    "GPUs": 1.0, "GPUsUsage": 0.5, "RequestGPUs": 1.0,
    "Memory": 2048.0, "MemoryUsage": 390.0, "RequestMemory": 2000.0,
}  # fmt: skip


def test_records() -> None:
    assert amounts_of_record(STARTED) == GIVEN
    assert amounts_of_record(EVICTED) == USED
    assert amounts_of_record(HELD) == {}


@pytest.mark.parametrize(
    ("table", "found"),
    [
        # Of older versions, or of slots that are not divided: no amounts of the slot.
        ("Partitionable Resources :    Usage  Request          \n"
         "   Cpus                 :                 1          \n"
         "   Memory (MB)          :        7      123          \n",
         {"RequestCpus": 1.0, "MemoryUsage": 7.0, "RequestMemory": 123.0}),
        ("Partitionable Resources :    Usage  Request Allocated \n"
         "   Memory (MB)          :               123      1004 \n",
         {"RequestMemory": 123.0, "Memory": 1004.0}),
        ("Partitionable Resources :       Usage  Request Allocated\n"
         "   Disk (KB)            :  1048576000        1   1048576000\n",
         {"DiskUsage": 1048576000.0, "RequestDisk": 1.0, "Disk": 1048576000.0}),
        ("Partitionable Resources :    Usage  Request Allocated\n   Memory (MB) : x  -  y\n", {}),
        ("Partitionable Resources :\n   Memory (MB)          :  1\n", {}),
    ],
)  # fmt: skip
def test_tables(table: str, found: dict[str, float]) -> None:
    assert amounts_of_record(table) == found


def history(path: Path) -> History:
    return History.from_table(read_events([str(path)]).table)


def ad(code: int, **more: object) -> str:
    whole = {"EventTypeNumber": code, "EventTime": f"2026-10-12T08:0{code % 10}:00", "Cluster": 7,
             "Proc": 0, "Subproc": 0, **more}  # fmt: skip
    return json.dumps(whole, indent=2) + "\n"


@pytest.mark.parametrize("form", ["text", "crlf", "gzip", "json"])
def test_every_form_of_log(form: str, tmp_path: Path) -> None:
    log = STARTED.replace("(7.", "(6.") * 3 + STARTED + EVICTED + HELD
    path = tmp_path / "job.log"
    if form == "json":
        table = {"MemoryUsage": 390, "RequestMemory": 2000, "Memory": 2048, "DiskUsage": 52428801}
        path.write_text(
            ad(1, ExecuteProps={"Cpus": 1, "Disk": 1048576, "Memory": 2048})
            + ad(4, **table)
            + ad(12, HoldReasonCode=21, HoldReasonSubCode=103, HoldReason="disk")
        )
        ended = {name: float(amount) for name, amount in table.items()}
    else:
        data = log.replace("\n", "\r\n" if form == "crlf" else "\n").encode()
        path.write_bytes(gzip.compress(data) if form == "gzip" else data)
        ended = USED
    of = history(path)
    job = len(of.jobs) - 1
    end = int(of.clock.max())
    assert amounts_of_jobs(of, [job], end) == {job: [GIVEN, ended]}
    started = int(of.clock[of.rows_of(job)[0]])
    assert amounts_of_jobs(of, [job], started) == {job: [GIVEN]}
    path.write_text("another log now\n")
    assert not amounts_of_jobs(of, [job], end).get(job)
    path.unlink()
    assert amounts_of_jobs(of, [job], end) == {}
