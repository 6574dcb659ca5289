"""NREL's Eagle jobs: 11 million jobs of one machine, 2018 to 2023, as CSV or Parquet.

Format: https://github.com/NREL/eagle-jobs and https://data.openei.org/submissions/5860. Times are
those of the machine, in Colorado; memory is in MB, 0 where none was asked for. All tasks of an
array bear the array's number, so rows that share a number are numbered in the file's order.
"""

from __future__ import annotations

import datetime as dt
from array import array
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from jobsight.documents import JobDocument, Request, Submission, Usage, slurm_id
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.importers.base import ImportReport, Options, Unknowable
from jobsight.history.importers.life import Life
from jobsight.history.importers.lines import Meter
from jobsight.history.importers.tables import rows
from jobsight.history.importers.trace import Reader, TableImporter, state_of
from jobsight.history.importers.values import amount, count, moments, text

__all__ = ["Eagle"]

_MOMENTS = ("submit_time", "start_time", "end_time")


class Eagle(TableImporter):
    """The table of NREL's Eagle."""

    name = "eagle"
    title = "NREL Eagle jobs (CSV or Parquet)"
    unknowable = (
        Unknowable("numbers of array tasks", "all tasks bear their array's number"),
        Unknowable("a requeued job's earlier runs", "its rows look like tasks of an array"),
        Unknowable("usage.cpu_s, memory_mb", "not recorded"),
        Unknowable("outcome.exit_code, signal", "not recorded"),
        Unknowable("when it became eligible", "not recorded"),
        Unknowable("users, accounts, names, folders, submit lines", "labels, for anonymity"),
        Unknowable("request.memory_mb", "where it is 0: the partition's default"),
    )
    columns = (
        "job_id", "user", "account", "partition", "qos", "wallclock_req", "nodes_req",
        "processors_req", "gpus_req", "mem_req", "submit_time", "start_time", "end_time",
        "run_time", "state", "name", "work_dir", "submit_line",
    )  # fmt: skip
    telling = frozenset({"job_id", "wallclock_req", "processors_req", "submit_time", "state"})

    def place(self, file: LogFile, options: Options) -> tuple[str, str]:
        """Eagle, in Golden, Colorado."""
        return options.cluster or "eagle", "America/Denver"

    def reader(self, file: LogFile, cluster: str, zone: dt.tzinfo, report: ImportReport) -> Reader:
        """Goes through the file once before, for numbers that several rows share."""
        return _Rows(cluster, zone, _shared(file))


def _shared(file: LogFile) -> frozenset[int]:
    """Job numbers of more than one row."""
    numbers, aside = array("q"), ImportReport()
    for _, row in rows(file, ["job_id"], aside, Meter([file], aside, lambda *_: None)):
        try:
            numbers.append(count(row["job_id"]) or 0)
        except ValueError:
            continue
    found, counts = np.unique(np.frombuffer(numbers, np.int64), return_counts=True)
    return frozenset(found[counts > 1].tolist())


class _Rows(Reader):
    def __init__(self, cluster: str, zone: dt.tzinfo, shared: frozenset[int]) -> None:
        super().__init__(cluster, zone)
        self._shared = shared
        self._seen: Counter[int] = Counter()

    def document(self, row: Mapping[str, Any]) -> JobDocument:
        number = count(row["job_id"])
        wall = amount(row.get("run_time"))
        submit, start, end = moments(row, _MOMENTS, self.zone, wall)
        if number is None or submit is None:
            raise ValueError(f"no {'number' if number is None else 'time of submission'}")
        array_id = None
        job = str(number)
        if number in self._shared:
            self._seen[number] += 1
            array_id, job = job, f"{job}_{self._seen[number]}"
        word = text(row["state"])
        life = Life(
            submit,
            start=start,
            end=end,
            state=state_of(word),
            word=word,
        )
        timeline = life.timeline(Eagle.name)
        return JobDocument(
            id=slurm_id(self.cluster, job),
            updated=timeline[-1].time,
            request=_request(row),
            submission=_submission(row, submit, array_id),
            usage=Usage(wall_s=wall),
            timeline=timeline,
        )


def _request(row: Mapping[str, Any]) -> Request:
    memory, limit = amount(row.get("mem_req")), amount(row["wallclock_req"])
    return Request(
        cpus=count(row["processors_req"]),
        nodes=count(row.get("nodes_req")),
        gpus=count(row.get("gpus_req")),
        memory_mb=round(memory) if memory else None,
        time_limit_s=None if limit is None else round(limit),
        partition=text(row.get("partition")),
        qos=text(row.get("qos")),
        account=text(row.get("account")),
    )


def _submission(row: Mapping[str, Any], submit: int, array_id: str | None) -> Submission:
    return Submission(
        submitted=submit,
        user=text(row.get("user")),
        name=text(row.get("name")),
        directory=text(row.get("work_dir")),
        line=text(row.get("submit_line")),
        array=array_id,
    )
