"""The archive: Parquet files of jobs that ended long ago; the store says which of them count.

A *part* is a file that is written once and never changed (`parquet` has its columns). The store
registers its `Part` in the transaction that deletes its documents; a file that is not registered is
what a kill left behind, and is cleared away by the next prune. Its name has the fence of the prune
that wrote it (`pruning`), so that the unfinished work of a later prune is not taken for such. A
part may hold a job that came back to life, and perhaps went to a later part: what is live wins,
then the latest part.
"""

from __future__ import annotations

import heapq
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from jobsight.documents import number_of
from jobsight.errors import OutputError, StoreError
from jobsight.files import sha256
from jobsight.modes import make_file, make_folder
from jobsight.store.packing import cluster_of, sealed, unsealed
from jobsight.store.parquet import (
    ids_of,
    numbers_of,
    opened,
    readable,
    rows_of,
    time_ranges,
    verified_rows,
    write_rows,
)
from jobsight.store.rows import Order, Query, Row

__all__ = ["Archive", "Part", "PartList", "name_of"]

Zones = dict[str, tuple[int, int] | None]
"""By cluster, least and greatest number of jobs; None where an id has no number."""

_NAME = re.compile(r"part-(\d{8})-\d{6}\.parquet", re.ASCII)

_UNFINISHED = ".part"
_OWNER = "store-"
_MOST_ZONES = 256
_LAST_ID = chr(0x10FFFF)


def name_of(fence: int, number: int) -> str:
    """The name of a part's file: `fence` is the prune's, `number` the part's in it."""
    return f"part-{fence:08d}-{number:06d}.parquet"


def _fence_of(name: str) -> int | None:
    """The fence in the name of a part's file; None: no part has this name."""
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else None


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of the archive, as the store registers it.

    Attributes:
        name: of the file; later parts have greater names.
        rows: their number.
        size: of the file, bytes.
        sha256: of the file.
        first: least time in it.
        last: greatest time in it.
        again: rows of jobs that an earlier part has as well.
        zones: of the jobs in it, also by Slurm's raw numbers; None: there are too many clusters.
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
        """As JSON, `sealed`."""
        return sealed(msgspec.json.encode(self).decode())

    @classmethod
    def from_text(cls, text: str | bytes) -> Part:
        """The part of its text; `StoreError`: the text is damaged, or names a file elsewhere."""
        with suppress(msgspec.DecodeError, ValueError):
            part = msgspec.json.decode(unsealed(text), type=cls)
            if _fence_of(part.name) is not None:
                return part
        raise StoreError("the store's list of archive files is damaged; restore a backup")

    def may_hold(self, zones: Zones) -> bool:
        """Whether a job of these zones may be in it."""
        if self.zones is None:
            return True
        for cluster, zone in zones.items():
            if cluster in self.zones:
                own = self.zones[cluster]
                if own is None or zone is None or (own[0] <= zone[1] and zone[0] <= own[1]):
                    return True
        return False


class PartList:
    """The registered parts, read anew where the generation is another; for several threads."""

    def __init__(self) -> None:
        self._known: tuple[int, Sequence[Part]] = (0, ())

    def at(self, generation: int, read: Callable[[], Iterable[str | bytes]]) -> Sequence[Part]:
        """The parts of a generation; `read` returns their texts, by name."""
        # Taken once: another thread may change it before the answer is there.
        known, parts = self._known
        if generation != known:
            parts = [Part.from_text(text) for text in read()]
            self._known = (generation, parts)
        return parts


Current = Callable[[Part, list[Row]], list[Row]]
"""Given rows of a part: what replaces them, without those that count elsewhere."""


class Archive:
    """The files in one folder, made when something is written; safe for several threads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, rows: Sequence[Row], parts: Sequence[Part]) -> Part:
        """Write rows, in order of time and id, as a part, which is safely on disk afterwards.

        Raises:
            OutputError: it cannot be written.
            StoreError: a row is damaged.
        """
        zones = _zones(
            (row.keys.cluster, number)
            for row in rows
            for number in (number_of(row.keys.id), row.keys.raw)
            if number is not None
        )
        again = len(self._known(parts, {row.keys.id for row in rows}))
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
        )

    def claim(self, store: str) -> None:
        """Make the folder this store's, so that no other clears away what it does not know.

        A file is named after the store.

        Raises:
            OutputError: the folder cannot be read or written.
            StoreError: it is another store's.
        """
        mine = self.folder / f"{_OWNER}{store}"
        with self._explained(f"keep an archive in {self.folder}"):
            make_folder(self.folder)
            is_new = not mine.exists()
            make_file(mine)
            # Checked last: of two stores that come at once, one at least sees the other.
            if any(path.name != mine.name for path in self.folder.glob(f"{_OWNER}*")):
                if is_new:
                    mine.unlink()
                raise StoreError(
                    f"{self.folder} has the archive of another store; name a folder for this one "
                    "alone in the setting store.archive, or move away what is there"
                )

    def require(self, part: Part) -> None:
        """Check that a part's file is there, as far as its size shows.

        Raises:
            StoreError: it is not, or not whole.
        """
        path = self.folder / part.name
        with readable(path):
            size = path.stat().st_size
        if size != part.size:
            raise StoreError(
                f"{path} has {size} bytes, but {part.size} were written; look at the disk, and "
                "restore it from a backup if the store counts it among its files (store check)"
            )

    def later(self, parts: Sequence[Part], fence: int) -> str | None:
        """A file of a prune after that of this fence, which is not registered.

        Raises:
            OutputError: the folder cannot be read.
        """
        with self._explained(f"read the archive {self.folder}"):
            return next((path.name for path, at in self._unknown(parts) if at > fence), None)

    def clear(self, parts: Sequence[Part], fence: int) -> None:
        """Delete what a kill left behind: parts that are not registered, unfinished files.

        What a prune after that of this fence writes stays. `parts` are read after it was taken.

        Raises:
            OutputError: the folder cannot be read or written.
        """
        with self._explained(f"clear the archive {self.folder}"):
            for path, writer in self._unknown(parts):
                if writer <= fence:
                    path.unlink(missing_ok=True)

    def _unknown(self, parts: Sequence[Part]) -> Iterator[tuple[Path, int]]:
        """Files of parts that are not registered, each with the fence of its prune."""
        registered = {part.name for part in parts}
        for path in self.folder.iterdir() if self.folder.exists() else ():
            fence = _fence_of(path.name.removesuffix(_UNFINISHED))
            if fence is not None and path.name not in registered:
                yield path, fence

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
        rows: dict[str, Row] = {}
        missing = set(ids)
        for part in self._likely(parts, missing):
            with opened(self.folder / part.name) as file:
                for group in range(file.num_row_groups):
                    if not missing.isdisjoint(ids_of(file, group)):
                        here = (row for row in rows_of(file, group) if row.keys.id in missing)
                        rows |= {row.keys.id: row for row in here}
            missing -= rows.keys()
        return rows

    def newer(self, parts: Sequence[Part], part: Part, ids: Collection[str]) -> set[str]:
        """Which of these jobs a later part has as well; no document is read.

        Raises:
            StoreError: a part is missing or damaged.
        """
        return self._known(
            [each for each in parts if each.again and each.name > part.name], set(ids)
        )

    def _known(self, parts: Sequence[Part], ids: set[str]) -> set[str]:
        known: set[str] = set()
        for part in self._likely(parts, ids):
            with opened(self.folder / part.name) as file:
                for group in range(file.num_row_groups):
                    known |= ids.intersection(ids_of(file, group))
        return known

    def _likely(self, parts: Sequence[Part], ids: set[str]) -> list[Part]:
        """The parts that may have these jobs, latest first."""
        zones = _zones((cluster_of(id_), number_of(id_)) for id_ in ids)
        likely = (part for part in parts if part.may_hold(zones))
        return sorted(likely, key=lambda part: part.name, reverse=True)

    def numbered(self, parts: Sequence[Part], number: str) -> set[str]:
        """Ids of all jobs of a number, in their id or as Slurm's raw number.

        Raises:
            StoreError: a part is missing or damaged.
        """
        ids: set[str] = set()
        for part in parts:
            if part.may_hold(_zones((cluster, number) for cluster in part.zones or ())):
                with opened(self.folder / part.name) as file:
                    ids.update(
                        id_
                        for id_, raw in numbers_of(file)
                        if raw == number or number_of(id_) == number
                    )
        return ids

    def scan(
        self, parts: Sequence[Part], query: Query, after: Order | None, current: Current
    ) -> Iterator[tuple[Order, Row]]:
        """Rows that a query asks for, in its order, behind `after`.

        A part is opened only when the scan comes to its time.

        Raises:
            StoreError: a part is missing or damaged.
        """
        streams = [
            self._part(part, query, after, current)
            for part in parts
            if query.overlaps(part.first, part.last)
        ]
        merged = heapq.merge(*streams, key=lambda pair: pair[0], reverse=query.newest_first)
        return ((order, row) for order, row in merged if row is not None)

    def _part(
        self, part: Part, query: Query, after: Order | None, current: Current
    ) -> Iterator[tuple[Order, Row | None]]:
        """Where the part begins, with no row; then, once the scan comes to that place, its rows."""
        yield (part.last, _LAST_ID) if query.newest_first else (part.first, ""), None
        with opened(self.folder / part.name) as file:
            ranges = list(enumerate(time_ranges(file)))
            for group, (first, last) in reversed(ranges) if query.newest_first else ranges:
                end = (first, "") if query.newest_first else (last, _LAST_ID)
                if not (query.overlaps(first, last) and query.is_behind(end, after)):
                    continue
                rows = [row for row in rows_of(file, group) if query.fits(row.keys)]
                places = {row.keys.id: row.order for row in rows}
                kept = [(places[row.keys.id], row) for row in current(part, rows)] if rows else []
                kept.sort(key=lambda pair: pair[0], reverse=query.newest_first)
                yield from (pair for pair in kept if query.is_behind(pair[0], after))

    def rows(self, part: Part) -> Iterator[Row]:
        """All rows of a part, once its hash is found to be the registered one.

        Raises:
            StoreError: the part is missing, changed or damaged.
        """
        changed = "was changed (its hash differs); restore it from a backup"
        return verified_rows(self.folder / part.name, part.sha256, changed)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _zones(numbers: Iterable[tuple[str, str]]) -> Zones:
    zones: Zones = {}
    for cluster, text in numbers:
        number = int(text) if text.isdecimal() else None
        known = zones.get(cluster, (number, number) if number is not None else None)
        if known is None or number is None:
            zones[cluster] = None
        else:
            zones[cluster] = (min(known[0], number), max(known[1], number))
    return zones
