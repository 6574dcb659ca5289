"""The answer: does a job fail, of what, how do jobs like it end, and what helps."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import polars as pl

from jobsight.answering.jobtables import JobTableAnswerable
from jobsight.answering.learned import caught_up
from jobsight.answering.question import JobAnswer
from jobsight.clock import format_micros
from jobsight.documents import State, number_of
from jobsight.format import percent
from jobsight.history.condor.client import CondorClient
from jobsight.history.jobsasked import jobs_asked, submitted_now
from jobsight.history.jobtable import JobTable
from jobsight.history.past import NUMBERS
from jobsight.history.slurm.pendingreasons import last_reasons, refusal
from jobsight.learning.dataset import Dataset
from jobsight.learning.mixture import Mixture
from jobsight.learning.modeldir import Fitted, ModelDir, TargetModel
from jobsight.models.base import Inputs
from jobsight.models.boosted import MANY_ROWS
from jobsight.program.site import Site
from jobsight.program.submission.proposals import Ceilings
from jobsight.questions.fail.evidence import (
    Advice,
    Counted,
    Ends,
    Finding,
    advise,
    findings,
    kinds_of,
    refuted,
)
from jobsight.questions.fail.overview import overview
from jobsight.questions.fail.question import FAIL, KINDS, Features
from jobsight.text import counted

if TYPE_CHECKING:
    from jobsight.program.preflight.findings import Finding as Fault
    from jobsight.settings import Settings

__all__ = ["FAIL_ANSWERS", "LABEL", "RUNNING", "Answer", "Answerer", "FailAnswers", "Group",
           "by_cause"]  # fmt: skip

LABEL = "rates (uncalibrated)"
"""What an answer names as its model where there is none."""
_PLACE = ("scheduler", "scheduler_name", "partition")
_SURE = ("JS0", "JS102", "JS105", "JS108", "JS201", "JS203", "JS206", "JS211", "JS212", "JS313",
         "JS319")  # fmt: skip
"""Codes of `check`, or their beginnings, of what cannot start, or always fails."""
_HARM = ("JS204", "JS303", "JS304", "JS311", "JS322", "JS348", "JS349")
"""Codes of errors that do harm and let the job succeed."""
_BY_SURE_ERROR, _BY_ERROR = 0.95, 0.5
"""Probabilities to fail by such an error, and by any other that `check` finds: a command that
fails need not end its script."""
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
            "advice": advice
            and {"text": advice.text, "option": advice.option, "runs": advice.known},
            "with_advice": self.with_advice,
            "core_hours_at_stake": self.at_stake,
            "blocked": self.blocked,
            "model": self.model,
        }


class _Chance(NamedTuple):
    """Of one job: P(fails) with bounds, P(kind | fails), what gave it, and hash of what was read.

    `refuted` has the words for a model's probability that does not count.
    """

    fails: float
    low: float | None
    high: float | None
    kinds: Mapping[str, float]
    model: str
    inputs: str
    refuted: str | None = None


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
        self._most: Callable[..., Ceilings] = lambda *_place: Ceilings()
        self._errors: Callable[[], Sequence[Fault]] = tuple
        if model is not None:
            self._data = Dataset.for_judging(jobs, model)

    def at(self, moment: int) -> Self:
        """The same as of a later moment (µs), until which nothing more became known."""
        other = copy(self)
        other.moment = moment
        return other

    def within(self, most: Callable[[str, str, str | None], Ceilings]) -> Self:
        """The same, whose advice keeps to the most that each job may ask for where it runs.

        `most` gives it by scheduler, cluster and partition.
        """
        other = copy(self)
        other._most = most
        return other

    def checked(self, errors: Callable[[], Sequence[Fault]]) -> Self:
        """The same, which counts what `check` finds wrong with the script that is asked about."""
        other = copy(self)
        other._errors = errors
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
        of = zip(self._ends.about(asked), asked.iter_rows(named=True), strict=True)
        return [findings(groups, job) for groups, job in of]

    def answer(self, asked: pl.DataFrame) -> list[Answer]:
        """The answers for n jobs of `asked`, in their order; those that run as of their start."""
        answers: dict[int, Answer] = {}
        numbered = asked.with_row_index("number")
        moments = [_moment_of(state) for state in asked["state"]]
        for moment in dict.fromkeys(moments):
            rows = numbered.filter(pl.Series(moments) == moment)
            answers |= zip(rows["number"], self._answer(rows, moment), strict=True)
        return [
            answer if answer.id is not None else self._faulty(answer, asked[number])
            for number, answer in sorted(answers.items())
        ]

    def _answer(self, asked: pl.DataFrame, moment: str) -> list[Answer]:
        """The answers for jobs that are all at one moment of the question."""
        if not len(self._ends):
            return [self._unknown(job) for job in asked.iter_rows(named=True)]
        groups, most = self._ends.about(asked), cache(self._most)
        answers = []
        chances = self._chances(asked, moment, groups)
        for job, own, chance in zip(asked.iter_rows(named=True), groups, chances, strict=True):
            evidence = findings(own, job) or [self._ends.finding()]
            if self._blocked(job):
                answers.append(replace(self._unknown(job), evidence=evidence))
                continue
            if chance.refuted:
                evidence.append(_said("model", chance.refuted))
            kinds = kinds_of(own, job, chance.kinds)
            place = (job[name] for name in _PLACE)
            advice = advise(job, own.get("like"), chance.fails, kinds, partial(most, *place))
            answers.append(
                Answer(
                    job, self.moment, chance.fails, chance.low, chance.high, kinds, evidence,
                    advice, None, chance.model, chance.inputs,
                )
            )  # fmt: skip
        # The probabilities of the same jobs with changed requests, where they are lower.
        places = [k for k, made in enumerate(answers) if made.advice and made.advice.supported]
        if not places:
            return answers
        rows = [{**answers[k].job, **answers[k].advice.changed} for k in places]  # type: ignore[union-attr]
        changed = pl.DataFrame(rows, schema=asked.schema)
        others = self._chances(changed, moment, self._ends.about(changed))
        for k, chance in zip(places, others, strict=True):
            if chance.fails < (answers[k].probability or 0.0):
                answers[k] = replace(answers[k], with_advice=chance.fails)
        return answers

    def _chances(
        self, asked: pl.DataFrame, moment: str, groups: list[dict[str, Counted]]
    ) -> Iterator[_Chance]:
        """Of each of n jobs, by the model; else, and where runs like it refute it, by their rates.

        See `Ends.rate` and `refuted`.
        """
        jobs = asked.iter_rows(named=True)
        rates = (self._ends.rate(own, job) for own, job in zip(groups, jobs, strict=True))
        if self._model is None:
            values = np.fromiter(rates, np.float64, len(asked))
            read = Inputs(values[:, None].astype(np.float32), ("rate",), {}, {}, None, 0).digests()
            for rate, digest in zip(values.tolist(), read, strict=True):
                yield _Chance(rate, None, None, {}, LABEL, digest)
            return
        label = self._model.label_at(moment)
        predicted = self._predicted(asked, moment)
        for job, own, rate, (fails, low, high, kinds, digest) in zip(
            asked.iter_rows(named=True), groups, rates, predicted, strict=True
        ):
            shares = dict(zip(KINDS, kinds, strict=False))  # none, where it learned of no kinds
            if "like" in own and refuted(own["like"].bearing(job), fails):
                words = f"not counted: {label} gives {percent(fails)}, against these runs"
                yield _Chance(rate, None, None, shares, LABEL, digest, words)
            else:
                yield _Chance(fails, low, high, shares, label, digest)

    def _predicted(self, asked: pl.DataFrame, moment: str) -> Iterator[tuple[Any, ...]]:
        """Of each of n jobs P(fails) and its bounds, P(kind | fails), hash of what was read."""
        assert self._model is not None
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
        kinds = np.zeros((len(asked), 0))
        if target is not None:
            kinds = _at(target, moment).answering.predict(inputs)
        columns = (column.tolist() for column in (probability, low, high, kinds))
        return zip(*columns, inputs.digests(), strict=True)

    def _faulty(self, answer: Answer, row: pl.DataFrame) -> Answer:
        """An answer for a script, with what `check` finds wrong with it."""
        errors = [one for one in self._errors() if one.code not in _HARM]
        if not errors:
            return answer
        sure = [one for one in errors if one.code.startswith(_SURE)]
        first = (sure or errors)[0]
        what = f"{first.file}:{first.line}: {first.code} {first.message}"
        more = f", and {counted(len(errors) - 1, 'more error')}" if len(errors) > 1 else ""
        said = _said("check", f"check finds an error: {what}{more}")
        if self._ends.same_script(row):
            said["text"] += "; yet runs of this very script completed"
            return replace(answer, evidence=[*answer.evidence, said])
        by_error = _BY_SURE_ERROR if sure else _BY_ERROR

        def fails(before: float | None) -> float:
            return 1.0 - (1.0 - (before or 0.0)) * (1.0 - by_error)

        # It fails by the error, or else as runs like it do.
        total, rest = fails(answer.probability), (1.0 - by_error) * (answer.probability or 0.0)
        shares = {kind: rest * share / total for kind, share in answer.kinds.items()}
        failed = State.FAILED.value
        shares[failed] = shares.get(failed, 0.0) + by_error / total
        fix = f" ({first.fix})" if first.fix else ""
        return replace(
            answer,
            probability=total,
            low=None if answer.low is None else fails(answer.low),
            high=None if answer.high is None else fails(answer.high),
            kinds=dict(sorted(shares.items(), key=lambda pair: -pair[1])),
            evidence=[said, *answer.evidence],
            advice=Advice(f"fix the script first: {what}{fix}{more}", None, {}),
            with_advice=None,
        )

    def _unknown(self, job: Mapping[str, Any]) -> Answer:
        label = LABEL if self._model is None else self._model.label
        none = Inputs(np.zeros((1, 0), np.float32), (), {}, {}, None, 0)
        return Answer(
            job, self.moment, None, None, None, {}, [], None, None, label, none.digests()[0],
            self._blocked(job),
        )  # fmt: skip


def _said(what: str, text: str) -> Finding:
    """Evidence that counts no runs."""
    return {"what": what, "runs": 0, "failed": 0, "kinds": {}, "text": text}


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
        return Answerer(source, moment, model).within(partial(_ceilings, settings))


def _ceilings(settings: Settings, scheduler: str, cluster: str, partition: str | None) -> Ceilings:
    """The most that a job may ask for, where it is one of this machine's cluster or pool."""
    if scheduler == "htcondor":
        return Ceilings(CondorClient(settings.condor).largest_slot().get("RequestMemory"))
    site = Site.lately()
    if site is None or site.config.get("clustername") != cluster:
        return Ceilings()
    return site.ceilings(partition.split(",") if partition else ())


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
