"""The queue at one moment: ``squeue --json``, ``scontrol show job --json``, ``scontrol show job``.

All become `Shown`, the record of scontrol, and then what a collector makes of it. Both tools write
the same JSON (openapi v0.0.38 of 22.05, data_parser v0.0.39 and newer); ended jobs are in it for as
long as the controller remembers them. Formats: squeue(1), scontrol(1).
"""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
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
_RECORD = re.compile(r"JobId=\d{1,10} ", re.ASCII)
_OWN = ("JobId", "ArrayJobId", "ArrayTaskId", "HetJobId", "HetJobOffset", "Cluster")
"""Keys that no text behind the name of a job gives."""
_FLAGS = ("COMPLETING", "STAGE_OUT", "CONFIGURING", "RESIZING", "REQUEUED", "REQUEUE_FED",
          "REQUEUE_HOLD", "SPECIAL_EXIT", "STOPPED", "REVOKED", "RESV_DEL_HOLD",
          "SIGNALING")  # fmt: skip
"""Flags that squeue and scontrol print in place of the state (``job_state_string`` of Slurm)."""
_LINE = {
    "account": "Account", "partition": "Partition", "qos": "QOS", "hosts": "NodeList",
    "reservation": "Reservation", "constraints": "Features", "dependency": "Dependency",
    "directory": "WorkDir", "command": "Command", "name": "JobName", "comment": "Comment",
    "raw_id": "JobId",
}  # fmt: skip
_NUMBERS = {"cpus": "NumCPUs", "nodes": "NumNodes", "priority": "Priority", "restarts": "Restarts"}
"""Fields of a line of squeue, and scontrol's keys."""
_JSON = {
    "account": "Account", "partition": "Partition", "qos": "QOS", "nodes": "NodeList",
    "resv_name": "Reservation", "features": "Features", "dependency": "Dependency",
    "current_working_directory": "WorkDir", "standard_output": "StdOut", "standard_error": "StdErr",
    "command": "Command", "name": "JobName",
    "comment": "Comment", "job_id": "JobId", "cpus": "NumCPUs", "node_count": "NumNodes",
    "priority": "Priority", "restart_cnt": "Restarts", "group_name": "GroupId",
    "time_limit": "TimeLimit", "submit_time": "SubmitTime", "eligible_time": "EligibleTime",
    "start_time": "StartTime", "end_time": "EndTime", "suspend_time": "SuspendTime",
    "last_sched_evaluation": "LastSchedEval", "allocating_node": "AllocNode:Sid",
    "tasks": "NumTasks", "tres_req_str": "ReqTRES", "minimum_tmp_disk_per_node": "MinTmpDiskNode",
    "submit_line": "SubmitLine", "cluster": "Cluster",
}  # fmt: skip
"""Keys of the JSON, and those of scontrol's text."""
_IDS = ("array_job_id", "array_task_id", "het_job_id", "het_job_offset")


class _Record(NamedTuple):
    """A job of a file: the line at which it begins, its beginning, its fields as scontrol's."""

    line: int
    text: str
    fields: dict[str, str]

    def shown(self, zone: dt.tzinfo, report: ImportReport, name: str) -> Shown:
        """The record, read; ValueError: it is not one. `name` is that of the file."""
        if slurm_state(self.fields.get("JobState", "")) is None:
            raise ValueError("JobState is missing, or is in it twice, or is not a state")
        return shown_of(self.fields, zone, partial(report.doubt, name, self.line, self.text))


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
    def _records(self, file: LogFile, report: ImportReport, meter: Meter) -> Iterator[_Record]:
        """The jobs of a file."""

    def read(
        self, files: Sequence[LogFile], options: Options, report: ImportReport
    ) -> Iterator[list[JobDocument]]:
        """Documents of all jobs, file after file; each file is read twice."""
        meter = Meter(files, report, options.progress)
        for file in files:
            documents = self._documents(file, options, report, meter)
            while batch := list(itertools.islice(documents, BATCH)):
                yield batch

    def _documents(
        self, file: LogFile, options: Options, report: ImportReport, meter: Meter
    ) -> Iterator[JobDocument]:
        zone = zone_named(options.timezone or options.slurm_timezone or options.site_timezone)
        numbers, now, aside = Counter[str](), 0, ImportReport()
        for record in self._records(file, aside, Meter([file], aside, lambda *_: None)):
            numbers[_number(record)] += 1
            with contextlib.suppress(ValueError):
                now = max(now, *_passed(record.shown(zone, aside, file.name), zone))
        cut = beyond = 0
        for record in self._records(file, report, meter):
            report.rows += 1
            try:
                if numbers[_number(record)] > 1:
                    raise ValueError("several jobs of this number: import each output by itself")
                shown = record.shown(zone, report, file.name)
            except ValueError as error:
                report.refuse(file.name, record.line, str(error), record.text)
                continue
            if not (cluster := options.cluster or shown.fields.get("Cluster") or options.unnamed):
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


def _number(record: _Record) -> str:
    return f"{record.fields.get('JobId')} of {record.fields.get('Cluster')}"


def _passed(shown: Shown, zone: dt.tzinfo) -> Iterator[int]:
    """Moments that have passed when a job was shown, µs; 0: unknown."""
    fields, times = shown.fields, shown.times
    state, start = slurm_state(fields.get("JobState", "")), times["Start"]
    yield times["Submit"] or 0
    yield parse_time(fields.get("LastSchedEval", ""), zone) or 0
    if state not in (State.PENDING, State.HELD) and start is not None:
        ran = parse_span(fields.get("RunTime", "")) or 0.0
        yield start + int(min(ran, _LONGEST_RUN) * 1_000_000)
    if state is not None and state.ended:
        yield times["End"] or 0


def _line(shown: Shown) -> Queued:
    """The line of squeue for a job."""
    fields, times = shown.fields, shown.times
    cells: dict[str, Any] = {name: fields.get(key, "") for name, key in _LINE.items()}
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

    def _records(self, file: LogFile, report: ImportReport, meter: Meter) -> Iterator[_Record]:
        for piece, job in json_jobs(file, blocks(file, report, meter)):
            text = piece.data.decode("utf-8", "replace")
            if job is not None:
                yield _Record(piece.line, text, _fields(job))
            else:
                report.rows += 1
                report.refuse(file.name, piece.line, piece.fault or "not a job", text)


def _fields(job: dict[str, Any]) -> dict[str, str]:
    """The fields of a job in JSON by the names of scontrol's text."""
    words = words_at(job, "job_state")
    fields = {name: text_at(job, key) for key, name in _JSON.items()} | {
        "UserId": text_at(job, "user_name") or text_at(job, "user_id"),
        "JobState": next((flag for flag in _FLAGS if flag in words), words[0]),
        "Reason": text_at(job, "state_description") or text_at(job, "state_reason"),
        "ExitCode": exit_at(job, "exit_code"),
    }
    array, task, het, offset = (text_at(job, key) for key in _IDS)
    if array not in ("", "0") and (task := task or text_at(job, "array_task_string")):
        fields |= {"ArrayJobId": array, "ArrayTaskId": task}
    if het not in ("", "0"):
        fields |= {"HetJobId": het, "HetJobOffset": offset or "0"}
    return fields


class ShownJobs(_Queue):
    """The queue as scontrol's text."""

    name = "scontrol"
    title = "output of scontrol show job, with or without -o and -d"
    names_cluster = False

    def sniff(self, file: LogFile) -> float:
        """By its first key."""
        head = file.head.removeprefix(b"\xef\xbb\xbf").lstrip().decode("utf-8", "replace")
        return 1.0 if _RECORD.match(head) or head.startswith(_NONE) else 0.0

    def _records(self, file: LogFile, report: ImportReport, meter: Meter) -> Iterator[_Record]:
        held: list[str] = []
        first = size = 0
        for number, text in itertools.chain(lines(file, report, meter), [(0, "JobId=0 ")]):
            if _RECORD.match(text):
                if held:
                    yield _Record(first, held[0], _own_fields("\n".join(held)))
                held, first, size = [], number, 0
            if first and size <= _LONGEST:  # of what is longer the end is left out
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
