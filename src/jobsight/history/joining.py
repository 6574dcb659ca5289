"""Event tables of several readings as one."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

__all__ = ["joined_tables"]


def joined_tables(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Event tables one after another; the logs of each are numbered behind those before it.

    Args:
        tables: at least one.
    """
    numbered, after = [], 0
    for table in tables:
        numbered.append(table.with_columns(pl.col("log") + after))
        highest = table["log"].max()
        after += int(highest) + 1 if isinstance(highest, int) else 0
    return numbered[0] if len(numbered) == 1 else pl.concat(numbered)
