"""What keeps a job back, by what Slurm says of it and by the queue, and until when at least."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.clock import format_span
from jobsight.documents import State
from jobsight.history.slurm.pendingreasons import TOO_LONG, awaited, refusal, stop
from jobsight.questions.start.play import LEVELS
from jobsight.questions.start.queue import Snapshot
from jobsight.text import counted, printable

__all__ = ["Spans", "never", "not_before", "obstacle", "waits_for"]

Spans = tuple[float, float, float]
"""Seconds: 10, 50 and 90 % quantiles."""

_SECOND = 1_000_000
_DRAWS = 200
_NAMED = 3
"""Jobs that are named of those that a job depends on."""
_AFTER = re.compile(r"after(?:any|notok|ok):(\d{1,10}(?:_(?:\d{1,10}|\*))?)(\(failed\))?", re.ASCII)
"""One part of a dependency on ends as Slurm shows it: ``afterok:12_*(unfulfilled)``."""


def obstacle(job: Mapping[str, Any], queue: Snapshot) -> str | None:
    """Why a job will not start by itself; None: it may."""
    if job["scheduler"] == "htcondor":
        held = job["state"] == State.HELD.value
        return "it is held: `jobsight hold` says whether to release it" if held else None
    if (words := never(job, queue)) is not None or _planned(job, queue):
        return words
    reason = "PartitionDown" if queue.machine.down(job["partition"]) else job["reason"]
    held = "held" if job["state"] == State.HELD.value else None
    return stop(reason, job["job"] or "") or stop(held, job["job"] or "")


def never(job: Mapping[str, Any], queue: Snapshot) -> str | None:
    """Why a job never starts unless what it asks for changes; None: it may."""
    partition = queue.machine.partition(job["partition"])
    limit, longest = job["time_limit_s"], None if partition is None else partition.longest_s
    if longest is not None and limit is not None and limit > longest:
        most = f"{printable(job['partition'], 40)} allows {format_span(longest)}"
        return f"{TOO_LONG}: {format_span(limit)}, and {most}"
    if refused := refusal(job["reason"]):
        if (others := _depended(job, queue)) is None:
            return refused
        reason, id_ = printable(job["reason"], 80), printable(job["job"], 40)
        words = f"it depends on {others}, and will never start ({reason}): `scancel {id_}`, or"
        return f"{words} `scontrol update JobId={id_} Dependency=` to run it all the same"
    if job["state"] not in (None, State.PENDING.value) or job["blocked"] or queue.fits(job):
        return None
    return "it asks for more than its partition has"


def _planned(job: Mapping[str, Any], queue: Snapshot) -> bool:
    """Whether Slurm plans a start after a reservation of the nodes that a job asks for."""
    reserved = re.match("ReqNodeNotAvail.*reserved", job["reason"] or "", re.IGNORECASE)
    return reserved is not None and (job["estimate"] or 0) > queue.moment


def waits_for(job: Mapping[str, Any], queue: Snapshot, place: int) -> list[str]:
    """What a pending job waits for: limits, reservations, dependencies, and the jobs ahead."""
    waits, slurm = [], job["scheduler"] == "slurm"
    words = awaited(job["reason"]) if slurm else None
    if _planned(job, queue):
        words = stop(job["reason"], "")
    if words:
        runs, others = int(_must_end(job, queue).sum()), _depended(job, queue)
        if runs and others is None:
            others = ("a running job" if runs == 1 else f"one of {runs} running jobs") + " must end"
        waits.append(f"{words}: {others}" if others else words)
    ahead, running = queue.load[:2, :, place]
    if ahead[0] and slurm:
        waits.append(f"{counted(int(ahead[0]), 'job')} ahead with {counted(int(ahead[1]), 'CPU')}")
    if running[0]:
        cpus = counted(int(running[1]), "CPU")
        waits.append(f"{counted(int(running[0]), 'running job')} with {cpus}")
    return waits


def not_before(job: Mapping[str, Any], queue: Snapshot) -> Spans | None:
    """Seconds until a job is to begin, or until the runs end that must end first; None: unknown."""
    reason = job["reason"] or ""
    if reason.startswith("BeginTime") and (job["estimate"] or 0) > queue.moment:
        begin = (job["estimate"] - queue.moment) / _SECOND
        return begin, begin, begin
    places = np.flatnonzero(_must_end(job, queue))
    if not len(places):
        return None
    ends = queue.ends(_DRAWS, places.tolist())
    first = ends.max(axis=1) if reason.startswith("Dependency") else ends.min(axis=1)
    low, middle, high = map(float, np.quantile(first, LEVELS))
    return low, middle, high


def _must_end(job: Mapping[str, Any], queue: Snapshot) -> NDArray[np.bool_]:
    """Runs of which all (that it depends on), or one, must end before a job starts: (jobs,)."""
    reason, of = job["reason"] or "", pl.lit(value=False)
    if reason.startswith("Dependency"):
        of = _are([name for name, _ in _dependencies(job)])
    elif reason.startswith("JobArrayTaskLimit"):
        of = pl.col("group") == pl.lit(job["group"])
    elif "PerUser" in reason or reason.startswith("AssocMax"):
        same = ("owner", "qos" if "PerUser" in reason else "account")
        of = pl.all_horizontal(pl.col(name) == pl.lit(job[name]) for name in same)
    own = queue.jobs.select((of & pl.col("runs")).fill_null(value=False))
    return own.to_series().to_numpy()


def _dependencies(job: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The jobs of which all must end before a job starts, and a mark where it is in vain."""
    shown = job["dependency"] or ""
    return [] if "?" in shown else _AFTER.findall(shown)


def _are(names: Sequence[str]) -> pl.Expr:
    """Whether a job is one of these, or a task of these arrays (``12_*``)."""
    arrays = [name.removesuffix("_*") for name in names if name.endswith("_*")]
    job = pl.col("job")
    return job.is_in(names) | job.str.extract(r"^(\d+)_").is_in(arrays).fill_null(value=False)


def _depended(job: Mapping[str, Any], queue: Snapshot) -> str | None:
    """The jobs that a job depends on, and their states; of some that failed, these alone."""
    every = _dependencies(job) if (job["reason"] or "").startswith("Dependency") else []
    names = [name for name, failed in every if failed] or [name for name, _ in every]
    of_cluster = pl.col("scheduler_name").eq_missing(pl.lit(job["scheduler_name"]))
    rows = queue.history.jobs.table.filter(of_cluster, _are(names))
    done = pl.col("state").cast(pl.String) == State.COMPLETED.value
    known = {}
    for row in rows.sort(done, maintain_order=True).head(_NAMED).iter_rows(named=True):
        code = f"exit code {row['exit_code']}" if row["exit_code"] else None
        about = printable(row["name"] or "", 60), str(row["state"]).replace("_", " "), code
        known[row["job"]] = f"job {row['job']} ({', '.join(filter(None, about))})"
    return ", ".join(known.values() or [f"job {name}" for name in names[:_NAMED]]) or None
