"""What to fix, by the cause of a hold and by how retries of the same program ended here."""

from __future__ import annotations

from dataclasses import replace

from jobsight.learning.costs import release_threshold
from jobsight.questions.hold.answering.findings import Findings
from jobsight.questions.hold.answering.fixes import Fix, known_fix
from jobsight.questions.hold.answering.heldjob import Held
from jobsight.questions.hold.answering.uncalibrated import log_rate
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
    fix, retried = known_fix(held), findings.retried(hold_row)
    if fix is not None and fix.first and retried.succeeded:
        fix = fix.though_retried(retried.succeeded, retried.releases)
    siblings, rate = findings.ended("cluster and cause", hold_row), log_rate(findings, hold_row)
    if rate is None or siblings.succeeded or not siblings.releases:
        return fix
    alike = _OTHER if fix is None else _FIXABLE
    left = chance_left(rate.probability, siblings.releases, alike)
    return fix if left >= release_threshold(costs) else _lasting(held, fix, siblings.releases)


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


def _lasting(held: Held, fix: Fix | None, failed: int) -> Fix | None:
    """What to fix first where releases of the job's cluster for its cause only ran into it again.

    Args:
        held: what is known of the job.
        fix: of its cause, if one is known.
        failed: how many of these releases failed; none succeeded.

    Returns:
        None if neither the program nor anything that is known to need a fix is to blame.
    """
    if fix is None:
        if (ending := held.ending()) is None:
            return None
        text = f"its program ended with {ending}: read its standard error and fix what it says"
        fix = Fix("program", text, certain=False)
    tried = f"{counted(failed, 'release')} of its cluster failed, and none succeeded"
    return replace(fix, text=f"{fix.text}; {tried}", first=True)
