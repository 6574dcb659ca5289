"""The answer: when a job starts, how long it runs, what it waits for, what would start sooner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.answering.jobtables import JobTableAnswerable
from jobsight.answering.question import JobAnswer
from jobsight.clock import format_micros, format_span, micros
from jobsight.documents import State
from jobsight.errors import UsageError
from jobsight.history.jobsasked import submitted_now
from jobsight.history.jobtable import JobTable
from jobsight.history.slurm.pendingreasons import awaited
from jobsight.learning.modeldir import ModelDir
from jobsight.models.base import Inputs
from jobsight.questions.start.overview import overview
from jobsight.questions.start.play import LEVELS, quantiles
from jobsight.questions.start.question import MOMENTS, START, Features, with_ages, without_ages
from jobsight.questions.start.queue import KNOTS, LIKE, Earlier, Machine, Snapshot, listed
from jobsight.questions.start.waiting import Spans, never, not_before, obstacle, waits_for
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.settings import Settings

__all__ = [
    "AT_ONCE",
    "START_ANSWERS",
    "Advice",
    "Answer",
    "Answerer",
    "StartAnswers",
    "sooner",
]

Floats = NDArray[np.float64]

ENOUGH = 30
"""Runs that advice needs."""
_FIT = 0.97
"""Share of the runs that a shorter limit is to hold."""
_LIMITS = 60.0 * np.array(
    [5, 10, 15, 20, 30, 45]
    + [60 * hours for hours in (1, 2, 3, 4, 6, 8, 12, 18, 24, 36, 48, 72, 120, 168)]
)
"""Time limits that are proposed, seconds."""
_SHORTER, _SHARE, _LEAST_S = 0.75, 0.1, 60.0


@dataclass(frozen=True)
class Advice:
    """What to change.

    Attributes:
        text: in words.
        option: of sbatch.
        gain_s: seconds by which the median of the start comes earlier.
        support: runs that it rests on.
    """

    text: str
    option: str
    gain_s: float
    support: int


def sooner(queue: Snapshot, place: int, starts: Floats) -> list[Advice]:
    """Changes of a request with which the job starts sooner, the largest gain first.

    Each is played in the same draws. A shorter limit and fewer nodes need enough like runs, another
    partition enough runs in it.

    Args:
        queue: with the job.
        place: of the job in it.
        starts: float64 (draws,), seconds until it starts as it is.
    """
    job = queue.jobs.row(place, named=True)
    before, advice = float(np.median(starts)), []
    same = LIKE.eq(pl.lit(queue.jobs[place].select(LIKE).item()))
    ended = pl.col("end").is_not_null() & pl.col("last_start").is_not_null()
    own = (pl.col("owner") == pl.lit(job["owner"])) & same & ended
    ran = (pl.col("end") - pl.col("last_start")).dt.total_seconds().cast(pl.Float64)
    late = pl.col("state").cast(pl.String).is_in([State.TIMEOUT.value, State.DEADLINE.value])
    like = queue.history.jobs.table.filter(own.fill_null(False))
    like = like.with_columns(ran=pl.when(late).then(np.inf).otherwise(ran))
    changes = [*_shorter(job, like), *_narrower(job, like), *_elsewhere(queue, job)]
    for text, option, support, changed in changes:
        after = queue.changed(place, **changed)
        asked = np.arange(len(queue.jobs)) == place
        median = float(np.median(after.starts(asked)[:, 0]))
        gain = (before if before < np.inf else 366 * 86_400.0) - median
        if median < np.inf and gain >= max(_LEAST_S, _SHARE * min(before, 86_400.0)):
            advice.append(Advice(text, option, gain, support))
    return sorted(advice, key=lambda change: -change.gain_s)


_Change = tuple[str, str, int, dict[str, Any]]


def _shorter(job: Mapping[str, Any], like: pl.DataFrame) -> list[_Change]:
    limit = job["time_limit_s"]
    if limit is None or len(like) < ENOUGH:
        return []
    ran = like["ran"].to_numpy()
    enough = _LIMITS[(_LIMITS[:, None] >= ran).mean(axis=1) >= _FIT]
    if not len(enough) or (limit > 0 and enough[0] > _SHORTER * limit):
        return []
    wanted = int(enough[0])
    hours, minutes = divmod(wanted // 60, 60)
    now = "no limit" if limit < 0 else format_span(limit)
    share = f"{(ran <= wanted).mean():.0%}".replace("%", " %")
    text = f"ask for {format_span(wanted)} instead of {now}: {share} of such runs fit"
    return [(text, f"--time={hours}:{minutes:02d}:00", len(like), {"time_limit_s": wanted})]


def _narrower(job: Mapping[str, Any], like: pl.DataFrame) -> list[_Change]:
    nodes, cpus = job["request_nodes"] or 1, job["request_cpus"] or 1
    half = nodes // 2
    support = len(like.filter(pl.col("request_nodes") <= half))
    if nodes < 2 or support < ENOUGH:
        return []
    changed = {"request_nodes": half, "request_cpus": max(cpus * half // nodes, 1)}
    if job["request_memory_mb"]:
        changed["request_memory_mb"] = job["request_memory_mb"] * half // nodes
    text = f"ask for {counted(half, 'node')} instead of {nodes}, as such runs did"
    return [(text, f"--nodes={half}", support, changed)]


def _elsewhere(queue: Snapshot, job: Mapping[str, Any]) -> list[_Change]:
    """Partitions in which the user's jobs have run, and that take the job's limit."""
    own = queue.history.jobs.table.filter(
        (pl.col("owner") == pl.lit(job["owner"])).fill_null(False),
        pl.col("scheduler_name") == pl.lit(job["scheduler_name"]),
        pl.col("start").is_not_null(),
        pl.col("partition") != pl.lit(job["partition"]),
    )
    changes: list[_Change] = []
    for name, support in own["partition"].value_counts().sort("count", "partition").iter_rows():
        known = queue.machine.partition(name)
        longest = own.filter(partition=name)["time_limit_s"].max()
        most = known.longest_s if known is not None else longest
        limit = job["time_limit_s"] or 0
        if support >= ENOUGH and isinstance(most, int | float) and 0 <= limit <= most:
            text = f"submit to partition {printable(name, 40)}"
            changes.append((text, f"--partition={name}", support, {"partition": name}))
    return changes


_LABEL = "play (uncalibrated)"
"""What an answer names as its model where there is none."""
AT_ONCE = 30.0
"""Seconds of waiting that are not worth a moment."""
_NAMED = 20
"""Partitions that an error names."""
_ADVISED = 3
"""Jobs asked about at a time for which it is played what would start sooner."""
_MODELLED = 2_000
"""Open jobs whose runtimes are predicted by the model; of more, the users' last runs count."""
_RUNNING = (State.RUNNING.value, State.SUSPENDED.value)
_SECOND = 1_000_000
_MANY = 200
"""Draws of the runtime of a job that is asked about."""
_TAILS = 0.6
"""How far the least and the longest runtime are from the outer quantiles, in their distances."""


@dataclass(frozen=True)
class Answer(JobAnswer):
    """The answer for one job.

    Attributes:
        job: also with `reason` and `estimate` (µs), Slurm's own.
        wait: seconds until it starts; None: it runs, or that is not known.
        runtime: seconds that it runs; None where nothing is known of it.
        not_before: µs: quantiles of the end of what Slurm's reason names; None: unknown.
        blocked: why it does not start by itself; None: it may.
        waits_for: in words.
        only_of: the one user whose jobs are all that is seen; None: there are several.
        advice: what would start sooner.
        model: what gave the quantiles.
        inputs: hash of what was read for it.
    """

    wait: Spans | None
    runtime: Spans | None
    not_before: tuple[int, int, int] | None
    blocked: str | None
    waits_for: Sequence[str]
    advice: Sequence[Advice]
    only_of: str | None
    model: str
    inputs: str

    @property
    def starts(self) -> tuple[int, int, int] | None:
        """µs: quantiles of its start."""
        return None if self.wait is None else _after(self.moment, self.wait)

    @property
    def ends(self) -> tuple[int, int, int] | None:
        """µs: quantiles of the end of a running job."""
        begun = self.job["last_start"]
        if self.job["state"] not in _RUNNING or self.runtime is None or begun is None:
            return None
        return _after(micros(begun), self.runtime)

    def to_json(self) -> dict[str, Any]:
        """See `JobAnswer.to_json`."""
        estimate = self.job["estimate"]
        return {
            "job": self.job["job"],
            "id": self.id,
            "at": format_micros(self.moment),
            "moment": MOMENTS[0] if self.id is None else MOMENTS[1],
            "state": self.job["state"],
            "wait_s": _listed(self.wait),
            "start": None if self.starts is None else [*map(format_micros, self.starts)],
            "runtime_s": _listed(self.runtime),
            "end": None if self.ends is None else [*map(format_micros, self.ends)],
            "not_before": self.not_before and [*map(format_micros, self.not_before)],
            "blocked": self.blocked,
            "reason": self.job["reason"],
            "waits_for": list(self.waits_for),
            "advice": [vars(change) for change in self.advice],
            "scheduler_estimate": None if estimate is None else format_micros(estimate),
            "only_jobs_of": self.only_of,
            "model": self.model,
        }


def _after(moment: int, spans: Spans) -> tuple[int, int, int]:
    low, middle, high = (moment + int(span * _SECOND) for span in spans)
    return low, middle, high


def _listed(spans: Spans | None) -> list[float] | None:
    return None if spans is None else [round(span, 1) for span in spans]


class Answerer:
    """Answers for jobs as of one moment, by what was known then."""

    def __init__(self, jobs: JobTable, moment: int, model: ModelDir | None = None) -> None:
        """Index what was known.

        Args:
            jobs: as of the moment (`JobTable.as_of`).
            moment: µs.
            model: trained; None: the play with the users' last runs answers, uncalibrated.
        """
        self.jobs, self.moment, self._model = jobs, moment, model
        self._features = None
        if model is not None:  # indexed when first asked, for all copies
            self._features = Features(jobs, model.encoding, model.settings.seed)
        self._earlier = Earlier(jobs)  # of all copies
        self._machine = Machine()
        self._analysis: Mapping[str, Sequence[str]] = {}
        self._queues: dict[str, tuple[Snapshot, Inputs | None]] = {}

    def of_cluster(self, machine: Machine, analysis: Mapping[str, Sequence[str]]) -> Self:
        """The same with what is known of the cluster now.

        Args:
            machine: what Slurm reports of it; an empty one: what was ever in use counts.
            analysis: what HTCondor says of idle jobs, lines by job.
        """
        other = self.at(self.moment)
        other._machine, other._analysis = machine, analysis
        return other

    def at(self, moment: int) -> Self:
        """The same as of a later moment (µs), until which nothing more became known."""
        other = copy(self)
        other.moment, other._queues = moment, {}
        return other

    @cached_property
    def _starts(self) -> pl.DataFrame:
        return without_ages(self.jobs).with_columns(state=self.jobs.table["state"].cast(pl.String))

    def _aged(self, rows: pl.DataFrame) -> pl.DataFrame:
        return with_ages(rows, 0 if self._model is None else self._model.settings.seed)

    def asked(self, rows: pl.Expr) -> pl.DataFrame:
        """The jobs of the table that an expression selects, as they are asked about."""
        chosen = self.jobs.table.select(chosen=rows & pl.lit(True)).to_series()
        return self._aged(self._starts.filter(chosen))

    def unsubmitted(self, job: Mapping[str, Any]) -> pl.DataFrame:
        """A job that is to be submitted now, see `submitted_now`.

        Raises:
            UsageError: the cluster has no such partition; names those that are known.
        """
        reported = {of.name for of in self._machine.partitions}
        default = next((of.name for of in self._machine.partitions if of.default), None)
        job = {**job, "partition": job.get("partition") or default}
        of_cluster = pl.col("scheduler_name").eq_missing(pl.lit(job.get("scheduler_name")))
        used = self.jobs.table.filter(of_cluster)["partition"].unique()
        known = reported or set().union(*map(listed, used))
        if known and (unknown := sorted(listed(job["partition"]) - known)):
            among = "the cluster has" if reported else "jobs of the history ran in"
            names = ", ".join(printable(name, 40) for name in sorted(known)[:_NAMED])
            raise UsageError(
                f"no partition {printable(unknown[0], 40)!r} is known: {among} {names}"
            )
        return submitted_now(self.jobs, job, self.moment, self._starts.schema)

    def answer(self, asked: pl.DataFrame) -> list[Answer]:
        """The answers for n jobs of `asked`, in their order."""
        answers: dict[int, Answer] = {}
        numbered = asked.with_row_index("number")
        for (cluster,), rows in numbered.group_by("scheduler_name", maintain_order=True):
            answers |= zip(rows["number"], self._of_cluster(rows, cluster), strict=True)
        return [answers[number] for number in sorted(answers)]

    def _of_cluster(self, asked: pl.DataFrame, cluster: Any) -> list[Answer]:
        new = asked.filter(pl.col("id").is_null())
        queue, inputs = self._queue(cluster, new)
        place_of = {id_: place for place, id_ in enumerate(queue.jobs["id"])}
        places = [place_of[id_] for id_ in asked["id"]]
        fresh = inputs is None or len(new)
        inputs = self._inputs(asked) if fresh else inputs.take(np.array(places))  # type: ignore[union-attr]
        if inputs is None:
            # Hashes of what is asked about, where no model reads anything.
            read = asked.select("request_cpus", "request_memory_mb", "time_limit_s")
            values = np.array(read.cast(pl.Float32).fill_null(float("nan")).to_numpy())
            hashes = Inputs(values, tuple(read.columns), {}, {}, None, 0).digests()
            known = _Known(None, None, hashes)
        else:
            moment = MOMENTS[0] if asked["id"].null_count() else MOMENTS[1]
            wait, runtime = (self._expected(of, inputs, moment) for of in ("wait", "runtime"))
            known = _Known(wait, runtime, inputs.digests())
        chosen = np.isin(np.arange(len(queue.jobs)), places)
        starts = np.full((1, len(chosen)), np.inf)
        if asked["scheduler"][0] == "slurm":
            starts = np.full((queue.draws(), len(chosen)), np.inf)
            starts[:, chosen] = queue.starts(chosen)
        usual = queue.ends(_MANY, places) + queue.ages()[places]
        played = _Known(quantiles(starts[:, places]), np.quantile(usual, LEVELS, axis=0).T, [])
        few = len(asked) <= _ADVISED
        return [
            self._answered(queue, place, starts[:, place], played.of(k), known.of(k), few=few)
            for k, place in enumerate(places)
        ]

    def _answered(
        self, queue: Snapshot, place: int, starts: Floats, played: _Known, known: _Known, *,
        few: bool,
    ) -> Answer:  # fmt: skip
        job = queue.jobs.row(place, named=True)
        runs, slurm = job["state"] in _RUNNING, job["scheduler"] == "slurm"
        blocked = None if runs else obstacle(job, queue)
        wait = played.wait if known.wait is None else known.wait
        least = not_before(job, queue) if slurm and not runs and blocked is None else None
        if wait is not None and least is not None:
            wait = max(wait[0], least[0]), max(wait[1], least[1]), max(wait[2], least[2])
        if wait is not None and wait[2] <= AT_ONCE and slurm and awaited(job["reason"]):
            wait = None  # Slurm says what keeps it back: a model that does not see it is wrong
        runtime = played.runtime if known.runtime is None or runs else known.runtime
        if known.runtime is None and not len(self._earlier.ended):
            runtime = None
        if known.wait is None and not queue.knows_partition(place):
            wait = None
        if not runs and slurm and never(job, queue):
            runtime = None
        plays = bool(np.isfinite(starts).any()) and not runs
        advice = []
        if few and not runs and (plays or "TimeLimit" in (job["reason"] or "")):
            advice = sooner(queue, place, starts)
        waits: list[str] = []
        if not runs and blocked is None:
            waits = [*waits_for(job, queue, place), *self._analysis.get(job["job"], ())]
        return Answer(
            job=job,
            moment=self.moment,
            wait=None if blocked or runs else wait,
            runtime=runtime,
            not_before=least and _after(self.moment, least),
            blocked=blocked,
            waits_for=waits,
            advice=advice,
            only_of=queue.only_of if slurm else None,
            model=_LABEL
            if self._model is None
            else self._model.label_at(MOMENTS[0] if job["id"] is None else MOMENTS[1]),
            inputs=known.inputs[0],
        )

    def _inputs(self, asked: pl.DataFrame) -> Inputs | None:
        """What the model reads of n jobs; None: there is no model."""
        if self._features is None:
            return None
        rows = asked.with_columns(decided=pl.lit(self.moment))
        return self._features.ask(rows.select(self._starts.columns))

    def _expected(self, target: str, inputs: Inputs, moment: str) -> Floats | None:
        """Quantiles of seconds by the model, (n, 3); None: it has learned nothing of the target."""
        if self._model is None or target not in self._model.targets:
            return None
        learned = self._model.targets[target]
        fitted = learned.moments.get(moment, learned).answering
        return np.expm1(np.sort(fitted.predict(inputs), axis=1)).clip(0.0)

    def _queue(self, cluster: Any, new: pl.DataFrame) -> tuple[Snapshot, Inputs | None]:
        """The queue of a cluster with jobs that are submitted now; without such, kept.

        And what the model reads of those that are submitted, where they are not too many: then
        they run as long as it expects.
        """
        if cluster in self._queues and not len(new):
            return self._queues[cluster]
        queue, inputs = Snapshot.of(self._earlier, self.moment, cluster, self._machine, new), None
        own = queue.jobs["row"].is_not_null().to_numpy()
        rows = queue.jobs.filter(own)["row"].to_numpy()
        if 0 < len(rows) <= _MODELLED:
            inputs = self._inputs(self._aged(self._starts[rows]))
        spans = None if inputs is None else self._expected("runtime", inputs, MOMENTS[1])
        if spans is not None:
            runtimes = queue.runtimes.copy()
            runtimes[own] = _knots(spans)
            queue = replace(queue, runtimes=runtimes)
        if not len(new):
            self._queues[cluster] = queue, inputs
        return queue, inputs


class _Known(NamedTuple):
    """What is expected of n jobs: seconds (n, 3), or None; hashes of what a model read."""

    wait: Any
    runtime: Any
    inputs: Sequence[str]

    def of(self, k: int) -> _Known:
        """Of one of them."""
        spans = [None if of_all is None else tuple(map(float, of_all[k])) for of_all in self[:2]]
        wait, runtime = (span if span and np.isfinite(span[2]) else None for span in spans)
        return _Known(wait, runtime, self.inputs[k : k + 1])


def _knots(spans: Floats) -> Floats:
    """Quantiles at (i + ½) / KNOTS of runtimes with three quantiles each: (n, KNOTS)."""
    logs = np.log(np.maximum(spans, 1.0))
    least, longest = (logs[:, k] + _TAILS * (logs[:, k] - logs[:, 1]) for k in (0, 2))
    points = np.column_stack([least, logs, longest])
    at = np.interp((np.arange(KNOTS) + 0.5) / KNOTS, (0.0, *LEVELS, 1.0), np.arange(5.0))
    low = np.minimum(at.astype(int), 3)
    part = at - low
    return np.asarray(np.exp(points[:, low] * (1 - part) + points[:, low + 1] * part))


class StartAnswers(JobTableAnswerable[Answer]):
    """How the question is answered; see `jobsight.answering.question.Answerable`."""

    question = START
    without: ClassVar[str] = "a simulation of the queue with the users' last runtimes, uncalibrated"
    overview = staticmethod(overview)

    def answerer(
        self, source: JobTable, moment: int, model: ModelDir | None, settings: Settings
    ) -> Answerer:
        """See `Answerer`."""
        return Answerer(source, moment, model)


START_ANSWERS = StartAnswers()
