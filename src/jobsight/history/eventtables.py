"""Job documents → event table, the reverse of `jobsight.history.jobdocuments`.

The entries of all jobs in the order of their offsets are the log again, without records of no job.
Jobs of which no log has the last state are in a log of their own, made of what schedds report.
The headers of generations are made anew, dated at the generation's beginning: the draw of a
decision's frames hashes row numbers. Missing are DAGMan's own records of no job (016), the name of
the file a record was read from, and what a timeline dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

import polars as pl
from msgspec.structs import replace

from jobsight.codes import EventCode
from jobsight.documents import JSON, Event, JobDocument, State, parse_key
from jobsight.documents.merging import last_with_state
from jobsight.errors import DocumentError
from jobsight.history.eventlog.terms import (
    ENTRY_COLUMNS,
    GATHERED,
    PREFIX,
    begun,
    event_kinds,
)
from jobsight.history.jobads import document_from_ad

__all__ = ["Entries", "as_logs", "event_table", "joined_tables", "queue_table", "with_newer"]

_SECOND = 1_000_000
_NEAR = 5 * _SECOND
"""A log and its schedd may date the same change so far apart."""
_UNNAMED = re.compile(r"log-[0-9a-f]{8}")
_ALWAYS = ("cluster", "proc", "code")
_BLOCK = 100_000
"""Entries gathered as Python values before they become columns."""

_FIELDS = {"time": "time", "source": "source", "offset": "position"} | {n: n for n in ENTRY_COLUMNS}
"""Columns that are fields of an entry, by the names of both."""


def event_table(documents: Iterable[JobDocument]) -> pl.DataFrame:
    """The event table of the documents' entries from logs.

    Logs are numbered by access point and name, in the order of their first records; `source` is the
    generation, `offset` the offset in it.

    Args:
        documents: of any jobs, each once, in any order; read once.

    Raises:
        DocumentError: a job's number, or the time or number of an event, is not of an event log.
    """
    gathered = Entries()
    for document in documents:
        gathered.add(document)
    return as_logs(gathered.frame())


def as_logs(entries: pl.DataFrame) -> pl.DataFrame:
    """The event table of what `Entries` gathered: in order, with headers and numbers of logs."""
    firsts = entries.group_by("access_point", "source").agg(first=pl.col("offset").min())
    # The header record of each generation that has one, dated at its beginning.
    headers = [
        {
            "cluster": -1, "proc": -1, "subproc": -1, "code": EventCode.GENERIC.value,
            "time": start - start % _SECOND, "access_point": point, "source": source, "offset": 0,
        }
        for point, source, _ in firsts.filter(pl.col("first") > 0).iter_rows()
        if (start := begun(source)) is not None and "~" not in source
    ]  # fmt: skip
    plain = {name: pl.Int64 if name == "time" else kind for name, kind in event_kinds().items()}
    made = pl.DataFrame(headers, schema=plain)
    table = pl.concat([entries, made.with_columns(pl.col("time").cast(event_kinds()["time"]))])
    # By their few sources: texts of all rows would take seconds to compare.
    sources = table.group_by("access_point", "source").agg(
        first=pl.col("time").filter(pl.col("cluster") >= 0).min()
    )
    sources = sources.with_columns(
        writer=pl.col("source").str.split("#").list.first(), place=pl.col("source").rank("dense")
    )
    logs = (
        sources.drop_nulls("first")
        .group_by("access_point", "writer")
        .agg(pl.col("first").min())
        .sort("first", "access_point", "writer")
        .select("access_point", "writer", number=pl.int_range(pl.len(), dtype=pl.Int32))
    )
    sources = sources.join(logs, on=["access_point", "writer"], how="left", nulls_equal=True)
    sources = sources.select("access_point", "source", "place", "number")
    return (
        table.join(sources, on=["access_point", "source"], how="left", nulls_equal=True)
        .with_columns(log=pl.col("number"))
        .sort("log", "place", "offset", "code")
        .drop("place", "number")
    )


def queue_table(ads: Iterable[Mapping[str, JSON]], access_point: str) -> pl.DataFrame:
    """The event table of jobs as ``condor_q`` has them, each with its ad at its hold or release.

    Raises:
        DocumentError: an ad has no ClusterId and ProcId.
    """
    return event_table(document_from_ad(ad, access_point, with_ad=True) for ad in ads)


def with_newer(entries: pl.DataFrame, newer: pl.DataFrame) -> pl.DataFrame:
    """What `Entries` gathered, with newer entries of some jobs in place of those they had."""
    if not len(newer):
        return entries
    jobs = newer.select("access_point", "cluster", "proc").unique()
    kept = entries.join(jobs, on=jobs.columns, how="anti", nulls_equal=True)
    return pl.concat([kept, newer])


class Entries:
    """Gathers the entries from logs of documents, a block of Python values at a time."""

    def __init__(self) -> None:
        self._frames: list[pl.DataFrame] = []
        self._begin()

    def _begin(self) -> None:
        self._entries: list[Event] = []
        self._jobs: list[tuple[int, int, str | None]] = []

    def add(self, document: JobDocument) -> None:
        """Take those of one document; `DocumentError` as by `event_table`."""
        key = parse_key(document.id)
        if key.scheduler != "htcondor":
            return
        cluster, _, proc = key.job.partition(".")
        point = None if _UNNAMED.fullmatch(key.cluster) else key.cluster
        entries = _entries_of(document)
        self._entries += entries
        self._jobs += [(int(cluster), int(proc), point)] * len(entries)
        if len(self._entries) >= _BLOCK:
            self._end_block()

    def frame(self) -> pl.DataFrame:
        """The entries as rows of the event table, of no log yet."""
        self._end_block()
        return pl.concat(self._frames)

    def _end_block(self) -> None:
        columns: dict[str, list[Any]] = {
            column: list(map(attrgetter(field), self._entries)) for column, field in _FIELDS.items()
        }
        names = ("cluster", "proc", "access_point")
        columns |= {name: [job[at] for job in self._jobs] for at, name in enumerate(names)}
        columns["log"] = [None] * len(self._entries)
        self._frames.append(pl.DataFrame([_series(name, columns[name]) for name in event_kinds()]))
        self._begin()


def _entries_of(document: JobDocument) -> list[Event]:
    """The records of a job in logs; where its schedd reports a later state, that too.

    The whole job is then in the log `GATHERED`: a job in two logs would be two.
    """
    logged = [entry for entry in document.timeline if _is_logged(entry)]
    last, before = last_with_state(document.timeline), last_with_state(logged)
    if last is None or _is_logged(last):
        return logged
    if before is not None and last.state is before.state and last.time <= before.time + _NEAR:
        return logged
    after = before.time if before is not None else 0
    known = [
        entry
        for entry in document.timeline
        if _is_logged(entry)
        or (entry.code is not None and entry.state is not None and entry.time >= after)
    ]
    if len(known) == len(logged):
        return logged
    entries, position = [], 0
    for entry in _with_releases(known):
        position = max(position + 1, entry.time)
        owner = entry.owner or document.submission.user
        entries.append(replace(entry, source=GATHERED, position=position, owner=owner))
    return entries


def _with_releases(entries: Iterable[Event]) -> Iterator[Event]:
    """The entries, and a release before each start of a held job that lacks one.

    An ad does not say when a job was released that has started since.
    """
    held = False
    for entry in entries:
        if held and entry.code == EventCode.EXECUTE:
            code = EventCode.RELEASED.value
            yield Event(
                time=entry.time, source=entry.source, state=State.PENDING, code=code, subproc=0
            )
        if entry.state is not None:
            held = entry.state is State.HELD
        yield entry


def _is_logged(entry: Event) -> bool:
    return entry.position is not None and entry.source.startswith(PREFIX)


def _series(name: str, values: list[Any]) -> pl.Series:
    """A column of the event table; a number that its type cannot hold is unknown."""
    kind = event_kinds()[name]
    try:
        if name == "time":
            return pl.Series(name, values, dtype=pl.Int64).cast(kind)
        return pl.Series(name, values, dtype=kind, strict=name in _ALWAYS)
    except (TypeError, OverflowError):
        raise DocumentError(
            f"the document of a job has a number as {name} that is not of an event log"
        ) from None


def joined_tables(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """One event table of at least one; the logs of each are numbered after those before it."""
    numbered, after = [], 0
    for table in tables:
        numbered.append(table.with_columns(pl.col("log") + after))
        highest = table["log"].max()
        after += int(highest) + 1 if isinstance(highest, int) else 0
    return pl.concat(numbered)
