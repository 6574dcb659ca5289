"""Answers in the ads of idle jobs: how likely a job fails, and from when on it likely runs.

They are for people and for policies of the site; none of ours acts on them. They say nothing of
what was said of an earlier hold.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jobsight.acting.condor.plan import (
    QUEUE,
    Plan,
    Saying,
    bounded,
    change_of,
    is_current,
    job_of,
    plain,
    rounded,
)
from jobsight.acting.condor.writeback import Rounds
from jobsight.history.condor.client import Ad
from jobsight.history.condor.jobsets import Job
from jobsight.settings import ActingSettings, CondorSettings

__all__ = ["Expected", "IdleJudge", "IdleWriteback", "Outlook", "idle_plan"]

_STEPS = ((3600, 600), (86400, 3600), (math.inf, 86400))
"""Seconds to a start, and to how many of them it is rounded up where it is nearer."""
_SAME_JOB_S = 5
"""The history and the queue are of the same job if they date its submission no farther apart."""


@dataclass(frozen=True)
class Expected:
    """What is expected of an idle job.

    Attributes:
        job: its id.
        submitted: seconds since 1970; None: unknown.
        failure: probability that it fails; None: unknown.
        starts: seconds since 1970: 10, 50 and 90 % quantiles of its start; None: unknown.
        reason: what helps, or what the probability rests on (may be hostile).
        model: what gave the probability.
    """

    job: Job
    submitted: float | None
    failure: float | None
    starts: tuple[float, float, float] | None
    reason: str
    model: str


IdleJudge = Callable[[], Sequence[Expected]]
"""What is expected as of now of all idle jobs of the access point."""


@dataclass(frozen=True)
class Outlook(Saying):
    """What the ad of an idle job says.

    Attributes:
        failure: probability that it fails, in steps of 0.05; None: unknown.
        start: seconds since 1970 until which it starts as likely as not, rounded up; None: unknown.
    """

    failure: float | None
    start: int | None
    decisive = ("failure", "model")

    @classmethod
    def in_ad(cls, ad: Ad) -> Outlook:
        """What an ad has now."""
        failure, start = ad.get("JobsightFailure"), ad.get("JobsightStart")
        return cls(
            str(ad.get("JobsightReason")), str(ad.get("JobsightModel")),
            round(failure, 2) if isinstance(failure, int | float) else None,
            start if type(start) is int else None,
        )  # fmt: skip

    @classmethod
    def of(cls, expected: Expected, now: int) -> Outlook:
        """What is said of a job that is idle now."""
        failure, start = expected.failure, None
        if expected.starts is not None:
            middle = expected.starts[1]
            step = next(step for most, step in _STEPS if middle - now < most)
            start = math.ceil(middle / step) * step
        return cls(
            plain(expected.reason), plain(expected.model),
            None if failure is None else rounded(failure), start,
        )  # fmt: skip

    def holds(self, expected: Expected, wanted: Outlook, now: int) -> bool:
        """Whether this needs no other words; a start that is still as likely stays as it is."""
        starts = expected.starts
        if self.start is None or starts is None:
            same = self.start == wanted.start
        else:
            same = self.start > now and starts[0] <= self.start <= max(starts[2], wanted.start or 0)
        return same and (self.failure, self.model) == (wanted.failure, wanted.model)

    def __str__(self) -> str:
        fails = "" if self.failure is None else f" fails {self.failure:.0%}"
        return f"idle{fails}" + ("" if self.start is None else f", starts by {self.start}")


def idle_plan(ads: Sequence[Ad], expected: Sequence[Expected], asked_at: int) -> Plan[Outlook]:
    """The plan of a round for idle jobs, largest groups first.

    Args:
        ads: of all idle jobs, with the attributes `QUEUE`, and QDate.
        expected: of these.
        asked_at: see `Plan`.
    """
    # Users may edit both times: what is no number is of no job.
    idle = {
        job_of(ad): ad
        for ad in ads
        if type(since := ad.get("EnteredCurrentStatus")) is int and since < asked_at
    }
    known = {
        each.job: each
        for each in expected
        if each.job in idle
        and _same_job(idle[each.job], each)
        and not (each.failure is None and each.starts is None)
    }
    said = bounded({job: Outlook.of(each, asked_at) for job, each in known.items()})
    groups: dict[Outlook, list[Job]] = {}
    for job, outlook in said.items():
        ad = idle[job]
        kept = Outlook.in_ad(ad).holds(known[job], outlook, asked_at)
        if not (kept and is_current(ad) and ad.get("JobsightVerb") is None):
            groups.setdefault(outlook, []).append(job)
    changes = [change_of(outlook, None, jobs, idle) for outlook, jobs in groups.items()]
    changes.sort(key=lambda change: -len(change.jobs))
    edited = sum(len(change.jobs) for change in changes)
    counts = {"idle": len(ads), "answered": len(said), "unchanged": len(said) - edited}
    return Plan(asked_at, changes, counts)


def _same_job(ad: Ad, expected: Expected) -> bool:
    submitted, queued = expected.submitted, ad.get("QDate")
    if submitted is None or queued is None:
        return True
    return type(queued) is int and abs(queued - submitted) <= _SAME_JOB_S


class IdleWriteback(Rounds[Outlook]):
    """Write-back into the idle jobs of a schedd; `judge` gives what is expected of them."""

    status, what = 1, "idle job"

    def __init__(self, condor: CondorSettings, settings: ActingSettings, judge: IdleJudge) -> None:
        super().__init__(condor, settings)
        self._judge = judge

    def plan(self) -> Plan[Outlook]:
        """See `Rounds`."""
        asked_at = int(time.time())
        ads = self.client.all_idle(("QDate", *QUEUE))
        return idle_plan(ads, self._judge() if ads else (), asked_at)
