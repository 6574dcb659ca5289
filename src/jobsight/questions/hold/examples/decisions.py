"""The decisions: every release of a job held by something other than its user's own hand.

One row per release (013), or, for a live question, one row per job that is held at a moment, named
by its id as users write it. What a row says of the past is known as of its cut; what it says of the
future (`kind`, `outcome`, …) and the strata `releaser` and `edited` are never features.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.documents.states import removed_by_policy
from jobsight.errors import UsageError
from jobsight.format import moment as shown
from jobsight.history import outcomes
from jobsight.history.counts import batch_numbers, factorize, preceding
from jobsight.history.labels import (
    RowLabels,
    after_hold,
    current_jobs,
    edited_releases,
    groups_of,
    held_rows,
    label_rows,
)
from jobsight.history.timelines import History, Ints
from jobsight.ids import JobId, JobName, parse_job_id
from jobsight.learning.question import Decisions
from jobsight.questions.hold.settings import HoldSettings
from jobsight.text import counted, printable

__all__ = ["CAUSE", "HeldHistory", "HeldName", "held_jobs", "held_name", "hold_decisions",
           "resolved_releases"]  # fmt: skip

CAUSE = pl.format(
    "{}/{} {}",
    pl.col("hold_code").fill_null(0),
    pl.col("hold_subcode").fill_null(0),
    pl.col("masked").fill_null(""),
)
"""The cause of a hold as text: its code, sub-code and masked reason."""


def hold_decisions(history: History, settings: HoldSettings, labels: RowLabels) -> Decisions:
    """Every release in `history` that is a decision, with its outcome under `settings`.

    The horizon is not applied: see `jobsight.history.outcomes.apply_horizon`. Left out are releases
    that are no decision: ``not held`` (the log shows no hold before them), ``code N`` (by the
    user's hand, and vacate codes), and ``recorded in another log`` of the same job.

    Returns:
        a table with one row per decision, ordered by `time`, then `log` and `row`. As of the cut:
        `job`, `log`, `access_point`, `cluster`, `proc`, `hold_row`, `hold_time`, `hold_code`,
        `hold_subcode`, `reason`, `masked`, `owner`, `site`; `row` is the 013 (null for a live
        question), `cut` the first row of its own log that the decision does not see, `time` the
        moment. Strata: `releaser`, `edited`. Outcome, before any horizon: `released`, `kind`,
        `outcome`, `censored`, `resolved_row`, `resolved_time`. Grouping: `batch`, `repeat` (which
        release of this job and cause, from 1), `kept`, `weight`, `group`. Times are int64 µs since
        1970, on the log's clock.
    """
    resolved, left_out = resolved_releases(history, settings, labels)
    rows, hold_rows = resolved["row"].to_numpy(), resolved["hold_row"].to_numpy()
    if settings.as_of == "hold":
        cuts, moments = after_hold(history, hold_rows), history.clock[hold_rows]
    else:
        cuts, moments = rows, history.clock[rows]
    group = groups_of(history).gather(history.job[rows])
    # Who released, from the 013's own words.
    words = history.table["reason"].gather(rows).to_frame("words")
    policy = r"(?i)periodic_?release|\bexpression\b.*\bevaluated to\b"
    who = outcomes.attributed_to(pl.col("words"), policy=policy, dag=r"\bDAG\b|(?i:dagman)")
    resumed = pl.Series(history.resumed[rows])
    releaser = words.select(
        releaser=pl.when(resumed).then(pl.lit("system")).otherwise(who.fill_null("unknown"))
    )
    table = _described(history, labels, hold_rows, cuts, moments)
    table = pl.concat(
        [table, resolved.drop("hold_row"), group.to_frame(), releaser], how="horizontal"
    )
    weight = pl.when("kept").then(1.0 / pl.col("kept").sum().over("batch"))
    table = table.with_columns(weight=weight).sort("time", "log", "row")
    releases, holds = len(table) + sum(left_out.values()), history.code == EventCode.HELD
    others = ", ".join(f"{count} {why}" for why, count in left_out.items())
    return Decisions(
        table,
        int(history.clock.min(initial=np.iinfo(np.int64).max)),
        int(history.clock.max(initial=0)),
        left_out,
        {"events": len(history), "jobs": len(history.jobs), "releases": releases},
        f"nothing to learn from: {len(history)} events with {holds.sum()} holds and {releases} "
        "releases, of which none is of a job held by anything but its user"
        + (f" ({others})" if others else "")
        + "; give logs in which held jobs were released",
    )


def resolved_releases(
    history: History, settings: HoldSettings, labels: RowLabels
) -> tuple[pl.DataFrame, dict[str, int]]:
    """The releases that are decisions, and what became of them.

    Returns:
        of the columns of `hold_decisions` `hold_row`, `batch`, `repeat`, `kept`, `edited`, `row`,
        `released` and what the outcome follows from, in its order; and what was left out.
    """
    released = (history.code == EventCode.RELEASED) & (history.job >= 0)
    rows = np.flatnonzero(released | history.resumed)
    # The last row of the job before its release that shows whether it was held.
    life = np.flatnonzero(history.life)
    before = np.append(life, -1)[preceding(history, life, rows)]
    held = (before >= 0) & (history.held | history.vacated)[before]
    again = held & (labels.first[history.job[rows]] != history.job[rows])
    mine = held & ~again & ~labels.by_hand[before]
    left_out = {"not held": int((~held).sum()), "recorded in another log": int(again.sum())}
    codes = history.table["hold_code"].gather(before[held & ~again & ~mine])
    for code, count in codes.value_counts().sort("hold_code").iter_rows():
        left_out[f"code {'unknown' if code is None else code}"] = int(count)
    left_out = {why: count for why, count in left_out.items() if count}
    rows, hold_rows = rows[mine], before[mine]
    family = factorize(history.clusters[history.job[rows]], labels.cause[hold_rows])
    batch = batch_numbers(family, history.clock[rows], round(settings.batch_seconds * 1e6))
    # Releases 1–5, 10, 20, 40, …: a loop of releases teaches little after its first turns.
    turn = pl.col("repeat")
    doubled = (turn % 10 == 0) & ((turn // 10).bitwise_count_ones() == 1)
    turns = (
        pl.DataFrame({"job": history.job[rows], "cause": labels.cause[hold_rows]})
        .select(repeat=pl.int_range(1, pl.len() + 1).over("job", "cause"))
        .with_columns(kept=(turn <= 5) | doubled)
    )
    edited = edited_releases(history, hold_rows, rows, exact=turns["kept"].to_numpy())
    resolved = outcomes.judge(
        outcomes.resolve(history, rows),
        success=settings.success,
        removed_by_user=settings.removed_by_user,
    )
    of_hold = pl.DataFrame({"hold_row": hold_rows, "edited": edited, "batch": batch})
    return pl.concat([of_hold, turns, resolved], how="horizontal"), left_out


def held_jobs(
    history: History, moment: int, labels: RowLabels, jobs: NDArray[np.integer] | None = None
) -> pl.DataFrame:
    """The jobs that are held at `moment` (µs), everything up to and at it being known.

    Args:
        history: the indexed log.
        moment: µs since 1970; rows at it are seen.
        labels: of its rows.
        jobs: only these job numbers; all if None.

    Returns:
        the columns of `hold_decisions` that are known as of a cut; `row` is null. Jobs held by
        their user's hand are among them: the caller says so to the user.
    """
    rows, cuts = held_rows(history, moment, jobs)
    moments = np.full(len(rows), moment + 1)
    table = _described(history, labels, rows, cuts, moments)
    return table.hstack([pl.Series("row", [None] * len(rows), dtype=pl.Int64)])


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
        pl.Series(numbers).cast(pl.get_index_type())
        for numbers in (history.job[hold_rows], hold_rows)
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
    at = shown(moment)
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
    problem = f"job {name} is not held as of {at}"
    rows = history.rows_of(job)
    rows = rows[history.clock[rows] <= moment]
    recorded = rows[np.isin(history.code[rows], list(_STATES))]
    if not len(recorded):
        return f"{problem}: the log does not say its state"
    last = int(recorded[-1])
    code, reason = int(history.code[last]), history.table["reason"][last]
    by_policy = code == EventCode.ABORTED and removed_by_policy(reason)
    what = "a policy removed it at" if by_policy else _STATES[code]
    why = f" ({printable(reason, 80)})" if reason and code in (9, 13) else ""
    return f"{problem}: {what} {shown(int(history.clock[last]))}{why}"
