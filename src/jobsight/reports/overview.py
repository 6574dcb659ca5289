"""What a history shows before any model: who and what fails or waits most, when, at what cost."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from jobsight.format import moment

__all__ = ["Overview", "dates", "ranking"]

Rows = list[dict[str, Any]]
_MOST = 8


class Overview(NamedTuple):
    """The main points as sentences, and tables by title: rows of cells by heading."""

    points: Sequence[str]
    tables: Mapping[str, Rows] = {}


def dates(first: int | None, last: int | None) -> str:
    """From when to when (µs since 1970): ``2026-11-21 00:03:45Z to 01:53:32Z``."""
    begin, end = moment(first), moment(last)
    return begin if begin == end else f"{begin} to {end[11:] if begin[:10] == end[:10] else end}"


def ranking(
    items: pl.DataFrame, of: str, by: Mapping[str, str], cost: str, **more: pl.Expr
) -> Rows:
    """What cost most, first: at most 8 rows of items counted together, with their costs.

    Args:
        items: one row each, with a `time` (µs) and a `cost`, null where unknown.
        of: heading of their number.
        by: headings of the columns by which they are counted together.
        cost: heading of the sum of their costs.
        more: further columns, by heading with ``_`` for a blank.
    """
    time, price = pl.col("time"), pl.col("cost")
    columns = {name.replace("_", " "): column for name, column in more.items()}
    rows = (
        items.drop_nulls(list(by))
        .group_by(list(by), maintain_order=True)
        .agg(
            pl.len().alias(of), pl.when(price.count() > 0).then(price.sum()).alias(cost),
            first=time.min(), last=time.max(), **columns,
        )
        .sort(cost, of, descending=True, nulls_last=True, maintain_order=True)
        .rename(dict(by)).head(_MOST).to_dicts()
    )  # fmt: skip
    for row in rows:
        row["when"] = dates(row.pop("first"), row.pop("last"))
    return rows
