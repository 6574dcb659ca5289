"""A store of job documents: what is the same for all backends.

A store keeps one document per job, and one position per source. A document has a *revision*, a
number that changes with every write; a put says which revision it was based on, so no writer
overwrites what another has learned meanwhile. Documents and positions of one put are stored
together or not at all. A `Backend` keeps the live documents, an `Archive` the old ones.
"""

from __future__ import annotations

import heapq
import itertools
import random
import re
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Self

from jobsight.documents import JobDocument, State, number_of, parse_key
from jobsight.documents.keys import first_id
from jobsight.errors import ConflictError, DocumentError, JobError, StoreError, TooMuchError
from jobsight.ids import JobName
from jobsight.modes import wider_modes
from jobsight.store.archive import Archive, Part
from jobsight.store.base import ArchiveGrewError, Backend, PositionWrite, RowWrite, View, live_rows
from jobsight.store.merging import joined
from jobsight.store.packing import (
    ACTIVE,
    SCHEMA,
    cluster_of,
    numbered_ranges,
    pack,
    position_from_text,
    position_to_text,
    user_key,
)
from jobsight.store.pruning import prune
from jobsight.store.rows import (
    CheckReport,
    Keys,
    Merged,
    Move,
    Order,
    Position,
    PruneReport,
    Put,
    Query,
    Row,
    Stored,
    StoreStatus,
)
from jobsight.text import printable

__all__ = ["Store", "find_ids", "other_jobs", "runs_of_name"]

_SHOWN = 6
_PAGE = 500
_NEWEST = 500
"""Ended jobs of a user among which runs of one name are looked for."""
_MOST_SHOWN = 20
_LIVING = ACTIVE - {""}
"""A query for all of these asks for what has not ended, also where no state is known."""
_MOST_TRIES = 100
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.002, 0.25


class Store:
    """The documents of a backend and its archive as one.

    *Threads and processes.* Every method may be called from any thread, and several processes may
    use one store at once. An iterator belongs to the thread that reads it.

    *Ownership.* The store owns its backend; `close` closes it, and unfinished iterators. Documents
    are frozen and may be shared.

    *Durability.* When `put` returns, what it stored survives a kill of every process involved. What
    a loss of power may take back is in ``status().details["durability"]``; documents and positions
    are taken back together.

    *Errors.* `StoreUnavailableError` where trying again may help (server away, locked, disk full),
    other `StoreError` where it does not (damaged, read-only, another schema); after either, nothing
    of the put was stored, or, where a server was lost while it answered, all of it. `ConflictError`
    as described at `put`.

    Attributes:
        backend: has the live documents.
        archive: has old documents; None: no folder is set.
        most_documents: documents that one put may hold.
        most_bytes: bytes that one put may hold, packed.
    """

    most_documents = 20_000
    most_bytes = 64 << 20

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.archive = None if backend.archive is None else Archive(backend.archive)

    @property
    def url(self) -> str:
        """Its address, without secrets."""
        return self.backend.url

    def put(
        self, puts: Sequence[Put], moves: Sequence[Move] = (), *, generation: int | None = None
    ) -> None:
        """Store documents and positions in one transaction.

        Args:
            puts: no job twice, and no more than `most_documents` and `most_bytes`. There is no
                splitting: the position would be stored without its documents, or after them.
            moves: no source twice.
            generation: what `generation` said before the documents were read. Where given, a
                document put as not live conflicts if the archive has grown since: the job may be
                in it now.

        Raises:
            ConflictError: a document or position is not what the put was based on; names all of
                them. Nothing was stored.
            DocumentError: a document cannot be written.
            TooMuchError: it is too much at once.
            StoreError: as said above.
        """
        rows = [RowWrite(Keys.of(put.document), pack(put.document), put.based_on) for put in puts]
        size = sum(len(row.data) for row in rows)
        if len(rows) > self.most_documents or size > self.most_bytes:
            raise TooMuchError(
                f"{len(rows)} documents of {size} bytes are too much for one put; it may hold "
                f"{self.most_documents} documents and {self.most_bytes} bytes: ask the source for "
                "less at a time"
            )
        if len({row.keys.id for row in rows}) != len(rows):
            raise StoreError("a put has the same job twice; merge its documents first")
        positions = [
            PositionWrite(
                move.source,
                None if move.old is None else position_to_text(move.source, move.old),
                position_to_text(move.source, move.new),
            )
            for move in moves
        ]
        self.backend.write(rows, positions, generation)

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
        reports: dict[str, list[JobDocument]] = {}
        for partial in partials:
            reports.setdefault(partial.id, []).append(partial)
        try:
            return self._merge_at_once(dict(reports), moves)
        except TooMuchError:
            if moves or len(reports) < 2:
                raise
        each = list(reports.values())
        first = self.merge(itertools.chain(*each[: len(each) // 2]))
        second = self.merge(itertools.chain(*each[len(each) // 2 :]))
        return Merged(
            first.changes + second.changes,
            first.unchanged + second.unchanged,
            first.refused + second.refused,
        )

    def _merge_at_once(
        self, reports: dict[str, list[JobDocument]], moves: Sequence[Move]
    ) -> Merged:
        """As `merge`, in one put; documents that cannot be stored are taken out of `reports`."""
        refused: list[tuple[str, str]] = []
        pause = _FIRST_PAUSE_S
        for _ in range(_MOST_TRIES):
            generation = self.generation()
            puts, changes, unchanged = joined(reports, self.get)
            try:
                if puts or any(move.old != move.new for move in moves):
                    self.put(puts, moves, generation=generation)
                return Merged(changes, unchanged, tuple(refused))
            except DocumentError:
                before = len(refused)
                for put in puts:
                    try:
                        pack(put.document)
                    except DocumentError as error:
                        id_ = put.document.id
                        refused.append((id_, str(error)))
                        # Of a number used again, what is reported of all its jobs.
                        reports.pop(id_, None) or reports.pop(first_id(id_), None)
                if len(refused) == before:
                    raise
                continue
            except ConflictError as conflict:
                if conflict.sources:
                    raise
            # The pause grows and varies, so that writers of the same jobs get out of step.
            time.sleep(pause * random.random())  # noqa: S311
            pause = min(2 * pause, _LONGEST_PAUSE_S)
        raise ConflictError(tuple(reports))

    def get(self, ids: Collection[str]) -> dict[str, Stored]:
        """The documents of these jobs, live or archived; jobs that are unknown are left out."""
        # Live first: a document that moves in between is then found in the archive.
        live = self.backend.read(ids)
        documents = {id_: Stored(row.document(), row.revision) for id_, row in live.items()}
        missing = [id_ for id_ in ids if id_ not in documents]
        if missing and (parts := self.backend.parts()):
            old = self.require_archive().find(parts, missing)
            documents.update((id_, Stored(row.document(), None)) for id_, row in old.items())
        return documents

    def identity(self) -> int:
        """A number that no other store has."""
        return self.backend.number("identity")

    def generation(self) -> int:
        """A number that changes whenever documents move to the archive."""
        return self.backend.number("generation")

    def revision(self) -> int:
        """The revision of the latest put; a number that only grows."""
        return self.backend.number("revision")

    def changed(self, since: int) -> Iterator[Row]:
        """Live rows with a later revision than `since`, in any order, some twice.

        Jobs that move to the archive are not among them.
        """
        return self.backend.changed(since)

    def rows(self, query: Query, after: Order | None = None) -> Iterator[Row]:
        """Live and archived rows in the order of `scan`, behind `after` (None: all), each once."""
        revision: int | None = None
        seen: set[int] = set()
        while True:
            with self.backend.view() as view:
                revision = view.revision if revision is None else revision
                try:
                    for order, row in self._rows_of(view, query, after):
                        after = order
                        if not view.is_snapshot:
                            # What was not written since the scan began has one place in its order.
                            key = hash(row.keys.id)
                            if row.revision > revision and key in seen:
                                continue
                            seen.add(key)
                        yield row
                except ArchiveGrewError:
                    continue
                return

    def _rows_of(
        self, view: View, query: Query, after: Order | None
    ) -> Iterator[tuple[Order, Row]]:
        live = view.rows(query, after)
        if not view.parts or (query.states is not None and query.states <= ACTIVE):
            yield from live
            return
        archive = self.require_archive()

        def current(part: Part, rows: list[Row]) -> list[Row]:
            ids = [row.keys.id for row in rows]
            now = view.read(ids)
            newer = archive.newer(view.parts, part, ids)
            kept = [row for row in rows if row.keys.id not in now and row.keys.id not in newer]
            if not view.is_snapshot:
                # It may have come back to life behind the live rows that were read already.
                since = (row for row in now.values() if row.revision > view.revision)
                kept += [row for row in since if query.fits(row.keys)]
            return kept

        old = archive.scan(view.parts, query, after, current)
        yield from heapq.merge(live, old, key=lambda pair: pair[0], reverse=query.newest_first)

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
        The number is digits, or a SLUID.
        """
        ids = set(self.backend.ids_by_raw(number))
        # Each cluster's ids begin alike, so the clusters are found by leaps over the ids.
        first = ""
        while first_ids := self.backend.ids(first, None, 1):
            cluster = cluster_of(first_ids[0])
            for low, high in numbered_ranges(cluster, number):
                while page := self.backend.ids(low, high, _PAGE):
                    ids.update(page)
                    low = page[-1] + " "  # noqa: PLW2901  # no id has a blank
            first = f"{cluster};"
        if parts := self.backend.parts():
            ids |= self.require_archive().numbered(parts, number)
        # Where a job has come back from the archive, what is live counts.
        by_raw = self.get([id_ for id_ in ids if number_of(id_) != number])
        wrong = {id_ for id_, stored in by_raw.items() if Keys.of(stored.document).raw != number}
        return sorted(ids - wrong)

    def position(self, source: str) -> Position | None:
        """The position of a source; None: the store does not know it."""
        text = self.backend.positions(source).get(source)
        return None if text is None else position_from_text(source, text)

    def positions(self) -> dict[str, Position]:
        """The positions of all sources, by name."""
        texts = sorted(self.backend.positions().items())
        return {source: position_from_text(source, text) for source, text in texts}

    def status(self) -> StoreStatus:
        """What the store holds; reads no document."""
        states, parts = self.backend.states(), self.backend.parts()
        size, per_job = self.backend.size(sum(states.values()))
        return StoreStatus(
            url=self.url,
            backend=self.backend.name,
            schema=SCHEMA,
            states=states,
            active=sum(number for state, number in states.items() if state in ACTIVE),
            archived=sum(part.rows for part in parts),
            bytes=size,
            bytes_per_job=per_job,
            archive_bytes=sum(part.size for part in parts),
            positions=self.positions(),
            details=self.backend.details(),
        )

    def check(self) -> CheckReport:
        """Read everything: documents decode, indexes agree, archive files are what was written."""
        number: Counter[str] = Counter()
        first: list[str] = []
        for kind, problem in self._checked():
            number[kind] += 1
            if problem is not None:
                number["problem"] += 1
                first += [problem] if len(first) < _MOST_SHOWN else []
        files = list(self.backend.files())
        if self.archive is not None:
            files += (self.archive.folder, *self.archive.folder.rglob("*"))
        live, archived, problems = (number[kind] for kind in ("live", "archived", "problem"))
        return CheckReport(live, archived, problems, tuple(first), tuple(wider_modes(files)))

    def _checked(self) -> Iterator[tuple[str, str | None]]:
        """Of each row whether it is live or archived, and what is wrong with it, or elsewhere."""
        with self.backend.view() as view:
            yield from (("live", row.problem()) for row in live_rows(view, Query()))
        yield from (("", problem) for problem in self.backend.problems())
        for source, text in self.backend.positions().items():
            try:
                position_from_text(source, text)
            except StoreError as error:
                yield "", str(error)
        for part in self.backend.parts():
            try:
                rows = self.require_archive().rows(part)
                yield from (("archived", row.problem()) for row in rows)
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
        return prune(self.backend, self.require_archive(), before, least=least, overdue=overdue)

    def require_archive(self) -> Archive:
        """The archive; `StoreError`: no folder is set for it."""
        if self.archive is None:
            raise StoreError(
                f"{self.url} has no folder for its archive; name one in the setting store.archive "
                "(JOBSIGHT_STORE__ARCHIVE), on a disk that all who use the store can read"
            )
        return self.archive

    def close(self) -> None:
        """Close everything; may be called twice. Other methods then raise `StoreError`."""
        self.backend.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def find_ids(store: Store, name: JobName, cluster: str | None = None) -> list[str]:
    """The ids of the documents that a job's name means, in order.

    A bare number means the job, all tasks, components or procs of it, and what Slurm itself has
    under it (``1237`` is ``1234_5``), as does a whole id that ends with one, where it is not the id
    of a document. Of several jobs to which Slurm gave one number it means the newest.

    `cluster` names a Slurm cluster or access point that the job must be of.

    Raises:
        JobError: there is none, or jobs of several clusters are meant.
    """
    if name.place and store.get([str(name)]):
        ids = [str(name)]
    else:
        ids = store.numbered(name.number)
        if name.job != name.number:
            jobs = {id_: parse_key(id_).job for id_ in ids}
            ids = [id_ for id_ in ids if name.job in (jobs[id_], first_id(jobs[id_]))]
        if name.place:
            ids = [id_ for id_ in ids if cluster_of(id_) == name.place]
    if cluster is not None:
        ids = [id_ for id_ in ids if cluster in (parse_key(id_).cluster, cluster_of(id_))]
    if not ids:
        where = "" if cluster is None else f" of {printable(cluster, 60)}"
        raise JobError(f"the store has no job {name}{where}; `jobsight jobs` lists what it has")
    places = sorted(set(map(cluster_of, ids)))
    if len(places) > 1:
        shown = ", ".join(f"{place}:{name.job}" for place in places[:_SHOWN])
        more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
        raise JobError(
            f"{name} is a job of several clusters: {shown}{more}; name the cluster with --cluster, "
            "or write the whole id"
        )
    ids.sort(key=lambda id_: [int(part) for part in re.findall(r"\d+", id_)])
    return list({first_id(id_): id_ for id_ in ids}.values())


def other_jobs(store: Store, id_: str) -> tuple[list[str], list[str]]:
    """Siblings of a job, which share its number; and the other jobs to which Slurm gave its id."""
    others = [
        other
        for other in store.numbered(number_of(id_))
        if other != id_ and cluster_of(other) == cluster_of(id_)
    ]
    again = [other for other in others if first_id(other) == first_id(id_)]
    return sorted({first_id(other) for other in others} - {first_id(id_)}), again


def runs_of_name(
    store: Store, cluster: str, user: str | None, name: str | None
) -> list[JobDocument]:
    """Ended jobs of a user and a name on a cluster, among the newest of the user's.

    `cluster` is the id of any of them up to its last colon.
    """
    if user is None or name is None:
        return []
    ended = [state for state in State if state.ended]
    newest = store.scan(states=ended, user=user, cluster=cluster, limit=_NEWEST, newest_first=True)
    return [one for one in newest if one.submission.name == name]
