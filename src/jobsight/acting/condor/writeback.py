"""One round of write-back: read the queue, ask for answers, plan, and edit what differs.

Each edit is under the switch (`jobsight.acting.control`) and written down before and after. What
cannot be written down, and all that follows a failed edit, is left to the next round.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import Any, Generic

from jobsight.acting.condor.plan import QUEUE, Plan, S, Said, make_plan
from jobsight.acting.decisions import DecisionLog
from jobsight.acting.edits import Edits
from jobsight.history.condor.client import CondorClient
from jobsight.history.condor.jobsets import Job, constraints, ranges
from jobsight.questions.hold.answering.answer import Answer
from jobsight.settings import ActingSettings, CondorSettings
from jobsight.text import counted

__all__ = ["EDIT_S", "Judge", "Rounds", "Writeback", "take_back"]

Judge = Callable[[], Sequence[Answer]]
"""The answers as of now for all held jobs of the access point, those first that are worth most."""

EDIT_S = 4.0
"""Seconds after which an edit is stopped, so that `jobsight acting off` need not wait longer."""
_MOST_EDITS = 100
"""Edits of one round; what is left comes in the next one."""
_MINUTE = 60
_MARKED, _TAKEN_BACK = "JobsightAct =?= true", {"JobsightAct": "undefined"}


class Rounds(ABC, Generic[S]):
    """Write-back into jobs of one schedd. One thread, in the block of `Switch.alone`."""

    status: int
    """JobStatus of the jobs."""
    what: str
    """One of them, in words."""

    def __init__(self, condor: CondorSettings, settings: ActingSettings) -> None:
        """Nothing is asked or done yet.

        Args:
            condor: how HTCondor's tools are run.
            settings: mode, caps and folder.
        """
        self.client = CondorClient(condor)
        self.edits = Edits(settings)
        self._editor = CondorClient(
            condor.model_copy(update={"timeout": min(condor.timeout, EDIT_S)})
        )

    @abstractmethod
    def plan(self) -> Plan[S]:
        """What a round would do now.

        Raises:
            JobsightError: the queue or the history cannot be read.
        """

    def round(self) -> str:
        """Do what is to be done now; what was done, in a line.

        Raises:
            JobsightError: the queue, the history, or the decision log; or an edit failed. The rest
                is left to the next round.
        """
        edits = self.edits
        if refusal := edits.switch.refusal():
            return f"nothing is done: {refusal}"
        plan = self.plan()
        edits.log.write("round", mode=edits.mode, asked_at=plan.asked_at, jobs=plan.counts)
        jobs = counted(next(iter(plan.counts.values())), self.what)
        if edits.mode == "observe":
            lines = edits.observe(
                _decisions(plan), lambda ids: list(map(str, ranges(ids))), plan.asked_at
            )
            return f"{jobs}, {counted(lines, 'decision')} written down"
        edited, left, marked = 0, _MOST_EDITS, plan.counts.get("marked")
        present = f"JobStatus == {self.status} && EnteredCurrentStatus < {plan.asked_at}"
        for change in plan.changes:
            said = change.said
            for part, constraint in constraints(change.jobs):
                # The policy must not go on with an answer that is taken back.
                if left <= 0 and said is not None:
                    return f"{jobs}, {edited:,} edited, the rest in the next round"
                where = f"{_MARKED if said is None else present} && {constraint}"
                values = _TAKEN_BACK if said is None else said.assignments(plan.asked_at)
                fields = {**change.to_json(), "jobs": list(map(str, part))}
                if marked is not None:
                    count = sum(each.last - each.first + 1 for each in part)
                    fields["marks"] = count if values.get("JobsightAct") == "true" else 0
                edit = partial(self._editor.edit, where, values)
                done = edits.make(edit, fields, plan.asked_at)
                if isinstance(done, str):
                    return f"{jobs}, {edited:,} edited, then stopped: {done}"
                edited, left = edited + done, left - 1
        if plan.renew:
            # Of holds that the answers to act on were given for alone.
            where = f"{_MARKED} && JobStatus == 5 && EnteredCurrentStatus < JobsightAsOf"
            edit = partial(self._editor.edit, where, {"JobsightAsOf": str(plan.asked_at)})
            fields = {"said": "the answers to act on are as of now"}
            if isinstance(done := edits.make(edit, fields, plan.asked_at), str):
                return f"{jobs}, {edited:,} edited, then stopped: {done}"
        policy = "" if marked is None else f", {marked:,} for the policy to act on"
        return f"{jobs}, {edited:,} edited{policy}"


class Writeback(Rounds[Said]):
    """Write-back into the held jobs of a schedd.

    Args:
        schedd: name of this machine's schedd.
        judge: gives the answers.
    """

    status, what = 5, "held job"

    def __init__(
        self, condor: CondorSettings, settings: ActingSettings, schedd: str, judge: Judge
    ) -> None:
        super().__init__(condor, settings)
        self._settings, self._schedd, self._judge = settings, schedd, judge

    def plan(self) -> Plan[Said]:
        """See `Rounds`."""
        asked_at = int(time.time())
        ads = self.client.all_held(QUEUE)
        answers = self._judge() if ads else ()
        return make_plan(
            ads, answers, self._settings, asked_at=asked_at, schedd=self._schedd,
            marked_lately=self.edits.intended("marks", asked_at - _MINUTE),
        )  # fmt: skip


def _decisions(plan: Plan[S]) -> Iterator[tuple[dict[Job, Hashable], dict[str, Any]]]:
    """What is decided of each job of a group, of its present hold, and the fields for the log."""
    for change in plan.changes:
        said = change.said
        key = (said and tuple(vars(said)[name] for name in said.decisive), change.refused)
        yield {job: (plan.since.get(job, 0), key) for job in change.jobs}, change.to_json()


def take_back(condor: CondorSettings, log: DecisionLog) -> int:
    """Take back, in one edit, all that a policy could act on; how many jobs that was.

    Raises:
        SourceError: the schedd gave no answer or refused: what is marked expires by itself.
        OutputError: the decision log cannot be written; it was taken back all the same.
    """
    done = CondorClient(condor).edit(_MARKED, _TAKEN_BACK)
    log.write("off", edited=done)
    return done
