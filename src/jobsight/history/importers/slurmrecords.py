"""Slurm's accounting as ``sacct --json`` writes it, and as slurmdbd's database has it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

import msgspec

from jobsight.documents import JobDocument
from jobsight.errors import SourceError, UsageError
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.importers.adtext import cut_json
from jobsight.history.importers.base import Importer, ImportReport, Options, Unknowable
from jobsight.history.importers.lines import Meter, blocks
from jobsight.history.importers.sacct import Rows, RowsRead, Sacct
from jobsight.history.importers.tables import batches, columns_of, has_columns
from jobsight.history.slurm.records import TABLE_COLUMNS, row_of_table, rows_of_json

__all__ = ["SacctJson", "Slurmdbd"]

_JOBS = re.compile(rb'"jobs"\s*:\s*\[')
_OF_JOB = re.compile(rb'"(allocation_nodes|association|data_parser)"|openapi')
_TABLE = re.compile(r"(.+)_job_table\b")
_NAMES = {name: name.title() for name in ("submit", "eligible", "start", "end", "state")} | {
    "jobid": "JobID", "cluster": "Cluster",
}  # fmt: skip


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
        found = head.startswith(b"{") and _JOBS.search(head) and _OF_JOB.search(head)
        return 1.0 if found else 0.0

    def read(
        self, files: Sequence[LogFile], options: Options, report: ImportReport
    ) -> Iterator[list[JobDocument]]:
        """Documents of all jobs, file after file."""
        meter = Meter(files, report, options.progress)
        for file in files:
            one = Rows(file, options, report)
            data = _behind_jobs(file, blocks(file, report, meter))
            yield from one.batches(one.checked(_json_rows(file, one, data), _NAMES))


def _behind_jobs(file: LogFile, data: Iterator[bytes]) -> Iterator[bytes]:
    """What follows the beginning of the list of jobs."""
    head = next(data, b"")
    found = _JOBS.search(head)
    if found is None:
        raise SourceError(f'{file.name} has no list "jobs", as sacct --json writes it')
    yield b"\n" * head.count(b"\n", 0, found.end()) + head[found.end() :]
    yield from data


def _json_rows(file: LogFile, one: Rows, data: Iterable[bytes]) -> RowsRead:
    for piece, job in cut_json(data):
        shown = piece.data[:200].decode("utf-8", "replace")
        one.given(piece.line, shown)
        if job is not None and "job_id" not in job:
            continue  # what follows the jobs: "meta", "errors"
        if job is None:
            if not shown.startswith(('"', "}")):
                yield ValueError(piece.fault or "not a job")
            continue
        if "job_state" in job:
            raise SourceError(
                f"{file.name} is the queue as squeue --json or scontrol show job --json print it, "
                "not accounting: import the output of sacct --json, or run jobsight collect --slurm"
            )
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
            one = Rows(file, options, report)
            rows = _table_rows(file, cluster, one, report, meter)
            for batch in one.batches(one.checked(rows, _NAMES)):
                # A user's number does not replace the name that another source of that age knows.
                yield [msgspec.structs.replace(job, updated=job.updated - 1) for job in batch]


def _table_rows(
    file: LogFile, cluster: str, one: Rows, report: ImportReport, meter: Meter
) -> RowsRead:
    for batch in batches(file, TABLE_COLUMNS, report, meter):
        report.rows -= len(batch.numbers)  # `Rows` counts them
        for at, number in enumerate(batch.numbers):
            one.given(number, batch.shown(at))
            record = {
                name: "" if values[at] is None else str(values[at])
                for name, values in batch.columns.items()
            }
            if record.get("deleted", "0") == "0":
                try:
                    yield row_of_table(record, cluster)
                except ValueError as error:
                    yield error
