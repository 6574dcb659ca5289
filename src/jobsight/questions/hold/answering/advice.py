"""What to do about a held job: steps in words, with commands to copy.

Commands hold nothing but HTCondor's own words, whole numbers, and the names of a schedd and of
sites where they are plain: no other text from a log is ever in one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from jobsight.clock import format_micros, format_span
from jobsight.format import chance
from jobsight.format import moment as shown
from jobsight.ids import JobId
from jobsight.questions.hold.answering.fixes import Fix
from jobsight.questions.hold.answering.verdict import Verdict
from jobsight.text import counted, printable

__all__ = ["TRIAL", "WAIT_ALIKE", "Advice", "Group", "Schedd", "Step", "Tried", "advise", "by_hand",
           "other_holder"]  # fmt: skip

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


_SITE = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}", re.ASCII)
_MACHINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}", re.ASCII)
_MOST_MACHINES = 5
"""Where more than so many are to blame, it is not them."""
_SCHEDD = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9@._-]{0,254}", re.ASCII)


@dataclass(frozen=True)
class Schedd:
    """Whom commands are addressed to: equal ids of two access points are different jobs.

    Attributes:
        option: ``-name NAME``; empty for this machine's own; None where no command may be given.
        remark: for the steps that have, or lack, a command; may be empty.
    """

    option: str | None = ""
    remark: str = ""

    @classmethod
    def of(cls, access_point: str | None, *, among: Collection[str], here: str | None) -> Schedd:
        """The schedd of an access point.

        Args:
            access_point: as the log names it (hostile text); None: it does not.
            among: all access points that the history names.
            here: name of this machine's schedd, where it is known.
        """
        if access_point is None and not among:
            return cls(remark=" (on the access point of the log, which does not name it)")
        if here is not None and {name.lower() for name in among} == {here.lower()}:
            return cls()
        if access_point is not None and _SCHEDD.fullmatch(access_point):
            return cls(f"-name {access_point}")
        name = "no name" if access_point is None else repr(printable(access_point, 60))
        return cls(
            None,
            f" (no command is given: the log has {name} for its access point, which names no "
            "schedd; set access_point)",
        )


@dataclass(frozen=True)
class Group:
    """Held jobs of one cluster, and how they may be named together.

    Attributes:
        jobs: those that the command is for, in order.
        cause: hold code and sub-code that, in their cluster, these and no other held jobs have;
            None if others have them too, or if the log has none.
        schedd: that has them.
        avoid: sites that hold runs for this cause far more often than others, as the log names
            them (hostile text).
        leave: machines that are to blame for the hold, as the log names them (hostile text).
        vacated: they are not held, but vacated by a fault, and run again by themselves.
    """

    jobs: Sequence[JobId]
    cause: tuple[int, int] | None = None
    schedd: Schedd = Schedd()
    avoid: Sequence[str] = ()
    leave: Sequence[str] = ()
    vacated: bool = False

    def step(self, text: str, tool: str, form: str = "{}") -> Step:
        """A step whose command is a tool of HTCondor for these jobs, put into `form`."""
        if self.cause is None or len(self.jobs) <= TRIAL:
            jobs = " ".join(str(job) for job in self.jobs)
        else:
            jobs = self._constraint(*self.cause)
        command = self._command(tool, jobs)
        return Step(text + self.schedd.remark, command and form.format(command))

    def edit(self, attribute: str, value: int | str) -> str | None:
        """The command that sets a job attribute to a whole number, or to what a shell makes."""
        if len(self.jobs) == 1:
            jobs = str(self.jobs[0])
        elif self.cause is not None:
            jobs = self._constraint(*self.cause)
        else:
            procs = " || ".join(f"ProcId == {job.proc}" for job in self.jobs)
            jobs = f"-constraint 'ClusterId == {self.jobs[0].cluster} && ({procs})'"
        return self._command("condor_qedit", f"{jobs} {attribute} {value}")

    def policies(self) -> str | None:
        """The command that shows the policies of the first job."""
        asked = f"{self.jobs[0]} -af:ln PeriodicHold OnExitHold PeriodicRemove"
        return self._command("condor_q", asked)

    def elsewhere(self) -> list[Step]:
        """The step that keeps the jobs off what is to be avoided; none where names are odd."""
        sites, machines = self.avoid, self.leave
        clauses, texts = "", []
        if sites and all(map(_SITE.fullmatch, sites)):
            names = "|".join(sites).replace(".", "[.]")
            clauses += (
                f' && !stringListIMember(TARGET.GLIDEIN_Site ?: "", "{",".join(sites)}")'
                f' && !regexp("[@.]({names})(@|$)", TARGET.Name, "i")'
            )
            texts.append(f"{' and '.join(sites)}, where this cause holds far more runs")
        if 0 < len(machines) <= _MOST_MACHINES and all(map(_MACHINE.fullmatch, machines)):
            clauses += "".join(f' && TARGET.Machine =!= "{name}"' for name in machines)
            texts.append(f"{' and '.join(machines)} (Requirements)")
        if not texts:
            return []
        old = self._command("condor_q", f"{self.jobs[0]} -af:r Requirements")
        text = f"keep it off {', and off '.join(texts)}"
        return [Step(text, self.edit("Requirements", f"\"($({old}))\"'{clauses}'"))]

    def _command(self, tool: str, arguments: str) -> str | None:
        if self.schedd.option is None:
            return None
        return " ".join(filter(None, (tool, self.schedd.option, arguments)))

    def _constraint(self, code: int, subcode: int) -> str:
        # Never the bare cluster: condor_rm would remove its running jobs as well.
        return (
            f"-constraint 'ClusterId == {self.jobs[0].cluster} && JobStatus == 5 && "
            f"HoldReasonCode == {code} && HoldReasonSubCode == {subcode}'"
        )


@dataclass(frozen=True)
class Tried:
    """Releases of jobs as they were that ran into the cause again; 0 if any succeeded.

    Attributes:
        own: of the job itself, for this cause.
        alike: of all jobs with this cause.
    """

    own: int = 0
    alike: int = 0


def advise(
    verdict: Verdict,
    fix: Fix | None,
    group: Group,
    *,
    moment: int,
    alike: Sequence[JobId],
    tried: Tried = Tried(),
    unseen_policy: bool = False,
    reason: str = "",
) -> Advice:
    """The advice that goes with a verdict.

    Args:
        verdict: of the decision table.
        fix: what is known to fix the cause.
        group: the jobs it is for.
        moment: µs, now.
        alike: jobs that are held alike, see `Findings.alike`.
        tried: releases that failed.
        unseen_policy: its own policy held it, and no source has the expression.
        reason: of the hold (hostile text), to be shown where nothing else says what to do.
    """
    if group.vacated and (runs_on := _of_vacated(verdict, fix, group, tried, reason)):
        return runs_on
    advice = _of_held(verdict, fix, group, moment, alike, tried, unseen_policy, reason)
    if not group.vacated:
        return advice
    # What is to be done takes time; until then it must not run.
    return Advice([group.step("hold it: it runs again by itself", "condor_hold"), *advice.steps])


def _of_held(
    verdict: Verdict,
    fix: Fix | None,
    group: Group,
    moment: int,
    alike: Sequence[JobId],
    tried: Tried,
    unseen_policy: bool,
    reason: str,
) -> Advice:
    """The advice for jobs that are held."""
    if verdict.verb == "release":
        why = "" if verdict.why is None else f": {verdict.why}"
        release = group.step(f"release it as it is{why}" + _hint(fix), "condor_release")
        return Advice([*group.elsewhere(), release])
    if verdict.verb == "wait" and verdict.best is not None:
        why = "" if verdict.why is None else f"; {verdict.why}"
        best, until = verdict.best, moment + round(verdict.best.wait * 1e6)
        # `at` takes whole minutes, the next one: copied too early, the command still waits.
        minute = re.sub(r"\D", "", format_micros(until + 59_999_999))[:12]
        odds = chance(best.probability, best.low, best.high)
        text = (
            f"wait {format_span(best.wait)}, until {shown(until)}, then release it: {odds} to "
            f"succeed then{why}{_hint(fix)}"
        )
        later = group.step(text, "condor_release", f'echo "{{}}" | TZ=UTC at -t {minute}')
        return Advice([*group.elsewhere(), later])
    if verdict.verb == "fix" and fix is not None:
        return Advice([*_fix(fix, group), *_off(fix, group), _release(group)])
    if verdict.verb == "remove":
        text = "remove it: releases as it is have failed before, and no fix is known"
        return Advice([group.step(text, "condor_rm")])
    if fix is None and unseen_policy and len(alike) < WAIT_ALIKE:
        text = (
            "its own policy holds it, and would hold it again if nothing changes: see what its "
            "PeriodicHold or OnExitHold asks for, then fix that, or change the policy "
            f"(condor_qedit); its reason{_quoted(reason)}"
        )
        return Advice([Step(text, group.policies()), _release(group)])
    return _unsure(fix, group, alike, tried, reason)


def _of_vacated(
    verdict: Verdict, fix: Fix | None, group: Group, tried: Tried, reason: str
) -> Advice | None:
    """The advice for jobs that are to run again as they are, or not at all; None: neither."""
    if verdict.verb == "release":
        why = "" if verdict.why is None else f": {verdict.why}"
        text = (
            f"let it run again as it is{why}; HTCondor starts it by itself, after the cool-down of "
            f"its access point if that has one{_hint(fix)}"
        )
        return Advice([*group.elsewhere(), Step(text)])
    if verdict.verb == "remove":
        text = "remove it: runs as it is have failed before, and no fix is known"
        return Advice([group.step(text, "condor_rm")])
    if verdict.verb != "unsure" or (fix is not None and not fix.passing):
        return None
    if max(tried.own, tried.alike // TRIAL):
        failed = counted(max(tried.own, tried.alike), "run")
        text = (
            f"hold it: {failed} after this cause failed, and none succeeded, so another as it is "
            "would most likely fail too; fix what its reason names, or show it to those who run "
            f"the access point{_quoted(reason)}"
        )
        return Advice([group.step(text, "condor_hold")])
    text = (
        "too little is known to say whether it would succeed: let it run again by itself and see; "
        f"should it be vacated or held again, fix what its reason names{_quoted(reason)}"
    )
    return Advice([*group.elsewhere(), Step(text)])


_SUBMITTED_ON_HOLD, _SPOOLING = 15, 16


def by_hand(
    code: int | None, reason: str, owner: str | None, group: Group, fix: Fix | None = None
) -> Advice:
    """The advice for a job that is held by a person's own hand, or for an unknown reason.

    Args:
        code: of the hold.
        reason: of the hold (hostile text).
        owner: of the job; None if the log has not recorded one.
        group: the jobs it is for.
        fix: what is known to fix the cause that the words name.
    """
    if code == _SUBMITTED_ON_HOLD:
        text = "nothing to decide: it was submitted on hold; release it when it is to run"
        return Advice([group.step(text, "condor_release")])
    by_user = "nothing to decide: its user holds it, and releases it when it is to run"
    if holder := other_holder(code, reason, owner):
        by_user = (
            f"nothing to decide here: {holder} holds it, not its owner (root and administrators "
            "act as condor): ask them why, and what to change, before it is released"
        )
    if code == 1:
        return Advice([Step(by_user)])
    if code == _SPOOLING:
        text = "nothing to decide: its input is being spooled, after which it is released by itself"
        return Advice([Step(text)])
    if fix is not None:
        return Advice([*_fix(fix, group), *_off(fix, group), _release(group)])
    unknown = "the log has no hold code" if code is None else f"hold code {code} names no cause"
    text = f"{unknown}: fix what its reason says{_quoted(reason)}"
    if not reason:
        text = f"{unknown}, nor is there a reason: see its output, and the access point's ShadowLog"
    return Advice([Step(text), _release(group)])


def _quoted(reason: str) -> str:
    return f': "{printable(reason, 480)}"' if reason else ""


_HOLDER = re.compile(r"\(by user ([^()]{1,100})\)")
_SYSTEM_USERS = ("condor", "root")


def other_holder(code: int | None, reason: str, owner: str | None) -> str | None:
    """Who holds a job with code 1 that is not its owner, to print; None if that is not known.

    Args:
        code: of the hold.
        reason: of the hold (hostile text).
        owner: of the job; None if the log has not recorded one.
    """
    holder = _HOLDER.search(reason[:2000]) if code == 1 else None
    if holder is None:
        return None
    name = holder[1].partition("@")[0]
    is_other = name in _SYSTEM_USERS if owner is None else name != owner.partition("@")[0]
    return printable(name, 60) if is_other else None


def _hint(fix: Fix | None) -> str:
    return "" if fix is None or fix.passing else f"; should it be held again: {fix.text}"


def _off(fix: Fix, group: Group) -> list[Step]:
    """What keeps the jobs off a machine that is to blame."""
    return [] if fix.machine is None else group.elsewhere()


def _release(group: Group) -> Step:
    return group.step("then release it", "condor_release")


def _fix(fix: Fix, group: Group) -> list[Step]:
    steps = [Step(fix.text, None if fix.edit is None else group.edit(*fix.edit))]
    if fix.policy is not None:
        text = f"or, if it is to run on all the same, switch {fix.policy} off"
        steps.append(Step(text, group.edit(fix.policy, "false")))
    return steps


def _unsure(
    fix: Fix | None, group: Group, alike: Sequence[JobId], tried: Tried, reason: str
) -> Advice:
    if (fix is None or fix.passing) and max(tried.own, tried.alike // TRIAL):
        own = f"it was released for this cause {counted(tried.own, 'time')} and held again"
        others = f"{counted(tried.alike, 'release')} with this cause failed, and none succeeded"
        text = (
            f"{own if tried.alike < TRIAL else others}: another as it is would most likely fail "
            "too, so first fix what its reason names, or show it to those who run the access point"
            f"{_quoted(reason)}"
        )
        return Advice([Step(text)])
    few = replace(group, jobs=list(alike)[:TRIAL], cause=None)
    # Jobs that the fix was not made for may have asked for more than its figure.
    fits = fix is None or fix.edit is None or set(few.jobs) <= set(group.jobs)
    if len(alike) >= WAIT_ALIKE and fits and tried.alike < TRIAL:
        clusters = len({job.cluster for job in alike})
        of = "" if clusters == 1 else f"of {clusters:,} clusters "
        text = (
            f"{counted(len(alike), 'job')} {of}wait alike: release {TRIAL} of them as a trial, and "
            "ask again when these have ended"
        )
        fixes = [] if fix is None or fix.passing else _fix(fix, few)
        return Advice([*fixes, *few.elsewhere(), few.step(text, "condor_release")])
    little = "too little is known to say whether it would succeed as it is"
    if fix is None:
        text = (
            f"{little}: release it once and see; should it be held again, fix what its reason names"
        )
        return Advice([group.step(text + _quoted(reason), "condor_release")])
    if fix.passing:
        return Advice([group.step(f"{fix.text}; {little}", "condor_release")])
    step, *more = _fix(fix, group)
    step = replace(step, text=f"{step.text}; {little}")
    return Advice([step, *more, *_off(fix, group), _release(group)])
