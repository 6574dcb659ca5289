"""How well can waits be predicted at all? Estimates from the waits themselves.

``python examples/wait_limit.py FILE`` reads what ``jobsight import`` reads, and prints for the last
fifth of the jobs how often a wait is within a factor of 2 and 3 of

- the wait of a twin: a job that the same user submitted within a minute, with the same request.
  No feature tells them apart but their order, so what they differ by is chance to a model.
- the median of the user's other requests in its partition that day, and that of the other users:
  what would be known of the queue if most of its future were.
"""

from __future__ import annotations

import sys

import numpy as np
import polars as pl

from jobsight.learning.reading import job_table
from jobsight.questions.start.question import outcomes_of
from jobsight.settings import Settings

MINUTE, DAY = 60_000_000, 86_400_000_000
REQUEST = ("partition", "request_cpus", "request_memory_mb", "request_gpus", "request_nodes",
           "time_limit_s")  # fmt: skip


def waits(path: str) -> pl.DataFrame:
    """The last fifth of the jobs that started; `request` is a number, `wait` ln(1 + seconds)."""
    jobs = job_table([path], Settings.load(), lambda _done, _total: None, hashed=False).jobs
    known = outcomes_of(jobs).filter(pl.col("wait").is_not_null())
    known = known.tail(len(known) // 5)
    return known.select(
        "submit", "decided", "partition", pl.col("wait").log1p(),
        user=pl.coalesce("owner", "account"),
        day=pl.col("decided") // DAY,
        request=pl.struct(REQUEST).rank("dense"),
    )  # fmt: skip


def of_twins(jobs: pl.DataFrame) -> pl.Series:
    """Differences of ln(1 + wait) between twins; those of one second come in random order."""
    jobs = jobs.sample(fraction=1.0, shuffle=True, seed=0).sort("submit", maintain_order=True)
    names = ("submit", "decided", "wait")
    twins = jobs.with_columns(pl.col(names).shift().over("user", "request").name.prefix("twin "))
    near = [
        (pl.col(name).to_physical() - pl.col(f"twin {name}").to_physical()).abs() <= MINUTE
        for name in names[:2]
    ]
    return twins.filter(*near).select(pl.col("wait") - pl.col("twin wait")).to_series()


def of_others(jobs: pl.DataFrame, within: tuple[str, ...], other: str) -> pl.Series:
    """Differences of ln(1 + wait) to the median of jobs alike but in one column."""
    found = [np.zeros(0)]
    for _, group in jobs.group_by(within):
        column, wait = group[other].to_numpy(), group["wait"].to_numpy()
        found += [
            wait[column == value] - np.median(wait[column != value])
            for value in np.unique(column)
            if (column != value).any()
        ]
    return pl.Series(np.concatenate(found))


def main(path: str) -> None:
    """Print each with the number of jobs that it is known of."""
    jobs = waits(path)
    for name, differences in (
        ("twin", of_twins(jobs)),
        ("own others that day", of_others(jobs, ("partition", "day", "user"), "request")),
        ("other users that day", of_others(jobs, ("partition", "day"), "user")),
    ):
        shares = [(differences.abs() <= np.log(factor)).sum() for factor in (2, 3)]
        two, three = (share / max(len(differences), 1) for share in shares)
        print(f"{name:<22}{len(differences):>7} of {len(jobs)} jobs {two:>7.1%} {three:>7.1%}")


if __name__ == "__main__":
    main(sys.argv[1])
