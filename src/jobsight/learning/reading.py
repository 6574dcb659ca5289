"""Where questions read their source from: event logs, stores, snapshots, files of any importer.

An input that is the address of a store (``sqlite:///jobs.db``, ``redis://host``, ``store:`` for the
one that is set), an SQLite file, or a folder that `jobsight store export` wrote holds job
documents; any other is a file that an importer knows, or an event log. The event table of documents
is that of the logs that they were collected from, so what is learned from either is the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from jobsight.errors import SourceError
from jobsight.history.readreport import ReadReport
from jobsight.learning.manifest import Source
from jobsight.text import counted, printable

if TYPE_CHECKING:
    import polars as pl

    from jobsight.documents import JobDocument
    from jobsight.history.jobtable import JobTable
    from jobsight.learning.question import Question
    from jobsight.program.examples import Example
    from jobsight.settings import Settings
    from jobsight.store import Store

__all__ = [
    "DocumentStream",
    "EventReading",
    "JobReading",
    "Progress",
    "Reading",
    "Watch",
    "are_documents",
    "cluster_of",
    "is_pipe",
    "job_table",
    "job_tables",
    "note_shortened",
    "open_stored",
    "programs",
    "read",
    "read_events",
    "stored",
]

Progress = Callable[[int, int], None]


class Watch(Protocol):
    """Whom a reading keeps informed."""

    def progress(self, label: str, *, reads_logs: bool = False) -> AbstractContextManager[Progress]:
        """Shows how much was read; `reads_logs`: by the reader of event logs."""

    def note(self, text: str) -> None:
        """Shows a line to the user."""

    def unread(self, files: Sequence[tuple[str, str]], events: int) -> None:
        """Lists files that could not be read, with a line each.

        `events` is how many records were read of others.

        Raises:
            SourceError: of no others.
        """


class Reading(NamedTuple):
    """What a question is asked of: `source`, how it was read, and the inputs for a manifest."""

    source: Any
    report: ReadReport
    sources: list[Source]


@dataclass
class EventReading:
    """What was read of events.

    Attributes:
        table: the event table (docs/develop/architecture.md).
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


_ADDRESS = re.compile(r"(?:sqlite|redis|rediss|unix)://|store:\Z")
_SET = "store:"
_MAGIC = b"SQLite format 3\0"
_TELL_EVERY = 1000
_PIECE = 200_000
"""Jobs of a piece."""
_SHOWN = 3
"""Unreadable rows of a file that are shown."""
_UNNAMED = "unnamed"
"""The cluster of a file that does not say which; the same for all, so that a job stays the same."""
_INVENTED = re.compile(rf"{_UNNAMED}|log-[0-9a-f]{{1,8}}")
"""Names of clusters and access points that no source has named."""


def read(
    question: Question[Any],
    inputs: list[str],
    settings: Settings,
    watch: Watch,
    *,
    seen: Callable[[JobDocument], None] | None = None,
    hashed: bool = True,
) -> Reading:
    """What a question is asked of, read from logs, stores, snapshots and files of importers.

    Of `inputs`, ``-`` is standard input. `seen` is called with each document, where the question is
    asked of jobs. Unless `hashed`, the reading has no sources.

    Raises:
        SourceError: there is nothing in it, or it cannot be read; `StoreError`: a store cannot.
    """
    if question.reads == "events":
        from jobsight.history.timelines import History

        events = read_events(inputs, settings, watch, hashed=hashed)
        if not events.report.events:
            names = events.names or inputs
            raise SourceError(f"no event record in {', '.join(map(printable, names))}")
        return Reading(History.from_table(events.table), events.report, events.sources)
    if question.reads == "programs":
        with watch.progress("reading") as progress:
            examples, sources = programs(inputs, settings, progress)
        if not examples:
            raise SourceError(f"no measured program in {', '.join(map(printable, inputs))}")
        report = ReadReport(files=len(examples), jobs=len(examples))
        report.bytes = sum(len(example.text) for example in examples)
        return Reading(examples, report, sources)
    return _read_jobs(inputs, settings, watch, seen, hashed=hashed)


def _read_jobs(
    inputs: list[str], settings: Settings, watch: Watch,
    seen: Callable[[JobDocument], None] | None = None, *, hashed: bool,
) -> Reading:  # fmt: skip
    """As `read` of jobs."""
    with watch.progress("reading", reads_logs=bool(_logs(inputs))) as progress:
        jobs = job_table(inputs, settings, progress, hashed=hashed, seen=seen)
    table = jobs.jobs.table
    watch.unread(jobs.unreadable, len(table))
    if not len(table):
        raise SourceError(f"no job in {', '.join(map(printable, inputs))}")
    for line in jobs.said:
        watch.note(line)
    report = ReadReport(files=len(jobs.sources), jobs=len(table))
    report.bytes = sum(source.bytes for source in jobs.sources)
    seen_at, reported_at = (table[name].to_physical() for name in ("seen", "reported"))
    report.first = seen_at.min()  # type: ignore[assignment]
    report.last = max(time for time in (seen_at.max(), reported_at.max()) if time is not None)  # type: ignore[assignment]
    return Reading(jobs.jobs, report, jobs.sources)


def job_tables(inputs: list[str], settings: Settings, watch: Watch) -> Iterator[JobTable]:
    """The jobs of inputs as `read` reads them; those of one store in pieces, to save memory.

    Raises:
        SourceError, StoreError: as of `read`.
    """
    from jobsight.history.jobtable import JobTable

    if len(inputs) != 1 or is_pipe(inputs[0]) or not are_documents(inputs[0]):
        yield _read_jobs(inputs, settings, watch, hashed=False).source
        return
    with (
        watch.progress("reading") as progress,
        stored(inputs[0], settings) as (name, total, documents),
    ):
        stream, document = iter(DocumentStream(documents, progress, total, hashed=False)), None
        for document in stream:
            yield JobTable.read(itertools.chain([document], itertools.islice(stream, _PIECE - 1)))
        if document is None:
            raise SourceError(f"no job in {printable(name)}")


def cluster_of(source: Any) -> str | None:
    """The only cluster or access point that the jobs of a source name; None: several, or none."""
    from jobsight.history.jobtable import JobTable
    from jobsight.history.timelines import History

    names: list[str] = []
    if isinstance(source, History):
        names = source.jobs["access_point"].drop_nulls().unique().to_list()
    elif isinstance(source, JobTable):
        names = source.table["scheduler_name"].drop_nulls().unique().to_list()
    return names[0] if len(names) == 1 and not _INVENTED.fullmatch(names[0]) else None


def read_events(
    inputs: list[str], settings: Settings, watch: Watch, *, hashed: bool = True
) -> EventReading:
    """Read logs, stores and snapshots into one event table, logs first; damage is noted.

    Unless `hashed`, without `sources`, and without the bytes of documents.

    Raises:
        SourceError: a log cannot be read; `StoreError`: a store or snapshot cannot.
    """
    from jobsight.history.eventtables import event_table

    logs = _logs(inputs)
    with watch.progress("reading", reads_logs=bool(logs)) as progress:
        readings: list[EventReading] = []
        if logs:
            log = _read_logs(logs, settings, progress)
            names = list(dict.fromkeys(file.source for file in log.files if file.path is not None))
            sources = [Source.of(Path(name)) for name in names] if hashed else []
            readings = [EventReading(log.table, log.report, sources, names)]
        # Stores and snapshots, read document by document; only the event table is kept of each.
        for text in (name for name in inputs if name not in logs):
            started = time.perf_counter()
            with stored(text, settings) as (name, total, documents):
                stream = DocumentStream(documents, progress, total, hashed, prefix="htcondor:")
                table = event_table(stream)
            report = _report(table, stream.bytes)
            report.seconds = time.perf_counter() - started
            sources = [stream.source(name)] if hashed else []
            readings.append(EventReading(table, report, sources, [name], stream.shortened))
    reading = readings[0] if len(readings) == 1 else _joined(readings)
    watch.unread(reading.report.unreadable, reading.report.events)
    if skipped := reading.report.skipped:
        watch.note(
            f"{counted(len(skipped), 'damaged stretch', 'damaged stretches')} skipped, the first "
            f"in {printable(skipped[0].file)} at byte {skipped[0].offset}: {skipped[0].reason}; "
            "`jobsight events` lists all"
        )
    note_shortened(reading.shortened, watch)
    return reading


def note_shortened(jobs: int, watch: Watch) -> None:
    """Note how many jobs lack events; nothing where none do."""
    if jobs:
        watch.note(f"of {jobs} jobs that had very many events, those of the middle were not kept")


def _logs(inputs: list[str]) -> list[str]:
    return [name for name in inputs if is_pipe(name) or not are_documents(name)]


def _read_logs(logs: list[str], settings: Settings, progress: Progress) -> Any:
    from jobsight.history import events  # stores do without the compiled reader

    return events.read_events(
        logs, access_point=settings.access_point, timezone=settings.timezone, progress=progress
    )


def _report(table: pl.DataFrame, size: int) -> ReadReport:
    times, codes = table["time"].dt.epoch("us"), table["code"].value_counts()
    of_jobs = table.filter(table["cluster"] >= 0)
    return ReadReport(
        files=1,
        logs=table["log"].n_unique(),
        bytes=size,
        events=len(table),
        jobs=of_jobs.select("access_point", "cluster", "proc").n_unique(),
        first=times.min(),  # type: ignore[arg-type]
        last=times.max(),  # type: ignore[arg-type]
        by_code=Counter(dict(codes.iter_rows())),
    )


def _joined(readings: list[EventReading]) -> EventReading:
    """Several readings as one; the logs of each are numbered behind those of the one before."""
    from jobsight.history.eventtables import joined_tables

    table = joined_tables([reading.table for reading in readings])
    report = _report(table, sum(reading.report.bytes for reading in readings))
    report.files = sum(reading.report.files for reading in readings)
    report.seconds = sum(reading.report.seconds for reading in readings)
    for reading in readings:
        report.unreadable += reading.report.unreadable
        report.passed_over += reading.report.passed_over
        report.skipped += reading.report.skipped
    return EventReading(
        table,
        report,
        [source for reading in readings for source in reading.sources],
        [name for reading in readings for name in reading.names],
        sum(reading.shortened for reading in readings),
    )


@dataclass(frozen=True)
class JobReading:
    """What was read of jobs.

    Attributes:
        jobs: one row per job, of either scheduler.
        sources: for the manifest of what is made of it; none unless asked for.
        unreadable: files that could not be read, each with a line that says so.
        said: what else the user should know of files: rows that could not be read, and the like.
    """

    jobs: JobTable
    sources: list[Source]
    unreadable: list[tuple[str, str]]
    said: list[str]


def job_table(
    inputs: Sequence[str],
    settings: Settings,
    progress: Progress,
    *,
    hashed: bool = True,
    seen: Callable[[JobDocument], None] | None = None,
) -> JobReading:
    """Read stores, snapshots, files of importers and event logs into one job table.

    `seen` is called with each document. Unless `hashed`, without `sources`.

    Raises:
        SourceError: a file cannot be read or is of no known format; `StoreError`: a store cannot.
        UsageError: nothing names the cluster of a file.
    """
    from jobsight.documents import parse_key
    from jobsight.history.importers import FileImport, Options
    from jobsight.history.jobtable import JobTable

    options = Options(
        cluster=settings.slurm.cluster,
        unnamed=_UNNAMED,
        access_point=settings.access_point,
        slurm_timezone=settings.slurm.timezone,
        site_timezone=settings.timezone,
        most_tasks=settings.slurm.array_tasks,
        progress=progress,
    )
    stores = [name for name in inputs if not is_pipe(name) and are_documents(name)]
    others = {
        name: FileImport([name], format="auto", options=options)
        for name in inputs
        if name not in stores
    }
    # What comes through a pipe is read only once: its events as documents.
    logs = [
        name
        for name, files in others.items()
        if not is_pipe(name) and [known.name for known in files.importers] == ["eventlog"]
    ]
    imports = [files for name, files in others.items() if name not in logs]
    imports.sort(key=lambda files: not files.names_cluster)
    sources: list[Source] = []
    history, unreadable = None, []
    if logs:
        from jobsight.history.timelines import History

        log = _read_logs(logs, settings, progress)
        history, unreadable = History.from_table(log.table), log.report.unreadable

    clusters: set[str] = set()

    def documents() -> Iterator[JobDocument]:
        for text in stores:
            with stored(text, settings) as (name, total, scanned):
                stream = DocumentStream(scanned, progress, total, hashed=hashed)
                yield from stream
            if hashed:
                sources.append(stream.source(name))
        for files in imports:
            if len(clusters) == 1:  # a file that names no cluster is of the only one
                files.name_cluster(parse_key(f"{min(clusters)}:0").cluster)
            for batch in files.batches():
                yield from batch

    def shown() -> Iterator[JobDocument]:
        last = any(not files.names_cluster for files in imports)
        for document in documents():
            if last and document.id.startswith("slurm:"):
                clusters.add(document.id.rpartition(":")[0])
            if seen is not None:
                seen(document)
            yield document

    jobs = JobTable.read(shown(), history)
    paths = {path for files in others.values() for path in files.paths} if hashed else ()
    sources += [Source.of(path) for path in sorted(paths)]
    unreadable = [*unreadable, *(line for files in imports for line in files.report.unreadable)]
    said = [line for files in imports for line in files.report.said(_SHOWN)]
    return JobReading(jobs, sources, unreadable, said)


def programs(
    inputs: Sequence[str], settings: Settings, progress: Progress
) -> tuple[list[Example], list[Source]]:
    """Read programs with what bound them from corpora, files of lines, stores and snapshots.

    Raises:
        SourceError: an input is none of these, or cannot be read; `StoreError`: a store cannot.
    """
    from jobsight.program.examples import MEASURED, example_of, examples_in, lines_file

    examples: list[Example] = []
    sources: list[Source] = []
    for text in inputs:
        lines = lines_file(text)
        if lines is None and not are_documents(text):
            raise SourceError(
                f"{printable(text, 200)} has no measured programs; name a folder with {MEASURED}, "
                "a .jsonl file, or a store"
            )
        if lines is not None:
            own, source = list(examples_in(lines)), Source.of(lines)
            examples += own
            # The file by its content and that of its programs.
            digest = hashlib.sha256(source.sha256.encode())
            for example in own:
                digest.update(example.text.encode("utf-8", "replace"))
            size = source.bytes + sum(len(example.text) for example in own)
            sources.append(Source(source.name, digest.hexdigest(), size))
        else:
            with stored(text, settings) as (name, total, documents):
                stream = DocumentStream(documents, progress, total)
                examples += filter(None, map(example_of, stream))
            sources.append(stream.source(name))
    return examples, sources


def are_documents(text: str) -> bool:
    """Whether an input is a store or a snapshot of one; any other is a file."""
    if _ADDRESS.match(text):
        return True
    path = Path(text)
    try:
        if path.is_dir():
            from jobsight.store.snapshot import is_snapshot

            return is_snapshot(path)
        if not path.is_file():  # opening a pipe waits for its writer
            return False
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):
        return False


def is_pipe(text: str) -> bool:
    """Whether a look into the input takes something away from who reads it later."""
    path = Path(text)
    return text == "-" or (path.exists() and not path.is_file() and not path.is_dir())


def open_stored(text: str, settings: Settings) -> Store:
    """The store that an input names, opened."""
    from jobsight.store import open_store

    return open_store(None if text == _SET else text, settings=settings.store)


@contextlib.contextmanager
def stored(text: str, settings: Settings) -> Iterator[tuple[str, int, Iterator[JobDocument]]]:
    """The name of a store or snapshot, about how many documents it has, and these."""
    path = Path(text)
    if path.is_dir():
        from jobsight.store.snapshot import read_documents, read_manifest

        yield text, read_manifest(path).documents, read_documents(path)
        return
    with open_stored(text, settings) as store:
        status = store.status()
        yield store.url, sum(status.states.values()) + status.archived, store.scan()


@dataclass
class DocumentStream:
    """Documents on their way into a table: counted and hashed.

    Attributes:
        documents: of any jobs.
        progress: is called with how many were read of `total`; 0: not known.
        hashed: fill `bytes` and `digest`.
        prefix: of the ids of documents that are passed on, counted and hashed.
        shortened: jobs whose documents lack events of the middle.
    """

    documents: Iterable[JobDocument]
    progress: Progress
    total: int = 0
    hashed: bool = True
    prefix: str = ""
    bytes: int = 0
    shortened: int = 0
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    def __iter__(self) -> Iterator[JobDocument]:
        from jobsight.documents import encode

        for count, document in enumerate(self.documents, start=1):
            if count % _TELL_EVERY == 0:
                self.progress(count, self.total)
            if document.id.startswith(self.prefix):
                if self.hashed:
                    text = encode(document)
                    self.digest.update(text + b"\n")
                    self.bytes += len(text) + 1
                self.shortened += document.dropped > 0
                yield document

    def source(self, name: str) -> Source:
        """The documents as a source, each a line of JSON in the order of the scan."""
        return Source(name, self.digest.hexdigest(), self.bytes)
