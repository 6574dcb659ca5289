"""What each of n decisions may see, in the forms that features ask with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.history.timelines import SECOND, History, Ints

__all__ = ["Views", "as_seen", "delayed", "span", "views_of"]

_MICRO = 1_000_000
_KEPT = ("log", "time", "source", "offset")


@dataclass(frozen=True)
class Views:
    """The cuts of n decisions.

    Attributes:
        job: int32 (n,), the held job.
        log: int32 (n,), the log that records it.
        hold_row: int64 (n,), the row of its hold, which each decision sees.
        moment: int64 (n,), µs: the decision's time.
        cuts: int64 (n, logs), first row of each log that is not seen (`History.cuts`).
        clean_cuts: int64 (n, logs), the same or earlier, with no hidden release before them.
        hold_starts: int64 (n, logs), first row of each log after the hold.
        before_hold: int64 (n, logs), cuts as of the hold itself: its row, and what was earlier.
    """

    job: NDArray[np.int32]
    log: NDArray[np.int32]
    hold_row: Ints
    moment: Ints
    cuts: Ints
    clean_cuts: Ints
    hold_starts: Ints
    before_hold: Ints

    def __len__(self) -> int:
        return len(self.moment)


def views_of(history: History, decisions: pl.DataFrame) -> Views:
    """The views of a table with the columns `job`, `log`, `hold_row`, `cut` and `time`."""
    log = decisions["log"].to_numpy()
    hold_row = decisions["hold_row"].to_numpy()
    moment = decisions["time"].to_numpy()
    cuts = history.cuts_many(log, decisions["cut"].to_numpy(), moment)
    held = history.clock[hold_row]
    return Views(
        job=decisions["job"].to_numpy(),
        log=log,
        hold_row=hold_row,
        moment=moment,
        cuts=cuts,
        clean_cuts=np.minimum(cuts, history.release_cuts_many(moment)),
        hold_starts=history.cuts_many(log, hold_row + 1, held + 1),
        before_hold=history.cuts_many(log, hold_row, held),
    )


def delayed(history: History, decisions: pl.DataFrame, seconds: float) -> pl.DataFrame:
    """The decisions as of `seconds` before their release, of the jobs that were held by then.

    `cut` and `time` move back: all rows of the own log at or after that moment are hidden, but the
    hold itself and what stands before it are seen. All other columns stay; a column `delay` (float,
    seconds) says how far the release, and so the outcome, lies ahead.
    """
    back = round(seconds * _MICRO)
    if not back:
        return decisions.with_columns(delay=pl.lit(0.0))
    early = decisions.filter(pl.col("time") - back >= pl.col("hold_time"))
    moment = early["time"].to_numpy() - back
    first_hidden = history.rows_at(early["log"].to_numpy(), moment)
    cut = np.maximum(first_hidden, early["hold_row"].to_numpy() + 1)
    # The release hides what follows it, however long before it the question is asked.
    cut = np.minimum(cut, early["cut"].to_numpy())
    return early.with_columns(
        time=pl.Series(moment), cut=pl.Series(cut), delay=pl.lit(float(seconds))
    )


def span(seconds: NDArray[np.float64], time_scale: float) -> NDArray[np.float64]:
    """``log(1 + span / time scale)``; a clock that stepped back gives 0, NaN stays."""
    scales: NDArray[np.float64] = np.log1p(np.maximum(seconds, 0.0) / time_scale)
    return scales


def as_seen(history: History, decision: pl.DataFrame) -> pl.DataFrame:
    """The event table as one decision sees it.

    Rows after the cut are gone. Of releases (013) of the decision's own second, and of the ads
    (028) after them, only time and place in the file remain: that some record stood there.

    Args:
        history: the whole history.
        decision: one row of a decision table.
    """
    log, cut, moment = (int(decision[name][0]) for name in ("log", "cut", "time"))
    own = history.log == log
    seen = np.where(own, np.arange(len(history)) < cut, history.clock < moment)
    table = history.table.with_columns(blank=_hidden(history, moment)).filter(seen)
    # Negative ids are those of records of no job.
    values = dict.fromkeys(("cluster", "proc", "subproc"), pl.lit(-1))
    values["code"] = pl.lit(EventCode.AD)
    return table.select(
        pl.when("blank").then(values.get(name, pl.lit(None))).otherwise(name).cast(kind).alias(name)
        if name not in _KEPT
        else pl.col(name)
        for name, kind in history.table.schema.items()
    )


def _hidden(history: History, moment: int) -> NDArray[np.bool_]:
    """The releases of the decision's own second, and the ads that stand right after them."""
    hidden: NDArray[np.bool_] = (history.code == EventCode.RELEASED) & (
        history.clock >= moment - moment % SECOND
    )
    its_ad = (history.code == EventCode.AD)[1:] & (history.job[1:] == history.job[:-1])
    # An 028 that records an ad by itself follows another record than its own.
    of_other = history.table["attributes"].is_not_null().to_numpy()
    hidden[1:] |= its_ad & hidden[:-1] & ~of_other[1:]
    return hidden
