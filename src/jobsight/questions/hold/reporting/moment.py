"""Which moment of a log shows most: many jobs held, whose outcomes the log records later.

A report for demonstration asks about such a moment; what came later is shown next to the answers,
and is never known to them.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.history.timelines import SECOND, Ints

__all__ = ["later_outcomes", "richest_moment"]


def richest_moment(decisions: pl.DataFrame, since: int) -> int | None:
    """The moment at which the fates of the jobs then held are most various.

    It is the whole second, not before `since`, at which ``min(successes, failures)`` among the jobs
    that are held, and whose next release has an outcome, is greatest; then the one with the most
    jobs; then the earliest.

    Args:
        decisions: `hold_decisions`, with its `hold_time`, `released` and `outcome`.
        since: µs since 1970, such as the start of the test part, so that no answer is about a job
            whose fate taught the model.

    Returns:
        µs since 1970; None where no job is held after `since` and released later.
    """
    known = decisions.filter(
        pl.col("outcome").is_not_null(), pl.col("released") > max(since, 0) + SECOND
    )
    if not len(known):
        return None
    held, released = known["hold_time"].to_numpy(), known["released"].to_numpy()
    success = known["outcome"].cast(pl.Boolean).to_numpy()
    # Only a hold makes the counts grow, so the best second begins just after one.
    moments = np.unique(np.maximum(-(-held // SECOND), -(-since // SECOND)) * SECOND)
    good = _standing(held[success], released[success], moments)
    bad = _standing(held[~success], released[~success], moments)
    if not (good + bad).max(initial=0):
        return None
    best = np.lexsort((moments, -(good + bad), -np.minimum(good, bad)))[0]
    return int(moments[best])


def _standing(held: Ints, released: Ints, moments: Ints) -> Ints:
    """How many are held at each moment: held at or before it, released after it."""
    begun = np.searchsorted(np.sort(held), moments, side="right")
    ended = np.searchsorted(np.sort(released), moments, side="right")
    standing: NDArray[np.int64] = (begun - ended).astype(np.int64)
    return standing


def later_outcomes(decisions: pl.DataFrame, moment: int) -> dict[tuple[str | None, str], bool]:
    """How the next release of each job held at `moment` (µs) ended, as the log records later.

    Args:
        decisions: `hold_decisions`.
        moment: µs since 1970.

    Returns:
        by access point and job id (``1231.11``): whether it succeeded; jobs without a known outcome
        are left out.
    """
    known = decisions.filter(
        pl.col("hold_time") <= moment,
        pl.col("released") > moment,
        pl.col("outcome").is_not_null(),
    )
    ids = known.select(pl.format("{}.{}", "cluster", "proc")).to_series()
    outcomes = known["outcome"].cast(pl.Boolean)
    return dict(zip(zip(known["access_point"], ids, strict=True), outcomes, strict=True))
