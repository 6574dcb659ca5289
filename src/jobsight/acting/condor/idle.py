"""Answers in the ads of idle jobs: how likely a job fails, and from when on it likely runs.

They are for people and for policies of the site; none of ours acts on them. They say nothing of
what was said of an earlier hold.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from jobsight.acting.condor.plan import (
    QUEUE,
    Change,
    Saying,
    assigned,
    bounded,
    change_of,
    is_current,
    job_of,
    plain,
    rounded,
)
from jobsight.acting.condor.writeback import MOST_EDITS, editor, spelled
from jobsight.acting.edits import Edits
from jobsight.history.condor.client import Ad, CondorClient
from jobsight.history.condor.jobsets import Job, constraints
from jobsight.settings import ActingSettings, CondorSettings, Mode
from jobsight.text import counted

__all__ = ["Expected", "IdleJudge", "IdleWriteback", "Outlook", "idle_changes"]

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

    @classmethod
    def in_ad(cls, ad: Ad) -> Outlook:
        """What an ad has now."""
        failure, start = ad.get("JobsightFailure"), ad.get("JobsightStart")
        return cls(
            str(ad.get("JobsightReason")),
            str(ad.get("JobsightModel")),
            round(failure, 2) if isinstance(failure, int | float) else None,
            start if type(start) is int else None,
        )

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

    def assignments(self, as_of: int) -> dict[str, str]:
        """See `Saying`."""
        values = {
            "JobsightFailure": None if self.failure is None else f"{self.failure:.2f}",
            "JobsightStart": None if self.start is None else str(self.start),
            "JobsightReason": f'"{self.reason}"' if self.reason else None,
            "JobsightModel": f'"{self.model}"',
        }
        return assigned(as_of, values)

    def to_json(self) -> dict[str, Any]:
        """See `Saying`."""
        return {
            "failure": self.failure, "start": self.start, "reason": self.reason,
            "model": self.model,
        }  # fmt: skip

    def __str__(self) -> str:
        fails = "" if self.failure is None else f" fails {self.failure:.0%}"
        return f"idle{fails}" + ("" if self.start is None else f", starts by {self.start}")


def idle_changes(
    ads: Sequence[Ad], expected: Sequence[Expected], asked_at: int
) -> tuple[list[Change[Outlook]], dict[str, int]]:
    """The edits of idle jobs, largest groups first, and counts: idle, answered, unchanged.

    Args:
        ads: of all idle jobs, with the attributes `QUEUE`.
        expected: of these.
        asked_at: seconds since 1970, just before the queue was read.
    """
    idle = {job_of(ad): ad for ad in ads if ad.get("EnteredCurrentStatus", asked_at) < asked_at}
    known = {
        one.job: one
        for one in expected
        if one.job in idle
        and _same_job(idle[one.job], one)
        and not (one.failure is None and one.starts is None)
    }
    said = bounded({job: Outlook.of(one, asked_at) for job, one in known.items()})
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
    return changes, counts


def _same_job(ad: Ad, expected: Expected) -> bool:
    submitted, queued = expected.submitted, ad.get("QDate")
    return submitted is None or queued is None or abs(queued - submitted) <= _SAME_JOB_S


class IdlePlan(NamedTuple):
    """What a round is to do; see `jobsight.acting.condor.plan.Plan`."""

    asked_at: int
    changes: list[Change[Outlook]]
    counts: dict[str, int]


class IdleWriteback:
    """Write-back into the idle jobs of one schedd. One thread, in the block of `Switch.alone`."""

    def __init__(
        self, condor: CondorSettings, settings: ActingSettings, mode: Mode, judge: IdleJudge
    ) -> None:
        """Nothing is asked or done yet; the arguments are those of `Writeback`."""
        self._client = CondorClient(condor)
        self._editor = editor(condor)
        self._judge = judge
        self._edits = Edits(settings, mode)

    def plan(self) -> IdlePlan:
        """What a round would do now.

        Raises:
            JobsightError: the queue or the history cannot be read.
        """
        asked_at = int(time.time())
        ads = self._client.all_idle(("QDate", *QUEUE))
        changes, counts = idle_changes(ads, self._judge() if ads else (), asked_at)
        return IdlePlan(asked_at, changes, counts)

    def round(self) -> str:
        """Do what is to be done now; what was done, in a line. Raises as `Writeback.round`."""
        edits, edited, left = self._edits, 0, MOST_EDITS
        if refusal := edits.switch.refusal():
            return f"nothing is done: {refusal}"
        asked_at, changes, counts = self.plan()
        edits.log.write("round", mode=edits.mode, asked_at=asked_at, jobs=counts)
        idle = counted(counts["idle"], "idle job")
        if edits.mode == "observe":
            lines = edits.observe(map(_decision, changes), spelled, asked_at)
            return f"{idle}, {counted(lines, 'decision')} written down"
        for change in changes:
            for part, constraint in constraints(change.jobs):
                if left <= 0 or change.said is None:
                    return f"{idle}, {edited:,} edited, the rest in the next round"
                where = f"JobStatus == 1 && EnteredCurrentStatus < {asked_at} && {constraint}"
                fields = {**change.to_json(), "jobs": list(map(str, part))}
                edit = partial(self._editor.edit, where, change.said.assignments(asked_at))
                done = edits.make(edit, fields, asked_at)
                if isinstance(done, str):
                    return f"{idle}, {edited:,} edited, then stopped: {done}"
                edited, left = edited + done, left - 1
        return f"{idle}, {edited:,} edited"


def _decision(change: Change[Outlook]) -> tuple[Mapping[Job, object], Mapping[str, Any]]:
    """What is decided of each job, without what moves on, and the fields for the decision log."""
    said = change.said
    shown = None if said is None else (said.failure, said.model)
    return dict.fromkeys(change.jobs, shown), change.to_json()
