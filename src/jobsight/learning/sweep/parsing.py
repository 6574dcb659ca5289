"""What the nodes ``parse`` make, and what every run reads: one event table, whole, in one order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobsight.errors import SourceError, SweepError
from jobsight.files import new_file, write_json
from jobsight.learning.sweep.layout import Frozen, Layout, Shard

if TYPE_CHECKING:
    import polars as pl

    from jobsight.history.readreport import ReadReport
    from jobsight.learning.manifest import Source

__all__ = ["join_shards", "parse_logs", "write_table"]

Progress = Callable[[int, int], None]


def parse_logs(shard: Shard, frozen: Frozen, layout: Layout, *, here: bool) -> None:
    """Parse the logs of a shard into its table, with the time zone and access point of `frozen`.

    With `here` the logs are where they were when the sweep was planned; else copies of them are in
    the current folder.

    Raises:
        SourceError: a log is missing, cannot be read, or none holds an event.
        OutputError: the table cannot be written.
    """
    from jobsight.history.eventlog.discovery import find_logs
    from jobsight.history.events import EventReader
    from jobsight.history.parquet import write_events
    from jobsight.learning.manifest import Source

    names = list(shard.inputs if here else (Path(one).name for one in shard.inputs))
    found = [find_logs([name])[0] for name in names]
    # As planned, so that the table is the same wherever it is made.
    files = [
        replace(file, name=name, modified=modified)
        for file, name, modified in zip(found, shard.inputs, shard.modified, strict=True)
    ]
    reader = EventReader(
        files,
        access_point=frozen.settings.get("access_point"),
        timezone=frozen.settings.get("timezone"),
    )
    write_events(reader.batches(), layout.table(shard.name))
    sources = [
        replace(Source.of(Path(name)), name=planned)
        for name, planned in zip(names, shard.inputs, strict=True)
    ]
    _recorded(shard, layout, reader.report, sources)


def write_table(
    shard: Shard,
    layout: Layout,
    table: pl.DataFrame,
    report: ReadReport,
    sources: Sequence[Source],
) -> None:
    """Keep an event table of job documents, packed jobs or programs, as the table of a shard."""
    with new_file(layout.table(shard.name)) as temporary:
        table.write_parquet(temporary, compression="lz4")
    _recorded(shard, layout, report, sources)


def _recorded(shard: Shard, layout: Layout, report: ReadReport, sources: Sequence[Source]) -> None:
    """Write ``read.json``; where it is there, the table is whole."""
    if not report.events and not report.jobs:
        raise SourceError(f"no event record in {', '.join(shard.inputs[:3])}")
    body: dict[str, Any] = {
        "events": report.events,
        "jobs": report.jobs,
        "first": report.first,
        "last": report.last,
        "bytes": report.bytes,
        "skipped": [asdict(one) for one in report.skipped[:100]],
        "sources": [asdict(one) for one in sources],
    }
    write_json(layout.read(shard.name), body)


def join_shards(frozen: Frozen, layout: Layout) -> Any:
    """The source of all shards, indexed; the same as of reading all inputs at once.

    Raises:
        SweepError: a shard was not parsed, or its table is damaged.
    """
    import polars as pl

    from jobsight.history.eventtables import joined_tables
    from jobsight.history.jobtable import JobTable
    from jobsight.history.timelines import History
    from jobsight.learning.asked import question_named
    from jobsight.program.examples import Example

    tables: list[pl.DataFrame] = []
    for shard in frozen.shards:
        path = layout.table(shard.name)
        try:
            table = pl.read_parquet(path)
        except FileNotFoundError:
            raise SweepError(f"{path} is missing: shard {shard.name} was not parsed") from None
        except (OSError, pl.exceptions.PolarsError) as error:
            raise SweepError(
                f"{path} is damaged ({type(error).__name__}); remove its folder and submit again"
            ) from None
        tables.append(table)
    reads = question_named(frozen.question).reads
    if reads == "programs":
        return [Example.from_json(line) for line in tables[0]["program"]]
    return (
        JobTable.unpacked(tables[0])
        if reads == "jobs"
        else History.from_table(joined_tables(tables))
    )
