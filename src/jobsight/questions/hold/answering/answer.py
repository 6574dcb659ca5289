"""The answer: release, wait, fix, remove or unsure, with its probability, evidence and advice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, Self

import numpy as np
import polars as pl

from jobsight.clock import format_micros
from jobsight.codes import EventCode
from jobsight.documents import condor_id
from jobsight.history.allotments import amounts_of_jobs
from jobsight.history.jobads import parse_ad
from jobsight.history.outcomes import PERSONAL_HOLD_CODES, held_by_hand
from jobsight.ids import JobId
from jobsight.learning.modeldir import ModelDir
from jobsight.questions.hold.answering.advice import (
    Advice,
    Group,
    Schedd,
    Tried,
    advise,
    by_hand,
)
from jobsight.questions.hold.answering.chances import (
    LABEL,
    Predictor,
    cluster_rate,
    log_rate,
    rule_findings,
)
from jobsight.questions.hold.answering.findings import Finding, FindingIndex, Findings, sites_alone
from jobsight.questions.hold.answering.fixes import RESOURCE_CODES, Fix, known_fix
from jobsight.questions.hold.answering.heldjob import JOB_POLICY, UNKNOWN, Held, Pool, about_job
from jobsight.questions.hold.answering.retries import fix_after_retries
from jobsight.questions.hold.answering.verdict import (
    Chance,
    Verb,
    Verdict,
    decide,
    earliest,
    hourly_delay_cost,
)
from jobsight.questions.hold.examples.decisions import HeldHistory, hold_decisions
from jobsight.questions.hold.settings import HoldSettings, Scale, resolve_scale
from jobsight.settings import Costs
from jobsight.text import printable

__all__ = ["Answer", "Answerer"]

_ERRORS = (EventCode.SHADOW_EXCEPTION, EventCode.REMOTE_ERROR)
_LIFE = (EventCode.EXECUTE, EventCode.HELD, EventCode.RELEASED)
_QUOTED = 2000
NO_MODEL = "none"
"""What an answer names as its model where nothing is predicted: a hold by the user's own hand."""


@dataclass(frozen=True)
class Answer:
    """The answer for one held job.

    Attributes:
        job: its id.
        access_point: as the log records it, else None.
        moment: µs, as of when.
        held_since: µs.
        verdict: what to do, and what that gains.
        now: chance of a release now; None where nothing gives one.
        hold_code, hold_subcode: None where the log records none.
        reason: of the hold, as the log has it.
        owner: of the job; None if the log has not recorded one by then.
        cause: number of its cause in this history (code, sub-code, masked reason).
        schedd: whom commands are addressed to.
        alike: the jobs that are held alike, this one among them, see `Findings.alike`.
        fix: what is known to fix the cause.
        tried: releases that ran into the cause again.
        unseen_policy: its own policy held it, and no source has the expression.
        evidence: findings, see `jobsight.questions.hold.answering.findings`.
        advice: what to do.
        model: what gave the probability.
        inputs: hash of what the model read; without one, of the hold and the evidence.
        vacated: it is not held, but vacated by a fault (`jobsight.history.vacates`): a release is
            that it runs again, and the codes and reason are of the vacate.
    """

    job: JobId
    access_point: str | None
    moment: int
    held_since: int
    verdict: Verdict
    now: Chance | None
    hold_code: int | None
    hold_subcode: int | None
    reason: str
    owner: str | None
    cause: int
    schedd: Schedd
    alike: Sequence[JobId]
    fix: Fix | None
    tried: Tried
    unseen_policy: bool
    evidence: list[Finding] = field(repr=False)
    advice: Advice
    model: str
    inputs: str
    vacated: bool = False

    @property
    def id(self) -> str | None:
        """The id of its document; None where no log names the access point."""
        if self.access_point is None or self.job.proc is None:
            return None
        return condor_id(self.access_point, self.job.cluster, self.job.proc)

    @property
    def place(self) -> str:
        """`` on AP``, to follow an id in texts; empty where no log names the access point."""
        return f" on {printable(self.access_point, 60)}" if self.access_point else ""

    @property
    def by_hand(self) -> bool:
        """Whether its user's own hand holds it, so that nothing is predicted."""
        return self.model == NO_MODEL

    def to_json(self) -> dict[str, Any]:
        """The answer as plain data, with the keys that the command prints."""
        return {
            "job": str(self.job),
            "id": self.id,
            "access_point": self.access_point,
            "at": format_micros(self.moment),
            "answer": self.verdict.verb,
            "vacated": self.vacated,
            "at_best": self.verdict.best and self.verdict.best.to_json(self.moment),
            "probability": None if self.now is None else self.now.probability,
            "interval": None if self.now is None else [self.now.low, self.now.high],
            "hold_code": self.hold_code,
            "hold_subcode": self.hold_subcode,
            "reason": self.reason,
            "owner": self.owner,
            "evidence": self.evidence,
            "advice": self.advice.to_json(),
            "model": self.model,
        }


class Answerer:
    """Answers for the held jobs of one history, indexed once, as of a moment.

    Nothing written after the moment asked about has any influence. May be asked from one thread at
    a time. See `jobsight.answering.question.Answerer`.

    Attributes:
        moment: µs.
    """

    def __init__(
        self,
        held: HeldHistory,
        settings: HoldSettings,
        model: ModelDir | None = None,
        moment: int | None = None,
    ) -> None:
        """Index a history.

        Args:
            held: the history.
            settings: the costs; and, without a model, what counts as success.
            model: trained as of releases; None: rules and this log's own rates answer,
                uncalibrated.
            moment: µs; None: the end of the history.
        """
        history, labels = held.history, held.labels
        self._held, self.history, self._labels = held, history, labels
        self.moment = int(history.clock.max(initial=0)) if moment is None else moment
        self._costs: Costs = settings.costs
        learned = settings if model is None else model.settings
        self._model = model
        self._pool = UNKNOWN
        self._among = set(history.jobs["access_point"].unique().drop_nulls())
        table = hold_decisions(history, learned, labels).table
        resolved = table.filter("kept", pl.col("outcome").is_not_null())
        self._index = FindingIndex(history, labels, table)
        self._memory = history.table["memory_mb"].cast(pl.Float64).fill_null(-1.0).to_numpy()
        self._in_slot = history.table["slot"].is_not_null().to_numpy()
        self._recorded = history.table["attributes"].is_not_null().to_numpy()
        self._predictor = (
            None if model is None else Predictor(model, table, labels, self._index.evidence)
        )

        def scale_of(moment: int) -> Scale:
            if model is not None:
                encoding: Scale = model.encoding
                return encoding
            return resolve_scale(resolved.filter(pl.col("resolved_time") <= moment), learned)

        self._scale_of = lru_cache(64)(scale_of)
        self._fix = partial(fix_after_retries, costs=self._costs)

    def at(self, moment: int) -> Self:
        """The same as of another moment (µs)."""
        other = copy(self)
        other.moment = moment
        return other

    def within(self, pool: Pool) -> Self:
        """The same with what is known of the jobs besides the history."""
        other = copy(self)
        other._pool = pool
        return other

    def asked(self, rows: pl.Expr) -> pl.DataFrame:
        """The held jobs that an expression selects: see `HeldHistory.held`."""
        return self._held.held(self.moment).filter(rows)

    def answer(self, asked: pl.DataFrame) -> list[Answer]:
        """The answers for n jobs of `asked`, in their order."""
        held, moment, pool = asked, self.moment, self._pool
        scale = self._scale_of(moment)
        findings = Findings(self._index, moment, scale.windows[len(scale.windows) // 2])
        mine = held.select(~held_by_hand()).to_series()
        asked = held if mine.all() else held.filter(mine)
        inputs: list[str] = []
        if self._predictor is None:
            pairs = asked.select("hold_row", "hold_code").iter_rows()
            # A policy of one job says nothing of another's, which has the same code.
            rates = [log_rate(findings, row, alone=code == JOB_POLICY) for row, code in pairs]
            chances = [[] if rate is None else [rate] for rate in rates]
        else:
            chances, inputs = self._predictor.chances(asked)
        # Holds for a resource: what else records say of the job is not needed.
        about = asked.filter(asked["hold_code"].is_in(RESOURCE_CODES).fill_null(value=False))
        runs = amounts_of_jobs(self.history, about["job"], moment, pool.logs)
        largest = pool.largest() if len(about) else {}
        rules = []
        if self._model is None:
            holds = self.history.code == EventCode.HELD
            counts = [
                int(holds[rows := self.history.rows_of(job)][rows <= row].sum())
                for job, row in asked.select("job", "hold_row").iter_rows()
            ]
            rules = rule_findings(asked, np.array(counts, np.int64))
        ads = pool.ads(held)
        answers = []
        place = 0
        for row, own in zip(held.iter_rows(named=True), mine, strict=True):
            ad = ads.get(row["job"])
            row["owner"] = row["owner"] or (ad or {}).get("Owner")
            if not own:
                answers.append(self._by_hand(row, moment, findings, ad))
                continue
            extra = rules[place : place + 1]
            what_held = replace(
                self._what_held(row, moment, ad), runs=runs.get(row["job"], ()), largest=largest
            )
            decided = self._decided(row, moment, scale, findings, what_held, chances[place], extra)
            answers.append(replace(decided, inputs=inputs[place]) if inputs else decided)
            place += 1
        return answers

    def verdicts(self, decisions: pl.DataFrame) -> list[Verdict]:
        """What the answer was at each of n decisions, as of its cut, by the model alone.

        Args:
            decisions: rows of `jobsight.questions.hold.examples.decisions.hold_decisions`.
        """
        assert self._predictor is not None
        verdicts = []
        chances, _ = self._predictor.chances(decisions)
        for row, own in zip(decisions.iter_rows(named=True), chances, strict=True):
            moment = row["time"] - 1
            findings = Findings(self._index, moment, 0.0)
            what_held = self._what_held(row, moment)
            fix = self._fix(what_held, findings, row["hold_row"])
            chance = _known_chances(what_held, findings, row["hold_row"], own)
            verdicts.append(
                self._verdict(row, moment, self._scale_of(moment), findings, chance, fix)
            )
        return verdicts

    def _verdict(
        self,
        row: dict[str, Any],
        moment: int,
        scale: Scale,
        findings: Findings,
        chances: Sequence[Chance],
        fix: Fix | None,
    ) -> Verdict:
        tried = findings.ended("job and cause", row["hold_row"]).releases
        held_for = (moment - row["hold_time"]) / 1e6
        return decide(
            chances,
            self._costs,
            delay_per_hour=hourly_delay_cost(self._costs, scale.time_scale),
            soonest=earliest(tried, scale.time_scale) - held_for,
            fix=fix,
            failed_batches=findings.ended("cause", row["hold_row"]).failed_batches,
        )

    def _decided(
        self,
        row: dict[str, Any],
        moment: int,
        scale: Scale,
        findings: Findings,
        what_held: Held,
        chances: Sequence[Chance],
        extra: list[Finding],
    ) -> Answer:
        chances = _known_chances(what_held, findings, row["hold_row"], chances)
        fix = self._fix(what_held, findings, row["hold_row"])
        verdict = self._verdict(row, moment, scale, findings, chances, fix)
        reason = row["reason"] or ""
        lasting = fix is not None and (fix.certain or fix.edit is not None)
        evidence = findings.about(row["job"], row["hold_row"], row["site"], reason, lasting=lasting)
        alike = findings.alike(row["hold_row"], reason, lasting=lasting)
        job, schedd = JobId(row["cluster"], row["proc"]), self._schedd(row["access_point"])
        leave = [fix.machine] if fix is not None and fix.machine else []
        group = Group([job], schedd=schedd, avoid=sites_alone(evidence), leave=leave)
        counts = (findings.ended(of, row["hold_row"]) for of in ("job and cause", "cause"))
        tried = Tried(*(0 if count.succeeded else count.releases for count in counts))
        unseen = what_held.policy is None and row["hold_code"] == JOB_POLICY
        advice = advise(
            verdict, fix, replace(group, vacated=bool(self.history.vacated[row["hold_row"]])),
            moment=moment, alike=alike, tried=tried, unseen_policy=unseen, reason=reason,
        )  # fmt: skip
        return self._put(
            row,
            moment,
            verdict=verdict,
            now=chances[0] if chances else None,
            alike=alike,
            fix=fix,
            tried=tried,
            unseen_policy=unseen,
            evidence=[*about_job(what_held), *evidence, *extra],
            advice=advice,
            model=LABEL if self._model is None else self._model.label,
        )

    def _by_hand(
        self,
        row: dict[str, Any],
        moment: int,
        findings: Findings,
        ad: Mapping[str, Any] | None,
    ) -> Answer:
        """A hold of the user's own hand is the user's to end: nothing is predicted.

        Of one without a code, the words may say what to fix: its own, else those of an error right
        before it.
        """
        job, schedd = JobId(row["cluster"], row["proc"]), self._schedd(row["access_point"])
        reason, evidence = row["reason"] or "", findings.own(row["job"])
        verb: Verb = "unsure"
        fix: Fix | None = None
        if row["hold_code"] in PERSONAL_HOLD_CODES:
            verb = "user_hold"
        elif not row["hold_code"]:
            held = self._what_held(row, moment, ad)
            fix = known_fix(held)
            if fix is None and (before := self._error_before(row)):
                text = f"right before it the log has: {printable(before, _QUOTED)}"
                evidence = [{"what": "exception", "text": text}, *evidence]
                fix = known_fix(replace(held, reason=before))
            verb = "fix" if fix is not None and fix.certain else verb
        leave = [fix.machine] if fix is not None and fix.machine else []
        group = Group([job], schedd=schedd, leave=leave)
        return self._put(
            row,
            moment,
            verdict=Verdict(verb, None, 0.0),
            now=None,
            alike=[job],
            fix=fix,
            tried=Tried(),
            unseen_policy=False,
            evidence=evidence,
            advice=by_hand(row["hold_code"], reason, row["owner"], group, fix),
            model=NO_MODEL,
        )

    def _error_before(self, row: dict[str, Any]) -> str | None:
        """What the log says of an error of the same run before the hold (007, 021)."""
        rows = self.history.rows_of(row["job"])
        rows = rows[(rows < row["hold_row"]) & np.isin(self.history.code[rows], _ERRORS + _LIFE)]
        if not len(rows) or self.history.code[rows[-1]] not in _ERRORS:
            return None
        text: str | None = self.history.table["reason"][int(rows[-1])]
        return text

    def _put(self, row: dict[str, Any], moment: int, **rest: Any) -> Answer:
        known = [row["hold_code"], row["hold_subcode"], row["reason"], rest["evidence"]]
        text = json.dumps(known, sort_keys=True, default=str)
        return Answer(
            job=JobId(row["cluster"], row["proc"]),
            access_point=row["access_point"],
            moment=moment,
            held_since=row["hold_time"],
            # Of a vacate its own, if the log has it.
            hold_code=self.history.table["vacate_code"][row["hold_row"]] or row["hold_code"],
            hold_subcode=row["hold_subcode"],
            reason=row["reason"] or "",
            owner=row["owner"],
            cause=int(self._labels.cause[row["hold_row"]]),
            vacated=bool(self.history.vacated[row["hold_row"]]),
            schedd=self._schedd(row["access_point"]),
            inputs=hashlib.sha256(text.encode()).hexdigest()[:16],
            **rest,
        )

    def _schedd(self, access_point: str | None) -> Schedd:
        return Schedd.of(access_point, among=self._among, here=self._pool.here)

    def _what_held(
        self, row: dict[str, Any], moment: int, now: Mapping[str, Any] | None = None
    ) -> Held:
        rows = self.history.rows_of(row["job"])
        rows = rows[self.history.clock[rows] <= moment]
        used = float(self._memory[rows].max(initial=-1.0))
        recorded = rows[self._recorded[rows]]
        ad = self.history.table["attributes"][int(recorded[-1])] if len(recorded) else None
        slots = rows[self._in_slot[rows]]
        return Held(
            code=row["hold_code"],
            subcode=row["hold_subcode"],
            reason=row["reason"] or "",
            memory_mb=used if used >= 0 else None,
            ad=(parse_ad(ad or "{}") or {}) | dict(now or {}),
            fresh=now is not None or (len(recorded) > 0 and recorded[-1] >= row["hold_row"]),
            slot=self.history.table["slot"][int(slots[-1])] if len(slots) else None,
        )


def _known_chances(
    held: Held, findings: Findings, hold_row: int, chances: Sequence[Chance]
) -> Sequence[Chance]:
    """The chances of a job that its own policy does not hold again in any case.

    Of a job that its own policy held only releases of its cluster count: equal policies hold the
    programs of others for their own reasons.
    """
    policy = held.policy
    if held.again:
        return []
    if policy is None or not policy.own or policy.when == "no longer":
        return chances
    own = cluster_rate(findings, hold_row)
    return [] if own is None else [own]
