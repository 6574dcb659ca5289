"""Moving jobs that ended long ago from a backend to the archive.

A prune takes a number, its *fence*, writes a part, and asks the backend to register it and to
delete its documents, those that still have the revision that was written, in one transaction, which
fails unless the fence is still the latest. So a prune that was overtaken can neither register a
file that was cleared away nor delete what the other is moving; and as the fence is in the file's
name, it clears away nothing that a later one wrote.
"""

from __future__ import annotations

from jobsight.errors import OutputError, StoreError
from jobsight.store.archive import Archive, name_of
from jobsight.store.base import Backend, OvertakenError, live_rows
from jobsight.store.packing import ENDED, LEAST_TIME
from jobsight.store.rows import Order, PruneReport, Query, Row

__all__ = ["prune"]

_PART_ROWS = 10_000
_PART_BYTES = 64 << 20


def prune(
    backend: Backend, archive: Archive, before: int, *, least: int = 1, overdue: int | None = None
) -> PruneReport:
    """Move old jobs to the archive; see `Store.prune`."""
    with backend.view() as view:
        due = enumerate(live_rows(view, Query(until=before, states=ENDED)), start=1)
        late = LEAST_TIME if overdue is None else overdue
        if not any(number >= least or row.keys.time < late for number, row in due):
            return PruneReport()
    if known := backend.parts():
        # Where its latest file is missing, the folder is another, or its disk is away: what would
        # be written there now is hidden once it is back.
        archive.require(known[-1])
    archive.claim(f"{backend.number('identity'):016x}")
    latest = backend.number("fence")
    # Refused where another store prunes into the folder as well: so nothing of the other's is ever
    # behind a fence of this one, and cleared away.
    if later := archive.later(backend.parts(), latest):
        if backend.number("fence") != latest:
            raise OvertakenError
        raise StoreError(
            f"{archive.folder} has {later}, which this store does not know: a copy of it was "
            "pruned into the same folder, or it was restored from a backup, or lost its last "
            "seconds with the power; give each copy a folder of its own (store.archive), or move "
            "that file away"
        )
    fence = backend.next_fence()
    archive.clear(backend.parts(), fence)
    documents = parts = size = 0
    after: Order | None = None
    while rows := _oldest(backend, before, after):
        after = rows[-1].order
        try:
            part = archive.write(name_of(fence, parts), rows, backend.parts())
            archive.require(part)
        except (OutputError, StoreError):
            if backend.number("fence") != fence:  # the later prune cleared it away
                raise OvertakenError from None
            raise
        if moved := backend.retire(part, [(row.keys, row.revision) for row in rows], fence):
            documents += moved
            parts += 1
            size += part.size
    archive.clear(backend.parts(), fence)
    return PruneReport(documents, parts, size)


def _oldest(backend: Backend, before: int, after: Order | None) -> list[Row]:
    """Rows for the next part: of ended jobs with a time less than `before`, behind `after`."""
    rows: list[Row] = []
    size = 0
    with backend.view() as view:
        for row in live_rows(view, Query(until=before, states=ENDED), after):
            rows.append(row)
            size += len(row.data)
            if len(rows) == _PART_ROWS or size >= _PART_BYTES:
                break
    return rows
