"""The decision table: from probabilities and costs to release, wait, fix, remove or unsure.

With θ = w / (w + l) the probability from which releasing pays (`jobsight.learning.costs`), and the
gain of a release after a wait of h::

    gain(h) = p(h) · l − (1 − p(h)) · w − h · cost of delay

================================================================================  ==========
a fix comes first: no retry here has got past the cause                          ``fix``
else: a release at the earliest moment, or a later one that surely beats it,
gains 0 or more                                                    ``release``, ``wait``
else: a fix is known, and is certain, or the upper bound of p(0) is under θ       ``fix``
else: no fix is known (a failure of the network is none of the job's, see
`Fix.passing`), the upper bound of every p(h) is under θ, and at least five like
batches failed                                                                    ``remove``
else                                                                              ``unsure``
================================================================================  ==========

The earliest moment is now, but for a job that was released for this very cause and held again,
each time longer after its hold (`earliest`): what held it a moment ago mostly does still. Models
do not see this, as few of the releases that they learn from follow each other so closely; in a
trial on a live pool (``make trial``) 761 of 1 034 starts were wasted without it.

A later release surely beats another if it gains more with the lower bound of p(h) than the other
with the upper bound of its p. p(h) is learned from jobs that their owners left held for h or
longer, often with reason; without this margin more than half of all answers were waits on two
pools, and releases at once had fared as well as those that came later.

Where there is no probability at all, a fix that is certain or comes first is still to be made:
``fix``; else ``unsure``. What its user holds (`PERSONAL_HOLD_CODES`) is not decided: ``user_hold``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from jobsight.clock import format_micros
from jobsight.learning.costs import expected_gain, release_threshold
from jobsight.questions.hold.answering.fixes import Fix
from jobsight.settings import Costs

__all__ = ["FAILED_BATCHES", "Chance", "Verb", "Verdict", "decide", "earliest", "hourly_delay_cost"]

Verb = Literal["release", "wait", "fix", "remove", "unsure", "user_hold"]

FAILED_BATCHES = 5
"""Like batches that must have failed before "remove" is said."""

_DOUBLINGS = 6
AGAIN = "released for this cause before, it failed again"
"""Why a job waits that could be released now."""

TIME_SCALE_COST = 0.05
"""What a delay of one time scale costs, in wasted runs, where the settings say ``auto``."""


@dataclass(frozen=True)
class Chance:
    """P(success) of a release after a wait.

    Attributes:
        wait: seconds from now.
        probability: of success.
        low, high: its 90 % interval.
    """

    wait: float
    probability: float
    low: float
    high: float

    def to_json(self, moment: int) -> dict[str, Any]:
        """As plain data, with the moment (UTC) of a release after the wait; `moment`: µs, now."""
        return {
            "wait": self.wait,
            "at": format_micros(moment + round(self.wait * 1e6)),
            "probability": self.probability,
            "interval": [self.low, self.high],
        }


@dataclass(frozen=True)
class Verdict:
    """What to do.

    Attributes:
        verb: the answer.
        best: the chance with the greatest gain among now and the waits that surely beat it; None
            where there is no probability.
        gain: what the answer is expected to save against its opposite, in units of the settings'
            costs: for release and wait against not releasing, for fix and remove against releasing
            now; 0 where it is unsure or unknown.
        why: why the job waits, or why a release that probably fails is advised all the same; None
            elsewhere.
    """

    verb: Verb
    best: Chance | None
    gain: float
    why: str | None = None


def hourly_delay_cost(costs: Costs, time_scale: float) -> float:
    """Cost per hour of delay; ``auto``: one time scale (seconds) costs 0.05 wasted runs."""
    if costs.delay_per_hour == "auto":
        return TIME_SCALE_COST * costs.wasted_run * 3600.0 / time_scale
    return costs.delay_per_hour


def earliest(failed: int, time_scale: float) -> float:
    """Seconds after its hold before which a job is not released again: 0, then doubling.

    Args:
        failed: releases of the job for this cause that failed.
        time_scale: seconds, the first wait.
    """
    return time_scale * 2.0 ** min(failed - 1, _DOUBLINGS) if failed else 0.0


def decide(
    chances: Sequence[Chance],
    costs: Costs,
    *,
    delay_per_hour: float,
    soonest: float,
    fix: Fix | None,
    failed_batches: int,
) -> Verdict:
    """Decide for one job by the table above.

    Args:
        chances: of releasing now (first, wait 0), then of every wait that training supports; none
            where neither a model nor a like release gives a probability.
        costs: of a wasted run and of a lost job.
        delay_per_hour: what an hour's delay costs.
        soonest: seconds from now before which it is not to be released.
        fix: what is known to fix the cause.
        failed_batches: like batches of which no release succeeded.
    """
    if not chances:
        known = fix is not None and (fix.certain or fix.first)
        return Verdict("fix" if known else "unsure", None, 0.0)

    def gain(chance: Chance, probability: float) -> float:
        hours = chance.wait / 3600.0
        return float(
            expected_gain(
                np.array([probability]), costs, delay_hours=hours, delay_per_hour=delay_per_hour
            )[0]
        )

    now = chances[0]
    loss = -gain(now, now.probability)
    later = [chance for chance in chances if chance.wait >= soonest] or [chances[-1]]
    first = replace(later[0], wait=max(soonest, 0.0))
    most = gain(first, first.high)
    surely = [chance for chance in later[1:] if gain(chance, chance.low) > most]
    # Of equal gains the earlier release.
    best = max(surely, key=lambda of: (gain(of, of.probability), -of.wait), default=first)
    if fix is not None and fix.first:
        return Verdict("fix", best, max(loss, 0.0))
    if (worth := gain(best, best.probability)) >= 0.0:
        if best is first and first.wait > 0:
            return Verdict("wait", best, worth, AGAIN)
        times = f"{costs.lost_job / costs.wasted_run:.3g} times a wasted run"
        unlikely = f"it probably fails again; tried because a lost job costs {times}"
        why = None if best.probability >= 0.5 else unlikely
        return Verdict("wait" if best.wait > 0 else "release", best, worth, why)
    threshold = release_threshold(costs)
    if fix is not None and not fix.passing:
        if fix.certain or now.high < threshold:
            return Verdict("fix", best, loss)
    elif failed_batches >= FAILED_BATCHES and all(c.high < threshold for c in chances):
        return Verdict("remove", best, loss)
    return Verdict("unsure", best, 0.0)
