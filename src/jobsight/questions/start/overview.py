"""The overview of a report on starts: where and whose jobs wait, why, since when."""

from __future__ import annotations

import polars as pl

from jobsight.documents import State
from jobsight.format import amount, moment, span
from jobsight.history.jobtable import JobTable
from jobsight.history.slurm.pendingreasons import awaited, last_reasons, refusal, stop
from jobsight.reports.overview import MOST, Overview, Ranking
from jobsight.text import counted, printable

__all__ = ["overview"]

_WAITS = [State.PENDING.value, State.HELD.value]


def overview(jobs: JobTable) -> Overview:
    """Waits by partition and by user (else account), and why jobs wait still."""
    last, began = jobs.end(), pl.col("start").to_physical()
    seen, state = pl.col("seen").to_physical(), pl.col("state").cast(pl.String)
    waiting = pl.col("start").is_null() & state.is_in(_WAITS)
    table = jobs.table.with_row_index("row").with_columns(
        pl.col("row").cast(pl.Int64), seen=seen, waiting=waiting, wait=(began - seen).clip(0) / 1e6
    )
    table = table.with_columns(
        so_far=pl.col("wait").fill_null(pl.when("waiting").then((last - pl.col("seen")) / 1e6))
    )
    waits, left = table["wait"].drop_nulls(), table.filter("waiting")
    who = "owner" if table["owner"].count() else "account"
    name = "user" if who == "owner" else who
    places, people = _ranking(table, "partition", "partition"), _ranking(table, who, name)
    reasons = _reasons(left.join(last_reasons(jobs), on="row"))
    half, most = ("never" if at is None else f"within {span(at)}"
                  for at in (waits.median(), waits.quantile(0.9)))  # fmt: skip
    worst = f", {name} {printable(people.rows[0][name], 40)} most" if people.rows else ""
    points = [
        f"{len(waits):,} of {counted(len(table), 'job')} started: half of them {half}, nine of ten "
        f"{most}.",
        f"All jobs together waited {amount(table['so_far'].sum() / 3600)} hours{worst}.",
    ]
    if len(left):
        why = (
            f"; {reasons.rows[0]['jobs']:,} because {reasons.rows[0]['why']}"
            if reasons.rows
            else ""
        )
        points.append(
            f"{len(left):,} wait still at {moment(last)}, the first since "
            f"{moment(left['seen'].min())}{why}."  # type: ignore[arg-type]
        )
    return Overview("What waits most", points, [reasons, places, people])


def _ranking(jobs: pl.DataFrame, key: str, name: str) -> Ranking:
    """Waits by a column, those that waited longest together first."""
    groups = (
        jobs.drop_nulls(key)
        .group_by(key, maintain_order=True)
        .agg(
            pl.len().alias("jobs"),
            pl.col("wait").median().alias("half within"),
            pl.col("wait").quantile(0.9).alias("nine of ten within"),
            (pl.col("so_far").sum() / 3600).alias("hours waited"),
            pl.col("waiting").sum().alias("wait still"),
            pl.col("seen").filter("waiting").min().alias("since"),
        )
        .rename({key: name})
        .sort("hours waited", "jobs", descending=True, maintain_order=True)
    )
    rows = groups.with_columns(pl.col("since").map_elements(moment, pl.String)).head(MOST)
    if not groups["wait still"].sum():
        rows = rows.drop("wait still", "since")
    forms = {
        "jobs": "{:,}".format, "half within": span, "nine of ten within": span,
        "hours waited": amount, "wait still": "{:,}".format,
    }  # fmt: skip
    return Ranking(f"Waits by {name}", rows.to_dicts(), forms, len(groups) - len(rows))


def _reasons(waiting: pl.DataFrame) -> Ranking:
    """Why jobs wait still, as the scheduler reported last, and what to do."""
    groups = (
        waiting.group_by("reason", maintain_order=True)
        .agg(jobs=pl.len(), users=pl.col("owner").n_unique(), since=pl.col("seen").min())
        .sort("jobs", descending=True, maintain_order=True)
    )
    rows = []
    for group in groups.head(MOST).iter_rows(named=True):
        reason = group["reason"]
        if why := refusal(reason):
            action = "never starts so: cancel it, and submit it with another request"
        elif why := stop(reason):
            action = "starts only after a person acts, or a node returns"
        elif why := awaited(reason):
            why, action = f"it waits for {why}", "wait, or ask whether the limit is meant"
        else:
            why, action = f"nothing is free for it ({reason})", "wait, or ask for less"
        since = moment(group["since"])
        rows.append({"why": why, "jobs": group["jobs"], "since": since, "what to do": action})
    forms = {"jobs": "{:,}".format}
    return Ranking("Why jobs wait still", rows, forms, len(groups) - len(rows))
