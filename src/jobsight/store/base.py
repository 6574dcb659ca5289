"""The contract of a store of job documents, and what all stores have in common.

A store keeps one document per job, and one position per source. A document has a *revision*, a
number that changes with every write; a put says which revision it was based on, so no writer
overwrites what another has learned meanwhile. Documents and positions of one put are stored
together or not at all. Old documents are in an `Archive`; a backend gives a few small operations on
the live ones, and reading both as one, merging and moving are done here.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Self

from jobsight.documents import JSON, JobDocument, State, number_of
from jobsight.errors import StoreError
from jobsight.modes import wider_modes
from jobsight.store.archive import Archive
from jobsight.store.merging import merge
from jobsight.store.packing import (
    ACTIVE,
    SCHEMA,
    Keys,
    cluster_of,
    numbered_ranges,
    position_from_text,
    user_key,
)
from jobsight.store.parts import Part
from jobsight.store.pruning import prune
from jobsight.store.reports import (
    CheckReport,
    Merged,
    Move,
    Position,
    PruneReport,
    Put,
    Stored,
    StoreStatus,
)
from jobsight.store.rows import Order, Query, Row
from jobsight.store.views import View, all_rows, live_rows

__all__ = ["Merged", "Move", "Put", "Store", "Stored"]

_PAGE = 500
_MOST_SHOWN = 20
_LIVING = ACTIVE - {""}
"""A query for all of these asks for what has not ended, also where no state is known."""


class Store(ABC):
    """A store of job documents.

    *Threads and processes.* Every method may be called from any thread, and several processes may
    use one store at once. An iterator belongs to the thread that reads it.

    *Ownership.* The store owns its connections; `close` closes them, also those that other threads
    opened, and unfinished iterators. Documents are frozen and may be shared.

    *Durability.* When `put` returns, what it stored survives a kill of every process involved. What
    a loss of power may take back is in ``status().details["durability"]``; documents and positions
    are taken back together.

    *Errors.* `StoreUnavailableError` where trying again may help (server away, locked, disk full),
    other `StoreError` where it does not (damaged, read-only, another schema); after either, nothing
    of the put was stored, or, where a server was lost while it answered, all of it. `ConflictError`
    as described at `put`.

    Attributes:
        url: its address, without secrets.
        backend: ``sqlite`` or ``redis``.
        archive: where old documents are; None: no folder is set.
        most_documents: documents that one put may hold.
        most_bytes: bytes that one put may hold, packed.
    """

    url: str
    backend: str
    archive: Archive | None = None
    most_documents: int = 20_000
    most_bytes: int = 64 << 20
    _known_parts: tuple[int, Sequence[Part]] = (0, ())

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

    def get(self, ids: Collection[str]) -> dict[str, Stored]:
        """The documents of these jobs, live or archived; jobs that are unknown are left out."""
        # Live first: a document that moves in between is then found in the archive.
        live = self._live(ids)
        found = {id_: Stored(row.document(), row.revision) for id_, row in live.items()}
        missing = [id_ for id_ in ids if id_ not in found]
        if missing and (parts := self._parts()):
            old = self._archive().find(parts, missing)
            found.update((id_, Stored(row.document(), None)) for id_, row in old.items())
        return found

    def identity(self) -> int:
        """A number that no other store has."""
        return self._number("identity")

    def generation(self) -> int:
        """A number that changes whenever documents move to the archive."""
        return self._number("generation")

    def revision(self) -> int:
        """The revision of the latest put; a number that only grows."""
        return self._number("revision")

    def changed(self, since: int) -> Iterator[Row]:
        """Live rows with a later revision than `since`, in any order.

        Jobs that move to the archive are not among them. This one looks at every live row.
        """
        return (row for row in self.rows(Query()) if row.revision > since and not row.archived)

    def rows(self, query: Query, after: Order | None = None) -> Iterator[Row]:
        """The rows of this query, in the order of `scan`, behind `after` (None: all)."""
        return all_rows(self._view, self._archive, query, after)

    def scan(
        self, *, since: int | None = None, until: int | None = None,
        states: Collection[State] | None = None, user: str | None = None,
        cluster: str | None = None, limit: int | None = None, newest_first: bool = False,
    ) -> Iterator[JobDocument]:  # fmt: skip
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
        asked = None if states is None else frozenset(str(State(state)) for state in states)
        if asked is not None and asked >= _LIVING:
            asked |= ACTIVE
        key = None if user is None else user_key(user)
        query = Query(since, until, asked, key, cluster, newest_first)
        most = None if limit is None else max(limit, 0)
        return (row.document() for row in itertools.islice(self.rows(query), most))

    def active(self, cluster: str | None = None) -> Iterator[JobDocument]:
        """Jobs that have not ended, of one cluster (as in `scan`), or of all."""
        return (row.document() for row in self.rows(Query(states=ACTIVE, cluster=cluster)))

    def numbered(self, number: str) -> list[str]:
        """Ids of all jobs of one number, live or archived, in any cluster, in order.

        A number names a job, a whole array or a whole cluster of procs: of ``123`` these are
        ``123``, ``123_*``, ``123+*`` and ``123.*``. Slurm also numbers tasks of arrays and
        components of het jobs through (`Submission.raw_id`): of ``1237`` this may be ``1234_5``.

        Args:
            number: digits, or a SLUID.
        """
        found = {*self._live_numbered(number), *self._live_raw(number)}
        if parts := self._parts():
            found |= self._archive().numbered(parts, number)
        # Where a job has come back from the archive, what is live counts.
        by_raw = self.get([id_ for id_ in found if number_of(id_) != number])
        wrong = {id_ for id_, one in by_raw.items() if Keys.of(one.document).raw != number}
        return sorted(found - wrong)

    def position(self, source: str) -> Position | None:
        """The position of a source; None: the store does not know it."""
        text = self._position_texts(source).get(source)
        return None if text is None else position_from_text(source, text)

    def positions(self) -> dict[str, Position]:
        """The positions of all sources, by name."""
        texts = sorted(self._position_texts().items())
        return {source: position_from_text(source, text) for source, text in texts}

    def status(self) -> StoreStatus:
        """What the store holds; reads no document."""
        states, parts = self._states(), self._parts()
        size, per_job = self._size(sum(states.values()))
        return StoreStatus(
            url=self.url,
            backend=self.backend,
            schema=SCHEMA,
            states=states,
            active=sum(number for state, number in states.items() if state in ACTIVE),
            archived=sum(part.rows for part in parts),
            bytes=size,
            bytes_per_job=per_job,
            archive_bytes=sum(part.size for part in parts),
            positions=self.positions(),
            details=self._details(),
        )

    def check(self) -> CheckReport:
        """Read everything: documents decode, indexes agree, archive files are what was written."""
        number: Counter[str] = Counter()
        first: list[str] = []
        for kind, problem in self._checked():
            number[kind] += 1
            number["problem"] += problem is not None
            if problem is not None and len(first) < _MOST_SHOWN:
                first.append(problem)
        live, archived, problems = (number[kind] for kind in ("live", "archived", "problem"))
        wider = tuple(wider_modes(self._files()))
        return CheckReport(live, archived, problems, tuple(first), wider)

    def _checked(self) -> Iterator[tuple[str, str | None]]:
        """Of each row whether it is live or archived, and what is wrong with it, or elsewhere."""
        with self._view() as view:
            yield from (("live", _problem_of(row)) for _, row in live_rows(view, Query()))
        yield from (("", problem) for problem in self._index_problems())
        for source, text in self._position_texts().items():
            try:
                position_from_text(source, text)
            except StoreError as error:
                yield "", str(error)
        for part in self._parts():
            try:
                yield from (("archived", _problem_of(row)) for row in self._archive().rows(part))
            except StoreError as error:
                yield "", str(error)

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
        return prune(self, self._archive(), before, least=least, overdue=overdue)

    @abstractmethod
    def close(self) -> None:
        """Close everything; may be called twice. Other methods then raise `StoreError`."""

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
        return merge(self, partials, moves)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _live_numbered(self, number: str) -> Iterator[str]:
        # Each cluster's ids begin alike, so the clusters are found by leaps over the ids.
        first = ""
        while found := self._ids(first, None, 1):
            cluster = cluster_of(found[0])
            for low, high in numbered_ranges(cluster, number):
                while page := self._ids(low, high, _PAGE):
                    yield from page
                    low = page[-1] + " "  # noqa: PLW2901  # no id has a blank
            first = f"{cluster};"

    def _archive(self) -> Archive:
        if self.archive is None:
            raise StoreError(
                f"{self.url} has no folder for its archive; name one in the setting store.archive "
                "(JOBSIGHT_STORE__ARCHIVE), on a disk that all who use the store can read"
            )
        return self.archive

    def _files(self) -> Iterator[Path]:
        """All files and folders that hold the store's documents here."""
        if self.archive is not None:
            yield from (self.archive.folder, *self.archive.folder.rglob("*"))

    def _parts_at(
        self, generation: int, read: Callable[[], Iterable[str | bytes]]
    ) -> Sequence[Part]:
        """The registered parts, read anew where the generation is another."""
        # Read once: another thread may change it before the answer is there.
        known, parts = self._known_parts
        if generation != known:
            parts = [Part.from_text(text) for text in read()]
            self._known_parts = (generation, parts)
        return parts

    # What a backend gives

    @abstractmethod
    def _position_texts(self, source: str | None = None) -> Mapping[str, str | bytes]:
        """The positions of all sources, or of one, as texts."""

    @abstractmethod
    def _states(self) -> dict[str, int]:
        """Numbers of live documents by state."""

    @abstractmethod
    def _size(self, documents: int) -> tuple[int, float | None]:
        """Bytes of the live documents, of that number, and of one; see `StoreStatus`."""

    @abstractmethod
    def _details(self) -> dict[str, JSON]:
        """What else the backend reports."""

    @abstractmethod
    def _number(self, name: str) -> int:
        """One of ``generation``, ``revision``, ``fence`` and ``identity``, which no other has."""

    @abstractmethod
    def _next_fence(self) -> int:
        """Take the next fence; earlier ones are no longer the latest."""

    @abstractmethod
    def _view(self) -> AbstractContextManager[View]:
        """Begin a view of the live documents."""

    @abstractmethod
    def _live(self, ids: Collection[str]) -> dict[str, Row]:
        """The live rows among these jobs."""

    @abstractmethod
    def _parts(self) -> Sequence[Part]:
        """The registered parts of the archive, by name."""

    @abstractmethod
    def _ids(self, first: str, end: str | None, count: int) -> list[str]:
        """At most `count` ids of live documents, in order, from `first` up to before `end`."""

    @abstractmethod
    def _live_raw(self, number: str) -> Collection[str]:
        """Ids of live documents with that raw number."""

    @abstractmethod
    def _retire(self, part: Part, rows: Sequence[tuple[Keys, int]], fence: int) -> int:
        """Register a part and delete those of its rows that still have their revision.

        Returns:
            How many were deleted. If none, the part is not registered.

        Raises:
            StoreError: the fence is not the latest.
        """

    @abstractmethod
    def _index_problems(self) -> Iterator[str]:
        """What is wrong with the live documents' indexes."""


def _problem_of(row: Row) -> str | None:
    """What is wrong with a row: its document, or keys that are not the document's."""
    try:
        keys = Keys.of(row.document())
    except StoreError as error:
        return str(error)
    return None if keys == row.keys else f"the index has {row.keys}, but the document says {keys}"
