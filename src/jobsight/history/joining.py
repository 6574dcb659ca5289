"""Event tables of several readings as one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from jobsight.errors import SourceError

__all__ = ["joined_tables", "read_tables"]


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


def read_tables(paths: Sequence[Path]) -> pl.DataFrame:
    """The event tables that were written to Parquet files, joined in the order given.

    Raises:
        SourceError: there are none, or one is missing, damaged, or no event table; names it.
    """
    if not paths:
        raise SourceError("there are no event tables to read; was no log parsed?")
    return joined_tables([_read(path) for path in paths])


def _read(path: Path) -> pl.DataFrame:
    from jobsight.history.eventlog.columns import event_schema

    try:
        table = pl.read_parquet(path, memory_map=False, hive_partitioning=False, glob=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise SourceError(f"cannot read the event table {path}: {first[:200]}") from None
    missing = [name for name in event_schema().names if name not in table.columns]
    if missing:
        raise SourceError(f"{path} is no event table: it lacks the column {missing[0]}")
    return table
