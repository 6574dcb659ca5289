"""One round of write-back: read the queue, ask for answers, plan, and edit what differs.

Each edit is under the switch (`jobsight.acting.control`) and written down before and after. What
cannot be written down, and all that follows a failed edit, is left to the next round.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from jobsight.acting.condor.plan import QUEUE, Change, Plan, Said, make_plan
from jobsight.acting.decisions import DecisionLog
from jobsight.acting.edits import Edits
from jobsight.history.condor.client import CondorClient
from jobsight.history.condor.jobsets import Job, constraints, ranges
from jobsight.questions.hold.answering.answer import Answer
from jobsight.settings import ActingSettings, CondorSettings, Mode
from jobsight.text import counted

__all__ = ["EDIT_S", "MOST_EDITS", "Judge", "Writeback", "editor", "spelled", "take_back"]

Judge = Callable[[], Sequence[Answer]]
"""The answers as of now for all held jobs of the access point, those first that are worth most."""

EDIT_S = 4.0
"""Seconds after which an edit is stopped, so that `jobsight acting off` need not wait longer."""
MOST_EDITS = 100
"""Edits of one round; what is left comes in the next one."""
_MINUTE = 60
_MARKED = "JobsightAct =?= true"


class Writeback:
    """Write-back into the held jobs of one schedd. One thread, in the block of `Switch.alone`."""

    def __init__(
        self,
        condor: CondorSettings,
        settings: ActingSettings,
        mode: Mode,
        schedd: str,
        judge: Judge,
    ) -> None:
        """Nothing is asked or done yet.

        Args:
            condor: how HTCondor's tools are run.
            settings: caps and folder.
            mode: observe, advise or enforce.
            schedd: name of this machine's schedd.
            judge: gives the answers.
        """
        self._client = CondorClient(condor)
        self._editor = editor(condor)
        self._settings = settings
        self._schedd = schedd
        self._judge = judge
        self._edits = Edits(settings, mode)

    def plan(self) -> Plan:
        """What a round would do now.

        Raises:
            JobsightError: the queue or the history cannot be read.
        """
        asked_at = int(time.time())
        ads = self._client.all_held(QUEUE)
        answers = self._judge() if ads else ()
        lately = self._edits.intended("marks", asked_at - _MINUTE)
        return make_plan(
            ads, answers, self._settings, self._edits.mode,
            asked_at=asked_at, schedd=self._schedd, marked_lately=lately,
        )  # fmt: skip

    def round(self) -> str:
        """Do what is to be done now; what was done, in a line.

        Raises:
            JobsightError: the queue, the history, or the decision log; or an edit failed. The rest
                is left to the next round.
        """
        edits = self._edits
        if refusal := edits.switch.refusal():
            return f"nothing is done: {refusal}"
        plan = self.plan()
        edits.log.write("round", mode=edits.mode, asked_at=plan.asked_at, jobs=plan.counts)
        held = counted(plan.counts["held"], "held job")
        if edits.mode == "observe":
            lines = edits.observe(_decisions(plan), spelled, plan.asked_at)
            return f"{held}, {counted(lines, 'decision')} written down"
        edited, left = 0, MOST_EDITS
        for change in plan.changes:
            for part, constraint in constraints(change.jobs):
                # The policy must not go on with an answer that is taken back.
                if left <= 0 and change.said is not None:
                    return f"{held}, {edited:,} edited, the rest in the next round"
                fields = {**change.to_json(), "jobs": [str(jobs) for jobs in part]}
                where = f"JobStatus == 5 && EnteredCurrentStatus < {plan.asked_at} && {constraint}"
                said = change.said
                values = said.assignments(plan.asked_at) if said else {"JobsightAct": "undefined"}
                if said is None:
                    where = f"{_MARKED} && {constraint}"
                count = sum(jobs.last - jobs.first + 1 for jobs in part)
                marks = count if said is not None and said.act else 0
                done = self._edit(where, values, {**fields, "marks": marks}, plan.asked_at)
                if isinstance(done, str):
                    return f"{held}, {edited:,} edited, then stopped: {done}"
                edited, left = edited + done, left - 1
        if plan.renew and isinstance(done := self._renew(plan), str):
            return f"{held}, {edited:,} edited, then stopped: {done}"
        return f"{held}, {edited:,} edited, {plan.counts['marked']:,} for the policy to act on"

    def _renew(self, plan: Plan) -> int | str:
        """Renew the time of the answers to act on: of holds that these were given for alone."""
        where = f"{_MARKED} && JobStatus == 5 && EnteredCurrentStatus < JobsightAsOf"
        fields = {"said": "the answers to act on are as of now"}
        return self._edit(where, {"JobsightAsOf": str(plan.asked_at)}, fields, plan.asked_at)

    def _edit(
        self, where: str, values: Mapping[str, str], fields: Mapping[str, Any], asked_at: int
    ) -> int | str:
        """How many jobs were changed, or why none may be."""
        return self._edits.make(lambda: self._editor.edit(where, values), fields, asked_at)


def _decisions(plan: Plan) -> Iterator[tuple[dict[Job, object], dict[str, Any]]]:
    """What is decided of each job of a group, of its present hold, and the fields for the log."""
    for change in plan.changes:
        key = _key(change)
        yield {job: (plan.since.get(job, 0), key) for job in change.jobs}, change.to_json()


def spelled(jobs: Iterable[Job]) -> list[str]:
    """Jobs as the decision log has them."""
    return [str(each) for each in ranges(jobs)]


def take_back(condor: CondorSettings, log: DecisionLog) -> int:
    """Take back, in one edit, all that a policy could act on; how many jobs that was.

    Raises:
        SourceError: the schedd gave no answer or refused: what is marked expires by itself.
        OutputError: the decision log cannot be written; it was taken back all the same.
    """
    done = CondorClient(condor).edit(_MARKED, {"JobsightAct": "undefined"})
    log.write("off", edited=done)
    return done


def editor(condor: CondorSettings) -> CondorClient:
    """What edits: each call ends within `EDIT_S`."""
    return CondorClient(condor.model_copy(update={"timeout": min(condor.timeout, EDIT_S)}))


def _key(change: Change[Said]) -> str:
    """A decision, without when a release is advised, which moves on from round to round."""
    said = change.said
    shown = None if said is None else (said.verb, said.probability, said.reason, said.act)
    return f"{shown} {change.refused}"
