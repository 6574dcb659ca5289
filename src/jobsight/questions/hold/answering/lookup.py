"""From job ids as users write them to the held jobs of a history, as of a moment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol
from urllib.parse import unquote

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.clock import format_micros
from jobsight.errors import UsageError
from jobsight.history.timelines import History, Ints
from jobsight.ids import JobId, parse_job_id, parse_job_name
from jobsight.text import counted, printable

__all__ = ["HeldName", "current_jobs", "find_held", "held_names"]

_STATES = {
    0: "it waits to start, submitted at",
    1: "it runs since",
    4: "it was evicted and waits to start again since",
    5: "it terminated at",
    9: "it was removed at",
    12: "it is held since",
    13: "it was released at",
}


class HeldName(NamedTuple):
    """A job, or all of a cluster; of any access point, or of one."""

    job: JobId
    access_point: str | None = None


def held_names(jobs: Sequence[str]) -> list[HeldName]:
    """What ids mean, as users write them.

    Raises:
        UsageError: one is not an id of an HTCondor job.
    """
    asked = []
    for name in map(parse_job_name, jobs):
        place = name.place or ""
        if place.startswith("slurm:"):
            raise UsageError(f"{printable(name, 60)} is not an HTCondor job; only these are held")
        point = unquote(place.removeprefix("htcondor:")) or None
        # A log that names no access point is known by its hash.
        named = None if point and re.fullmatch(r"log-[0-9a-f]{8}", point) else point
        asked.append(HeldName(parse_job_id(name.job), named))
    return asked


def current_jobs(
    history: History, moment: int, clusters: Sequence[int] | None = None
) -> NDArray[np.int32]:
    """Numbers of the jobs that were known at `moment` (µs), each once; all, or of some clusters.

    A job that several logs record (a user's own and the access point's) is taken from the log
    that recorded it last, and of jobs that were given the same id the last one. Jobs of different
    access points are different jobs; a log that does not name its access point is taken for the
    other's where the ids are the same.
    """
    last = _last_recorded(history, moment)
    mine = last >= 0
    if clusters is not None:
        mine &= np.isin(history.jobs["cluster"].to_numpy(), clusters)
    known = np.flatnonzero(mine)
    same_id = ["cluster", "proc"]
    jobs = history.jobs[known].select(
        *same_id,
        pl.col("access_point").fill_null(pl.col("access_point").drop_nulls().first().over(same_id)),
        job=pl.Series(known, dtype=pl.Int32),
        last=pl.Series(last[known], dtype=pl.Int64),
    )
    chosen = jobs.sort("last", "job").unique(
        ["access_point", *same_id], keep="last", maintain_order=True
    )
    return np.sort(chosen["job"].to_numpy())


def _last_recorded(history: History, moment: int) -> Ints:
    """The clock of each job's last row at or before `moment`; −1 where it has none."""
    last = np.full(len(history.jobs), -1, np.int64)
    rows = np.flatnonzero((history.clock <= moment) & (history.job >= 0))
    np.maximum.at(last, history.job[rows], history.clock[rows])
    return last


class _Indexed(Protocol):
    """Who knows which jobs of a history are held."""

    @property
    def history(self) -> History:
        """The indexed log."""

    def held(self, moment: int, jobs: NDArray[np.integer]) -> pl.DataFrame:
        """As `Answerer.held`."""


def find_held(
    answerer: _Indexed, asked: Sequence[JobId], moment: int
) -> tuple[pl.DataFrame, list[str]]:
    """The held jobs that ids name, and what is wrong with the ids that name none.

    Args:
        answerer: of the history, or several.
        asked: ids; one without a proc names every job of its cluster.
        moment: µs.

    Returns:
        rows of `Answerer.held` in the order asked, each once; and one line for each id that names
        no job, or none that is held.
    """
    history = answerer.history
    numbers = current_jobs(history, moment, [one.cluster for one in asked])
    jobs = history.jobs[numbers].select("cluster", "proc", "access_point", job=pl.Series(numbers))
    tables: list[pl.DataFrame] = []
    problems: list[str] = []
    for one in asked:
        wanted = pl.col("cluster") == one.cluster
        named = jobs.filter(wanted if one.proc is None else wanted & (pl.col("proc") == one.proc))
        held = answerer.held(moment, np.sort(named["job"].to_numpy()))
        if len(held):
            tables.append(held)
        else:
            problems.append(_problem(history, one, named["job"].to_numpy(), moment))
    found = pl.concat(tables) if tables else answerer.held(moment, np.zeros(0, np.int64))
    return found.unique("job", keep="first", maintain_order=True), problems


def _problem(history: History, one: JobId, jobs: NDArray[np.int32], moment: int) -> str:
    at = format_micros(moment)
    if not len(jobs):
        wanted = history.jobs.filter(pl.col("cluster") == one.cluster)
        if one.proc is not None:
            wanted = wanted.filter(pl.col("proc") == one.proc)
        later = " before that time, only later" if len(wanted) else "; name one that does"
        what = "cluster" if one.proc is None else "job"
        return f"no log or store that was read has {what} {one} as of {at}{later}"
    if len(jobs) > 1:
        return f"none of the {counted(len(jobs), 'job')} of {one} is held as of {at}"
    return f"job {_name(history, int(jobs[0]))} is not held as of {at}: " + _state(
        history, int(jobs[0]), moment
    )


def _name(history: History, job: int) -> str:
    cluster, proc = history.jobs.select("cluster", "proc").row(job)
    return str(JobId(cluster, proc))


def _state(history: History, job: int, moment: int) -> str:
    rows = history.rows_of(job)
    rows = rows[history.clock[rows] <= moment]
    recorded = rows[np.isin(history.code[rows], list(_STATES))]
    if not len(recorded):
        return "the log does not say its state"
    last = int(recorded[-1])
    state = f"{_STATES[int(history.code[last])]} {format_micros(int(history.clock[last]))}"
    reason = history.table["reason"][last]
    return (
        f"{state} ({printable(reason, 80)})" if reason and history.code[last] in (9, 13) else state
    )
