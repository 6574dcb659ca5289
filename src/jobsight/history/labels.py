"""Labels of single records: the site of their job, and the cause of its hold.

A label is in the row that has its source, so a decision knows it exactly if it sees that row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.history import reasons
from jobsight.history.timelines import History

__all__ = ["RowLabels", "label_rows"]


@dataclass(frozen=True)
class RowLabels:
    """Labels of the n rows of a history.

    Attributes:
        masked: strings (n,), the masked reason of holds (`History.held`), null elsewhere.
        cause: int32 (n,), dense number of a hold's (code, sub-code, masked reason); −1 elsewhere.
        site: strings (n,), where the job runs or last ran, as of this row; null where unknown.
    """

    masked: pl.Series
    cause: NDArray[np.int32]
    site: pl.Series


def label_rows(history: History) -> RowLabels:
    """Label every row of `history`."""
    table = history.table
    held = pl.Series(history.held)
    masked = reasons.masked(table["reason"].set(~held, None)).set(~held, None)
    causes = pl.DataFrame(
        {
            "code": table["hold_code"].set(~held, None),
            "subcode": table["hold_subcode"].set(~held, None),
            "masked": masked,
        }
    )
    cause = causes.select(pl.struct(pl.all()).rank("dense")).to_series().to_numpy().astype(np.int32)
    cause[~held.to_numpy()] = -1
    return RowLabels(masked=masked, cause=cause, site=_sites(history))


def _sites(history: History) -> pl.Series:
    starts = history.code == EventCode.EXECUTE
    sources = pl.Series((starts | (history.code == EventCode.HELD)) & (history.job >= 0))
    rows = history.table.with_columns(job=history.job, start=starts).filter(sources)
    # Only a hold's own words are about the place where it ran.
    said = rows["reason"].set(rows["start"], None)
    found = reasons.sites(rows["attributes"], rows["slot"], rows["host"], said)
    # A start at an unknown place ends what was known of the place before it.
    marked = pl.when(rows["start"]).then(found.fill_null("")).otherwise(found)
    known = rows.select("job", site=marked).select(pl.col("site").forward_fill().over("job"))
    filled = known["site"].gather(_carried(history, sources.to_numpy()))
    return filled.set(filled == "", None)


def _carried(history: History, sources: NDArray[np.bool_]) -> pl.Series:
    """Of each row, the number of its job's last source at or before it, null if none: (n,)."""
    rows = history.job_rows
    place = np.where(sources[rows], np.arange(len(rows)), -1)
    last = np.maximum.accumulate(place) if len(rows) else place
    number = np.full(len(history), -1, np.int64)
    inside = last >= history.job_start[history.job[rows]]
    number[rows[inside]] = (np.cumsum(sources) - 1)[rows[last[inside]]]
    carried = pl.Series(number)
    return carried.set(carried < 0, None)
