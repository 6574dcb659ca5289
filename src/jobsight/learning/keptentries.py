"""The event log entries of a store, kept on this machine from one call to the next.

Only documents that changed are read again. What is kept is of one store, by its identity, of one
state of its archive, and of one past: a store that was put back from a copy may have come to other
documents under the same revisions. So some of the last documents are looked at, which must be what
they were; where they are not, all is read. It is a cache, in
``~/.cache/jobsight/entries`` (``XDG_CACHE_HOME``), of the last few stores, and nothing is lost with
it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from jobsight import __version__
from jobsight.documents import encode
from jobsight.errors import OutputError
from jobsight.files import new_file
from jobsight.history.eventtables import Entries, as_logs, with_newer
from jobsight.runtime import cache_folder
from jobsight.store.packing import ACTIVE

if TYPE_CHECKING:
    from jobsight.documents import JobDocument
    from jobsight.store.base import Store

__all__ = ["KeptEntries"]

_FEW = 10_000
"""Entries that are read from the documents each time, rather than written."""
_STORES = 4
_FORM = "2"
"""Raised whenever what is written changes."""
_WITNESSES, _LATEST = 64, 64
"""Documents that are looked at; they are among those of so many of the last revisions."""


class KeptEntries(NamedTuple):
    """The entries of a store.

    Attributes:
        table: the event table of them.
        shortened: HTCondor jobs whose documents lack events of the middle.
        witnesses: ids of some documents that changed last, with the hash of each.
    """

    table: pl.DataFrame
    shortened: frozenset[str]
    witnesses: Mapping[str, str] = {}

    @classmethod
    def of(
        cls, store: Store, shown: Callable[[Iterable[JobDocument]], Iterable[JobDocument]]
    ) -> KeptEntries:
        """The entries of a store as it is now.

        Args:
            store: is read.
            shown: passes on the documents that are read, those of HTCondor.

        Raises:
            StoreError: as of `Store.scan`.
        """
        file = _file(store)
        about = {"form": _FORM, "version": __version__, "generation": str(store.generation())}
        revision = store.revision()
        kept, known = (None, 0) if file is None else cls._read(file, about)
        if kept is None or known > revision or not kept.are_of(store, known):
            newer, shortened = _gathered(shown(store.scan()))
            found = cls(as_logs(newer), shortened)
        else:
            rows = {row.keys.id: row for row in store.changed(known)}.values()
            newer, shortened = _gathered(shown(row.document() for row in rows))
            found = cls(kept._with(newer), kept.shortened | shortened)
        if file is not None and len(newer) >= _FEW:
            found = found._replace(witnesses=_witnesses(store, revision))
            with contextlib.suppress(OSError, OutputError):  # all is read next time too
                found._write(file, {**about, "revision": str(revision)})
        return found

    def are_of(self, store: Store, known: int) -> bool:
        """Whether the store has the past that these are of; False where nothing shows it.

        Args:
            store: in which documents may have changed since.
            known: the revision that these are of.
        """
        shown = not self.witnesses  # no job is live: the archive's generation vouches for all
        for id_, one in store.get(self.witnesses).items():
            if one.revision is not None and one.revision <= known:
                if _seal(one.revision, one.document) != self.witnesses[id_]:
                    return False
                shown = True
        return shown

    def _with(self, newer: pl.DataFrame) -> pl.DataFrame:
        """The event table with newer entries of some jobs in place of those they had."""
        if not len(newer):
            return self.table
        entries = self.table.filter(pl.col("cluster") >= 0)
        entries = entries.with_columns(log=pl.lit(None, entries.schema["log"]))
        return as_logs(with_newer(entries, newer))

    @classmethod
    def _read(cls, file: Path, about: dict[str, str]) -> tuple[KeptEntries | None, int]:
        """What is kept of this state of the archive, and as of which revision."""
        with contextlib.suppress(OSError, ValueError, KeyError, pl.exceptions.PolarsError):
            found = pl.read_parquet_metadata(file)
            if all(found[name] == value for name, value in about.items()):
                shortened = frozenset(json.loads(found["shortened"]))
                kept = cls(pl.read_parquet(file, glob=False), shortened, json.loads(found["seals"]))
                return kept, int(found["revision"])
        return None, 0

    def _write(self, file: Path, about: dict[str, str]) -> None:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        shortened = json.dumps(sorted(self.shortened))
        written = {**about, "shortened": shortened, "seals": json.dumps(self.witnesses)}
        with new_file(file) as place:
            self.table.write_parquet(place, metadata=written, compression_level=1)
        by_age = sorted(file.parent.glob("*.parquet"), key=lambda one: one.stat().st_mtime)
        for old in by_age[:-_STORES]:
            old.unlink()


def _gathered(documents: Iterable[JobDocument]) -> tuple[pl.DataFrame, frozenset[str]]:
    """The entries of documents, and which of these lack events of the middle."""
    gathered, shortened = Entries(), set[str]()
    for one in documents:
        gathered.add(one)
        if one.dropped:
            shortened.add(one.id)
    return gathered.frame(), frozenset(shortened)


def _witnesses(store: Store, revision: int) -> dict[str, str]:
    """Of the documents that changed last, up to a revision: those first that change no more."""
    rows = [one for one in store.changed(revision - _LATEST) if one.revision <= revision]
    rows.sort(key=lambda one: (one.keys.state in ACTIVE, -one.revision))
    return {one.keys.id: _seal(one.revision, one.document()) for one in rows[:_WITNESSES]}


def _seal(revision: int, document: JobDocument) -> str:
    return hashlib.sha256(b"%d " % revision + encode(document)).hexdigest()


def _file(store: Store) -> Path | None:
    cache = cache_folder()
    return None if cache is None else Path(cache) / "entries" / f"{store.identity():016x}.parquet"
