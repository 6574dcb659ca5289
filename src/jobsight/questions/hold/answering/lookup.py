"""The held jobs of a history as of a moment, and from job ids as users write them to these."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.clock import format_micros
from jobsight.codes import EventCode
from jobsight.documents.states import removed_by_policy
from jobsight.errors import UsageError
from jobsight.history.labels import current_jobs, label_rows
from jobsight.history.timelines import History
from jobsight.ids import JobId, JobName, parse_job_id
from jobsight.questions.hold.examples.decisions import held_jobs
from jobsight.text import counted, printable

__all__ = ["HeldHistory", "HeldName", "held_name"]

_STATES = {
    0: "it waits to start, or was submitted on hold (which leaves no event), since",
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

    def covers(self, job: JobId, access_point: str | None) -> bool:
        """Whether it names a job of an access point."""
        if self.access_point not in (None, access_point):
            return False
        return job == self.job or (self.job.proc is None and job.cluster == self.job.cluster)


def held_name(name: JobName) -> HeldName:
    """What an id means, as a user writes it.

    Raises:
        UsageError: it is not an id of an HTCondor job.
    """
    place = name.place or ""
    if place.startswith("slurm:"):
        raise UsageError(f"{printable(name, 60)} is not an HTCondor job; only these are held")
    point = unquote(place.removeprefix("htcondor:")) or None
    # A log that names no access point is known by its hash.
    named = None if point and re.fullmatch(r"log-[0-9a-f]{8}", point) else point
    return HeldName(parse_job_id(name.job), named)


class HeldHistory:
    """An event history whose held jobs are asked about.

    Attributes:
        history: the indexed log.
        labels: of its rows.
    """

    def __init__(self, history: History) -> None:
        self.history, self.labels = history, label_rows(history)
        self._last: tuple[int, pl.DataFrame] | None = None

    def held(self, moment: int) -> pl.DataFrame:
        """The jobs held at a moment (µs), each once: see `held_jobs`."""
        if self._last is None or self._last[0] != moment:
            current = current_jobs(self.history, moment)
            self._last = moment, held_jobs(self.history, moment, self.labels, current)
        return self._last[1]

    def named(self, asked: HeldName, moment: int) -> tuple[list[int], str | None]:
        """The numbers of the held jobs that an id names; what is wrong where there are none.

        Args:
            asked: the id; one without a proc names every job of its cluster.
            moment: µs.
        """
        id_, point = asked
        wanted = pl.col("cluster") == id_.cluster
        if id_.proc is not None:
            wanted &= pl.col("proc") == id_.proc
        held = self.held(moment).filter(wanted)
        if not len(held):
            current = current_jobs(self.history, moment, [id_.cluster])
            numbers = pl.Series("job", current)
            jobs = self.history.jobs[current].select("cluster", "proc", numbers).filter(wanted)
            return [], _problem(self.history, id_, jobs["job"].to_numpy(), moment)
        here = held if point is None else held.filter(pl.col("access_point") == point)
        problem = None if len(here) else f"job {id_} is held, but not on {point}"
        return here["job"].to_list(), problem


def _problem(history: History, id_: JobId, jobs: NDArray[np.int32], moment: int) -> str:
    at = format_micros(moment)
    if not len(jobs):
        wanted = history.jobs.filter(pl.col("cluster") == id_.cluster)
        if id_.proc is not None:
            wanted = wanted.filter(pl.col("proc") == id_.proc)
        later = " before that time, only later" if len(wanted) else "; name one that does"
        what = "cluster" if id_.proc is None else "job"
        return f"no log or store that was read has {what} {id_} as of {at}{later}"
    if len(jobs) > 1:
        return f"none of the {counted(len(jobs), 'job')} of {id_} is held as of {at}"
    job = int(jobs[0])
    name = JobId(*history.jobs.select("cluster", "proc").row(job))
    return f"job {name} is not held as of {at}: {_state(history, job, moment)}"


def _state(history: History, job: int, moment: int) -> str:
    rows = history.rows_of(job)
    rows = rows[history.clock[rows] <= moment]
    recorded = rows[np.isin(history.code[rows], list(_STATES))]
    if not len(recorded):
        return "the log does not say its state"
    last = int(recorded[-1])
    code, reason = int(history.code[last]), history.table["reason"][last]
    by_policy = code == EventCode.ABORTED and removed_by_policy(reason)
    what = "a policy removed it at" if by_policy else _STATES[code]
    state = f"{what} {format_micros(int(history.clock[last]))}"
    return f"{state} ({printable(reason, 80)})" if reason and code in (9, 13) else state
