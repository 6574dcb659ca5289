"""Answers for held jobs as the question `hold` gives them, made without a history."""

from collections.abc import Iterable, Mapping
from typing import Any

from jobsight.ids import JobId
from jobsight.questions.hold.answering.advice import Advice, Schedd, Tried
from jobsight.questions.hold.answering.answer import Answer
from jobsight.questions.hold.answering.verdict import Chance, Verb, Verdict

__all__ = ["answer_for", "answers_for"]


def answer_for(
    ad: Mapping[str, Any], verb: Verb = "release", probability: float | None = 0.8,
    *, reason: str = "12 of 14 releases like it succeeded", wait: float = 0.0, model: str = "test",
) -> Answer:  # fmt: skip
    """The answer for the held job of an ad."""
    job = JobId(ad["ClusterId"], ad["ProcId"])
    chance = None if probability is None else Chance(wait, probability, 0.0, 1.0)
    since = ad["EnteredCurrentStatus"] * 1_000_000
    return Answer(
        job=job, access_point=None, moment=since + 60_000_000, held_since=since,
        verdict=Verdict(verb, chance, 1.0), now=chance, hold_code=ad["HoldReasonCode"],
        hold_subcode=ad.get("HoldReasonSubCode"), reason="", owner=ad["Owner"], cause=0,
        schedd=Schedd(), alike=[job], fix=None, tried=Tried(), unseen_policy=False,
        evidence=[{"what": "same_cause", "text": reason}], advice=Advice([]), model=model,
        inputs="",
    )  # fmt: skip


def answers_for(ads: Iterable[Mapping[str, Any]], verb: Verb = "release") -> list[Answer]:
    """The same answer for each."""
    return [answer_for(ad, verb) for ad in ads]
