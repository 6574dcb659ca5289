"""Jobs of the Alliance's Graham and Cedar that waited at a noon of spring 2021.

Format: https://github.com/mila-iqia/slurm-queue-time-pred (CSV a day, or Parquet of all). Each row
is a job that was pending at `poll_time` and started later. Columns ``q_…``, ``r_…`` and the shares
tell of *other* jobs at that moment: they are no facts of this job, and are left out, as is the
priority it had at its end. The job was seen waiting at `poll_time`, which becomes an entry of its
timeline. Memory is in MB for the whole job.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from jobsight.documents import JobDocument, Request, Submission, Usage, slurm_id
from jobsight.errors import UsageError
from jobsight.history.eventlog.logfiles import LogFile
from jobsight.history.importers.base import ImportReport, Options, Unknowable
from jobsight.history.importers.life import Life
from jobsight.history.importers.trace import Reader, TableImporter, state_of
from jobsight.history.importers.values import amount, count, moments, text
from jobsight.history.slurm.sizes import gpus, parse_tres

__all__ = ["Graham"]

_ZONES = {"graham": "America/Toronto", "cedar": "America/Vancouver"}
_MOMENTS = ("submit_time", "eligible_time", "poll_time", "start_time", "end_time")


class Graham(TableImporter):
    """The table of Graham's and Cedar's waiting jobs."""

    name = "graham"
    title = "Graham or Cedar jobs of slurm-queue-time-pred (Parquet or CSV)"
    unknowable = (
        Unknowable("jobs that were not pending at noon", "the table has no others"),
        Unknowable("users, names, folders, scripts", "left out for anonymity"),
        Unknowable("accounts and partitions", "numbers, for anonymity"),
        Unknowable("usage.cpu_s, memory_mb", "not recorded"),
        Unknowable("outcome.exit_code, signal", "not recorded"),
        Unknowable("array tasks and requeues", "each row has a number of its own"),
        Unknowable("the queue around the job (q_…, r_…)", "facts of other jobs as of poll_time"),
        Unknowable("priority_at_end", "known only afterwards, so it is no request"),
    )
    columns = (
        "job_unique_id", "submit_time", "eligible_time", "start_time", "end_time", "poll_time",
        "elapsed_time", "state", "partition_id", "account_id", "req_cpus", "req_mem_total",
        "req_tres", "time_limit_sec", "alloc_nodes",
    )  # fmt: skip
    telling = frozenset({"job_unique_id", "poll_time", "time_limit_sec", "submit_time", "state"})

    def place(self, file: LogFile, options: Options) -> tuple[str, str]:
        """As the file's name tells; the clock is taken as the cluster's own, the table names none.

        Raises:
            UsageError: the file's name does not tell which cluster it is.
        """
        name = file.name.lower()
        cluster = options.cluster or next((one for one in _ZONES if one in name), None)
        if cluster is None:
            raise UsageError(f"nothing tells whether {file.name!r} is of graham or of cedar; "
                             "give --cluster NAME")  # fmt: skip
        return cluster, _ZONES.get(cluster.lower(), _ZONES["graham"])

    def reader(self, file: LogFile, cluster: str, zone: dt.tzinfo, report: ImportReport) -> Reader:
        """Rows stand for themselves."""
        return _Rows(cluster, zone)


class _Rows(Reader):
    def document(self, row: Mapping[str, Any]) -> JobDocument:
        number = count(row["job_unique_id"])
        wall = amount(row.get("elapsed_time"))
        submit, eligible, polled, start, end = moments(row, _MOMENTS, self.zone, wall)
        if number is None or submit is None:
            raise ValueError(f"no {'number' if number is None else 'time of submission'}")
        word = text(row["state"])
        life = Life(
            submit,
            eligible=eligible,
            start=start,
            end=end,
            seen=() if polled is None or polled == submit else (polled,),
            state=state_of(word),
            word=word,
        )
        timeline = life.timeline(Graham.name)
        return JobDocument(
            id=slurm_id(self.cluster, str(number)),
            updated=timeline[-1].time,
            request=_request(row),
            submission=Submission(submitted=submit),
            usage=Usage(wall_s=wall, nodes=count(row.get("alloc_nodes"))),
            timeline=timeline,
        )


def _request(row: Mapping[str, Any]) -> Request:
    tres = text(row.get("req_tres"))
    resources = parse_tres(tres) if tres else {}
    return Request(
        cpus=count(row.get("req_cpus")),
        nodes=resources.get("node"),
        gpus=gpus(resources),
        memory_mb=count(row.get("req_mem_total")),
        time_limit_s=count(row["time_limit_sec"]),
        partition=text(row.get("partition_id")),
        account=text(row.get("account_id")),
        tres=tres,
    )
