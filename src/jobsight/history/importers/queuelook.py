"""Snapshots of Slurm's queue: how it looked to each job while the job waited."""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections.abc import Iterator, Sequence

import msgspec

from jobsight.clock import zone_named
from jobsight.documents import Event, JobDocument, Request, State, Submission, slurm_id
from jobsight.errors import UsageError
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.importers.base import (
    BATCH,
    Importer,
    ImportReport,
    Meter,
    Options,
    Unknowable,
    lines,
)
from jobsight.history.slurm.documents import bounded, state_of
from jobsight.history.slurm.ids import SlurmId, expand, parse_id
from jobsight.program.submission.times import parse_time
from jobsight.text import counted

__all__ = ["QueueLooks"]

_LINE = re.compile(
    rb"\d{9,11}\|(\d+_\[[\d,:-]{4000}|[^|\n]{1,6000}\|[A-Z_]{2,20}\|([^|\n]*\|){4}\d+\r?\n)"
)
_CUT = re.compile(r"(\d+_\[[\d,:-]+),[\d:-]*", re.ASCII)
"""Tasks of an array that squeue cuts after 31 characters."""
_FIELDS = 8
_LATEST = 2**33
_AGAIN = 2
"""A job is looked at again when it has been seen for so many times as long."""


class QueueLooks(Importer):
    """Snapshots of the queue, one after another."""

    name = "squeue"
    title = "snapshots of squeue: epoch|%i|%T|%u|%P|%r|%S|%Q, one line per job or array and look"
    names_cluster = False
    unknowable = (
        Unknowable("submission.submitted", "not a field of a snapshot"),
        Unknowable("request.cpus, memory_mb, nodes, time_limit_s", "not a field of a snapshot"),
        Unknowable("submission.name, directory, script", "not a field of a snapshot"),
        Unknowable("usage", "sacct has it"),
        Unknowable("outcome", "sacct has it"),
    )

    def sniff(self, file: LogFile) -> float:
        """By its first line."""
        return 1.0 if _LINE.match(file.head) else 0.0

    def read(
        self, files: Sequence[LogFile], options: Options, report: ImportReport
    ) -> Iterator[list[JobDocument]]:
        """Documents of pending jobs, each with a look, file after file.

        The first look at a job counts, then one each time that twice as long has passed since: so
        which looks are kept does not depend on how long it went on to wait.
        """
        cluster = options.cluster or options.unnamed
        if cluster is None:
            raise UsageError("nothing says which cluster was looked at; give --cluster NAME")
        zone = zone_named(options.timezone or options.slurm_timezone or options.site_timezone)
        seen: dict[str, tuple[int, int]] = {}
        meter = Meter(files, report, options.progress)

        def looks() -> Iterator[JobDocument]:
            started, cut, beyond = 0, set[str](), dict[str, int]()
            for file in files:
                for line in lines(file, report, meter):
                    report.rows += 1
                    try:
                        job, look = _look(line.text, cluster, zone)
                    except ValueError as error:
                        report.refuse(file.name, line.number, str(error), line.text)
                        continue
                    if look.timeline[0].state not in (State.PENDING, State.HELD):
                        started += 1
                    elif _is_due(job.name, look.updated // 1_000_000, seen):
                        tasks, left_out = expand(job, options.most_tasks)
                        if job.tasks is not None and job.tasks.cut:
                            cut.add(job.name)
                        beyond[job.name] = left_out
                        for task in tasks:
                            yield _of_task(look, cluster, task)
            report.note_tasks(len(cut), sum(beyond.values()))
            if started:
                report.note(f"{counted(started, 'line')} of jobs that had started left out")

        found = looks()
        while batch := list(itertools.islice(found, BATCH)):
            yield batch


def _look(text: str, cluster: str, zone: dt.tzinfo) -> tuple[SlurmId, JobDocument]:
    """The job, or the tasks of an array, of a line, and what it says of each.

    `zone` is that of the estimates.

    Raises:
        ValueError: it is not such a line.
    """
    fields = text.split("|")
    if len(fields) != _FIELDS:
        raise ValueError(f"{len(fields)} fields in place of {_FIELDS}")
    epoch, number, word, user, partition, reason, start, priority = fields
    if not epoch.isdecimal() or not priority.isdecimal() or int(epoch) >= _LATEST:
        raise ValueError("no time of the look in seconds, or no priority")
    if cut := _CUT.fullmatch(number):
        number = f"{cut[1]},...]"
    at, job, state = int(epoch), parse_id(number), state_of(word, reason)
    if state is None:
        raise ValueError(f"{word[:40]!r} is not a state of Slurm's")
    estimate = parse_time(start, zone)
    facts = {"Priority": int(priority)}
    facts |= {} if estimate is None else {"StartEstimate": estimate // 1_000_000}
    event = Event(
        time=at * 1_000_000, source="squeue", state=state, word=word, reason=bounded(reason),
        attributes=msgspec.json.encode(facts).decode(),
    )  # fmt: skip
    return job, JobDocument(
        id=slurm_id(cluster, job.name),
        updated=event.time,
        request=Request(partition=bounded(partition)),
        submission=Submission(user=bounded(user)),
        timeline=(event,),
    )


def _is_due(name: str, at: int, seen: dict[str, tuple[int, int]]) -> bool:
    """Whether a look at a job or an array (s) is kept; `seen`, first and last kept, is extended."""
    first, last = seen.get(name, (at, at))
    if name in seen and at - first < _AGAIN * max(last - first, 1):
        return False
    seen[name] = first, at
    return True


def _of_task(look: JobDocument, cluster: str, job: SlurmId) -> JobDocument:
    """The look at one task of an array; at a job as it is."""
    if job.task is None:
        return look
    submission = msgspec.structs.replace(look.submission, array=job.base)
    return msgspec.structs.replace(look, id=slurm_id(cluster, job.name), submission=submission)
