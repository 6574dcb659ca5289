"""The event history as one decision sees it, and its inputs built from that alone."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.history.labels import RowLabels, label_rows
from jobsight.history.timelines import SECOND, History
from jobsight.models.base import Inputs
from jobsight.questions.hold.examples.builder import ExampleBuilder
from jobsight.questions.hold.examples.decisions import held_jobs
from jobsight.questions.hold.examples.scale import Scale
from jobsight.questions.hold.settings import HoldSettings

__all__ = ["as_seen", "built_again"]

_KEPT = ("log", "time", "source", "offset")


def built_again(
    history: History, row: pl.DataFrame, scale: Scale, settings: HoldSettings, delay: float
) -> Inputs | None:
    """Inputs of one decision from the event table cut off at it; None: its job is not held there.

    Args:
        history: the whole history.
        row: of the table that `ExampleBuilder.build` gives with that delay.
        scale: as learned.
        settings: of the question.
        delay: seconds before the release.
    """
    again = History.from_table(as_seen(history, row))
    labels = label_rows(again)
    found = _found_again(again, labels, row)
    if not len(found):
        return None
    return ExampleBuilder(again, settings, scale, labels=labels).inputs(found, delay)


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


def _found_again(again: History, labels: RowLabels, decision: pl.DataFrame) -> pl.DataFrame:
    """The decision as the cut logs record it: one row, none if its job is not held there."""
    log, moment = int(decision["log"][0]), int(decision["time"][0])
    mine = pl.all_horizontal(
        pl.col(name).eq_missing(pl.lit(decision[name][0], decision.schema[name]))
        for name in ("log", "access_point", "cluster", "proc")
    )
    jobs = np.flatnonzero(again.jobs.select(mine).to_series().to_numpy())
    end = int(again.log_start[log + 1])
    return held_jobs(again, moment, labels, jobs).with_columns(
        cut=pl.lit(end, pl.Int64), time=pl.lit(moment, pl.Int64)
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
