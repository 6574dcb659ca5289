"""The overview of a report on failures: what failed, of whom, what it cost, what to do."""

from __future__ import annotations

import polars as pl

from jobsight.documents import State
from jobsight.format import amount, percent
from jobsight.history.jobtable import JobTable
from jobsight.questions.fail.question import FAIL, FailSettings, outcomes_of
from jobsight.reports.overview import MOST, Overview, Ranking, dates
from jobsight.text import counted, printable

__all__ = ["overview"]

_ACTIONS = {
    State.FAILED.value: "see why: `jobsight job {}`",
    State.TIMEOUT.value: "more time, less work, or saved progress: `jobsight job {}`",
    State.OUT_OF_MEMORY.value: "more memory, or less use: `jobsight job {}`",
    State.NODE_FAIL.value: "check the node, submit again: `jobsight job {}`",
    State.HELD.value: "release, fix or remove: `jobsight hold {}`",
    State.CANCELLED.value: "ask why: `jobsight job {}`",
}
_FAILED, _HOURS, _HOW = "failed", "core-hours lost", "most lost as"


def overview(jobs: JobTable, settings: FailSettings) -> Overview:
    """Failed jobs by what happened, by user (else account), and by partition."""
    ended = outcomes_of(jobs, settings).filter(pl.col("fails").is_not_null())
    failed = ended.filter("fails")
    if not len(failed):
        return Overview("", [f"None of {counted(len(ended), 'job')} with a known outcome failed."])
    who = "owner" if ended["owner"].count() else "account"
    name = "user" if who == "owner" else who
    ways, people = _ranking(ended, "state", "what happened"), _ranking(ended, who, name)
    rankings = [ways, people]
    if ended["partition"].n_unique() > 1:
        rankings.append(_ranking(ended, "partition", "partition"))
    listed = ", ".join(f"{way[_FAILED]:,} {way['what happened']}" for way in ways.rows)
    share, lost, total = len(failed) / len(ended), 0.0, ended["core_hours"].sum()
    points = [
        f"Of {counted(len(ended), 'job')} with a known outcome {len(failed):,} failed "
        f"({percent(share)}): {listed}."
    ]
    if total:
        lost = failed["core_hours"].sum()
        points.append(
            f"They cost {amount(lost)} of {amount(total)} core-hours ({percent(lost / total)})."
        )
    if people.rows:
        most = people.rows[0]
        hours = "" if most[_HOURS] is None else f" and {amount(most[_HOURS])} core-hours"
        points.append(
            f"{name.capitalize()} {printable(most[name], 40)} lost most: {most[_FAILED]:,} of "
            f"{counted(most['jobs'], 'job')}{hours}, {most['when']}; most of it {most[_HOW]}."
        )
    return Overview("What fails most", points, rankings)


def _ranking(jobs: pl.DataFrame, key: str, name: str) -> Ranking:
    """Failed jobs by a column, those that cost most first; each with the way that cost most."""
    hours, of_ways = pl.col("core_hours"), key == "state"
    costs = {"hours": pl.when(hours.count() > 0).then(hours.sum()), "failed": pl.len()}
    worst_first = {"descending": True, "nulls_last": True, "maintain_order": True}
    failed = jobs.filter("fails").drop_nulls(key).with_columns(way="state")
    ways = (
        failed.group_by(key, "way", maintain_order=True)
        .agg(**costs, job=pl.col("job").last())
        .sort("hours", "failed", **worst_first)
        .unique(key, keep="first", maintain_order=True)
    )
    known = pl.col("known_at")
    groups = (
        failed.group_by(key, maintain_order=True)
        .agg(**costs, first=known.min(), last=known.max())
        .join(jobs.group_by(key).agg(jobs=pl.len()), on=key)
        .join(ways.select(key, "way", "job"), on=key)
        .sort("hours", "failed", **worst_first)
    )
    rows = []
    for group in groups.head(MOST).iter_rows(named=True):
        way = FAIL.titles.get(group["way"], group["way"])
        of_all = {} if of_ways else {"jobs": group["jobs"]}
        share = {} if of_ways else {"share": group["failed"] / group["jobs"]}
        rows.append({
            name: way if of_ways else group[key], **of_all, _FAILED: group["failed"], **share,
            _HOURS: group["hours"], **({} if of_ways else {_HOW: way}),
            "when": dates(group["first"], group["last"]),
            "what to do": _ACTIONS[group["way"]].format(group["job"]),
        })  # fmt: skip
    forms = {"jobs": "{:,}".format, _FAILED: "{:,}".format, "share": percent, _HOURS: amount}
    return Ranking(f"Failed jobs by {name}", rows, forms, len(groups) - len(rows))
