"""Ads of 028 records: the record each belongs to, and holds that only ads report.

The event table has each ad in the row of its 028. Where several processes write one log, other
records may be between an 028 and the record that triggered it, so that a decision may see only one.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.history.adjson import parse_ad
from jobsight.history.jobads import submitted_on_hold

__all__ = ["TRIGGER", "attach_ads", "with_submission_holds"]

TRIGGER = "TriggerEventTypeNumber"
"""Attribute of every 028: the number of the event that it belongs to."""


_SUBMITTED_ON_HOLD = 15
_HOLD_COLUMNS = {
    "hold_code": "HoldReasonCode",
    "hold_subcode": "HoldReasonSubCode",
    "reason": "HoldReason",
}


def attach_ads(table: pl.DataFrame) -> pl.DataFrame:
    """The event table, each record with the ad and owner of the 028 that it triggered.

    Only where the 028 is the very next record and of the same time, so that a decision sees both or
    none. Every other ad stays with its 028, and every 028 keeps its owner.
    """
    if "attributes" not in table.columns:
        return table
    code, ad, owner = pl.col("code"), pl.col("attributes"), pl.col("owner")
    same = pl.col("log", "cluster", "proc", "time")
    trigger = ad.str.extract(rf'"{TRIGGER}": ?"?(-?\d+)').cast(pl.Int64, strict=False)
    given = table.select(
        pl.all_horizontal(
            code == EventCode.AD,
            same == same.shift(1),
            trigger == code.shift(1),
            code.shift(1) != EventCode.AD,
            ad.shift(1).is_null(),
        ).fill_null(value=False)
    ).to_series()
    takes = given.shift(-1, fill_value=False)
    return table.with_columns(
        attributes=pl.when(takes).then(ad.shift(-1)).when(~given).then(ad),
        owner=pl.when(takes).then(owner.shift(-1)).otherwise(owner),
    )


def with_submission_holds(table: pl.DataFrame) -> tuple[pl.DataFrame, NDArray[np.bool_]]:
    """The event table with the holds of jobs submitted on hold: (table, held rows: bool (n,)).

    The row whose ad reports such a hold (a 000, or its 028) gets the ad's code (15 where it has
    none), sub-code and reason, which otherwise 012 alone has.

    Args:
        table: n rows, as `attach_ads` returns it.
    """
    held = (table["code"] == EventCode.HELD).to_numpy(writable=True)
    if "attributes" not in table.columns:
        return table, held
    candidates = table.select("code", "attributes", row=pl.int_range(pl.len())).filter(
        (pl.col("code") == EventCode.SUBMIT) | (pl.col("code") == EventCode.AD),
        pl.col("attributes").str.contains(r'"JobStatus": ?5\b'),
    )
    parsed = [(row, parse_ad(text) or {}) for _, text, row in candidates.iter_rows()]
    ads = {row: ad for row, ad in parsed if submitted_on_hold(ad)}
    held[list(ads)] = True
    for column, attribute in _HOLD_COLUMNS.items():
        if ads and column in table.columns:
            default = _SUBMITTED_ON_HOLD if column == "hold_code" else None
            values = [ad.get(attribute, default) for ad in ads.values()]
            found = pl.Series(values, dtype=table[column].dtype, strict=False)
            table = table.with_columns(table[column].clone().scatter(list(ads), found))
    return table, held
