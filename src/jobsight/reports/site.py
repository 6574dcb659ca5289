"""Where the core-hours of a site went: the numbers of ``jobsight report site``, of a job table.

A job's core-hours are those of all its runs: cores given (Slurm), else asked for, times hours. Each
run counts for what ended it:

completed, failed, cancelled: the job ended so (failed: also time limit, memory, node, deadline);
held: it was held; interrupted: it was preempted, evicted or requeued; unfinished: it still ran at
the end of the history, or no source says how it ended.

A job fails if it ends failed, or if it is held by something other than its user's own hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import polars as pl

from jobsight.clock import format_micros, format_moment
from jobsight.codes import hold_name
from jobsight.documents import State
from jobsight.history.causes.endings import ending
from jobsight.history.jobtable import MOMENT, JobTable
from jobsight.history.past import FAILURES
from jobsight.history.reasons import exit_named, masked
from jobsight.reports.outliers import higher_than_chance

__all__ = ["IDLE", "LIMITS", "RECENT_DAYS", "SIZES", "USES", "WENT", "site_numbers"]

WENT = ("completed", "failed", "held", "cancelled", "interrupted", "unfinished")
"""What core-hours are counted for."""
USES = {"cpu": ("cpu_used", "cpu_of"), "memory": ("memory_used", "memory_of"),
        "time": ("time_used", "time_of")}  # fmt: skip
"""By what completed jobs ask for, what they used of it and what they asked for: core-hours, hours
of GB (of jobs of one node), hours of time limits; of jobs of which both are known."""
RECENT_DAYS = 28
"""What happened so many days before the end of the history is recent."""
IDLE = 0.25
"""A job that ran for `_LONG_H` and used less of its cores' time left them idle."""
_LONG_H = 1 / 6
_CAUSE = ("kind", "text", "fix")
_FEW, _YEAR = 32, 366 * 86_400_000_000
_TOP = 3
"""Users that are named with a cause."""
_FAILED = [*(state.value for state in FAILURES if state is not State.HELD), State.DEADLINE.value]
_WENT = {
    State.COMPLETED.value: "completed", **dict.fromkeys(_FAILED, "failed"),
    State.HELD.value: "held", State.CANCELLED.value: "cancelled",
    State.PREEMPTED.value: "interrupted", State.PENDING.value: "interrupted",
}  # fmt: skip
_FAILS = pl.col("state").is_in(_FAILED) | pl.col("fault").fill_null(value=False)
_RUNS = [State.RUNNING.value, State.SUSPENDED.value]
_KEYS = {"user": "owner", "account": "account", "partition": "partition", "week": "week"}
SIZES = (1, 8, 32, 128), ("1 core", "≤ 8", "≤ 32", "≤ 128", "> 128")
LIMITS = (3600, 14_400, 86_400), ("≤ 1 h", "≤ 4 h", "≤ 1 d", "> 1 d")
"""Classes of what jobs ask for: borders (cores; seconds), and names."""

Fix = Callable[[int, str], str | None]
"""What to do about a hold, by its code and masked reason; None: not known."""


def site_numbers(pieces: Iterable[JobTable], fix_of: Fix) -> dict[str, Any]:
    """All numbers, as JSON has them (docs/reference/json.md): lists are sorted by cost.

    Moments are ISO 8601 texts, shares 0 … 1, waits in seconds; null where nothing is recorded. The
    jobs come in pieces, at least one, each job in one of them.
    """
    last, rows = 0, 0
    all_ends: list[pl.DataFrame] = []
    all_jobs: list[pl.DataFrame] = []
    for jobs in pieces:
        # A few jobs that a store has behind all others have a wrong date (`JobTable.end`).
        if not last or len(jobs.table) > _FEW or jobs.end() - last < _YEAR:
            last = max(last, jobs.end())
        for made, of_piece in ((all_ends, _ends(jobs)), (all_jobs, _asked(jobs))):
            made.append(of_piece.with_columns(pl.col("row") + rows))
        rows += len(jobs.table)
    since = (pl.lit(last).cast(MOMENT) - pl.col("since")).dt.total_microseconds().clip(0) / 3.6e9
    ends = pl.concat(all_ends).with_columns(
        known=pl.col("known").fill_null(pl.lit(last).cast(MOMENT)),
        hours=pl.when(pl.col("state").is_null()).then(since + pl.col("hours")).otherwise("hours"),
        held_h=pl.coalesce("held_h", pl.when(pl.col("state") == State.HELD.value).then(since)),
    )
    table = _jobs(pl.concat(all_jobs), ends)
    del all_ends, all_jobs
    failures = _causes(ends, table, fix_of)
    (every,) = _summed(table.group_by(pl.lit("all").alias("name"))).drop("name").to_dicts()
    return {
        "clusters": sorted(table["scheduler_name"].unique().drop_nulls()),
        "first": _text(table["seen"].min()),
        "last": format_micros(last),
        "users": table["owner"].drop_nulls().n_unique(),
        "cores_assumed": int(table["assumed"].sum()),
        "total": every,
        "by": {name: _by(table, column) for name, column in _KEYS.items()},
        "causes": _grouped(failures, last),
        "waits": _waits(table),
        "outliers": _outliers(table, ends, failures),
    }


def _ends(jobs: JobTable) -> pl.DataFrame:
    """What ended each run, and each failure or hold without one.

    Columns: `row`, `known`, `state` (null: nothing ended it), `fault`, `exit_code`, `signal`,
    `hold_code`, `hold_reason`, `held_h` (of a hold), `since` (of a run or hold that lasts), and of
    the run, where there was one, `hours` (until `since`) and `host`.
    """
    row, known, state = pl.col("row"), pl.col("known"), pl.col("state")
    is_run, is_hold = state.is_in(_RUNS), state == State.HELD.value
    goes_on = (row == row.shift(-1)).fill_null(value=False)
    hours = (known.shift(-1) - known).dt.total_microseconds() / 3.6e9
    of_end = ("fault", "exit_code", "signal", "hold_code", "hold_reason")
    states = jobs.states().select(
        "row", "known", "state", "host", *of_end, hours=pl.when(goes_on).then(hours),
        since=pl.when(~goes_on).then("known"),
    ).with_row_index("at").with_columns(
        ending=pl.when(~is_run).then("at").backward_fill(),
        same=pl.when(~is_run).then(row).backward_fill() == row,
    )  # fmt: skip
    runs = states.filter(state == State.RUNNING.value).group_by(
        "row", ending=pl.when("same").then("ending"), maintain_order=True
    ).agg(pl.col("hours").sum(), pl.col("host", "since").last())  # fmt: skip
    ends = states.filter(~is_run).select(
        "at", "row", "known", "state", *of_end, held_h=pl.when(is_hold).then("hours"),
        since=pl.when(is_hold).then("since"),
    ).join(
        runs.select("ending", "hours", "host").drop_nulls("ending"), how="left",
        left_on="at", right_on="ending",
    ).drop("at")  # fmt: skip
    ends = ends.filter(pl.col("hours").is_not_null() | state.is_in(_FAILED) | is_hold)
    over = jobs.table.with_columns(row=pl.int_range(pl.len())).filter(
        state.is_in([end.value for end in State if end.ended])
    )
    # A run without a dated start or end is as long as the scheduler says.
    timed = ends.filter(pl.col("hours").is_not_null() & ~is_hold)
    untimed = over.filter(pl.col("wall_s") > 0).join(timed, on="row", how="anti").select(
        "row", "state", "exit_code", "signal", "host", hours=pl.col("wall_s") / 3600.0,
        known=pl.coalesce("reported", "seen"), fault=pl.lit(value=False),
    )  # fmt: skip
    last = runs.filter(pl.col("ending").is_null()).drop("ending").join(over, on="row", how="anti")
    timeless = pl.col("hours").is_null() & ~is_hold
    kept = ends.filter(timeless).join(untimed, on="row", how="anti")
    return pl.concat([ends.filter(~timeless), kept, untimed, last], how="diagonal").select(_ENDS)


def _asked(jobs: JobTable) -> pl.DataFrame:
    """The columns of the job table that count here."""
    return jobs.table.select(_ASKED).with_columns(row=pl.int_range(pl.len()))


_ENDS = ("row", "known", "state", "fault", "exit_code", "signal", "hold_code", "hold_reason",
         "held_h", "since", "hours", "host")  # fmt: skip
_ASKED = ("scheduler", "scheduler_name", "owner", "account", "partition", "seen", "eligible",
          "start", "state", "cpus", "request_cpus", "request_memory_mb", "request_gpus",
          "request_nodes", "time_limit_s", "max_rss_mb", "cpu_time_s")  # fmt: skip


def _jobs(asked: pl.DataFrame, ends: pl.DataFrame) -> pl.DataFrame:
    """One row per job: whose it is, its core-hours by `WENT`, what it asked for and used."""
    went = pl.col("state").cast(pl.String).replace_strict(_WENT, default="unfinished")
    of_runs = (
        ends.select("row", "known", hours=pl.col("hours").fill_null(0.0), went=went, fails=_FAILS)
        .with_columns(pl.when(went=name).then("hours").alias(name) for name in WENT)
        .group_by("row", maintain_order=True)
        .agg(pl.col(*WENT, "hours").sum(), pl.col("fails").any(), week=pl.col("known").max())
    )
    cores = pl.coalesce("cpus", "request_cpus")
    table = asked.join(of_runs, on="row", how="left", maintain_order="left").with_columns(
        pl.col(*WENT, "hours").fill_null(0.0), pl.col("fails").fill_null(value=False),
        assumed=cores.is_null(), cores=cores.fill_null(1).clip(1),
    )  # fmt: skip
    done = pl.col("state") == State.COMPLETED.value
    hours, spent = pl.col("completed"), pl.col("completed") * pl.col("cores")
    memory = pl.when(done & (pl.col("request_nodes").fill_null(1) == 1))
    limited, limit = pl.when(done & (pl.col("time_limit_s") > 0)), pl.col("time_limit_s") / 3600.0
    memory_asked = pl.when(pl.col("max_rss_mb").is_not_null()).then("request_memory_mb")
    return table.select(
        "row", "scheduler_name", "owner", "account", "partition", "cores", "assumed", "seen",
        "time_limit_s", "fails",
        *(pl.col(name) * pl.col("cores") for name in WENT),
        slurm=pl.col("scheduler") == "slurm",
        core_hours=pl.col("hours") * pl.col("cores"),
        gpu_hours=pl.col("hours") * pl.col("request_gpus").fill_null(0),
        week=pl.coalesce("week", "seen").dt.truncate("1w").dt.date().cast(pl.String),
        judged=pl.col("fails") | done,
        ran_h=hours,
        cpu_of=pl.when(done & pl.col("cpu_time_s").is_not_null()).then(spent),
        cpu_used=pl.when(done).then(_capped(pl.col("cpu_time_s") / 3600.0, spent)),
        memory_of=memory.then(memory_asked / 1024.0 * hours),
        memory_used=memory.then(_capped(pl.col("max_rss_mb"), memory_asked) / 1024.0 * hours),
        time_of=limited.then(limit),
        time_used=limited.then(_capped(hours, limit)),
        wait_s=(pl.col("start") - pl.coalesce("eligible", "seen")).dt.total_seconds().clip(0),
        waits=pl.col("start").is_null() & pl.col("state").is_in(["pending", "held"]),
    )  # fmt: skip


def _capped(used: pl.Expr, asked: pl.Expr) -> pl.Expr:
    """What was used of what was asked for; null where one of them is unknown."""
    return pl.when(used > asked).then(asked).when(asked.is_not_null()).then(used)


def _summed(groups: Any) -> pl.DataFrame:
    """Of each group of jobs: numbers, core-hours, what was asked for and used, and waits."""
    sums = ("core_hours", *WENT, "gpu_hours", *(name for pair in USES.values() for name in pair))
    frame: pl.DataFrame = groups.agg(
        pl.col(sums).sum(), jobs=pl.len(), failed_jobs=pl.col("fails").sum(),
        judged=pl.col("judged").sum(), median_wait_s=pl.col("wait_s").median(),
    )  # fmt: skip
    return frame.with_columns(
        failing=_ratio("failed_jobs", pl.col("judged")),
        share=_ratio("core_hours", pl.col("core_hours").sum()),
        idle=pl.col("cpu_of") - pl.col("cpu_used"),
        **{f"{name}_share": _ratio(used, pl.col(of)) for name, (used, of) in USES.items()},
    ).drop("judged")


def _ratio(part: str, of: pl.Expr) -> pl.Expr:
    return pl.col(part) / pl.when(of > 0).then(of)


def _by(table: pl.DataFrame, column: str) -> list[dict[str, Any]]:
    """A row for each value of a column, most core-hours first (weeks: in order)."""
    if not table[column].count():
        return []
    rows = _summed(table.group_by(pl.col(column).alias("name"), maintain_order=True))
    order = ["name"] if column == "week" else ["core_hours", "jobs", "name"]
    return rows.sort(order, descending=[name != "name" for name in order]).to_dicts()


def _causes(ends: pl.DataFrame, table: pl.DataFrame, fix_of: Fix) -> pl.DataFrame:
    """The failures and holds, with whose they are, core-hours, and cause: `kind`, `text`, `fix`."""
    failed = ends.filter(_FAILS).join(
        table.select("row", "owner", "slurm", "cores"), on="row", maintain_order="left"
    )  # fmt: skip
    failed = failed.with_columns(
        masked(failed["hold_reason"]).alias("reason"),
        core_hours=pl.col("hours").fill_null(0.0) * pl.col("cores"),
    )
    recorded = ["state", "exit_code", "signal", "slurm", "hold_code", "reason"]
    kinds = failed.select(recorded).unique(maintain_order=True)
    words = []
    for state, code, signal, slurm, hold_code, reason in kinds.iter_rows():
        end = (code, signal) if state != State.HELD else exit_named(reason)
        cause = ending(State.FAILED if state == State.HELD else State(state), *end, slurm=slurm)
        assert cause is not None  # of a failure
        if state == State.HELD:
            text = f"held ({hold_name(hold_code)}): {reason or 'without a reason'}"
            by_exit = cause.fix if any(end) else None
            words.append(("hold", text, fix_of(hold_code, reason or "") or by_exit))
        else:
            words.append((cause.kind, f"failed: {cause.text}", cause.fix))
    found = pl.DataFrame(words, dict.fromkeys(_CAUSE, pl.String), orient="row")
    named = kinds.hstack(found)
    return failed.join(named, on=recorded, nulls_equal=True, maintain_order="left")


def _grouped(failed: pl.DataFrame, last: int) -> list[dict[str, Any]]:
    """Failures by their cause, most core-hours first, with the users who lost most by each."""
    recent = pl.col("known") > pl.lit(last - RECENT_DAYS * 86_400_000_000).cast(MOMENT)
    jobs, cost = pl.col("row").n_unique(), pl.col("core_hours").sum()
    users = (
        failed.drop_nulls("owner").group_by(*_CAUSE, name="owner", maintain_order=True)
        .agg(jobs=jobs, core_hours=cost)
        .sort("core_hours", "jobs", "name", descending=[True, True, False])
        .group_by(_CAUSE, maintain_order=True)
        .agg(top_users=pl.struct("name", "jobs", "core_hours").head(_TOP))
    )  # fmt: skip
    rows = failed.group_by(_CAUSE, maintain_order=True).agg(
        jobs=jobs, users=pl.col("owner").drop_nulls().n_unique(), core_hours=cost,
        held_h=pl.col("held_h").sum(), first=pl.col("known").min(), last=pl.col("known").max(),
        recent=pl.col("row").filter(recent).n_unique(),
    ).join(users, on=_CAUSE, how="left", nulls_equal=True)  # fmt: skip
    rows = rows.sort("core_hours", "jobs", "text", descending=[True, True, False])
    return [
        {**row, "first": _text(row["first"]), "last": _text(row["last"]),
         "top_users": row["top_users"] or []}
        for row in rows.to_dicts()
    ]  # fmt: skip


def _waits(table: pl.DataFrame) -> list[dict[str, Any]]:
    """How long jobs waited, by partition: all, and by the cores and the time asked for."""
    wait, classes = pl.col("wait_s"), {"all": pl.lit("all")}
    for name, column, (borders, labels) in (
        ("cores", "cores", SIZES), ("limit", "time_limit_s", LIMITS),
    ):  # fmt: skip
        place = pl.sum_horizontal(pl.col(column) > border for border in borders)
        known = pl.when(pl.col(column) >= 0)
        classes[name] = known.then(place.replace_strict(range(len(labels)), labels))
    rows = pl.concat(
        table.group_by("partition", by=pl.lit(name), of=of, maintain_order=True).agg(
            jobs=wait.count(), median_s=wait.median(), p90_s=wait.quantile(0.9),
            hours=wait.sum() / 3600.0, waiting=pl.col("waits").sum(),
        )
        for name, of in classes.items()
    )  # fmt: skip
    rows = rows.filter(pl.col("jobs") > 0).drop_nulls("of")
    return rows.sort("by", "hours", "partition", "of", descending=[False, True, False, False],
                     nulls_last=True).to_dicts()  # fmt: skip


def _outliers(
    table: pl.DataFrame, ends: pl.DataFrame, failures: pl.DataFrame
) -> dict[str, dict[str, Any]]:
    """Users and nodes with more failures, and users with more idle cores, than chance allows.

    Users are compared with all jobs of the same partitions, their jobs of one day being a cluster;
    nodes with all runs of the same users, the runs of one user on one day being a cluster.
    """
    users = table.select(
        "fails", "judged", "ran_h", "cpu_of", "cpu_used", name="owner", like="partition",
        cluster=pl.col("seen").dt.date(), lost=pl.col("core_hours") - pl.col("completed"),
    )  # fmt: skip
    judged = _FAILS | (pl.col("state") == State.COMPLETED.value)
    runs = ends.filter(judged, ~pl.col("host").str.contains(r"[\[,]")).join(
        table.select("row", "owner", "cores"), on="row"
    )
    long = pl.col("cpu_of").is_not_null() & (pl.col("ran_h") >= _LONG_H)
    idle = pl.col("cpu_of") - pl.col("cpu_used")
    trials = {
        "users_failing": users.filter("judged").with_columns(happened="fails", cost="lost"),
        "users_idle": users.filter(long).with_columns(
            happened=pl.col("cpu_used") < IDLE * pl.col("cpu_of"), cost=idle
        ),
        "nodes_failing": runs.select(
            name=pl.col("host").str.replace(r"^slot[^@]*@", ""), like="owner",
            cluster=pl.struct("owner", pl.col("known").dt.date()), happened=_FAILS,
            cost=pl.col("hours").fill_null(0.0) * pl.col("cores"),
        ),
    }  # fmt: skip
    mean = failures.group_by("owner", "text", maintain_order=True).agg(pl.col("core_hours").sum())
    main = dict(mean.sort("core_hours", "text").select("owner", "text").iter_rows())
    found = {}
    for name, tried in trials.items():
        named, compared = higher_than_chance(tried)
        costs = tried.filter("happened").group_by("name", maintain_order=True).agg(
            core_hours=pl.col("cost").sum())  # fmt: skip
        beyond = pl.col("core_hours") * (1.0 - pl.col("expected") / pl.col("rate"))
        rows = named.join(costs, on="name").with_columns(core_hours=beyond)
        rows = rows.sort("core_hours", "name", descending=[True, False])
        why = main if name == "users_failing" else {}
        found[name] = {
            "compared": compared,
            "named": [{**row, "cause": why.get(row["name"])} for row in rows.to_dicts()],
        }
    return found


def _text(moment: Any) -> str | None:
    return None if moment is None else format_moment(moment)
