"""What questions on job tables share: which jobs are open, what a name means, a script as a job."""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import polars as pl

from jobsight.answering.question import Answer, Answerable, HistoryAnswerer
from jobsight.clock import micros
from jobsight.documents import State
from jobsight.format import moment as shown

if TYPE_CHECKING:
    from jobsight.answering.session import AnswerSession
    from jobsight.history.jobtable import JobTable
    from jobsight.ids import JobName
    from jobsight.settings import Settings

__all__ = ["OPEN", "JobTableAnswerable", "JobTableAnswerer", "answer_unsubmitted", "script_row"]

_ENDED = [state.value for state in State if state.ended]
OPEN = ~pl.col("state").cast(pl.String).is_in(_ENDED).fill_null(value=False)
"""Whether a job of a job table has not ended."""

A = TypeVar("A", bound=Answer)
A_co = TypeVar("A_co", bound=Answer, covariant=True)


class JobTableAnswerer(HistoryAnswerer[A], Protocol[A]):
    """An answerer that is also asked of jobs that are not submitted yet."""

    def unsubmitted(self, job: Mapping[str, Any]) -> pl.DataFrame:
        """A job that is to be submitted now, as it is asked about."""


class JobTableAnswerable(Answerable[A_co], Protocol[A_co]):
    """A question that is asked of a `jobsight.history.jobtable.JobTable`."""

    def source(self, read: JobTable, moment: int) -> JobTable:
        """The table as of the moment."""
        times = (read.table["seen"].max(), read.changes["known"].max())  # also of a wrong date
        last = max((micros(time) for time in times if time is not None), default=0)  # type: ignore[arg-type]
        return read if moment > last else read.as_of(moment)

    def span(self, read: JobTable) -> tuple[int, int]:
        """When the first job was seen, and the last record, µs."""
        return read.table["seen"].to_physical()[0], read.end()

    def jobs(self, source: JobTable, moment: int) -> pl.DataFrame:
        """All jobs."""
        return source.table

    def clusters(self, source: JobTable) -> pl.Series:
        """The names of the clusters."""
        return source.table["scheduler_name"].unique()

    def named(self, source: JobTable, name: JobName, moment: int) -> tuple[list[Any], str | None]:
        """The ids of the jobs of a name that wait or run; what is wrong where there are none."""
        named = pl.col("job") == name.job
        if name.job == name.number:
            # All tasks of an array, all procs of a cluster; or a task by Slurm's own number.
            own = pl.col("job_id").cast(pl.String) == name.job
            named |= (pl.col("job").str.extract(r"^([^._+]+)") == name.job) | own.fill_null(False)
        if name.place is not None:
            named &= pl.col("id").str.starts_with(f"{name.place}:")
        jobs = source.table.filter(named)
        if not len(jobs):
            return [], f"no job {name} is known as of {shown(moment)}"
        open_jobs = jobs.filter(OPEN)
        if len(open_jobs):
            return open_jobs["id"].to_list(), None
        if len(jobs) > 1:
            return [], f"all {len(jobs)} jobs of {name} have ended; `jobsight why {name}` says how"
        ended = jobs["end"].to_physical()[0]
        when = "at an unknown time" if ended is None else f"at {shown(ended)}"
        state = str(jobs["state"][0])
        more = "" if state == "completed" else f"; `jobsight why {name}` says why"
        return [], f"job {name} has ended: {state.replace('_', ' ')} {when}{more}"


def answer_unsubmitted(session: AnswerSession[A], job: Mapping[str, Any]) -> A:
    """The answer for a job that is to be submitted now, in columns of the job table."""
    answerer: JobTableAnswerer[A] = session.answerer(job["scheduler_name"])
    return answerer.answer(answerer.unsubmitted(job))[0]


def script_row(
    jobs: JobTable,
    settings: Settings,
    path: str,
    text: str,
    request: dict[str, Any],
    owner: str,
) -> dict[str, Any]:
    """A batch script of a user's in columns of the job table; `request`: those it asks for."""
    clusters = jobs.table.filter(scheduler="slurm")["scheduler_name"].unique().to_list()
    return {
        **request,
        "job": None,
        "scheduler": "slurm",
        "scheduler_name": settings.slurm.cluster or (clusters[0] if len(clusters) == 1 else None),
        "owner": owner,
        "name": request["name"] or Path(path).name,
        "command": path if path.startswith("/") else str(Path(path).resolve()),
        "work_dir": request["work_dir"] or os.getcwd(),  # noqa: PTH109
        "script": text or None,
        "script_digest": sha256(text.encode(errors="replace")).hexdigest()[:16] if text else None,
    }
