"""From the answers for held jobs and what their ads have to what is to be edited, and why.

A plan starts from the ads of now and has only differences from them, so a round that was cut short
is finished by the next one, and nothing is done twice.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, TypeVar

from jobsight.codes import hold_name
from jobsight.history.condor.client import Ad
from jobsight.history.condor.jobsets import Job, ranges
from jobsight.history.outcomes import PERSONAL_HOLD_CODES
from jobsight.questions.hold.answering.answer import Answer
from jobsight.settings import ActingSettings
from jobsight.text import printable

__all__ = ["ATTRIBUTES", "QUEUE", "Change", "Plan", "S", "Said", "Saying", "bounded", "change_of",
           "is_current", "job_of", "make_plan", "plain", "rounded"]  # fmt: skip

_NAMES = {
    "verb": "JobsightVerb", "probability": "JobsightProbability", "reason": "JobsightReason",
    "release_after": "JobsightReleaseAfter", "model": "JobsightModel", "act": "JobsightAct",
    "failure": "JobsightFailure", "start": "JobsightStart",
}  # fmt: skip
ATTRIBUTES = tuple(_NAMES.values())
"""What is written besides ``JobsightAsOf``, the time as of which it is true (seconds)."""
QUEUE = (
    "ClusterId", "ProcId", "Owner", "JobStatus", "HoldReasonCode", "HoldReasonSubCode",
    "EnteredCurrentStatus", "NumHolds", "JobsightAsOf", *ATTRIBUTES,
)  # fmt: skip
"""What is read of the queue."""

_STEPS = 20
_DISTINCT = 30
_OTHER = "see the command jobsight hold"
_WIDTH = 200
_SAME_HOLD_S = 5
"""The log and the queue are of the same hold if they date it no farther apart."""
_LATER_S = 300
_EVIDENCE = ("siblings", "same_owner_and_cause", "same_cause")


@dataclass(frozen=True)
class Saying:
    """What the ad of a job is to say.

    Attributes:
        reason: one line.
        model: what gave the probability.
    """

    reason: str
    model: str

    decisive: ClassVar[Sequence[str]]
    """Names of what does not move on from round to round."""

    def assignments(self, as_of: int) -> dict[str, str]:
        """All attributes as ClassAd expressions, as of then (seconds since 1970).

        What is not known is said no more.
        """
        given = {**vars(self), "reason": self.reason or None}
        known = {_NAMES[name]: _expression(value) for name, value in given.items()
                 if value is not None and value is not False}  # fmt: skip
        return {"JobsightAsOf": str(as_of), **dict.fromkeys(ATTRIBUTES, "undefined"), **known}

    def to_json(self) -> dict[str, Any]:
        """As the decision log has it."""
        return dict(vars(self))


def _expression(value: str | float) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:.2f}" if isinstance(value, float) else str(value).lower()


S = TypeVar("S", bound=Saying)


@dataclass(frozen=True)
class Said(Saying):
    """What the ad of a held job says.

    Attributes:
        verb: the answer.
        probability: of success if released now, in steps of 0.05; None: unknown.
        release_after: seconds since 1970 from which a release is advised; 0: now.
        act: whether the site's policy may act.
    """

    verb: str
    probability: float | None
    release_after: int | None
    act: bool
    decisive = ("verb", "probability", "reason", "act")

    @classmethod
    def in_ad(cls, ad: Ad) -> Said:
        """What an ad has now."""
        verb, probability, reason, after, model, act, *_ = map(ad.get, ATTRIBUTES)
        chance = round(probability, 2) if isinstance(probability, int | float) else None
        return cls(
            str(reason), str(model), str(verb), chance, after if type(after) is int else None,
            act is True,
        )  # fmt: skip

    @classmethod
    def of_answer(cls, answer: Answer) -> Said:
        """What an answer says; for a policy to act on it takes more."""
        now, best, verb = answer.now, answer.verdict.best, answer.verdict.verb
        after = 0 if verb == "release" else None
        if verb == "wait" and best is not None:
            later = (answer.moment / 1e6 + best.wait) / _LATER_S
            after = math.ceil(later) * _LATER_S
        chance = None if now is None else rounded(now.probability)
        return cls(_reason(answer), plain(answer.model), verb, chance, after, act=False)

    def __str__(self) -> str:
        chance = "" if self.probability is None else f" {self.probability:.0%}"
        return f"{self.verb}{chance}{', for the policy to act on' if self.act else ''}"


def rounded(probability: float) -> float:
    """To steps of 0.05."""
    return round(round(probability * _STEPS) / _STEPS, 2)


def plain(text: object) -> str:
    """A text as it can stand between quotes in any ClassAd.

    In the queue a backslash escapes nothing but quotes, elsewhere itself too: both are replaced.
    """
    return printable(text, _WIDTH).replace("\\", "/").replace('"', "'")


def _reason(answer: Answer) -> str:
    texts = {finding["what"]: finding["text"] for finding in reversed(answer.evidence)}
    text = next((texts[what] for what in _EVIDENCE if what in texts), "")
    if answer.verdict.verb == "fix" and answer.fix is not None:
        text = answer.fix.text
    elif answer.verdict.why is not None:
        text = answer.verdict.why
    code, subcode = answer.hold_code or 0, answer.hold_subcode or 0
    return plain(f"{hold_name(code)} ({code}/{subcode}): {text}".rstrip(": "))


@dataclass(frozen=True)
class Change(Generic[S]):
    """One edit of a group of jobs.

    Attributes:
        said: what their ads are to say; None: the policy may no longer act on them.
        refused: why the policy may not act on an answer that it could act on; None: no reason.
        jobs: the group.
        owners, holds: how many jobs of the group each owner and each ``code/sub-code`` has.
    """

    said: S | None
    refused: str | None
    jobs: tuple[Job, ...]
    owners: Mapping[str, int] = field(default_factory=dict)
    holds: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As the decision log has it: known, said, refused."""
        return {
            "known": {"owners": dict(self.owners), "holds": dict(self.holds)},
            "said": self.said and self.said.to_json(),
            "refused": self.refused,
        }  # fmt: skip

    def __str__(self) -> str:
        spans = [*map(str, ranges(self.jobs))]
        shown = ", ".join(spans if len(spans) <= 5 else [*spans[:5], "…"])
        jobs = f"{len(self.jobs):,} jobs ({shown})"
        if self.said is None:
            return f"take back: {jobs}: {self.refused}"
        why = f"; the policy may not act: {self.refused}" if self.refused else ""
        return f"{self.said}: {jobs}: {self.said.reason}{why}"


@dataclass(frozen=True)
class Plan(Generic[S]):
    """What a round is to do.

    Attributes:
        asked_at: seconds since 1970, just before the queue was read.
        changes: edits in order: first what is taken back.
        counts: jobs held or idle, answered, unchanged; of held ones also marked (that the policy
            may act on) and by_hand.
        renew: whether the time of the answers to act on is to be renewed.
        since: when the hold of each job began, seconds since 1970.
    """

    asked_at: int
    changes: list[Change[S]]
    counts: dict[str, int]
    renew: bool = False
    since: Mapping[Job, int] = field(default_factory=dict)


@dataclass
class _Caps:
    """What may still be marked for the policy."""

    settings: ActingSettings
    left: int
    users: Counter[str] = field(default_factory=Counter)

    def refusal(self, owner: str, *, marked: bool) -> str | None:
        """Why a job may not be marked; None: it may, and is counted. `marked`: it is already."""
        if self.users.total() >= self.settings.at_once:
            return f"{self.settings.at_once} jobs are marked already (at_once)"
        if self.users[owner] >= self.settings.per_user:
            return f"{self.settings.per_user} jobs of this user are marked already (per_user)"
        if not marked and self.left <= 0:
            return f"{self.settings.per_minute} jobs were marked within a minute (per_minute)"
        self.left -= not marked
        self.users[owner] += 1
        return None


def make_plan(
    ads: Sequence[Ad], answers: Sequence[Answer], settings: ActingSettings, *,
    asked_at: int, schedd: str, marked_lately: int = 0,
) -> Plan[Said]:  # fmt: skip
    """The plan of a round for held jobs.

    Args:
        ads: of all held jobs, with the attributes `QUEUE`.
        answers: for held jobs, those first that are worth most.
        settings: caps, and what may be done: observe plans as enforce does.
        asked_at: see `Plan`.
        schedd: name of the access point of the ads.
        marked_lately: jobs that were marked for the policy in the last minute.
    """
    by_job = {job_of(ad): ad for ad in ads}
    held = {job: ad for job, ad in by_job.items() if _asked(ad, asked_at)}
    judged = dict(_matching(held, answers, schedd))
    said = bounded({job: Said.of_answer(answer) for job, answer in judged.items()})
    caps = _Caps(settings, settings.per_minute - marked_lately)
    refused: dict[Job, str | None] = {}
    actable = ("release", "remove") if settings.removal else ("release",)
    if settings.mode != "advise":
        # Those that are marked already come first: a cap does not take turns.
        for job in sorted(said, key=lambda job: not _marked(held[job])):
            if said[job].verb not in actable:
                continue
            refused[job] = _too_often(held[job], settings, said[job]) or caps.refusal(
                str(held[job].get("Owner")), marked=_marked(held[job])
            )
            said[job] = replace(said[job], act=refused[job] is None)
    groups: dict[tuple[Said | None, str | None], list[Job]] = {}
    unchanged = 0
    for job, ad in by_job.items():
        wanted = said.get(job)
        if ad.get("JobsightAct") is True and not (wanted is not None and wanted.act):
            why = refused.get(job) or (
                f"the answer is {wanted.verb}" if wanted else "it has no answer for this hold"
            )
            groups.setdefault((None, why), []).append(job)
        if wanted is None:
            continue
        # The counts in a reason are out of date with every outcome.
        if is_current(ad) and replace(Said.in_ad(ad), reason=wanted.reason) == wanted:
            unchanged += 1
        else:
            groups.setdefault((wanted, refused.get(job)), []).append(job)
    changes = [change_of(*key, jobs, by_job) for key, jobs in groups.items()]
    changes.sort(key=lambda change: (change.said is not None, -len(change.jobs)))
    times = [ad["JobsightAsOf"] for job, ad in held.items() if _marked(ad) and job in said
             and said[job].act]  # fmt: skip
    return Plan(
        asked_at,
        changes,
        {
            "held": len(ads), "answered": len(judged), "unchanged": unchanged,
            "marked": caps.users.total(), "by_hand": sum(map(_by_hand, ads)),
        },
        bool(times) and asked_at - min(times) >= settings.renew,
        {job: ad["EnteredCurrentStatus"] for job, ad in held.items()},
    )  # fmt: skip


def job_of(ad: Ad) -> Job:
    """The id of a job, by its ad."""
    return int(ad["ClusterId"]), int(ad["ProcId"])


def _by_hand(ad: Ad) -> bool:
    """Whether its user or an administrator holds it, or it is not known who does."""
    code = ad.get("HoldReasonCode")
    return type(code) is not int or code in PERSONAL_HOLD_CODES


def _asked(ad: Ad, asked_at: int) -> bool:
    """Whether anything may be said of a job: of this hold, which began before it was asked."""
    since = ad.get("EnteredCurrentStatus")
    return not _by_hand(ad) and type(since) is int and since < asked_at


def is_current(ad: Ad) -> bool:
    """Whether what the ad says was said since the job is held, or idle."""
    as_of, since = ad.get("JobsightAsOf"), ad.get("EnteredCurrentStatus")
    return type(as_of) is int and type(since) is int and since < as_of


def _marked(ad: Ad) -> bool:
    return ad.get("JobsightAct") is True and is_current(ad)


def _matching(
    held: Mapping[Job, Ad], answers: Sequence[Answer], schedd: str
) -> Iterator[tuple[Job, Answer]]:
    """The answers for these very holds."""
    for answer in answers:
        ad = held.get((answer.job.cluster, -1 if answer.job.proc is None else answer.job.proc))
        if ad is None or answer.by_hand or answer.hold_code != ad["HoldReasonCode"]:
            continue
        near = abs(ad["EnteredCurrentStatus"] - answer.held_since / 1e6) <= _SAME_HOLD_S
        if near and (answer.access_point or schedd).lower() == schedd.lower():
            yield job_of(ad), answer


def bounded(said: dict[Job, S]) -> dict[Job, S]:
    """The same with at most 30 different reasons: the rarest are replaced by one."""
    reasons = Counter(each.reason for each in said.values())
    if len(reasons) <= _DISTINCT:
        return said
    kept = {reason for reason, _ in reasons.most_common(_DISTINCT - 1)}
    return {
        job: each if each.reason in kept else replace(each, reason=_OTHER)
        for job, each in said.items()
    }


def _too_often(ad: Ad, settings: ActingSettings, said: Said) -> str | None:
    holds = ad.get("NumHolds")
    if said.verb != "release" or (type(holds) is int and holds < settings.most_holds):
        return None
    return f"it was held {settings.most_holds} times or more (most_holds)"


def change_of(
    said: S | None, refused: str | None, jobs: Sequence[Job], ads: Mapping[Job, Ad]
) -> Change[S]:
    """The edit of a group of these jobs."""
    owners = Counter(printable(ads[job].get("Owner"), 60) for job in jobs)
    holds = Counter(
        f"{ads[job]['HoldReasonCode']}/{ads[job].get('HoldReasonSubCode')}"
        for job in jobs
        if "HoldReasonCode" in ads[job]
    )
    return Change(said, refused, tuple(jobs), owners, holds)
