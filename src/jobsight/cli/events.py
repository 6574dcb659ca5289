"""``jobsight events``: read event logs, say what is in them, write the event table."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobsight.cli.common import (
    ConfigOption,
    JsonOption,
    LogArguments,
    TimezoneOption,
    check_output,
    load_settings,
)
from jobsight.cli.output import (
    SHOWN,
    Console,
    files_and_reasons,
    note,
    print_json,
    progress_bar,
    say,
    tell_unread,
)
from jobsight.codes import event_name
from jobsight.files import Kind
from jobsight.format import moment, size, timestamp
from jobsight.history.eventlog.terms import event_schema
from jobsight.history.events import EventReader
from jobsight.history.parquet import write_events
from jobsight.learning.reading import are_documents
from jobsight.text import counted, printable

if TYPE_CHECKING:
    import pyarrow as pa

    from jobsight.history.readreport import ReadReport
    from jobsight.settings import Settings

__all__ = ["events"]


def events(
    logs: LogArguments,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the event table (Parquet).")
    ] = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    access_point: Annotated[
        str | None, typer.Option(help="Name of the access point (default: as the log says).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Read HTCondor event logs: what is in them, and what had to be skipped."""
    settings = load_settings(config, {"timezone": timezone, "access_point": access_point})
    check_output(output, Kind.EVENTS)
    report = _read(logs, settings, output)
    if as_json:
        print_json(
            {
                "files": report.files,
                "bytes": report.bytes,
                "events": report.events,
                "jobs": report.jobs,
                "first": timestamp(report.first),
                "last": timestamp(report.last),
                "by_code": {f"{code:03d}": n for code, n in sorted(report.by_code.items())},
                "skipped": [dataclasses.asdict(stretch) for stretch in report.skipped],
                "passed_over": files_and_reasons(report.passed_over),
                "unreadable": files_and_reasons(report.unreadable),
                "seconds": round(report.seconds, 3),
            }
        )
        return
    files = counted(report.files, "file")
    say(
        f"{counted(report.events, 'event')} of {counted(report.jobs, 'job')} in {files} "
        f"({size(report.bytes)}) in {report.seconds:.2f} s"
    )
    if report.events:
        say(f"from {moment(report.first)} to {moment(report.last)}")
    for code, count in sorted(report.by_code.items()):
        say(f"  {code:03d} {event_name(code):<28}{count:>12,}")
    passed, skipped = report.passed_over, report.skipped
    for name, reason in passed[:SHOWN]:
        note(f"passed over {printable(name)}: {printable(reason)}")
    if len(passed) > SHOWN:
        note(f"and {len(passed) - SHOWN} more files (--json lists all)")
    if skipped:
        stretches = "damaged stretch was" if len(skipped) == 1 else "damaged stretches were"
        note(f"{len(skipped)} {stretches} skipped; all other records were kept:")
    for one in skipped[:SHOWN]:
        place = f"{printable(one.file)} at byte {one.offset} ({one.length} bytes)"
        note(f"  {place}: {printable(one.reason)}")
    if len(skipped) > SHOWN:
        note(f"  and {len(skipped) - SHOWN} more (--json lists all)")
    if output is not None:
        say(f"wrote {output}")


def _read(logs: list[str], settings: Settings, output: Path | None) -> ReadReport:
    """Read everything and write the table, if it is wanted; logs alone in bounded memory."""
    if any(map(are_documents, logs)):
        from jobsight.learning.reading import read_events  # needs Polars, which logs alone do not

        reading = read_events(logs, settings, Console)
        if output is not None:
            # In the reader's own schema.
            schema = event_schema()
            table: pa.Table = reading.table.select(schema.names).to_arrow().cast(schema)
            write_events(table.to_batches(), output)
        return reading.report
    with progress_bar("reading", reads_logs=True) as progress:
        reader = EventReader(
            logs, timezone=settings.timezone, access_point=settings.access_point, progress=progress
        )

        def batches() -> Iterator[pa.RecordBatch]:
            yield from reader.batches()
            # Raises where none of the files is an event log: then nothing is written.
            tell_unread(reader.report.unreadable, reader.report.events)

        if output is not None:
            write_events(batches(), output)
        else:
            deque(batches(), maxlen=0)
    return reader.report
