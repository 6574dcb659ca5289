"""The evidence of an answer, in words and numbers, as of a moment.

Each finding is a mapping with `what` (a fixed word), `text` (a sentence; names from the log made
plain) and the numbers that the sentence is made of. Spans are in seconds. Nothing written after the
moment counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.clock import format_span
from jobsight.codes import EventCode
from jobsight.format import percent
from jobsight.history.counts import Count, CountIndex, Tally, number_texts
from jobsight.history.labels import RowLabels, held_rows
from jobsight.history.reasons import origin
from jobsight.history.reasons import site as site_named
from jobsight.history.timelines import History, Ints
from jobsight.ids import JobId
from jobsight.models.calibration import wilson
from jobsight.questions.hold.examples.evidence import Evidence, gather_evidence
from jobsight.text import counted, printable

__all__ = ["Finding", "FindingIndex", "Findings", "sites_alone"]

Finding = dict[str, Any]

_MICRO = 1_000_000

_ENDED = {
    "cause": "same_cause",
    "cause at site": "same_cause_at_site",
    "origin": "same_origin",
    "owner and cause": "same_owner_and_cause",
    "cluster and cause": "siblings",
}
_SITE_HOLDS, _SITE_RATIO = 5, 3.0
"""A site is said to hold runs alone from so many on, if surely so many times as often as others."""
_SIBLINGS = "cluster and cause"
_WAIT = ("wait", "waits")
_ACTIVE = ("cause", "cause at site", "origin", "site", _SIBLINGS)


def sites_alone(evidence: Sequence[Finding]) -> list[str]:
    """The sites that alone hold runs for a job's cause, by its evidence."""
    return [finding["site"] for finding in evidence if finding["what"] == "site_alone"]


class FindingIndex:
    """What evidence is drawn from; built once for a history, immutable.

    Attributes:
        history: the indexed log.
        evidence: rows of evidence and their keys.
        cause: of each row, see `RowLabels`.
        ended: releases of jobs as they were, by family of like holds, ``all`` being every one; and
            ``fixed``, by cause, those of jobs that were edited.
        places: int64 (jobs,), number of the access point, else of the log.
        owners: int64 (jobs,), number of the owner, −1 where the log has none.
        owned_since: int64 (jobs,), µs, when the owner was recorded, if ever.
    """

    def __init__(self, history: History, labels: RowLabels, decisions: pl.DataFrame) -> None:
        """Index a history and its decisions (`hold_decisions`)."""
        self.history = history
        self.cause = labels.cause
        self.evidence: Evidence = gather_evidence(history, labels, decisions)
        self.held = self.evidence.indexes(self.evidence.held, _ACTIVE)
        self.left = self.evidence.indexes(self.evidence.left, (_SIBLINGS,))[_SIBLINGS]
        resolved = decisions.filter("kept", pl.col("outcome").is_not_null())
        as_it_was, fixed = resolved.filter(~pl.col("edited")), resolved.filter("edited")
        names = ("all", "class", "code", "job and cause", *_ENDED)
        of = {name: (as_it_was, name) for name in names} | {"fixed": (fixed, "cause")}
        self.ended = {name: self._tally(*releases) for name, releases in of.items()}
        place = history.jobs.select(pl.coalesce("access_point", pl.col("log").cast(pl.String)))
        self.places, self.owners = number_texts(place.to_series(), history.jobs["owner"])
        self.owned_since = history.clock[history.jobs["owner_row"].fill_null(0).to_numpy()]
        recorded = history.jobs.with_columns(since=self.owned_since)
        recorded = recorded.filter(pl.col("owner_row").is_not_null())
        self.first_owners = np.sort(
            recorded.group_by("owner").agg(pl.min("since"))["since"].to_numpy()
        )
        headers = np.flatnonzero((history.code == EventCode.GENERIC) & (history.job < 0))
        self.first_header = int(history.clock[headers].min(initial=np.iinfo(np.int64).max))

    def _tally(self, decisions: pl.DataFrame, family: str) -> Tally:
        number = self.evidence.hold_numbers(decisions["hold_row"].to_numpy())
        return Tally(
            self.evidence.keys[family][number],
            decisions["resolved_time"].to_numpy(),
            decisions["outcome"].cast(pl.Boolean).to_numpy(),
            decisions["batch"].to_numpy(),
        )

    def key(self, family: str, hold_row: int) -> int:
        """Key of a hold in a family; −1 where it has none."""
        number = int(np.searchsorted(self.evidence.holds, hold_row))
        return int(self.evidence.keys[family][number])


class Findings:
    """The evidence as of one moment, over one window; what several jobs share is counted once."""

    def __init__(self, index: FindingIndex, moment: int, window: float) -> None:
        """See `index` as of `moment` (µs), with the last `window` seconds as "lately"."""
        self._index = index
        self._moment = moment
        self._since = moment - round(window * _MICRO)
        self._window = window
        self._starts_after = cache(partial(_starts_after, index.history))
        self._cuts = self._starts_after(moment)
        self._ended = cache(lambda family, key: index.ended[family].count(key, moment))
        self._shared: dict[tuple[Any, ...], list[Finding]] = {}
        self._alike: dict[tuple[Any, ...], list[JobId]] = {}

    def ended(self, family: str, hold_row: int) -> Count:
        """How releases of holds like this one had ended."""
        count: Count = self._ended(family, self._index.key(family, hold_row))
        return count

    def vacated(self, hold_row: int) -> bool:
        """Whether it is the row of a vacate (004)."""
        return bool(self._index.history.vacated[hold_row])

    def retried(self, hold_row: int) -> Count:
        """How releases of the same program held for this had ended: of its owner, else cluster."""
        known = self._index.key("owner and cause", hold_row) >= 0
        return self.ended("owner and cause" if known else "cluster and cause", hold_row)

    def waiting(self, hold_row: int) -> int:
        """How many jobs of its cluster are held for the same cause, this one among them."""
        key, held = self._index.key(_SIBLINGS, hold_row), self._index.held[_SIBLINGS]
        return self._count(held, key) - self._count(self._index.left, key)

    def alike(self, hold_row: int, reason: str, *, lasting: bool) -> list[JobId]:
        """The jobs held for the same cause, this one among them: its owner's first, then by hold.

        Of its cluster; where the reason names a transfer origin, or else a site, and the cause is
        not the job's own (`lasting`), those of its access point that are held there.
        """
        index, history = self._index, self._index.history
        wider = "origin" if origin(reason) else "cause at site" if site_named(reason) else None
        if lasting or wider is None or index.key(wider, hold_row) < 0:
            wider = _SIBLINGS
        source, key = index.held[wider], index.key(wider, hold_row)
        cause, mine = index.cause[hold_row], history.job[[hold_row]]
        place, owner = index.places[mine[0]], self._owners(mine)[0]
        shape = (wider, key, cause, place, owner)
        if shape not in self._alike:
            rows = source.rows(key)
            held, _ = held_rows(history, self._moment, np.unique(history.job[rows]))
            keys = index.evidence.keys[wider][index.evidence.hold_numbers(held)]
            jobs = history.job[held[(keys == key) & (index.cause[held] == cause)]]
            jobs = jobs[index.places[jobs] == place]
            jobs = jobs[np.argsort(self._owners(jobs) != owner, kind="stable")]
            ids = (history.jobs[name].to_numpy()[jobs].tolist() for name in ("cluster", "proc"))
            self._alike[shape] = list(map(JobId, *ids))
        return self._alike[shape]

    def _owners(self, jobs: NDArray[np.integer]) -> Ints:
        """Number of the owner of each of n jobs, −1 where it is not recorded yet: int64 (n,)."""
        index = self._index
        return np.where(index.owned_since[jobs] <= self._moment, index.owners[jobs], -1)

    def about(
        self, job: int, hold_row: int, site: str | None, reason: str, *, lasting: bool
    ) -> list[Finding]:
        """The evidence for a held job.

        Args:
            job: its number.
            hold_row: of its hold.
            site: where it ran, as far as known.
            reason: of the hold.
            lasting: whether the cause is the job's own, so that no outage is to be spoken of.
        """
        # "Since its hold" differs from second to second, and with it what is shared.
        since = int(self._index.history.clock[hold_row])
        families = (*_ENDED, "site")
        shape = (since, lasting, *(self._index.key(family, hold_row) for family in families))
        shared = self._shared.get(shape)
        if shared is None:
            place = printable(site or "", 60)
            source = printable(origin(reason) or "", 100)
            shared = [
                *self._precedents(hold_row, place, source),
                *self._holds_lately(hold_row, since),
                *([self._site_lately(hold_row, place)] if place else []),
                *([] if lasting else self._outage(hold_row, since, place, source)),
                *(self._site_alone(hold_row, place) if place and not lasting else []),
            ]
            self._shared[shape] = shared
        return [*shared, *self.own(job), *self._missing]

    def _precedents(self, hold_row: int, place: str, source: str) -> list[Finding]:
        labels = {
            "cause": "with this cause",
            "cause at site": f"with this cause at {place}",
            "origin": f"of jobs that failed on {source}",
            "owner and cause": "of this owner with this cause",
            "cluster and cause": "of this cluster with this cause",
        }
        precedents = []
        for family, what in _ENDED.items():
            count = self.ended(family, hold_row)
            if count.releases:
                key = self._index.key(family, hold_row)
                recent = self._index.ended[family].recent(key, self._since, self._moment)
                precedents.append(_ended(what, labels[family], count, recent, self._window))
        if not self.ended("cause", hold_row).releases:
            text = "no release with this cause has ended before"
            precedents.insert(0, {"what": "same_cause", "text": text, "releases": 0})
        fixed = self._index.ended["fixed"].count(self._index.key("cause", hold_row), self._moment)
        if fixed.releases:
            label = "with this cause, after the job was edited,"
            precedents.append(_ended("fixed", label, fixed, (0, 0), self._window))
        return precedents

    def _holds_lately(self, hold_row: int, since: int) -> list[Finding]:
        """What else the cause held lately; nothing where it held this job alone."""
        key = self._index.key("cause", hold_row)
        lately = self._count(self._index.held["cause"], key, self._since)
        later = self._count(self._index.held["cause"], key, since)
        waiting = max(self.waiting(hold_row) - 1, 0)
        if lately == 1 and since > self._since and not waiting:
            return []
        return [
            {
                "what": "cause_lately",
                "text": f"in the last {format_span(self._window)} this cause held "
                f"{counted(lately, 'job')}, {later:,} since this one; "
                f"{counted(waiting, 'other')} of this cluster still {_WAIT[waiting == 1]} with it",
                "window": self._window,
                "holds": lately,
                "holds_since": later,
                "waiting": waiting,
            }
        ]

    def _site_lately(self, hold_row: int, place: str) -> Finding:
        evidence, key = self._index.evidence, self._index.key("site", hold_row)
        started = self._count(evidence.started["site"], key, self._since)
        ended = self._count(evidence.ended_well["site"], key, self._since)
        held = self._count(self._index.held["site"], key, self._since)
        return {
            "what": "site_lately",
            "text": f"in the last {format_span(self._window)} at {place}: "
            f"{counted(started, 'start')}, {ended:,} ended well, {held:,} held",
            "site": place,
            "window": self._window,
            "starts": started,
            "ended_well": ended,
            "holds": held,
        }

    def _site_alone(self, hold_row: int, place: str) -> list[Finding]:
        """Whether the site holds its runs for this cause far more often than all others do."""
        holds, starts = self._index.held, self._index.evidence.started
        asked = ((holds, "cause at site"), (holds, "cause"), (starts, "site"), (starts, "all"))
        held_here, held, ran_here, ran = (
            self._count(of[family], self._index.key(family, hold_row), self._since)
            for of, family in asked
        )
        runs = np.maximum([ran_here, ran - ran_here], 1.0)
        rates = np.minimum(np.array([held_here, held - held_here]) / runs, 1.0)
        low, high = wilson(rates, runs)
        if held_here < _SITE_HOLDS or low[0] <= _SITE_RATIO * high[1]:
            return []
        lately = f"in the last {format_span(self._window)} this cause held {held_here:,} of "
        others = f"{held - held_here:,} of {ran - ran_here:,} elsewhere"
        found = {
            "what": "site_alone",
            "text": f"{lately}{counted(ran_here, 'run')} at {place}, and {others}",
            "site": place,
            "window": self._window,
            "holds": held_here,
            "starts": ran_here,
            "elsewhere": {"holds": held - held_here, "starts": ran - ran_here},
        }
        return [found]

    def _outage(self, hold_row: int, since: int, place: str, source: str) -> list[Finding]:
        """Whether what failed at a place works again; nothing where there is no evidence."""
        family = "origin" if source else "cause at site" if place else "cause"
        key = self._index.key(family, hold_row)
        # This hold itself is no sign that others are held; a vacate without codes is not counted.
        history = self._index.history
        own = since > self._since and bool(history.held[hold_row] or history.begun[hold_row])
        held = self._count(self._index.held[family], key, self._since) - own
        good = self._index.ended[family].recent(key, since, self._moment)[1]
        if source:
            good = max(good, self._count(self._index.evidence.ended_well["origin"], key, since))
        if bool(good) == bool(held):
            return []
        about = f"on {source}" if source else f"at {place}" if place else "with this cause"
        state = "over" if good else "goes_on"
        words = "the outage seems over" if good else "the outage goes on"
        return [
            {
                "what": "outage",
                "text": f"{words}: of the jobs that failed {about}, {good:,} ended well since this "
                f"hold; others held in the last {format_span(self._window)}: {held:,}",
                "state": state,
                "ended_well_since": good,
                "holds": held,
                "window": self._window,
            }
        ]

    def own(self, job: int) -> list[Finding]:
        """How often the job itself was held and released."""
        history = self._index.history
        rows = history.rows_of(job)
        codes = history.code[rows[history.clock[rows] <= self._moment]]
        releases, holds = (
            int((codes == code).sum()) for code in (EventCode.RELEASED, EventCode.HELD)
        )
        if not releases:
            return []
        times = "once" if releases == 1 else f"{releases:,} times"
        return [
            {
                "what": "own_releases",
                "text": f"this job was released {times} before; it was held {holds:,} in all",
                "releases": releases,
                "holds": holds,
            }
        ]

    @cached_property
    def _missing(self) -> list[Finding]:
        """What evidence a user's own log lacks."""
        owners = int(np.searchsorted(self._index.first_owners, self._moment, side="right"))
        if owners > 1 or self._index.first_header <= self._moment:
            return []
        return [
            {
                "what": "missing",
                "text": "these logs have one user's jobs only, so how others fared with this "
                "cause and at this site is missing: give the access point's EVENT_LOG too",
                "owners": owners,
            }
        ]

    def _count(self, index: CountIndex, key: int, since: int | None = None) -> int:
        """Rows under a key up to the moment, all or after `since` (µs)."""
        starts = None if since is None else self._starts_after(since)
        return int(index.count(np.array([key]), self._cuts, starts)[0])


def _starts_after(history: History, moment: int) -> Ints:
    """First row of each log after a moment (µs): int64 (1, logs)."""
    return history.rows_at(np.arange(history.logs), np.full(history.logs, moment + 1))[None, :]


def _ended(what: str, label: str, count: Count, recent: tuple[int, int], window: float) -> Finding:
    rate = count.succeeded / count.releases
    text = (
        f"{counted(count.releases, 'release')} {label} ended: {count.succeeded:,} succeeded "
        f"({percent(rate)}, {counted(count.batches, 'batch', 'batches')})"
    )
    if 0 < recent[0] < count.releases:
        text += f"; in the last {format_span(window)} {recent[1]:,} of {recent[0]:,}"
    return {
        "what": what,
        "text": text,
        "releases": count.releases,
        "succeeded": count.succeeded,
        "rate": rate,
        "batches": count.batches,
        "failed_batches": count.failed_batches,
        "window": window,
        "recent_releases": recent[0],
        "recent_succeeded": recent[1],
    }
