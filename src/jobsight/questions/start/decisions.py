"""The jobs of a table as decisions of `start`: how long each went on to wait, and ran.

The decision is the submission; where the data show how the queue looked to a job later on, it is
the first such sighting, and the wait is what was left of it. Who had waited how long by then is
known. At the moment ``pending`` the job has waited on, for a span drawn by chance.
"""

from __future__ import annotations

import hashlib
from math import exp, log

import polars as pl

from jobsight.documents import State
from jobsight.history.jobsasked import jobs_asked
from jobsight.history.jobtable import JobTable

__all__ = ["MOMENTS", "at_moment", "outcomes_of", "starts_asked", "with_ages",
           "without_ages"]  # fmt: skip

MOMENTS = ("submission", "pending")
_RAN = [state.value for state in (State.COMPLETED, State.FAILED, State.OUT_OF_MEMORY)]
_CUT = [State.TIMEOUT.value, State.DEADLINE.value]
_ENDS = [state.value for state in State if state.ended]
_SHORTEST, _LONGEST = 60.0, 3 * 86_400.0
"""Seconds: how much longer a job has waited at the moment ``pending``, log-uniform."""


def starts_asked(jobs: JobTable, seed: int = 0) -> pl.DataFrame:
    """`jobs_asked`, decided at the first sighting, with `age` (µs) of the moment ``pending``.

    `shown` lists the names of the numbers in the first sighting, as JSON has them.
    """
    return with_ages(without_ages(jobs), seed)


def without_ages(jobs: JobTable) -> pl.DataFrame:
    """`starts_asked` before each `age` is drawn, which takes seconds for a million jobs."""
    sighted = (
        jobs.changes.filter(pl.any_horizontal(pl.col("reason", "ad").is_not_null()))
        .group_by("row")
        .agg(
            sighted=pl.col("known").min().to_physical(),
            shown=pl.col("ad").drop_nulls().first().str.extract_all(r'"\w+":'),
        )
    )
    rows = jobs_asked(jobs).join(sighted, on="row", how="left", maintain_order="left")
    return rows.with_columns(
        decided=pl.max_horizontal("decided", "sighted"), age=pl.lit(None, pl.Int64)
    )


def with_ages(rows: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Rows of `without_ages` with their ages."""
    ages = [_age(seed, job) for job in rows["id"]]
    return rows.with_columns(age=pl.Series(ages, dtype=pl.Int64))


def _age(seed: int, job: str) -> int:
    digest = hashlib.blake2b(f"{seed} {job}".encode(), digest_size=8).digest()
    share = int.from_bytes(digest) / 2**64
    return int(1e6 * exp(log(_SHORTEST) + share * log(_LONGEST / _SHORTEST)))


def outcomes_of(jobs: JobTable, seed: int = 0) -> pl.DataFrame:
    """`starts_asked` with the outcomes: `wait` and `runtime` (s), and when they were known.

    A wait is known from the first start on (`known_at`, µs), a runtime from the end of the last run
    (`known_at runtime`). Of a job that was cancelled while it waited, or waits still, the wait is
    at least what it was (`waits_until`, µs). A run that reached its limit would have taken longer:
    its time teaches what a limit leaves of a runtime, and judges nothing (`bound runtime`). Runs
    that people, other jobs or nodes ended have no runtime.
    """
    table, last = jobs.table, jobs.end()
    rows = starts_asked(jobs, seed).with_columns(
        state=table["state"].cast(pl.String),
        began=table["last_start"].to_physical(),
        ended=table["end"].to_physical(),
        reported=table["reported"].to_physical(),
        first=table["start"].to_physical(),
    )
    state, started = pl.col("state"), pl.col("first").is_not_null()
    ran = started & pl.col("ended").is_not_null() & state.is_in([*_RAN, *_CUT])
    waiting = pl.when(state.is_in(_ENDS)).then(pl.lit("cancelled")).otherwise(pl.lit("pending"))
    unknown = pl.when(~started).then(pl.lit("never_started")).when(state.is_in(_ENDS)).then(state)
    return rows.with_columns(
        wait=pl.when(started).then((pl.col("first") - pl.col("decided")).clip(0) / 1e6),
        known_at="first",
        censored=pl.when(~started).then(waiting),
        waits_until=pl.coalesce("first", "ended", pl.lit(last)),
        **{
            "runtime": pl.when(ran).then((pl.col("ended") - pl.col("began")).clip(0) / 1e6),
            "known_at runtime": pl.when(ran).then("reported"),
            "bound runtime": ran & state.is_in(_CUT),
            "censored runtime": pl.when(~ran | state.is_in(_CUT)).then(
                unknown.otherwise(pl.lit("running"))
            ),
        },
        kept=True,
        teaches=True,
    ).sort("decided", "row")


def at_moment(rows: pl.DataFrame, moment: str) -> pl.DataFrame:
    """The jobs that still waited at a moment, with `decided` (µs) and `wait` (s) as of it."""
    if moment == MOMENTS[0]:
        return rows
    later = rows.with_columns(decided=pl.col("decided") + pl.col("age"))
    later = later.filter(pl.col("waits_until") > pl.col("decided"))
    return later.with_columns(pl.col("wait") - pl.col("age") / 1e6)
