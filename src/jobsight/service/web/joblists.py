"""Pages of jobs, and a job as a row of a list."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from jobsight.clock import now_micros
from jobsight.documents import JobDocument, parse_key
from jobsight.documents.keys import clusters_named
from jobsight.documents.spans import life, ran, submitted, time_of, total, why
from jobsight.documents.states import State
from jobsight.errors import UsageError
from jobsight.store.rows import Order, Query

if TYPE_CHECKING:
    from jobsight.store import Store

__all__ = ["MOST_JOBS", "JobsPage", "page_of", "summary"]

MOST_JOBS = 500
"""Jobs of one page."""
_MICROS = re.compile(r"-?\d{1,18}", re.ASCII)


@dataclass(frozen=True)
class JobsPage:
    """Documents of jobs, and the cursor of the page that follows; None: it is the last."""

    jobs: Sequence[JobDocument]
    next: str | None


def page_of(
    store: Store, query: Query, cluster: str | None, after: str | None, limit: int
) -> JobsPage:
    """A page of at most `limit` and `MOST_JOBS` of the jobs that a query finds, newest first.

    `cluster` is an access point or Slurm cluster, or the id up to its last colon; None: all.
    `after` is the cursor `JobsPage.next` of the page before.

    Raises:
        UsageError: the cursor is not one.
    """
    place: Order | None = None
    if after is not None:
        time_, _, id_ = after.partition(":")
        if not _MICROS.fullmatch(time_):
            raise UsageError("this cursor is not one of a page of jobs; begin without")
        place = int(time_), id_
    limit = max(1, min(limit, MOST_JOBS))
    documents: list[JobDocument] = []
    for name in [None] if cluster is None else clusters_named(cluster):
        rows = itertools.islice(store.rows(replace(query, cluster=name), place), limit + 1)
        documents += [row.document() for row in rows]
    documents.sort(key=lambda document: (time_of(document), document.id), reverse=True)
    shown = documents[:limit]
    more = len(documents) > limit
    return JobsPage(shown, f"{time_of(shown[-1])}:{shown[-1].id}" if more else None)


def summary(document: JobDocument) -> dict[str, Any]:
    """A job as a row of a list: plain data; times µs since 1970, spans in seconds."""
    key, now = parse_key(document.id), now_micros()
    return {
        "id": document.id,
        "job": key.job,
        "scheduler": key.scheduler,
        "cluster": key.cluster,
        "user": document.submission.user,
        "name": document.submission.name,
        "state": document.state and document.state.value,
        "submitted": submitted(document),
        "changed": time_of(document),
        "waited_s": total(one for one in life(document, now) if one.state is State.PENDING),
        "ran_s": ran(document, now),
        "memory_mb": document.usage.memory_mb,
        "why": why(document),
    }
