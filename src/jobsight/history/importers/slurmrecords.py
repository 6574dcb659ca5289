"""Slurm's accounting as ``sacct --json`` writes it, and as slurmdbd's database has it.

Both become rows with the names of sacct's columns, which `jobsight.history.slurm.sacct` reads, so
all forms make the same documents: ``sacct --json`` in the shapes of 22.05 (plain numbers) to 24.11
(data_parser v0.0.40 to v0.0.42: numbers as ``{set, infinite, number}``), and rows of slurmdbd's
``<cluster>_job_table`` (as_mysql_job.c).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import msgspec

from jobsight.documents import JobDocument
from jobsight.errors import SourceError, UsageError
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.importers.adtext import Piece
from jobsight.history.importers.base import (
    Importer,
    ImportReport,
    Meter,
    Options,
    Unknowable,
    blocks,
)
from jobsight.history.importers.sacctdumps import Rows, RowsRead, Sacct
from jobsight.history.importers.slurmjson import (
    JOBS,
    OF_QUEUE,
    UNSET,
    UNSET_MOST,
    exit_at,
    job_name,
    json_jobs,
    list_at,
    text_at,
    value_at,
    words_at,
)
from jobsight.history.importers.tables import batches, columns_of, has_columns

__all__ = ["TABLE_COLUMNS", "SacctJson", "Slurmdbd", "row_of_table", "rows_of_json"]

_STATES = ("PENDING", "RUNNING", "SUSPENDED", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT",
           "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY")  # fmt: skip
_STATE, _REQUEUED = 0xFF, 0x400
_PER_CPU = 1 << 63
_TRES = {"1": "cpu", "2": "mem", "3": "energy", "4": "node", "5": "billing", "6": "fs/disk",
         "7": "vmem", "8": "pages"}  # fmt: skip

_PLAIN = {
    "account": "Account", "partition": "Partition", "constraints": "Constraints",
    "job_name": "JobName", "work_dir": "WorkDir", "submit_line": "SubmitLine",
    "std_out": "StdOut", "std_err": "StdErr",
    "nodelist": "NodeList", "failed_node": "FailedNode", "derived_es": "Comment",
    "time_submit": "Submit", "time_eligible": "Eligible", "time_start": "Start",
    "time_end": "End", "id_job": "JobIDRaw", "priority": "Priority", "cpus_req": "ReqCPUS",
    "nodes_alloc": "AllocNodes", "restart_cnt": "Restarts", "id_user": "User", "user": "User",
}  # fmt: skip
"""Columns of slurmdbd's table by those of sacct; a joined ``user`` goes before its number."""

TABLE_COLUMNS = (
    *_PLAIN, "id_array_job", "id_array_task", "array_task_str", "het_job_id", "het_job_offset",
    "state", "exit_code", "timelimit", "mem_req", "tres_req", "tres_alloc", "kill_requid",
    "time_suspended", "deleted",
)  # fmt: skip

_IDS = (("array", "job_id"), ("array", "task_id"), ("array", "task"), ("het", "job_id"),
        ("het", "job_offset"))  # fmt: skip
_JSON = {
    "Cluster": ("cluster",), "JobName": ("name",), "Group": ("group",), "Account": ("account",),
    "User": ("association", "user"), "Partition": ("partition",), "QOS": ("qos",),
    "Submit": ("time", "submission"), "Eligible": ("time", "eligible"), "Start": ("time", "start"),
    "End": ("time", "end"), "ElapsedRaw": ("time", "elapsed"), "TimelimitRaw": ("time", "limit"),
    "Priority": ("priority",), "ReqCPUS": ("required", "CPUs"), "AllocNodes": ("allocation_nodes",),
    "NodeList": ("nodes",), "Constraints": ("constraints",), "Comment": ("comment", "job"),
    "WorkDir": ("working_directory",), "SubmitLine": ("submit_line",),
    "StdOut": ("stdout",), "StdErr": ("stderr",),
    "Restarts": ("restart_cnt",), "FailedNode": ("failed_node",),
}  # fmt: skip
_JSON_STEP = {
    "Start": ("time", "start"), "End": ("time", "end"), "ElapsedRaw": ("time", "elapsed"),
    "NTasks": ("tasks", "count"), "NNodes": ("nodes", "count"), "NodeList": ("nodes", "range"),
}  # fmt: skip
_NUMBERS = ("state", "exit_code", "timelimit", "mem_req", "time_start", "time_end", "priority",
            "time_suspended", "time_eligible", "id_array_task", "het_job_offset")  # fmt: skip
_OF_JOB = re.compile(rb'"(allocation_nodes|association|data_parser)"|openapi')
_TABLE = re.compile(r"(.+)_job_table\b")
_NAMES = {name: name.title() for name in ("submit", "eligible", "start", "end", "state")} | {
    "jobid": "JobID", "cluster": "Cluster",
}  # fmt: skip


def rows_of_json(job: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """The row of a job of ``sacct --json``, then those of its steps.

    Raises:
        ValueError: it is not a job.
    """
    if not (raw := text_at(job, "job_id")):
        raise ValueError("no job_id")
    steps = [step for step in list_at(job, "steps") if isinstance(step, dict)]
    tres = _tres(list_at(job, "tres", "allocated"))
    name = job_name(raw, *(text_at(job, *path) for path in _IDS))
    yield {
        "JobID": name,
        "JobIDRaw": raw,
        **{column: text_at(job, *path) for column, path in _JSON.items()},
        "Reservation": text_at(job, "reservation", "name")
        if value_at(job, "reservation", "id")
        else "",
        "State": _state(job),
        "ExitCode": _exit(job),
        "ReqMem": _memory(job),
        "ReqTRES": _tres(list_at(job, "tres", "requested")),
        "AllocTRES": tres,
        "AllocCPUS": _cpus(tres),
        "TotalCPU": max(_seconds([job]), _seconds(steps)),
    }
    for step in steps:
        number = text_at(step, "step", "id").rpartition(".")[2]
        yield {
            "JobID": f"{name}.{number}",
            **{column: text_at(step, *path) for column, path in _JSON_STEP.items()},
            "TotalCPU": _seconds([step]),
            "MaxRSS": _bytes(list_at(step, "tres", "requested", "max")),
            "AveRSS": _bytes(list_at(step, "tres", "requested", "average")),
            "TRESUsageInTot": _tres(list_at(step, "tres", "requested", "total"), ("fs/disk",)),
            "TRESUsageOutTot": _tres(list_at(step, "tres", "consumed", "total"), ("fs/disk",)),
        }


def row_of_table(record: Mapping[str, str], cluster: str) -> dict[str, str]:
    """The row of a record of ``<cluster>_job_table``; columns that it lacks count as empty.

    Raises:
        ValueError: a number is not one.
    """
    cells = {name: "" if text in ("NULL", "\\N") else text for name, text in record.items()}
    number = {name: _number(cells, name) for name in _NUMBERS}
    state, status = number["state"], number["exit_code"] or 0
    word = _STATES[state & _STATE] if state is not None and state & _STATE < len(_STATES) else ""
    if state is not None and state & _REQUEUED:
        word = "REQUEUED"
    if word == "CANCELLED" and cells.get("kill_requid"):
        word += f" by {cells['kill_requid']}"
    start, end = number["time_start"], number["time_end"]
    elapsed = end - start - (number["time_suspended"] or 0) if start and end else 0
    memory = number["mem_req"] or 0
    ids = ("id_array_job", "id_array_task", "array_task_str", "het_job_id", "het_job_offset")
    known = {name: "" if (number.get(name) or 0) >= UNSET else cells[name] for name in cells}
    limit = "UNLIMITED" if number["timelimit"] == UNSET_MOST else known.get("timelimit", "")
    tres = _tres(_counted(cells.get("tres_alloc", "")))
    return {
        **{column: known[name] for name, column in _PLAIN.items() if name in known},
        "Cluster": cluster,
        "JobID": job_name(cells.get("id_job", ""), *(known.get(name, "") for name in ids)),
        "State": word,
        "ExitCode": f"{status >> 8 & 255}:{status & 127}",
        "ElapsedRaw": str(max(elapsed, 0)),
        "TimelimitRaw": limit,
        "ReqMem": f"{memory & ~_PER_CPU}M{'c' if memory & _PER_CPU else 'n'}" if memory else "",
        "ReqTRES": _tres(_counted(cells.get("tres_req", ""))),
        "AllocTRES": tres,
        "AllocCPUS": _cpus(tres),
    }


def _number(cells: Mapping[str, str], name: str) -> int | None:
    text = cells.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 20):
        raise ValueError(f"column {name}: {text[:40]!r} is not a number")
    return int(text)


def _state(value: Any) -> str:
    """The words of a job's or a step's state; what ends by a requeue counts as that."""
    path = ("state", "current") if isinstance(value_at(value, "state"), dict) else ("state",)
    words = words_at(value, *path)
    return "REQUEUED" if "REQUEUED" in words else ",".join(words)


def _exit(value: Any) -> str:
    """Code and signal; 22.05 writes 0 and SUCCESS whatever the code was."""
    code = exit_at(value, "exit_code")
    plain = code == "0:0" and value_at(value, "exit_code", "status") == "SUCCESS"
    return "" if plain and "COMPLETED" not in _state(value) else code


def _memory(job: Any) -> str:
    for path, each in (("memory_per_cpu", "c"), ("memory_per_node", "n")):
        found = value_at(job, "required", path)
        if type(found) is int and 0 < found < UNSET:
            return f"{found}M{each}"
    return ""


def _seconds(several: Iterable[Any]) -> str:
    total = 0
    for record in several:
        for path, scale in (("seconds", 1_000_000), ("microseconds", 1)):
            found = value_at(record, "time", "total", path)
            total += found * scale if type(found) is int and 0 <= found < UNSET else 0
    return f"00:{total // 1_000_000:010}.{total // 1000 % 1000:03}"


def _counted(text: str) -> list[dict[str, Any]]:
    """``1=4,2=1000`` as sacct's JSON has it; what is not counted by all clusters is left out."""
    pairs = [part.partition("=")[::2] for part in text.split(",")]
    return [
        {"type": _TRES[number], "count": int(count)}
        for number, count in pairs
        if number in _TRES and count.isascii() and count.isdecimal() and len(count) < 20
    ]


def _tres(resources: Iterable[Any], names: Iterable[str] | None = None) -> str:
    """Resources as sacct prints them: in the order of their names, memory in the largest unit."""
    found = []
    for resource in resources:
        name = "/".join(filter(None, (text_at(resource, "type"), text_at(resource, "name"))))
        count, wanted = value_at(resource, "count"), name in names if names else bool(name)
        if wanted and type(count) is int and 0 <= count < 1 << 60:
            found.append(f"{name}={_in_largest_unit(count) if name == 'mem' else count}")
    return ",".join(sorted(found))


def _bytes(resources: Iterable[Any]) -> str:
    """The memory among the resources that a step used."""
    sizes = [text_at(one, "count") for one in resources if value_at(one, "type") == "mem"]
    return sizes[0] if sizes else ""


def _cpus(tres: str) -> str:
    return dict(part.partition("=")[::2] for part in tres.split(",")).get("cpu", "0")


def _in_largest_unit(size: int) -> str:
    units = iter("MGTP")
    unit = next(units)
    while size and size % 1024 == 0 and unit != "P":
        size, unit = size // 1024, next(units)
    return f"{size}{unit}"


class SacctJson(Importer):
    """Accounting of Slurm, in JSON."""

    name = "sacct-json"
    title = "output of sacct --json (Slurm 22.05 and newer)"
    unknowable = (
        *Sacct.unknowable[1:4],
        Unknowable("who cancelled a job", "this form has no user for it"),
        Unknowable("exit codes of Slurm 22.05", "it writes 0 for failed jobs too"),
    )

    def sniff(self, file: LogFile) -> float:
        """By its first key, and those of a job."""
        head = file.head.removeprefix(b"\xef\xbb\xbf").lstrip()
        found = head.startswith(b"{") and JOBS.search(head) and _OF_JOB.search(head)
        return 1.0 if found and not OF_QUEUE.search(head) else 0.0

    def read(
        self, files: Sequence[LogFile], options: Options, report: ImportReport
    ) -> Iterator[list[JobDocument]]:
        """Documents of all jobs, file after file."""
        meter = Meter(files, report, options.progress)
        for file in files:
            rows = Rows(file, options, report)
            jobs = json_jobs(file, blocks(file, report, meter))
            yield from rows.batches(rows.checked(_json_rows(file, rows, jobs), _NAMES))


def _json_rows(
    file: LogFile, rows: Rows, jobs: Iterable[tuple[Piece, dict[str, Any] | None]]
) -> RowsRead:
    for piece, job in jobs:
        rows.given(piece.line, piece.data[:200].decode("utf-8", "replace"))
        if job is None:
            yield ValueError(piece.fault or "not a job")
        elif "job_state" in job:
            raise SourceError(
                f"{file.name} is the queue, not accounting: its format is squeue-json"
            )
        else:
            try:
                yield from rows_of_json(job)
            except ValueError as error:
                yield error


class Slurmdbd(Importer):
    """The table of jobs in slurmdbd's database."""

    name = "slurmdbd"
    title = "<cluster>_job_table of slurmdbd's database (CSV or tabs, with a header)"
    unknowable = (
        Unknowable("names of users and groups", "numbers; join the column user for its name"),
        Unknowable("usage.cpu_s, memory_mb, read_mb, written_mb", "in <cluster>_step_table"),
        Unknowable("request.gpus, qos, reservation", "numbers of other tables"),
        *Sacct.unknowable[1:3],
    )
    required = frozenset({"id_job", "state", "time_submit", "time_start", "time_end"})

    def sniff(self, file: LogFile) -> float:
        """By the names of the columns."""
        return float(has_columns(file, self.required))

    def read(
        self, files: Sequence[LogFile], options: Options, report: ImportReport
    ) -> Iterator[list[JobDocument]]:
        """Documents of all jobs, file after file."""
        meter = Meter(files, report, options.progress)
        for file in files:
            if missing := sorted(self.required - columns_of(file)):
                raise SourceError(f"{file.name} is not {self.title}: no column {missing[0]!r}")
            found = _TABLE.match(PurePath(file.name).name)
            cluster = options.cluster or (found[1] if found else None)
            if cluster is None:
                raise UsageError(
                    f"nothing says which cluster {file.name!r} is of, such as the name "
                    "mycluster_job_table.csv; give --cluster NAME"
                )
            reader = Rows(file, options, report)
            rows = _table_rows(file, cluster, reader, report, meter)
            for batch in reader.batches(reader.checked(rows, _NAMES)):
                # A user's number does not replace the name that another source of that age knows.
                yield [msgspec.structs.replace(job, updated=job.updated - 1) for job in batch]


def _table_rows(
    file: LogFile, cluster: str, reader: Rows, report: ImportReport, meter: Meter
) -> RowsRead:
    for batch in batches(file, TABLE_COLUMNS, report, meter):
        report.rows -= len(batch.numbers)  # `Rows` counts them
        for at, number in enumerate(batch.numbers):
            reader.given(number, batch.shown(at))
            record = {
                name: "" if values[at] is None else str(values[at])
                for name, values in batch.columns.items()
            }
            if record.get("deleted", "0") == "0":
                try:
                    yield row_of_table(record, cluster)
                except ValueError as error:
                    yield error
