"""The event table as a Parquet file, written batch by batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from jobsight.files import Kind, new_file
from jobsight.history.eventlog.terms import event_schema

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["write_events"]

_GROUP_ROWS = 65_536
_WAITING = 2
"""Row groups that may wait for the disk before the reader does."""

_REPEATED = ["reason", "host", "slot", "access_point", "owner", "source", "dag_node"]
"""Columns of few distinct texts: a dictionary makes them small and quick."""

_LONG = ("attributes", "reason")
"""Columns whose least and greatest text help no query."""


def write_events(batches: Iterable[pa.RecordBatch], path: Path) -> None:
    """Write batches of the event table to `path`, whole or not at all, in bounded memory.

    Raises:
        OutputError: the file cannot be written; an older one at `path` is then untouched.
    """
    import pyarrow.parquet as pq

    schema = event_schema()
    with (
        new_file(path, Kind.EVENTS) as temporary,
        pq.ParquetWriter(
            temporary,
            schema.with_metadata({"jobsight.schema": Kind.EVENTS.schema}),
            compression="lz4",
            use_dictionary=_REPEATED,
            write_statistics=[name for name in schema.names if name not in _LONG],
        ) as writer,
        ThreadPoolExecutor(1, "jobsight-parquet") as pool,
    ):
        waiting: deque[Future[None]] = deque()
        for group in _groups(batches):
            waiting.append(pool.submit(writer.write_table, group))
            if len(waiting) > _WAITING:
                waiting.popleft().result()
        while waiting:
            waiting.popleft().result()


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Batches joined to row groups, without copying; the last one may be empty."""
    import pyarrow as pa

    group: list[pa.RecordBatch] = []
    for batch in batches:
        group.append(batch)
        if sum(part.num_rows for part in group) >= _GROUP_ROWS:
            yield pa.Table.from_batches(group, event_schema())
            group = []
    yield pa.Table.from_batches(group, event_schema())
