"""What to fix, by the cause of a hold and by how retries of the same program ended here."""

from __future__ import annotations

from dataclasses import replace

from jobsight.learning.costs import release_threshold
from jobsight.questions.hold.answering.chances import log_rate
from jobsight.questions.hold.answering.findings import Findings
from jobsight.questions.hold.answering.fixes import Fix, known_fix
from jobsight.questions.hold.answering.heldjob import Held, Policy
from jobsight.settings import Costs
from jobsight.text import counted

__all__ = ["chance_left", "fix_after_retries"]

_FIXABLE, _OTHER = 2.0, 4.0
"""How alike programs held for one cause are, whose fix is known or not: the releases of one that
weigh as much as the rate of all. Of powers of 2 these have the least log loss over four logs."""


def fix_after_retries(held: Held, findings: Findings, hold_row: int, costs: Costs) -> Fix | None:
    """What to fix, and whether before any release (`Fix.first`); None where that is unknown.

    A retry of the same owner that succeeded shows that its cause needs no fix. Without a success in
    its cluster, failures there show in the end that it does (`chance_left`).

    Args:
        held: what is known of the job.
        findings: as of the moment.
        hold_row: of its hold.
        costs: of a wasted run and of a lost job.
    """
    siblings = findings.ended("cluster and cause", hold_row)
    fix, retried = _policy_fix(held, known_fix(held)), findings.retried(hold_row)
    if held.again:
        return fix
    if held.policy is not None:
        retried = siblings  # programs of others may meet the same policy for other reasons
    if fix is not None and fix.first and retried.succeeded:
        fix = fix.though_retried(retried.succeeded, retried.releases)
    rate = log_rate(findings, hold_row)
    if rate is None or siblings.succeeded or not siblings.releases:
        return fix
    if fix is not None and fix.passing:
        return fix
    alike = _OTHER if fix is None else _FIXABLE
    left = chance_left(rate.probability, siblings.releases, alike)
    if left >= release_threshold(costs):
        return fix
    if fix is None:
        if (ending := held.ending()) is None:
            return None  # neither the program nor anything that is known to need a fix is to blame
        text = f"its program ended with {ending}: read its standard error and fix what it says"
        fix = Fix("program", text, certain=False)
    tried = f"{counted(siblings.releases, 'release')} of its cluster failed, and none succeeded"
    return replace(fix, text=f"{fix.text}; {tried}", first=True)


def _policy_fix(held: Held, fix: Fix | None) -> Fix | None:
    """What to fix where a policy holds the job again as it is; else the fix that is known.

    Args:
        held: what is known of the job.
        fix: of its cause by its code and its words; None if none is known.
    """
    # A policy of the job that would hold or remove it next.
    acts = next((policy for policy in held.ahead if policy.when == "at once"), None)
    if (held.policy or acts) and fix is not None and fix.passing:
        fix = None  # what passes by itself is not what the policy waits for
    if held.policy is not None:
        fix = _by_policy(held, held.policy, fix)
    if acts is None:
        return fix
    does = "hold it again" if acts.name == "PeriodicHold" else "remove it"
    text = f"{acts.shown} would {does} as soon as it is released"
    if fix is None:
        return Fix("policy", f"{text}: switch it off", edit=(acts.name, "false"), first=True)
    return replace(fix, text=f"{fix.text}; {text}", first=True, policy=acts.name)


def _by_policy(held: Held, policy: Policy, fix: Fix | None) -> Fix | None:
    edits = policy.name if policy.own else None
    change = "switch it off, or change what it names" if policy.own else _ASK
    if policy.when == "at once":
        if fix is None or fix.kind not in _USAGE or _USAGE[fix.kind] not in policy.names:
            text = f"{policy.shown} {policy.again}: {change}"
            return Fix("policy", text, edit=(policy.name, "false") if edits else None, first=True)
        return replace(fix, first=True)
    if policy.when == "at exit" and (policy.text or "").strip("() ").lower() == "true":
        text = f"{policy.shown} holds it at every exit: change it before another run"
        return Fix("policy", text, edit=(policy.name, "false"), first=True)
    if policy.when == "idle":
        text = f"{policy.shown} held it for waiting too long: see why no machine takes it"
        return fix or Fix("policy", text, certain=False, policy=edits)
    if policy.when == "no longer":
        return fix
    text = f"{policy.shown} {policy.again}"
    if fix is not None:
        return replace(fix, text=f"{fix.text}; {text}", first=True, policy=edits)
    if policy.when == "at exit":
        how = held.ending()
        ended = "as that policy names" if how is None else f"with {how}"
        do = f"its program ended {ended}: read its standard error and fix what it says"
        return Fix("program", f"{do}; {text}", first=True, policy=edits)
    do = "let it end sooner, or raise that limit" if policy.when == "later" else change
    return Fix("policy", f"{text}: {do}", first=True, policy=edits)


_USAGE = {"memory": "requestmemory", "disk": "requestdisk", "cpu": "requestcpus"}
_ASK = "change what it names, or ask those who run the access point"


def chance_left(rate: float, failed: int, alike: float) -> float:
    """P(success) of a program's next run after so many failed, and none succeeded, for one cause.

    A bug fails every run and a flaky program some of them, so programs with one cause differ. With
    the distribution Beta(s · r, s · (1 − r)) of their chances it is s · r / (s + failed).

    Args:
        rate: r, the share of success of all programs with this cause.
        failed: releases of the program.
        alike: s, how alike they are.
    """
    return rate * alike / (alike + failed)
