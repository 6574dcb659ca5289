"""What is to be put, so that the store has what it has and what sources report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from jobsight.documents import JobDocument, merge
from jobsight.documents.identity import is_surely_of, may_share_number, nth_id, sort_out
from jobsight.store.rows import Change, Put, Stored

__all__ = ["joined"]

_Get = Callable[[Collection[str]], Mapping[str, Stored]]


def joined(
    reports: Mapping[str, Sequence[JobDocument]], get: _Get
) -> tuple[list[Put], tuple[Change, ...], int]:
    """Puts and changes of all jobs of which something new is reported; how many ids have none.

    `reports` are by the id under which they are reported; `get` is `Store.get`.
    """
    known = get(reports.keys())
    puts: list[Put] = []
    changes: list[Change] = []
    unchanged = 0
    for id_, partials in reports.items():
        stored = known.get(id_)
        before = len(puts)
        if may_share_number(id_) and (stored is not None or len(partials) > 1):
            # The reports may be of several jobs to which Slurm gave one number.
            jobs = [] if stored is None else [stored]
            if stored and not all(is_surely_of(stored.document, partial) for partial in partials):
                # A writer that adds another job meanwhile puts it under the same id, so one of the
                # two puts is refused.
                while later := get([nth_id(id_, len(jobs) + 1)]):
                    jobs += later.values()
            old = [job.document for job in jobs]
            for at, (index, new) in enumerate(sort_out(old, partials)):
                here = jobs[at] if at < len(jobs) else None
                if here is None or new != here.document:
                    puts.append(Put(new, here.revision if here else None))
                    changes.append(Change(None if index is None else old[index], new))
        else:
            only = stored.document if stored else None
            merged = only
            for partial in partials:
                merged = merge(merged, partial)
            if merged is not None and merged is not only and merged != only:
                puts.append(Put(merged, stored.revision if stored else None))
                changes.append(Change(only, merged))
        unchanged += len(puts) == before
    return puts, tuple(changes), unchanged
