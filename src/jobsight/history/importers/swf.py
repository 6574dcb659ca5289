"""The Standard Workload Format of the Parallel Workloads Archive.

Format: https://www.cs.huji.ac.il/labs/parallel/workload/swf.html. Comments begin with a semicolon,
those at the top hold ``Key: value``; every other line is a job of 18 numbers, times in seconds
since ``UnixStartTime``, memory in KB a processor, −1 for what is not known. A job that was swapped
out may have further lines of the same number behind its summary, one for each part: status 2 (to be
continued), 3 (the last, completed) or 4 (the last, failed); only the first part has a submit time,
and the others' wait counts from the end of the part before.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import NamedTuple

import msgspec

from jobsight.documents import Event, JobDocument, Request, State, Submission, Usage, slurm_id
from jobsight.documents.states import SWF_STATUS
from jobsight.errors import SourceError, UsageError
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.importers.base import (
    BATCH,
    Importer,
    ImportReport,
    Line,
    Meter,
    Options,
    Unknowable,
    lines,
    timeline_of,
)

__all__ = ["Row", "Swf"]

_COLUMNS = 18
_LARGEST = 2**53
_LATEST = 2**33 * 1_000_000
_MOST_PARTS = 10_000
"""Lines of one number that are kept, so that memory is bounded."""
_HEADER = re.compile(r";+\s*(\w[\w ]{0,40}?)\s*:\s*(.*)")
_LISTED = re.compile(r"(\d{1,9})\s*[-:]?\s*(.*)", re.ASCII)
_SNIFFED = re.compile(rb"^;\s*(SWF|Version|UnixStartTime|MaxJobs|MaxNodes|MaxProcs)\b", re.M)
_NUMBERS = re.compile(rb"^[ \t]*-?\d+([ \t]+-?\d+(\.\d+)?){17}[ \t]*\r?$", re.M)

_ENDINGS = re.compile(r"(\.(swf|txt|gz|bz2|xz|zst))+$", re.IGNORECASE)

_CONTINUED, _PART_DONE, _PART_FAILED = 2, 3, 4
_PARTS = {
    _CONTINUED: State.SUSPENDED,
    _PART_DONE: State.COMPLETED,
    _PART_FAILED: State.FAILED,
}


class Row(NamedTuple):
    """One line: whole numbers but for `cpu`; −1 where not known. Seconds, KB a processor."""

    job: int
    submit: int
    wait: int
    run: int
    processors: int
    cpu: float
    memory: int
    asked_processors: int
    asked_time: int
    asked_memory: int
    status: int
    user: int
    group: int
    program: int
    queue: int
    partition: int
    before: int
    think: int


@dataclass
class _Header:
    """What the comments at the top say."""

    start: int | None = None
    queues: dict[int, str] = field(default_factory=dict)
    partitions: dict[int, str] = field(default_factory=dict)

    def read(self, comment: str) -> None:
        found = _HEADER.match(comment)
        if found is None:
            return
        key, value = found[1].lower(), found[2].strip()
        if key == "unixstarttime" and re.fullmatch(r"\d{1,11}", value, re.ASCII):
            self.start = int(value) * 1_000_000
        named = {"queue": self.queues, "partition": self.partitions}.get(key)
        listed = _LISTED.match(value)
        if named is not None and listed and len(named) < 100_000:
            name = listed[2].partition(" - ")[0].strip()
            named[int(listed[1])] = name[:200] or listed[1]


class Swf(Importer):
    """SWF traces; the trace's name stands for the cluster's."""

    name = "swf"
    title = "Standard Workload Format (Parallel Workloads Archive)"
    unknowable = (
        Unknowable("whatever is −1", "the format's word for not known"),
        Unknowable("submission.name, script, line", "programs are numbers"),
        Unknowable("request.gpus, disk_mb, nodes", "processors are all that is counted"),
        Unknowable("usage.memory_mb", "not the peak: the average a processor, times processors"),
        Unknowable("timeout, out_of_memory, node_fail", "all failures are status 0"),
        Unknowable("outcome.exit_code, signal", "not recorded"),
        Unknowable("names of users and groups", "numbers, for anonymity"),
    )

    def sniff(self, file: LogFile) -> float:
        """By header comments, or lines of 18 numbers."""
        if file.head.lstrip().startswith(b";") and _SNIFFED.search(file.head):
            return 1.0
        return 0.7 if _NUMBERS.search(file.head) else 0.0

    def read(
        self, files: Sequence[LogFile], options: Options, report: ImportReport
    ) -> Iterator[list[JobDocument]]:
        """Documents of the traces, one after another."""
        meter = Meter(files, report, options.progress)
        for file in files:
            trace = _Trace(file, options.cluster or _trace_name(file), report)
            documents = trace.documents(lines(file, report, meter))
            while batch := list(itertools.islice(documents, BATCH)):
                yield batch
            trace.finish()


def _trace_name(file: LogFile) -> str:
    """The name of the trace's file, without its endings."""
    name = _ENDINGS.sub("", PurePath(file.name).name).strip()
    if file.path is None or not name:
        raise UsageError(
            f"nothing says which cluster the jobs of {file.name!r} ran on; give --cluster NAME"
        )
    return name[:100]


class _Trace:
    """One file."""

    def __init__(self, file: LogFile, cluster: str, report: ImportReport) -> None:
        self._file, self._cluster, self._report = file, cluster, report
        self._header = _Header()
        self._good = 0

    def finish(self) -> None:
        """Refuse a file of which nothing could be read."""
        if not self._good:
            first = self._report.first_bad[-1:] if self._report.bad else []
            why = f" (line {first[0].place}: {first[0].reason})" if first else ""
            raise SourceError(
                f"{self._file.name} holds no job of the Standard Workload Format, 18 numbers a "
                f"line{why}; name its format with --format"
            )

    def documents(self, source: Iterable[Line]) -> Iterator[JobDocument]:
        """The jobs: lines of one number that follow each other are one job."""
        for _, group in itertools.groupby(self._rows(source), key=lambda found: found[1].job):
            found = list(itertools.islice(group, _MOST_PARTS))
            try:
                document = self._document([row for _, row in found])
            except ValueError as error:
                for number, row in itertools.chain(found, group):
                    self._refuse(number, str(error), " ".join(map(str, row)))
                continue
            for number, row in group:
                reason = f"job {row.job} has more than {_MOST_PARTS} parts"
                self._refuse(number, reason, " ".join(map(str, row)))
            self._good += 1
            yield document

    def _refuse(self, number: int, reason: str, text: str) -> None:
        self._report.refuse(self._file.name, number, reason, text)

    def _rows(self, source: Iterable[Line]) -> Iterator[tuple[int, Row]]:
        for number, text in source:
            if text.startswith(";") or not text or text.isspace():
                self._header.read(text)
                continue
            self._report.rows += 1
            try:
                yield number, _row(text)
            except ValueError as error:
                self._refuse(number, str(error), text)

    def _document(self, rows: list[Row]) -> JobDocument:
        row = rows[0]
        if self._header.start is None:
            raise SourceError(
                f"{self._file.name} does not say when it begins: add a line such as "
                "'; UnixStartTime: 1293836400' (seconds since 1970) at its top"
            )
        summaries = [part for part in rows if part.status not in _PARTS]
        if summaries[1:]:
            raise ValueError("several lines of one job number describe a whole job")
        if row.submit < 0:
            raise ValueError("the time of submission is not known (-1): nothing can be dated")
        submit = self._header.start + row.submit * 1_000_000
        parts = [part for part in rows if part.status in _PARTS]
        timeline = _in_parts(submit, parts) if parts else _whole(submit, row)
        if timeline[-1].time >= _LATEST:
            raise ValueError("it ends at no time of a job")
        header = self._header
        processors = row.asked_processors if row.asked_processors > 0 else row.processors
        return JobDocument(
            id=slurm_id(self._cluster, str(row.job)),
            updated=timeline[-1].time,
            request=Request(
                cpus=_known(row.asked_processors),
                memory_mb=_megabytes(row.asked_memory, processors),
                time_limit_s=_known(row.asked_time),
                partition=header.partitions.get(row.partition, _number(row.partition)),
                qos=header.queues.get(row.queue, _number(row.queue)),
                dependency=f"afterany:{row.before}" if row.before > 0 else None,
            ),
            submission=Submission(
                submitted=timeline[0].time,
                user=_number(row.user),
                group=_number(row.group),
                command=_number(row.program),
            ),
            timeline=timeline,
            usage=_usage(summaries or rows),
        )


def _row(text: str) -> Row:
    fields = text.split()
    if len(fields) != _COLUMNS:
        raise ValueError(f"{len(fields)} fields, where a job has {_COLUMNS}")
    try:
        row = Row(*map(int, fields))
    except ValueError:
        numbers = [_real_number(text) for text in fields]
        row = Row(*map(round, numbers))._replace(cpu=numbers[5])
    if row.job < 0 or row.status not in SWF_STATUS | _PARTS:
        what = f"job number {row.job}" if row.job < 0 else f"status {row.status}"
        raise ValueError(f"{what} means nothing")
    if min(row) < -1 or max(row) > _LARGEST:
        raise ValueError(f"{min(row) if min(row) < -1 else max(row)} is out of range")
    return row


def _real_number(text: str) -> float:
    number = float(text)  # its own message names the text
    if not -1 <= number < _LARGEST:
        raise ValueError(f"{text[:40]!r} is out of range")
    return number


def _whole(submit: int, row: Row) -> tuple[Event, ...]:
    """The life of a job of one line."""
    state = SWF_STATUS[row.status]
    began = row.wait >= 0 and (row.run > 0 or state is not State.CANCELLED)
    waited = submit + row.wait * 1_000_000
    if began:
        start, end = waited, waited + row.run * 1_000_000 if row.run >= 0 else None
    else:
        start, end = None, waited if row.wait >= 0 else None
    return timeline_of(Swf.name, submit, start=start, end=end, state=state, word=str(row.status))


def _in_parts(submit: int, parts: list[Row]) -> tuple[Event, ...]:
    """The life of a job that was swapped out between its parts."""
    events = [Event(time=submit, source=Swf.name, state=State.PENDING)]
    clock, undated = submit, False
    for part in parts:
        for seconds, state, word in (
            (part.wait, State.RUNNING, None),
            (part.run, _PARTS[part.status], str(part.status)),
        ):
            clock += max(seconds, 0) * 1_000_000
            undated = undated or seconds < 0
            events.append(
                Event(time=clock, source=Swf.name, state=state, word=word, undated=undated)
            )
    if parts[-1].status == _CONTINUED:  # how it went on is unknown
        events[-1] = msgspec.structs.replace(events[-1], state=State.UNKNOWN_END)
    return tuple(events)


def _known(value: int) -> int | None:
    return value if value >= 0 else None


def _number(value: int) -> str | None:
    return str(value) if value >= 0 else None


def _megabytes(kilobytes: int, processors: int) -> int | None:
    """MB of a memory that is given per processor."""
    if kilobytes < 0 or processors <= 0:
        return None
    return -(-kilobytes * processors // 1024)


def _usage(runs: list[Row]) -> Usage:
    wall = [row.run for row in runs if row.run >= 0]
    cpu = [row.cpu * row.processors for row in runs if row.cpu >= 0 and row.processors > 0]
    memory = [_megabytes(row.memory, row.processors) for row in runs]
    return Usage(
        wall_s=float(sum(wall)) if wall else None,
        cpu_s=float(sum(cpu)) if cpu else None,
        memory_mb=max((size for size in memory if size is not None), default=None),
        cpus=_known(runs[-1].processors),
    )
