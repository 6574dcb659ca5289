"""``jobsight jobs --failed``: the jobs that failed, by cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from jobsight.cli.output import print_json, say
from jobsight.cli.terminal import fold, paint
from jobsight.clock import now_micros
from jobsight.documents import JobDocument, State, parse_key
from jobsight.documents.spans import ran, time_of
from jobsight.format import number, timestamp
from jobsight.history.causes.cause import KINDS, Cause
from jobsight.history.causes.job import explained, output_files
from jobsight.text import counted, printable

__all__ = ["FAILED", "Group", "by_cause", "print_groups"]

FAILED = frozenset({
    State.FAILED, State.TIMEOUT, State.DEADLINE, State.OUT_OF_MEMORY, State.NODE_FAIL,
    State.PREEMPTED,
})  # fmt: skip
"""Ends that are failures: what a person cancelled is none."""
_MOST_READ = 300
_SHOWN = 5
_HOUR = 3600.0


@dataclass
class Group:
    """Jobs that failed for one cause.

    Attributes:
        cause: that of the newest of them.
        alike: whether all have it in the same words.
        jobs: ids, the newest first.
        users: jobs by user.
        names: jobs by their name.
        core_hours: that their runs took, of those whose cores are known.
        first: µs: when the first of them failed.
        last: µs: when the last of them failed.
    """

    cause: Cause
    alike: bool = True
    jobs: list[str] = field(default_factory=list)
    users: Counter[str] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)
    core_hours: float = 0.0
    first: int = 0
    last: int = 0

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        cause = asdict(self.cause)
        return {
            "cause": cause.pop("name"), **cause, "jobs": len(self.jobs),
            "users": dict(self.users.most_common()), "core_hours": round(self.core_hours, 3),
            "first": timestamp(self.first), "last": timestamp(self.last), "ids": self.jobs,
        }  # fmt: skip


def by_cause(documents: Iterable[JobDocument]) -> list[Group]:
    """Jobs that failed, newest first, by cause: those of most jobs first.

    Output files are searched for the newest jobs whose record names no cause, as far as the caller
    may read them.
    """
    groups: dict[tuple[str, str], Group] = {}
    now, left = now_micros(), _MOST_READ
    for document in documents:
        answer = explained(document, ())
        if answer.cause is not None and not answer.cause.sure and left:
            left -= 1
            answer = explained(document, output_files(document))
        cause = answer.cause
        if cause is None:
            continue
        # Programs have their own exit codes: only those that are the same are one cause.
        key = cause.name, cause.text if cause.name in ("failed", "python-exception") else ""
        group = groups.setdefault(key, Group(cause, first=time_of(document)))
        group.alike = group.alike and cause.text == group.cause.text
        group.jobs.append(document.id)
        group.users[document.submission.user or "?"] += 1
        group.names[document.submission.name or "?"] += 1
        cores = document.usage.cpus or document.request.cpus or 0
        group.core_hours += cores * (ran(document, now) or 0.0) / _HOUR
        group.first = min(group.first, time_of(document))
        group.last = max(group.last, time_of(document))
    return sorted(groups.values(), key=lambda group: (-len(group.jobs), -group.core_hours))


def print_groups(groups: list[Group], *, as_json: bool) -> None:
    """What failed most, whose it is, what it cost, and what to do."""
    if as_json:
        print_json([group.to_json() for group in groups])
        return
    for position, group in enumerate(groups):
        if position:
            say("")
        cost = f", {number(group.core_hours, 1)} core-hours" if group.core_hours >= 0.05 else ""
        head = f"{counted(len(group.jobs), 'job')}{cost}: {KINDS[group.cause.kind]}"
        say(paint(head, "1;31"))
        several = "" if group.alike else " (the newest)"
        say(fold(f"  {printable(group.cause.words, 500)}{several}", 4))
        say(fold(f"  to do: {printable(group.cause.fix, 500)}", 4))
        say(fold(f"  users: {_most(group.users)}; names: {_most(group.names)}", 4))
        ids = ", ".join(parse_key(id_).job for id_ in group.jobs[:_SHOWN])
        more = f" and {len(group.jobs) - _SHOWN:,} more" if len(group.jobs) > _SHOWN else ""
        say(fold(f"  jobs: {printable(ids, 200)}{more}", 4))


def _most(counts: Counter[str]) -> str:
    shown = [f"{printable(name, 40)} {many:,}" for name, many in counts.most_common(_SHOWN)]
    more = len(counts) - _SHOWN
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
