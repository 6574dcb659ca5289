"""sacct's text → records: one of each run of a job (a requeued job has several), with its steps.

`exact_rows` reads what `SlurmClient` asks for: ``--parsable`` with a random delimiter, so that
names with separators and line ends stay whole. `jobsight.history.importers.sacctdumps` cuts the
output that people keep. Format: sacct(1).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Annotated, Any, NamedTuple, get_type_hints

import msgspec

from jobsight.clock import likeliest
from jobsight.history.slurm.ids import SlurmId, parse_id
from jobsight.program.submission.sizes import (
    Memory,
    known_text,
    parse_exit,
    parse_memory,
    parse_number,
    parse_tres,
)
from jobsight.program.submission.times import parse_minutes, parse_span, parse_time

__all__ = [
    "COLUMNS",
    "FIELDS",
    "Run",
    "Step",
    "checked_tres",
    "exact_rows",
    "join_runs",
    "read_row",
]

COLUMNS = (
    "JobID", "JobIDRaw", "Cluster", "JobName", "User", "Group", "Account", "Partition", "QOS",
    "Reservation", "State", "ExitCode", "Submit", "Eligible", "Start", "End", "ElapsedRaw",
    "TimelimitRaw", "Priority", "ReqMem", "ReqCPUS", "ReqNodes", "ReqTRES", "AllocCPUS",
    "AllocNodes", "AllocTRES", "NodeList", "Constraints", "Comment", "WorkDir", "SubmitLine",
    "StdOut", "StdErr", "Restarts", "NTasks", "MaxRSS", "TotalCPU", "ConsumedEnergyRaw",
    "TRESUsageInMax", "TRESUsageInTot", "TRESUsageOutTot", "MaxDiskRead", "MaxDiskWrite",
    "FailedNode", "SLUID", "SystemComment",
)  # fmt: skip
"""Columns worth asking for; a version that lacks some is asked for the others."""

FIELDS = (
    *COLUMNS,
    "AdminComment", "AllocGRES", "AssocID", "AveCPU", "AveCPUFreq", "AveDiskRead", "AveDiskWrite",
    "AvePages", "AveRSS", "AveVMSize", "BlockID", "ConsumedEnergy", "Container", "CPUTime",
    "CPUTimeRAW", "DBIndex", "DerivedExitCode", "Elapsed", "Extra", "Flags", "GID", "Layout",
    "Licenses", "McsLabel", "NCPUS", "NNodes", "Planned", "PlannedCPU", "PlannedCPURAW",
    "QOSRAW", "QOSREQ", "Reason", "ReqCPUFreq", "ReqCPUFreqGov", "ReqCPUFreqMax", "ReqCPUFreqMin",
    "ReqGRES", "ReqReservation", "Reserved", "ReservationId", "ResvCPU", "ResvCPURAW",
    "SegmentSize", "StdIn", "Suspended", "SystemCPU",
    "Timelimit", "UID", "UserCPU", "WCKey", "WCKeyID",
    *(f"{name}{of}" for name in ("MinCPU", "MaxDiskRead", "MaxDiskWrite", "MaxPages", "MaxRSS",
                                 "MaxVMSize") for of in ("", "Node", "Task")),
    *(f"TRESUsage{way}{what}" for way in ("In", "Out") for what in (
        "Ave", "Max", "MaxNode", "MaxTask", "Min", "MinNode", "MinTask", "Tot")),
)  # fmt: skip
"""Every column that sacct of 18.08 to 26.05 has (``sacct --helpformat``)."""

_Reader = Callable[[str], Any]


class _Cell(NamedTuple):
    """Where a field is from: sacct's column in lower case, and how its cells are read."""

    column: str
    read: _Reader = str


def _seconds(text: str) -> float | None:
    number = parse_number(text)
    return None if number is None else float(number)


def checked_tres(text: str) -> str:
    """The text of resources; ValueError: `parse_tres` cannot read it."""
    parse_tres(text)
    return text


def _disk(text: str) -> int | None:
    return parse_tres(text).get("fs/disk")


class Step(msgspec.Struct, frozen=True):
    """What a step used, in bytes and seconds; None: unknown.

    Of several columns, the last known one counts.
    """

    name: str
    start: int | None = None
    """µs since 1970, as `end`."""
    end: int | None = None
    elapsed_s: Annotated[
        float | None, _Cell("elapsed", parse_span), _Cell("elapsedraw", _seconds)
    ] = None
    tasks: Annotated[int | None, _Cell("ntasks", parse_number)] = None
    nodes: Annotated[
        int | None, _Cell("nnodes", parse_number), _Cell("allocnodes", parse_number)
    ] = None
    hosts: Annotated[str, _Cell("nodelist", known_text)] = ""
    cpu_s: Annotated[float | None, _Cell("totalcpu", parse_span)] = None
    mean_rss: Annotated[int | None, _Cell("averss", parse_number)] = None
    most: Annotated[str, _Cell("tresusageinmax", checked_tres)] = ""
    """The largest use of each resource by one task."""
    total: Annotated[str, _Cell("tresusageintot", checked_tres)] = ""
    """The sum over all tasks of the largest use of each."""
    max_rss: Annotated[int | None, _Cell("maxrss", parse_number)] = None
    read: Annotated[
        int | None, _Cell("maxdiskread", parse_number), _Cell("tresusageintot", _disk)
    ] = None
    written: Annotated[
        int | None, _Cell("maxdiskwrite", parse_number), _Cell("tresusageouttot", _disk)
    ] = None


class Run(msgspec.Struct, frozen=True):
    """One row of a job: one of its runs. Times are µs since 1970, memory is bytes, spans seconds.

    Texts are "" and numbers None where sacct has no value or no such column.
    """

    id: SlurmId
    state: Annotated[str, _Cell("state")] = ""
    raw_id: Annotated[str, _Cell("jobidraw")] = ""
    cluster: Annotated[str, _Cell("cluster")] = ""
    name: Annotated[str, _Cell("jobname")] = ""
    user: Annotated[str, _Cell("user")] = ""
    group: Annotated[str, _Cell("group")] = ""
    account: Annotated[str, _Cell("account")] = ""
    partition: Annotated[str, _Cell("partition")] = ""
    qos: Annotated[str, _Cell("qos")] = ""
    reservation: Annotated[str, _Cell("reservation")] = ""
    exit_code: Annotated[tuple[int, int] | None, _Cell("exitcode", parse_exit)] = None
    submit: int | None = None
    eligible: int | None = None
    start: int | None = None
    end: int | None = None
    unfinished: bool = False
    """Its end is a column, and not known yet. slurmdbd can have the state of a job some seconds
    before its end and exit code (seen with 22.05 after an outage)."""
    elapsed_s: Annotated[
        float | None, _Cell("elapsed", parse_span), _Cell("elapsedraw", _seconds)
    ] = None
    time_limit_s: Annotated[
        float | None, _Cell("timelimit", parse_span), _Cell("timelimitraw", parse_minutes)
    ] = None
    """Infinity: unlimited."""
    priority: Annotated[int | None, _Cell("priority", parse_number)] = None
    req_mem: Annotated[Memory | None, _Cell("reqmem", parse_memory)] = None
    req_cpus: Annotated[int | None, _Cell("reqcpus", parse_number)] = None
    req_nodes: Annotated[int | None, _Cell("reqnodes", parse_number)] = None
    req_tres: Annotated[str, _Cell("reqtres", checked_tres)] = ""
    alloc_cpus: Annotated[
        int | None, _Cell("ncpus", parse_number), _Cell("alloccpus", parse_number)
    ] = None
    alloc_nodes: Annotated[
        int | None, _Cell("nnodes", parse_number), _Cell("allocnodes", parse_number)
    ] = None
    alloc_tres: Annotated[str, _Cell("alloctres", checked_tres)] = ""
    hosts: Annotated[str, _Cell("nodelist", known_text)] = ""
    constraints: Annotated[str, _Cell("constraints", known_text)] = ""
    comment: Annotated[str, _Cell("comment")] = ""
    directory: Annotated[str, _Cell("workdir")] = ""
    line: Annotated[str, _Cell("submitline")] = ""
    stdout: Annotated[str, _Cell("stdout", known_text)] = ""
    stderr: Annotated[str, _Cell("stderr", known_text)] = ""
    restarts: Annotated[int | None, _Cell("restarts", parse_number)] = None
    cpu_s: Annotated[float | None, _Cell("totalcpu", parse_span)] = None
    energy_j: Annotated[int | None, _Cell("consumedenergyraw", parse_number)] = None
    failed_node: Annotated[str, _Cell("failednode", known_text)] = ""
    sluid: Annotated[str, _Cell("sluid", known_text)] = ""
    system_comment: Annotated[str, _Cell("systemcomment")] = ""
    steps: tuple[Step, ...] = ()


def _cells_of(record: type[msgspec.Struct]) -> list[tuple[str, _Cell]]:
    hints = get_type_hints(record, include_extras=True)
    return [
        (field, cell)
        for field in record.__struct_fields__
        for cell in getattr(hints[field], "__metadata__", ())
    ]


_Doubted = Callable[[ValueError], None]
_RUN, _STEP = _cells_of(Run), _cells_of(Step)
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


def read_row(
    row: Mapping[str, str], zone: dt.tzinfo, doubted: _Doubted | None = None
) -> Run | tuple[SlurmId, Step]:
    """What a row is: a run of a job, or a step and whose it is.

    Column names are matched without regard to case; the older names NNodes, NCPUS, Timelimit and
    Elapsed serve where the newer are lacking. `doubted` is called with each value that cannot be
    understood, and that counts as unknown; without it, and of times, such a value is an error.

    Raises:
        ValueError: the row has no job id, or a value that cannot be understood; names the column.
    """
    cells = dict(zip(_lowered(tuple(row)), map(str.strip, row.values()), strict=True))
    job = parse_id(cells.get("jobid") or cells.get("jobidraw", ""))
    if job.step is not None:
        begun, ended = _moments(cells, zone)[2:]
        return job, Step(job.step, begun, ended, **_fields(cells, _STEP, doubted))
    fields = _fields(cells, _RUN, doubted)
    again: Callable[[], list[int | None]] = lambda: _moments(cells, zone, again=True)  # noqa: E731
    times = likeliest(_moments(cells, zone), again, fields.get("elapsed_s"))
    fields.update(zip(_MOMENTS, times, strict=True))
    fields["sluid"] = job.sluid or fields.get("sluid", "")
    return Run(id=job, unfinished=fields["end"] is None and "end" in cells, **fields)


def _fields(
    cells: Mapping[str, str], known: Iterable[tuple[str, _Cell]], doubted: _Doubted | None = None
) -> dict[str, Any]:
    found = {}
    for field, (column, read) in known:
        if text := cells.get(column):
            try:
                value = read(text)
            except ValueError as error:
                fault = ValueError(f"column {column}: {error}")
                if doubted is None:
                    raise fault from None
                doubted(fault)
                continue
            if value is not None:
                found[field] = value
    return found


def _moments(cells: Mapping[str, str], zone: dt.tzinfo, *, again: bool = False) -> list[int | None]:
    read = partial(parse_time, zone=zone, again=again)
    found = _fields(cells, [(name, _Cell(name, read)) for name in _MOMENTS])
    return [found.get(name) for name in _MOMENTS]


def join_runs(
    rows: Iterable[Mapping[str, str] | ValueError],
    zone: dt.tzinfo,
    refused: Callable[[ValueError], None],
    doubted: _Doubted,
) -> Iterator[Run]:
    """Runs with their steps, in the order of the rows.

    sacct prints the steps of a run behind it; steps of an unknown run are left out.

    Args:
        rows: of `exact_rows` or `dumps.table_rows`.
        zone: of times without one.
        refused: is called with each row that cannot be read.
        doubted: is called with each value that cannot be read, and that counts as unknown.
    """
    run: Run | None = None
    steps: list[Step] = []
    for row in rows:
        try:
            if isinstance(row, ValueError):
                raise row
            found = read_row(row, zone, doubted)
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
