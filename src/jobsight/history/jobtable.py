"""One row per job of either scheduler, and what of it was known at any moment.

Made from job documents (a store, a snapshot, any importer) and from event logs. Columns, null where
unknown; moments are datetime[µs, UTC], sizes MB of 2^20 bytes:

Known from `seen` on: ``id`` str, of the document; ``scheduler`` str, htcondor or slurm;
``scheduler_name`` str, the access point or Slurm's ClusterName; ``job`` str, as users write it
(123.0, 123_4, 123+1); ``cluster``, ``proc`` i64, HTCondor's ClusterId and ProcId; ``job_id``,
``array_job_id``, ``array_task_id`` i64, Slurm's; ``group`` str, jobs of one submission share it (a
DAG node, a cluster, an array, a het job); ``owner``, ``account``, ``name``, ``command`` (path of
the executable or batch script), ``work_dir``, ``partition``, ``qos`` str; ``request_cpus``,
``request_memory_mb`` (for the whole job), ``request_gpus``, ``request_nodes`` i64; ``time_limit_s``
i64, seconds, −1 unlimited; ``script_digest`` str, 16 hex digits of the SHA-256 of the batch script;
``script`` categorical, its text if it has at most 65,536 characters, each kept once;
``seen`` datetime, the submission, or the first record of a job whose submission is not recorded;
``submit`` datetime. Requests are those of the submission's ad (028), else as recorded last.

Known from its own moment on: ``eligible`` datetime, Slurm's first; ``start``, ``last_start``
datetime, the first and the last start; ``starts`` i64, starts recorded; ``host`` str, node or slot
of the last start; ``state`` str, a `jobsight.documents.State`; ``cpus`` i64, those that Slurm gave
to the last run.

Known from `reported` on, null until a job is over: ``end``, ``reported`` datetime, when the end
became known: the end, or a later record that showed the job still in the queue; ``exit_code``,
``signal`` i64; ``max_rss_mb`` i64; ``cpu_time_s`` f64, seconds; ``restarts`` i64, by the
scheduler's own count. An end without date has neither `end` nor `reported`: no moment knows it.

A sighting is an entry of a timeline that says how the queue looked to a job that waited: a reason,
and numbers such as priority and the scheduler's estimate of the start (`JobTable.sightings`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from jobsight.codes import EventCode
from jobsight.documents import JobDocument, State
from jobsight.history.adjson import parse_ad
from jobsight.history.jobrows import FROM_SUBMISSION, MOMENT, ORDER, USAGE, rows_of
from jobsight.history.timelines import History

__all__ = ["JobTable"]

_LARGEST = 1e300
_YEAR, _LATEST = 366 * 86_400_000_000, 32
_ENDS = [state.value for state in State if state.ended]
_RUNS = [State.RUNNING.value, State.SUSPENDED.value]
_FROM_CHANGES = ("eligible", "start", "last_start", "starts", "host", "state")
_OF_END = ("end", "reported", "exit_code", "signal")
_FIRST = (pl.col("row") != pl.col("row").shift(1)).fill_null(value=True)
"""Whether a change is the first of its job."""


@dataclass(frozen=True)
class JobTable:
    """One row per job, and its index "as of".

    What was known before a moment is a prefix of each of three tables: of `table`, `starts` and
    `ends`. A job that was requeued after an end has several `ends`; its row has the last one.

    Attributes:
        table: the columns of this module, in `ORDER`: by `seen` (the submission), cluster, task.
        starts: row i64 (in `table`), start, host; the first starts, sorted by `start`.
        ends: row i64, state, end, reported, exit_code, signal; all dated ends, sorted by
            `reported`.
        changes: what the tables follow from: row i64, known (datetime), time (i64, µs), state,
            eligible bool, code i16, exit_code, signal, host, fault bool (a hold by something other
            than the user's own hand), and of sightings reason and ad (JSON); job after job, in
            order of `known`.
    """

    table: pl.DataFrame
    starts: pl.DataFrame
    ends: pl.DataFrame
    changes: pl.DataFrame

    @classmethod
    def read(
        cls, documents: Iterable[JobDocument] = (), history: History | None = None
    ) -> JobTable:
        """The table of documents and of event logs; what both record of a job is one row.

        Args:
            documents: read once, batch by batch; those of one job are joined.
            history: of event logs.
        """
        return cls._derived(*rows_of(documents, history))

    @classmethod
    def _derived(cls, jobs: pl.DataFrame, changes: pl.DataFrame) -> JobTable:
        """The tables of jobs, by what is known from submission and end, and of their changes."""
        # What has no date comes last, and moves nothing that has one.
        dated, undated = pl.col("known").is_not_null(), pl.col("known").is_null()
        states = _states(changes.filter(dated))
        runs = states.filter(_starts(pl.col("state"))).group_by("row", maintain_order=True).agg(
            start=pl.col("known").first(), last_start=pl.col("known").last(),
            starts=pl.len().cast(pl.Int64), host=pl.col("host").last(),
            first_host=pl.col("host").first(),
        )  # fmt: skip
        end = pl.when(dated).then(pl.col("time").cast(MOMENT)).alias("end")
        present = pl.concat([states, _states(changes.filter(undated))]).select(
            "row", "state", end, pl.col("known").alias("reported"), "exit_code", "signal"
        )
        table = jobs.with_columns(row=pl.int_range(pl.len()))
        for part in (
            changes.filter("eligible").group_by("row").agg(eligible=pl.col("known").first()),
            runs,
            present.group_by("row").last(),
        ):
            table = table.join(part, on="row", how="left", maintain_order="left")
        over = pl.col("state").is_in(_ENDS).fill_null(False)
        early = pl.col("end") < pl.col("last_start")
        table = table.with_columns(
            pl.when(over).then(pl.col(*_OF_END, *USAGE)),
            cpus=pl.when(pl.col("start").is_not_null()).then("cpus"),
        ).with_columns(end=pl.when(early).then("last_start").otherwise("end"))
        return cls(
            table=table.select(*FROM_SUBMISSION, *_FROM_CHANGES, *_OF_END, *USAGE),
            starts=runs.select("row", "start", host="first_host").sort("start", "row"),
            ends=present.filter(over)
            .drop_nulls("reported")
            .sort("reported", "row", maintain_order=True),
            changes=changes,
        )

    def packed(self) -> pl.DataFrame:
        """All that the table follows from, as one: its jobs, with the `changes` of each listed."""
        listed = pl.struct(pl.exclude("row")).alias("changes")
        changes = self.changes.group_by("row", maintain_order=True).agg(listed)
        jobs = self.table.select(*FROM_SUBMISSION, *USAGE)
        jobs = jobs.with_columns(row=pl.int_range(pl.len()))
        return jobs.join(changes, on="row", how="left", maintain_order="left").drop("row")

    @classmethod
    def unpacked(cls, packed: pl.DataFrame) -> JobTable:
        """The table that `packed` was made of."""
        rows = packed.select(row=pl.int_range(pl.len()), changes="changes").drop_nulls()
        changes = rows.explode("changes").unnest("changes")
        return cls._derived(packed.drop("changes"), changes)

    def updated(self, newer: JobTable) -> JobTable:
        """The table in which the jobs of a newer one have the place of those of the same ids."""
        columns = (*FROM_SUBMISSION, *USAGE)
        old = self.table.select(*columns, row=pl.int_range(pl.len()), newer=pl.lit(value=False))
        new = newer.table.select(*columns, row=pl.int_range(pl.len()), newer=pl.lit(value=True))
        kept = old.join(new.select("id"), on="id", how="anti")
        jobs = pl.concat([kept, new]).sort(*ORDER)
        order = jobs.select("row", "newer", place=pl.int_range(pl.len()))
        changes = pl.concat(
            one.changes.join(
                order.filter(newer=is_newer).drop("newer"),
                on="row", how="inner", maintain_order="left",
            ).with_columns(row="place").drop("place")
            for one, is_newer in ((self, False), (newer, True))
        )  # fmt: skip
        return self._derived(jobs.select(columns), changes.sort("row", maintain_order=True))

    def end(self) -> int:
        """The last moment of which anything is recorded, in µs; 0 where there are no jobs.

        A job dated more than a year after all others has a wrong date, and does not count.
        """
        last = self.table["seen"].to_physical().to_numpy(writable=True)
        dated = self.changes.drop_nulls("known").select("row", pl.col("known").to_physical())
        np.maximum.at(last, dated["row"].to_numpy(), dated["known"].to_numpy())
        few = min(len(last), _LATEST)
        latest = np.sort(np.partition(last, len(last) - few)[len(last) - few :]) if few else last
        while len(latest) > 1 and len(last) > 2 and latest[-1] - latest[-2] > _YEAR:
            latest = latest[:-1]
        return int(latest[-1]) if few else 0

    def as_of(self, moment: int) -> JobTable:
        """What was known before a moment (µs): the table of the same jobs, cut there."""
        at = pl.lit(moment).cast(MOMENT)
        usage = pl.when(pl.col("reported") < at).then(pl.col(*USAGE))
        jobs = self.table.filter(pl.col("seen") < at).select(*FROM_SUBMISSION, usage)
        return self._derived(jobs, self.changes.filter(pl.col("known") < at))

    def states(self) -> pl.DataFrame:
        """The dated changes of state, in the columns of `changes`, job after job in order.

        The removal of a job that had terminated is left out (HTCondor's leave_in_queue). `fails`
        marks the first `fault` of a job that has started once at most, and has not ended before.
        """
        states = _states(self.changes.filter(pl.col("known").is_not_null()))
        if not states["fault"].any():
            return states.with_columns(fails=pl.lit(value=False))
        starts, ends = _so_far(_starts(pl.col("state"))), _so_far(pl.col("state").is_in(_ENDS))
        states = states.with_columns(fails=pl.col("fault") & (starts <= 1) & (ends == 0))
        return states.with_columns(fails=pl.col("fails") & (_so_far(pl.col("fails")) == 1))

    def sightings(self) -> pl.DataFrame:
        """How the queue looked to jobs that waited: row i64, known i64 (µs), reason, and numbers.

        The numbers are f64, one column for each name in the JSON of any sighting, e.g.
        ``Priority``, ``StartEstimate`` (seconds since 1970); job after job, in order of `known`.
        """
        seen = self.changes.filter(
            pl.col("known").is_not_null(), pl.any_horizontal(pl.col("reason", "ad").is_not_null())
        )
        facts = [
            {name: float(value) for name, value in ad.items() if _is_number(value)}
            for ad in (parse_ad(text) or {} if text else {} for text in seen["ad"])
        ]
        names = sorted({name for one in facts for name in one})
        numbers = pl.DataFrame(facts, dict.fromkeys(names, pl.Float64)) if names else pl.DataFrame()
        return seen.select("row", pl.col("known").to_physical(), "reason").hstack(numbers)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < _LARGEST


def _so_far(flags: pl.Expr) -> pl.Expr:
    """How many are set in the changes of a job up to each; `over` takes seconds for many jobs."""
    ones = flags.cast(pl.Int64)
    before = ones.cum_sum() - ones
    return ones.cum_sum() - pl.when(_FIRST).then(before).forward_fill()


def _starts(state: pl.Expr) -> pl.Expr:
    """Whether a run begins with a change of state."""
    before = pl.when(~_FIRST).then(state.shift(1))
    return (state == State.RUNNING.value) & ~before.is_in(_RUNS).fill_null(False)


def _states(changes: pl.DataFrame) -> pl.DataFrame:
    """The changes of state, without the removal of a job that had terminated (leave_in_queue)."""
    if not (changes["code"] == EventCode.ABORTED).any():
        return changes.filter(pl.col("state").is_not_null())
    removal = (pl.col("code") == EventCode.ABORTED).fill_null(False)
    codes = pl.when(~removal).then(pl.col("code").fill_null(-1)).when(_FIRST).then(-1)
    states = changes.filter(pl.col("state").is_not_null())
    return states.filter(
        ~(removal & (codes.forward_fill() == EventCode.TERMINATED).fill_null(False))
    )
