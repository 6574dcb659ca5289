"""Where job tables are read from: stores, snapshots, files of any importer, event logs, all alike.

An input that is the address of a store (``sqlite:///jobs.db``, ``redis://host``, ``store:`` for the
one that is set), an SQLite file, or a folder that `jobsight store export` wrote holds job
documents; any other is a file that an importer knows, or an event log.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from jobsight.errors import SourceError
from jobsight.learning.manifest import Source
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.documents import JobDocument
    from jobsight.history.importers import FileImport
    from jobsight.history.jobtable import JobTable
    from jobsight.program.examples import Example
    from jobsight.settings import Settings
    from jobsight.store.base import Store

__all__ = [
    "DocumentStream",
    "JobReading",
    "Progress",
    "are_documents",
    "is_pipe",
    "job_table",
    "open_stored",
    "program_lines",
    "programs",
    "stored",
]

Progress = Callable[[int, int], None]

_ADDRESS = re.compile(r"(?:sqlite|redis|rediss|unix)://|store:\Z")
_SET = "store:"
_MAGIC = b"SQLite format 3\0"
_TELL_EVERY = 1000
_UNNAMED = "unnamed"
"""The cluster of a file that does not say which; the same for all, so that a job stays the same."""


@dataclass(frozen=True)
class JobReading:
    """What was read of jobs.

    Attributes:
        jobs: one row per job, of either scheduler.
        sources: for the manifest of what is made of it; none unless asked for.
        unreadable: files that could not be read, each with a line that says so.
        bad: rows of files that could not be read, counted.
    """

    jobs: JobTable
    sources: list[Source]
    unreadable: list[tuple[str, str]]
    bad: int


def job_table(
    inputs: Sequence[str],
    settings: Settings,
    progress: Progress,
    *,
    hashed: bool = True,
    seen: Callable[[JobDocument], None] | None = None,
) -> JobReading:
    """Read stores, snapshots, files of importers and event logs into one job table.

    Args:
        inputs: what to read; ``-`` and pipes are event logs.
        settings: of the store, of time zones, and the names of access point and cluster.
        progress: is called with how much was read, and of how much (0: unknown).
        hashed: False: without `sources`, and of one store only what changed since the last call.
        seen: is called with each document.

    Raises:
        SourceError: a file cannot be read or is of no known format; `StoreError`: a store cannot.
        UsageError: nothing names the cluster of a file.
    """
    from jobsight.history.jobtable import JobTable

    stores = [one for one in inputs if not is_pipe(one) and are_documents(one)]
    if (
        stores == [*inputs]
        and len(stores) == 1
        and not (hashed or seen or Path(stores[0]).is_dir())
    ):
        return JobReading(_of_store(stores[0], settings, progress), [], [], 0)
    files = [one for one in inputs if one not in stores]
    imports = {one: _import(one, settings, progress) for one in files if not is_pipe(one)}
    logs = [one for one in files if one not in imports or _is_log(imports[one])]
    reads = [one for name, one in imports.items() if name not in logs]
    sources: list[Source] = []
    history, unreadable = None, []
    if logs:
        from jobsight.history.events import read_events  # stores do without the compiled reader
        from jobsight.history.timelines import History

        log = read_events(
            logs,
            access_point=settings.access_point,
            timezone=settings.timezone,
            progress=progress,
        )
        history, unreadable = History.from_table(log.table), log.report.unreadable
    documents = _documents(stores, reads, settings, progress, sources if hashed else None)
    if seen is not None:
        documents = _shown_to(seen, documents)
    jobs = JobTable.read(documents, history)
    paths = {path for one in imports.values() for path in one.paths} if hashed else ()
    sources += [Source.of(path) for path in sorted(paths)]
    unreadable = [*unreadable, *(line for one in reads for line in one.report.unreadable)]
    return JobReading(jobs, sources, unreadable, sum(one.report.bad for one in reads))


def _of_store(text: str, settings: Settings, progress: Progress) -> JobTable:
    """The job table of a store, of which only documents are read that changed since last time."""
    from jobsight.learning.kepttables import kept_jobs

    with open_stored(text, settings) as store:

        def shown(documents: Iterable[JobDocument]) -> Iterable[JobDocument]:
            return DocumentStream(documents, progress, hashed=False)

        return kept_jobs(store, shown)


def programs(
    inputs: Sequence[str], settings: Settings, progress: Progress
) -> tuple[list[Example], list[Source]]:
    """Read programs with what bound them from corpora, files of lines, stores and snapshots.

    Raises:
        SourceError: an input is none of these, or cannot be read; `StoreError`: a store cannot.
    """
    from jobsight.program.examples import example_of, examples_in

    found: list[Example] = []
    sources: list[Source] = []
    for one in inputs:
        lines = program_lines(one)
        if lines is not None:
            own = list(examples_in(lines))
            found += own
            sources.append(_source_of(lines, own))
        else:
            with stored(one, settings) as (name, total, documents):
                stream = DocumentStream(documents, progress, total)
                found += filter(None, map(example_of, stream))
            sources.append(stream.source(name))
    return found, sources


def program_lines(text: str) -> Path | None:
    """The file of lines that an input of programs names; None: a store or snapshot.

    Raises:
        SourceError: it is none of these.
    """
    from jobsight.program.examples import MEASURED, lines_file

    lines = lines_file(text)
    if lines is None and not are_documents(text):
        raise SourceError(
            f"{printable(text, 200)} has no measured programs; name a folder with {MEASURED}, "
            "a .jsonl file, or a store"
        )
    return lines


def _source_of(lines: Path, examples: list[Example]) -> Source:
    """A file of lines as a source, by its content and that of its programs."""
    own = Source.of(lines)
    digest = hashlib.sha256(own.sha256.encode())
    for one in examples:
        digest.update(one.text.encode("utf-8", "replace"))
    return Source(own.name, digest.hexdigest(), own.bytes + sum(len(one.text) for one in examples))


def _shown_to(
    seen: Callable[[JobDocument], None], documents: Iterable[JobDocument]
) -> Iterator[JobDocument]:
    for one in documents:
        seen(one)
        yield one


def _documents(
    stores: list[str],
    imports: list[FileImport],
    settings: Settings,
    progress: Progress,
    sources: list[Source] | None,
) -> Iterator[JobDocument]:
    for text in stores:
        with stored(text, settings) as (name, total, documents):
            stream = DocumentStream(documents, progress, total, hashed=sources is not None)
            yield from stream
        if sources is not None:
            sources.append(stream.source(name))
    for one in imports:
        for batch in one.batches():
            yield from batch


def _import(name: str, settings: Settings, progress: Progress) -> FileImport:
    from jobsight.history.importers import FileImport, Options

    options = Options(
        cluster=settings.slurm.cluster,
        unnamed=_UNNAMED,
        access_point=settings.access_point,
        slurm_timezone=settings.slurm.timezone,
        site_timezone=settings.timezone,
        most_tasks=settings.slurm.array_tasks,
        progress=progress,
    )
    return FileImport([name], format="auto", options=options)


def _is_log(files: FileImport) -> bool:
    return [importer.name for importer in files.importers] == ["eventlog"]


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
        found = store.status()
        yield store.url, sum(found.states.values()) + found.archived, store.scan()


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
