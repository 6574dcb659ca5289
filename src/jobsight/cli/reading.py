"""Where history is read from: event logs, stores and snapshots of stores, all alike.

An input that is the address of a store (``sqlite:///jobs.db``, ``redis://host``, ``store:`` for the
one that is set), an SQLite file, or a folder that `jobsight store export` wrote is read as job
documents; all else is event logs. The event table of documents is that of the logs that they were
collected from, so what is learned from either is the same.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from jobsight.cli.common import check_output, load_settings
from jobsight.cli.modelnames import model_folder
from jobsight.cli.output import note, progress_bar, tell_unread
from jobsight.clock import format_micros
from jobsight.errors import SourceError
from jobsight.files import Kind
from jobsight.history.eventtables import event_table, joined_tables
from jobsight.history.readreport import ReadReport
from jobsight.history.timelines import History
from jobsight.learning.kepttables import kept_events
from jobsight.learning.manifest import Source
from jobsight.learning.modeldir import ModelDir
from jobsight.learning.reading import (
    DocumentStream,
    Progress,
    are_documents,
    is_pipe,
    job_table,
    open_stored,
    programs,
    stored,
)
from jobsight.learning.registry import DEFAULT
from jobsight.settings import Settings
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.documents import JobDocument
    from jobsight.learning.question import Question

__all__ = [
    "Judged",
    "Reading",
    "cluster_of",
    "has_store",
    "named_model",
    "network_of",
    "note_shortened",
    "now",
    "open_judged",
    "read_events_of",
    "read_for",
    "read_history",
    "read_inputs",
    "refuse_before",
]


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


def read_inputs(
    inputs: list[str], settings: Settings, progress: Progress, *, hashed: bool = True
) -> Reading:
    """Read logs, stores and snapshots into one event table, logs first.

    Args:
        inputs: what to read.
        settings: of logs, and of the store.
        progress: is called with how much was read, and of how much.
        hashed: False: without `sources`, and without the bytes of documents.

    Raises:
        SourceError: a log cannot be read; `StoreError`: a store or snapshot cannot.
    """
    logs = _logs(inputs)
    documents = [one for one in inputs if one not in logs]
    readings = [_read_logs(logs, settings, progress, hashed)] if logs else []
    readings += [_read_documents(one, settings, progress, hashed) for one in documents]
    return readings[0] if len(readings) == 1 else _joined(readings)


def _logs(inputs: list[str]) -> list[str]:
    return [one for one in inputs if is_pipe(one) or not are_documents(one)]


def refuse_before(moment: int, first: int, what: str) -> None:
    """Refuse to answer as of a moment (µs) that is before all that was read.

    Args:
        moment: asked about.
        first: µs, of the first record.
        what: the first record is, in a word.

    Raises:
        SourceError: it is.
    """
    if moment < first:
        raise SourceError(
            f"nothing is recorded as of {format_micros(moment)}: the first {what} is of "
            f"{format_micros(first)}; name a later --at"
        )


def has_store(settings: Settings) -> bool:
    """Whether a store is named by the settings, or is where it usually is."""
    return "store" in settings.model_fields_set or Path(settings.store.url).expanduser().exists()


def now() -> int:
    """The present moment in µs, of whole milliseconds."""
    return time.time_ns() // 1_000_000 * 1000


def _read_logs(logs: list[str], settings: Settings, progress: Progress, hashed: bool) -> Reading:
    from jobsight.history.events import read_events  # stores do without the compiled reader

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
    if not (hashed or Path(text).is_dir()):
        return _read_store(text, settings, progress)
    started = time.perf_counter()
    with stored(text, settings) as (name, total, documents):
        stream = DocumentStream(documents, progress, total, hashed, prefix="htcondor:")
        table = event_table(stream)
    report = _report(table, stream.bytes)
    report.seconds = time.perf_counter() - started
    sources = [stream.source(name)] if hashed else []
    return Reading(table, report, sources, [name], stream.shortened)


def _read_store(text: str, settings: Settings, progress: Progress) -> Reading:
    """A store, of which only documents are read that changed since the last call."""
    with open_stored(text, settings) as store:

        def shown(documents: Iterable[JobDocument]) -> Iterable[JobDocument]:
            return DocumentStream(documents, progress, 0, hashed=False, prefix="htcondor:")

        found = kept_events(store, shown)
        # Nobody asks how many jobs or events of which kind a table has that is not a source.
        report = ReadReport(files=1, events=len(found.table))
        return Reading(found.table, report, [], [store.url], len(found.shortened))


def _report(table: pl.DataFrame, size: int) -> ReadReport:
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
    table = joined_tables([one.table for one in readings])
    report = _report(table, sum(one.report.bytes for one in readings))
    report.files = sum(one.report.files for one in readings)
    report.seconds = sum(one.report.seconds for one in readings)
    for one in readings:
        report.unreadable += one.report.unreadable
        report.passed_over += one.report.passed_over
        report.skipped += one.report.skipped
    return Reading(
        table,
        report,
        [source for one in readings for source in one.sources],
        [name for one in readings for name in one.names],
        sum(one.shortened for one in readings),
    )


def read_history(
    logs: list[str], settings: Settings, *, hashed: bool = True
) -> tuple[History, ReadReport, list[Source]]:
    """Read logs, stores and snapshots, and index them; damage is reported on standard error.

    Args:
        logs: files, folders, archives, globs, ``-``; stores (see `jobsight.cli.reading`).
        settings: zone and access point.
        hashed: see `read_inputs`.
    """
    reading = read_events_of(logs, settings, hashed=hashed)
    if not reading.report.events:
        names = reading.names or logs
        raise SourceError(f"no event record in {', '.join(map(printable, names))}")
    return History.from_table(reading.table), reading.report, reading.sources


def read_events_of(logs: list[str], settings: Settings, *, hashed: bool = True) -> Reading:
    """The event table of logs, stores and snapshots; damage is reported on standard error.

    Its `sources` are left out unless `hashed`.
    """
    with progress_bar("reading", reads_logs=bool(_logs(logs))) as progress:
        reading = read_inputs(logs, settings, progress, hashed=hashed)
    tell_unread(reading.report.unreadable, reading.report.events)
    if skipped := reading.report.skipped:
        note(
            f"{len(skipped)} damaged stretches were skipped, the first in "
            f"{printable(skipped[0].file)} at byte {skipped[0].offset}: {skipped[0].reason}; "
            "`jobsight events` lists all"
        )
    note_shortened(reading.shortened)
    return reading


def note_shortened(jobs: int) -> None:
    """Report, on standard error, how many jobs lack events; nothing where none do."""
    if jobs:
        note(f"of {jobs} jobs that had very many events, those of the middle were not kept")


def read_for(
    question: Question[Any],
    inputs: list[str],
    settings: Settings,
    seen: Callable[[JobDocument], None] | None = None,
    *,
    hashed: bool = True,
) -> tuple[Any, ReadReport, list[Source]]:
    """What a question is asked of, read from logs, stores, snapshots and files of importers.

    `seen` is called with each document, where the question is asked of jobs; unless `hashed`, these
    are read without sources.

    Raises:
        SourceError: there is nothing in it; errors as of `read_history` and `job_table`.
    """
    if question.reads == "events":
        return read_history(inputs, settings)
    if question.reads == "programs":
        with progress_bar("reading") as progress:
            found, sources = programs(inputs, settings, progress)
        if not found:
            raise SourceError(f"no measured program in {', '.join(map(printable, inputs))}")
        report = ReadReport(files=len(found), jobs=len(found))
        report.bytes = sum(len(one.text) for one in found)
        return found, report, sources
    with progress_bar("reading", reads_logs=bool(_logs(inputs))) as progress:
        reading = job_table(inputs, settings, progress, hashed=hashed, seen=seen)
    table = reading.jobs.table
    tell_unread(reading.unreadable, len(table))
    if not len(table):
        raise SourceError(f"no job in {', '.join(map(printable, inputs))}")
    if reading.bad:
        note(f"{reading.bad} rows could not be read and were left out")
    report = ReadReport(files=len(reading.sources), jobs=len(table))
    report.bytes = sum(one.bytes for one in reading.sources)
    report.first, report.last = table.select(
        first=pl.col("seen").min().to_physical(),
        last=pl.max_horizontal("seen", "reported").max().to_physical(),
    ).row(0)
    return reading.jobs, report, reading.sources


def cluster_of(source: Any) -> str:
    """The access point that a history is of; `DEFAULT` where it has none, or several."""
    if not isinstance(source, History):
        return DEFAULT
    names = source.jobs["access_point"].drop_nulls().unique()
    return str(names[0]) if len(names) == 1 else DEFAULT


@dataclass(frozen=True)
class Judged:
    """A trained model, and what it is judged on."""

    settings: Settings
    model: ModelDir
    source: Any
    read: ReadReport


def open_judged(
    question: Question[Any],
    logs: list[str],
    model: str,
    *,
    timezone: str | None,
    config: Path | None,
    network: str | None,
    output: Path | None = None,
    kind: Kind = Kind.REPORT,
) -> Judged:
    """Load the settings, open the model, read the logs; `output` is checked first.

    Raises:
        JobsightError: see `load_settings`, `model_folder`, `ModelDir.open`, `read_for`,
            `check_output`.
    """
    own = {"lstm": {"network": network}}
    settings = load_settings(config, {"timezone": timezone, question.name: own}, question)
    folder = model_folder(model, settings, question.name)
    check_output(output, kind, model=folder)
    trained = ModelDir.open(folder, question, network=network_of(question, settings))
    source, read, _ = read_for(question, logs, settings)
    return Judged(settings, trained, source, read)


def network_of(question: Question[Any], settings: Settings) -> str | None:
    """The network class that the user's settings of a question name, where it has one."""
    lstm = getattr(settings.of(question.name, question.settings), "lstm", None)
    return None if lstm is None else str(lstm.network)


def named_model(name: str | None, settings: Settings, question: Question[Any]) -> ModelDir | None:
    """The model that ``--model`` names, opened; None where it names none, or ``none``.

    Raises:
        ModelError: it cannot be found or opened.
    """
    if name is None or name == "none":
        return None
    folder, network = model_folder(name, settings, question.name), network_of(question, settings)
    return ModelDir.open(folder, question, network=network, only_chosen=True)
