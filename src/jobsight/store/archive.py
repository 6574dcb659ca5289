"""The archive: Parquet files of jobs long ended, beside a store that says which of them count.

A *part* is a file that is written once and never changed (`partfiles` has its columns). The store
registers its `Part` in the transaction that deletes its documents; a file that is not registered is
what a kill left behind, and is cleared away by the next prune. A part may hold a job that came back
to life, and perhaps went to a later part: what is live wins, then the latest part.
"""

from __future__ import annotations

import heapq
import json
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from jobsight.errors import OutputError, StoreError
from jobsight.files import new_file, sha256
from jobsight.store.packing import cluster_of, number_of
from jobsight.store.partfiles import damaged, ids_of, opened, rows_of, time_ranges, write_rows
from jobsight.store.rows import Order, Query, Row

__all__ = ["Archive", "Part", "Stale"]

Stale = Callable[["Part", list[Row]], list[Row]]
"""Given rows of a part: what stands in their place, without those that count elsewhere."""

Zones = dict[str, tuple[int, int] | None]

_NAME = re.compile(r"part-\d{8}-\d{6}\.parquet", re.ASCII)
_TEMPORARY = re.compile(r"\.jobsight-[0-9a-f]{16}\.part", re.ASCII)
_MOST_ZONES = 256
_INDEXES_KEPT = 64


@dataclass(frozen=True, slots=True)
class Part:
    """A file of the archive, as the store registers it.

    Attributes:
        name: of the file; later parts have greater names.
        rows: their number.
        size: of the file, bytes.
        sha256: of the file.
        first: least time in it.
        last: greatest time in it.
        again: rows of jobs that an earlier part has as well.
        zones: by cluster, least and greatest number of the jobs in it; None in place of the two
            where an id has no number, in place of all where there are too many clusters.
    """

    name: str
    rows: int
    size: int
    sha256: str
    first: int
    last: int
    again: int
    zones: Zones | None

    def to_text(self) -> str:
        """As ASCII JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_text(cls, text: str | bytes) -> Part:
        """The part of its text.

        Raises:
            StoreError: the text is damaged, or names a file elsewhere.
        """
        try:
            told: dict[str, Any] = json.loads(text)
            zones = told.pop("zones")
            if zones is not None:
                zones = {
                    name: pair and (int(pair[0]), int(pair[1])) for name, pair in zones.items()
                }
            part = cls(**told, zones=zones)
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):
            part = None
        if part is None or not isinstance(part.name, str) or not _NAME.fullmatch(part.name):
            raise StoreError("the store's list of archive files is damaged; bring back a backup")
        return part

    def may_hold(self, zones: Zones) -> bool:
        """Whether a job of these zones may be in it."""
        if self.zones is None:
            return True
        return any(
            name in self.zones and _overlap(self.zones[name], zone) for name, zone in zones.items()
        )


def _overlap(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    return one is None or other is None or (one[0] <= other[1] and other[0] <= one[1])


def _number(id_: str) -> int | None:
    number = number_of(id_)
    return int(number) if number.isdecimal() else None


def _zones(ids: Collection[str]) -> Zones:
    zones: Zones = {}
    for id_ in ids:
        cluster, number = cluster_of(id_), _number(id_)
        known = zones.get(cluster, (number, number) if number is not None else None)
        if known is None or number is None:
            zones[cluster] = None
        else:
            zones[cluster] = (min(known[0], number), max(known[1], number))
    return zones


class Archive:
    """The files in one folder. Safe to be used by several threads.

    Args:
        folder: need not exist until something is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._indexes: OrderedDict[str, _Index] = OrderedDict()

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
        path = self.folder / name
        with new_file(path) as temporary:
            write_rows(rows, temporary)
            _sync(temporary)
        _sync(self.folder)
        ids = [row.keys.id for row in rows]
        zones = _zones(ids)
        return Part(
            name=name,
            rows=len(rows),
            size=path.stat().st_size,
            sha256=sha256(path),
            first=rows[0].keys.time,
            last=rows[-1].keys.time,
            again=len(self.find(parts, ids)) if parts else 0,
            zones=zones if len(zones) <= _MOST_ZONES else None,
        )

    @staticmethod
    def name(fence: int, number: int) -> str:
        """The name of a part: `fence` is the prune's, `number` the part's in it."""
        return f"part-{fence:08d}-{number:06d}.parquet"

    def clear(self, parts: Sequence[Part]) -> None:
        """Delete what a kill left behind: parts that are not registered, unfinished files.

        Raises:
            OutputError: the folder cannot be read or written.
        """
        registered = {part.name for part in parts}
        try:
            for path in self.folder.iterdir():
                left = _NAME.fullmatch(path.name) and path.name not in registered
                if left or _TEMPORARY.fullmatch(path.name):
                    path.unlink(missing_ok=True)
        except FileNotFoundError:
            return
        except OSError as error:
            reason = error.strerror or error
            raise OutputError(f"cannot clear the archive {self.folder}: {reason}") from None

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

    def numbered(self, parts: Sequence[Part], number: str) -> set[str]:
        """Ids of all jobs of a number.

        Raises:
            StoreError: a part is missing or damaged.
        """
        found: set[str] = set()
        for part in parts:
            clusters = ["any:0"] if part.zones is None else part.zones
            if not part.may_hold(_zones([f"{cluster}:{number}" for cluster in clusters])):
                continue
            path = self.folder / part.name
            with opened(path) as file, damaged(path):
                for group in range(file.num_row_groups):
                    found.update(id_ for id_ in ids_of(file, group) if number_of(id_) == number)
        return found

    def newer(self, parts: Sequence[Part], part: Part, ids: Collection[str]) -> set[str]:
        """Which of these jobs a later part has as well."""
        later = [one for one in parts if one.again and one.name > part.name]
        return set(self.find(later, ids)) if later else set()

    def _places(
        self, parts: Sequence[Part], ids: Collection[str]
    ) -> Iterator[tuple[Part, dict[int, set[str]]]]:
        """Parts, latest first, with the row groups in which ids seem to be."""
        zones = _zones(ids)
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

    def _index(self, part: Part) -> _Index:
        with self._lock:
            index = self._indexes.get(part.name)
            if index is not None:
                self._indexes.move_to_end(part.name)
                return index
        path = self.folder / part.name
        with opened(path) as file, damaged(path):
            index = _Index([ids_of(file, group) for group in range(file.num_row_groups)])
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


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class _Index:
    """Which row group of a part a job may be in, by 64 bits of its id's hash."""

    def __init__(self, groups: Sequence[Sequence[str]]) -> None:
        hashes = np.array([_hash(id_) for ids in groups for id_ in ids], dtype=np.uint64)
        group = np.repeat(
            np.arange(len(groups), dtype=np.int32), np.array([len(ids) for ids in groups], int)
        )
        order = np.argsort(hashes, kind="stable")
        self._hashes: npt.NDArray[np.uint64] = hashes[order]
        self._groups: npt.NDArray[np.int32] = group[order]

    def places(self, ids: Collection[str]) -> dict[int, set[str]]:
        """Row groups, with the ids that seem to be there."""
        places: dict[int, set[str]] = {}
        asked = list(ids)
        hashes = np.array([_hash(id_) for id_ in asked], dtype=np.uint64)
        first = np.searchsorted(self._hashes, hashes, side="left")
        last = np.searchsorted(self._hashes, hashes, side="right")
        for at in np.flatnonzero(first < last):
            for group in self._groups[first[at] : last[at]]:
                places.setdefault(int(group), set()).add(asked[at])
        return places


def _hash(id_: str) -> int:
    return hash(id_) & 0xFFFF_FFFF_FFFF_FFFF
