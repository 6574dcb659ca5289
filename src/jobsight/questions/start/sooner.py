"""Why a job waits, in words, and what would let it start sooner."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.clock import format_span
from jobsight.documents import State
from jobsight.history.jobtable import JobTable
from jobsight.history.slurm.pendingreasons import TOO_LONG, awaited, refusal, stop
from jobsight.questions.start.queue import Snapshot
from jobsight.text import counted, printable

__all__ = ["Advice", "never", "obstacle", "sooner", "waits_for"]

Floats = NDArray[np.float64]

ENOUGH = 30
"""Runs that advice needs."""
_FIT = 0.97
"""Share of the runs that a shorter limit is to hold."""
_LIMITS = 60.0 * np.array(
    [5, 10, 15, 20, 30, 45]
    + [60 * hours for hours in (1, 2, 3, 4, 6, 8, 12, 18, 24, 36, 48, 72, 120, 168)]
)
"""Time limits that are proposed, seconds."""
_SHORTER, _SHARE, _LEAST_S = 0.75, 0.1, 60.0


@dataclass(frozen=True)
class Advice:
    """What to change.

    Attributes:
        text: in words.
        option: of sbatch.
        gain_s: seconds by which the median of the start comes earlier.
        support: runs that it rests on.
    """

    text: str
    option: str
    gain_s: float
    support: int


def obstacle(job: Mapping[str, Any], queue: Snapshot) -> str | None:
    """Why a job will not start by itself; None: it may."""
    reason, held = job["reason"], job["state"] == State.HELD.value
    if job["scheduler"] == "htcondor":
        return "it is held: `jobsight hold` says whether to release it" if held else None
    return (
        never(job, queue)
        or stop("PartitionDown" if queue.machine.down(job["partition"]) else reason)
        or (f"it is held ({printable(reason or '', 80)})" if held else None)
    )


def never(job: Mapping[str, Any], queue: Snapshot) -> str | None:
    """Why a job never starts unless what it asks for changes; None: it may."""
    partition = queue.machine.partition(job["partition"])
    limit, longest = job["time_limit_s"], None if partition is None else partition.longest_s
    if longest is not None and limit is not None and limit > longest:
        most = f"{printable(job['partition'], 40)} allows {format_span(longest)}"
        return f"{TOO_LONG}: {format_span(limit)}, and {most}"
    if refused := refusal(job["reason"]):
        return refused
    if job["state"] not in (None, State.PENDING.value) or job["blocked"] or queue.fits(job):
        return None
    return "it asks for more than its partition has"


def waits_for(job: Mapping[str, Any], queue: Snapshot, place: int) -> list[str]:
    """What a pending job waits for: limits, reservations, dependencies, and the jobs ahead."""
    found = [words] if (words := awaited(job["reason"])) else []
    ahead, running = queue.load[:2, :, place]
    if ahead[0] and job["scheduler"] == "slurm":
        found.append(f"{counted(int(ahead[0]), 'job')} ahead with {counted(int(ahead[1]), 'CPU')}")
    if running[0]:
        cpus = counted(int(running[1]), "CPU")
        found.append(f"{counted(int(running[0]), 'running job')} with {cpus}")
    return found


def sooner(queue: Snapshot, place: int, starts: Floats) -> list[Advice]:
    """Changes of a request with which the job starts sooner, the largest gain first.

    Each is played in the same draws. A shorter limit and fewer nodes need enough like runs, another
    partition enough runs in it.

    Args:
        queue: with the job.
        place: of the job in it.
        starts: float64 (draws,), seconds until it starts as it is.
    """
    job = queue.jobs.row(place, named=True)
    before, found = float(np.median(starts)), []
    for text, option, support, changed in _changes(queue, job):
        after = queue.changed(place, **changed)
        asked = np.arange(len(queue.jobs)) == place
        median = float(np.median(after.starts(asked)[:, 0]))
        gain = (before if before < np.inf else 366 * 86_400.0) - median
        if median < np.inf and gain >= max(_LEAST_S, _SHARE * min(before, 86_400.0)):
            found.append(Advice(text, option, gain, support))
    return sorted(found, key=lambda one: -one.gain_s)


_Change = tuple[str, str, int, dict[str, Any]]


def _changes(queue: Snapshot, job: Mapping[str, Any]) -> list[_Change]:
    like = _like(queue.history.jobs, job)
    return [*_shorter(job, like), *_narrower(job, like), *_elsewhere(queue, job)]


def _like(history: JobTable, job: Mapping[str, Any]) -> pl.DataFrame:
    """Ended runs of the same user with the same name but for digits, or the same script."""
    pattern = pl.col("name").str.replace_all(r"[0-9]+", "#")
    if job["name"] is None:
        same = pl.col("command") == pl.lit(job["command"])
    else:
        same = pattern == re.sub("[0-9]+", "#", job["name"])
    ended = pl.col("end").is_not_null() & pl.col("last_start").is_not_null()
    own = (pl.col("owner") == pl.lit(job["owner"])) & same & ended
    ran = (pl.col("end") - pl.col("last_start")).dt.total_seconds().cast(pl.Float64)
    late = pl.col("state").cast(pl.String).is_in([State.TIMEOUT.value, State.DEADLINE.value])
    return history.table.filter(own.fill_null(False)).with_columns(
        ran=pl.when(late).then(np.inf).otherwise(ran)
    )


def _shorter(job: Mapping[str, Any], like: pl.DataFrame) -> list[_Change]:
    limit = job["time_limit_s"]
    if limit is None or len(like) < ENOUGH:
        return []
    ran = like["ran"].to_numpy()
    enough = _LIMITS[(_LIMITS[:, None] >= ran).mean(axis=1) >= _FIT]
    if not len(enough) or (limit > 0 and enough[0] > _SHORTER * limit):
        return []
    wanted = int(enough[0])
    hours, minutes = divmod(wanted // 60, 60)
    now = "no limit" if limit < 0 else format_span(limit)
    share = f"{(ran <= wanted).mean():.0%}".replace("%", " %")
    text = f"ask for {format_span(wanted)} instead of {now}: {share} of such runs fit"
    return [(text, f"--time={hours}:{minutes:02d}:00", len(like), {"time_limit_s": wanted})]


def _narrower(job: Mapping[str, Any], like: pl.DataFrame) -> list[_Change]:
    nodes, cpus = job["request_nodes"] or 1, job["request_cpus"] or 1
    half = nodes // 2
    support = len(like.filter(pl.col("request_nodes") <= half))
    if nodes < 2 or support < ENOUGH:
        return []
    changed = {"request_nodes": half, "request_cpus": max(cpus * half // nodes, 1)}
    if job["request_memory_mb"]:
        changed["request_memory_mb"] = job["request_memory_mb"] * half // nodes
    text = f"ask for {counted(half, 'node')} instead of {nodes}, as such runs did"
    return [(text, f"--nodes={half}", support, changed)]


def _elsewhere(queue: Snapshot, job: Mapping[str, Any]) -> list[_Change]:
    """Partitions in which the user's jobs have run, and that take the job's limit."""
    own = queue.history.jobs.table.filter(
        (pl.col("owner") == pl.lit(job["owner"])).fill_null(False),
        pl.col("scheduler_name") == pl.lit(job["scheduler_name"]),
        pl.col("start").is_not_null(),
        pl.col("partition") != pl.lit(job["partition"]),
    )
    found: list[_Change] = []
    for name, support in own["partition"].value_counts().sort("count", "partition").iter_rows():
        known = queue.machine.partition(name)
        longest = own.filter(partition=name)["time_limit_s"].max()
        most = known.longest_s if known is not None else longest
        limit = job["time_limit_s"] or 0
        if support >= ENOUGH and isinstance(most, int | float) and 0 <= limit <= most:
            text = f"submit to partition {printable(name, 40)}"
            found.append((text, f"--partition={name}", support, {"partition": name}))
    return found
