"""What the held job itself went through and asks for, as of a decision."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.codes import EventCode
from jobsight.history.counts import NEVER, CountIndex, at, preceding
from jobsight.history.jobads import parse_ad
from jobsight.history.timelines import TRIGGER, History, Ints, Views, span
from jobsight.models.base import Floats

__all__ = ["OwnIndex"]

_MICRO = 1_000_000

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
_OF_JOB = (
    "starts",
    "evictions",
    "shadow exceptions",
    "holds",
    "remote errors",
    "disconnections",
    *_TRANSFERS,
)
_OF_CLUSTER = ("submissions", "starts", "ends", "removals", "holds", "evictions")


class OwnIndex:
    """The rows of jobs and clusters by kind; immutable after construction."""

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
        self._begins = np.sort(np.concatenate([rows["submissions"], rows["holds"]]))
        visible = mine & (code != EventCode.RELEASED) & (code != EventCode.AD)
        self._recorded = {
            name: self._recording(visible, name) for name in ("memory_mb", "return_value", "signal")
        }
        # An 028 stands alone where other records precede it; that of a release is hidden.
        release = f'"{TRIGGER}": ?"?{EventCode.RELEASED}\\b'
        of_release = history.table["attributes"].str.contains(release).fill_null(value=False)
        recorded = visible | (mine & (code == EventCode.AD) & ~of_release.to_numpy())
        self._recorded["attributes"] = self._recording(recorded, "attributes")
        self._peak = self._peaks()
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
            columns[f"cluster: {name}"] = np.log1p(
                self._of_cluster[name].count(cluster, views.cuts)
            )
        return columns | self._attempt(views, time_scale) | self._usage(views)

    def holds(self, views: Views) -> Ints:
        """Holds of each job so far, this one among them: int64 (n,)."""
        return self._of_job["holds"].count(views.job, views.cuts)

    def _recording(self, visible: NDArray[np.bool_], column: str) -> CountIndex:
        known = self._history.table[column].is_not_null().to_numpy()
        rows = np.flatnonzero(visible & known)
        return CountIndex(self._history, rows, self._history.job[rows])

    def _peaks(self) -> NDArray[np.int64]:
        """The most memory (MB) of a job up to each row that names some: int64 (n,), else −1."""
        memory = self._history.table["memory_mb"]
        rows = np.flatnonzero(memory.is_not_null().to_numpy())
        table = pl.DataFrame({"job": self._history.job[rows], "memory": memory.gather(rows)})
        peaks = np.full(len(self._history), -1, np.int64)
        peaks[rows] = table.select(pl.col("memory").cum_max().over("job")).to_series().to_numpy()
        return peaks

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
        requests = self._requests(last["attributes"])
        memory, peak = (
            self._value("memory_mb", last["memory_mb"]),
            at(self._peak, last["memory_mb"]),
        )
        columns = {f"job: {name}": np.log1p(values) for name, values in requests.items()}
        columns["job: memory"] = np.log1p(memory)
        columns["job: peak memory to request"] = np.log(
            np.where(peak < 0, np.nan, peak + 1.0) / (requests["RequestMemory"] + 1.0)
        )
        for name in ("return_value", "signal"):
            columns[f"job: last {name.replace('_', ' ')}"] = self._value(name, last[name])
        return columns

    def _value(self, column: str, rows: Ints) -> Floats:
        found = np.full(len(rows), np.nan)
        found[rows >= 0] = self._values[column][rows[rows >= 0]]
        return found

    def _requests(self, rows: Ints) -> dict[str, Floats]:
        attributes = self._history.table["attributes"]
        ads = [parse_ad(attributes[row]) or {} if row >= 0 else {} for row in rows.tolist()]
        return {name: np.array([_number(ad.get(name)) for ad in ads]) for name in _REQUESTS}


def _number(value: Any) -> float:
    """A request as a number that is not negative; NaN for expressions and whatever else."""
    whole = isinstance(value, int | float) and not isinstance(value, bool)
    return min(float(value), 1e15) if whole and 0 <= value < float("inf") else float("nan")
