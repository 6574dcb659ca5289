"""Pages of jobs, and a job as a row of a list."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

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
    """Jobs, those first of which something happened last.

    Attributes:
        jobs: their documents.
        next: the cursor of the page behind it; None: it is the last.
    """

    jobs: Sequence[JobDocument]
    next: str | None


def page_of(
    store: Store, query: Query, cluster: str | None, after: str | None, limit: int
) -> JobsPage:
    """A page of the jobs of a store.

    Args:
        store: is read.
        query: which jobs, newest first; of any cluster.
        cluster: an access point or Slurm cluster, or the id up to its last colon; None: all.
        after: the cursor `JobsPage.next` of the page before.
        limit: at most so many, and at most `MOST_JOBS`.

    Raises:
        UsageError: the cursor is not one.
    """
    place = None if after is None else _order(after)
    limit = max(1, min(limit, MOST_JOBS))
    documents: list[JobDocument] = []
    for one in [None] if cluster is None else clusters_named(cluster):
        rows = itertools.islice(store.rows(replace(query, cluster=one), place), limit + 1)
        documents += [row.document() for row in rows]
    documents.sort(key=_place, reverse=True)
    shown = documents[:limit]
    return JobsPage(shown, _cursor(shown[-1]) if len(documents) > limit else None)


def summary(document: JobDocument) -> dict[str, Any]:
    """A job as a row of a list: plain data; times µs since 1970, spans in seconds."""
    key, now = parse_key(document.id), time.time_ns() // 1000
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


def _place(document: JobDocument) -> Order:
    return time_of(document), document.id


def _cursor(document: JobDocument) -> str:
    return "{}:{}".format(*_place(document))


def _order(cursor: str) -> Order:
    time_, _, id_ = cursor.partition(":")
    if not _MICROS.fullmatch(time_):
        raise UsageError("this cursor is not one of a page of jobs; begin without")
    return int(time_), id_
