"""What to do about a held job: steps in words, with commands to copy.

Commands hold nothing but HTCondor's own words and whole numbers: no text from a log ever stands in
one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from jobsight.clock import format_micros, format_span
from jobsight.ids import JobId
from jobsight.questions.hold.answering.mending import Mend
from jobsight.questions.hold.answering.verdict import Chance, Verdict
from jobsight.questions.hold.answering.wording import chance_words
from jobsight.text import counted

__all__ = ["TRIAL", "WAIT_ALIKE", "Advice", "Group", "Step", "advise", "by_hand"]

WAIT_ALIKE = 5
"""Jobs that must wait alike before releasing a few of them as a trial is advised."""

TRIAL = 3
"""How many to release as a trial."""


@dataclass(frozen=True)
class Step:
    """One thing to do.

    Attributes:
        text: what, in a sentence.
        command: that does it, to copy; None where there is none.
    """

    text: str
    command: str | None = None


@dataclass(frozen=True)
class Advice:
    """What to do: steps in the order in which they are to be done, a release after its fix."""

    steps: Sequence[Step]

    def to_json(self) -> dict[str, Any]:
        """As plain data: ``{"steps": [{"text": …, "command": …}, …]}``."""
        return asdict(self)

    def numbered(self) -> list[Step]:
        """The steps, numbered in their texts where there are several."""
        if len(self.steps) == 1:
            return list(self.steps)
        return [replace(step, text=f"{k}. {step.text}") for k, step in enumerate(self.steps, 1)]


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

    def command(self, tool: str) -> str:
        """The command by which condor_release or condor_rm names these jobs."""
        return f"{tool} {self._arguments()}"

    def edit(self, attribute: str, value: int) -> str:
        """The command that sets a job attribute to a whole number."""
        return f"condor_qedit {self._edit_arguments()} {attribute} {value}"

    def _arguments(self) -> str:
        """These jobs as condor_release and condor_rm take them: ids, or a constraint for many."""
        if self.cause is None or len(self.jobs) <= TRIAL:
            return " ".join(str(job) for job in self.jobs)
        return self._constraint(*self.cause)

    def _edit_arguments(self) -> str:
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
        alike: jobs that are held alike, see `Findings.alike`.
    """
    release = group.command("condor_release")
    if verdict.verb == "release":
        why = "" if verdict.why is None else f": {verdict.why}"
        return Advice([Step(f"release it as it is{why}" + _hint(mend), release)])
    if verdict.verb == "wait" and verdict.best is not None:
        why = "" if verdict.why is None else f"; {verdict.why}"
        return Advice([_wait(verdict.best, why + _hint(mend), release, moment)])
    if verdict.verb == "fix" and mend is not None:
        return Advice([_fix(mend, group), Step("then release it", release)])
    if verdict.verb == "remove":
        text = "remove it: releases as it is have failed before, and no mend is known"
        return Advice([Step(text, group.command("condor_rm"))])
    return _unsure(mend, group, alike)


def by_hand(code: int | None) -> Advice:
    """The advice for a job that is held by its user's own hand, or for a reason not told."""
    if code is None:
        text = "the log tells no hold code, so nothing can be said of this hold"
    elif code in (15, 16):
        text = "it was submitted on hold or awaits its input: no hold to decide on"
    elif code == 1:
        text = "its user holds it: release it when its user wants it to run"
    else:
        text = f"code {code} is no hold that this question is about"
    return Advice([Step(text)])


def _hint(mend: Mend | None) -> str:
    return "" if mend is None else f"; should it be held again: {mend.text}"


def _wait(best: Chance, remark: str, release: str, moment: int) -> Step:
    """Wait, then release, by the command ``at``: copied too early, it still waits."""
    until = moment + round(best.wait * 1e6)
    # `at` takes whole minutes: the next one.
    minute = re.sub(r"\D", "", format_micros(until + 59_999_999))[:12]
    chance = chance_words(best.probability, best.low, best.high)
    return Step(
        f"wait {format_span(best.wait)}, until {format_micros(until)}, then release it: "
        f"{chance} to succeed then{remark}",
        f'echo "{release}" | TZ=UTC at -t {minute}',
    )


def _fix(mend: Mend, group: Group) -> Step:
    return Step(mend.text, None if mend.edit is None else group.edit(*mend.edit))


def _unsure(mend: Mend | None, group: Group, alike: Sequence[JobId]) -> Advice:
    few = replace(group, jobs=list(alike)[:TRIAL], cause=None)
    if len(alike) >= WAIT_ALIKE:
        clusters = len({job.cluster for job in alike})
        of = "" if clusters == 1 else f"of {clusters:,} clusters "
        text = (
            f"{counted(len(alike), 'job')} {of}wait alike: release {TRIAL} of them as a trial, and "
            "ask again when these have ended"
        )
        fixes = [] if mend is None else [_fix(mend, few)]
        return Advice([*fixes, Step(text, few.command("condor_release"))])
    little = "too little is known to say whether it would succeed as it is"
    if mend is None:
        return Advice([Step(little)])
    fix = _fix(mend, group)
    steps = [replace(fix, text=f"{fix.text}; {little}")]
    return Advice([*steps, Step("then release it", group.command("condor_release"))])
