"""Examples: what is known of held jobs as of a cut, in the form that models read.

Training (the cut is the release), a question asked some time before the release, and a live
question (the cut is now) differ only in their cuts and share this one path.

Spans of time are ``log(1 + span / time scale)`` and numbers ``log(1 + number)``, so that a pool
that lives in minutes and one that lives in days look alike. Each rate of good outcomes leans on a
coarser one::

    rate = (good + 2 · coarser) / (good + bad + 2)

from all holds over the code and the cause to what is particular: a site, an origin, an owner, a
cluster, the job itself. A rate of a window leans on the rate of all time. So every rate is defined,
and a feature is NaN only where the log does not record it.

Models begin from counts of batches instead of releases, each by its first outcome
(`Inputs.learned`). Their last level is the job's own earlier tries with this cause, each of which
counts.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.history.counts import NEVER, CountIndex, at, preceding
from jobsight.history.frames import FrameIndex, build_frames
from jobsight.history.jobads import parse_ad
from jobsight.history.labels import RowLabels, label_rows
from jobsight.history.timelines import (
    TRIGGER,
    History,
    Ints,
    Views,
    as_seen,
    delayed,
    span,
    views_of,
)
from jobsight.models.base import Floats, Inputs
from jobsight.questions.hold.examples.decisions import held_jobs, resolved_releases
from jobsight.questions.hold.examples.evidence import FAMILIES, Evidence, gather_evidence
from jobsight.questions.hold.settings import HoldSettings, Scale

__all__ = ["ExampleBuilder", "built_again", "frames_of"]

_MICRO = 1_000_000
_STRENGTH = 2.0
_OWN = "job and cause"
_LEARNED = {"all": "all", "subcode": "code", "reason": "cause", "cluster": "cluster",
            "cluster and cause": "cluster and cause"}  # fmt: skip
"""Families of which batches are counted, by level of `Inputs.learned`; `_OWN` is the last."""
_COARSER = {
    "cause": "code", "cause at site": "cause", "origin": "cause", "origin at site": "origin",
    "site": "all", "owner": "all", "owner and cause": "cause", "cluster": "owner",
    "cluster and cause": "owner and cause", "job": "cluster", "job and cause": "cluster and cause",
    "code": "all",
}  # fmt: skip
_RECENT = ("cause", "cause at site", "origin")
_CROWDED = ("cause", "origin", "cluster and cause")
_PLACES = ("origin", "site")
_WORKING = {"likely origin": "origin", "cluster": "cluster"}
"""Families whose jobs end well while it works, and the holds that speak against it."""
_OFTEN_UNKNOWN = ("origin", "origin at site", "likely origin", "site", "cause at site", "owner",
                  "owner and cause")  # fmt: skip
_RISING = (": rate", ": ended well", ": ended well against holds", ": worst rate of a cause")
"""Ends of the names of those that can only speak for success: rates of good outcomes."""
_FEW = ": ended well against holds"
"""End of the names of those that say in any pool what the learned rate misses."""
_EARLIER = 4
"""Earlier holds of the job whose causes are looked at."""

Columns = dict[str, Floats]


class ExampleBuilder:
    """Builds examples from one history, indexed once; may be asked from several threads."""

    def __init__(
        self,
        history: History,
        settings: HoldSettings,
        scale: Scale,
        labels: RowLabels,
        evidence: Evidence,
        *,
        frames: bool = True,
    ) -> None:
        """Index `history`.

        Args:
            history: the indexed log.
            settings: what counts as good, frames, seed.
            scale: learned from the training part.
            labels: of the rows of `history`.
            evidence: of the history under these settings.
            frames: whether `Inputs.frames` are built; they are None if not.
        """
        self._history = history
        self._settings = settings
        self._scale = scale
        self._labels = labels
        self._with_frames = frames
        self._index = _FeatureIndex(history, evidence, scale)

    @classmethod
    def of(
        cls, history: History, settings: HoldSettings, scale: Scale, *, frames: bool = True
    ) -> Self:
        """One for a history of which nothing is known yet."""
        labels = label_rows(history)
        releases, _ = resolved_releases(history, settings, labels)
        evidence = gather_evidence(history, labels, releases)
        return cls(history, settings, scale, labels, evidence, frames=frames)

    def build(self, rows: pl.DataFrame, moment: str) -> tuple[pl.DataFrame, Inputs]:
        """Examples of released jobs, as of `moment` seconds before each decision.

        Args:
            rows: of `jobsight.questions.hold.examples.decisions.hold_decisions`.
            moment: seconds; jobs that were not yet held that long before are left out.

        Returns:
            the rows that are left, with `delay` (seconds), and what is known of each.
        """
        early = delayed(self._history, rows, float(moment))
        return early, self.inputs(early, float(moment))

    def inputs(self, decisions: pl.DataFrame, delay: float | Floats = 0.0) -> Inputs:
        """What is known at the cuts of `decisions`, of a release that lies `delay` seconds ahead.

        Args:
            decisions: n rows with the columns of
                `jobsight.questions.hold.examples.decisions.held_jobs`; a row may stand there
                several times, with different delays.
            delay: seconds; one for all, or float64 (n,).
        """
        views = views_of(self._history, decisions)
        columns = self._index.features(views, np.full(len(views), delay, np.float64))
        # Names of each cause from coarse to fine: ``13``, ``13/256``, ``13/256 masked reason``.
        code = pl.col("hold_code").cast(pl.String).fill_null("?")
        subcode = code + "/" + pl.col("hold_subcode").cast(pl.String).fill_null("?")
        reason = subcode + " " + pl.col("masked").fill_null("")
        causes = decisions.select(code=code, subcode=subcode, reason=reason)
        numbers = decisions.select(pl.col("hold_code", "hold_subcode").cast(pl.Int64).fill_null(-1))
        frames = None
        if self._with_frames:
            frames = frames_of(self._frame_index, decisions, self._settings, self._scale)
        return Inputs(
            features=np.stack(list(columns.values()), axis=1).astype(np.float32),
            names=tuple(columns),
            causes={
                name: texts.to_numpy().astype(np.str_) for name, texts in causes.to_dict().items()
            },
            facts={name: codes.to_numpy() for name, codes in numbers.to_dict().items()}
            | {"num_holds": self._index.holds(views)}
            | self._index.known(views),
            frames=frames,
            state_events=len(self._settings.frames.state_events),
            rising=frozenset(name for name in columns if name.endswith(_RISING)),
            few=frozenset(name for name in columns if name.endswith(_FEW)),
            learned=(*_LEARNED, _OWN),
        )

    @cached_property
    def _frame_index(self) -> FrameIndex:
        return FrameIndex(self._history, self._labels, self._settings.frames.state_events)


def frames_of(
    index: FrameIndex, decisions: pl.DataFrame, settings: HoldSettings, scale: Scale
) -> NDArray[np.uint8]:
    """The frames of n decisions: uint8 (n, m, j), see `jobsight.history.frames`."""
    form = settings.frames
    frames, _ = build_frames(
        index, decisions, m=form.m, j=form.j, timeframe=max(round(scale.timeframe_len * _MICRO), 1),
        related_share=form.related_share, seed=settings.seed,
    )  # fmt: skip
    return frames


def built_again(
    history: History, row: pl.DataFrame, scale: Scale, settings: HoldSettings, delay: float
) -> Inputs | None:
    """Inputs of one decision from the event table cut off at it; None: its job is not held there.

    Args:
        history: the whole history.
        row: of the table that `ExampleBuilder.build` gives with that delay.
        scale: as learned.
        settings: of the question.
        delay: seconds before the release.
    """
    again = History.from_table(as_seen(history, row))
    labels = label_rows(again)
    log, moment = int(row["log"][0]), int(row["time"][0])
    same = pl.all_horizontal(
        pl.col(name).eq_missing(pl.lit(row[name][0], row.schema[name]))
        for name in ("log", "access_point", "cluster", "proc")
    )
    jobs = np.flatnonzero(again.jobs.select(same).to_series().to_numpy())
    end = int(again.log_start[log + 1])
    held = held_jobs(again, moment, labels, jobs).with_columns(
        cut=pl.lit(end, pl.Int64), time=pl.lit(moment, pl.Int64)
    )
    return ExampleBuilder.of(again, settings, scale).inputs(held, delay) if len(held) else None


class _FeatureIndex:
    """Everything that features need of one history, built once, asked for many decisions.

    Immutable after construction; may be asked from several threads.
    """

    def __init__(self, history: History, evidence: Evidence, scale: Scale) -> None:
        self._history = history
        self._scale = scale
        self._evidence = evidence
        self._own = _OwnIndex(history)
        begun = np.flatnonzero(history.begun[evidence.holds])
        self._hold_before = at(begun, preceding(history, evidence.holds[begun], evidence.holds))
        self._held, self._good, self._bad, self._left = map(
            evidence.indexes, (evidence.held, evidence.good, evidence.bad, evidence.left)
        )
        self._batches = tuple(
            evidence.indexes(stream, _LEARNED.values())
            for stream in (evidence.first_good, evidence.first_bad)
        )

    def holds(self, views: Views) -> Ints:
        """Holds (012) of each job so far, this one among them: int64 (n,)."""
        return self._own.holds(views)

    def known(self, views: Views) -> dict[str, Ints]:
        """How like releases ended as of each of n decisions, see `Inputs.learned`."""
        keys = self._keys(views)
        counts: dict[str, Ints] = {}
        for level, family in _LEARNED.items():
            for what, index in zip(("good", "bad"), self._batches, strict=True):
                counts[f"{what} {level}"] = index[family].count(keys[family], views.clean_cuts)
        own = self._resolved(_OWN, keys[_OWN], views)
        return counts | {f"good {_OWN}": own[0], f"bad {_OWN}": own[1]}

    def _keys(self, views: Views) -> dict[str, Ints]:
        number = self._evidence.hold_numbers(views.hold_row)
        return {name: column[number] for name, column in self._evidence.keys.items()}

    def features(self, views: Views, delay: Floats) -> Columns:
        """The features of n decisions, by name: each float64 (n,).

        Args:
            views: what each decision sees.
            delay: float64 (n,), seconds from the decision's time to the release asked about.
        """
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
        # First rows of the windows: the last W seconds, and since the hold.
        starts = {}
        for window, seconds in enumerate(self._scale.windows, 1):
            since = views.moment - round(seconds * _MICRO)
            own = self._history.rows_at(views.log, since)
            starts[f"last {window}"] = self._history.cuts_many(views.log, own, since)
        starts["since hold"] = views.hold_starts
        columns |= rates | self._recently(views, keys, rates, starts)
        # How many are held alike now, and how many more than in the window before.
        for family in _CROWDED:
            held = self._held[family].count(keys[family], views.clean_cuts)
            left = self._left[family].count(keys[family], views.clean_cuts)
            columns[f"{family}: held now"] = np.log1p(np.maximum(held - left, 0))
        for name, start in starts.items():
            holds = self._held["cause"].count(keys["cause"], views.cuts, start)
            columns[f"cause, {name}: holds"] = np.log1p(holds)
        columns |= self._recoveries(views, keys, starts)
        for family in _OFTEN_UNKNOWN:
            unknown = keys[family] < 0
            if unknown.any():
                for name, column in columns.items():
                    if name.startswith((f"{family}:", f"{family},")):
                        column[unknown] = np.nan
        return columns

    def _rates(self, views: Views, keys: dict[str, Ints]) -> Columns:
        """How earlier releases of like holds ended, of all time."""
        columns: Columns = {}
        for family in ("all", *FAMILIES):
            good, bad = self._resolved(family, keys[family], views)
            coarser = columns.get(f"{_COARSER.get(family)}: rate", np.full(len(views), 0.5))
            columns[f"{family}: rate"] = _rate(good, bad, coarser)
            columns[f"{family}: settled"] = np.log1p(good + bad)
        columns["job: worst rate of a cause"] = self._worst(views, columns["cause: rate"])
        return columns

    def _worst(self, views: Views, rate: Floats) -> Floats:
        """The lowest rate among the causes of this hold and of the job's holds before it.

        A job whose input is missing may be held the next time because a site cannot be reached; a
        release fixes no more than the last of its faults.
        """
        evidence, worst = self._evidence, rate
        number = evidence.hold_numbers(views.hold_row)
        for _ in range(_EARLIER):
            number = at(self._hold_before, number)
            known = at(evidence.held_by_others, number) > 0
            code, cause = (at(evidence.keys[name], number) for name in ("code", "cause"))
            coarser = _rate(*self._resolved("code", code, views), np.full(len(views), 0.5))
            earlier = _rate(*self._resolved("cause", cause, views), coarser)
            worst = np.where(known, np.minimum(worst, earlier), worst)
        return worst

    def _recently(
        self, views: Views, keys: dict[str, Ints], rates: Columns, starts: dict[str, Ints]
    ) -> Columns:
        """How releases of like holds ended in the last seconds, and since this hold."""
        columns: Columns = {}
        for family in _RECENT:
            for name, start in starts.items():
                good, bad = self._resolved(family, keys[family], views, start)
                columns[f"{family}, {name}: rate"] = _rate(good, bad, rates[f"{family}: rate"])
            last = self._good[family].last(keys[family], views.clean_cuts)
            columns[f"{family}: since last good"] = self._age(views, last)
            last = self._held[family].last(keys[family], views.cuts)
            columns[f"{family}: since last hold"] = self._age(views, last)
        return columns

    def _resolved(
        self, family: str, keys: Ints, views: Views, starts: Ints | None = None
    ) -> tuple[Ints, Ints]:
        """Numbers of good and of bad outcomes under each key."""
        good = self._good[family].count(keys, views.clean_cuts, starts)
        return good, self._bad[family].count(keys, views.clean_cuts, starts)

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


def _rate(good: Ints, bad: Ints, coarser: Floats) -> Floats:
    rate: Floats = (good + _STRENGTH * coarser) / (good + bad + _STRENGTH)
    return rate


_EVENTS = {
    "submissions": EventCode.SUBMIT,
    "starts": EventCode.EXECUTE,
    "evictions": EventCode.EVICTED,
    "ends": EventCode.TERMINATED,
    "shadow exceptions": EventCode.SHADOW_EXCEPTION,
    "removals": EventCode.ABORTED,
    "holds": EventCode.HELD,
    "remote errors": EventCode.REMOTE_ERROR,
    "disconnections": EventCode.DISCONNECTED,
}
_TRANSFERS = {"input transfers": 2, "input transfers done": 3, "output transfers": 5}
"""Types of the 040, as `detail` in the event table."""

_REQUESTS = ("RequestMemory", "RequestCpus", "RequestDisk")
_OF_JOB = ("starts", "evictions", "shadow exceptions", "holds", "remote errors", "disconnections",
           *_TRANSFERS)  # fmt: skip
_OF_CLUSTER = ("submissions", "starts", "ends", "removals", "holds", "evictions")


class _OwnIndex:
    """What held jobs themselves went through and ask for: rows of jobs and clusters, by kind.

    Immutable after construction.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._cluster = history.clusters
        mine = history.job >= 0
        code, detail = history.code, history.table["detail"].fill_null(-1).to_numpy()
        kinds = {name: mine & (code == number) for name, number in _EVENTS.items()}
        transfer = mine & (code == EventCode.FILE_TRANSFER)
        kinds |= {name: transfer & (detail == kind) for name, kind in _TRANSFERS.items()}
        kinds["releases"] = mine & (code == EventCode.RELEASED)
        rows = {name: np.flatnonzero(wanted) for name, wanted in kinds.items()}
        self._of_job = {name: CountIndex(history, of, history.job[of]) for name, of in rows.items()}
        self._of_cluster = {
            name: CountIndex(history, rows[name], self._cluster[history.job[rows[name]]])
            for name in _OF_CLUSTER
        }
        vacated, resumed = np.flatnonzero(history.vacated), np.flatnonzero(history.resumed)
        # Of a 004 and the 012 of the same hold no run is between.
        over = vacated[preceding(history, vacated, resumed)]
        self._begins = np.sort(np.concatenate([rows["submissions"], rows["holds"], over]))
        visible = mine & (code != EventCode.RELEASED) & (code != EventCode.AD)
        # An 028 stands alone where other records precede it; that of a release is hidden.
        release = f'"{TRIGGER}": ?"?{EventCode.RELEASED}\\b'
        of_release = history.table["attributes"].str.contains(release).fill_null(value=False)
        seen = dict.fromkeys(("memory_mb", "return_value", "signal"), visible)
        seen["attributes"] = visible | (mine & (code == EventCode.AD) & ~of_release.to_numpy())
        self._recorded = {}
        for name, among in seen.items():
            known = np.flatnonzero(among & history.table[name].is_not_null().to_numpy())
            self._recorded[name] = CountIndex(history, known, history.job[known])
        # The most memory (MB) of a job up to each row that names some; else −1.
        memory = history.table["memory_mb"]
        known = np.flatnonzero(memory.is_not_null().to_numpy())
        table = pl.DataFrame({"job": history.job[known], "memory": memory.gather(known)})
        self._peak = np.full(len(history), -1, np.int64)
        peaks = table.select(pl.col("memory").cum_max().over("job"))
        self._peak[known] = peaks.to_series().to_numpy()
        # As arrays, since a look-up in a column of the table costs as much as thousands in these.
        self._values = {
            name: history.table[name].cast(pl.Float64).to_numpy()
            for name in ("memory_mb", "return_value", "signal")
        }

    def columns(self, views: Views, time_scale: float) -> dict[str, Floats]:
        """The features of n decisions, by name: each float64 (n,)."""
        columns: dict[str, Floats] = {}
        for name in _OF_JOB:
            columns[f"job: {name}"] = np.log1p(self._of_job[name].count(views.job, views.cuts))
        releases = self._of_job["releases"].count(views.job, views.clean_cuts)
        columns["job: releases"] = np.log1p(releases)
        cluster = at(self._cluster, views.job.astype(np.int64))
        for name in _OF_CLUSTER:
            count = self._of_cluster[name].count(cluster, views.cuts)
            columns[f"cluster: {name}"] = np.log1p(count)
        return columns | self._attempt(views, time_scale) | self._usage(views)

    def holds(self, views: Views) -> Ints:
        """Holds of each job so far, this one among them: int64 (n,)."""
        return self._of_job["holds"].count(views.job, views.cuts)

    def _attempt(self, views: Views, time_scale: float) -> dict[str, Floats]:
        """How far the attempt came that this hold ended, and how long ago the job was submitted."""
        history = self._history
        began = at(self._begins, preceding(history, self._begins, views.hold_row))
        first = history.job_rows[history.job_start[views.job]] if len(views) else began
        # Only the job's own log has rows of it, so one start serves for all logs.
        starts = np.where(began >= 0, began + 1, first)[:, None]

        def times(name: str) -> Ints:
            return self._of_job[name].count(views.job, views.before_hold, starts)

        started = self._of_job["starts"].last(views.job, views.before_hold)
        ran = times("starts") > 0
        held = history.clock[views.hold_row]
        run_time = np.where(ran, (held - started) / _MICRO, np.nan)
        submitted = self._of_job["submissions"].last(views.job, views.cuts)
        age = np.where(submitted == NEVER, np.nan, (views.moment - submitted) / _MICRO)
        return {
            "attempt: ran": ran.astype(np.float64),
            "attempt: input transfers": np.log1p(times("input transfers")),
            "attempt: input transfers done": np.log1p(times("input transfers done")),
            "attempt: output transfers": np.log1p(times("output transfers")),
            "attempt: remote errors": np.log1p(times("remote errors")),
            "attempt: run time": span(run_time, time_scale),
            "job: since submission": span(age, time_scale),
        }

    def _usage(self, views: Views) -> dict[str, Floats]:
        last = {
            name: index.last_row(views.job, views.cuts) for name, index in self._recorded.items()
        }
        attributes = self._history.table["attributes"]
        rows = last["attributes"].tolist()
        ads = [parse_ad(attributes[row]) or {} if row >= 0 else {} for row in rows]
        requests = {name: np.array([_number(ad.get(name)) for ad in ads]) for name in _REQUESTS}
        memory = self._value("memory_mb", last["memory_mb"])
        peak = at(self._peak, last["memory_mb"])
        columns = {f"job: {name}": np.log1p(values) for name, values in requests.items()}
        columns["job: memory"] = np.log1p(memory)
        columns["job: peak memory to request"] = np.log(
            np.where(peak < 0, np.nan, peak + 1.0) / (requests["RequestMemory"] + 1.0)
        )
        for name in ("return_value", "signal"):
            columns[f"job: last {name.replace('_', ' ')}"] = self._value(name, last[name])
        return columns

    def _value(self, column: str, rows: Ints) -> Floats:
        values = np.full(len(rows), np.nan)
        values[rows >= 0] = self._values[column][rows[rows >= 0]]
        return values


def _number(value: Any) -> float:
    """A request as a number that is not negative; NaN for expressions and all else."""
    whole = isinstance(value, int | float) and not isinstance(value, bool)
    return min(float(value), 1e15) if whole and 0 <= value < float("inf") else float("nan")
