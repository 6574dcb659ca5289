"""The answer: does a job fail, of what, how do jobs like it end, and what helps."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import polars as pl

from jobsight.answering.jobtables import JobTableAnswerable
from jobsight.answering.learned import caught_up
from jobsight.answering.question import JobAnswer
from jobsight.clock import format_micros
from jobsight.documents import State, number_of
from jobsight.history.jobsasked import jobs_asked, submitted_now
from jobsight.history.jobtable import JobTable
from jobsight.history.past import COLUMNS, NUMBERS, Past
from jobsight.history.pastwalk import D50, PRIOR
from jobsight.history.slurm.pendingreasons import last_reasons, refusal
from jobsight.learning.dataset import Dataset
from jobsight.learning.mixture import Mixture
from jobsight.learning.modeldir import Fitted, ModelDir, TargetModel
from jobsight.models.base import Floats, Inputs
from jobsight.models.boosted import MANY_ROWS
from jobsight.program.submission.proposals import Ceilings
from jobsight.questions.fail.evidence import Advice, Counted, Ends, Finding, advise, findings
from jobsight.questions.fail.overview import overview
from jobsight.questions.fail.question import FAIL, KINDS, Features

if TYPE_CHECKING:
    from jobsight.settings import Settings

__all__ = ["FAIL_ANSWERS", "LABEL", "RUNNING", "Answer", "Answerer", "FailAnswers", "Group",
           "by_cause"]  # fmt: skip

LABEL = "rates (uncalibrated)"
"""What an answer names as its model where there is none."""
_CHAIN = {"user": "rate", "user and pattern": "rate 50", "user and script": "rate 50"}
"""Groups from wide to narrow, and the rate that counts of each."""
_LEAN = 4.0
"""Runs that the rate of a wider group weighs."""
RUNNING = (State.RUNNING.value, State.SUSPENDED.value)
"""States of jobs that have started and not ended."""


@dataclass(frozen=True)
class Answer(JobAnswer):
    """The answer for one job.

    Attributes:
        probability: P(it fails); None where no outcome is known, or it can never start.
        low, high: 90 % interval of it; None without a model.
        kinds: P(kind | it fails), the likeliest first; empty where nothing is known.
        evidence: see `jobsight.questions.fail.evidence.Finding`.
        advice: what to change; None: nothing is known to help.
        with_advice: P(it fails) with the changed request; None where too few such runs are known.
        model: what gave the probability.
        inputs: hash of what was read for it.
        blocked: why it never starts as it is; None: it may.
    """

    probability: float | None
    low: float | None
    high: float | None
    kinds: Mapping[str, float]
    evidence: list[Finding] = field(repr=False)
    advice: Advice | None
    with_advice: float | None
    model: str
    inputs: str
    blocked: str | None = None

    @property
    def kind(self) -> str | None:
        """The likeliest way to fail."""
        return next(iter(self.kinds), None)

    @property
    def at_stake(self) -> float | None:
        """Core-hours that are lost on average: CPUs × time limit × P(it fails)."""
        limit = self.job["time_limit_s"]
        if self.probability is None or limit is None or limit < 0:
            return None
        return float((self.job["request_cpus"] or 1) * limit / 3600 * self.probability)

    def to_json(self) -> dict[str, Any]:
        """See `JobAnswer.to_json`."""
        advice = self.advice
        return {
            "job": self.job["job"],
            "id": self.id,
            "at": format_micros(self.moment),
            "moment": _moment_of(self.job["state"]),
            "probability": self.probability,
            "interval": None if self.low is None else [self.low, self.high],
            "kind": self.kind,
            "kinds": dict(self.kinds),
            "evidence": self.evidence,
            "advice": advice and {"text": advice.text, "option": advice.option},
            "with_advice": self.with_advice,
            "core_hours_at_stake": self.at_stake,
            "blocked": self.blocked,
            "model": self.model,
        }


class _Chances(NamedTuple):
    """Of n jobs: P(fails) with bounds, P(kind | fails) or None, and hashes of what was read."""

    fails: Floats
    low: Floats | None
    high: Floats | None
    kinds: Floats | None
    inputs: list[str]


class Answerer:
    """Answers for jobs as of one moment, by what was known then."""

    def __init__(self, jobs: JobTable, moment: int, model: ModelDir | None = None) -> None:
        """Index what was known.

        Args:
            jobs: as of the moment (`JobTable.as_of`).
            moment: µs.
            model: trained; None: smoothed rates of failure answer, uncalibrated.
        """
        self.jobs, self.moment, self._model = jobs, moment, model
        self._ends = Ends(jobs)
        self._learned: dict[str, Fitted] = {}
        self._most: Callable[[Mapping[str, Any]], Ceilings] = lambda _job: Ceilings()
        if model is None:
            self._past = Past.of(jobs)
        else:
            self._data = Dataset.for_judging(jobs, model)

    def at(self, moment: int) -> Self:
        """The same as of a later moment (µs), until which nothing more became known."""
        other = copy(self)
        other.moment = moment
        return other

    def within(self, most: Callable[[Mapping[str, Any]], Ceilings]) -> Self:
        """The same, whose advice keeps to the most that each job may ask for where it runs."""
        other = copy(self)
        other._most = most
        return other

    def asked(self, rows: pl.Expr) -> pl.DataFrame:
        """The jobs of the table that an expression selects, as they are asked about."""
        return self._asked.filter(self.jobs.table.select(chosen=rows & pl.lit(True)).to_series())

    @cached_property
    def _asked(self) -> pl.DataFrame:
        state = self.jobs.table["state"].cast(pl.String)
        return jobs_asked(self.jobs).with_columns(state=state)

    @cached_property
    def _reasons(self) -> dict[int, str]:
        """Why jobs wait, as last reported, by their rows."""
        return dict(last_reasons(self.jobs).iter_rows())

    def _blocked(self, job: Mapping[str, Any]) -> str | None:
        """Why a job never starts as it is; None: it may, or it has."""
        return None if job["state"] in RUNNING else refusal(self._reasons.get(job["row"]))

    def unsubmitted(self, job: Mapping[str, Any]) -> pl.DataFrame:
        """A job that is to be submitted now, see `submitted_now`."""
        return submitted_now(self.jobs, job, self.moment, self.asked(pl.lit(False)).schema)

    def alike(self, asked: pl.DataFrame) -> list[list[Finding]]:
        """How runs like each of n jobs of `asked` ended, the ended jobs themselves included."""
        of = zip(self._ends.about(asked), asked["name"], strict=True)
        return [findings(groups, name) for groups, name in of]

    def answer(self, asked: pl.DataFrame) -> list[Answer]:
        """The answers for n jobs of `asked`, in their order; those that run as of their start."""
        answers: dict[int, Answer] = {}
        numbered = asked.with_row_index("number")
        moments = [_moment_of(state) for state in asked["state"]]
        for moment in dict.fromkeys(moments):
            rows = numbered.filter(pl.Series(moments) == moment)
            answers |= zip(rows["number"], self._answer(rows, moment), strict=True)
        return [answers[number] for number in sorted(answers)]

    def _answer(self, asked: pl.DataFrame, moment: str) -> list[Answer]:
        """The answers for jobs that are all at one moment of the question."""
        if not len(self._ends):
            return [self._unknown(job) for job in asked.iter_rows(named=True)]
        chances = self._chances(asked, moment)
        groups = self._ends.about(asked)
        answers = []
        for k, job in enumerate(asked.iter_rows(named=True)):
            if self._blocked(job):
                evidence = findings(groups[k], job["name"])
                answers.append(replace(self._unknown(job), evidence=evidence))
                continue
            probability = float(chances.fails[k])
            kinds = _kinds(None if chances.kinds is None else chances.kinds[k], groups[k])
            answers.append(
                Answer(
                    job=job,
                    moment=self.moment,
                    probability=probability,
                    low=None if chances.low is None else float(chances.low[k]),
                    high=None if chances.high is None else float(chances.high[k]),
                    kinds=kinds,
                    evidence=findings(groups[k], job["name"]),
                    advice=advise(
                        job, groups[k].get("like"), probability, kinds, partial(self._most, job)
                    ),
                    with_advice=None,
                    model=LABEL if self._model is None else self._model.label_at(moment),
                    inputs=chances.inputs[k],
                )
            )
        # The probabilities of the same jobs with changed requests.
        places = [k for k, made in enumerate(answers) if made.advice and made.advice.supported]
        if not places:
            return answers
        rows = [{**answers[k].job, **answers[k].advice.changed} for k in places]  # type: ignore[union-attr]
        changed = pl.DataFrame(rows, schema=asked.schema)
        for k, probability in zip(places, self._chances(changed, moment).fails, strict=True):
            answers[k] = replace(answers[k], with_advice=float(probability))
        return answers

    def _chances(self, asked: pl.DataFrame, moment: str) -> _Chances:
        if self._model is None:
            return self._rates(asked)
        features = self._data.builder
        assert isinstance(features, Features)
        inputs = features.ask_later(asked, moment, self.moment)
        if moment not in self._learned:
            fails = _at(self._model.main, moment).answering
            mixture = fails.model
            if isinstance(mixture, Mixture) and mixture.as_of < self.moment:
                quick = len(self._data.table) < MANY_ROWS
                manifest = self._model.manifest
                digest = None if manifest is None else manifest.digest
                learned = caught_up(mixture, self._data, self.moment, moment, digest, anew=quick)
                fails = replace(fails, model=learned)
            self._learned[moment] = fails
        fails = self._learned[moment]
        probability = fails.predict(inputs)
        low, high = fails.bounds(probability)
        target = self._model.targets.get("kinds")
        kinds = None if target is None else _at(target, moment).answering.predict(inputs)
        return _Chances(probability, low, high, kinds, inputs.digests())

    def _rates(self, asked: pl.DataFrame) -> _Chances:
        """The rate of failure as of now of the narrowest group with runs, smoothed to the wider.

        A chain from all jobs to the user's, those of the same name, those of the same script: each
        rate leans on the one before with the weight of `_LEAN` runs. Of a name and a script the
        last 50 or so runs count, for programs change; a group that is as large as the wider one
        says nothing new.
        """
        started = np.zeros(len(asked), np.bool_)
        moments = np.full(len(asked), self.moment)
        past = self._past.build(asked, moments, started, ("all", *_CHAIN))
        outcomes, rate = COLUMNS.index("outcomes"), COLUMNS.index("rate")
        everyone = past["all"][:, rate].astype(np.float64)
        fails, runs = everyone, np.expm1(past["all"][:, outcomes].astype(np.float64))
        for key, column in _CHAIN.items():
            own = np.expm1(np.nan_to_num(past[key][:, outcomes].astype(np.float64)))
            weight = own if column == "rate" else (1.0 - D50**own) / (1.0 - D50)
            # The column leans on the rate of all jobs: not so the failures themselves.
            leaning = past[key][:, COLUMNS.index(column)].astype(np.float64)
            failed = leaning * (weight + PRIOR) - PRIOR * everyone
            narrower = (own > 0.0) & (own < runs)
            leant = (failed.clip(0.0, weight) + _LEAN * fails) / (weight + _LEAN)
            fails, runs = np.where(narrower, leant, fails), np.where(narrower, own, runs)
        names = tuple(f"{key}: {column}" for key in past for column in COLUMNS)
        read = Inputs(np.concatenate(list(past.values()), axis=1), names, {}, {}, None, 0)
        return _Chances(fails, None, None, None, read.digests())

    def _unknown(self, job: Mapping[str, Any]) -> Answer:
        label = LABEL if self._model is None else self._model.label
        none = Inputs(np.zeros((1, 0), np.float32), (), {}, {}, None, 0)
        return Answer(
            job, self.moment, None, None, None, {}, [], None, None, label, none.digests()[0],
            self._blocked(job),
        )  # fmt: skip


def _kinds(predicted: Floats | None, groups: Mapping[str, Counted]) -> dict[str, float]:
    """P(kind | it fails), the likeliest first: as predicted, else as jobs like it failed."""
    if predicted is not None:
        shares = dict(zip(KINDS, map(float, predicted), strict=True))
    else:
        counts: Mapping[str, int] = {}
        for what in ("request", "user", "like"):
            counts = (groups[what].kinds if what in groups else {}) or counts
        shares = {kind: count / sum(counts.values()) for kind, count in counts.items()}
    return dict(sorted(shares.items(), key=lambda pair: -pair[1]))


def _moment_of(state: str | None) -> str:
    """The moment of the question that a job in this state is at."""
    return "start" if state in RUNNING else "submission"


def _at(target: TargetModel, moment: str) -> TargetModel:
    return target.moments.get(moment, target)


class FailAnswers(JobTableAnswerable[Answer]):
    """How the question is answered; see `jobsight.answering.question.Answerable`."""

    question = FAIL
    without: ClassVar[str] = "rates of failure, from all jobs to those of one script, uncalibrated"
    overview = staticmethod(overview)

    def answerer(
        self, source: JobTable, moment: int, model: ModelDir | None, settings: Settings
    ) -> Answerer:
        """See `Answerer`."""
        return Answerer(source, moment, model)


FAIL_ANSWERS = FailAnswers()


_REQUEST = ("partition", "request_cpus", "request_memory_mb", "request_gpus", "time_limit_s")


@dataclass(frozen=True)
class Group:
    """Answers for jobs that are alike, at least one."""

    members: Sequence[Answer]

    @property
    def probability(self) -> float | None:
        """Mean probability to fail, where any is known."""
        known = [job.probability for job in self.members if job.probability is not None]
        return sum(known) / len(known) if known else None

    @property
    def at_stake(self) -> float | None:
        """Core-hours at stake, of all whose limits are known."""
        known = [job.at_stake for job in self.members if job.at_stake is not None]
        return sum(known) if known else None

    @property
    def jobs(self) -> str:
        """Which jobs they are: the id of one, ``300 tasks of 4711``, or ``12 jobs``."""
        job, size = self.members[0].job, len(self.members)
        if size == 1:
            return str(job["job"])
        if len({member.job["group"] for member in self.members}) > 1:
            return f"{size} jobs"
        noun = "procs" if job["scheduler"] == "htcondor" else "tasks"
        return f"{size} {noun} of {number_of(job['job'])}"


def by_cause(answers: Sequence[Answer], *, each: bool = False) -> list[Group]:
    """Jobs for which one cause holds together; `each`: one by one. Most at stake comes first.

    Together are those of one user, name, submission and way to fail.
    """
    sizes = Counter(answer.job["group"] for answer in answers)
    groups: dict[object, list[Answer]] = {}
    for place, answer in enumerate(answers):
        job = answer.job
        pattern = None if job["name"] is None else re.sub(NUMBERS, "#", job["name"])
        # Those submitted one by one need only ask for the same.
        alone = sizes[job["group"]] == 1
        submission = tuple(job[name] for name in _REQUEST) if alone else job["group"]
        option = answer.advice and answer.advice.option
        cause = (job["owner"], pattern, submission, answer.kind, option, job["state"],
                 answer.blocked)  # fmt: skip
        groups.setdefault(place if each else cause, []).append(answer)
    rows = [Group(members) for members in groups.values()]
    return sorted(rows, key=lambda row: (-(row.at_stake or 0.0), -(row.probability or 0.0)))
