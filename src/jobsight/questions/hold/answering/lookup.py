"""From job ids as users write them to the held jobs of a history, as of a moment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.clock import format_micros
from jobsight.codes import EventCode
from jobsight.documents.states import removed_by_policy
from jobsight.errors import UsageError
from jobsight.history.labels import RowLabels
from jobsight.history.timelines import History
from jobsight.history.twins import current_jobs
from jobsight.ids import JobId, parse_job_id, parse_job_name
from jobsight.questions.hold.examples.decisions import held_jobs
from jobsight.text import counted, printable

__all__ = ["HeldName", "find_held", "held_names"]

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


def find_held(
    history: History, labels: RowLabels, asked: Sequence[JobId], moment: int
) -> tuple[pl.DataFrame, list[str]]:
    """The held jobs that ids name, and what is wrong with the ids that name none.

    Args:
        history: the indexed log.
        labels: of its rows.
        asked: ids; one without a proc names every job of its cluster.
        moment: µs.

    Returns:
        rows of `held_jobs` in the order asked, each once; and one line for each id that names
        no job, or none that is held.
    """
    numbers = current_jobs(history, moment, [one.cluster for one in asked])
    jobs = history.jobs[numbers].select("cluster", "proc", "access_point", job=pl.Series(numbers))
    tables: list[pl.DataFrame] = []
    problems: list[str] = []
    for one in asked:
        wanted = pl.col("cluster") == one.cluster
        named = jobs.filter(wanted if one.proc is None else wanted & (pl.col("proc") == one.proc))
        held = held_jobs(history, moment, labels, np.sort(named["job"].to_numpy()))
        if len(held):
            tables.append(held)
        else:
            problems.append(_problem(history, one, named["job"].to_numpy(), moment))
    none = held_jobs(history, moment, labels, np.zeros(0, np.int64))
    found = pl.concat([none, *tables])
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
