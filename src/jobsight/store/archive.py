"""The archive: Parquet files of jobs long ended, beside a store that says which of them count.

A *part* is a file that is written once and never changed (`partfiles` has its columns). The store
registers its `Part` in the transaction that deletes its documents; a file that is not registered is
what a kill left behind, and is cleared away by the next prune. A part may hold a job that came back
to life, and perhaps went to a later part: what is live wins, then the latest part.
"""

from __future__ import annotations

import heapq
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from jobsight.documents.keys import number_of
from jobsight.errors import OutputError, StoreError
from jobsight.files import sha256
from jobsight.modes import make_file, make_folder
from jobsight.store.packing import raw_in
from jobsight.store.partfiles import (
    damaged,
    ids_of,
    opened,
    rows_of,
    texts_of,
    time_ranges,
    write_rows,
)
from jobsight.store.partindex import PartIndex
from jobsight.store.parts import Part, Zones, fence_of, zones_among, zones_of
from jobsight.store.rows import Order, Query, Row

__all__ = ["Archive", "Stale"]

Stale = Callable[["Part", list[Row]], list[Row]]
"""Given rows of a part: what stands in their place, without those that count elsewhere."""

_UNFINISHED = ".part"
_OWNER = "store-"
_MOST_ZONES = 256
_INDEXES_KEPT = 64


class Archive:
    """The files in one folder. Safe to be used by several threads.

    Args:
        folder: need not exist until something is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._indexes: OrderedDict[str, PartIndex] = OrderedDict()

    def write(self, name: str, rows: Sequence[Row], parts: Sequence[Part]) -> Part:
        """Write a new part, safely on disk when this returns.

        Args:
            name: of its file.
            rows: in order of time and id, at least one.
            parts: all registered parts.

        Raises:
            OutputError: it cannot be written.
            StoreError: a row is damaged.
        """
        ids = [row.keys.id for row in rows]
        zones = zones_of(ids)
        raws = _raws_of(rows)
        again = len(self.known(parts, ids))
        path = self.folder / name
        unfinished = self.folder / f"{name}{_UNFINISHED}"
        with self._explained(f"write {path}"):
            make_folder(self.folder)
            try:
                make_file(unfinished)
                write_rows(rows, unfinished)
                _sync(unfinished)
                unfinished.replace(path)
            finally:
                with suppress(OSError):
                    unfinished.unlink()
            _sync(self.folder)
            size, digest = path.stat().st_size, sha256(path)
        return Part(
            name=name,
            rows=len(rows),
            size=size,
            sha256=digest,
            first=rows[0].keys.time,
            last=rows[-1].keys.time,
            again=again,
            zones=zones if len(zones) <= _MOST_ZONES else None,
            raws=raws if len(raws) <= _MOST_ZONES else None,
        )

    def claim(self, store: str) -> None:
        """Make the folder this store's, so that no other clears away what it does not know.

        Args:
            store: a name that no other store has; a file is named after it.

        Raises:
            OutputError: the folder cannot be read or written.
            StoreError: it is another store's.
        """
        mine = self.folder / f"{_OWNER}{store}"
        with self._explained(f"keep an archive in {self.folder}"):
            make_folder(self.folder)
            is_new = not mine.exists()
            make_file(mine)
            # Looked at last: of two stores that come at once, one at least sees the other.
            if any(path.name != mine.name for path in self.folder.glob(f"{_OWNER}*")):
                if is_new:
                    mine.unlink()
                raise StoreError(
                    f"{self.folder} has the archive of another store; name a folder for this one "
                    "alone in the setting store.archive, or move away what is there"
                )

    def require(self, part: Part) -> None:
        """Check that a part's file is there, as far as its size tells.

        Raises:
            StoreError: it is not, or not whole.
        """
        path = self.folder / part.name
        with damaged(path):
            size = path.stat().st_size
        if size != part.size:
            raise StoreError(
                f"{path} has {size} bytes, but {part.size} were written; look at the disk, and "
                "bring it back from a backup if the store counts it among its files (store check)"
            )

    def later(self, parts: Sequence[Part], fence: int) -> str | None:
        """A part of a prune after that of this fence, which is not registered.

        Args:
            parts: all registered parts.
            fence: the latest that was taken.

        Raises:
            OutputError: the folder cannot be read.
        """
        registered = {part.name for part in parts}
        with self._explained(f"read the archive {self.folder}"):
            for path in self.folder.iterdir():
                writer = fence_of(path.name.removesuffix(_UNFINISHED))
                if writer is not None and writer > fence and path.name not in registered:
                    return path.name
        return None

    def clear(self, parts: Sequence[Part], fence: int) -> None:
        """Delete what a kill left behind: parts that are not registered, unfinished files.

        Args:
            parts: all registered parts, read after the fence was taken.
            fence: of the prune that clears; what a later one writes stays.

        Raises:
            OutputError: the folder cannot be read or written.
        """
        registered = {part.name for part in parts}
        with self._explained(f"clear the archive {self.folder}"):
            if not self.folder.exists():
                return
            for path in self.folder.iterdir():
                writer = fence_of(path.name.removesuffix(_UNFINISHED))
                if writer is not None and writer <= fence and path.name not in registered:
                    path.unlink(missing_ok=True)

    @contextmanager
    def _explained(self, act: str) -> Iterator[None]:
        """Raises `OutputError` in place of any `OSError`, saying what could not be done."""
        try:
            yield
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise OutputError(f"cannot {act}: {reason}") from None

    def find(self, parts: Sequence[Part], ids: Collection[str]) -> dict[str, Row]:
        """The rows of these jobs, from the latest part that has them.

        Raises:
            StoreError: a part is missing or damaged.
        """
        found: dict[str, Row] = {}
        for part, places in self._places(parts, ids):
            for row in self._rows_at(part, places):
                found.setdefault(row.keys.id, row)
        return found

    def known(self, parts: Sequence[Part], ids: Collection[str]) -> set[str]:
        """Which of these jobs a part has; no document is read.

        Raises:
            StoreError: a part is missing or damaged.
        """
        found: set[str] = set()
        for part, places in self._places(parts, ids):
            path = self.folder / part.name
            with opened(path) as file, damaged(path):
                for group, seeming in places.items():
                    found |= seeming.intersection(ids_of(file, group))
        return found

    def numbered(self, parts: Sequence[Part], number: str) -> set[str]:
        """Ids of all jobs of a number.

        Raises:
            StoreError: a part is missing or damaged.
        """
        found: set[str] = set()
        for part in parts:
            clusters = ["any:0"] if part.zones is None else part.zones
            if not part.may_hold(zones_of([f"{cluster}:{number}" for cluster in clusters])):
                continue
            path = self.folder / part.name
            with opened(path) as file, damaged(path):
                for group in range(file.num_row_groups):
                    found.update(id_ for id_ in ids_of(file, group) if number_of(id_) == number)
        return found

    def raw(self, parts: Sequence[Part], number: str) -> set[str]:
        """Ids of jobs that have this raw number (see `Store.raw`), perhaps of others too.

        Raises:
            StoreError: a part is missing or damaged.
        """
        found: set[str] = set()
        # Our own JSON has no blanks, and digits are never escaped.
        told = f'"raw_id":"{number}"'.encode()
        for part in parts:
            if not number.isdecimal() or not part.may_hold_raw(int(number)):
                continue
            path = self.folder / part.name
            with opened(path) as file, damaged(path):
                for group in range(file.num_row_groups):
                    found.update(id_ for id_, text in texts_of(file, group) if told in text)
        return found

    def newer(self, parts: Sequence[Part], part: Part, ids: Collection[str]) -> set[str]:
        """Which of these jobs a later part has as well."""
        later = [one for one in parts if one.again and one.name > part.name]
        return self.known(later, ids)

    def _places(
        self, parts: Sequence[Part], ids: Collection[str]
    ) -> Iterator[tuple[Part, dict[int, set[str]]]]:
        """Parts, latest first, with the row groups in which ids seem to be."""
        zones = zones_of(ids)
        for part in sorted(parts, key=lambda one: one.name, reverse=True):
            if part.may_hold(zones):
                places = self._index(part).places(ids)
                if places:
                    yield part, places

    def _rows_at(self, part: Part, places: dict[int, set[str]]) -> Iterator[Row]:
        path = self.folder / part.name
        with opened(path) as file:
            for group, ids in sorted(places.items()):
                with damaged(path):
                    rows = rows_of(file, group)
                yield from (row for row in rows if row.keys.id in ids)

    def _index(self, part: Part) -> PartIndex:
        with self._lock:
            index = self._indexes.get(part.name)
            if index is not None:
                self._indexes.move_to_end(part.name)
                return index
        path = self.folder / part.name
        with opened(path) as file, damaged(path):
            index = PartIndex([ids_of(file, group) for group in range(file.num_row_groups)])
        with self._lock:
            self._indexes[part.name] = index
            while len(self._indexes) > _INDEXES_KEPT:
                self._indexes.popitem(last=False)
        return index

    def scan(
        self, parts: Sequence[Part], query: Query, after: Order | None, stale: Stale
    ) -> Iterator[tuple[Order, Row]]:
        """Rows that a query asks for, in its order, behind `after`.

        A part is opened only when the scan comes to its time.

        Raises:
            StoreError: a part is missing or damaged.
        """
        sign = -1 if query.newest_first else 1
        waiting = sorted(
            (sign * (part.last if query.newest_first else part.first), part.name, part)
            for part in parts
            if (query.since is None or part.last >= query.since)
            and (query.until is None or part.first < query.until)
        )
        waiting.reverse()
        heap: list[tuple[Order, str, Row, Iterator[tuple[Order, Row]]]] = []
        try:
            while heap or waiting:
                while waiting and (not heap or waiting[-1][0] <= heap[0][0][0]):
                    part = waiting.pop()[2]
                    _advance(heap, part.name, self._part(part, query, after, stale))
                if heap:
                    order, name, row, rest = heapq.heappop(heap)
                    yield order, row
                    _advance(heap, name, rest)
        finally:
            for _, _, _, rest in heap:
                rest.close()  # type: ignore[attr-defined]

    def _part(
        self, part: Part, query: Query, after: Order | None, stale: Stale
    ) -> Iterator[tuple[Order, Row]]:
        path = self.folder / part.name
        with opened(path) as file:
            with damaged(path):
                ranges = list(enumerate(time_ranges(file)))
            if query.newest_first:
                ranges.reverse()
            for group, (first, last) in ranges:
                if _beside(query, first, last, after):
                    continue
                with damaged(path):
                    rows = [row for row in rows_of(file, group) if query.fits(row.keys)]
                places = {row.keys.id: query.order(row.keys) for row in rows}
                kept = [(places[row.keys.id], row) for row in stale(part, rows)] if rows else []
                kept.sort(key=lambda pair: pair[0])
                yield from (pair for pair in kept if after is None or pair[0] > after)

    def rows(self, part: Part) -> Iterator[Row]:
        """All rows of a part, once its hash is found to be the registered one.

        Raises:
            StoreError: the part is missing, changed or damaged.
        """
        path = self.folder / part.name
        with damaged(path):
            unchanged = sha256(path) == part.sha256
        if not unchanged:
            raise StoreError(f"{path} was changed (its hash differs); bring it back from a backup")
        with opened(path) as file:
            for group in range(file.num_row_groups):
                with damaged(path):
                    rows = rows_of(file, group)
                yield from rows


def _advance(
    heap: list[tuple[Order, str, Row, Iterator[tuple[Order, Row]]]],
    name: str,
    rows: Iterator[tuple[Order, Row]],
) -> None:
    for order, row in rows:
        heapq.heappush(heap, (order, name, row, rows))
        return


def _beside(query: Query, first: int, last: int, after: Order | None) -> bool:
    """Whether a row group of these times has nothing that is asked for."""
    if query.since is not None and last < query.since:
        return True
    if query.until is not None and first >= query.until:
        return True
    return after is not None and (-first if query.newest_first else last) < after[0]


def _raws_of(rows: Sequence[Row]) -> Zones:
    told = ((row.keys, raw_in(row.text(), row.keys.id)) for row in rows)
    return zones_among((keys.cluster, int(raw)) for keys, raw in told if raw is not None)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
