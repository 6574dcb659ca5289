"""The archive: Parquet files of jobs that ended long ago; the store says which of them count.

A *part* is a file that is written once and never changed (`partfiles` has its columns). The store
registers its `Part` in the transaction that deletes its documents; a file that is not registered is
what a kill left behind, and is cleared away by the next prune. A part may hold a job that came back
to life, and perhaps went to a later part: what is live wins, then the latest part.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from jobsight.documents import number_of
from jobsight.errors import OutputError, StoreError
from jobsight.files import sha256
from jobsight.modes import make_file, make_folder
from jobsight.store.partfiles import (
    ids_of,
    numbers_of,
    opened,
    readable,
    rows_of,
    time_ranges,
    write_rows,
)
from jobsight.store.parts import Part, fence_of, zones_of, zones_of_rows
from jobsight.store.rows import Order, Query, Row

__all__ = ["Archive", "Stale"]

Stale = Callable[[Part, list[Row]], list[Row]]
"""Given rows of a part: what replaces them, without those that count elsewhere."""

_UNFINISHED = ".part"
_OWNER = "store-"
_MOST_ZONES = 256
_LAST_ID = chr(0x10FFFF)


class Archive:
    """The files in one folder. Safe to be used by several threads.

    Args:
        folder: need not exist until something is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, rows: Sequence[Row], parts: Sequence[Part]) -> Part:
        """Write rows, in order of time and id, as a part, which is safely on disk afterwards.

        Raises:
            OutputError: it cannot be written.
            StoreError: a row is damaged.
        """
        zones = zones_of_rows(row.keys for row in rows)
        again = len(self._known(parts, [row.keys.id for row in rows]))
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
            fence = fence_of(path.name.removesuffix(_UNFINISHED))
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
        found: dict[str, Row] = {}
        missing = set(ids)
        for part in self._likely(parts, ids):
            with opened(self.folder / part.name) as file:
                for group in range(file.num_row_groups):
                    if not missing.isdisjoint(ids_of(file, group)):
                        rows = rows_of(file, group)
                        found |= {row.keys.id: row for row in rows if row.keys.id in missing}
            missing -= found.keys()
        return found

    def newer(self, parts: Sequence[Part], part: Part, ids: Collection[str]) -> set[str]:
        """Which of these jobs a later part has as well; no document is read.

        Raises:
            StoreError: a part is missing or damaged.
        """
        return self._known([one for one in parts if one.again and one.name > part.name], ids)

    def _known(self, parts: Sequence[Part], ids: Collection[str]) -> set[str]:
        wanted, found = set(ids), set[str]()
        for part in self._likely(parts, ids):
            with opened(self.folder / part.name) as file:
                for group in range(file.num_row_groups):
                    found |= wanted.intersection(ids_of(file, group))
        return found

    def _likely(self, parts: Sequence[Part], ids: Collection[str]) -> list[Part]:
        """The parts that may have these jobs, latest first."""
        zones = zones_of(ids)
        likely = [part for part in parts if part.may_hold(zones)]
        return sorted(likely, key=lambda part: part.name, reverse=True)

    def numbered(self, parts: Sequence[Part], number: str) -> set[str]:
        """Ids of all jobs of a number, in their id or as Slurm's raw number.

        Raises:
            StoreError: a part is missing or damaged.
        """
        found: set[str] = set()
        for part in parts:
            clusters = ["any:0"] if part.zones is None else part.zones
            if part.may_hold(zones_of([f"{cluster}:{number}" for cluster in clusters])):
                with opened(self.folder / part.name) as file:
                    found.update(
                        id_
                        for id_, raw in numbers_of(file)
                        if raw == number or number_of(id_) == number
                    )
        return found

    def scan(
        self, parts: Sequence[Part], query: Query, after: Order | None, stale: Stale
    ) -> Iterator[tuple[Order, Row]]:
        """Rows that a query asks for, in its order, behind `after`.

        A part is opened only when the scan comes to its time.

        Raises:
            StoreError: a part is missing or damaged.
        """
        streams = [
            self._part(part, query, after, stale)
            for part in parts
            if query.overlaps(part.first, part.last)
        ]
        merged = heapq.merge(*streams, key=lambda pair: pair[0], reverse=query.newest_first)
        return ((order, row) for order, row in merged if row is not None)

    def _part(
        self, part: Part, query: Query, after: Order | None, stale: Stale
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
                kept = [(places[row.keys.id], row) for row in stale(part, rows)] if rows else []
                kept.sort(key=lambda pair: pair[0], reverse=query.newest_first)
                yield from (pair for pair in kept if query.is_behind(pair[0], after))

    def rows(self, part: Part) -> Iterator[Row]:
        """All rows of a part, once its hash is found to be the registered one.

        Raises:
            StoreError: the part is missing, changed or damaged.
        """
        path = self.folder / part.name
        with readable(path):
            unchanged = sha256(path) == part.sha256
        if not unchanged:
            raise StoreError(f"{path} was changed (its hash differs); restore it from a backup")
        with opened(path) as file:
            for group in range(file.num_row_groups):
                yield from rows_of(file, group)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
