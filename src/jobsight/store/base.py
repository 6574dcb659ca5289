"""The contract of a store of job documents, and how parts of documents are merged into it.

A store keeps one document a job, and one position a source. A document has a *revision*, a number
that changes with every write; a put says which revision it was based on, so no writer overwrites
what another has learned meanwhile. Documents and positions of one put are stored together or not
at all.
"""

from __future__ import annotations

import itertools
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from jobsight.documents import JobDocument, State
from jobsight.documents import merge as join
from jobsight.errors import ConflictError, DocumentError, StoreError, TooMuchError
from jobsight.store.packing import pack
from jobsight.store.reports import CheckReport, Position, PruneReport, StoreStatus
from jobsight.store.rows import Query, Row

__all__ = [
    "Change",
    "Merged",
    "Move",
    "Put",
    "Store",
    "Stored",
]

_MOST_TRIES = 100
_FIRST_PAUSE = 0.002
_LONGEST_PAUSE = 0.25


@dataclass(frozen=True, slots=True)
class Stored:
    """A document as the store has it.

    Attributes:
        document: all that is known of the job.
        revision: to be given back with a put; None: it lies in the archive, and is not live.
    """

    document: JobDocument
    revision: int | None


class Put(NamedTuple):
    """A document to be stored.

    Attributes:
        document: takes the place of what the store has.
        based_on: revision that it was made from; None: the store has the job not live.
    """

    document: JobDocument
    based_on: int | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """A source's position to be stored.

    Attributes:
        source: name of the source.
        old: position that the store must have; None: none yet.
        new: position that it has afterwards.
    """

    source: str
    old: Position | None
    new: Position


class Change(NamedTuple):
    """A document before (None: it is new) and after a merge."""

    old: JobDocument | None
    new: JobDocument


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge did.

    Attributes:
        changes: documents that were written.
        unchanged: number of jobs of which nothing new was told.
        refused: id and reason of documents that no store can keep; they were left out.
    """

    changes: tuple[Change, ...] = ()
    unchanged: int = 0
    refused: tuple[tuple[str, str], ...] = ()


class Store(ABC):
    """A store of job documents.

    *Threads and processes.* Every method may be called from any thread, and several processes may
    use one store at once. An iterator belongs to the thread that reads it.

    *Ownership.* The store owns its connections; `close` lets go of them, also those that other
    threads opened, and of unfinished iterators. Documents are frozen and may be shared.

    *Durability.* When `put` returns, what it stored survives a kill of every process involved. What
    a loss of power may take back is told by ``status().details["durability"]``; documents and
    positions are taken back together.

    *Errors.* `StoreUnavailableError` where trying again may help (server away, locked, disk full),
    other `StoreError` where it does not (damaged, read-only, another schema); after either, nothing
    of the put was stored, or, where a server was lost while it answered, all of it. `ConflictError`
    as described at `put`.

    Attributes:
        url: its address, without secrets.
        most_documents: documents that one put may hold.
        most_bytes: bytes that one put may hold, packed.
    """

    url: str
    most_documents: int = 20_000
    most_bytes: int = 64 << 20

    @abstractmethod
    def put(
        self, puts: Sequence[Put], moves: Sequence[Move] = (), *, generation: int | None = None
    ) -> None:
        """Store documents and positions in one transaction.

        Args:
            puts: no job twice, and no more than `most_documents` and `most_bytes`. There is no
                splitting: the position would be stored without its documents, or after them.
            moves: no source twice.
            generation: what `generation` said before the documents were read. Where given, a
                document put as not live conflicts if the archive has grown since: the job may lie
                in it now.

        Raises:
            ConflictError: a document or position is not what the put was based on; names all of
                them. Nothing was stored.
            DocumentError: a document cannot be written.
            StoreError: too much at once, or as said above.
        """

    @abstractmethod
    def get(self, ids: Collection[str]) -> dict[str, Stored]:
        """The documents of these jobs, live or archived; jobs that are unknown are left out."""

    @abstractmethod
    def generation(self) -> int:
        """A number that changes whenever documents move to the archive."""

    @abstractmethod
    def rows(self, query: Query) -> Iterator[Row]:
        """The rows of this query, in the order of `scan`."""

    def scan(
        self,
        *,
        since: int | None = None,
        until: int | None = None,
        states: Collection[State] | None = None,
        user: str | None = None,
        cluster: str | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Iterator[JobDocument]:
        """Documents, live and archived, in order of *time* and id, in bounded memory.

        The time of a document is that of the last thing that happened to the job: its latest
        timeline entry, else its submission, else `updated`.

        Each job comes once, and every job that is in the store throughout comes; of a job that
        changes meanwhile, as it was at some moment of the scan. (Redis, newest first: a job that
        changes meanwhile may be left out.)

        Args:
            since: least time, µs since 1970.
            until: first time that is too late.
            states: one of these; None: any, also unknown. All states of jobs that have not ended:
                those of which none is known as well.
            user: submitted by that user.
            cluster: the id up to its last colon, e.g. ``slurm:mycluster``.
            limit: end after that many.
            newest_first: latest time first; else earliest first.
        """
        query = Query.asking(since, until, states, user, cluster, newest_first)
        most = None if limit is None else max(limit, 0)
        return (row.document() for row in itertools.islice(self.rows(query), most))

    @abstractmethod
    def active(self, cluster: str | None = None) -> Iterator[JobDocument]:
        """Jobs that have not ended, by id; of one cluster (as in `scan`), or of all."""

    @abstractmethod
    def numbered(self, number: str) -> list[str]:
        """Ids of all jobs of one number, live or archived, in any cluster, in order.

        A number names a job, a whole array or a whole cluster of procs: of ``123`` these are
        ``123``, ``123_*``, ``123+*`` and ``123.*``.

        Args:
            number: digits, or a SLUID.
        """

    @abstractmethod
    def raw(self, number: str) -> list[str]:
        """Ids of jobs that Slurm itself has under this number, live or archived, in order.

        Slurm numbers tasks of arrays and components of het jobs through (`Submission.raw_id`): of
        ``1237`` this is ``1234_5``. Jobs whose number (`numbered`) it is are left out.

        Args:
            number: digits.
        """

    @abstractmethod
    def position(self, source: str) -> Position | None:
        """Where a source stands; None: the store does not know it."""

    @abstractmethod
    def positions(self) -> dict[str, Position]:
        """Where all sources stand, by name."""

    @abstractmethod
    def status(self) -> StoreStatus:
        """What the store holds, at a cost that does not grow with the number of documents much."""

    @abstractmethod
    def check(self) -> CheckReport:
        """Read everything: documents decode, indexes agree, archive files are what was written."""

    @abstractmethod
    def prune(self, before: int, *, least: int = 1, overdue: int | None = None) -> PruneReport:
        """Move jobs that ended, and whose time (see `scan`) is less than `before`, to the archive.

        A kill at any moment loses nothing; the next prune that moves jobs clears away what a killed
        one left. Of two prunes at once, the one that began first stops with an error. So does one
        into a folder that lacks the archive's latest file, or has files of a copy of the store.

        Args:
            before: µs since 1970.
            least: fewer such jobs stay where they are, so that who prunes often does not fill the
                archive with small files;
            overdue: unless one of them has a time less than this, µs since 1970.

        Raises:
            OutputError: the archive cannot be written.
            StoreError: as said above.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of everything; may be called twice. Other methods then raise `StoreError`."""

    def merge(self, partials: Iterable[JobDocument], moves: Sequence[Move] = ()) -> Merged:
        """Merge what a source knows into what the store has, and move positions with it.

        Documents that no store can keep (`DocumentError`) are left out and reported, so that one
        of them cannot stop a source for ever. Conflicts of documents are resolved by reading and
        merging again. What is too much for one put is stored by several, unless positions move
        with it.

        Raises:
            ConflictError: a position is not what it was: another process collects from the source
                too. Nothing was stored; resume the source.
            TooMuchError: it is too much to be stored together with positions. Nothing was stored.
            StoreError: as said above.
        """
        parts: dict[str, list[JobDocument]] = {}
        for partial in partials:
            parts.setdefault(partial.id, []).append(partial)
        try:
            return self._merged(dict(parts), moves)
        except TooMuchError:
            if moves or len(parts) < 2:
                raise
        told = list(parts.values())
        half = len(told) // 2
        one, other = (self.merge(itertools.chain(*some)) for some in (told[:half], told[half:]))
        return Merged(
            one.changes + other.changes,
            one.unchanged + other.unchanged,
            one.refused + other.refused,
        )

    def _merged(self, parts: dict[str, list[JobDocument]], moves: Sequence[Move]) -> Merged:
        """As `merge`, in one put; documents that cannot be kept are taken out of `parts`."""
        refused: list[tuple[str, str]] = []
        pause = _FIRST_PAUSE
        for _ in range(_MOST_TRIES):
            generation = self.generation()
            puts, changes = self._join(parts)
            try:
                if puts or any(move.old != move.new for move in moves):
                    self.put(puts, moves, generation=generation)
                return Merged(changes, len(parts) - len(changes), tuple(refused))
            except DocumentError:
                if not (found := list(_unstorable(puts))):
                    raise
                refused += found
                for id_, _reason in found:
                    del parts[id_]
                continue
            except ConflictError as conflict:
                if conflict.sources:
                    raise
            # The pause grows and varies, so that writers of the same jobs get out of step.
            time.sleep(pause * random.random())  # noqa: S311
            pause = min(2 * pause, _LONGEST_PAUSE)
        raise ConflictError(tuple(parts))

    def _require_bounded(self, ids: Sequence[str], size: int) -> None:
        """Refuse a put that is too large, or has a job twice."""
        if len(ids) > self.most_documents or size > self.most_bytes:
            raise TooMuchError(
                f"{len(ids)} documents of {size} bytes are too much for one put; it may hold "
                f"{self.most_documents} documents and {self.most_bytes} bytes: ask the source for "
                "less at a time"
            )
        if len(set(ids)) != len(ids):
            raise StoreError("a put has the same job twice; merge its documents first")

    def _join(self, parts: dict[str, list[JobDocument]]) -> tuple[list[Put], tuple[Change, ...]]:
        """Puts of all jobs of which `parts` tell something new."""
        found = self.get(parts.keys())
        puts: list[Put] = []
        changes: list[Change] = []
        for id_, partials in parts.items():
            stored = found.get(id_)
            old = stored.document if stored else None
            new = old
            for partial in partials:
                new = join(new, partial)
            if new is not None and new is not old and new != old:
                puts.append(Put(new, stored.revision if stored else None))
                changes.append(Change(old, new))
        return puts, tuple(changes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _unstorable(puts: Iterable[Put]) -> Iterator[tuple[str, str]]:
    for put in puts:
        try:
            pack(put.document)
        except DocumentError as error:
            yield put.document.id, str(error)
