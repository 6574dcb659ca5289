"""The queue at one moment: ``squeue --json``, ``scontrol show job --json``, ``scontrol show job``.

All become `Shown`, the record of scontrol, and then what a collector makes of it. Both tools write
the same JSON (openapi v0.0.38 of 22.05, data_parser v0.0.39 and newer); ended jobs are in it for as
long as the controller remembers them. Formats: squeue(1), scontrol(1).
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from jobsight.clock import zone_named
from jobsight.documents import JobDocument, State
from jobsight.documents.states import slurm_state
from jobsight.errors import SourceError, UsageError
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.importers.base import (
    BATCH,
    Importer,
    ImportReport,
    Meter,
    Options,
    Unknowable,
    blocks,
    lines,
)
from jobsight.history.importers.slurmjson import (
    JOBS,
    OF_QUEUE,
    exit_at,
    json_jobs,
    text_at,
    words_at,
)
from jobsight.history.slurm.documents import of_queue, of_shown, with_submit
from jobsight.history.slurm.scontrol import Shown, leading_number, shown_of
from jobsight.history.slurm.squeue import Queued
from jobsight.history.slurm.watch import Watch
from jobsight.program.submission.shown import shown_fields
from jobsight.program.submission.times import parse_span, parse_time

__all__ = ["QueueJson", "ShownJobs"]

_LONGEST = 1 << 20
"""Characters of the longest record."""
_LONGEST_RUN = 10 * 366 * 86_400.0
_NONE = "No jobs in the system"
_OWN = ("JobId", "ArrayJobId", "ArrayTaskId", "HetJobId", "HetJobOffset")
_RECORD = re.compile(r"JobId=\d{1,10} ", re.ASCII)
_UPDATED = re.compile(rb'"last_update"\s*:\s*(?:\{[^{}]*"number"\s*:\s*)?(\d{1,11})\b')
_FLAGS = ("COMPLETING", "STAGE_OUT", "CONFIGURING", "RESIZING", "REQUEUED", "REQUEUE_FED",
          "REQUEUE_HOLD", "SPECIAL_EXIT", "STOPPED", "REVOKED", "RESV_DEL_HOLD",
          "SIGNALING")  # fmt: skip
"""Flags that squeue and scontrol print in place of the state (``job_state_string`` of Slurm)."""
_TEXTS = {
    "JobId": "job_id", "JobName": "name", "UserId": "user_name", "GroupId": "group_name",
    "Priority": "priority", "Account": "account", "QOS": "qos", "Dependency": "dependency",
    "Restarts": "restart_cnt", "TimeLimit": "time_limit", "SubmitTime": "submit_time",
    "EligibleTime": "eligible_time", "StartTime": "start_time", "EndTime": "end_time",
    "SuspendTime": "suspend_time", "LastSchedEval": "last_sched_evaluation",
    "Partition": "partition", "AllocNode:Sid": "allocating_node", "NodeList": "nodes",
    "NumNodes": "node_count", "NumCPUs": "cpus", "NumTasks": "tasks", "ReqTRES": "tres_req_str",
    "MinTmpDiskNode": "minimum_tmp_disk_per_node", "Features": "features",
    "Reservation": "resv_name", "Comment": "comment", "Command": "command",
    "WorkDir": "current_working_directory", "SubmitLine": "submit_line",
}  # fmt: skip
"""Keys of scontrol's text, and those of its JSON."""
_IDS = ("array_job_id", "array_task_id", "het_job_id", "het_job_offset")
_CELLS = {
    "account": "Account", "partition": "Partition", "qos": "QOS", "hosts": "NodeList",
    "reservation": "Reservation", "constraints": "Features", "dependency": "Dependency",
    "directory": "WorkDir", "command": "Command", "name": "JobName", "comment": "Comment",
    "raw_id": "JobId",
}  # fmt: skip
_NUMBERS = {"cpus": "NumCPUs", "nodes": "NumNodes", "priority": "Priority", "restarts": "Restarts"}
"""Fields of a line of squeue, and scontrol's keys."""


class _Record(NamedTuple):
    """A job of a file.

    Attributes:
        line: at which it begins.
        fields: by scontrol's names.
        cluster: "" where the file does not name it.
        name: its beginning, as an error shows it.
    """

    line: int
    fields: dict[str, str]
    cluster: str
    name: str


class _Queue(Importer):
    """The jobs of a queue, as a controller shows them at one moment."""

    may_be_empty = True
    unknowable = (
        Unknowable("usage", "sacct has it"),
        Unknowable("earlier reasons, holds and runs", "only those of the moment are shown"),
        Unknowable("jobs that ended longer ago", "the controller forgets them after MinJobAge"),
        Unknowable("jobs of other users", "PrivateData may hide them"),
        Unknowable("submission.script", "scontrol write batch_script prints it, a job a call"),
    )

    @abstractmethod
    def _records(
        self, file: LogFile, report: ImportReport, meter: Meter, moments: list[int]
    ) -> Iterator[_Record]:
        """The jobs of a file; `moments` takes µs at which it was written, or later."""

    def read(
        self, files: Sequence[LogFile], options: Options, report: ImportReport
    ) -> Iterator[list[JobDocument]]:
        """Documents of all jobs, file after file; those of one file are in memory at once."""
        meter = Meter(files, report, options.progress)
        zone = zone_named(options.timezone or options.slurm_timezone or options.site_timezone)
        for file in files:
            moments: list[int] = []
            records = list(self._records(file, report, meter, moments))
            report.rows += len(records)
            jobs = list(_shown(file, records, zone, report, moments))
            now = max(moments, default=0)
            documents = _documents(file, jobs, now, options, report)
            while batch := list(itertools.islice(documents, BATCH)):
                yield batch


def _shown(
    file: LogFile, records: Sequence[_Record], zone: dt.tzinfo, report: ImportReport,
    moments: list[int],
) -> Iterator[tuple[str, Shown]]:  # fmt: skip
    """The clusters and the jobs of the records that can be read; adds to the moments."""
    numbers = Counter((record.cluster, record.fields.get("JobId")) for record in records)
    for record in records:
        doubted = partial(report.doubt, file.name, record.line, record.name)
        try:
            if numbers[record.cluster, record.fields.get("JobId")] > 1:
                raise ValueError("several jobs of this number: import each output by itself")
            if slurm_state(record.fields.get("JobState", "")) is None:
                raise ValueError("JobState is missing, or is in it twice, or is not a state")
            shown = shown_of(record.fields, zone, doubted)
            moments += _moments(shown, zone)
        except ValueError as error:
            report.refuse(file.name, record.line, str(error), record.name)
        else:
            yield record.cluster, shown


def _moments(shown: Shown, zone: dt.tzinfo) -> Iterator[int]:
    """Moments of a job that have passed when it was shown, µs."""
    fields, times = shown.fields, shown.times
    state, start = slurm_state(fields.get("JobState", "")), times["Start"]
    passed = [times["Submit"], parse_time(fields.get("LastSchedEval", ""), zone)]
    if state not in (State.PENDING, State.HELD) and start is not None:
        ran = parse_span(fields.get("RunTime", "")) or 0.0
        passed.append(start + int(min(ran, _LONGEST_RUN) * 1_000_000))
    if state is not None and state.ended:
        passed.append(times["End"])
    yield from filter(None, passed)


def _documents(
    file: LogFile, jobs: Sequence[tuple[str, Shown]], now: int, options: Options,
    report: ImportReport,
) -> Iterator[JobDocument]:  # fmt: skip
    """What is known of each job: by its line of the queue, then by its details."""
    cut = beyond = 0
    for own, shown in jobs:
        if not (cluster := options.cluster or own or options.unnamed):
            raise UsageError(f"{file.name} does not name its cluster; give --cluster NAME")
        if not now:
            raise SourceError(f"{file.name} has no time: none of its jobs was submitted")
        watch, line = Watch(options.most_tasks), _line(shown)
        look = watch.look([line], now)
        cut += line.id.tasks is not None and line.id.tasks.cut
        beyond += watch.unlisted
        seen = [(one.id, one.events, one.submitted) for one in look.changes]
        seen += [(job, (), line.submit) for job, _ in look.ended.values()]
        for job, events, submitted in seen:
            yield with_submit(of_queue(cluster, line, job, events, now), submitted)
            yield of_shown(cluster, job, shown, now)
    report.note_tasks(cut, beyond)


def _line(shown: Shown) -> Queued:
    """The line of squeue for a job."""
    fields, times = shown.fields, shown.times
    cells: dict[str, Any] = {name: fields.get(key, "") for name, key in _CELLS.items()}
    cells |= {name: leading_number(fields.get(key)) for name, key in _NUMBERS.items()}
    return Queued(
        id=shown.id,
        state=fields.get("JobState", "").partition(" ")[0],
        reason=fields.get("Reason", "").partition(" Dependency=")[0],
        user=shown.user,
        group=fields.get("GroupId", "").partition("(")[0],
        submit=times["Submit"],
        start=times["Start"],
        end=times["End"],
        time_limit_s=shown.time_limit_s,
        memory=None,  # the details have it
        **cells,
    )


class QueueJson(_Queue):
    """The queue in JSON."""

    name = "squeue-json"
    title = "output of squeue --json or scontrol show job --json (Slurm 22.05 and newer)"

    def sniff(self, file: LogFile) -> float:
        """By its list of jobs, and keys of one in a queue."""
        head = file.head.removeprefix(b"\xef\xbb\xbf").lstrip()
        found = head.startswith(b"{") and JOBS.search(head) and OF_QUEUE.search(head)
        return 1.0 if found else 0.0

    def _records(
        self, file: LogFile, report: ImportReport, meter: Meter, moments: list[int]
    ) -> Iterator[_Record]:
        data = _watched(blocks(file, report, meter), moments)
        for piece, job in json_jobs(file, data):
            shown = piece.data.decode("utf-8", "replace")
            if job is not None and "job_state" in job:
                yield _Record(piece.line, _fields(job), text_at(job, "cluster"), shown)
            else:
                report.rows += 1
                report.refuse(file.name, piece.line, piece.fault or "no job_state", shown)


def _watched(data: Iterable[bytes], moments: list[int]) -> Iterator[bytes]:
    """The same bytes; the time at which the controller last changed its jobs is kept, µs."""
    for block in data:
        if found := _UPDATED.search(block):
            moments.append(int(found[1]) * 1_000_000)
        yield block


def _fields(job: dict[str, Any]) -> dict[str, str]:
    """The fields of a job in JSON by the names of scontrol's text."""
    fields = {name: text_at(job, key) for name, key in _TEXTS.items()}
    words = words_at(job, "job_state")
    array, task, het, offset = (text_at(job, key) for key in _IDS)
    if array not in ("", "0") and (task := task or text_at(job, "array_task_string")):
        fields |= {"ArrayJobId": array, "ArrayTaskId": task}
    if het not in ("", "0"):
        fields |= {"HetJobId": het, "HetJobOffset": offset or "0"}
    return fields | {
        "UserId": fields["UserId"] or text_at(job, "user_id"),
        "JobState": next((flag for flag in _FLAGS if flag in words), words[0]),
        "Reason": text_at(job, "state_description") or text_at(job, "state_reason"),
        "ExitCode": exit_at(job, "exit_code"),
    }


class ShownJobs(_Queue):
    """The queue as scontrol's text."""

    name = "scontrol"
    title = "output of scontrol show job, with or without -o and -d"
    names_cluster = False

    def sniff(self, file: LogFile) -> float:
        """By its first key."""
        head = file.head.removeprefix(b"\xef\xbb\xbf").lstrip().decode("utf-8", "replace")
        return 1.0 if _RECORD.match(head) or head.startswith(_NONE) else 0.0

    def _records(
        self, file: LogFile, report: ImportReport, meter: Meter, moments: list[int]
    ) -> Iterator[_Record]:
        held: list[str] = []
        first = size = 0
        for number, text in itertools.chain(lines(file, report, meter), [(0, "JobId=0 ")]):
            if _RECORD.match(text):
                if held and size <= _LONGEST:
                    yield _Record(first, _own_fields("\n".join(held)), "", held[0])
                elif held:
                    report.rows += 1
                    report.refuse(file.name, first, f"longer than {_LONGEST} characters", held[0])
                held, first, size = [], number, 0
            if first and size <= _LONGEST:
                held.append(text)
                size += len(text)
            elif not first and number and text.strip() not in ("", _NONE):
                report.rows += 1
                report.refuse(file.name, number, "not a line of scontrol show job", text)


def _own_fields(text: str) -> dict[str, str]:
    """The fields of a record; its ids come before the name, which may imitate others."""
    head = text.partition(" JobName=")[0]
    own = {name: value for name, value in shown_fields(text).items() if name not in _OWN}
    return own | {name: value for name, value in shown_fields(head).items() if name in _OWN}
