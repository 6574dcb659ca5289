"""What to do about a held job, in words and as a command to copy.

Commands hold nothing but HTCondor's own words and whole numbers: no text from a log ever stands in
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jobsight.clock import format_micros, format_span
from jobsight.ids import JobId
from jobsight.questions.hold.answering.mending import Mend
from jobsight.questions.hold.answering.verdict import Verdict
from jobsight.text import counted

__all__ = ["TRIAL", "WAIT_ALIKE", "Advice", "Group", "advise", "by_hand"]

WAIT_ALIKE = 5
"""Jobs that must wait alike before releasing a few of them as a trial is advised."""

TRIAL = 3
"""How many to release as a trial."""


@dataclass(frozen=True)
class Advice:
    """What to do.

    Attributes:
        text: a sentence or two.
        command: to copy; None where there is none.
    """

    text: str
    command: str | None


@dataclass(frozen=True)
class Group:
    """Held jobs of one cluster, and how they may be named together.

    Attributes:
        jobs: those that the command is for, in order.
        cause: hold code and sub-code that, in their cluster, these and no other held jobs have;
            None if others have them too, or if the log tells none.
    """

    jobs: Sequence[JobId]
    cause: tuple[int, int] | None = None

    def arguments(self) -> str:
        """These jobs as condor_release and condor_rm take them: ids, or a constraint for many."""
        if self.cause is None or len(self.jobs) <= TRIAL:
            return " ".join(str(job) for job in self.jobs)
        return self._constraint(*self.cause)

    def edit_arguments(self) -> str:
        """These jobs as condor_qedit takes them: one id, or a constraint."""
        if len(self.jobs) == 1:
            return str(self.jobs[0])
        if self.cause is not None:
            return self._constraint(*self.cause)
        procs = " || ".join(f"ProcId == {job.proc}" for job in self.jobs)
        return f"-constraint 'ClusterId == {self.jobs[0].cluster} && ({procs})'"

    def _constraint(self, code: int, subcode: int) -> str:
        # Never the bare cluster: condor_rm would remove its running jobs as well.
        return (
            f"-constraint 'ClusterId == {self.jobs[0].cluster} && JobStatus == 5 && "
            f"HoldReasonCode == {code} && HoldReasonSubCode == {subcode}'"
        )


def advise(
    verdict: Verdict, mend: Mend | None, group: Group, *, moment: int, alike: Sequence[JobId]
) -> Advice:
    """The advice that goes with a verdict.

    Args:
        verdict: of the decision table.
        mend: what is known to mend the cause.
        group: the jobs it is for.
        moment: µs, now.
        alike: jobs of the same cluster that wait with the same cause.
    """
    names = group.arguments()
    release = f"condor_release {names}"
    if verdict.verb == "release":
        return Advice("release it as it is" + _hint(mend), release)
    if verdict.verb == "wait" and verdict.best is not None:
        wait = verdict.best.wait
        until = format_micros(moment + round(wait * 1e6))
        text = f"wait {format_span(wait)}, until {until}, then release it"
        return Advice(text + _hint(mend), release)
    if verdict.verb == "fix" and mend is not None:
        if mend.edit is None:
            return Advice(f"{mend.text}; then release it", release)
        attribute, value = mend.edit
        edit = f"condor_qedit {group.edit_arguments()} {attribute} {value}"
        return Advice(f"{mend.text}; then release it", f"{edit} && {release}")
    if verdict.verb == "remove":
        text = "remove it: releases as it is have failed before, and no mend is known"
        return Advice(text, f"condor_rm {names}")
    return _unsure(mend, alike)


def by_hand(code: int | None) -> Advice:
    """The advice for a job that is held by its user's own hand, or for a reason not told."""
    if code is None:
        return Advice("the log tells no hold code, so nothing can be said of this hold", None)
    if code in (15, 16):
        return Advice("it was submitted on hold or awaits its input: no hold to decide on", None)
    if code == 1:
        return Advice("its user holds it: release it when its user wants it to run", None)
    return Advice(f"code {code} is no hold that this question is about", None)


def _hint(mend: Mend | None) -> str:
    return "" if mend is None else f"; should it be held again: {mend.text}"


def _unsure(mend: Mend | None, alike: Sequence[JobId]) -> Advice:
    first = "" if mend is None else f"{mend.text}, then release it; or: "
    if len(alike) < WAIT_ALIKE:
        little = "too little is known to say whether it would succeed as it is"
        return Advice(little if mend is None else f"{mend.text}, then release it; {little}", None)
    few = Group(list(alike)[:TRIAL])
    return Advice(
        f"{first}{counted(len(alike), 'job')} wait alike: release {TRIAL} of them as a trial, and "
        "ask again when these have ended",
        f"condor_release {few.arguments()}",
    )
