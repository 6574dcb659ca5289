"""Where a job's ad was told: with the record that it belongs to, or later; holds only ads report.

The reader gives each record the ad of the 028 that it triggered. Where several processes write one
log, other records may stand between the two, and a decision may see the first and not the second.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.history.adjson import parse_ad
from jobsight.history.jobads import submitted_on_hold
from jobsight.jit import kernel

__all__ = ["TRIGGER", "as_written", "with_submission_holds"]

TRIGGER = "TriggerEventTypeNumber"
"""Attribute of every 028: the number of the event that it belongs to."""

_SUBMIT, _HELD, _AD = 0, 12, 28
_FARTHEST = 256
"""The reader looks no further back from an 028 (`eventlog.terms.LOOK_BACK`)."""

_HOLD_COLUMNS = {
    "hold_code": "HoldReasonCode",
    "hold_subcode": "HoldReasonSubCode",
    "reason": "HoldReason",
}

Ints = NDArray[np.int64]


def as_written(table: pl.DataFrame) -> pl.DataFrame:
    """The event table, each ad that was told later than its record moved back to its 028.

    An ad stays with its record if its 028 is the very next record and of the same time, so that
    whoever sees the one sees the other. All else stays as it is.

    Args:
        table: the event table; without a column `attributes` there is nothing to move.
    """
    if "attributes" not in table.columns:
        return table
    mine, ads = _pairs(table)
    time = table["time"].to_physical().to_numpy()
    late = (ads > mine + 1) | (time[ads] != time[mine])
    mine, ads = mine[late], ads[late]
    if not len(mine):
        return table
    told = table["attributes"].gather(mine)
    attributes = table["attributes"].clone().scatter(ads, told).scatter(mine, None)
    owner = table["owner"].clone().scatter(mine, None)
    return table.with_columns(attributes=attributes, owner=owner)


def with_submission_holds(table: pl.DataFrame) -> tuple[pl.DataFrame, NDArray[np.bool_]]:
    """The event table with the holds of jobs that were submitted on hold, and which rows hold.

    The row whose ad reports such a hold (a 000, or its 028) gets the ad's code, sub-code and
    reason, which otherwise 012 alone has.

    Args:
        table: n rows, as `as_written` returns it.

    Returns:
        the table, and bool (n,): rows after which their job is held.
    """
    held = (table["code"] == _HELD).to_numpy(writable=True)
    if "attributes" not in table.columns:
        return table, held
    candidates = table.select("code", "attributes", row=pl.int_range(pl.len())).filter(
        pl.col("code").is_in((_SUBMIT, _AD)),
        pl.col("attributes").str.contains(r'"JobStatus": ?5\b'),
    )
    parsed = [(row, parse_ad(text) or {}) for _, text, row in candidates.iter_rows()]
    ads = {row: ad for row, ad in parsed if submitted_on_hold(ad)}
    held[list(ads)] = True
    for column, attribute in _HOLD_COLUMNS.items():
        if ads and column in table.columns:
            values = [ad.get(attribute) for ad in ads.values()]
            told = pl.Series(values, dtype=table[column].dtype, strict=False)
            table = table.with_columns(table[column].clone().scatter(list(ads), told))
    return table, held


def _pairs(table: pl.DataFrame) -> tuple[Ints, Ints]:
    """Rows that have the ad of an 028, and the rows of those: both int64 (k,)."""
    is_ad, empty = pl.col("code") == _AD, pl.col("attributes").is_null()
    joined = ~is_ad & pl.col("attributes").str.contains(f'"{TRIGGER}"', literal=True)
    found = (
        table.with_row_index("row")
        .filter(pl.col("cluster") >= 0, joined | (is_ad & empty))
        .select(
            pl.col("row").cast(pl.Int64),
            group=pl.struct("log", "cluster", "proc").rank("dense").cast(pl.Int64),
            joined=~is_ad,
        )
        .sort("group", "row")
    )
    columns = (found[name].to_numpy(writable=True) for name in ("group", "row", "joined"))
    pairs: Ints = _pair(*columns)
    return pairs[0], pairs[1]


@kernel
def _pair(group: Ints, row: Ints, joined: NDArray[np.bool_]) -> Ints:
    """The first record that waits for its 028 gets the next one of its job: int64 (2, pairs)."""
    pairs = np.empty((2, len(row)), np.int64)
    waiting = np.empty(len(row), np.int64)
    count = first = last = 0
    for k in range(len(row)):
        if k > 0 and group[k] != group[k - 1]:
            first = last
        if joined[k]:
            waiting[last] = row[k]
            last += 1
            continue
        while first < last and row[k] - waiting[first] > _FARTHEST:
            first += 1
        if first < last:
            pairs[0, count], pairs[1, count] = waiting[first], row[k]
            first += 1
            count += 1
    return pairs[:, :count].copy()
