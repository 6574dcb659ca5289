"""The event table as a Parquet file, written batch by batch."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from jobsight.errors import OutputError
from jobsight.files import new_file
from jobsight.history.columns import event_schema

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["write_events"]

_GROUP_ROWS = 250_000
_REPEATED = ["reason", "host", "slot", "access_point", "owner", "source", "dag_node"]
"""Columns of few distinct texts: a dictionary makes them small and quick."""


def write_events(batches: Iterable[pa.RecordBatch], path: Path) -> None:
    """Write batches of the event table to `path`, whole or not at all, in bounded memory.

    Raises:
        OutputError: the file cannot be written; an older one at `path` is then untouched.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder; name a file")
    schema = event_schema()
    with (
        new_file(path) as temporary,
        pq.ParquetWriter(
            temporary, schema, compression="lz4", use_dictionary=_REPEATED, write_statistics=True
        ) as writer,
    ):
        waiting: list[pa.RecordBatch] = []
        for batch in batches:
            waiting.append(batch)
            if sum(part.num_rows for part in waiting) >= _GROUP_ROWS:
                writer.write_table(pa.Table.from_batches(waiting, schema))
                waiting = []
        writer.write_table(pa.Table.from_batches(waiting, schema))
