"""sacct's text → records: one of each run of a job (a requeued job has several), with its steps.

`exact_rows` reads what `Client` asks for: ``--parsable`` with a random delimiter,
so that names with separators and line ends stay whole. `jobsight.history.slurm.dumps` cuts what
people keep. Format: sacct(1).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from jobsight.clock import likeliest
from jobsight.history.slurm.ids import SlurmId, parse_id
from jobsight.history.slurm.sizes import (
    Memory,
    known_text,
    parse_exit,
    parse_memory,
    parse_number,
    parse_tres,
)
from jobsight.history.slurm.times import parse_minutes, parse_span, parse_time

__all__ = ["COLUMNS", "FIELDS", "Run", "Step", "exact_rows", "join_runs", "read_row"]

COLUMNS = (
    "JobID", "JobIDRaw", "Cluster", "JobName", "User", "Group", "Account", "Partition", "QOS",
    "Reservation", "State", "ExitCode", "Submit", "Eligible", "Start", "End", "ElapsedRaw",
    "TimelimitRaw", "Priority", "ReqMem", "ReqCPUS", "ReqNodes", "ReqTRES", "AllocCPUS",
    "AllocNodes", "AllocTRES", "NodeList", "Constraints", "Comment", "WorkDir", "SubmitLine",
    "Restarts", "MaxRSS", "TotalCPU", "ConsumedEnergyRaw", "TRESUsageInTot", "TRESUsageOutTot",
    "MaxDiskRead", "MaxDiskWrite", "FailedNode", "SLUID",
)  # fmt: skip
"""Columns worth asking for; a version that lacks some is asked for the others."""

FIELDS = (
    *COLUMNS,
    "AdminComment", "AllocGRES", "AssocID", "AveCPU", "AveCPUFreq", "AveDiskRead", "AveDiskWrite",
    "AvePages", "AveRSS", "AveVMSize", "BlockID", "ConsumedEnergy", "Container", "CPUTime",
    "CPUTimeRAW", "DBIndex", "DerivedExitCode", "Elapsed", "Extra", "Flags", "GID", "Layout",
    "Licenses", "McsLabel", "NCPUS", "NNodes", "NTasks", "Planned", "PlannedCPU", "PlannedCPURAW",
    "QOSRAW", "QOSREQ", "Reason", "ReqCPUFreq", "ReqCPUFreqGov", "ReqCPUFreqMax", "ReqCPUFreqMin",
    "ReqGRES", "ReqReservation", "Reserved", "ReservationId", "ResvCPU", "ResvCPURAW",
    "SegmentSize", "StdErr", "StdIn", "StdOut", "Suspended", "SystemComment", "SystemCPU",
    "Timelimit", "UID", "UserCPU", "WCKey", "WCKeyID",
    *(f"{name}{of}" for name in ("MinCPU", "MaxDiskRead", "MaxDiskWrite", "MaxPages", "MaxRSS",
                                 "MaxVMSize") for of in ("", "Node", "Task")),
    *(f"TRESUsage{way}{what}" for way in ("In", "Out") for what in (
        "Ave", "Max", "MaxNode", "MaxTask", "Min", "MinNode", "MinTask", "Tot")),
)  # fmt: skip
"""Every column that sacct of 18.08 to 26.05 has (``sacct --helpformat``)."""


class Step(msgspec.Struct, frozen=True):
    """What a step used, in bytes; None: unknown."""

    name: str
    max_rss: int | None = None
    read: int | None = None
    written: int | None = None


class Run(msgspec.Struct, frozen=True):
    """One row of a job: one of its runs. Times are µs since 1970, memory is bytes, spans seconds.

    Texts are "" and numbers None where sacct has no value or no such column.
    """

    id: SlurmId
    state: str = ""
    raw_id: str = ""
    cluster: str = ""
    name: str = ""
    user: str = ""
    group: str = ""
    account: str = ""
    partition: str = ""
    qos: str = ""
    reservation: str = ""
    exit_code: tuple[int, int] | None = None
    submit: int | None = None
    eligible: int | None = None
    start: int | None = None
    end: int | None = None
    unfinished: bool = False
    """Its end is a column, and not known yet. slurmdbd can have the state of a job some seconds
    before its end and exit code (seen with 22.05 after an outage)."""
    elapsed_s: float | None = None
    time_limit_s: float | None = None
    """Infinity: unlimited."""
    priority: int | None = None
    req_mem: Memory | None = None
    req_cpus: int | None = None
    req_nodes: int | None = None
    req_tres: str = ""
    alloc_cpus: int | None = None
    alloc_nodes: int | None = None
    alloc_tres: str = ""
    hosts: str = ""
    constraints: str = ""
    comment: str = ""
    directory: str = ""
    line: str = ""
    restarts: int | None = None
    cpu_s: float | None = None
    energy_j: int | None = None
    failed_node: str = ""
    sluid: str = ""
    steps: tuple[Step, ...] = ()


_Reader = Callable[[str], Any]


def _seconds(text: str) -> float | None:
    found = parse_number(text)
    return None if found is None else float(found)


def _checked_tres(text: str) -> str:
    parse_tres(text)
    return text


_RUN: tuple[tuple[str, str, _Reader], ...] = (
    *((name, name, str) for name in (
        "state", "cluster", "user", "group", "account", "partition", "qos", "reservation",
        "comment",
    )),
    *((name, name, parse_number) for name in ("priority", "restarts")),
    ("raw_id", "jobidraw", str), ("name", "jobname", str), ("directory", "workdir", str),
    ("line", "submitline", str), ("exit_code", "exitcode", parse_exit),
    ("elapsed_s", "elapsed", parse_span), ("elapsed_s", "elapsedraw", _seconds),
    ("time_limit_s", "timelimit", parse_span), ("time_limit_s", "timelimitraw", parse_minutes),
    ("cpu_s", "totalcpu", parse_span), ("energy_j", "consumedenergyraw", parse_number),
    ("req_mem", "reqmem", parse_memory), ("req_cpus", "reqcpus", parse_number),
    ("req_nodes", "reqnodes", parse_number), ("req_tres", "reqtres", _checked_tres),
    ("alloc_cpus", "ncpus", parse_number), ("alloc_cpus", "alloccpus", parse_number),
    ("alloc_nodes", "nnodes", parse_number), ("alloc_nodes", "allocnodes", parse_number),
    ("alloc_tres", "alloctres", _checked_tres), ("hosts", "nodelist", known_text),
    ("constraints", "constraints", known_text), ("failed_node", "failednode", known_text),
    ("sluid", "sluid", known_text),
)  # fmt: skip
_STEP: tuple[tuple[str, str, _Reader], ...] = (
    ("max_rss", "maxrss", parse_number),
    ("read", "maxdiskread", parse_number),
    ("read", "tresusageintot", lambda text: parse_tres(text).get("fs/disk")),
    ("written", "maxdiskwrite", parse_number),
    ("written", "tresusageouttot", lambda text: parse_tres(text).get("fs/disk")),
)
"""Fields, sacct's columns in lower case, and how their cells are read; of several columns of one
field the last that is known counts."""

_MOMENTS = ("submit", "eligible", "start", "end")


def exact_rows(text: str, delimiter: str) -> Iterator[dict[str, str]]:
    """Rows of ``sacct --parsable --delimiter=…``, its header first; no value holds the delimiter.

    Every field is followed by the delimiter, so line ends within a value do no harm. A last row cut
    short is left out.

    Raises:
        ValueError: there is no header.
    """
    fields = text.split(delimiter)
    width = next((at for at, part in enumerate(fields) if part.startswith("\n")), len(fields) - 1)
    names = fields[:width]
    if not names or "JobID" not in names:
        raise ValueError("sacct printed no header")
    for start in range(width, len(fields) - width, width):
        row = fields[start : start + width]
        row[0] = row[0].removeprefix("\n")
        yield dict(zip(names, row, strict=True))


@lru_cache(64)
def _lowered(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.lower() for name in names)


def read_row(row: Mapping[str, str], zone: dt.tzinfo) -> Run | tuple[SlurmId, Step]:
    """What a row is: a run of a job, or a step and whose it is.

    Column names are matched without regard to case; the older names NNodes, NCPUS, Timelimit and
    Elapsed serve where the newer are lacking.

    Raises:
        ValueError: the row has no job id, or a value that cannot be understood; names the column.
    """
    cells = dict(zip(_lowered(tuple(row)), map(str.strip, row.values()), strict=True))
    job = parse_id(cells.get("jobid") or cells.get("jobidraw", ""))
    if job.step is not None:
        return job, Step(name=job.step, **_fields(cells, _STEP))
    fields = _fields(cells, _RUN)
    again: Callable[[], list[int | None]] = lambda: _moments(cells, zone, again=True)  # noqa: E731
    times = likeliest(_moments(cells, zone), again, fields.get("elapsed_s"))
    fields.update(zip(_MOMENTS, times, strict=True))
    fields["sluid"] = job.sluid or fields.get("sluid", "")
    return Run(id=job, unfinished=fields["end"] is None and "end" in cells, **fields)


def _fields(
    cells: Mapping[str, str], readers: Iterable[tuple[str, str, _Reader]]
) -> dict[str, Any]:
    found = {}
    for field, column, read in readers:
        if text := cells.get(column):
            try:
                value = read(text)
            except ValueError as error:
                raise ValueError(f"column {column}: {error}") from None
            if value is not None:
                found[field] = value
    return found


def _moments(cells: Mapping[str, str], zone: dt.tzinfo, *, again: bool = False) -> list[int | None]:
    readers = [(name, name, lambda text: parse_time(text, zone, again=again)) for name in _MOMENTS]
    found = _fields(cells, readers)
    return [found.get(name) for name in _MOMENTS]


def join_runs(
    rows: Iterable[Mapping[str, str] | ValueError],
    zone: dt.tzinfo,
    refused: Callable[[ValueError], None],
) -> Iterator[Run]:
    """Runs with their steps, in the order of the rows.

    sacct prints the steps of a run behind it; steps of an unknown run are left out.

    Args:
        rows: of `exact_rows` or `dumps.table_rows`.
        zone: of times without one.
        refused: is called with each row that cannot be read.
    """
    run: Run | None = None
    steps: list[Step] = []
    for row in rows:
        try:
            if isinstance(row, ValueError):
                raise row
            found = read_row(row, zone)
        except ValueError as error:
            refused(error)
            continue
        if isinstance(found, Run):
            if run is not None:
                yield msgspec.structs.replace(run, steps=tuple(steps)) if steps else run
            run, steps = found, []
        elif run is not None and found[0].name == run.id.name:
            steps.append(found[1])
    if run is not None:
        yield msgspec.structs.replace(run, steps=tuple(steps)) if steps else run
