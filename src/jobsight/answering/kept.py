"""The tables of a store, kept on this machine from one call to the next.

Only documents that changed are read again. What is kept is of one store, by its identity, of one
state of its archive, and of one past: a store that was restored from a copy may have other
documents under the same revisions. So some of the last documents are compared with what they were
when the table was written; where one differs, all is read. It is a cache, in
``~/.cache/jobsight/entries`` and ``jobs`` (``XDG_CACHE_HOME``), of the last few stores, and nothing
is lost with it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import polars as pl

from jobsight import __version__
from jobsight.documents import encode
from jobsight.errors import OutputError, SourceError
from jobsight.files import new_file
from jobsight.history.eventtables import Entries, as_logs, with_newer
from jobsight.history.timelines import History
from jobsight.learning.reading import DocumentStream, Watch, note_shortened, open_stored
from jobsight.runtime import cache_folder
from jobsight.store.packing import ACTIVE
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.documents import JobDocument
    from jobsight.history.jobtable import JobTable
    from jobsight.learning.question import Question
    from jobsight.settings import Settings
    from jobsight.store import Store

__all__ = ["EventTable", "kept_events", "kept_jobs", "kept_source"]

T = TypeVar("T")

Shown = Callable[[Iterable["JobDocument"]], Iterable["JobDocument"]]
"""Passes on those of documents that are read."""

_FEW = 2_000
"""Documents that are read each time, rather than what is made of them written."""
_STORES = 4
_FORM = "10"
"""Raised whenever what is written changes."""
_WITNESSES, _LATEST = 64, 64
"""Documents that are looked at; they are among those of so many of the last revisions."""


class EventTable(NamedTuple):
    """The event table of a store.

    Attributes:
        table: the table.
        shortened: HTCondor jobs whose documents lack events of the middle.
    """

    table: pl.DataFrame
    shortened: frozenset[str]

    @classmethod
    def read(cls, documents: Iterable[JobDocument]) -> EventTable:
        """That of documents of HTCondor."""
        gathered, shortened = Entries(), set[str]()
        for one in documents:
            gathered.add(one)
            if one.dropped:
                shortened.add(one.id)
        return cls(as_logs(gathered.frame()), frozenset(shortened))

    def updated(self, newer: EventTable) -> EventTable:
        """The table with the newer entries of some jobs in place of those they had."""
        table = as_logs(with_newer(self._entries(), newer._entries()))
        return EventTable(table, self.shortened | newer.shortened)

    def _entries(self) -> pl.DataFrame:
        entries = self.table.filter(pl.col("cluster") >= 0)
        return entries.with_columns(log=pl.lit(None, entries.schema["log"]))

    def packed(self) -> _Packed:
        """All of it, to be written."""
        return _Packed(self.table, {"shortened": json.dumps(sorted(self.shortened))})

    @classmethod
    def unpacked(cls, packed: _Packed) -> EventTable:
        """What `packed` was made of."""
        return cls(packed.frame, frozenset(json.loads(packed.facts["shortened"])))


class _Packed(NamedTuple):
    """A table as one frame, with what else belongs to it."""

    frame: pl.DataFrame
    facts: Mapping[str, str] = {}


@dataclass(frozen=True)
class _Form(Generic[T]):
    """How a table is made of documents, brought up to date, and written."""

    folder: str
    read: Callable[[Iterable[JobDocument]], T]
    updated: Callable[[T, T], T]
    packed: Callable[[T], _Packed]
    unpacked: Callable[[_Packed], T]


class _Kept(NamedTuple):
    """A table as it was written.

    Attributes:
        packed: the table.
        revision: of the store that it is of.
        witnesses: ids of some documents that changed last, with the hash of each.
    """

    packed: _Packed
    revision: int
    witnesses: Mapping[str, str]


def kept_source(question: Question[Any], text: str, settings: Settings, watch: Watch) -> Any:
    """The history or the job table of a store, of which only what changed is read.

    Args:
        question: that is asked of it.
        text: the input that names the store.
        settings: of the store.
        watch: is kept informed.

    Raises:
        SourceError: there is nothing in it; `StoreError`: it cannot be read.
    """
    events = question.reads == "events"
    with watch.progress("reading") as progress, open_stored(text, settings) as store:

        def shown(documents: Iterable[JobDocument]) -> Iterable[JobDocument]:
            prefix = "htcondor:" if events else ""
            return DocumentStream(documents, progress, hashed=False, prefix=prefix)

        table = kept_events(store, shown) if events else kept_jobs(store, shown)
        if not len(table.table):
            what = "event record" if events else "job"
            raise SourceError(f"no {what} in {printable(store.url)}")
    if isinstance(table, EventTable):
        note_shortened(len(table.shortened), watch)
        return History.from_table(table.table)
    return table


def kept_events(store: Store, shown: Shown) -> EventTable:
    """The event table of a store as it is now.

    Args:
        store: is read.
        shown: passes on the documents that are read, those of HTCondor.

    Raises:
        StoreError: as of `Store.scan`.
    """
    form = _Form(
        "entries", EventTable.read, EventTable.updated, EventTable.packed, EventTable.unpacked
    )
    return _table(form, store, shown)


def kept_jobs(store: Store, shown: Shown) -> JobTable:
    """The job table of a store as it is now; as `kept_events`, of all documents."""
    from jobsight.history.jobtable import JobTable  # held jobs do without it

    form = _Form(
        "jobs", JobTable.read, JobTable.updated,
        lambda jobs: _Packed(jobs.packed()), lambda packed: JobTable.unpacked(packed.frame),
    )  # fmt: skip
    return _table(form, store, shown)


def _table(form: _Form[T], store: Store, shown: Shown) -> T:
    """The table of a store as it is now."""
    file = _file(store, form.folder)
    about = {"form": _FORM, "version": __version__, "generation": str(store.generation())}
    revision, count = store.revision(), 0

    def counted(documents: Iterable[JobDocument]) -> Iterable[JobDocument]:
        nonlocal count
        for count, one in enumerate(shown(documents), start=1):  # noqa: B007 - it is the result
            yield one

    kept = None if file is None else _read(file, about)
    if kept is None or kept.revision > revision or not _is_of(store, kept):
        found = form.read(counted(store.scan()))
    else:
        found = form.unpacked(kept.packed)
        rows = {row.keys.id: row for row in store.changed(kept.revision)}.values()
        if rows:
            newer = form.read(counted(row.document() for row in rows))
            found = form.updated(found, newer) if count else found
    if file is not None and count >= _FEW:
        seals = {"revision": str(revision), "seals": json.dumps(_witnesses(store, revision))}
        with contextlib.suppress(OSError, OutputError):  # all is read next time too
            _write(file, form.packed(found), about | seals)
    return found


def _is_of(store: Store, kept: _Kept) -> bool:
    """Whether the store has the past that a table is of; False where nothing shows it.

    Args:
        store: in which documents may have changed since.
        kept: the table.
    """
    shown = not kept.witnesses  # no job is live: the archive's generation vouches for all
    for id_, one in store.get(kept.witnesses).items():
        if one.revision is not None and one.revision <= kept.revision:
            if _seal(one.revision, one.document) != kept.witnesses[id_]:
                return False
            shown = True
    return shown


def _read(file: Path, about: dict[str, str]) -> _Kept | None:
    """What is kept of this state of the archive."""
    with contextlib.suppress(OSError, ValueError, KeyError, pl.exceptions.PolarsError):
        facts = pl.read_parquet_metadata(file)
        if all(facts[name] == value for name, value in about.items()):
            packed = _Packed(pl.read_parquet(file, glob=False), facts)
            return _Kept(packed, int(facts["revision"]), json.loads(facts["seals"]))
    return None


def _write(file: Path, packed: _Packed, about: dict[str, str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with new_file(file) as place:
        packed.frame.write_parquet(place, metadata={**packed.facts, **about}, compression_level=1)
    by_age = sorted(file.parent.glob("*.parquet"), key=lambda one: one.stat().st_mtime)
    for old in by_age[:-_STORES]:
        old.unlink()


def _witnesses(store: Store, revision: int) -> dict[str, str]:
    """Of the documents that changed last, up to a revision: those first that change no more."""
    rows = [one for one in store.changed(revision - _LATEST) if one.revision <= revision]
    rows.sort(key=lambda one: (one.keys.state in ACTIVE, -one.revision))
    return {one.keys.id: _seal(one.revision, one.document()) for one in rows[:_WITNESSES]}


def _seal(revision: int, document: JobDocument) -> str:
    return hashlib.sha256(b"%d " % revision + encode(document)).hexdigest()


def _file(store: Store, folder: str) -> Path | None:
    cache = cache_folder()
    return None if cache is None else Path(cache) / folder / f"{store.identity():016x}.parquet"
