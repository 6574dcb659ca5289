"""An answer in words: what the command prints and the pages of the service show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from jobsight.format import chance, hours, percent
from jobsight.text import counted, printable

__all__ = ["Words", "worded"]

_SHOWN_KIND = 0.05


class Words(NamedTuple):
    """An answer in words, safe to show; empty where there is nothing to say.

    Attributes:
        risk: how likely it fails.
        kinds: how, if it does.
        evidence: how runs like it ended, and what else counts.
        advice: what to change.
        option: of the scheduler, as the advice says.
        with_it: how likely it fails with the advice.
        stake: what is lost on average.
    """

    risk: str
    kinds: str
    evidence: list[str]
    advice: str
    option: str
    with_it: str
    stake: str


def worded(answer: Mapping[str, Any]) -> Words:
    """The words of an answer, given as `jobsight.questions.fail.answering.Answer.to_json`."""
    risk = "no probability, no job has ended yet"
    if answer["blocked"] is not None:
        risk = f"will never start as it is: {printable(answer['blocked'])}"
    elif answer["probability"] is not None:
        risk = f"{chance(answer['probability'], *(answer['interval'] or (None, None)))} to fail"
    kinds = (
        f"{kind.replace('_', ' ')} {percent(share)}"
        for kind, share in answer["kinds"].items()
        if share >= _SHOWN_KIND
    )
    advice, with_it = answer["advice"] or {}, ""
    if answer["with_advice"] is not None:
        like = counted(advice["runs"], "like run")
        with_it = f"{percent(answer['with_advice'])} to fail with it ({like} had it)"
    stake = answer["core_hours_at_stake"]
    return Words(
        risk,
        ", ".join(kinds),
        [printable(found["text"]) for found in answer["evidence"]],
        printable(advice.get("text", "")),
        printable(advice.get("option") or ""),
        with_it,
        "" if stake is None else f"{hours(stake)} core-hours",
    )
