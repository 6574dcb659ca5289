"""Moving jobs that ended long ago from a store to its archive.

A prune takes a number, its *fence*, writes a part, and asks the backend to register it and to
delete its documents, those that still have the revision that was written, in one transaction, which
fails unless the fence is still the latest. So a prune that was overtaken can neither register a
file that was cleared away nor delete what the other is moving; and as the fence is in the file's
name, it clears away nothing that a later one wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobsight.errors import OutputError, StoreError
from jobsight.store.archive import Archive
from jobsight.store.packing import ENDED
from jobsight.store.parts import Part, name_of
from jobsight.store.reports import PruneReport
from jobsight.store.rows import Order, Query, Row
from jobsight.store.views import live_rows

if TYPE_CHECKING:
    from jobsight.store.base import Store

__all__ = ["OVERTAKEN", "prune"]

OVERTAKEN = "another prune began meanwhile and goes on; this one stopped"
"""The error of a prune whose fence is no longer the latest."""

_PART_ROWS = 10_000
_PART_BYTES = 64 << 20


def prune(
    store: Store, archive: Archive, before: int, *, least: int, overdue: int | None
) -> PruneReport:
    """Move old jobs to the archive; see `Store.prune`."""
    if not _is_worth_a_file(store, before, least, overdue):
        return PruneReport()
    if known := store._parts():
        # Where its latest file is missing, the folder is another, or its disk is away: what would
        # be written there now is hidden once it is back.
        archive.require(known[-1])
    archive.claim(f"{store.identity():016x}")
    fence = _take_fence(store, archive)
    archive.clear(store._parts(), fence)
    documents = parts = size = 0
    after: Order | None = None
    while rows := _oldest(store, before, after):
        after = rows[-1].order
        part = _write(store, archive, name_of(fence, parts), rows, fence)
        moved = store._retire(part, [(row.keys, row.revision) for row in rows], fence)
        documents += moved
        parts += 1 if moved else 0
        size += part.size if moved else 0
    archive.clear(store._parts(), fence)
    return PruneReport(documents, parts, size)


def _is_worth_a_file(store: Store, before: int, least: int, overdue: int | None) -> bool:
    with store._view() as view:
        due = live_rows(view, Query(until=before, states=ENDED))
        for number, ((time, _), _row) in enumerate(due, start=1):
            if number >= least or (overdue is not None and time < overdue):
                return True
    return False


def _take_fence(store: Store, archive: Archive) -> int:
    """The next fence; refused in a folder where another than this store prunes as well.

    So nothing of the other's is ever behind a fence of this one, and cleared away.
    """
    latest = store._number("fence")
    later = archive.later(store._parts(), latest)
    if later is None:
        return store._next_fence()
    if store._number("fence") != latest:
        raise StoreError(OVERTAKEN)
    raise StoreError(
        f"{archive.folder} has {later}, which this store does not know: a copy of it was "
        "pruned into the same folder, or it was restored from a backup, or lost its last "
        "seconds with the power; give each copy a folder of its own (store.archive), or move "
        "that file away"
    )


def _write(store: Store, archive: Archive, name: str, rows: Sequence[Row], fence: int) -> Part:
    """A new part, safely on disk."""
    try:
        part = archive.write(name, rows, store._parts())
        archive.require(part)
    except (OutputError, StoreError):
        if store._number("fence") != fence:  # the later prune cleared it away
            raise StoreError(OVERTAKEN) from None
        raise
    return part


def _oldest(store: Store, before: int, after: Order | None) -> list[Row]:
    """Rows for the next part: of ended jobs with a time less than `before`, behind `after`."""
    rows: list[Row] = []
    held = 0
    with store._view() as view:
        for _, row in live_rows(view, Query(until=before, states=ENDED), after):
            rows.append(row)
            held += len(row.data)
            if len(rows) == _PART_ROWS or held >= _PART_BYTES:
                break
    return rows
