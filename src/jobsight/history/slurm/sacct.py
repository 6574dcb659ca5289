"""sacct's text → records: one of each run of a job (a requeued job has several), with its steps.

`exact_rows` reads what `Client` asks for: ``--parsable`` with a delimiter that nobody can foresee,
so that names with separators and line ends stay whole. `jobsight.history.slurm.dumps` cuts what
people keep. Format: sacct(1).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from jobsight.history.slurm.cells import Cells
from jobsight.history.slurm.ids import SlurmId
from jobsight.history.slurm.sizes import parse_tres

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
    """What a step used. Memory in bytes, spans in seconds; None: not told."""

    name: str
    state: str = ""
    exit_code: tuple[int, int] | None = None
    max_rss: int | None = None
    cpu_s: float | None = None
    read: int | None = None
    written: int | None = None


class Run(msgspec.Struct, frozen=True):
    """One row of a job: one of its runs. Times are µs since 1970, memory is bytes, spans seconds.

    Texts are "" and numbers None where sacct tells nothing, or has no such column.
    """

    id: SlurmId
    state: str
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
    req_mem: tuple[int, str | None] | None = None
    """Bytes, and "cpu" or "node" where it is meant for each of these."""
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


def read_row(row: Mapping[str, str], zone: dt.tzinfo) -> Run | tuple[SlurmId, Step]:
    """What a row tells: a run of a job, or a step and whose it is.

    Column names are matched without regard to case; the older names NNodes, NCPUS, Timelimit and
    Elapsed serve where the newer are lacking.

    Raises:
        ValueError: the row has no job id, or a value that cannot be understood; names the column.
    """
    cells = Cells(row, zone)
    job = cells.id()
    if job.step is not None:
        return job, _step(cells, job.step)
    return Run(
        id=job,
        state=cells.text("state"),
        raw_id=cells.text("jobidraw"),
        cluster=cells.text("cluster"),
        name=cells.text("jobname"),
        user=cells.text("user"),
        group=cells.text("group"),
        account=cells.text("account"),
        partition=cells.text("partition"),
        qos=cells.text("qos"),
        reservation=cells.text("reservation"),
        exit_code=cells.exit("exitcode"),
        **cells.times(),
        **cells.amounts(),
        req_mem=cells.memory("reqmem"),
        req_tres=cells.tres("reqtres"),
        alloc_tres=cells.tres("alloctres"),
        hosts=cells.host("nodelist"),
        constraints=cells.plain("constraints"),
        comment=cells.text("comment"),
        directory=cells.text("workdir"),
        line=cells.text("submitline"),
        failed_node=cells.host("failednode"),
        sluid=job.sluid or cells.plain("sluid"),
    )


def _step(cells: Cells, name: str) -> Step:
    used = parse_tres(cells.text("tresusageintot"))
    wrote = parse_tres(cells.text("tresusageouttot"))
    return Step(
        name=name,
        state=cells.text("state"),
        exit_code=cells.exit("exitcode"),
        max_rss=cells.bytes("maxrss"),
        cpu_s=cells.span("totalcpu"),
        read=used.get("fs/disk", cells.bytes("maxdiskread")),
        written=wrote.get("fs/disk", cells.bytes("maxdiskwrite")),
    )


def _with_steps(run: Run, steps: Sequence[Step]) -> Run:
    return msgspec.structs.replace(run, steps=tuple(steps)) if steps else run


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
        refused: is told of each row that cannot be read.
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
                yield _with_steps(run, steps)
            run, steps = found, []
        elif run is not None and found[0].name == run.id.name:
            steps.append(found[1])
    if run is not None:
        yield _with_steps(run, steps)
