"""What the reason that Slurm gives for a waiting job means for its start.

Source: squeue(1), JOB REASON CODES, and the names in Slurm's ``src/common/job_state_reason.c``.
"""

from __future__ import annotations

import re

import polars as pl

from jobsight.history.jobtable import JobTable
from jobsight.text import printable

__all__ = ["BLOCKED", "BUSY", "TOO_LONG", "awaited", "is_busy", "last_reasons", "refusal", "stop"]

TOO_LONG = "its time limit is longer than its partition allows"
_REFUSALS = {
    r"PartitionTimeLimit": TOO_LONG,
    r"PartitionNodeLimit": "it asks for more nodes than its partition allows",
    r"PartitionConfig": "its partition does not accept such jobs",
    r"DependencyNeverSatisfied": "a job that it depends on ended otherwise; it will never start",
    r"BadConstraints": "no node has what it asks for",
    r"InvalidAccount": "its account is not valid",
    r"InvalidQOS": "its QOS is not valid",
    r"QOSNotAllowed": "its QOS is not allowed in its partition or for its account",
    r"AccountNotAllowed": "its account is not allowed in its partition",
    r"(QOS|Assoc)Max\w*Per(Job|Node)|(QOS|Assoc)MaxWallDuration|MaxMemPerLimit":
        "it asks for more than its account or QOS allows for one job",
    r"QOSMin": "it asks for less than its QOS requires",
    r"ReservationDeleted": "its reservation was deleted",
    r"ReservationInvalid": "its reservation is not valid",
}  # fmt: skip
"""Beginnings of reasons for which a job never starts as it is: what it asks for must change."""
_STOPS = {
    r"JobHeldUser": "it is held by its user: `scontrol release {job}` lets it start",
    r"JobHeldAdmin": "it is held by an administrator, who lets it start: `scontrol release {job}`",
    r"JobHoldMaxRequeue": "it was requeued too often: `scontrol release {job}` lets it start",
    r"PartitionDown": "its partition is down",
    r"PartitionInactive": "its partition is inactive",
    r"ReqNodeNotAvail": "nodes that it asks for are down, drained or reserved",
    r"NodeDown": "a node that it asks for is down",
    r".*held": "it is held: `scontrol release {job}` lets it start",
}
"""Beginnings of reasons for which a job does not start until a person acts or a node returns."""
_AWAITED = {
    r"Dependency": "other jobs that it depends on",
    r"BeginTime": "the time at which it is to begin",
    r"Reservation": "its reservation",
    r"Licenses": "licenses",
    r"Constraints": "nodes with the features that it asks for",
    r"MaxPoweredUpNodes": "a limit on how many nodes may be powered up",
    r"MpiPortsBusy": "ports for MPI",
    r"Cleaning|Prolog": "Slurm to clean up after its last run, or to prepare its start",
    r"FrontEndDown": "a front-end node, which is down",
    r"FedJobLock": "another cluster of its federation",
    r"JobArrayTaskLimit": "other tasks of its array, of which only so many may run at once",
    r"BurstBuffer": "its burst buffer",
    r"Assoc|Max\w+PerAccount|AccountingPolicy": "a limit of its account",
    r"QOS|Max\w+PerUser": "a limit of its QOS",
}
"""Beginnings of reasons, and what the job waits for."""
BLOCKED = "|".join((*_REFUSALS, *_STOPS, *_AWAITED, "JobHeld", "Partition.*Limit"))
"""Beginnings of reasons for which a job does not start however free the cluster is."""
BUSY = "Resources|Priority|Nodes[ _]required[ _]for[ _]job[ _]are[ _]DOWN"
"""Beginnings of reasons of a job that waits because nothing is free for it."""
_NO_REASON = re.compile(BUSY + "|None$|$", re.IGNORECASE)


def is_busy(reason: str | None) -> bool:
    """Whether a job waits because nothing is free for it."""
    return re.match(BUSY, reason or "", re.IGNORECASE) is not None


def refusal(reason: str | None) -> str | None:
    """Why a job never starts unless its request changes, in words; None: it may."""
    return _words(_REFUSALS, reason)


def stop(reason: str | None, job: str) -> str | None:
    """Why a job (or several, ids with commas) does not start by itself as it is; None: it may."""
    return _words(_STOPS, reason, printable(job.partition("+")[0], 200))


def awaited(reason: str | None) -> str | None:
    """What a job waits for other than free nodes; None: nothing else is reported."""
    if refusal(reason) or stop(reason, ""):
        return None
    words = _words(_AWAITED, reason)
    if words is None and not _NO_REASON.match(reason or ""):
        return f"what Slurm calls {printable(reason, 80)}"
    return words


def _words(table: dict[str, str], reason: str | None, job: str = "") -> str | None:
    for beginning, words in table.items():
        if re.match(beginning, reason or "", re.IGNORECASE):
            return f"{words.format(job=job)} ({printable(reason, 80)})"
    return None


def last_reasons(jobs: JobTable) -> pl.DataFrame:
    """What was reported last of each job that waits or waited: row i64, reason str."""
    seen = jobs.changes.drop_nulls(["known", "reason"])
    return seen.group_by("row", maintain_order=True).agg(pl.col("reason").last())
