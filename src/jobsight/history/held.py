"""Which jobs are held at a moment, what belongs together, and whether a job was edited while held.

``condor_qedit`` writes no event of its own; what it changed shows in the ads (028) that some pools
write behind each event. HTCondor's attribute-update event (033) records some changes directly.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.history.counts import at, preceding
from jobsight.history.jobads import parse_ad
from jobsight.history.timelines import History, Ints

__all__ = ["LIFE", "after_hold", "edited_releases", "groups_of", "held_rows", "last_of_life_before"]

LIFE = tuple(map(int, (EventCode.SUBMIT, EventCode.EXECUTE, EventCode.TERMINATED,
                       EventCode.ABORTED, EventCode.HELD, EventCode.RELEASED)))  # fmt: skip
"""The last of these, or a row of `History.held`, shows whether a job is held."""

_REQUEST = r'"Request[A-Z][A-Za-z]*": ?(?:"(?:[^"\\]|\\.)*"|[^,}]*)'
"""One request in an ad (JSON) with its value."""

_BOOKKEEPING = re.compile(
    r"^(MyType|TargetType|Cluster|ClusterId|Proc|ProcId|Subproc|JobStatus|LastJobStatus|Reason"
    r"|Event.*|TriggerEvent.*|Hold.*|LastHold.*|Release.*|LastRelease.*|Vacate.*|LastVacate.*"
    r"|Num[A-Z].*|Job.*(Date|Count|Starts|Time)|Entered.*|Last.*Time|.*Usage(_RAW)?|Cumulative.*"
    r"|Remote.*|LastRemote.*|MATCH_.*|Shadow.*|.*SizeRaw|ImageSize.*|ResidentSetSize.*"
    r"|ServerTime|CurrentTime|Total.*|Bytes.*|Transfer.*(Stats|Queued|ing.*)|.*_RAW)$"
)
"""Attributes that HTCondor itself changes between a hold and a release."""


def held_rows(
    history: History, moment: int, jobs: NDArray[np.integer] | None = None
) -> tuple[Ints, Ints]:
    """The holds (`History.held`) of the jobs (None: all) held at `moment` (µs), and what is seen.

    Rows at the moment are seen. Returns int64 (n,), rows of the holds, ascending; int64 (n,), the
    first row of its own log that each does not see.
    """
    asked = np.arange(len(history.jobs)) if jobs is None else np.asarray(jobs)
    logs = np.arange(history.logs)
    ends = history.rows_at(logs, np.full(history.logs, moment + 1))
    cuts = ends[history.jobs["log"].to_numpy()[asked]]
    # The last row of each job before its cut that shows whether it is held, −1 if none.
    first, sizes = history.job_start[asked], np.diff(history.job_start)[asked]
    number = np.repeat(np.arange(len(asked)), sizes)
    places = np.arange(len(number)) + np.repeat(first - np.cumsum(sizes) + sizes, sizes)
    rows = history.job_rows[places]
    of_life = (rows < cuts[number]) & (np.isin(history.code[rows], LIFE) | history.held[rows])
    last = np.full(len(asked), -1, np.int64)
    last[number[of_life]] = rows[of_life]  # of several of one job the last stays
    held = np.flatnonzero((last >= 0) & history.held[last])
    held = held[np.argsort(last[held], kind="stable")]
    return last[held], cuts[held]


def last_of_life_before(history: History, rows: Ints) -> Ints:
    """The last row of each row's job before it that shows whether it is held, −1 if none."""
    among = np.flatnonzero((np.isin(history.code, LIFE) | history.held) & (history.job >= 0))
    return np.append(among, -1)[preceding(history, among, rows)]


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


@lru_cache(1024)
def _is_kept_by_htcondor(name: str) -> bool:
    return _BOOKKEEPING.match(name) is not None


def _differ(before: str | None, after: str | None) -> bool:
    """Whether an attribute that only an edit changes differs between two ads (JSON)."""
    if before is None or after is None:
        return False
    old, new = parse_ad(before), parse_ad(after)
    if old is None or new is None:
        return False
    # Events carry attributes of their own, so only what stands in both ads can be compared; but
    # what a job requests is in every ad or in none.
    names = (old.keys() & new.keys()) | {n for n in old.keys() ^ new.keys() if n[:7] == "Request"}
    return any(old.get(n) != new.get(n) for n in names if not _is_kept_by_htcondor(n))


def edited_releases(
    history: History, hold_rows: Ints, rows: Ints, *, exact: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which releases let go a job that was not as it had been held: bool (n,).

    Known only where the log has a 033 between the two, or an ad (028) of both; else not edited. The
    rows are those of the holds, and of the releases (013) that ended them, int64 (n,). Ads are
    compared in full where `exact`, bool (n,); of the others, turns of a loop of which there may be
    millions, only what the job requests is.
    """
    changes = np.flatnonzero((history.code == EventCode.ATTRIBUTE_UPDATE) & (history.job >= 0))
    changed: NDArray[np.bool_] = at(changes, preceding(history, changes, rows)) > hold_rows
    ads = history.table["attributes"]
    known = ads.is_not_null().to_numpy()
    asked = np.flatnonzero(~changed & known[hold_rows] & known[rows])
    before, after = ads.gather(hold_rows[asked]), ads.gather(rows[asked])
    differ = np.zeros(len(asked), np.bool_)
    full = exact[asked]
    pairs = zip(before.filter(pl.Series(full)), after.filter(pl.Series(full)), strict=True)
    differ[full] = [_differ(old, new) for old, new in pairs]
    short = pl.Series(~full)
    differ[~full] = (_requests(before.filter(short)) != _requests(after.filter(short))).to_numpy()
    changed[asked] = differ
    return changed


def _requests(ads: pl.Series) -> pl.Series:
    """What each ad requests, in one text whatever the order of its attributes."""
    return ads.str.extract_all(_REQUEST).list.sort().list.join("\n")
