"""The tables of a store, which follow it: only documents that changed are read again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from jobsight.documents import JobDocument, parse_key
from jobsight.history.eventtables import Entries, as_logs, with_newer
from jobsight.history.jobtable import JobTable
from jobsight.history.timelines import History

if TYPE_CHECKING:
    from jobsight.store import Store

__all__ = ["Tables"]


@dataclass(frozen=True)
class Tables:
    """What the questions read of one store.

    Attributes:
        revision: of the store, when reading began; what is later may be in it or not.
        jobs: one row per job.
        entries: the rows of the event table, see `jobsight.history.eventtables.Entries`.
        shortened: HTCondor jobs whose documents lack events of the middle.
        answered: jobs whose documents have answers.
    """

    revision: int
    jobs: JobTable
    entries: pl.DataFrame
    shortened: frozenset[str]
    answered: frozenset[str]

    @classmethod
    def read(cls, store: Store) -> Tables:
        """Read all documents of a store, live and archived; errors as of `Store.scan`."""
        revision = store.revision()
        return cls(revision, *_tables(store.scan()))

    def followed(self, store: Store, seen: Callable[[JobDocument], None]) -> Tables:
        """The tables with all that changed since; itself where nothing did.

        `seen` is called with each document that changed.
        """
        revision = store.revision()
        if revision == self.revision:
            return self
        changed = {row.keys.id: row.document() for row in store.changed(self.revision)}
        for one in changed.values():
            seen(one)
        jobs, entries, shortened, answered = _tables(changed.values())
        entries = with_newer(self.entries, entries)
        shortened, answered = self.shortened | shortened, self.answered | answered
        return Tables(revision, self.jobs.updated(jobs), entries, shortened, answered)

    @cached_property
    def history(self) -> History | None:
        """The event history; None where no document has entries of an event log."""
        return History.from_table(as_logs(self.entries)) if len(self.entries) else None


def _tables(
    documents: Iterable[JobDocument],
) -> tuple[JobTable, pl.DataFrame, frozenset[str], frozenset[str]]:
    gathered = Entries()
    shortened, answered = set[str](), set[str]()

    def shown() -> Iterable[JobDocument]:
        for one in documents:
            gathered.add(one)
            if one.dropped and parse_key(one.id).scheduler == "htcondor":
                shortened.add(one.id)
            if one.predictions:
                answered.add(one.id)
            yield one

    jobs = JobTable.read(shown())
    return jobs, gathered.frame(), frozenset(shortened), frozenset(answered)
