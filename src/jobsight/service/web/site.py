"""What the service knows, for whoever asks: jobs, answers, models, collectors.

The functions that the API and the pages call. All may be called from any thread. Each is given the
`Caller` and shows no more than that one may see: a job of another user is one that is not there.
Texts are as the documents have them: hostile, to be escaped by whoever shows them.
"""

from __future__ import annotations

import base64
import itertools
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jobsight import __version__
from jobsight.documents import JobDocument, parse_key
from jobsight.documents.keys import clusters_named
from jobsight.documents.spans import life, ran, submitted, time_of, total, why
from jobsight.documents.states import State, parse_states
from jobsight.errors import JobError, SourceError, UsageError
from jobsight.ids import parse_job_name
from jobsight.service import status as collectors
from jobsight.store.finding import find_ids
from jobsight.store.packing import user_key
from jobsight.store.rows import Order, Query

if TYPE_CHECKING:
    from jobsight.service.web.callers import Caller
    from jobsight.settings import Settings
    from jobsight.store.base import Store

__all__ = ["MOST_JOBS", "JobsPage", "Site", "summary"]

MOST_JOBS = 500
"""Jobs of one page."""


@dataclass(frozen=True)
class JobsPage:
    """Jobs, those first of which something happened last.

    Attributes:
        jobs: their documents.
        next: the cursor of the page behind it; None: it is the last.
    """

    jobs: Sequence[JobDocument]
    next: str | None


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


class Site:
    """One store, its models and its collector.

    Attributes:
        settings: that the service was started with.
        store: that it reads.
    """

    def __init__(self, settings: Settings, store: Store) -> None:
        self.settings = settings
        self.store = store
        self._started = time.time()

    def jobs(
        self,
        who: Caller,
        *,
        user: str | None = None,
        states: Sequence[str] = (),
        cluster: str | None = None,
        since: int | None = None,
        until: int | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> JobsPage:
        """A page of jobs.

        Args:
            who: asks.
            user: submitted by that user.
            states: words, as of `jobsight jobs --state`; none: any.
            cluster: an access point or Slurm cluster, or the id up to its last colon.
            since: µs; see `Store.scan`.
            until: µs; likewise.
            after: the cursor `JobsPage.next` of the page before.
            limit: at most so many, and at most `MOST_JOBS`.

        Raises:
            UsageError: a word is not a state, or the cursor not one.
        """
        if who.only is not None and user not in (None, who.only):
            return JobsPage([], None)
        owner = who.only or user
        found = parse_states(list(states))
        asked = None if found is None else frozenset(map(str, found))
        place = None if after is None else _order(after)
        limit = max(1, min(limit, MOST_JOBS))
        clusters = [None] if cluster is None else clusters_named(cluster)
        documents: list[JobDocument] = []
        for one in clusters:
            query = Query(since, until, asked, owner and user_key(owner), one, newest_first=True)
            rows = itertools.islice(self.store.rows(query, place), limit + 1)
            documents += [row.document() for row in rows]
        documents.sort(key=_place, reverse=True)
        shown = documents[:limit]
        return JobsPage(shown, _cursor(shown[-1]) if len(documents) > limit else None)

    def job(self, who: Caller, name: str) -> JobDocument:
        """A job by any form of its id that names one alone.

        Raises:
            UsageError: it is not an id.
            JobError: there is none, it names several, or it is another user's.
        """
        ids = find_ids(self.store, parse_job_name(name))
        if len(ids) > 1:
            raise JobError(f"{len(ids)} jobs have this number; name one, such as {ids[0]}")
        found = next(iter(self.store.get(ids).values()), None)
        if found is None or not who.sees(found.document.submission.user):
            raise JobError(f"the store has no job {name}; `jobsight jobs` lists what it has")
        return found.document

    def collectors(self) -> list[dict[str, Any]]:
        """The status of each collector that is known here, with ``healthy`` and ``problems``."""
        try:
            return [collectors.read(self.settings.collect).to_json()]
        except SourceError:
            return []

    def health(self) -> dict[str, Any]:
        """Whether the service can answer: ``ok``, ``version``, ``uptime_s``, ``store``."""
        self.store.generation()
        return {
            "ok": True,
            "version": __version__,
            "uptime_s": round(time.time() - self._started, 1),
            "store": self.store.backend,
        }


def _place(document: JobDocument) -> Order:
    return time_of(document), document.id


def _cursor(document: JobDocument) -> str:
    text = json.dumps(_place(document)).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def _order(cursor: str) -> Order:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        time_, id_ = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, TypeError, RecursionError):
        raise UsageError("this cursor is not one of a page of jobs; begin without") from None
    if not (type(time_) is int and abs(time_) < 2**63 and isinstance(id_, str)):
        raise UsageError("this cursor is not one of a page of jobs; begin without")
    return time_, id_
