"""Jobs for which one cause holds, in one row: same user, name, submission, and way to fail."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from jobsight.documents import number_of
from jobsight.history.past import NUMBERS
from jobsight.questions.fail.answering import Answer

__all__ = ["Group", "by_cause"]

_REQUEST = ("partition", "request_cpus", "request_memory_mb", "request_gpus", "time_limit_s")


@dataclass(frozen=True)
class Group:
    """Answers for jobs that are alike, at least one."""

    members: Sequence[Answer]

    @property
    def probability(self) -> float | None:
        """Mean probability to fail, where any is known."""
        known = [one.probability for one in self.members if one.probability is not None]
        return sum(known) / len(known) if known else None

    @property
    def at_stake(self) -> float | None:
        """Core-hours at stake, of all whose limits are known."""
        known = [one.at_stake for one in self.members if one.at_stake is not None]
        return sum(known) if known else None

    @property
    def jobs(self) -> str:
        """Which jobs they are: the id of one, ``300 tasks of 4711``, or ``12 jobs``."""
        job, size = self.members[0].job, len(self.members)
        if size == 1:
            return str(job["job"])
        if len({one.job["group"] for one in self.members}) > 1:
            return f"{size} jobs"
        noun = "procs" if job["scheduler"] == "htcondor" else "tasks"
        return f"{size} {noun} of {number_of(job['job'])}"


def by_cause(answers: Sequence[Answer], *, each: bool = False) -> list[Group]:
    """Answers by cause; `each`: one by one. Those with the most at stake come first."""
    sizes = Counter(one.job["group"] for one in answers)
    groups: dict[object, list[Answer]] = {}
    for place, one in enumerate(answers):
        key = place if each else _cause(one, among_others=sizes[one.job["group"]] > 1)
        groups.setdefault(key, []).append(one)
    found = [Group(members) for members in groups.values()]
    return sorted(found, key=lambda one: (-(one.at_stake or 0.0), -(one.probability or 0.0)))


def _cause(one: Answer, *, among_others: bool) -> object:
    """What the jobs of a row share; those submitted one by one need only ask for the same."""
    job = one.job
    pattern = None if job["name"] is None else re.sub(NUMBERS, "#", job["name"])
    submission = job["group"] if among_others else tuple(job[name] for name in _REQUEST)
    option = one.advice and one.advice.option
    return job["owner"], pattern, submission, one.kind, option, job["state"], one.blocked
