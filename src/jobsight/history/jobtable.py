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
``dependency`` str, as Slurm shows it;
``seen`` datetime, the submission, or the first record of a job whose submission is not recorded;
``submit`` datetime. Requests are those of the submission's ad (028), else as recorded last.

Known from its own moment on: ``eligible`` datetime, Slurm's first; ``start``, ``last_start``
datetime, the first and the last start; ``starts`` i64, starts recorded; ``host`` str, node or slot
of the last start; ``state`` str, a `jobsight.documents.State`; ``cpus`` i64, those that Slurm gave
to the last run.

Known from `reported` on, null until a job is over: ``end``, ``reported`` datetime, when the end
became known: the end, or a later record that showed the job still in the queue; ``exit_code``,
``signal`` i64; ``max_rss_mb`` i64; ``cpu_time_s`` and ``wall_s`` f64, seconds, of all runs or the
last; ``restarts`` i64, by the scheduler's own count. An end without date has no `end`. It is
`reported` at the earliest moment at which it can have been, the submission and the recorded runtime
later; without one, no moment knows it.

A sighting is an entry of a timeline that says how the queue looked to a job that waited: a reason,
and numbers such as priority and the scheduler's estimate of the start (`JobTable.sightings`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, islice
from operator import attrgetter
from urllib.parse import unquote

import numpy as np
import polars as pl

from jobsight.codes import EventCode
from jobsight.documents import Event, JobDocument, State, condor_id
from jobsight.documents.merging import last_with_state, state_after
from jobsight.documents.states import CONDOR_EVENTS, condor_state, end_of
from jobsight.history.jobads import parse_ad, sections
from jobsight.history.outcomes import held_by_hand
from jobsight.history.reasons import over_unique
from jobsight.history.timelines import TRIGGER, History

__all__ = ["FROM_SUBMISSION", "MOMENT", "ORDER", "USAGE", "JobTable", "rows_of"]

MOMENT = pl.Datetime("us", "UTC")
FROM_SUBMISSION = (
    "id", "scheduler", "scheduler_name", "job", "cluster", "proc", "job_id", "array_job_id",
    "array_task_id", "group", "owner", "account", "name", "command", "work_dir", "partition", "qos",
    "request_cpus", "request_memory_mb", "request_gpus", "request_nodes", "time_limit_s", "cpus",
    "script_digest", "script", "dependency", "seen", "submit",
)  # fmt: skip
"""Columns known from the submission on."""
ORDER = (
    pl.col("seen"),
    pl.coalesce("cluster", "array_job_id", "job_id"),
    pl.coalesce("proc", "array_task_id"),
    pl.col("id"),
)
"""How jobs are sorted: as they were submitted, the tasks of one submission by their numbers."""
_USED = ("max_rss_mb", "cpu_time_s", "wall_s")
USAGE = (*_USED, "restarts")
"""Columns known once a job is over."""
_BATCH = 50_000
_LONGEST = 1 << 16
"""Characters of a script of which the text is kept."""
_STATE = pl.Enum([state.value for state in State])
_WAITS = (State.PENDING, State.HELD)

_Kind = pl.DataType | type[pl.DataType]

_FIELDS: dict[str, tuple[str, _Kind]] = {
    "owner": ("submission.user", pl.String),
    "account": ("request.account", pl.String),
    "name": ("submission.name", pl.String),
    "command": ("submission.command", pl.String),
    "work_dir": ("submission.directory", pl.String),
    "dag": ("submission.dag", pl.String),
    "raw_id": ("submission.raw_id", pl.String),
    "partition": ("request.partition", pl.String),
    "qos": ("request.qos", pl.String),
    "request_cpus": ("request.cpus", pl.Int64),
    "request_memory_mb": ("request.memory_mb", pl.Int64),
    "request_gpus": ("request.gpus", pl.Int64),
    "request_nodes": ("request.nodes", pl.Int64),
    "time_limit_s": ("request.time_limit_s", pl.Int64),
    "dependency": ("request.dependency", pl.String),
    "cpus": ("usage.cpus", pl.Int64),
    "submit": ("submission.submitted", pl.Int64),
    "max_rss_mb": ("usage.memory_mb", pl.Int64),
    "cpu_time_s": ("usage.cpu_s", pl.Float64),
    "wall_s": ("usage.wall_s", pl.Float64),
    "requeues": ("usage.requeues", pl.Int64),
    "run_count": ("usage.starts", pl.Int64),
}
"""Columns, where documents have them, and their types."""

_JOBS: dict[str, _Kind] = {
    "id": pl.String, "updated": pl.Int64, "script_digest": pl.String, "script": pl.Categorical,
    **{name: kind for name, (_, kind) in _FIELDS.items()},
}  # fmt: skip
_ENTRIES: dict[str, _Kind] = {
    "row": pl.Int64, "time": pl.Int64, "known": pl.Int64,
    "state": _STATE, "eligible": pl.Boolean, "code": pl.Int16,
    "exit_code": pl.Int64, "signal": pl.Int64, "host": pl.String, "reason": pl.String,
    "ad": pl.String, "fault": pl.Boolean, "hold_code": pl.Int64, "hold_reason": pl.String,
}  # fmt: skip

_LARGEST = 1e300
_YEAR, _LATEST = 366 * 86_400_000_000, 32
_ENDS = [state.value for state in State if state.ended]
_RUNS = [State.RUNNING.value, State.SUSPENDED.value]
_FROM_CHANGES = ("eligible", "start", "last_start", "starts", "host", "state")
_OF_END = ("end", "reported", "exit_code", "signal")
_FIRST = (pl.col("row") != pl.col("row").shift(1)).fill_null(value=True)
"""Whether a change is the first of its job."""


def rows_of(
    documents: Iterable[JobDocument], history: History | None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Jobs, and the changes of each: `JobTable.changes`; see `JobTable.read`."""
    jobs, entries, rows = [pl.DataFrame(schema=_JOBS)], [pl.DataFrame(schema=_ENTRIES)], 0
    left = iter(documents)
    batches = iter(lambda: list(islice(left, _BATCH)), [])
    logs = [] if history is None else [_of_history(history)]
    for some, recorded in chain(map(_of_documents, batches), logs):
        jobs.append(some)
        entries.append(recorded.with_columns(pl.col("row") + rows))
        rows += len(some)
    return _in_order(*_joined(pl.concat(jobs), pl.concat(entries)))


def _of_documents(documents: list[JobDocument]) -> tuple[pl.DataFrame, pl.DataFrame]:
    taken = map(attrgetter(*(path for path, _ in _FIELDS.values())), documents)
    fields = zip(*taken, strict=True)
    scripts = [document.submission.script for document in documents]
    jobs = {
        "id": [document.id for document in documents],
        "updated": [document.updated for document in documents],
        "script_digest": [
            script and sha256(script.encode(errors="replace")).hexdigest()[:16]
            for script in scripts
        ],
        "script": [script if script and len(script) <= _LONGEST else None for script in scripts],
        **dict(zip(_FIELDS, fields, strict=True)),
    }
    events = [event for document in documents for event in document.timeline]
    ends = ((document, last_with_state(document.timeline)) for document in documents)
    states = {
        id(last): state_after(last, document.request, document.usage) for document, last in ends
        if last is not None and last.state is State.FAILED
    }  # fmt: skip
    entries = {
        "row": [row for row, document in enumerate(documents) for _ in document.timeline],
        "time": [None if event.undated else event.time for event in events],
        "known": [
            _earliest(event, document) if event.undated else event.time
            for document in documents
            for event in document.timeline
        ],
        "state": [event.state and states.get(id(event), event.state).value for event in events],
        "eligible": [event.word == "ELIGIBLE" for event in events],
        "code": [event.code for event in events],
        "exit_code": [event.return_value for event in events],
        "signal": [event.signal for event in events],
        "host": [event.slot or event.host for event in events],
        "reason": [
            event.reason if event.code is None and event.state in _WAITS else None
            for event in events
        ],
        "ad": [event.attributes for event in events],
        "fault": None,
        "hold_code": [event.hold_code for event in events],
        "hold_reason": [None if event.hold_code is None else event.reason for event in events],
    }
    recorded = pl.DataFrame(entries, schema=_ENTRIES)
    by_hand = recorded.select("hold_code", reason="hold_reason").select(held_by_hand()).to_series()
    recorded = recorded.with_columns(fault=(pl.col("state") == State.HELD.value) & ~by_hand)
    return pl.DataFrame(jobs, schema=_JOBS), recorded


def _earliest(event: Event, document: JobDocument) -> int | None:
    """µs, when a job whose end has no date can have ended at the earliest; None: not known."""
    ran = document.usage.wall_s
    if ran is None or event.state is None or not event.state.ended:
        return None
    return max(event.time, document.timeline[0].time + int(ran * 1e6))


def _of_history(history: History) -> tuple[pl.DataFrame, pl.DataFrame]:
    code, state = (
        pl.col("code"),
        {number: state_of_code.value for number, state_of_code in CONDOR_EVENTS.items()},
    )
    done = pl.when(pl.col("return_value") == 0).then(pl.lit(State.COMPLETED.value))
    removal = pl.when(code == EventCode.ABORTED).then("reason").map_batches(
        lambda reasons: over_unique(
            reasons.fill_null(""), lambda text: condor_state(EventCode.ABORTED, None, text)
        ),
        pl.String,
        is_elementwise=True,
    )  # fmt: skip
    rows = history.table.with_columns(
        row=pl.Series(history.job, dtype=pl.Int64), clock=pl.Series(history.clock),
        held=pl.Series(history.held),
    ).filter(pl.col("row") >= 0)  # fmt: skip
    entries = rows.select(
        "row", time="clock", known="clock",
        state=pl.when("held").then(pl.lit(State.HELD.value))
        .when(code == EventCode.TERMINATED).then(done.otherwise(pl.lit(State.FAILED.value)))
        .when(code == EventCode.ABORTED).then(removal)
        .otherwise(code.replace_strict(state, default=None, return_dtype=pl.String)).cast(_STATE),
        eligible=False, code="code", exit_code=pl.col("return_value").cast(pl.Int64),
        signal=pl.col("signal").cast(pl.Int64), host=pl.coalesce("slot", "host"),
        reason=pl.lit(None, pl.String), ad="attributes", fault=pl.col("held") & ~held_by_hand(),
        hold_code=pl.when("held").then(pl.col("hold_code").cast(pl.Int64)),
        hold_reason=pl.when("held").then("reason"),
    )  # fmt: skip
    of_jobs = rows.group_by("row").agg(
        submit=pl.col("time").filter(code == EventCode.SUBMIT).min().to_physical(),
        updated=pl.col("time").max().to_physical(),
        memory=pl.col("memory_mb").max(),
        ad=pl.col("attributes").drop_nulls().last(),
    ).sort("row")  # fmt: skip
    point = pl.coalesce("access_point", pl.format("log-{}", "log"))
    keys = history.jobs.select(point.alias("point"), "cluster", "proc")
    jobs = pl.concat([_from_ads(of_jobs["ad"]), of_jobs.drop("submit", "ad")], how="horizontal")
    jobs = jobs.with_columns(
        id=pl.Series([condor_id(*key) for key in keys.iter_rows()], dtype=pl.String),
        script_digest=pl.lit(None, pl.String),
        script=pl.lit(None, pl.Categorical),
        owner=pl.coalesce("owner", history.jobs["owner"]),
        submit=pl.min_horizontal("submit", of_jobs["submit"]),
        max_rss_mb=pl.max_horizontal("max_rss_mb", "memory"),
    )  # fmt: skip
    return jobs.select(*_JOBS), _with_kills(jobs, entries)


def _with_kills(jobs: pl.DataFrame, entries: pl.DataFrame) -> pl.DataFrame:
    """The entries of event logs, where a kill for memory is an end out of memory (`end_of`)."""
    table = entries.with_row_index("place")
    failed = table.filter(pl.col("state") == State.FAILED.value).join(
        jobs.select("max_rss_mb", "request_memory_mb", row=pl.int_range(pl.len())), on="row"
    )
    found = [
        (place, end_of(State.FAILED, code, signal, used_mb=used, limit_mb=limit).value)
        for place, code, signal, used, limit in failed.select(
            "place", "exit_code", "signal", "max_rss_mb", "request_memory_mb"
        ).iter_rows()
    ]
    schema = {"place": table.schema["place"], "state": _STATE}
    return table.update(pl.DataFrame(found, schema=schema, orient="row"), on="place").drop("place")


def _from_ads(ads: pl.Series) -> pl.DataFrame:
    """The columns of `_FIELDS` as the JSON of ads has them, a row for each."""
    paths = [path.split(".") for path, _ in _FIELDS.values()]
    rows = []
    for text in ads:
        found = sections((parse_ad(text) if text else None) or {})._asdict()
        rows.append([found[section].get(field) for section, field in paths])
    schema = {name: kind for name, (_, kind) in _FIELDS.items()}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _joined(jobs: pl.DataFrame, entries: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Each job once, and its entries with the moment (µs) since which they were known."""
    entries = entries.with_columns(pl.col("known").cum_max().over("row"))
    if jobs["id"].n_unique() == len(jobs):
        return jobs, entries
    number = (jobs["id"].rank("dense") - 1).cast(pl.Int64)
    later = pl.all().exclude("submit").drop_nulls().last()
    jobs = jobs.group_by(number.alias("row")).agg(later, pl.col("submit").min()).sort("row")
    entries = entries.with_columns(row=number.gather(entries["row"])).unique(
        ["row", "time", "state", "code"], keep="first", maintain_order=True
    )
    return jobs.select(*_JOBS), entries.sort("row", "known", nulls_last=True, maintain_order=True)


def _in_order(jobs: pl.DataFrame, entries: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Jobs in `ORDER`, with the columns that no moment changes; their changes in order."""
    ads = entries.drop_nulls("ad").group_by("row", maintain_order=True).agg(pl.col("ad").first())
    ads = ads.filter(pl.col("ad").str.extract(rf'"{TRIGGER}": ?"?(-?\d+)') == "0")
    asked = _from_ads(ads["ad"]).drop("submit", *_USED, "requeues", "run_count")
    first = entries.group_by("row").agg(first=pl.col("known").min())
    jobs = (
        jobs.with_columns(row=pl.int_range(pl.len()))
        .update(asked.with_columns(row=ads["row"]), on="row")
        .join(first, on="row", how="left", maintain_order="left")
        .pipe(_with_ids)
        .with_columns(
            seen=pl.coalesce("submit", "first", "updated"),
            restarts=pl.coalesce("requeues", (pl.col("run_count") - 1).clip(0)),
        )
        .sort(*ORDER)
    )
    order = jobs.select("row", place=pl.int_range(pl.len()), after="seen")
    known = pl.when(pl.col("known").is_not_null()).then(pl.max_horizontal("known", "after"))
    waits = pl.col("state").is_in([state.value for state in _WAITS])
    seen = pl.col("code").is_null() & waits.fill_null(False)
    changes = (
        entries.filter(pl.col("state").is_not_null() | pl.col("eligible"))
        .join(order, on="row", maintain_order="left")
        .with_columns(row="place", known=known.cast(MOMENT), ad=pl.when(seen).then("ad"))
        .drop("place", "after")
        .sort("row", maintain_order=True)
    )
    jobs = jobs.with_columns(pl.col("seen", "submit").cast(MOMENT))
    return jobs.select(*FROM_SUBMISSION, *USAGE), changes


def _with_ids(jobs: pl.DataFrame) -> pl.DataFrame:
    """The jobs with what their ids say."""
    parts = pl.col("id").str.splitn(":", 3).struct
    jobs = jobs.with_columns(
        scheduler=parts.field("field_0"), quoted=parts.field("field_1"), job=parts.field("field_2")
    )
    names = {name: unquote(name) for name in jobs["quoted"].unique()}
    number = pl.col("job").str.extract(r"^([^_+.]+)")
    whole, slurm = number.cast(pl.Int64, strict=False), pl.col("scheduler") == "slurm"
    task = pl.col("job").str.extract(r"_(\d+)$").cast(pl.Int64, strict=False)
    is_task = pl.col("job").str.contains("_", literal=True)
    raw = pl.col("raw_id").cast(pl.Int64, strict=False)
    node = pl.when(~pl.col("dag").str.starts_with(":")).then("dag")
    return jobs.with_columns(
        scheduler_name=pl.col("quoted").replace(names),
        cpus=pl.when(slurm).then("cpus"),
        cluster=pl.when(~slurm).then(whole),
        proc=pl.when(~slurm).then(
            pl.col("job").str.extract(r"\.(\d+)$").cast(pl.Int64, strict=False)
        ),
        job_id=pl.when(slurm).then(pl.coalesce(raw, pl.when(~is_task).then(whole))),
        array_job_id=pl.when(slurm & is_task).then(whole),
        array_task_id=pl.when(slurm).then(task),
        group=pl.concat_str("scheduler", "quoted", pl.coalesce(node, number), separator=":"),
    )


@dataclass(frozen=True)
class JobTable:
    """One row per job, and its index "as of".

    What was known before a moment is a prefix of each of three tables: of `table`, `starts` and
    `ends`. A job that was requeued after an end has several `ends`; its row has the last one.

    Attributes:
        table: the columns of this module, in `ORDER`: by `seen` (the submission), cluster, task.
        starts: row i64 (in `table`), start, host; the first starts, sorted by `start`.
        ends: row i64, state, end, reported, exit_code, signal; all ends that have a `reported`,
            sorted by it.
        changes: what the tables follow from: row i64, known (datetime), time (i64, µs), state,
            eligible bool, code i16, exit_code, signal, host, fault bool (a hold by something other
            than the user's own hand), hold_code i64 and hold_reason of holds, and of sightings
            reason and ad (JSON); job after job, in order of `known`.
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
            table.changes.join(
                order.filter(newer=is_newer).drop("newer"),
                on="row", how="inner", maintain_order="left",
            ).with_columns(row="place").drop("place")
            for table, is_newer in ((self, False), (newer, True))
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
            {
                name: float(value)
                for name, value in ad.items()
                if isinstance(value, int | float) and abs(value) < _LARGEST
            }
            for ad in (parse_ad(text) or {} if text else {} for text in seen["ad"])
        ]
        names = sorted({name for row in facts for name in row})
        numbers = pl.DataFrame(facts, dict.fromkeys(names, pl.Float64)) if names else pl.DataFrame()
        return seen.select("row", pl.col("known").to_physical(), "reason").hstack(numbers)


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
