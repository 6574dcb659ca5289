"""The decisions: every release of a job held by something other than its user's own hand.

One row a release (013), or, for a live question, one row a job that is held at a moment. What a row
says of the past is known as of its cut; what it says of the future (`kind`, `outcome`, …) and the
strata `releaser` and `edited` are never features.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.history import outcomes
from jobsight.history.counts import factorize
from jobsight.history.labels import RowLabels, label_rows
from jobsight.history.timelines import History, Ints
from jobsight.history.twins import first_recorded
from jobsight.history.whereabouts import preceding
from jobsight.learning.question import Decisions
from jobsight.questions.hold.examples.edits import edited_releases, kept_turns
from jobsight.questions.hold.settings import HoldSettings

__all__ = ["LIFE", "held_jobs", "held_rows", "hold_decisions",
           "settled_releases"]  # fmt: skip

LIFE = tuple(map(int, (EventCode.SUBMIT, EventCode.EXECUTE, EventCode.TERMINATED,
                       EventCode.ABORTED, EventCode.HELD, EventCode.RELEASED)))  # fmt: skip
"""The last of these, or a row of `History.held`, shows whether a job is held."""


def hold_decisions(
    history: History, settings: HoldSettings, labels: RowLabels | None = None
) -> Decisions:
    """Every release in `history` that is a decision, with its outcome under `settings`.

    The horizon is not applied: see `jobsight.history.outcomes.apply_horizon`. Left out are releases
    that are no decision: ``not held`` (the log shows no hold before them), ``code N`` (by the
    user's hand, and vacate codes), and ``recorded in another log`` of the same job.

    Returns:
        a table with one row a decision, ordered by `time`, then `log` and `row`. As of the cut:
        `job`, `log`, `access_point`, `cluster`, `proc`, `hold_row`, `hold_time`, `hold_code`,
        `hold_subcode`, `reason`, `masked`, `owner`, `site`; `row` is the 013 (null for a live
        question), `cut` the first row of its own log that the decision does not see, `time` the
        moment. Strata: `releaser`, `edited`. Outcome, before any horizon: `released`, `kind`,
        `outcome`, `censored`, `resolved_row`, `resolved_time`. Grouping: `batch`, `repeat` (which
        release of this job and cause, from 1), `kept`, `weight`, `group`. Times are int64 µs since
        1970, on the log's clock.
    """
    labels = labels or label_rows(history)
    settled, left_out = settled_releases(history, settings, labels)
    rows, hold_rows = settled["row"].to_numpy(), settled["hold_row"].to_numpy()
    if settings.as_of == "hold":
        cuts, moments = _after_hold(history, hold_rows), history.clock[hold_rows]
    else:
        cuts, moments = rows, history.clock[rows]
    table = _described(history, labels, hold_rows, cuts, moments)
    words = history.table["reason"].gather(rows).to_frame("words")
    table = pl.concat([table, settled.drop("hold_row")], how="horizontal").with_columns(
        _groups(history).gather(history.job[rows]),
        words.select(_releaser(pl.col("words")).alias("releaser")).to_series(),
    )
    weight = pl.when("kept").then(1.0 / pl.col("kept").sum().over("batch"))
    table = table.with_columns(weight=weight).sort("time", "log", "row")
    releases = len(table) + sum(left_out.values())
    return Decisions(
        table,
        int(history.clock.min(initial=np.iinfo(np.int64).max)),
        int(history.clock.max(initial=0)),
        left_out,
        {"events": len(history), "jobs": len(history.jobs), "releases": releases},
        _nothing_released(history, releases, left_out),
    )


def _nothing_released(history: History, releases: int, left_out: Mapping[str, int]) -> str:
    holds = int((history.code == EventCode.HELD).sum())
    others = ", ".join(f"{count} {why}" for why, count in left_out.items())
    return (
        f"nothing to learn from: {len(history)} events with {holds} holds and {releases} releases, "
        "of which none is of a job held by anything but its user"
        + (f" ({others})" if others else "")
        + "; give logs in which held jobs were released"
    )


def settled_releases(
    history: History, settings: HoldSettings, labels: RowLabels
) -> tuple[pl.DataFrame, dict[str, int]]:
    """The releases that are decisions, and what became of them.

    Returns:
        of the columns of `hold_decisions` `hold_row`, `batch`, `repeat`, `kept`, `edited`, `row`,
        `released` and what the outcome follows from, in its order; and what was left out.
    """
    rows = np.flatnonzero((history.code == EventCode.RELEASED) & (history.job >= 0))
    life = _last_of_life_before(history, rows)
    held = (life >= 0) & history.held[life]
    first = first_recorded(history)
    again = held & (first[history.job[rows]] != history.job[rows])
    mine = held & ~again & ~_by_hand(history)[life]
    left_out = {"not held": int((~held).sum()), "recorded in another log": int(again.sum())}
    left_out |= _by_code(history, life[held & ~again & ~mine])
    left_out = {why: count for why, count in left_out.items() if count}
    rows, hold_rows = rows[mine], life[mine]
    turns = (
        pl.DataFrame({"job": history.job[rows], "cause": labels.cause[hold_rows]})
        .select(repeat=pl.int_range(1, pl.len() + 1).over("job", "cause"))
        .with_columns(kept=kept_turns(pl.col("repeat")))
    )
    edited = edited_releases(history, hold_rows, rows, exact=turns["kept"].to_numpy())
    settled = outcomes.judge(
        outcomes.resolve(history, rows),
        success=settings.success,
        removed_by_user=settings.removed_by_user,
    )
    family = factorize(history.clusters[history.job[rows]], labels.cause[hold_rows])
    batch = _batches(family, history.clock[rows], round(settings.batch_seconds * 1e6))
    of_hold = pl.DataFrame({"hold_row": hold_rows, "edited": edited, "batch": batch})
    return pl.concat([of_hold, turns, settled], how="horizontal"), left_out


def held_jobs(
    history: History,
    moment: int,
    labels: RowLabels | None = None,
    jobs: NDArray[np.integer] | None = None,
) -> pl.DataFrame:
    """The jobs that are held at `moment` (µs), everything up to and at it being known.

    Args:
        history: the indexed log.
        moment: µs since 1970; rows at it are seen.
        labels: of `history`, if at hand.
        jobs: only these job numbers; all if None.

    Returns:
        the columns of `hold_decisions` that are known as of a cut; `row` is null. Jobs held by
        their user's hand are among them: the caller says so to the user.
    """
    rows, cuts = held_rows(history, moment, jobs)
    moments = np.full(len(rows), moment + 1)
    table = _described(history, labels or label_rows(history), rows, cuts, moments)
    return table.hstack([pl.Series("row", [None] * len(rows), dtype=pl.Int64)])


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


def _by_hand(history: History) -> NDArray[np.bool_]:
    column = history.table.select(outcomes.held_by_hand()).to_series()
    return column.to_numpy()


def _by_code(history: History, hold_rows: Ints) -> dict[str, int]:
    codes = history.table["hold_code"].gather(hold_rows)
    return {
        f"code {'unknown' if code is None else code}": int(count)
        for code, count in codes.value_counts().sort("hold_code").iter_rows()
    }


def _last_of_life_before(history: History, rows: Ints) -> Ints:
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


def _after_hold(history: History, hold_rows: Ints) -> Ints:
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


def _described(
    history: History, labels: RowLabels, hold_rows: Ints, cuts: Ints, moments: Ints
) -> pl.DataFrame:
    """What is known of n decisions as of their cuts: see `hold_decisions`.

    Args:
        history: the indexed log.
        labels: of its rows.
        hold_rows: int64 (n,), the holds.
        cuts: int64 (n,), the first row of its own log that each does not see.
        moments: int64 (n,), µs.
    """
    # Whole columns, of which rows are picked once: each expression costs as much as many rows.
    reasons = [history.table[name] for name in ("hold_code", "hold_subcode", "reason")]
    reasons += [labels.masked.alias("masked"), labels.site.alias("site")]
    jobs, held = (
        pl.Series(one).cast(pl.get_index_type()) for one in (history.job[hold_rows], hold_rows)
    )
    ids = {name: history.jobs[name][jobs] for name in ("access_point", "cluster", "proc")}
    # NaN, which no cut is behind, where no owner is recorded.
    known = history.jobs["owner_row"][jobs].to_numpy() < cuts
    return pl.DataFrame(
        {
            "job": history.job[hold_rows],
            "log": history.log[hold_rows],
            **ids,
            "owner": history.jobs["owner"][jobs].set(pl.Series(~known), None),
            "hold_row": hold_rows,
            "hold_time": history.clock[hold_rows],
            "cut": cuts,
            "time": moments,
            **{column.name: column[held] for column in reasons},
        }
    )


def _groups(history: History) -> pl.Series:
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


def _batches(family: Ints, time: Ints, span: int) -> Ints:
    """Number the batches: members of one family within `span` of the first: int64 (n,)."""
    by_time = np.argsort(time, kind="stable")
    order = by_time[np.argsort(family[by_time], kind="stable")]
    # Of each member, the place of the first that would be of the next batch: as ranks of times,
    # since families times microseconds are no whole numbers of 64 bits.
    times, rank = np.unique(time, return_inverse=True)
    late = np.searchsorted(times, time + span, side="right")
    places = family[order] * (len(times) + 1) + rank[order]
    following = np.searchsorted(places, family[order] * (len(times) + 1) + late[order]).tolist()
    first, place = np.zeros(len(time), np.bool_), 0
    while place < len(time):
        first[place] = True
        place = following[place]
    begun = np.empty(len(time), np.int64)
    begun[by_time] = np.arange(len(time))
    # Batches are numbered in the order in which they begin.
    number = np.argsort(np.argsort(begun[order[first]]))
    batch = np.empty(len(time), np.int64)
    batch[order] = number[np.cumsum(first) - 1]
    return batch


def _releaser(reason: pl.Expr) -> pl.Expr:
    """Who released, from the 013's own words."""
    policy = r"(?i)periodic_?release|\bexpression\b.*\bevaluated to\b"
    who = outcomes.attributed_to(reason, policy=policy, dag=r"\bDAG\b|(?i:dagman)")
    return who.fill_null("unknown")
