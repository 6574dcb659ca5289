"""Jobs that two logs record, a user's own and the access point's: one job, not two.

A history keeps the timelines of different logs apart, since neither log says how its records
interleave with the other's. What teaches or counts as evidence must take each job once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.history.timelines import History, Ints

__all__ = ["current_jobs", "first_recorded"]

_LEFT = (5, 9)
_NEVER = np.iinfo(np.int64).max


def first_recorded(history: History) -> Ints:
    """The job number under which each job is recorded first: int64 (jobs,).

    Two are one job where access point, cluster and proc are the same and the second does not begin
    after the first has left the queue (005, 009): an access point that was set up anew counts its
    clusters from 1 again. Logs that do not name their access point may come from different ones, so
    their jobs are different jobs. Which comes first rests on the first rows alone (of one moment:
    the lower log), so that cutting the logs off does not change it but for a decision of that very
    moment, which sees its own log alone.
    """
    alone = np.arange(len(history.jobs), dtype=np.int64)
    if history.logs < 2:
        return alone
    leaves = np.full(len(alone), _NEVER)
    rows = np.flatnonzero(np.isin(history.code, _LEFT) & (history.job >= 0))
    np.minimum.at(leaves, history.job[rows], history.clock[rows])
    begins = np.append(history.clock, _NEVER)[history.jobs["first_row"].to_numpy()]
    key = ["access_point", "cluster", "proc"]
    jobs = (
        history.jobs.select(
            *key,
            "log",
            job=pl.Series(alone),
            begins=pl.Series(begins),
            leaves=pl.Series(leaves),
        )
        .filter(pl.col("access_point").is_not_null() & pl.struct(key).is_duplicated())
        .sort(*key, "begins", "log", "job")
        # A job that begins when all of its id have left is another one.
        .with_columns(
            another=pl.col("begins") > pl.col("leaves").cum_max().shift().over(key),
        )
        .with_columns(turn=pl.col("another").fill_null(value=True).cum_sum().over(key))
        .with_columns(first=pl.col("job").first().over(*key, "turn"))
    )
    alone[jobs["job"].to_numpy()] = jobs["first"].to_numpy()
    return alone


def current_jobs(
    history: History, moment: int, clusters: Sequence[int] | None = None
) -> NDArray[np.int32]:
    """Numbers of the jobs that were known at `moment` (µs), each once; all, or of some clusters.

    A job that several logs record (a user's own and the access point's) is taken from the log
    that recorded it last, and of jobs that were given the same id the last one. Jobs of different
    access points are different jobs; a log that does not name its access point is taken for the
    other's where the ids are the same.
    """
    last = np.full(len(history.jobs), -1, np.int64)
    rows = np.flatnonzero((history.clock <= moment) & (history.job >= 0))
    np.maximum.at(last, history.job[rows], history.clock[rows])
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
