"""The features of held jobs, as of a decision.

Spans of time are ``log(1 + span / time scale)`` and numbers ``log(1 + number)``, so that a pool
that lives in minutes and one that lives in days look alike. Each rate of good outcomes leans on a
coarser one::

    rate = (good + 2 · coarser) / (good + bad + 2)

from all holds over the code and the cause to what is particular: a site, an origin, an owner, a
cluster, the job itself. A rate of a window leans on the rate of all time. So every rate is defined,
and a feature is NaN only where the log does not record it.

The *learned rate* counts batches instead of releases, each by its first outcome, and leans more on
what is coarser: 8 batches, chosen on two pools. Its last level is the job's own earlier tries with
this cause, each of which counts. It is the baseline ``rates:learning``.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.history.counts import NEVER, CountIndex, at, preceding
from jobsight.history.timelines import History, Ints, Views, span, views_of
from jobsight.models.base import Floats
from jobsight.questions.hold.examples.evidence import FAMILIES, Evidence
from jobsight.questions.hold.examples.own import OwnIndex
from jobsight.questions.hold.examples.scale import Scale

__all__ = ["LEARNED_RATE", "FeatureIndex"]

_MICRO = 1_000_000
_STRENGTH, _BATCHES = 2.0, 8.0
LEARNED_RATE = "learned: rate"
_LEARNED = ("all", "code", "cause", "cluster", "cluster and cause")
_COARSER = {
    "cause": "code",
    "cause at site": "cause",
    "origin": "cause",
    "origin at site": "origin",
    "site": "all",
    "owner": "all",
    "owner and cause": "cause",
    "cluster": "owner",
    "cluster and cause": "owner and cause",
    "job": "cluster",
    "job and cause": "cluster and cause",
    "code": "all",
}
_RECENT = ("cause", "cause at site", "origin")
_CROWDED = ("cause", "origin", "cluster and cause")
_PLACES = ("origin", "site")
_WORKING = {"likely origin": "origin", "cluster": "cluster"}
"""Families whose jobs end well while it works, and the holds that speak against it."""
_OFTEN_UNKNOWN = ("origin", "origin at site", "likely origin", "site", "cause at site", "owner",
                  "owner and cause")  # fmt: skip
_RISING = (": rate", ": ended well", ": ended well against holds", ": worst rate of a cause")
_FEW = ": ended well against holds"
_EARLIER = 4
"""Earlier holds of the job whose causes are looked at."""

Columns = dict[str, Floats]


class FeatureIndex:
    """Everything that features need of one history, built once, asked for many decisions.

    Immutable after construction; may be asked from several threads.

    Attributes:
        names: the names of the features, unique.
        rising: those that can only speak for success: rates of good outcomes.
        few: those that say in any pool what the learned rate misses.
    """

    def __init__(self, history: History, evidence: Evidence, scale: Scale) -> None:
        self._history = history
        self._scale = scale
        self._evidence = evidence
        self._own = OwnIndex(history)
        self._hold_before = preceding(history, evidence.holds, evidence.holds)
        self._held, self._good, self._bad, self._left = (
            _by_family(evidence, stream) for stream in ("held", "good", "bad", "left")
        )
        self._batches = tuple(
            _by_family(evidence, stream, _LEARNED) for stream in ("first_good", "first_bad")
        )
        nothing = pl.DataFrame(
            schema=dict.fromkeys(("job", "log", "hold_row", "cut", "time"), pl.Int64)
        )
        empty = views_of(history, nothing)
        self._unknown: dict[str, list[str]] = {}
        self.names = tuple(self._columns(empty, np.zeros(0)))
        self._unknown = {
            family: [name for name in self.names if name.startswith((f"{family}:", f"{family},"))]
            for family in _OFTEN_UNKNOWN
        }
        self.rising = frozenset(name for name in self.names if name.endswith(_RISING))
        self.few = frozenset(name for name in self.names if name.endswith(_FEW))

    def features(self, views: Views, delay: Floats) -> NDArray[np.float32]:
        """The features of n decisions: float32 (n, f).

        Args:
            views: what each decision sees.
            delay: float64 (n,), seconds from the decision's time to the release asked about.
        """
        columns = self._columns(views, delay)
        return np.stack(list(columns.values()), axis=1).astype(np.float32)

    def holds(self, views: Views) -> Ints:
        """Holds (012) of each job so far, this one among them: int64 (n,)."""
        return self._own.holds(views)

    def _columns(self, views: Views, delay: Floats) -> Columns:
        time_scale = self._scale.time_scale
        keys = self._keys(views)
        waited = (views.moment - self._history.clock[views.hold_row]) / _MICRO
        columns = {
            "delay": np.log1p(delay / time_scale),
            "held for": span(waited, time_scale),
            "held for at release": span(waited + delay, time_scale),
        }
        columns |= self._own.columns(views, time_scale)
        rates = self._rates(views, keys)
        starts = self._starts(views)
        columns |= rates | self._recently(views, keys, rates, starts)
        columns |= self._crowds(views, keys, starts)
        columns |= self._recoveries(views, keys, starts)
        for family, names in self._unknown.items():
            unknown = keys[family] < 0
            if unknown.any():
                for name in names:
                    columns[name][unknown] = np.nan
        return columns

    def _keys(self, views: Views) -> dict[str, Ints]:
        number = self._evidence.hold_numbers(views.hold_row)
        return {name: column[number] for name, column in self._evidence.keys.items()}

    def _starts(self, views: Views) -> dict[str, Ints]:
        """First rows of the windows: the last W seconds, and since the hold."""
        windows = {}
        for number, seconds in enumerate(self._scale.windows, 1):
            since = views.moment - round(seconds * _MICRO)
            own = self._history.rows_at(views.log, since)
            windows[f"last {number}"] = self._history.cuts_many(views.log, own, since)
        return windows | {"since hold": views.hold_starts}

    def _rates(self, views: Views, keys: dict[str, Ints]) -> Columns:
        """How earlier releases of like holds ended, of all time."""
        columns: Columns = {}
        for family in ("all", *FAMILIES):
            good, bad = self._settled(family, keys[family], views)
            coarser = columns.get(f"{_COARSER.get(family)}: rate", np.full(len(views), 0.5))
            columns[f"{family}: rate"] = _rate(good, bad, coarser)
            columns[f"{family}: settled"] = np.log1p(good + bad)
        columns["job: worst rate of a cause"] = self._worst(views, columns["cause: rate"])
        learned = np.full(len(views), 0.5)
        for family in _LEARNED:
            good, bad = (
                index[family].count(keys[family], views.clean_cuts) for index in self._batches
            )
            learned = _rate(good, bad, learned, _BATCHES if family != "all" else 1.0)
        own = self._settled("job and cause", keys["job and cause"], views)
        columns[LEARNED_RATE] = _rate(*own, learned, _BATCHES)
        return columns

    def _worst(self, views: Views, rate: Floats) -> Floats:
        """The lowest rate among the causes of this hold and of the job's holds before it.

        A job whose input is missing may be held the next time because a site cannot be reached; a
        release mends no more than the last of its ills.
        """
        evidence, worst = self._evidence, rate
        number = evidence.hold_numbers(views.hold_row)
        for _ in range(_EARLIER):
            number = at(self._hold_before, number)
            known = at(evidence.held_by_others, number) > 0
            code, cause = (at(evidence.keys[name], number) for name in ("code", "cause"))
            coarser = _rate(*self._settled("code", code, views), np.full(len(views), 0.5))
            earlier = _rate(*self._settled("cause", cause, views), coarser)
            worst = np.where(known, np.minimum(worst, earlier), worst)
        return worst

    def _recently(
        self, views: Views, keys: dict[str, Ints], rates: Columns, starts: dict[str, Ints]
    ) -> Columns:
        """How releases of like holds ended in the last seconds, and since this hold."""
        columns: Columns = {}
        for family in _RECENT:
            for name, start in starts.items():
                good, bad = self._settled(family, keys[family], views, start)
                columns[f"{family}, {name}: rate"] = _rate(good, bad, rates[f"{family}: rate"])
            last = self._good[family].last(keys[family], views.clean_cuts)
            columns[f"{family}: since last good"] = self._age(views, last)
            last = self._held[family].last(keys[family], views.cuts)
            columns[f"{family}: since last hold"] = self._age(views, last)
        return columns

    def _settled(
        self, family: str, keys: Ints, views: Views, starts: Ints | None = None
    ) -> tuple[Ints, Ints]:
        """Numbers of good and of bad outcomes under each key."""
        good = self._good[family].count(keys, views.clean_cuts, starts)
        return good, self._bad[family].count(keys, views.clean_cuts, starts)

    def _crowds(self, views: Views, keys: dict[str, Ints], starts: dict[str, Ints]) -> Columns:
        """How many are held alike now, and how many more than in the window before."""
        columns: Columns = {}
        for family in _CROWDED:
            held, left = self._held[family], self._left[family]
            now = held.count(keys[family], views.clean_cuts)
            now = now - left.count(keys[family], views.clean_cuts)
            columns[f"{family}: held now"] = np.log1p(np.maximum(now, 0))
        cause, held = keys["cause"], self._held["cause"]
        for name, start in starts.items():
            columns[f"cause, {name}: holds"] = np.log1p(held.count(cause, views.cuts, start))
        return columns

    def _recoveries(self, views: Views, keys: dict[str, Ints], starts: dict[str, Ints]) -> Columns:
        """Whether others of the same origin, site, cluster and owner run, and end well, again."""
        columns: Columns = {}
        for family in _PLACES:
            started = self._evidence.started[family]
            for name, start in starts.items():
                balance = self._against_holds(
                    started, self._held[family], keys[family], views, start
                )
                columns[f"{family}, {name}: starts against holds"] = balance
            last = started.last(keys[family], views.cuts)
            columns[f"{family}: since last start"] = self._age(views, last)
        for family, failing in _WORKING.items():
            working, held = self._evidence.ended_well[family], self._held[failing]
            for name, start in starts.items():
                balance = self._against_holds(working, held, keys[family], views, start)
                columns[f"{family}, {name}: ended well against holds"] = balance
        for family, index in self._evidence.ended_well.items():
            ended = index.count(keys[family], views.cuts)
            columns[f"{family}: ended well"] = np.log1p(ended)
        return columns

    @staticmethod
    def _against_holds(
        good: CountIndex, held: CountIndex, keys: Ints, views: Views, start: Ints
    ) -> Floats:
        """The log of how many more rows of one kind than holds there are from `start` on."""
        ran, failed = (index.count(keys, views.cuts, start) for index in (good, held))
        balance: Floats = np.log((ran + 0.5) / (failed + 0.5))
        return balance

    def _age(self, views: Views, clock: Ints) -> Floats:
        seconds = np.where(clock == NEVER, np.nan, (views.moment - clock) / _MICRO)
        return span(seconds, self._scale.time_scale)


def _by_family(
    evidence: Evidence, stream: str, families: Iterable[str] = ("all", *FAMILIES)
) -> dict[str, CountIndex]:
    rows = getattr(evidence, stream)
    return {family: evidence.index(rows, family) for family in families}


def _rate(good: Ints, bad: Ints, coarser: Floats, strength: float = _STRENGTH) -> Floats:
    rate: Floats = (good + strength * coarser) / (good + bad + strength)
    return rate
