"""What a history shows of waits: where and whose jobs wait, why, since when."""

import polars as pl

from jobsight.documents import State
from jobsight.format import amount, moment, span
from jobsight.history.jobtable import JobTable
from jobsight.history.slurm.pendingreasons import awaited, last_reasons, refusal, stop
from jobsight.questions.start.question import StartSettings
from jobsight.reports.overview import Overview, ranking
from jobsight.text import counted, printable

__all__ = ["overview"]

_WAITS = [State.PENDING.value, State.HELD.value]
_HOURS = "hours waited"


def overview(jobs: JobTable, settings: StartSettings) -> Overview:
    """Why jobs wait still, and all waits by partition and by user (else account)."""
    last, seen = jobs.end(), pl.col("seen").to_physical()
    waits = pl.col("start").is_null() & pl.col("state").cast(pl.String).is_in(_WAITS)
    until = pl.coalesce(pl.col("start").to_physical(), pl.when(waits).then(last))
    table = jobs.table.with_columns(
        row=pl.int_range(pl.len()), time=seen, waits=waits, cost=(until - seen).clip(0) / 3.6e9
    )
    who, name = ("owner", "user") if table["owner"].count() else ("account", "account")
    hours, left = pl.col("cost").filter(pl.col("start").is_not_null()), pl.col("waits").sum()
    places, people = (
        ranking(
            table, "jobs", by, _HOURS,
            half_within=hours.median(), nine_of_ten_within=hours.quantile(0.9), wait_still=left,
        )
        for by in ({"partition": "partition"}, {who: name})
    )  # fmt: skip
    for row in (*places, *people):
        row |= {key: span(3600 * row[key]) for key in row if key.endswith("within") and row[key]}
    waiting = table.filter("waits").join(last_reasons(jobs), on="row", how="left")
    why = pl.col("reason").map_elements(_meaning, pl.String)
    reasons = ranking(waiting.with_columns(why=why), "jobs", {"why": "why"}, _HOURS)
    started = table.filter(pl.col("start").is_not_null())["cost"]
    half, most = (span(3600 * (started.quantile(share) or 0)) for share in (0.5, 0.9))
    worst = "".join(f", {name} {printable(row[name], 40)} most" for row in people[:1])
    points = [
        f"{len(started):,} of {counted(len(table), 'job')} started; half of these waited up to "
        f"{half}, nine of ten up to {most}.",
        f"All together waited {amount(float(table['cost'].sum()))} hours{worst}.",
    ]
    if len(waiting):
        points.append(f"{len(waiting):,} wait still at {moment(last)}.")
    points += [f"Of these, {r['jobs']:,} since {r['when'][:20]}: {r['why']}." for r in reasons[:1]]
    titles = ("Why jobs wait still", "Which partitions wait most", f"Which {name}s wait most")
    return Overview(points, dict(zip(titles, (reasons, places, people), strict=True)))


def _meaning(reason: str) -> str:
    """What the reason of a job that waits means."""
    if why := refusal(reason):
        return f"{why}; it never starts unless its request changes"
    if why := awaited(reason):
        return f"it waits for {why}"
    return stop(reason, "JOBID") or f"nothing is free for it ({printable(reason, 80)})"
