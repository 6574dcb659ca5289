"""Where history is read from: event logs, stores and snapshots of stores, all alike.

An input that is the address of a store (``sqlite:///jobs.db``, ``redis://host``, ``store:`` for the
one that is set), an SQLite file, or a folder that `jobsight store export` wrote is read as job
documents; all else is event logs. The event table of documents is that of the logs that they were
collected from, so what is learned from either is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jobsight.learning.reading import DocumentStream, Progress, are_documents, is_pipe, stored
from jobsight.text import printable

if TYPE_CHECKING:
    import polars as pl

    from jobsight.history.readreport import ReadReport
    from jobsight.history.timelines import History
    from jobsight.learning.manifest import Source
    from jobsight.settings import Settings

__all__ = [
    "Reading",
    "are_documents",
    "is_store",
    "read_inputs",
    "refuse_before",
    "some_unread",
    "tell_unread",
]

_unread: list[tuple[str, str]] = []


@dataclass
class Reading:
    """What was read.

    Attributes:
        table: the event table (docs/architecture.md).
        report: of the reading of logs; documents count as events and jobs.
        sources: for the manifest of what is made of it.
        names: of what was read, but for standard input.
        shortened: jobs whose documents lack events of the middle.
    """

    table: pl.DataFrame
    report: ReadReport
    sources: list[Source]
    names: list[str]
    shortened: int = 0


def is_store(text: str) -> bool:
    """Whether an input is a store, which goes on; a log or a snapshot is what it is."""
    return not is_pipe(text) and not Path(text).is_dir() and are_documents(text)


def read_inputs(
    inputs: list[str], settings: Settings, progress: Progress, *, hashed: bool = True
) -> Reading:
    """Read logs, stores and snapshots into one event table, logs first.

    Args:
        inputs: what to read.
        settings: of logs, and of the store.
        progress: is told how much was read, and of how much.
        hashed: False: nobody asks for `sources`, nor for the bytes of documents; there are none.

    Raises:
        SourceError: a log cannot be read; `StoreError`: a store or snapshot cannot.
    """
    documents = [one for one in inputs if not is_pipe(one) and are_documents(one)]
    logs = [one for one in inputs if one not in documents]
    readings = [_read_logs(logs, settings, progress, hashed)] if logs else []
    readings += [_read_documents(one, settings, progress, hashed) for one in documents]
    return readings[0] if len(readings) == 1 else _joined(readings)


def tell_unread(unreadable: Sequence[tuple[str, str]], events: int) -> None:
    """List files that could not be read; the answer is given without them, the exit status is 1.

    Args:
        unreadable: their names, each with a line that says so.
        events: number of events that were read of others.

    Raises:
        SourceError: there are none.
    """
    from jobsight.cli.common import SHOWN, note
    from jobsight.errors import SourceError

    if unreadable and not events:
        raise SourceError(unreadable[0][1])
    for _, line in unreadable[:SHOWN]:
        note(f"jobsight: {printable(line)}")
    if len(unreadable) > SHOWN:
        note(f"jobsight: {len(unreadable) - SHOWN} more files could not be read")
    _unread.extend(unreadable)


def some_unread() -> bool:
    """Whether `tell_unread` listed any file since this was asked last."""
    found = bool(_unread)
    _unread.clear()
    return found


def refuse_before(moment: int, history: History) -> None:
    """Refuse to answer as of a moment (µs) that is before all that was read.

    Raises:
        SourceError: it is.
    """
    from jobsight.clock import format_micros
    from jobsight.errors import SourceError

    first = int(history.clock.min())
    if moment < first:
        raise SourceError(
            f"nothing is recorded as of {format_micros(moment)}: the first event is of "
            f"{format_micros(first)}; name a later --at"
        )


def _read_logs(logs: list[str], settings: Settings, progress: Progress, hashed: bool) -> Reading:
    from jobsight.history.events import read_events
    from jobsight.learning.manifest import Source

    log = read_events(
        logs,
        access_point=settings.access_point,
        timezone=settings.timezone,
        progress=progress,
    )
    names = list(dict.fromkeys(file.source for file in log.files if file.path is not None))
    sources = [Source.of(Path(name)) for name in names] if hashed else []
    return Reading(log.table, log.report, sources, names)


def _read_documents(text: str, settings: Settings, progress: Progress, hashed: bool) -> Reading:
    """A store or snapshot, read document by document; only the event table is kept of it."""
    import time

    from jobsight.history.eventtables import event_table

    started = time.perf_counter()
    with stored(text, settings) as (name, total, documents):
        stream = DocumentStream(documents, progress, total, hashed, prefix="htcondor:")
        table = event_table(stream)
    report = _report(table, stream.bytes)
    report.seconds = time.perf_counter() - started
    sources = [stream.source(name)] if hashed else []
    return Reading(table, report, sources, [name], stream.shortened)


def _report(table: pl.DataFrame, size: int) -> ReadReport:
    from collections import Counter

    import polars as pl

    from jobsight.history.readreport import ReadReport

    times = table.select(
        first=pl.col("time").min().dt.epoch("us"), last=pl.col("time").max().dt.epoch("us")
    ).row(0)
    counts = table["code"].value_counts()
    return ReadReport(
        files=1,
        logs=table["log"].n_unique(),
        bytes=size,
        events=len(table),
        jobs=table.filter(pl.col("cluster") >= 0)
        .select("access_point", "cluster", "proc")
        .n_unique(),
        first=times[0],
        last=times[1],
        by_code=Counter(dict(counts.iter_rows())),
    )


def _joined(readings: list[Reading]) -> Reading:
    """Several readings as one; the logs of each are numbered behind those of the one before."""
    from jobsight.history.eventtables import joined_tables

    first, *others = readings
    report = first.report
    for one in others:
        told = one.report
        report.files += told.files
        report.logs += told.logs
        report.bytes += told.bytes
        report.events += told.events
        report.unreadable += told.unreadable
        report.passed_over += told.passed_over
        report.skipped += told.skipped
        report.jobs += told.jobs
        report.first = min((t for t in (report.first, told.first) if t is not None), default=None)
        report.last = max((t for t in (report.last, told.last) if t is not None), default=None)
        report.by_code.update(told.by_code)
    return Reading(
        joined_tables([one.table for one in readings]),
        report,
        [source for one in readings for source in one.sources],
        [name for one in readings for name in one.names],
        sum(one.shortened for one in readings),
    )
