"""The queue of a cluster at one moment, for the play: from a job table and what Slurm reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.documents import State
from jobsight.history.jobtable import JobTable
from jobsight.history.slurm.documents import limit_of
from jobsight.history.slurm.pendingreasons import BLOCKED, BUSY, last_reasons
from jobsight.history.slurm.scontrol import Node, Partition
from jobsight.program.submission.sizes import gpus
from jobsight.questions.start.play import RESOURCES, Queue, draw_runtimes, needs, play

__all__ = ["LIKE", "Earlier", "Machine", "Snapshot", "listed"]

Floats = NDArray[np.float64]
Strings = Sequence[str | None]

KNOTS = 32
DRAWS = 20
LIVE = 4_000
"""Draws × thousand pending jobs that are played for an answer, so that it comes in time."""
_RUNNING = (State.RUNNING.value, State.SUSPENDED.value)
LIKE = pl.coalesce(pl.col("name").str.replace_all("[0-9]+", "#"), "command")
"""What jobs that do the same have in common: the name but for digits, else the script."""
_USER = pl.coalesce("owner", "account")
_LIMIT = pl.when(pl.col("time_limit_s") > 0).then(pl.col("time_limit_s").cast(pl.Float64))
_CPUS = pl.coalesce("request_cpus", "cpus")
"""What a job that runs takes: of one first seen when it ran, what it was given is known alone."""
_FEW = 5
_NAMED, _OTHERS = 2, 4
"""Runs of a name that say how long such a job runs; and of the user's last runs, of any name, so
many count with them at most: on public traces both together were better than either."""
_MB = 1 << 20
_SECOND = 1_000_000


def listed(name: str | None) -> set[str]:
    """The partitions that a job names: it starts in whichever has room first."""
    return set() if name is None else set(name.split(","))


@dataclass(frozen=True)
class Machine:
    """What Slurm reports of a cluster: its nodes and partitions, where it is asked.

    The name of a partition may be a list of them with commas, as jobs give it.
    """

    nodes: Sequence[Node] = ()
    partitions: Sequence[Partition] = ()
    shown: Sequence[tuple[str, str, str, int | None]] = ()
    """Of pending jobs, as squeue shows them now: job, owner, reason, estimate (µs)."""

    def capacity(self, name: str | None) -> Floats | None:
        """What a partition has, in the order of `RESOURCES`; None where that is not known."""
        return self.whole([name])

    def whole(self, names: Strings) -> Floats | None:
        """What the nodes of all these partitions have together."""
        of = set().union(*map(listed, names))
        own = [node for node in self.nodes if node.up and of & set(node.partitions)]
        if not own:
            return None
        cpus = sum(node.tres.get("cpu", 0) for node in own)
        memory = sum(node.tres.get("mem", 0) for node in own) / _MB
        shared = max(map(self.shared, names), default=1)
        own_gpus = sum(gpus(node.tres) or 0 for node in own)
        return np.array([cpus * shared, memory or np.inf, own_gpus], float)

    def shared(self, name: str | None) -> int:
        """Jobs that a CPU of a partition may run at a time."""
        partition = self.partition(name)
        return 1 if partition is None else partition.shared

    def partition(self, name: str | None) -> Partition | None:
        """The partition of a name; of several, what the most generous of them allows."""
        own = [of for of in self.partitions if of.name in listed(name)]
        if len(own) < 2:
            return own[0] if own else None
        limits = [inf if of.longest_s is None else of.longest_s for of in own]
        return Partition(
            name=name or "", up=any(of.up for of in own), longest_s=max(limits),
            tier=max(of.tier for of in own), shared=max(of.shared for of in own),
        )  # fmt: skip

    def down(self, name: str | None) -> bool:
        """Whether no job of a partition may start."""
        partition = self.partition(name)
        return partition is not None and not partition.up

    def families(self, names: Strings) -> list[list[str | None]]:
        """Partitions by the nodes that they share; where nodes are not known, all are one."""
        if not self.nodes:
            return [list(names)]
        groups: list[set[str | None]] = [{name} for name in names]
        for node in self.nodes:
            own = set(node.partitions)
            joined = [group for group in groups if any(listed(name) & own for name in group)]
            if joined:
                others = [group for group in groups if group not in joined]
                groups = [*others, set().union(*joined)]
        return [sorted(group, key=str) for group in groups]


def _at_knots(values: Floats) -> Floats:
    """Quantiles at (i + ½) / KNOTS of some values: (KNOTS,)."""
    return np.quantile(values, (np.arange(KNOTS) + 0.5) / KNOTS)


class Earlier:
    """What a job table says of earlier runs; made once, since it takes seconds for many jobs.

    Attributes:
        jobs: the table.
    """

    def __init__(self, jobs: JobTable) -> None:
        self.jobs = jobs
        self._most: dict[tuple[str | None, ...], Floats] = {}
        self._shapes: dict[tuple[Any, str], Floats | None] = {}

    @cached_property
    def sightings(self) -> pl.DataFrame:
        """What was last seen of each job in the queue: row, reason, priority, estimate (µs)."""
        seen = self.jobs.sightings()
        numbers = {"Priority": "priority", "StartEstimate": "estimate"}
        seen = seen.with_columns(
            (pl.col(old) if old in seen.columns else pl.lit(None, pl.Float64)).alias(new)
            for old, new in numbers.items()
        )
        last = seen.group_by("row").agg(pl.col("priority", "estimate").drop_nulls().last())
        last = last.join(last_reasons(self.jobs), on="row", how="left")
        return last.with_columns((pl.col("estimate") * _SECOND).cast(pl.Int64))

    @cached_property
    def ended(self) -> pl.DataFrame:
        """All runs that ended, the last one last: user, `LIKE`, seconds, share of the limit."""
        ran = (pl.col("end") - pl.col("last_start")).dt.total_microseconds() / 1e6
        known = pl.col("end").is_not_null() & pl.col("last_start").is_not_null()
        return self.jobs.table.filter(known).sort("reported").select(
            _USER.alias("user"), like=LIKE, ran=ran.clip(1.0), share=(ran / _LIMIT).clip(1e-6, 1)
        )  # fmt: skip

    @cached_property
    def _runs(self) -> tuple[dict[Any, pl.DataFrame], pl.DataFrame]:
        """The last runs of each user who has some, and of all: seconds and share of the limit."""
        known = self.ended.select("user", "ran", "share")
        groups = {
            user: some.tail(KNOTS) for (user,), some in known.group_by("user") if len(some) >= _FEW
        }
        return groups, known.tail(8 * KNOTS)

    def _named(self, rows: pl.DataFrame) -> dict[tuple[Any, Any], Floats]:
        """Quantiles of the runtimes of jobs by user and name, of which there are enough runs."""
        keys = rows.select(_USER.alias("user"), like=LIKE).drop_nulls().unique()
        own = self.ended.join(keys, on=["user", "like"], how="semi", maintain_order="left")
        shapes = {}
        for (user, like), some in own.group_by("user", "like", maintain_order=True):
            if len(some) >= _NAMED:
                others = self._runs[0].get(user, some.clear())["ran"]
                others = others.tail(min(max(len(some) - 1, _NAMED), _OTHERS))
                shapes[user, like] = _at_knots(np.append(some["ran"].tail(KNOTS), others))
        return shapes

    def usual_runtimes(self, rows: pl.DataFrame) -> Floats:
        """Quantiles of the runtime of n jobs in seconds: float64 (n, KNOTS), rising.

        Of the last runs of the user's jobs of its name; where these are too few, of the user's
        jobs, else of all: as shares of their limits, times its own limit; as they were, where
        limits are unknown. A job of which nothing is known takes its limit, or a day.
        """
        asked = rows.select(_USER.alias("user"), LIKE.alias("like"), limit=_LIMIT)
        named = self._named(rows)
        runtimes = np.empty((len(rows), KNOTS))
        for k, (user, like, seconds) in enumerate(asked.iter_rows()):
            share = None if seconds is None else self._shape(user, "share")
            shape = self._shape(user, "ran") if share is None else share * seconds
            usual = (seconds or 86_400.0) if shape is None else shape
            runtimes[k] = named.get((user, like), usual)
        return np.maximum(runtimes, 1.0)

    def _shape(self, user: Any, column: str) -> Floats | None:
        """Quantiles of the last runs of a user, else of all; None: there are none."""
        groups, everyone = self._runs
        of = user if user in groups else None
        if (of, column) not in self._shapes:
            values = groups.get(of, everyone)[column].drop_nulls().to_numpy()
            self._shapes[of, column] = _at_knots(values) if len(values) else None
        return self._shapes[of, column]

    def most_used(self, partitions: Strings) -> Floats:
        """The most that jobs of partitions ever used at a time: float64 (resources,)."""
        key = tuple(partitions)
        if key not in self._most:
            of = pl.col("partition").is_in(list(partitions), nulls_equal=True)
            rows = self.jobs.table.filter(of & pl.col("last_start").is_not_null())
            began, over = (rows[name].to_physical() for name in ("last_start", "end"))
            need = needs(rows.with_columns(request_cpus=_CPUS))
            never = np.iinfo(np.int64).max
            times = np.concatenate([over.fill_null(never).to_numpy(), began.to_numpy()])
            order = np.argsort(times, kind="stable")  # what ends gives room to what starts then
            used = np.cumsum(np.concatenate([-need, need])[order], axis=0)
            self._most[key] = np.asarray(used.max(axis=0, initial=0.0))
        return self._most[key]


@dataclass(frozen=True)
class Snapshot:
    """The open jobs of one cluster at a moment: running ones first, then in order of priority.

    Attributes:
        jobs: rows of the job table with `reason`, `priority`, `estimate` (µs) and `order`.
        moment: µs.
        machine: what Slurm reports of the cluster.
        history: what was known at the moment.
        runtimes: float64 (n, KNOTS), seconds of each job, see `Earlier.usual_runtimes`.
        seed: of the draws.
    """

    jobs: pl.DataFrame
    moment: int
    machine: Machine
    history: Earlier
    runtimes: Floats = field(repr=False)
    seed: int = 0

    @classmethod
    def of(
        cls, history: Earlier, moment: int, cluster: str | None, machine: Machine,
        added: pl.DataFrame | None = None,
    ) -> Snapshot:  # fmt: skip
        """The queue of a cluster.

        Args:
            history: as of the moment.
            moment: µs.
            cluster: its name.
            machine: what Slurm reports of it.
            added: jobs as if they were submitted now, in columns of the table.
        """
        table = history.jobs.table.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
        state = pl.col("state").cast(pl.String)
        open_ = ~state.is_in([end.value for end in State if end.ended]).fill_null(True)
        table = table.with_columns(state=state).filter(
            open_, pl.col("scheduler_name").eq_missing(pl.lit(cluster))
        )
        if added is not None and len(added):
            own = [name for name in added.columns if name in table.columns and name != "row"]
            table = pl.concat([table, added.select(own)], how="diagonal_relaxed")
        seen = table.join(history.sightings, on="row", how="left", maintain_order="left")
        shown = {name: seen.schema[name] for name in ("job", "owner", "reason", "estimate")}
        lines = pl.DataFrame(machine.shown, shown, orient="row")
        seen = seen.update(lines, on=["job", "owner"], include_nulls=True)
        jobs = _completed(_in_order(seen, machine), machine)
        return cls(jobs, moment, machine, history, history.usual_runtimes(jobs))

    @property
    def running(self) -> int:
        """How many of the jobs run."""
        return int(self.jobs["runs"].sum())

    @cached_property
    def only_of(self) -> str | None:
        """The one user whose jobs are all that is known of the cluster; None: there are several."""
        of_cluster = pl.col("scheduler_name").is_in(self.jobs["scheduler_name"].unique().implode())
        users = self.history.jobs.table.filter(of_cluster)["owner"].unique()
        return users[0] if len(users) == 1 else None

    @cached_property
    def _family(self) -> NDArray[np.int64]:
        """Numbers of the nodes that partitions share, by the partition of each job: (n,)."""
        family = np.zeros(len(self.jobs), np.int64)
        for k, of in enumerate(self.machine.families(self.jobs["partition"].unique().to_list())):
            family[self.jobs["partition"].is_in(of, nulls_equal=True).to_numpy()] = k
        return family

    @cached_property
    def load(self) -> Floats:
        """Jobs ahead of each job, and those that run, where it may start: float64 (2, 2, n).

        The second axis has how many they are, and their CPUs.
        """
        family = self._family
        cpus = self.jobs["request_cpus"].fill_null(1).to_numpy().astype(float)
        runs, blocked = self.jobs["runs"].to_numpy(), self.jobs["blocked"].to_numpy()
        amounts = np.zeros((2, 2, len(self.jobs)))
        for k in np.unique(family):
            own = family == k
            for row, amount in enumerate((np.ones(len(cpus)), cpus)):
                pending = np.where(own & ~runs & ~blocked, amount, 0.0)
                amounts[0, row, own] = (np.cumsum(pending) - pending)[own]
                amounts[1, row, own] = amount[own & runs].sum()
        return amounts

    def ages(self) -> Floats:
        """Seconds for which each job has run; 0: it is pending."""
        begun = pl.col("last_start").to_physical()
        age = pl.when("runs").then((pl.lit(self.moment) - begun) / _SECOND).otherwise(0.0)
        return np.array(self.jobs.select(age.fill_null(0.0).clip(0.0)).to_series().to_numpy())

    def limits(self) -> Floats:
        """Time limits in seconds; where a job has none, that of its partition; inf: none."""
        limit = pl.col("time_limit_s").cast(pl.Float64)
        own = self.jobs.select(pl.when(limit > 0).then(limit)).to_series().to_list()
        of = [self.machine.partition(name) for name in self.jobs["partition"]]
        both = zip(own, of, strict=True)
        return np.array([limit or (part and part.longest_s) or np.inf for limit, part in both])

    def ends(self, draws: int, places: Sequence[int] | None = None) -> Floats:
        """Draws of the seconds that each job still runs, or those at some places: (draws, jobs)."""
        keys = np.arange(len(self.jobs)) if places is None else np.array(places, np.int64)
        known = (self.runtimes[keys], self.ages()[keys], self.limits()[keys])
        return draw_runtimes(*known, keys, draws, self.seed)

    def draws(self) -> int:
        """How many draws are played, so that the answer comes in time."""
        return max(5, min(DRAWS, LIVE * 20 // max(len(self.jobs), 1)))

    def starts(self, asked: NDArray[np.bool_]) -> Floats:
        """Seconds until jobs start in each draw: float64 (draws, asked); 0: it runs; inf: never.

        Args:
            asked: bool (n,), which jobs.
        """
        ends = self.ends(self.draws())
        starts = play(self.queue(asked), ends)
        running = np.zeros((len(starts), self.running))
        starts = np.concatenate([running, starts], axis=1)
        # For which pending jobs nothing is free, by what Slurm says of them; of one that is not
        # submitted yet, by what it says of a smaller one.
        reason = pl.col("reason").str.contains(rf"(?i)^({BUSY})").fill_null(False)
        said = self.jobs.select(reason & ~pl.col("runs")).to_series().to_numpy()
        busy, need = said.copy(), needs(self.jobs)
        for place in np.flatnonzero(self.jobs["row"].is_null().to_numpy()):
            name = self.jobs["partition"][int(place)]
            same = said & self.jobs["partition"].eq_missing(name).to_numpy()
            if self.machine.nodes:
                same = said & (self._family == self._family[place])
            busy[place] = (need[same] <= need[place]).all(axis=1).any()
        for place in np.flatnonzero(asked & busy):
            # Slurm finds nothing free for it: that can change when a run ends, not before.
            own = np.flatnonzero(self._family == self._family[place])
            own = own[own < self.running]
            first = ends[:, own].min(axis=1, initial=np.inf)
            if self.only_of is not None and self.jobs["reason"][int(place)] != "Priority":
                first[starts[:, place] <= 0.0] = np.inf  # what takes its place is not seen
            starts[:, place] = np.maximum(starts[:, place], first)
        return starts[:, asked]

    def fits(self, job: Mapping[str, Any]) -> bool:
        """Whether a job fits on its partition when that is empty."""
        has = self.machine.capacity(job["partition"])
        asked = np.array([float(job[name] or 0) for name in RESOURCES])
        return has is None or bool((asked <= has).all())

    def knows_partition(self, place: int) -> bool:
        """Whether it is known what there is where a job may start: reported, or once in use."""
        name = self.jobs["partition"][place]
        if self.machine.capacity(name) is not None or self.load[1, 0, place] > 0:
            return True
        return bool(self.history.most_used([name]).any())

    def queue(self, asked: NDArray[np.bool_]) -> Queue:
        """What is played."""
        n, names = len(self.jobs), self.jobs["partition"].unique(maintain_order=True).to_list()
        families = self.machine.families(names)
        need = needs(self.jobs)
        rows = {name: k for k, name in enumerate(names)}
        whole = {name: len(names) + k for k, of in enumerate(families) for name in of}
        of_jobs = [[rows[name], whole[name]] for name in self.jobs["partition"]]
        places = np.array(of_jobs).reshape(n, 2)
        runs, ages = np.arange(n) < self.running, self.ages()
        # By place: what Slurm reports, and at least what is in use; else the most ever in use.
        capacity = np.zeros((len(names) + len(families), len(RESOURCES)))
        for row, of in enumerate([*([name] for name in names), *families]):
            known = self.machine.capacity(of[0]) if row < len(names) else self.machine.whole(of)
            own = (places == row).any(axis=1)
            most = self.history.most_used(of) if known is None else known
            capacity[row] = np.maximum(most, need[own & runs].sum(axis=0))
            if known is None and own.any():
                capacity[row] = np.maximum(capacity[row], need[own].max(axis=0))
        return Queue(
            running=self.running,
            capacity=capacity,
            places=places,
            need=need,
            planned=np.maximum(self.limits() - ages, 1.0),
            eligible=self._eligible(),
            asked=asked & ~runs,
            ghost=np.zeros(n, np.bool_),
        )

    def _eligible(self) -> Floats:
        """Seconds until jobs may start, where they are to begin later; inf: they may not."""
        begins = pl.col("reason").str.starts_with("BeginTime") & (pl.col("estimate") > self.moment)
        left = (pl.col("estimate") - self.moment) / _SECOND
        until = pl.when(begins).then(left).when("blocked").then(np.inf).otherwise(0.0)
        return np.array(self.jobs.select(until).to_series().to_numpy())

    def changed(self, place: int, **request: Any) -> Snapshot:
        """The same queue where one job asks for something else; its runtimes stay.

        Why it waits as it is says nothing of how it would wait then.
        """
        own = pl.int_range(pl.len()) == place
        request |= {"reason": None}
        jobs = self.jobs.with_columns(
            pl.when(own).then(pl.lit(value)).otherwise(pl.col(name))
            .cast(self.jobs.schema[name]).alias(name)
            for name, value in request.items()
        )  # fmt: skip
        return replace(self, jobs=jobs)


def _in_order(table: pl.DataFrame, machine: Machine) -> pl.DataFrame:
    """Jobs in the order in which the scheduler tries them, with `runs` and `blocked`."""
    names = table["partition"].drop_nulls().unique().to_list()
    known = {name: of for name in names if (of := machine.partition(name)) is not None}
    tiers = {name: of.tier for name, of in known.items()}
    down = [name for name, of in known.items() if not of.up]
    runs = pl.col("state").is_in(_RUNNING).fill_null(False)
    held = (pl.col("state") == State.HELD.value).fill_null(False)
    reason = pl.col("reason").str.contains(rf"(?i)^({BLOCKED})").fill_null(False)
    return table.with_columns(
        runs=runs,
        request_cpus=pl.when(runs).then(_CPUS.fill_null(1)).otherwise("request_cpus"),
        blocked=held | reason | pl.col("partition").is_in(down).fill_null(False),
        tier=pl.col("partition").replace_strict(tiers, default=1, return_dtype=pl.Int64),
    ).sort(
        "runs", "tier", "priority", "seen",
        descending=[True, True, True, False], nulls_last=True, maintain_order=True,
    )  # fmt: skip


def _completed(jobs: pl.DataFrame, machine: Machine) -> pl.DataFrame:
    """Jobs with what they get where it is not known what they ask for.

    That is one CPU, one node, and time and memory by the defaults of the partition.
    """
    names = jobs["partition"].drop_nulls().unique()
    known = {name: of for name in names if (of := machine.partition(name)) is not None}

    def default(value: Callable[[Partition], int | None]) -> pl.Expr:
        values = {name: value(of) for name, of in known.items()}
        return pl.col("partition").replace_strict(values, default=None, return_dtype=pl.Int64)

    memory = pl.col("request_cpus") * default(lambda of: of.default_memory_mb[0])
    memory += pl.col("request_nodes") * default(lambda of: of.default_memory_mb[1])
    return jobs.with_columns(
        pl.col("request_cpus", "request_nodes").fill_null(1),
        pl.col("time_limit_s").fill_null(default(lambda of: limit_of(of.default_s))),
    ).with_columns(pl.col("request_memory_mb").fill_null(memory))
