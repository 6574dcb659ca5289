"""Which jobs are held at a moment, as their own logs record it, and what belongs together."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.history.timelines import History, Ints
from jobsight.history.whereabouts import preceding

__all__ = ["LIFE", "after_hold", "groups_of", "held_rows", "last_of_life_before"]

LIFE = tuple(map(int, (EventCode.SUBMIT, EventCode.EXECUTE, EventCode.TERMINATED,
                       EventCode.ABORTED, EventCode.HELD, EventCode.RELEASED)))  # fmt: skip
"""The last of these, or a row of `History.held`, shows whether a job is held."""


def held_rows(
    history: History, moment: int, jobs: NDArray[np.integer] | None = None
) -> tuple[Ints, Ints]:
    """The holds (`History.held`) of the jobs held at `moment` (µs), and what can be seen then.

    Args:
        history: the indexed log.
        moment: µs since 1970; rows at it are seen.
        jobs: only these job numbers; all if None.

    Returns:
        int64 (n,), rows of the holds, ascending; int64 (n,), the first row of its own log that each
        does not see.
    """
    asked = np.arange(len(history.jobs)) if jobs is None else np.asarray(jobs)
    logs = np.arange(history.logs)
    ends = history.rows_at(logs, np.full(history.logs, moment + 1))
    cuts = ends[history.jobs["log"].to_numpy()[asked]]
    last = _last_of_life(history, asked, cuts)
    held = np.flatnonzero((last >= 0) & history.held[last])
    held = held[np.argsort(last[held], kind="stable")]
    return last[held], cuts[held]


def last_of_life_before(history: History, rows: Ints) -> Ints:
    """The last row of each row's job before it that shows whether it is held, −1 if none."""
    among = np.flatnonzero((np.isin(history.code, LIFE) | history.held) & (history.job >= 0))
    return np.append(among, -1)[preceding(history, among, rows)]


def _last_of_life(history: History, jobs: NDArray[np.integer], cuts: Ints) -> Ints:
    """The last row of each job before its cut that shows whether it is held, −1 if none."""
    first, sizes = history.job_start[jobs], np.diff(history.job_start)[jobs]
    asked = np.repeat(np.arange(len(jobs)), sizes)
    places = np.arange(len(asked)) + np.repeat(first - np.cumsum(sizes) + sizes, sizes)
    rows = history.job_rows[places]
    of_life = (rows < cuts[asked]) & (np.isin(history.code[rows], LIFE) | history.held[rows])
    last = np.full(len(jobs), -1, np.int64)
    last[asked[of_life]] = rows[of_life]  # of several of one job the last stays
    return last


def after_hold(history: History, hold_rows: Ints) -> Ints:
    """The row after each hold, and after the 028 that directly follows it: int64 (n,)."""
    after = hold_rows + 1
    inside = np.minimum(after, len(history) - 1)
    its_ad = (
        (after < len(history))
        & (history.code[inside] == EventCode.AD)
        & (history.job[inside] == history.job[hold_rows])
        & (history.log[inside] == history.log[hold_rows])
    )
    return np.where(its_ad, after + 1, after)


def groups_of(history: History) -> pl.Series:
    """What must not be torn apart by a split, by job number: a DAG's node, else a cluster.

    HTCondor's DAGMan puts ``DAGManJobId`` and ``DAGNodeName`` into the ads of its nodes' jobs; a
    node that is tried again is a new cluster of the same group.
    """
    text = pl.col("attributes")
    known = (
        history.table.select("attributes", "dag_node", job=pl.Series(history.job))
        .filter(
            pl.col("job") >= 0,
            text.str.contains("DAG", literal=True) | pl.col("dag_node").is_not_null(),
        )
        .select(
            "job",
            dag=text.str.extract(r'"DAGManJobId": ?"?(\d+)'),
            node=text.str.extract(r'"DAGNodeName": ?"([^"]*)"').fill_null(pl.col("dag_node")),
        )
        .group_by("job")
        .agg(pl.col("dag").drop_nulls().first(), pl.col("node").drop_nulls().first())
    )
    # Logs that do not name their access point may come from different ones.
    where = pl.coalesce("access_point", pl.format("log {}", "log"))
    cluster = pl.format("cluster {} {}", where, "cluster")
    return (
        history.jobs.with_row_index("job")
        .with_columns(pl.col("job").cast(pl.Int32))
        .join(known, on="job", how="left", maintain_order="left")
        .select(group=pl.coalesce(pl.format("dag {} {} {}", where, "dag", "node"), cluster))
        .to_series()
    )
