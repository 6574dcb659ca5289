"""Answers for many held jobs, put together by cause and cluster, most useful first.

Clusters of which a trial release decides together are one group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from jobsight.questions.hold.answering.advice import WAIT_ALIKE, Advice, Group, advise
from jobsight.questions.hold.answering.answer import Answer
from jobsight.questions.hold.answering.findings import sites_alone
from jobsight.questions.hold.answering.verdict import Verb

__all__ = ["GroupAnswer", "by_use", "group_answers"]


@dataclass(frozen=True)
class GroupAnswer:
    """Held jobs of one cause, of one cluster or of several that wait for one trial.

    Attributes:
        members: all of them.
        verb: what is said for most of them.
        said_for: those it is said for; the advice is for them alone.
        probability, low, high: means over the members; None where none has a probability.
        gain: summed over `said_for`, see `Verdict.gain`.
        advice: what to do, with one command for all.
    """

    members: Sequence[Answer]
    verb: Verb
    said_for: Sequence[Answer]
    probability: float | None
    low: float | None
    high: float | None
    gain: float
    advice: Advice

    @property
    def place(self) -> str:
        """Which cluster, or how many, the members are of, and on which access point."""
        clusters = {answer.job.cluster for answer in self.members}
        of = f"{len(clusters):,} clusters" if len(clusters) > 1 else f"cluster {min(clusters)}"
        return of + self.members[0].place


def by_use(answers: Sequence[Answer]) -> list[Answer]:
    """The answers by expected gain, greatest first; holds by a user's hand last."""
    return sorted(answers, key=lambda answer: (answer.by_hand, -answer.verdict.gain))


def group_answers(answers: Sequence[Answer]) -> list[GroupAnswer]:
    """One entry per cause and cluster, by expected gain, then by number of jobs.

    Jobs for which another request is proposed, or none, have an entry of their own: a command for
    all could lower what they ask for.
    """
    families: dict[tuple[str | None, int, int, str | None, bool], list[Answer]] = {}
    kinds_of: dict[tuple[str | None, int, int | None, int | None], set[object]] = {}
    for answer in answers:
        place = (answer.access_point, answer.job.cluster)
        kind = (answer.cause, _edited(answer), answer.vacated)
        families.setdefault((*place, *kind), []).append(answer)
        kinds_of.setdefault((*place, answer.hold_code, answer.hold_subcode), set()).add(kind)
    groups = []
    for members in families.values():
        first = members[0]
        key = (first.access_point, first.job.cluster, first.hold_code, first.hold_subcode)
        groups.append(_grouped(members, alone=len(kinds_of[key]) == 1))
    # Those that wait for one and the same trial are put together.
    trials: dict[object, list[GroupAnswer]] = {}
    for group in groups:
        first = group.members[0]
        # Vacated jobs do not wait for a trial.
        shared = group.verb == "unsure" and len(first.alike) >= WAIT_ALIKE and not first.vacated
        like = (first.access_point, first.cause, _edited(first), frozenset(first.alike))
        trials.setdefault(like if shared else id(group), []).append(group)
    rows = [
        same[0]
        if len(same) == 1
        else _grouped([answer for group in same for answer in group.members], alone=False)
        for same in trials.values()
    ]
    return sorted(rows, key=lambda row: (row.members[0].by_hand, -row.gain, -len(row.members)))


def _grouped(members: Sequence[Answer], *, alone: bool) -> GroupAnswer:
    """Put the answers of one family together; `alone`: no other answer shares their hold codes."""
    votes = Counter(answer.verdict.verb for answer in members)
    verb = max(votes, key=lambda word: (votes[word], word != "unsure"))
    said_for = [answer for answer in members if answer.verdict.verb == verb]
    chances = [answer.now for answer in members if answer.now is not None]
    bounds = ([getattr(c, name) for c in chances] for name in ("probability", "low", "high"))
    probability, low, high = (float(np.mean(of)) if of else None for of in bounds)
    gain = sum(answer.verdict.gain for answer in said_for)
    # Vacated jobs are named one by one: those of a constraint would be others once they are held.
    whole = alone and len(said_for) == len(members) and not members[0].vacated
    advice = _advice(said_for, whole=whole)
    return GroupAnswer(members, verb, said_for, probability, low, high, gain, advice)


def _advice(said_for: Sequence[Answer], *, whole: bool) -> Advice:
    # What suffices for the one that needs most, and is late enough for the last, serves all.
    first = max(said_for, key=_need)
    if first.by_hand:
        return first.advice
    cause = (
        (first.hold_code, first.hold_subcode)
        if whole and first.hold_code is not None and first.hold_subcode is not None
        else None
    )
    avoid = sorted({site for answer in said_for for site in sites_alone(answer.evidence)})
    leave = sorted({answer.fix.machine for answer in said_for if answer.fix and answer.fix.machine})
    group = Group([answer.job for answer in said_for], cause, first.schedd, avoid, leave)
    fix = first.fix
    if fix is not None and len({answer.fix.text for answer in said_for if answer.fix}) > 1:
        # Each has its own file or figure; the command serves all, the words one of them.
        fix = replace(fix, text=f"{fix.text} (this for {first.job}, the others likewise)")
    return advise(
        first.verdict, fix, replace(group, vacated=first.vacated), moment=first.moment,
        alike=first.alike, tried=first.tried, unseen_policy=first.unseen_policy,
        reason=first.reason,
    )  # fmt: skip


def _edited(answer: Answer) -> str | None:
    """The attribute that its fix sets."""
    return answer.fix.edit[0] if answer.fix and answer.fix.edit else None


def _need(answer: Answer) -> tuple[int, float]:
    edit = answer.fix.edit if answer.fix else None
    best = answer.verdict.best
    figure = edit[1] if edit and isinstance(edit[1], int) else 0
    return (figure, best.wait if best else 0.0)
