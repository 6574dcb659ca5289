"""Rows ↔ Parquet files: what the archive and snapshots are made of.

Columns: those of `packing.Keys` (``time`` as a timestamp, µs, UTC), ``revision`` and ``document``
(JSON); compressed by zstd, in row groups of at most 1000 rows. The same rows give the same bytes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from jobsight.errors import StoreError
from jobsight.files import sha256
from jobsight.store.packing import LEAST_TIME, MOST_TIME
from jobsight.store.rows import Keys, Row

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = [
    "ids_of",
    "numbers_of",
    "opened",
    "readable",
    "rows_of",
    "time_ranges",
    "verified_rows",
    "write_rows",
]

_GROUP_ROWS = 1000
_GROUP_BYTES = 16 << 20
_LEVEL = 3


def _schema() -> pa.Schema:
    """The columns."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("id", pa.string(), nullable=False),
            pa.field("cluster", pa.string(), nullable=False),
            pa.field("state", pa.string(), nullable=False),
            pa.field("user", pa.string()),
            pa.field("time", pa.timestamp("us", "UTC"), nullable=False),
            pa.field("raw", pa.string()),
            pa.field("revision", pa.int64(), nullable=False),
            pa.field("document", pa.binary(), nullable=False),
        ],
        metadata={"jobsight.schema": "1"},
    )


def write_rows(rows: Iterable[Row], path: Path) -> None:
    """Write rows to `path`, which is there and empty, in bounded memory.

    Raises:
        OSError: the file cannot be written.
        StoreError: a row is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema()
    plain = [name for name in schema.names if name != "document"]
    writer = pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        compression_level=_LEVEL,
        use_dictionary=["cluster", "user", "state"],
        write_statistics=plain,
    )
    group: list[dict[str, Any]] = []
    size = 0

    def flush() -> None:
        writer.write_table(pa.Table.from_pylist(group, schema), row_group_size=_GROUP_ROWS)
        group.clear()

    with writer:
        for row in rows:
            text = row.text()
            if group and (len(group) == _GROUP_ROWS or size + len(text) > _GROUP_BYTES):
                flush()
                size = 0
            group.append({**asdict(row.keys), "revision": row.revision, "document": text})
            size += len(text)
        if group:
            flush()


@contextlib.contextmanager
def readable(path: Path) -> Iterator[None]:
    """Any failure to read a part becomes one `StoreError` that names it."""
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError:
        raise StoreError(
            f"{path} is missing, which the store counts among its files; restore it from a "
            "backup, or name the folder where it is in the setting store.archive"
        ) from None
    except PermissionError:
        raise StoreError(
            f"{path} may not be read; fix its permissions, and those of its folder"
        ) from None
    except (pa.ArrowException, OSError, ValueError, KeyError, OverflowError) as error:
        reason = str(error).partition("\n")[0][:200]
        raise StoreError(f"{path} cannot be read ({reason}); restore it from a backup") from None


@contextlib.contextmanager
def opened(path: Path) -> Iterator[pq.ParquetFile]:
    """A part that is open while the block runs; `StoreError`: it is missing or damaged."""
    import pyarrow.parquet as pq

    with readable(path), pq.ParquetFile(path) as file:
        wanted = _schema().names
        if file.schema_arrow.names != wanted:
            raise ValueError(f"its columns are not {', '.join(wanted)}")
        yield file


def time_ranges(file: pq.ParquetFile) -> list[tuple[int, int]]:
    """Least and greatest time of each row group, µs."""
    at = file.schema_arrow.get_field_index("time")
    ranges = []
    for group in range(file.num_row_groups):
        times = file.metadata.row_group(group).column(at).statistics
        ranges.append((times.min_raw, times.max_raw) if times else (LEAST_TIME, MOST_TIME))
    return ranges


def ids_of(file: pq.ParquetFile, group: int) -> list[str]:
    """The ids of a row group."""
    ids: list[str] = file.read_row_group(group, columns=["id"], use_threads=False)["id"].to_pylist()
    return ids


def numbers_of(file: pq.ParquetFile) -> Iterator[tuple[str, str | None]]:
    """All ids, each with Slurm's raw number, if the job has one."""
    table = file.read(columns=["id", "raw"], use_threads=False)
    return zip(table["id"].to_pylist(), table["raw"].to_pylist(), strict=True)


def verified_rows(path: Path, digest: str, changed: str) -> Iterator[Row]:
    """All rows of a file, once its SHA-256 is found to be `digest`.

    Raises:
        StoreError: the file is missing or damaged, or its hash differs: then `changed`.
    """
    with readable(path):
        unchanged = sha256(path) == digest
    if not unchanged:
        raise StoreError(f"{path} {changed}")
    with opened(path) as file:
        for group in range(file.num_row_groups):
            yield from rows_of(file, group)


def rows_of(file: pq.ParquetFile, group: int) -> list[Row]:
    """The rows of a row group."""
    import pyarrow as pa

    table = file.read_row_group(group, use_threads=False)
    times = table["time"].cast(pa.int64()).to_pylist()
    names = ("id", "cluster", "state", "user", "raw", "revision", "document")
    columns = (table[name].to_pylist() for name in names)
    return [
        Row(Keys(id_, cluster, state, user, time, raw), revision, document, archived=True)
        for time, id_, cluster, state, user, raw, revision, document in zip(
            times, *columns, strict=True
        )
    ]
