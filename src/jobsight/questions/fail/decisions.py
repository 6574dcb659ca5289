"""The jobs of a table as decisions, with what became of them."""

from __future__ import annotations

import polars as pl

from jobsight.documents import State
from jobsight.history.jobsasked import jobs_asked
from jobsight.history.jobtable import JobTable
from jobsight.history.past import FAILURES
from jobsight.questions.fail.settings import FailSettings

__all__ = ["KINDS", "outcomes_of"]

KINDS = tuple(state.value for state in FAILURES)
"""Ways to fail."""


def outcomes_of(jobs: JobTable, settings: FailSettings) -> pl.DataFrame:
    """`jobs_asked` with the outcomes: `fails`, `kinds`, `known_at` (µs), `censored`, `core_hours`.

    `core_hours` is what the job used from its first start until its end: the CPUs that it asked for
    times hours; null where one of them is not known.

    A job that is held at its first start by something other than its user's own hand has failed
    then, whatever becomes of it later. A job whose end is not a failure of its own (cancelled,
    preempted, of unknown end) or that has not ended has no outcome.
    """
    failed = [*KINDS, *([State.CANCELLED.value] if settings.cancelled == "failure" else [])]
    completed = State.COMPLETED.value
    hours = (jobs.table["end"] - jobs.table["start"]).dt.total_seconds() / 3600.0
    table = jobs_asked(jobs).with_columns(
        state=jobs.table["state"].cast(pl.String),
        known_at=jobs.table["reported"].to_physical(),
        core_hours=pl.col("request_cpus") * hours.clip(0.0),
    )
    holds = jobs.states().filter("fails")
    table = table.update(
        holds.select("row", state=pl.lit(State.HELD.value), known_at=pl.col("known").to_physical()),
        on="row",
    )
    known = pl.col("known_at").is_not_null() & pl.col("state").is_in([completed, *failed])
    ended = pl.col("state").is_in([one.value for one in State if one.ended])
    return table.with_columns(
        fails=pl.when(known).then(pl.col("state") != completed),
        kinds=pl.when(known & pl.col("state").is_in(KINDS)).then("state"),
        known_at=pl.when(known).then("known_at"),
        censored=pl.when(~known).then(pl.when(ended).then("state").otherwise(pl.lit("not_ended"))),
        kept=True,
        teaches=True,
    ).sort("decided", "row")
