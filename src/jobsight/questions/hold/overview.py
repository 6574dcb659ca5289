"""The overview of a report on held jobs: why jobs are held, whose, and what it wasted."""

from __future__ import annotations

import numpy as np
import polars as pl

from jobsight.format import percent
from jobsight.history.labels import label_rows
from jobsight.history.timelines import History
from jobsight.questions.hold.examples.decisions import CAUSE, hold_decisions
from jobsight.questions.hold.settings import HoldSettings
from jobsight.reports.overview import MOST, Overview, Ranking, dates
from jobsight.text import counted, printable

__all__ = ["overview"]


def overview(history: History, settings: HoldSettings) -> Overview:
    """Holds by cause and by owner, with their releases and the runs that these wasted.

    Holds by a user's own hand do not count, nor what a second log records of the same job.
    """
    labels = label_rows(history)
    rows = np.flatnonzero(history.held & ~labels.by_hand & (history.job >= 0))
    rows = rows[labels.first[history.job[rows]] == history.job[rows]]
    places = pl.Series(rows).cast(pl.get_index_type())
    jobs = pl.Series(history.job[rows]).cast(pl.get_index_type())
    reasons = [history.table[name].gather(places) for name in ("hold_code", "hold_subcode")]
    holds = pl.DataFrame(
        [*reasons, labels.masked.gather(places).alias("masked"), history.jobs["owner"].gather(jobs)]
    ).with_columns(CAUSE.alias("cause"), job=jobs, time=pl.Series(history.clock[rows]))
    if not len(holds):
        return Overview("", ["No job was held by anything but its user."])
    releases = hold_decisions(history, settings, labels).table.with_columns(CAUSE.alias("cause"))
    failed = releases["outcome"].cast(pl.Boolean).not_().sum()
    held = holds["job"].n_unique()
    causes = _ranking(holds, releases, "cause")
    owners = _ranking(holds, releases, "owner")
    first = causes.rows[0]
    points = [
        f"{held:,} of {len(history.jobs):,} jobs ({percent(held / len(history.jobs))}) were held, "
        f"{counted(len(holds), 'time')} in all.",
        f"Of {counted(len(releases), 'release')} {failed:,} failed again, as many runs wasted.",
        f"The most frequent cause is {printable(first['cause'], 90)}: "
        f"{counted(first['holds'], 'hold')}, {first['when']}.",
    ]
    if owners.rows:
        most = owners.rows[0]
        points.append(
            f"Owner {printable(most['owner'], 40)} had most: {counted(most['holds'], 'hold')} of "
            f"{counted(most['jobs'], 'job')}, {counted(most['runs wasted'], 'run')} wasted."
        )
    return Overview("What holds jobs most", points, [causes, owners])


def _ranking(holds: pl.DataFrame, releases: pl.DataFrame, key: str) -> Ranking:
    """Holds by a column, the most frequent first."""
    released = releases.group_by(key).agg(
        released=pl.len(), wasted=pl.col("outcome").cast(pl.Boolean).not_().sum()
    )
    groups = (
        holds.drop_nulls(key)
        .group_by(key, maintain_order=True)
        .agg(
            holds=pl.len(), jobs=pl.col("job").n_unique(), first=pl.col("time").min(),
            last=pl.col("time").max(),
        )
        .join(released, on=key, how="left", maintain_order="left")
        .sort("holds", descending=True, maintain_order=True)
    )  # fmt: skip
    rows = [
        {
            key: group[key],
            "holds": group["holds"],
            "jobs": group["jobs"],
            "released": group["released"] or 0,
            "runs wasted": group["wasted"] or 0,
            "when": dates(group["first"], group["last"]),
        }
        for group in groups.head(MOST).iter_rows(named=True)
    ]
    forms = dict.fromkeys(("holds", "jobs", "released", "runs wasted"), "{:,}".format)
    return Ranking(f"Holds by {key}", rows, forms, len(groups) - len(rows))
